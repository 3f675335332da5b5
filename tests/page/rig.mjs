// rig.mjs - a server for each test, one browser for all, and workers that are plain HTTP calls.
//
// SPDX-License-Identifier: Apache-2.0
//
// $CAIRN_PROGRAM is the program, $CAIRN_PAGE_MODULES the folder node_modules with playwright-core and axe-core.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const modules = createRequire(join(process.env.CAIRN_PAGE_MODULES, "x.js"));
const { chromium } = modules("playwright-core");
export const axeSource = () => readFileSync(modules.resolve("axe-core/axe.min.js"), "utf8");

/** On a busy machine everything takes its time; nothing here asserts how long. */
export const PATIENCE = Number(process.env.CAIRN_PAGE_PATIENCE ?? 60_000);

/** No sandbox: the tests may run in a container.  The rest keeps it from talking to anybody. */
const ARGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
              "--disable-sync", "--no-first-run", "--no-default-browser-check", "--disable-domain-reliability", "--disable-features=OptimizationHints,MediaRouter,DialMediaRouteProvider"];

let browser = null;
export async function openBrowser() {
    browser ??= await chromium.launch({ executablePath: process.env.CAIRN_CHROMIUM ?? "/usr/bin/chromium", args: ARGS, timeout: PATIENCE });
    return browser;
}
export async function closeBrowser() {
    await browser?.close();
    browser = null;
}

/** A server on a free port with a new store; `options` go to cairn serve. */
export async function startServer(options = [], tokens = null) {
    const folder = mkdtempSync(join(tmpdir(), "cairn-page-"));
    const file = join(folder, "tokens");
    if (tokens) writeFileSync(file, tokens, { mode: 0o600 });
    const child = spawn(process.env.CAIRN_PROGRAM, ["serve", "--url", `sqlite:${folder}/store.db`, "--listen", "127.0.0.1:0", ...(tokens ? ["--token-file", file] : []), ...options],
                        { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, CAIRN_URL: "" } });
    const url = await new Promise((done, failed) => {
        let said = "";
        child.stderr.on("data", (bytes) => {
            said += bytes;
            const found = /http:\/\/[0-9.:]+/.exec(said);
            if (found) done(found[0]);
        });
        child.on("exit", (code) => failed(new Error(`the server ended with ${code}: ${said}`)));
    });
    const call = async (method, path, body, headers = {}) => {
        const response = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }) });
        const text = await response.text();
        return { status: response.status, text, headers: response.headers, json: text.startsWith("{") ? JSON.parse(text) : null };
    };
    return {
        url, call,
        /** Claims one task of these types. */
        claim: async (...types) => (await call("POST", "/v1/tasks/claim", { worker: "tester", types, wait_ms: 20_000, lease_ms: 600_000 })).json.tasks[0],
        complete: (task, output) => call("POST", `/v1/tasks/${task.id}/complete`, { worker: "tester", token: task.token, output }),
        dead: (task, error) => call("POST", `/v1/tasks/${task.id}/dead`, { worker: "tester", token: task.token, error }),
        stop: async () => {
            const ended = new Promise((done) => child.on("exit", done));
            child.kill("SIGTERM");
            await ended;
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

/** A page of its own, which notes what it must not do: errors, violations of the policy, requests to others. */
export async function openPage(server, options = {}) {
    const context = await (await openBrowser()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    const sins = [];
    // A refused request is the server's answer, which the page shows; the browser notes it as well.
    page.on("console", (message) => { if (!/Failed to load resource/.test(message.text())) sins.push(`${message.type()}: ${message.text()}`); });
    page.on("pageerror", (error) => sins.push(String(error)));
    page.on("request", (request) => { if (!request.url().startsWith(server.url) && !/^(blob|data):/.test(request.url())) sins.push(`request to ${request.url()}`); });
    return { page, sins, id: (name) => page.getByTestId(name), open: (path) => page.goto(`${server.url}/ui/${path}`), close: () => context.close() };
}
