// build.mjs - bundles the page into dist/, with hashed names, and checks its size.
//
// SPDX-License-Identifier: Apache-2.0
import * as esbuild from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "dist");
const KB = 1024;
/** Compressed bytes: of the first screen, and of everything. */
const FIRST_MAX = 60 * KB, ALL_MAX = 115 * KB;

export const options = {
    absWorkingDir: here,
    entryPoints: ["src/start.tsx", "src/style.css"],
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    target: ["es2022", "chrome115", "firefox117", "safari17"],
    jsx: "automatic",
    jsxImportSource: "preact",
    outdir: "dist",
    entryNames: "[name]-[hash]",
    chunkNames: "part-[hash]",
    assetNames: "[name]-[hash]",
    metafile: true,
    write: false,
    legalComments: "none",
    logLevel: "warning",
};

const packed = (bytes) => gzipSync(bytes, { level: 9 }).length;

/** What the start imports at once is fetched beside it, not after it. */
function preloads(result) {
    const start = Object.entries(result.metafile.outputs).find(([path]) => basename(path).startsWith("start-") && path.endsWith(".js"));
    return start[1].imports.filter((it) => it.kind === "import-statement").map((it) => `<link rel="modulepreload" href="${basename(it.path)}">\n`).join("");
}

/** The files of the page: name -> bytes.  index.html is plain, the others may be kept for ever. */
export function finish(result) {
    const files = new Map(result.outputFiles.map((file) => [basename(file.path), Buffer.from(file.contents)]));
    const named = (start, end) => [...files.keys()].find((name) => name.startsWith(start) && name.endsWith(end));
    const icon = readFileSync(join(here, "src/icon.svg"));
    const iconName = `icon-${createHash("sha256").update(icon).digest("hex").slice(0, 8)}.svg`;
    files.set(iconName, icon);
    const html = readFileSync(join(here, "index.html"), "utf8")
        .replace("PRELOAD", preloads(result)).replace("ICON", iconName).replace("STYLE", named("style-", ".css")).replace("START", named("start-", ".js"));
    files.set("index.html", Buffer.from(html));
    return files;
}

/** What the browser loads before it shows a list: the start and all that it imports at once. */
function firstNames(result, files) {
    const outputs = Object.fromEntries(Object.entries(result.metafile.outputs).map(([path, it]) => [basename(path), it]));
    const seen = new Set(["index.html", ...[...files.keys()].filter((name) => /\.(css|svg)$/.test(name))]);
    const add = (name) => {
        if (seen.has(name)) return;
        seen.add(name);
        for (const it of outputs[name].imports) if (it.kind === "import-statement") add(basename(it.path));
    };
    add([...files.keys()].find((name) => name.startsWith("start-")));
    return seen;
}

function checkSize(result, files) {
    const first = firstNames(result, files);
    let firstBytes = 0, allBytes = 0;
    for (const [name, bytes] of files) {
        const size = packed(bytes);
        allBytes += size;
        if (first.has(name)) firstBytes += size;
    }
    const kb = (bytes) => (bytes / KB).toFixed(1);
    if (process.env.CAIRN_PAGE_SIZES) console.log(`page: first load ${kb(firstBytes)} KB, all ${kb(allBytes)} KB`);
    if (firstBytes > FIRST_MAX || allBytes > ALL_MAX) {
        console.error(`the page is too large: first load ${kb(firstBytes)} of ${kb(FIRST_MAX)} KB, ` +
                      `all ${kb(allBytes)} of ${kb(ALL_MAX)} KB`);
        process.exit(1);
    }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const result = await esbuild.build(options);
    const files = finish(result);
    checkSize(result, files);
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out);
    for (const [name, bytes] of files) writeFileSync(join(out, name), bytes);
}
