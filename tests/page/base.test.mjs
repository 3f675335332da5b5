// base.test.mjs - what of the page needs no browser: JSON, times, addresses, the layout of plans, colours.
//
// SPDX-License-Identifier: Apache-2.0
//
// $CAIRN_PAGE is the folder with the page's source and its node_modules.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const web = process.env.CAIRN_PAGE;
const esbuild = createRequire(join(web, "x.js"))("esbuild");

async function load(name) {
    const built = await esbuild.build({ entryPoints: [join(web, "src/base", `${name}.ts`)], bundle: true, format: "esm", write: false, platform: "neutral" });
    return import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].contents).toString("base64")}`);
}

const { scan, format, member, rawOf, textOf, Flaw } = await load("scan");
const { duration, durationMs, exactDuration, relative, formatTime, moment, utc } = await load("time");
const { cronWords } = await load("cron");
const { readQuery, writeQuery, changed } = await load("query");
const { layout, namesBefore, readPlan, BOX } = await load("layout");
const { isUndone, waysTaken } = await load("ways");
const { labelled, ticks } = await load("ticks");
const { INSTANCE_EVENTS, JOB_EVENTS } = await load("events");
const { visible, shortId, bytes } = await load("text");

test("each type of event can be asked for", () => {
    const lines = readFileSync(fileURLToPath(new URL("../../spec/events.txt", import.meta.url)), "utf8").split("\n").filter((it) => it && !it.startsWith("#")).map((it) => it.split(/ +/));
    const of = (...kinds) => lines.filter((it) => kinds.includes(it[1])).map((it) => it[0]);
    assert.deepEqual(INSTANCE_EVENTS, of("instance", "step"));
    assert.deepEqual(JOB_EVENTS, of("job"));
});

test("the scanner keeps digits and order", () => {
    const text = '{"b": 9007199254740993, "a": 1.10, "b": [1e400, -0, "\\u0041\\n"], "__proto__": {"x": null}}';
    const root = scan(text);
    assert.deepEqual(root.keys, ["b", "a", "b", "__proto__"]);
    assert.equal(rawOf(text, root.items[0]), "9007199254740993");
    assert.equal(rawOf(text, member(text, root, "a")), "1.10");
    assert.equal(member(text, root, "b").kind, "array");
    assert.equal(textOf(text, member(text, root, "b").items[2]), "A\n");
    assert.equal(format('{"a":[1.0,{}],"b":""}'), '{\n  "a": [\n    1.0,\n    {}\n  ],\n  "b": ""\n}');
});

test("the scanner accepts what JSON.parse accepts, and nothing else", () => {
    const texts = ["", " ", "{}", "[]", "[1,]", "{,}", '{"a"}', '{"a":}', "01", "-", "1.", ".5", "1e", "tru", "true", "nul", '"a', '"\\x"', '"\\u12"', '"a\tb"', "[1 2]", "{} {}", '{"a":1,}', "[[]]", "NaN", "-0", "1E+2", '"\u2028"', "\ufeff1", "[", "]"];
    const folder = fileURLToPath(new URL("../fuzz", import.meta.url));
    const corpora = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((it) => it.isFile?.()).map((it) => join(it.path ?? folder, it.name)).filter((it) => !/\.(c|h|build)$/.test(it)).slice(0, 400);
    for (const path of corpora) texts.push(readFileSync(path, "utf8"));
    for (const text of texts) {
        let isGood = true;
        try { JSON.parse(text); } catch { isGood = false; }
        let found = true;
        try { scan(text); } catch (reason) { assert.ok(reason instanceof Flaw, String(reason)); found = false; }
        assert.equal(found, isGood, JSON.stringify(text.slice(0, 80)));
    }
});

test("a flaw has its line and column", () => {
    assert.throws(() => scan('{\n  "a": x\n}'), (reason) => reason.line === 2 && reason.column === 8);
    assert.throws(() => scan("[".repeat(100_000)), (reason) => reason instanceof Flaw);
});

test("a cron expression in words, or none", () => {
    const words = {
        "* * * * *": "every minute", "*/5 * * * *": "every 5 minutes", "7 * * * *": "every hour at :07", "5,35 * * * *": "every hour at :05 and :35", "@hourly": "every hour at :00",
        "30 2 * * *": "every day at 02:30", "@daily": "every day at 00:00", "0 6,18 * * *": "every day at 06:00 and 18:00", "15 */2 * * *": "every 2 hours at :15",
        "30 2 * * MON-FRI": "Monday to Friday at 02:30", "0 9 * * 0": "on Sundays at 09:00", "0 9 * * 7": "on Sundays at 09:00", "0 9 * * fri-7": "Friday to Sunday at 09:00", "0 9 * * MON,THU": "on Mondays and Thursdays at 09:00",
        "0 0 13 * FRI": "on the 13th and on Fridays at 00:00", "0 4 1,15 * *": "on the 1st and 15th at 04:00", "0 4 2,3,22 * *": "on the 2nd, 3rd and 22nd at 04:00", "@yearly": "on the 1st at 00:00, in January", "0 9 * JAN,JUL *": "every day at 09:00, in January and July",
        "0 9-17 * * *": "every hour from 09:00 to 17:00", "*/15 9-17 * * 1-5": "every 15 minutes from 09:00 to 17:59, Monday to Friday", "0 9 * * *  ": "every day at 09:00", "0 9 * * 0-6": "every day at 09:00",
    };
    for (const [cron, text] of Object.entries(words)) assert.equal(cronWords(cron), text, cron);
    // Not clear, not in words, or not right: 7 minutes do not divide an hour.
    for (const cron of ["", "x", "0 25 * * *", "60 * * * *", "*/7 * * * *", "0 9 * *", "0 9 * * * *", "1-50/7 * * * *", "7 3 */2 * MON", "0 9 */3 * *", "0 17-9 * * *", "0 0 0 * *", "0 9 * * MONDAY", "1,2,3 1,2,3 * * *", "*/0 * * * *"]) assert.equal(cronWords(cron), null, cron);
});

test("durations are read as the command line reads them, and written so that they can be read back", () => {
    const ms = { "90s": 90_000, "1h30m": 5_400_000, "7d": 604_800_000, "1h 30m 1ms": 5_400_001, "0s": 0 };
    for (const [text, value] of Object.entries(ms)) assert.equal(durationMs(text), value, text);
    for (const text of ["", "1", "h", "-1h", "1.5h", "1y", "never", "99999999999999d"]) assert.equal(durationMs(text), null, text);
    for (const value of [0, 1, 999, 61_000, 5_400_001, 86_400_000, 31_536_000_000]) assert.equal(durationMs(exactDuration(value)), value);
    assert.equal(exactDuration(2_592_000_000), "30d");
});

test("durations are as the command line prints them", () => {
    const texts = { 21: "21ms", 1300: "1.3s", 2000: "2s", 12_345: "12s", 125_000: "2m 5s", 60_000: "1m", 11_520_000: "3h 12m", 532_800_000: "6d 4h" };
    for (const [ms, text] of Object.entries(texts)) assert.equal(duration(Number(ms)), text);
});

test("times in three forms", () => {
    const at = Date.parse("2026-11-15T13:27:06Z");
    assert.equal(relative(at, at + 180_000), "3 min ago");
    assert.equal(relative(at, at - 6 * 86_400_000), "in 6 days");
    assert.equal(relative(at, at + 500), "now");
    assert.equal(utc(at), "2026-11-15 13:27:06Z");
    assert.equal(formatTime(at, at, "zone", "Europe/Oslo"), "15 Nov 14:27:06");
    assert.equal(formatTime(Date.parse("2026-07-15T13:27:06Z"), at, "zone", "Europe/Oslo"), "15 Jul 15:27:06");
    assert.equal(moment("-24h", at), at - 86_400_000);
    assert.equal(moment("2026-11-15T12:00Z", at), Date.parse("2026-11-15T12:00Z"));
    assert.equal(moment("yesterday", at), null);
});

test("a query survives the address", () => {
    const queries = [{ status: ["failed,dlq"], tag: ["customer:4711", "a b&c=d"] }, { q: ["50% + ü?#"], __proto__x: ["1"] }, {}];
    for (const query of queries) assert.deepEqual({ ...readQuery(writeQuery(query)) }, query);
    assert.equal(writeQuery({ status: ["failed,dlq"] }), "?status=failed,dlq");
    assert.deepEqual({ ...changed(readQuery("?a=1&b=2&c=3"), { a: null, b: "", d: ["x", "y"] }) }, { c: ["3"], d: ["x", "y"] });
});

test("marks of direction and control are made visible", () => {
    assert.equal(visible("a\u202eb\u0000\u200b"), "a␣202eb␣0000␣200b");
    assert.equal(visible("two\nlines\tand more 😀"), "two\nlines\tand more 😀");
    assert.equal(shortId("01a1e498-b1c2-7926-9196-26f6018a4f33"), "018a4f33");
    assert.equal(bytes(1_048_576), "1.0 MB");
});

/** The same numbers each time. */
function random(seed) {
    let state = seed;
    return (below) => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return Math.floor((state / 2 ** 32) * below); };
}

function drawPlan(next, depth, names) {
    return Array.from({ length: 1 + next(4) }, () => {
        const name = `s${names.count++}`, kind = next(depth > 2 ? 2 : 5);
        if (kind === 3) return { name, kind: "condition", lists: [{ label: "then", elements: drawPlan(next, depth + 1, names) }, { label: "else", elements: next(2) ? [] : drawPlan(next, depth + 1, names) }] };
        if (kind === 4) return { name, kind: "fork", lists: Array.from({ length: 2 + next(3) }, (_, index) => ({ label: String(index), elements: drawPlan(next, depth + 1, names) })) };
        return { name, kind: "task" };
    });
}

test("boxes do not overlap, keep their order, and lie in the drawing", () => {
    const next = random(7);
    for (let round = 0; round < 10_000; round++) {
        const names = { count: 0 }, plan = drawPlan(next, 0, names), { boxes, lines, width, height } = layout(plan);
        const tasks = boxes.filter((it) => it.kind !== "join");
        assert.equal(tasks.length, names.count);
        const isIn = (it) => it.x >= -0.01 && it.y >= -0.01 && it.x + it.width <= width + 0.01 && it.y + it.height <= height + 0.01;
        const outside = boxes.find((it) => !isIn(it));
        assert.equal(outside, undefined, `round ${round}: ${outside?.name} is outside`);
        // Only boxes that begin left of another's end can overlap with it.
        const byLeft = [...boxes].sort((a, b) => a.x - b.x);
        byLeft.forEach((a, at) => {
            for (let next = at + 1; next < byLeft.length && byLeft[next].x < a.x + a.width; next++) {
                const b = byLeft[next];
                if (a.y + a.height > b.y && b.y + b.height > a.y) assert.fail(`round ${round}: ${a.name} over ${b.name}`);
            }
        });
        const byName = new Map(boxes.map((it) => [it.name, it]));
        for (let at = 1; at < plan.length; at++) if (byName.get(plan[at].name).x <= byName.get(plan[at - 1].name).x) assert.fail(`round ${round}: ${plan[at].name} before its turn`);
        for (const line of lines) if (!byName.has(line.from) || !byName.has(line.to)) assert.fail(`round ${round}: a line of nobody`);
    }
});

test("a plan is read from its definition, and long ones are folded", () => {
    const plan = readPlan([{ step: "a", handler: "h" }, { condition: "c", then: [{ human: "b" }] }, { fork: "f", branches: [[{ step: "x" }], [{ wait: "y" }]] }]);
    assert.deepEqual(plan.map((it) => [it.name, it.kind]), [["a", "task"], ["c", "condition"], ["f", "fork"]]);
    assert.equal(plan[2].lists.length, 2);
    const many = Array.from({ length: 200 }, (_, index) => ({ name: `s${index}`, kind: "task" }));
    const folded = layout(many);
    assert.equal(folded.boxes.find((it) => it.kind === "folded").folded, 175);
    assert.equal(layout(many, new Set(["list:s0"])).boxes.length, 200);
    assert.equal(layout([{ name: "f", kind: "fork", lists: Array.from({ length: 84 }, (_, index) => ({ label: String(index), elements: [{ name: `b${index}`, kind: "task" }] })) }]).boxes[0].folded, 84);
    assert.ok(BOX.width > 0);
});

/** Of the demo's order: which lines were gone along, by the status of its steps. */
function linesOf(stands) {
    const plan = readPlan([{ step: "reserve", compensation: { handler: "refund" } }, { condition: "is_large", then: [{ human: "approval" }] },
        { fork: "fulfilment", branches: [[{ step: "pack" }, { step: "ship" }], [{ condition: "is_paper", then: [{ step: "print" }], else: [{ step: "mail" }] }]] }, { step: "thank" }]);
    const drawing = layout(plan), rows = new Map(Object.entries(stands).map(([name, it]) => [name, typeof it === "string" ? { status: it, error: null, started_at: "2026-11-15T12:00:00Z" } : it]));
    const isTaken = waysTaken(plan, drawing, rows);
    return Object.fromEntries(drawing.lines.map((line) => [`${line.from} ${line.list ? `${line.list.split("/")[1]} ` : ""}${line.to}`.replaceAll(" \u2192", "_join"), isTaken(line)]));
}

test("a line is taken when what it comes from has been left", () => {
    const failed = { status: "rolled_back", error: "no carrier", started_at: "2026-11-15T12:00:00Z" };
    let lines = linesOf({ reserve: "completed", is_large: "completed", approval: "waiting_decision", fulfilment: "pending", fulfilment_join: "pending" });
    assert.deepEqual(lines, { "reserve is_large": true, "is_large then approval": true, "approval is_large_join": false, "is_large else is_large_join": false, "is_large_join fulfilment": false,
        "fulfilment 1 pack": false, "pack ship": false, "ship fulfilment_join": false, "fulfilment 2 is_paper": false, "is_paper then print": false, "print is_paper_join": false,
        "is_paper else mail": false, "mail is_paper_join": false, "is_paper_join fulfilment_join": false, "fulfilment_join thank": false });
    // One branch is through, by its second list; the other is under way.
    lines = linesOf({ reserve: "completed", is_large: "completed", approval: "skipped", fulfilment: "completed", pack: "completed", ship: "running", is_paper: "completed", print: { status: "skipped", error: null, started_at: null }, mail: "completed", fulfilment_join: "pending", thank: "pending" });
    assert.equal(lines["is_large else is_large_join"], true);
    assert.equal(lines["is_large then approval"], false);
    assert.equal(lines["pack ship"], true);
    assert.equal(lines["ship fulfilment_join"], false);
    assert.equal(lines["is_paper then print"], false);
    assert.equal(lines["mail is_paper_join"], true);
    assert.equal(lines["is_paper_join fulfilment_join"], true);
    assert.equal(lines["fulfilment_join thank"], false);
    // What was rolled back after it had completed was left; what had failed was not.
    lines = linesOf({ reserve: "rolled_back", is_large: "rolled_back", approval: "skipped", fulfilment: "rolled_back", pack: "rolled_back", ship: failed, is_paper: "rolled_back", print: "rolled_back", fulfilment_join: "pending", thank: "pending" });
    assert.equal(lines["pack ship"], true);
    assert.equal(lines["ship fulfilment_join"], false);
    assert.equal(lines["print is_paper_join"], true);
    assert.equal(lines["fulfilment_join thank"], false);
    lines = linesOf({ reserve: "completed", is_large: "completed", approval: "confirmed", fulfilment: "completed", pack: "completed", ship: "completed", is_paper: "completed", print: "completed", fulfilment_join: "completed", thank: "ready" });
    assert.deepEqual(Object.keys(lines).filter((it) => !lines[it]), ["is_large else is_large_join", "is_paper else mail", "mail is_paper_join"]);
});

test("lines of folded steps and branches follow what is hidden", () => {
    const many = Array.from({ length: 200 }, (_, index) => ({ name: `s${index}`, kind: "task" })), plan = [{ name: "f", kind: "fork", lists: Array.from({ length: 30 }, (_, index) => ({ label: String(index), elements: [{ name: `b${index}`, kind: "task" }] })) }, ...many];
    const isTaken = (stands, from, to) => { const drawing = layout(plan), taken = waysTaken(plan, drawing, new Map(Object.entries(stands).map(([name, status]) => [name, { status }]))); return taken(drawing.lines.find((it) => it.from === from && it.to === to)); };
    const drawing = layout(plan), fold = drawing.boxes.find((it) => it.kind === "folded").name, [before, after] = [drawing.lines.find((it) => it.to === fold).from, drawing.lines.find((it) => it.from === fold).to];
    assert.equal(isTaken({ f: "completed", b0: "completed", f_join: "pending" }, "f", "f \u2192"), false);
    assert.equal(isTaken({ f: "completed", b0: "completed", f_join: "completed" }, "f", "f \u2192"), true);
    assert.equal(isTaken({ [before]: "completed" }, before, fold), false);
    assert.equal(isTaken({ [before]: "completed", s60: "running" }, before, fold), true);
    assert.equal(isTaken({ s60: "running" }, fold, after), false);
    assert.equal(isTaken({ [after]: "ready" }, fold, after), true);
});

test("undone is what something was called for", () => {
    const [pack, ship, child] = readPlan([{ step: "pack", compensation: { handler: "unpack" } }, { step: "ship" }, { start: "child", workflow: "w" }]);
    const rolled = { status: "rolled_back", error: null, started_at: "2026-11-15T12:00:00Z" };
    assert.equal(isUndone(pack, rolled), true);
    assert.equal(isUndone(pack, { ...rolled, error: "broken" }), true);
    assert.equal(isUndone(pack, { ...rolled, started_at: null }), false);
    assert.equal(isUndone(pack, { ...rolled, status: "completed" }), false);
    assert.equal(isUndone(ship, rolled), false);
    assert.equal(isUndone(ship, { ...rolled, error: "no carrier" }), false);
    assert.equal(isUndone(child, rolled), true);
});

// ---- colours ---------------------------------------------------------------------------------------

function luminance(colour) {
    const part = (at) => { const value = parseInt(colour.slice(at, at + 2), 16) / 255; return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}
const contrast = (a, b) => { const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x); return (high + 0.05) / (low + 0.05); };

test("every text can be read, in both themes", () => {
    const css = readFileSync(join(web, "src/style.css"), "utf8");
    for (const theme of ["light", "dark"]) {
        const block = css.slice(css.indexOf(`/* theme: ${theme} */`)).split("}")[0];
        const token = (name) => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(block)[1];
        const check = (text, fill, least) => assert.ok(contrast(token(text), token(fill)) >= least, `${theme}: ${text} on ${fill} is ${contrast(token(text), token(fill)).toFixed(2)}`);
        for (const name of ["text", "muted", "accent", "fail"]) { check(name, "surface", 4.5); check(name, "page", 4.5); }
        for (const group of ["plan", "queue", "run", "wait", "person", "hold", "undo", "done", "fail", "stop"]) check(`${group}-text`, `${group}-fill`, 4.5);
        check("on-accent", "accent", 4.5);
        check("on-fail", "fail", 4.5);
        check("edge", "surface", 3);
    }
});

test("no part of the source makes HTML of text", () => {
    const walk = (folder) => readdirSync(folder, { withFileTypes: true }).flatMap((it) => it.isDirectory() ? walk(join(folder, it.name)) : [join(folder, it.name)]);
    for (const path of walk(join(web, "src"))) if (/\.tsx?$/.test(path) && !path.endsWith(".d.ts"))
        assert.doesNotMatch(readFileSync(path, "utf8"), /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function/, path);
    assert.ok(pathToFileURL(web));
});

test("a chart's lines are round, reach its highest value, and are few", () => {
    assert.deepEqual(ticks(0), [0, 1]);
    assert.deepEqual(ticks(3), [0, 1, 2, 3]);
    assert.deepEqual(ticks(7), [0, 2, 4, 6, 8]);
    assert.deepEqual(ticks(1403), [0, 500, 1000, 1500]);
    for (let max = 1; max < 5000; max += 7) {
        const all = ticks(max);
        assert.ok(all.at(-1) >= max && all.at(-2) < max && all.length <= 5, `${max}: ${all}`);
    }
    assert.deepEqual(labelled(60, 4), [14, 29, 44, 59]);
    assert.deepEqual(labelled(1, 4), [0]);
    assert.deepEqual(labelled(3, 0), [2]);
});

test("what comes before an element is what a rerun copies", () => {
    const plan = readPlan([{ step: "a" }, { condition: "c", then: [{ step: "d" }, { step: "e" }], else: [{ step: "f" }] }, { fork: "g", branches: [[{ step: "h" }], [{ step: "i" }, { step: "j" }]] }, { map: "m", steps: [{ step: "k" }] }, { parallel: "p", steps: [{ step: "q" }, { step: "r" }] }, { step: "z" }]);
    assert.deepEqual(namesBefore(plan, "a"), []);
    assert.deepEqual(namesBefore(plan, "e"), ["a", "c", "d"]);
    assert.deepEqual(namesBefore(plan, "j"), ["a", "c", "d", "e", "f", "g", "i"]);
    assert.deepEqual(namesBefore(plan, "r").slice(-2), ["m", "p"]);
    assert.deepEqual(namesBefore(plan, "k"), null);
    assert.equal(namesBefore(plan, "z").includes("q"), true);
});

test("at most four requests in a second; what somebody waits for goes before what can come later", async () => {
    const nowhere = { getItem: () => null };
    Object.assign(globalThis, { document: { baseURI: "http://127.0.0.1/ui/", addEventListener: () => undefined }, location: new URL("http://127.0.0.1/ui/"), addEventListener: () => undefined,
                                sessionStorage: nowhere, localStorage: nowhere, BroadcastChannel: undefined });
    delete globalThis.BroadcastChannel;
    const { turn, FIRST, LATE } = await load("api");
    // A clock of its own: the queue looks again by timers.
    let at = 0;
    const timers = [], real = { now: performance.now, setTimeout: globalThis.setTimeout };
    performance.now = () => at;
    globalThis.setTimeout = (act, ms) => timers.push({ at: at + ms, act });
    const went = [], stop = new AbortController(), ask = (name, late) => turn(stop.signal, late).then(() => went.push({ name, at }), () => undefined);
    const run = async (until) => {
        for (;;) {
            for (let n = 0; n < 10; n++) await Promise.resolve();
            timers.sort((a, b) => a.at - b.at);
            if (!timers.length || timers[0].at > until) break;
            const next = timers.shift();
            at = next.at;
            next.act();
        }
        at = until;
    };
    try {
        for (const name of ["about", "needs", "errors"]) void ask(name, LATE);
        for (const name of ["one", "two", "three", "four"]) void ask(name);
        await run(600);
        for (const name of ["five", "six", "seven"]) void ask(name);
        await run(900);
        void ask("eight");
        void ask("mine", FIRST);
        await run(5000);
        assert.deepEqual(went.map((it) => it.name), ["one", "two", "three", "four", "mine", "five", "six", "seven", "eight", "about", "needs", "errors"]);
        for (let n = 4; n < went.length; n++) assert.ok(went[n].at - went[n - 4].at >= 1000, went[n].name);
        // Those that can come later come all the same, however much is asked for.
        went.length = 0;
        for (const name of ["late", "a", "b", "c", "d", "e"]) void ask(name, name === "late" ? LATE : 0);
        for (let n = 0; n < 60; n++) { void ask(`ask ${n}`); await run(at + 200); }
        const late = went.find((it) => it.name === "late");
        assert.ok(late && late.at <= 12_000, JSON.stringify(late));
    } finally {
        stop.abort();
        performance.now = real.now;
        globalThis.setTimeout = real.setTimeout;
    }
});
