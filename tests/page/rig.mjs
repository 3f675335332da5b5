// rig.mjs - servers, one browser for all, and workers that are plain HTTP calls.
//
// SPDX-License-Identifier: Apache-2.0
//
// $CAIRN_PROGRAM is the program, $CAIRN_PAGE_MODULES the folder node_modules with playwright-core and axe-core.
// $CAIRN_PAGE_STORE=postgres makes a database of $CAIRN_TEST_POSTGRES for each server, $CAIRN_PAGE_BASE puts the page
// under a path, and $CAIRN_PAGE_SOME runs only the scenarios that are marked for such a second run.  $CAIRN_PAGE_DIST is a
// folder with another page than the program's own, such as web/dist: quicker while one works on it.
import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const modules = createRequire(join(process.env.CAIRN_PAGE_MODULES, "x.js"));
const { chromium } = modules("playwright-core");
export const axeSource = () => readFileSync(modules.resolve("axe-core/axe.min.js"), "utf8");

/** On a busy machine everything takes its time; nothing here asserts how long. */
export const PATIENCE = Number(process.env.CAIRN_PAGE_PATIENCE ?? 120_000);
const BASE = process.env.CAIRN_PAGE_BASE ?? "";
/** By the clock that the page counts its requests with, a second passes so many times faster: tests go from screen to screen quicker than people do. */
const HASTE = 40;

/** No sandbox: the tests may run in a container.  The rest keeps it from talking to anybody. */
const ARGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
              "--disable-sync", "--no-first-run", "--no-default-browser-check", "--disable-domain-reliability", "--disable-features=OptimizationHints,MediaRouter,DialMediaRouteProvider"];

let browser = null;
export async function openBrowser() {
    browser ??= await chromium.launch({ executablePath: process.env.CAIRN_CHROMIUM ?? "/usr/bin/chromium", args: ARGS, timeout: PATIENCE });
    return browser;
}

// ---- servers ---------------------------------------------------------------------------------------

let databases = 0;
function newStore(folder) {
    if (process.env.CAIRN_PAGE_STORE !== "postgres") return { url: `sqlite:${folder}/store.db`, drop: () => undefined };
    const server = process.env.CAIRN_TEST_POSTGRES, name = `page_${process.pid}_${++databases}`;
    const sql = (text) => execFileSync("psql", ["-Xq", "-d", server, "-c", text], { stdio: ["ignore", "ignore", "inherit"] });
    sql(`CREATE DATABASE ${name} TEMPLATE template0`);
    return { url: server.replace(/\/[^/]*$/, `/${name}`), drop: () => sql(`DROP DATABASE ${name} WITH (FORCE)`) };
}

function launch(store, listen, rest) {
    const child = spawn(process.env.CAIRN_PROGRAM, ["serve", "--url", store, "--listen", listen, ...rest], { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, CAIRN_URL: "" } });
    const url = new Promise((done, failed) => {
        let said = "";
        child.stderr.on("data", (bytes) => {
            said += bytes;
            const found = /http:\/\/[0-9.:]+/.exec(said);
            if (found) done(found[0]);
        });
        child.on("exit", (code) => failed(new Error(`the server ended with ${code}: ${said}`)));
    });
    url.catch(() => undefined);
    return { child, url };
}

async function end(child, signal) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.on("exit", done));
    child.kill(signal);
    await ended;
}

