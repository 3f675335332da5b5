// speed.mjs - how quick the page is in a browser, with many instances in the store, against its gates.
//
// SPDX-License-Identifier: Apache-2.0
//
//   scripts/test-page-speed BUILD-FOLDER       runs this on SQLite and PostgreSQL
//
// Prints a line of TAP for each gate, with the figure.  $CAIRN_SPEED_ROWS is how many instances there are (1,000,000),
// $CAIRN_SPEED_IDLE for how many seconds an idle page is watched (60).  Times are taken in the page, from the click or
// the beginning of the navigation to the frame that shows what was asked for; the median of several counts.
import { execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { deploy, drain } from "./flows.mjs";
import { openBrowser, openPage, seen, startServer, until } from "./rig.mjs";

const ROWS = Number(process.env.CAIRN_SPEED_ROWS ?? 1_000_000), IDLE_S = Number(process.env.CAIRN_SPEED_IDLE ?? 60), ROUNDS = 5, CROWD_ROUNDS = 31;
const store = process.env.CAIRN_PAGE_STORE ?? "sqlite";
let count = 0, failures = 0;

function gate(name, value, most, unit, least = false) {
    const isGood = least ? value >= most : value <= most;
    if (!isGood) failures++;
    console.log(`${isGood ? "ok" : "not ok"} ${++count} - ${name} (${store}): ${value.toFixed(value < 0.1 ? 4 : value < 10 ? 2 : 0)} ${unit}, gate ${least ? "at least" : "at most"} ${most}`);
}
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// ---- many instances ----------------------------------------------------------------------------------

/** Copies of one that has ended, by SQL: seven of eight completed, the others failed, a second apart. */
function copyInstance(server, id) {
    const changed = (now, uuid, n) => ({ id: uuid, key: `'copy-' || ${n}`, status: `CASE ${n} % 8 WHEN 0 THEN 'failed' ELSE 'completed' END`, tags: "NULL", created_at: now("created_at"), updated_at: now("updated_at"), started_at: now("started_at"), finished_at: now("finished_at") });
    const insert = (table, columns, values, rest) => `INSERT INTO ${table} (${columns.map((it) => `"${it}"`).join(", ")}) SELECT ${columns.map((it) => values[it] ?? `i."${it}"`).join(", ")} FROM ${rest}`;
    if (store === "postgres") {
        const sql = (text) => execFileSync("psql", ["-XqAt", "-d", server.store, "-c", text], { encoding: "utf8" }).trim();
        const [schema, table] = sql("SELECT table_schema || ' ' || table_name FROM information_schema.columns WHERE column_name = 'is_undo_failed'").split("\n")[0].split(" ");
        const columns = sql(`SELECT column_name FROM information_schema.columns WHERE table_schema = '${schema}' AND table_name = '${table}' AND column_name <> 'seq' AND is_generated = 'NEVER'`).split("\n");
        const isTime = sql(`SELECT data_type FROM information_schema.columns WHERE table_schema = '${schema}' AND table_name = '${table}' AND column_name = 'created_at'`).startsWith("timestamp");
        const back = (name) => isTime ? `i.${name} - (${ROWS} - n) * interval '1 second'` : `i.${name} - (${ROWS} - n) * 1000000`;
        sql(`${insert(`${schema}.${table}`, columns, changed(back, "gen_random_uuid()", "n"), `${schema}.${table} i, generate_series(1, ${ROWS}) n WHERE i.id = '${id}'`)}; ANALYZE ${schema}.${table}`);
        return;
    }
    const file = server.store.replace("sqlite:", ""), sql = (text) => execFileSync("sqlite3", [file, text], { encoding: "utf8" }).trim();
    const columns = sql("SELECT name FROM pragma_table_info('workflow_instance') WHERE name <> 'seq'").split("\n");
    const uuid = "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-7' || substr(hex(randomblob(2)), 2) || '-8' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))";
    sql(`PRAGMA busy_timeout = 60000; WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${ROWS}) ${insert("workflow_instance", columns, changed((name) => `i.${name} - (${ROWS} - n) * 1000000`, uuid, "n"), `workflow_instance i, series WHERE i.id = '${id}'`)}`);
}

const chain = (name, n) => `workflow: ${name}\nversion: 1\nsteps:\n${Array.from({ length: n }, (_, index) => `  - step: s${index}\n    handler: ${name}.v1\n`).join("")}`;

async function prepare(server) {
    await deploy(server, chain("short", 1));
    await deploy(server, chain("middle", 30));
    await deploy(server, chain("long", 1000));
    const begin = async (workflow) => (await server.must("POST", "/v1/instances", { workflow, key: workflow, input: { name: "speed" } })).id;
    const short = await begin("short"), middle = await begin("middle"), long = await begin("long");
    await drain(server, ["short.v1", "middle.v1"]);
    for (let calls = 0; calls < 300; calls++) await drain(server, ["middle.v1"]);
    copyInstance(server, short);
    return { middle, long };
}

// ---- what the browser says ----------------------------------------------------------------------------

/** In the page: how long until a frame shows this many of them. */
const waitFrames = ({ selector, least, click }) => new Promise((done) => {
    const began = click ? performance.now() : 0;
    if (click) { const link = document.createElement("a"); link.href = click; document.body.append(link); link.click(); link.remove(); }
    const look = () => document.querySelectorAll(selector).length >= least ? requestAnimationFrame(() => done(performance.now() - began)) : requestAnimationFrame(look);
    look();
});

async function loads(server, path, selector) {
    const cold = [], warm = [];
    for (let round = 0; round < ROUNDS; round++) {
        const { page, close } = await openPage(server, { haste: 1 });
        for (const list of [cold, warm]) {
            await page.goto(server.page + path);
            list.push(await page.evaluate(waitFrames, { selector, least: 1 }));
        }
        await close();
    }
    gate(`${path || "overview"}: first content, cold`, median(cold), 500, "ms");
    gate(`${path || "overview"}: first content, warm`, median(warm), 200, "ms");
}

async function clicks(server, instances) {
    const { page, id, open, close } = await openPage(server, { haste: 1 });
    const measure = async (name, from, to, selector, least, most) => {
        const times = [];
        for (let round = 0; round < ROUNDS; round++) {
            await open(from);
            await seen(id("instance-row").first());
            await sleep(2500);                          // a person looks at a list first; meanwhile all that it asks for has been sent
            times.push(await page.evaluate(waitFrames, { selector, least, click: to }));
        }
        gate(name, median(times), most, "ms");
    };
    await measure("a filter to its rows", "instances", "instances?status=failed&workflow=short", "tr[data-testid=instance-row][data-status=failed]:nth-child(50)", 1, 300);
    await measure("a key to its row", "instances", "instances?q=copy-77", "tr[data-testid=instance-row]", 1, 300);
    await measure("an instance of 30 steps", "instances?workflow=middle", `instances/${instances.middle}`, "[data-testid=node]", 30, 400);
    await measure("an instance of 1,000 steps, as a list", "instances?workflow=long", `instances/${instances.long}?tab=steps`, "[data-testid=step-row]", 20, 500);
    const frames = await page.evaluate(() => new Promise((done) => {
        let frames = 0, began = performance.now();
        const step = () => { frames++; scrollBy(0, 40); if (performance.now() - began < 2000) requestAnimationFrame(step); else done(frames / 2); };
        requestAnimationFrame(step);
    }));
    gate("frames per second while 1,000 steps are scrolled", frames, 50, "/s", true);
    const memory = await page.evaluate(() => performance.memory.usedJSHeapSize / 1e6);
    gate("memory of the page with 1,000 steps", memory, 150, "MB");
    await close();
}

// ---- what it costs when nothing, or much, happens ------------------------------------------------------

/** Nanoseconds on a processor, of all threads. */
const cpuOf = (pid) => readdirSync(`/proc/${pid}/task`).reduce((sum, it) => sum + Number(readFileSync(`/proc/${pid}/task/${it}/schedstat`, "utf8").split(" ")[0]), 0);

async function idle(server) {
    const { page, context, open, id, close } = await openPage(server, { haste: 1 });
    const session = await context.newCDPSession(page);
    await session.send("Performance.enable");
    await open("");
    await seen(id("needs-you").or(id("chart-ended")).first());
    await sleep(3000);
    const busy = async () => (await session.send("Performance.getMetrics")).metrics.find((it) => it.name === "TaskDuration").value;
    let requests = 0;
    page.on("request", () => { requests++; });
    const before = await busy(), server0 = cpuOf(server.pid());
    await sleep(IDLE_S * 1000);
    gate("an idle page, of a core", ((await busy()) - before) / IDLE_S * 100, 1, "%");
    gate("an idle page, of the server's core", (cpuOf(server.pid()) - server0) / 1e9 / IDLE_S * 100, 1, "%");
    gate("requests of an idle page in a minute", requests * 60 / IDLE_S, 2, "");
    await close();
}

/** 200 changes a second under the pointer. */
async function storm(server) {
    const { page, open, id, close } = await openPage(server, { haste: 1 });
    await page.addInitScript(() => { window.shift = 0; new PerformanceObserver((list) => { for (const it of list.getEntries()) if (!it.hadRecentInput) window.shift += it.value; }).observe({ type: "layout-shift", buffered: true }); });
    await open("jobs");
    await server.must("POST", "/v1/jobs", { type: "storm.v1" });
    await seen(id("job-row").first());
    await id("job-row").first().hover();
    await page.evaluate(() => { window.shift = 0; });
    let requests = 0, sent = 0;
    page.on("request", () => { requests++; });
    const began = Date.now();
    while (Date.now() - began < 20_000) {
        await id("job-row").first().hover();
        await Promise.all(Array.from({ length: 20 }, () => server.must("POST", "/v1/jobs", { type: "storm.v1" })));
        sent += 20;
        await sleep(Math.max(0, sent * 5 - (Date.now() - began)));
    }
    gate("requests of a page in a storm", requests / 20, 4, "/s");
    // Browsers call 0.1 good.  No row moves; the figures above the list grow by a digit.
    gate("layout shift in a storm", await page.evaluate(() => window.shift), 0.005, "");
    await until(async () => Number(await id("news-pill").getAttribute("data-count")) >= 50, "the news");
    await close();
}

/**
 * How long the same work takes with and without a hundred open pages, by turns; which of the two comes first changes from round to round.
 * One round differs from another by a tenth, so there are many.
 * The pages are read by a process of its own (crowd.mjs), so that what reading costs does not slow down who sends the work. The processor
 * time is printed beside it without a gate: it counts what another core does meanwhile, which makes nobody wait.
 */
async function crowd(server) {
    const work = async () => {
        const cpu = cpuOf(server.pid()), began = performance.now();
        for (let round = 0; round < 150; round++) await Promise.all(Array.from({ length: 16 }, () => server.must("POST", "/v1/jobs", { type: "crowd.v1" })));
        return { ms: performance.now() - began, cpu: cpuOf(server.pid()) - cpu };
    };
    const watched = async () => {
        const pages = spawn(process.execPath, [new URL("crowd.mjs", import.meta.url).pathname, `${server.url}/v1/stream?digest_ms=1000`, "100"], { stdio: ["ignore", "pipe", "inherit"] });
        const ended = new Promise((done) => pages.on("exit", done));
        await new Promise((done, failed) => { pages.stdout.once("data", done); pages.on("exit", (code) => failed(new Error(`the pages ended with ${code}`))); });
        const took = await work();
        pages.kill();
        await ended;
        return took;
    };
    const times = [], costs = [];
    await work();
    for (let round = 0; round < CROWD_ROUNDS; round++) {
        const first = round % 2 ? await watched() : await work(), second = round % 2 ? await work() : await watched();
        const [alone, together] = round % 2 ? [second, first] : [first, second];
        times.push(together.ms / alone.ms);
        costs.push(together.cpu / alone.cpu);
    }
    const percent = (list) => (median(list) - 1) * 100;
    gate("the same work takes longer with 100 open pages", percent(times), 2, "%");
    console.log(`# the server's processor time for it is greater (${store}): ${percent(costs).toFixed(1)} %, no gate`);
}

const server = await startServer();
try {
    const instances = await prepare(server);
    await loads(server, "", "[data-testid^=count-]");
    await loads(server, "instances", "[data-testid=instance-row]");
    await clicks(server, instances);
    await idle(server);
    await storm(server);
    await crowd(server);
} catch (reason) {
    failures++;
    console.log(`not ok ${++count} - it goes to the end (${store}): ${reason.message.split("\n")[0]}`);
} finally {
    await (await openBrowser()).close();
    await server.stop();
}
process.exitCode = failures ? 1 : 0;
