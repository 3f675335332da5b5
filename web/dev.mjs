// dev.mjs - the page while it is being worked on: built anew when a file changes, with the headers of the
// server, and everything else passed on to $CAIRN_URL.
//
// SPDX-License-Identifier: Apache-2.0
import * as esbuild from "esbuild";
import { createServer, request } from "node:http";
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { finish, options } from "./build.mjs";

const server = new URL(process.env.CAIRN_URL ?? "http://127.0.0.1:22476");
const port = Number(process.env.PORT ?? 22480);
const types = { ".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml" };
const source = readFileSync(new URL("../src/http/page.c", import.meta.url), "utf8");
const policy = [.../"Content-Security-Policy",([^}]*)}/.exec(source)[1].matchAll(/"([^"]*)"/g)].map((it) => it[1]).join("");

let files = new Map();
const watcher = await esbuild.context({
    ...options, minify: false, sourcemap: "inline",
    plugins: [{ name: "keep", setup: (build) => build.onEnd((result) => { if (!result.errors.length) files = finish(result); }) }],
});
await watcher.watch();

const pass = (from, to) => {
    const headers = { ...from.headers, host: server.host };
    if (headers.origin) headers.origin = server.origin;
    const out = request({ host: server.hostname, port: server.port, method: from.method, path: from.url, headers }, (answer) => {
        to.writeHead(answer.statusCode, answer.headers);
        answer.pipe(to);
    });
    out.on("error", () => { if (!to.headersSent) to.writeHead(502); to.end(); });
    to.on("close", () => out.destroy());                // a stream that nobody reads holds one of the server's places
    from.pipe(out);
};

createServer((from, to) => {
    const path = from.url.split("?")[0];
    if (path === "/") return to.writeHead(302, { location: "/ui/" }).end();
    if (!path.startsWith("/ui")) return pass(from, to);
    const last = path.split("/").pop();
    const name = last.includes(".") ? last : "index.html";
    const bytes = files.get(name);
    if (!bytes) return to.writeHead(404).end();
    return to.writeHead(200, { "content-type": types[extname(name)], "cache-control": "no-store", "content-security-policy": policy }).end(bytes);
}).listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/ui/`));