/** A server on a free port with a new store; `options` go to cairn serve. */
export async function startServer(options = [], tokens = null) {
    const folder = mkdtempSync(join(tmpdir(), "cairn-page-"));
    const file = join(folder, "tokens");
    if (tokens) writeFileSync(file, tokens, { mode: 0o600 });
    const rest = [...(process.env.CAIRN_PAGE_DIST ? ["--ui-dir", process.env.CAIRN_PAGE_DIST] : []), ...(tokens ? ["--token-file", file] : []), ...(BASE && !options.includes("--ui-base") ? ["--ui-base", BASE] : []), ...options];
    const store = newStore(folder);
    let running = launch(store.url, "127.0.0.1:0", rest);
    const url = await running.url;
    const call = async (method, path, body, headers = {}) => {
        const response = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }) });
        const text = await response.text();
        return { status: response.status, text, headers: response.headers, json: text.startsWith("{") ? JSON.parse(text) : null };
    };
    /** The answer of a call that must succeed. */
    const must = async (method, path, body, headers) => {
        const answer = await call(method, path, body, headers);
        assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
        return answer.json;
    };
    const report = (verb, task, more) => must("POST", `/v1/tasks/${task.id}/${verb}`, { worker: task.worker, token: task.token, ...more });
    return {
        url, call, must, page: `${url}${BASE}/ui/`, base: BASE, store: store.url, pid: () => running.child.pid,
        /** Claims one task of these types. */
        claim: async (...types) => {
            const worker = "tester", tasks = (await must("POST", "/v1/tasks/claim", { worker, types, wait_ms: 20_000, lease_ms: 600_000 })).tasks;
            assert.equal(tasks.length, 1, `a task of ${types} was awaited`);
            return { ...tasks[0], worker };
        },
        complete: (task, output) => report("complete", task, { output }),
        fail: (task, error) => report("fail", task, { error }),
        dead: (task, error) => report("dead", task, { error }),
        report,
        cli: (...words) => new Promise((done) => execFile(process.env.CAIRN_PROGRAM, words, { env: { ...process.env, CAIRN_URL: url, NO_COLOR: "1" } }, (error, out, said) => done(`${out}${said}`))),
        kill: () => end(running.child, "SIGKILL"),
        again: async () => { await end(running.child, "SIGTERM"); running = launch(store.url, url.replace("http://", ""), rest); await running.url; },
        stop: async () => {
            await end(running.child, "SIGTERM");
            store.drop();
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

// ---- pages -----------------------------------------------------------------------------------------

/** A page of its own, which notes what it must not do: errors, violations of the policy, requests to others. */
export async function openPage(server, { refuses = [], haste = HASTE, ...options } = {}) {
    const context = await (await openBrowser()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
    await context.addInitScript((times) => { const now = performance.now.bind(performance); performance.now = () => now() * times; }, haste);
    context.setDefaultTimeout(PATIENCE);
    const sins = [];
    const watch = (page) => {
        // The browser notes refused requests; a test that provokes some says which.
        page.on("console", (message) => { const text = message.text(); if (!refuses.some((it) => text.includes("Failed to load resource") && text.includes(String(it)))) sins.push(`${message.type()}: ${text} ${message.location().url}`); });
        page.on("pageerror", (error) => sins.push(String(error)));
        page.on("request", (request) => { if (!request.url().startsWith(server.url) && !/^(blob|data):/.test(request.url())) sins.push(`request to ${request.url()}`); });
    };
    context.on("page", watch);
    const page = await context.newPage();
    let isLoaded = false;
    const open = async (path) => { await page.goto(server.page + path); isLoaded = true; };
    /** To a screen by a link, as people go; much cheaper than loading the page anew. */
    const visit = async (path) => isLoaded && page.url() !== server.page + path ? page.evaluate((to) => {
        const link = document.createElement("a");
        link.href = to || ".";
        document.body.append(link);
        link.click();
        link.remove();
    }, path) : open(path);
    return { page, context, sins, id: (name) => page.getByTestId(name), open, visit, close: () => context.close() };
}

/** What axe finds serious or critical in a page that was given its source. */
export async function flawsOf(page, options = {}) {
    await page.evaluate(() => Promise.allSettled(document.getAnimations().map((it) => it.finished)));     // one that is called off has ended, too
    return page.evaluate(async (options) => (await window.axe.run(document, options)).violations.filter((it) => ["serious", "critical"].includes(it.impact)).map((it) => `${it.id}: ${it.nodes[0].html}`), { resultTypes: ["violations"], ...options });
}

export const seen = (locator) => locator.waitFor({ state: "visible" });
const isEqual = (found, expected) => { try { assert.deepEqual(found, expected); return true; } catch { return false; } };

/** Waits until a value is what is expected; if that does not happen, says what it was. */
export async function becomes(read, expected, what) {
    let last;
    await until(async () => isEqual(last = await read(), expected), what ?? "the value").catch(() => undefined);
    assert.deepEqual(last, expected, what);
}

export const gone = (locator) => locator.waitFor({ state: "hidden" });

/** Waits until it is so; asks again and again. */
export async function until(isSo, what = "what was awaited") {
    const deadline = Date.now() + PATIENCE;
    for (;;) {
        const found = await isSo();
        if (found) return found;
        if (Date.now() > deadline) throw new Error(`${what} did not happen`);
        await new Promise((done) => setTimeout(done, 50));
    }
}

/** Scrolls down until the element is there: what a screen shows while it reads on gets longer meanwhile. */
export const scrolledTo = (page, locator) => until(async () => { await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight)); return locator.isVisible(); }, "the end of the list");

const some = !!process.env.CAIRN_PAGE_SOME;

/** Scenarios that share a server; each has a page of its own, which must have done nothing wrong. */
export function group({ options = [], tokens = null, isMarked = false } = {}) {
    let server = null;
    after(async () => { await server?.stop(); });
    return (name, act, { page: pageOptions = {}, marked = isMarked } = {}) => {
        if (some && !marked) return;
        test(name, { timeout: 5 * PATIENCE }, async () => {
            server ??= await startServer(options, tokens);
            const browser = await openPage(server, pageOptions);
            try {
                await act(server, browser);
                assert.deepEqual(browser.sins, []);
            } finally {
                await browser.close();
            }
        });
    };
}

/** A scenario with a server of its own. */
export const scenario = (name, act, { options, tokens, ...rest } = {}) => group({ options, tokens })(name, act, rest);

after(async () => { await browser?.close(); browser = null; });
