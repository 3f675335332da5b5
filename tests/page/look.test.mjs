// look.test.mjs - how the page looks and what it withstands: hostile text, phones, keys, accessibility, policies, prefixes.
//
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { deploy, ownOrder, start } from "./flows.mjs";
import { axeSource, becomes, flawsOf, group, scenario, seen, startServer, until } from "./rig.mjs";
import { test } from "node:test";

const shared = group();
const HOSTILE = "<script>alert(1)</script></script><img src=x onerror=alert(2)>{{x}}\u202egnp.exe\u200b😀";

shared("text of others is only text", async (server, { page, id, visit }) => {
    const payload = `{"__proto__": ${JSON.stringify(HOSTILE)}, "<b>": ["javascript:alert(1)", 9007199254740993, 1.10], "constructor": {"__proto__": null}}`;
    await server.must("POST", "/v1/jobs", `{"type": "t.bad", "key": ${JSON.stringify(HOSTILE.slice(0, 120))}, "payload": ${payload}}`);
    const { tasks: [task] } = await server.must("POST", "/v1/tasks/claim", { worker: "<img src=x onerror=alert(3)>", types: ["t.bad"], lease_ms: 600_000 });
    await server.must("POST", `/v1/tasks/${task.id}/dead`, { worker: "<img src=x onerror=alert(3)>", token: task.token, error: HOSTILE });
    const instance = await ownOrder(server, "bad", `{"x": ${JSON.stringify(HOSTILE)}}`, HOSTILE.slice(0, 200));
    await server.dead(await server.claim("bad.reserve"), HOSTILE);
    const clean = async (what) => {
        assert.equal(await page.locator("#app script, #app img, #app iframe").count(), 0, what);
        assert.equal(await page.getByText("\u202e").count(), 0, what);
    };
    for (const path of ["jobs", "instances", `instances/${instance}`, `instances/${instance}?tab=steps&step=1`, `instances/${instance}?tab=events`, "dead", "workers", ""]) {
        await visit(path);
        await seen(page.locator("main section").first());
        await seen(page.locator("main").getByText("alert(").first());
        await clean(path);
    }
    await visit(`jobs/${task.id}`);
    await seen(id("payload-input").getByText("javascript:alert(1)"));
    await seen(id("payload-input").getByText("9007199254740993"));
    await seen(id("payload-input").getByText("1.10"));
    await seen(page.getByText("␣202e").first());
    await clean("a job");
    // Copied byte for byte.
    await page.evaluate(() => { navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }; });
    await id("payload-input").getByTestId("json-copy").click();
    assert.deepEqual(JSON.parse(await page.evaluate(() => window.copied)), JSON.parse(payload));
    assert.match(await page.evaluate(() => window.copied), /9007199254740993, ?1\.10/);
    // In names, tags, logs and comments; names as long as they may be.
    const long = (text) => `${text}${"x".repeat(256)}`.slice(0, 256), BAD = "<img src=x onerror=alert(4)>", logged = "</script><script>alert(5)</script>";
    const step = long(`s${BAD}`);
    await deploy(server, JSON.stringify({ workflow: "hostile", version: 1, dlq: true, steps: [{ human: "asks" }, { step, handler: long("bad.long"), max_attempts: 1 }] }));
    const named = (await server.must("POST", "/v1/instances", { workflow: "hostile", key: long("k</title>"), tags: { "<b>t</b>": HOSTILE.slice(0, 200) }, input: {} })).id;
    await server.must("POST", `/v1/instances/${named}/steps/asks/decision`, { decision: "confirmed", by: BAD, comment: HOSTILE });
    const raw = `{"file": "prices.cvs",  "n": 9007199254740993, "x": 1.10, "<b>": ${JSON.stringify(HOSTILE)}, "__proto__": {"polluted": true}}`;
    await server.must("POST", "/v1/workflows", { function: "says", version: 1 });
    const says = await start(server, "{}", "says", "says"), passage = await server.claim("says");
    await server.report("commit", passage, { revision: passage.revision, outcome: "go_on", steps: [{ seq: 1, key: `k${BAD}`, kind: "task", status: "completed", output: HOSTILE }], logs: [{ level: "info", message: logged, data: { [BAD]: HOSTILE } }] });
    for (const [path, sign] of [["instances?q=k", `tr[data-id="${named}"]`], [`instances/${named}?tab=graph`, "[data-testid=node] >> nth=1"], [`instances/${named}?tab=timeline`, "[data-testid=lane]"], [`instances/${named}?tab=steps&step=0`, "[data-testid=decision]"],
                                [`instances/${named}?tab=definition`, "[data-testid=definition]"], ["approvals", "[data-testid=decided-row]"], ["workflows/hostile/1", "[data-testid=node] >> nth=1"], ["workflows/hostile/1?tab=grid", "[data-testid=grid]"], ["workflows/hostile/1?tab=handlers", "[data-testid=handler-row]"],
                                [`instances/${says}?tab=logs`, "[data-testid=log-row]"], [`instances/${says}?tab=steps`, "[data-testid=step-row]"]]) {
        await visit(path);
        await seen(page.locator(sign).first());
        await clean(path);
        assert.equal(await page.locator("#app title, #app style, #app b b").count(), 0, path);
    }
    await visit(`instances/${says}?tab=logs`);
    await seen(id("log-row").getByText(logged));
    await visit(`instances/${named}?tab=steps&step=0`);
    await seen(id("decision").getByText("alert(1)"));
    assert.equal(await page.evaluate(() => ({}).polluted), undefined);
    await server.report("commit", passage, { revision: passage.revision + 1, outcome: "complete", output: 1 });
    // Requeued byte for byte, edited and not.
    const parked = (await server.must("POST", "/v1/instances", `{"workflow": "order_bad", "key": "bytes", "input": ${raw}}`)).id;
    await server.dead(await server.claim("bad.reserve"), "no such file");
    const record = (await server.must("GET", `/v1/dlq?instance=${parked}`)).items[0].id, kept = async () => (await server.call("GET", `/v1/dlq/${record}/input`)).text;
    const was = await kept();
    await visit(`dead?record=${record}`);
    await id("dead-record").getByTestId("action-requeue-edit").click();
    assert.equal(await id("json-editor").inputValue(), was);
    const request = page.waitForRequest((it) => it.url().endsWith("/requeue")), edited = was.replace("prices.cvs", "prices.csv");
    await id("json-editor").fill(edited);
    await id("sheet-confirm").click();
    assert.equal((await request).postData(), `{"input":${edited}}`);
    const task2 = await server.claim("bad.reserve");
    assert.deepEqual(JSON.stringify(task2.input), JSON.stringify(JSON.parse(edited)));
    await server.report("complete", task2, { output: {} });
});

shared("what is large or deep stays usable: a megabyte, 64 levels, 100,000 members", async (server, { page, id, visit }) => {
    const many = `[${Array.from({ length: 100_000 }, (_, n) => n).join(",")}]`, deep = `${"[".repeat(62)}"the bottom"${"]".repeat(62)}`;
    const payloads = { many, deep, long: JSON.stringify({ text: `${HOSTILE}${"y".repeat(1_000_000)}` }) };
    for (const [name, payload] of Object.entries(payloads)) {
        const job = (await server.must("POST", "/v1/jobs", `{"type": "t.large", "key": "large-${name}", "payload": ${payload}}`)).id;
        await visit(`jobs/${job}`);
        await seen(id("payload-input"));
        if (name !== "deep") {                          // it is asked for only when it is wanted
            await id("payload-input").getByTestId("json-show").click();
            await seen(id("payload-input").getByTestId("json"));
        }
        await id("payload-input").getByTestId("json-level").selectOption("99");
        if (name === "many") await seen(id("json-more").first());
        if (name === "deep") await seen(id("payload-input").getByText("the bottom"));
        if (name === "long") {
            await id("json-string-more").first().click();
            await seen(id("payload-input").getByText("alert(1)"));
        }
        assert.ok(await page.locator(".j-line").count() <= 2100, name);
        assert.equal(await page.locator("#app script, #app img").count(), 0, name);
        // Whole, as the server has it.
        await page.evaluate(() => { navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }; });
        await id("payload-input").getByTestId("json-copy").click();
        await becomes(() => page.evaluate(() => window.copied), (await server.call("GET", `/v1/jobs/${job}/payload`)).text, name);
    }
    await visit("jobs?type=t.large");
    await becomes(() => id("job-row").count(), 3);
});

shared("what may not run does not run", async (server, { page, sins, open, id }) => {
    await open("instances");
    await seen(id("instances"));
    const isBlocked = await page.evaluate(() => {
        const script = document.createElement("script");
        try { script.textContent = "window.bad = 1"; document.body.append(script); } catch { return true; }
        return window.bad === undefined;
    });
    assert.equal(isBlocked, true);
    const colour = await page.evaluate(() => { const style = document.createElement("style"); style.textContent = "h1 { color: rgb(1, 2, 3) }"; document.head.append(style); return getComputedStyle(document.querySelector("h1")).color; });
    assert.notEqual(colour, "rgb(1, 2, 3)");
    await page.getByTestId("nav-settings").click();
    await seen(id("settings"));
    sins.length = 0; // the browser has said what it blocked
});

shared("the keyboard alone finds, opens, acts and goes back", async (server, { page, id, open }) => {
    await start(server, "{}", "keys");
    await open("");
    await seen(id("nav"));
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await seen(id("instance-row").first());
    await page.keyboard.press("j");
    await becomes(() => page.evaluate(() => document.activeElement.matches(":focus-visible")), true);
    await page.keyboard.press(".");
    await until(() => page.evaluate(() => document.activeElement.getAttribute("data-testid") === "bulk-retry"), "the first action has the focus");
    await page.keyboard.press("k");
    await page.keyboard.press("x");
    await id("bulk-bar").waitFor({ state: "detached" });
    await page.keyboard.press("Enter");
    await seen(id("instance"));
    await page.keyboard.press("]");
    await seen(page.locator("[data-testid=tab-timeline][aria-selected=true]"));
    await id("tab-events").click();
    await seen(id("event-row").first());
    await page.keyboard.press("j");
    await becomes(() => page.evaluate(() => document.activeElement.getAttribute("data-testid")), "event-row");
    await id("action-pause").focus();
    await page.keyboard.press("Enter");
    await seen(id("sheet"));
    await page.keyboard.press("Escape");
    await id("sheet").waitFor({ state: "detached" });
    await becomes(() => page.evaluate(() => document.activeElement?.getAttribute("data-testid")), "action-pause");
    await page.keyboard.press("?");
    await seen(id("shortcuts"));
    await page.keyboard.press("Escape");
    await id("shortcuts").waitFor({ state: "detached" });
    await page.keyboard.press("t");
    await until(async () => /local/.test(await id("time-zone").textContent()), "local times");
    await page.keyboard.press("/");
    await becomes(() => page.evaluate(() => document.activeElement.getAttribute("data-testid")), "search");
});

/** Of every target in the screen: those that a finger would miss.  Links within a line of text are as high as the line. */
const missed = (page) => page.locator("a:visible, button:visible, summary:visible, input:visible, select:visible, textarea:visible").evaluateAll((all) => all.filter((it) => {
    const box = it.getBoundingClientRect(), isInLine = it.matches("a, button.copy, button[data-testid^=copy]") && getComputedStyle(it).display === "inline";
    const label = it.matches("input[type=checkbox], input[type=radio], input[type=file]") ? it.closest("label, td, th") : null;
    return box.width > 1 && !isInLine && !it.matches(".skip") && Math.max(box.height, label?.getBoundingClientRect().height ?? 0) < 43.9;
}).map((it) => it.outerHTML.slice(0, 140)));

/** Of every text in the screen: those that stand there letter below letter. */
const crumbled = (page) => page.locator("main").evaluate((main) => {
    const found = [], texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT), range = document.createRange();
    while (texts.nextNode()) {
        const text = texts.currentNode.data.trim();
        range.selectNodeContents(texts.currentNode);
        const lines = new Set([...range.getClientRects()].filter((it) => it.width > 0).map((it) => Math.round(it.top))).size;
        if (lines > 2 && text.length < 4 * lines) found.push(`${lines} lines: ${text}`);
    }
    return found;
});

/** Of every button in a table: those that touch an edge, of their cell or of what the table stands in, or lie beyond it. */
const touching = (page) => page.locator("main td button:visible, main th button:visible").evaluateAll((all) => all.filter((it) => {
    const box = it.getBoundingClientRect(), isWithin = (outer, room) => box.left >= outer.left + room && box.right <= outer.right - room;
    const wrap = it.closest(".table-wrap");
    return !isWithin(it.closest("td, th").getBoundingClientRect(), 0) || (wrap && !isWithin(wrap.getBoundingClientRect(), 4));
}).map((it) => `${it.textContent}: ${it.outerHTML.slice(0, 140)}`));

const PHONES = { "390": { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }, "320": { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true },
                 "640, which is 1280 at twice the size": { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }, "1280": { viewport: { width: 1280, height: 800 } } };
for (const [name, options] of Object.entries(PHONES))
    shared(`a screen of ${name} px scrolls only down, its targets can be hit, every action is reachable`, async (server, { page, id, visit }) => {
        const { viewport, hasTouch } = options, tag = `phone${viewport.width}`;
        const instance = await start(server, "{}", "on-the-phone"), job = (await server.must("POST", "/v1/jobs", { type: "t.on_the_phone", key: tag })).id;
        await deploy(server, "workflow: phone_asks\nversion: 1\nsteps:\n  - human: may_it_be\n");
        await start(server, "{}", tag, "phone_asks");
        const parked = await ownOrder(server, tag, "{}", `${tag}-dead`);
        await server.dead(await server.claim(`${tag}.reserve`), `no luck ${"with a rather long sentence ".repeat(4)}`);
        for (const version of [1, 2, 3]) await server.must("POST", "/v1/workflows", { function: "order_processing", version });
        await server.must("POST", "/v1/instances", { workflow: "order_processing", key: tag });
        await server.must("PUT", "/v1/schedules/nightly", { cron: "30 2 * * MON-FRI", timezone: "Europe/Berlin", task: "t.a_rather_long_name_of_a_type.v1" });
        const paths = { "": "overview", instances: "instance-row", [`instances/${instance}`]: "instance", [`instances/${instance}?tab=graph`]: "node", [`instances/${instance}?tab=timeline`]: "lane", [`instances/${instance}?tab=events`]: "event-row", [`instances/${instance}?tab=io`]: "payload-input",
                        [`instances/${instance}?tab=definition`]: "definition", [`instances/${instance}?tab=steps&step=0`]: "drawer", jobs: "job-row", [`jobs/${job}`]: "job", approvals: "approval-card", dead: "dead-row", workflows: "workflow-row", "workflows/order/latest": "workflow",
                        functions: "function-row", workers: "workers", schedules: "schedule-row", "schedules/nightly": "schedule-next", settings: "about" };
        for (const [path, sign] of Object.entries(paths)) {
            await visit(path);
            await seen(id(sign).first());
            const excess = await page.evaluate((width) => document.documentElement.scrollWidth - width, viewport.width);
            assert.ok(excess <= 0, `${path} is ${excess} px too wide`);
            assert.deepEqual(await crumbled(page), [], path);
            assert.deepEqual(await touching(page), [], `${path}: a button at an edge`);
            if (hasTouch) assert.deepEqual(await missed(page), [], `${path}: hard to hit`);
        }
        // Every action can be reached, and its sheet be confirmed, without scrolling sideways.
        const isInView = (box) => !!box && box.x >= 0 && box.x + box.width <= viewport.width;
        const reach = async (action, more) => {
            if (more) await more.locator("summary").click();
            const button = id(`action-${action}`).first();
            await button.scrollIntoViewIfNeeded();
            assert.ok(isInView(await button.boundingBox()), action);
            await button.click();
            await seen(id("sheet"));
            const confirm = id("sheet-confirm").or(id("start-confirm"));
            await confirm.scrollIntoViewIfNeeded();
            assert.ok(isInView(await confirm.boundingBox()), `${action}: confirm`);
            if (hasTouch) assert.deepEqual(await missed(page), [], `the sheet of ${action}: hard to hit`);
            await id("sheet-cancel").click();
            await id("sheet").waitFor({ state: "detached" });
        };
        await visit(`instances/${instance}`);
        for (const action of ["signal", "pause", "cancel"]) await reach(action);
        for (const action of ["abort", "restart", "rerun", "start-again"]) await reach(action, id("more-actions"));
        await visit(`instances/${parked}`);
        await seen(page.locator("[data-testid=why-action][data-action=requeue]").first());
        await visit(`jobs/${job}`);
        for (const action of ["job-cancel", "job-delete", "job-add"]) await reach(action);
        await visit("approvals");
        for (const action of ["approve", "reject"]) await reach(action);
        await visit("dead");
        for (const action of ["requeue", "requeue-edit"]) await reach(action);
        await visit("workflows");
        for (const action of ["start", "deploy"]) await reach(action);
        // The tab that is open is in view, and so are the actions for what is selected.
        await visit(`instances/${instance}?tab=definition`);
        await seen(id("definition"));
        const isWhole = (box) => isInView(box) && box.y + box.height <= viewport.height;
        await until(async () => isInView(await id("tab-definition").boundingBox()), "the open tab in view");
        await visit("instances");
        await id("select-row").first().click();
        await seen(id("bulk-abort"));
        await until(async () => isWhole(await id("bulk-restart").boundingBox()), "the last action in view");
        if (hasTouch) await id("nav-more").click();
        await seen(id("nav-settings"));
    }, { page: options });

for (const colorScheme of ["light", "dark"])
    shared(`no serious flaw of accessibility, ${colorScheme}`, async (server, { page, id, visit }) => {
        await page.addInitScript(axeSource());
        await deploy(server, "workflow: axe\nversion: 1\nsteps:\n  - human: ask\n  - step: a\n    handler: x.a\n");
        await deploy(server, "workflow: axe\nversion: 2\nsteps:\n  - human: ask\n");
        const instance = await ownOrder(server, colorScheme, '{"total": 1}', `axe-${colorScheme}`), asked = await start(server, "{}", `asked-${colorScheme}`, "axe");
        await server.complete(await server.claim(`${colorScheme}.reserve`), { total: 1 });
        await server.dead(await server.claim(`${colorScheme}.ship`), "no carrier");
        assert.ok(asked);
        // What has the theme in it is looked at twice, everything else once.
        const options = colorScheme === "dark" ? { runOnly: ["color-contrast", "link-in-text-block"] } : {};
        const check = async (what) => assert.deepEqual(await flawsOf(page, options), [], what);
        await deploy(server, "workflow: axe_fails\nversion: 1\nsteps:\n  - step: a\n    handler: x.fails\n    max_attempts: 1\n");
        await start(server, "{}", `fails-${colorScheme}`, "axe_fails");
        await server.dead(await server.claim("x.fails"), "it broke");
        const job = (await server.must("POST", "/v1/jobs", { type: "x.job", key: `axe-${colorScheme}`, payload: { a: [1, "two", null] } })).id;
        await server.dead(await server.claim("x.job"), "it broke");
        await server.must("POST", "/v1/workflows", { function: "axe_fn", version: 1 });
        const code = await start(server, "{}", `fn-${colorScheme}`, "axe_fn"), passage = await server.claim("axe_fn");
        await server.report("commit", passage, { revision: passage.revision, outcome: "complete", output: 1, logs: [{ level: "warn", message: "careful" }] });
        const bulk = (await server.must("POST", "/v1/bulk", { on: "instances", action: "retry", ids: [instance], by: "t" })).id;
        const paths = { [`instances/${instance}?tab=events`]: "event-row", [`instances/${instance}?tab=definition`]: "definition", [`instances/${code}?tab=logs`]: "log-row", [`jobs/${job}`]: "attempt-row", "jobs?status=failed": "chip", "dead?tab=jobs": "dead-row", "dead?tab=instances": "dead-row",
                        "workflows/axe/2": "workflow", "workflows/axe/2?tab=grid": "grid", "workflows/axe/1?tab=handlers": "handler-row", functions: "function-row", "functions/axe_fn/1": "function", [`bulk/${bulk}`]: "bulk-progress", "no/such/screen": "error", "instances?q=nothing-like-this": "empty",
                        "": "needs-you", instances: "instance-row", [`instances/${instance}`]: "graph", [`instances/${instance}?tab=timeline`]: "lane", [`instances/${instance}?tab=steps&step=1`]: "drawer", [`instances/${instance}?tab=io`]: "payload-input",
                        jobs: "jobs", approvals: "approval-card", dead: "dead-row", workflows: "workflow-row", "workflows/axe/diff?a=1&b=2": "diff-item", workers: "worker-row", schedules: "schedule-dot", "schedules/axe": "schedule-run-row", settings: "retention" };
        await server.must("PUT", "/v1/schedules/axe", { cron: "30 2 * * *", task: "x.scheduled" });
        await server.must("POST", "/v1/schedules/axe/trigger", {});
        for (const [path, sign] of Object.entries(paths)) {
            await visit(path);
            await seen(id(sign).first());
            await check(path);
        }
        await visit(`instances/${instance}`);
        await id("more-actions").locator("summary").click();
        await check("menu");
        await id("action-abort").click();
        await seen(id("sheet"));
        await check("sheet");
        await id("sheet-cancel").click();
        // A sheet over a drawer, one with an editor, and the progress of many.
        await visit(`instances/${asked}?tab=steps&step=0`);
        await id("drawer").getByTestId("action-approve").click();
        await seen(id("sheet"));
        await check("sheet over a drawer");
        await id("sheet-cancel").click();
        await visit("dead");
        await id("action-requeue-edit").first().click();
        await seen(id("json-editor"));
        await check("editor");
        await id("sheet-cancel").click();
        await visit("instances");
        await id("select-page").click();
        await seen(id("bulk-bar"));
        await check("bar of many");
        await page.keyboard.press("?");
        await seen(id("shortcuts"));
        await check("shortcuts");
        await page.keyboard.press("Escape");
        await visit("schedules");
        await id("action-schedule-new").click();
        await seen(id("schedule-cron"));
        await check("form of a schedule");
        await id("sheet-cancel").click();
        // Every other sheet, menu and list that opens above a screen.
        const above = async (path, act, sign, isSheet = true) => { await visit(path); await act(); await seen(sign); await check(`${path}: ${sign}`); if (isSheet) await id("sheet-cancel").click(); };
        const menu = (name) => id(name).locator("summary").click();
        for (const action of ["signal", "restart", "rerun", "start-again"]) await above(`instances/${asked}`, async () => { if (action !== "signal") await menu("more-actions"); await id(`action-${action}`).click(); }, id("sheet"));
        await above("workflows", () => id("action-deploy").click(), id("deploy-text"));
        await above("workflows/axe/2", () => id("action-start").first().click(), id("start-form"));
        await above("jobs", () => id("action-job-add").first().click(), id("sheet"));
        await above("instances?workflow=axe", () => id("save-view").click(), id("view-name"));
        await above("instances", () => id("action-start").click(), id("sheet"));
        await above("dead", () => id("group-edit").first().click(), id("edit-preview"));
        await above("dead", () => id("group-cancel").first().click(), id("sheet"));
        await above("settings", () => id("forget").click(), id("sheet"));
        await above("settings", () => id("action-retention").click(), id("sheet"));
        await above("workers", () => id("action-limit-new").click(), id("sheet"));
        for (const name of ["filter-status", "filter-workflow", "filter-tag", "filter-time", "columns"]) { await above("instances", () => menu(name), id(name).locator(".menu-body"), false); await page.keyboard.press("Escape"); }
        await above("instances", () => id("search").fill("axe"), id("search-result").first(), false);
        await id("search").press("Escape");
        await above("workers", () => page.getByRole("button", { name: /^Tasks of/ }).first().click(), id("workers"), false);
        await above("settings", () => menu("findings-ok"), page.locator("[data-testid=finding][data-result=ok]").first(), false);
        for (const [path, sign] of [["instances/01a1e498-b1c2-7926-9196-26f6018a4f33", "error"], ["workflows/axe/2?tab=file", "definition"], ["workflows/axe/2?tab=instances", "instance-row"], [`instances/${code}?tab=steps`, "step-row"], ["dead?group=000000000000", "empty"]])
            await above(path, async () => undefined, id(sign).first(), false);
        await page.getByTestId("nav-jobs").focus();
        await page.keyboard.press("Tab");
        // Errors in place and above it, and what has just been done.
        await page.route("**/v1/workers", (route) => route.fulfill({ status: 500, contentType: "application/json", body: JSON.stringify({ code: "internal", message: "it broke", detail: "there", hint: "look" }) }));
        await above("workers", async () => undefined, page.locator("[data-testid=error][data-code=internal]"), false);
        await page.unroute("**/v1/workers");
        await page.route("**/v1/schedules?limit=200", (route) => route.fulfill({ status: 503, contentType: "application/json", body: JSON.stringify({ code: "busy", message: "busy", detail: "", hint: "" }) }));
        await above("schedules", async () => undefined, id("banner"), false);
        await page.unroute("**/v1/schedules?limit=200");
        await above(`instances/${asked}`, async () => { await id("action-pause").click(); await id("by").fill("axe"); await id("sheet-confirm").click(); }, id("toast").first(), false);
        const many = (await server.must("POST", "/v1/bulk", { on: "instances", action: "pause", filter: { workflow: "axe" }, by: "t", per_second: 1 })).id;
        await above(`bulk/${many}`, async () => undefined, id("bulk-progress"), false);
    }, { page: { colorScheme, bypassCSP: true, refuses: [404, 500, 503] } });

const guarded = group({ tokens: "view secret-secret-secret-view-1 ann\n" });
for (const colorScheme of ["light", "dark"])
    guarded(`no serious flaw of accessibility where one signs in, ${colorScheme}`, async (server, { page, id, open }) => {
        await page.addInitScript(axeSource());
        await open("");
        await seen(id("sign-in"));
        assert.deepEqual(await flawsOf(page), [], "at first");
        await id("token").fill("wrong-wrong-wrong-wrong-wrong-1");
        await id("token-show").click();
        await id("sign-in-confirm").click();
        await seen(id("sign-in-error"));
        assert.deepEqual(await flawsOf(page), [], "refused");
        await id("token").fill("secret-secret-secret-view-1");
        await id("sign-in-confirm").click();
        await seen(id("sign-out"));
        await seen(page.locator("[data-testid=empty][data-reason=new]"));
        assert.deepEqual(await flawsOf(page), [], "an empty store");
    }, { page: { colorScheme, bypassCSP: true, refuses: [401] } });

shared("titles, language, less motion, forced colours", async (server, { page, id, open, visit }) => {
    const instance = await start(server, "{}", "titled");
    await server.must("POST", `/v1/instances/${instance}/abort`, { by: "t", reason: "t" });
    const failed = await ownOrder(server, "titled", "{}", "order-1002");
    await server.dead(await server.claim("titled.reserve"), "no carrier");
    await page.emulateMedia({ reducedMotion: "reduce", forcedColors: "active" });
    await open(`instances/${failed}`);
    await seen(id("instance"));
    await until(async () => (await page.title()) === "✗ order-1002 · Cairn", "the title");
    assert.equal(await page.getAttribute("html", "lang"), "en");
    await id("more-actions").locator("summary").click();
    await id("action-abort").click();
    await seen(id("sheet"));
    await becomes(() => page.evaluate(() => document.getAnimations().length), 0);
    assert.notEqual(await id("instance-status").evaluate((it) => getComputedStyle(it).borderTopStyle), "none");
    for (const [path, title] of Object.entries({ instances: "Instances · Cairn", dead: "Dead letters · Cairn" })) {
        await visit(path);
        await until(async () => (await page.title()) === title, title);
    }
});

/** Every address of the page, with what says that it is there. */
async function places(server) {
    const instance = await start(server, "{}", "placed"), job = (await server.must("POST", "/v1/jobs", { type: "places.job", key: "placed" })).id;
    await deploy(server, "workflow: placed\nversion: 1\ndlq: true\nsteps:\n  - step: a\n    handler: places.a\n    max_attempts: 1\n");
    await deploy(server, "workflow: placed\nversion: 2\nsteps:\n  - human: asks\n");
    await server.must("POST", "/v1/instances", { workflow: "placed", version: 1, key: "parked" });
    await server.dead(await server.claim("places.a"), "no luck");
    await server.must("POST", "/v1/instances", { workflow: "placed", version: 2, key: "asked" });
    await server.must("POST", "/v1/workflows", { function: "placed_fn", version: 1 });
    const code = await start(server, "{}", "placed", "placed_fn");
    await server.must("PUT", "/v1/schedules/a%20b.c", { cron: "30 2 * * *", task: "places.job" });
    const bulk = (await server.must("POST", "/v1/bulk", { on: "instances", action: "pause", ids: [instance], by: "t" })).id, group = (await server.must("GET", "/v1/errors?of=dlq")).items[0].group;
    return {
        "": "needs-you", "?range=6h": "chart-ended", instances: "instance-row", "instances?status=paused&workflow=order&q=placed": "instance-row", "instances?view=nobodys&unknown=kept": "instance-row",
        ...Object.fromEntries(Object.entries({ graph: "node", timeline: "timeline", steps: "step-row", events: "event-row", io: "payload-input", definition: "definition" }).map(([tab, sign]) => [`instances/${instance}?tab=${tab}`, sign])),
        [`instances/${instance}?tab=steps&step=0`]: "drawer", [`instances/${code}?tab=logs`]: "logs", jobs: "job-row", "jobs?status=pending&due=true&type=places.%25": "job-row", [`jobs/${job}`]: "job-status", approvals: "approval-card", "approvals?workflow=placed&sort=oldest": "approval-card",
        dead: "dead-row", "dead?tab=jobs": "dead", "dead?tab=instances": "dead", [`dead?group=${group}`]: "dead-row", workflows: "workflow-row", "workflows?q=plac": "workflow-row", "workflows/placed/latest": "node", "workflows/placed/1": "node", "workflows/placed/1?tab=grid": "grid-cell", "workflows/placed/1?tab=file": "definition",
        "workflows/placed/1?tab=handlers": "handler-row", "workflows/placed/2?tab=instances": "instance-row", "workflows/placed/diff?a=1&b=2": "diff-item", functions: "function-row", "functions/placed_fn/latest": "function", "functions/placed_fn/1": "function", schedules: "schedule-row", "schedules/a%20b%2Ec": "schedule-state",
        workers: "worker-row", settings: "about-version", [`bulk/${bulk}`]: "bulk-progress", "no/such/screen": "error", "instances/01a1e498-b1c2-7926-9196-26f6018a4f33": "error", "workflows/nobodys/1": "error",
    };
}

for (const prefix of ["", "/a/b"])
    scenario(`every address ${prefix ? "behind a prefix " : ""}is the same screen when it is loaded again, and stays beneath its base`, async (server, { page, id, visit, sins }) => {
        server.page = `${server.url}${prefix}/ui/`;
        const base = `${server.url}${prefix}/ui/`, outside = [], known = await places(server);
        page.on("request", (it) => { if (!it.url().startsWith(`${server.url}${prefix}/ui/`) && !it.url().startsWith(`${server.url}${prefix}/v1/`)) outside.push(it.url()); });
        const text = () => page.locator("main h1").first().evaluate((it) => it.firstChild.textContent.trim());      // not how many are live by now
        // At the root, where all other tests are, every screen; behind a prefix with every tab and filter.
        for (const [path, sign] of Object.entries(known).filter(([it]) => prefix || !it.includes("?"))) {
            await visit(path);
            await seen(id(sign).first());
            const before = [page.url(), await text(), await page.title()];
            assert.ok(before[0].startsWith(base), path);
            await page.reload();
            await seen(id(sign).first());
            await becomes(async () => [page.url(), await text(), await page.title()], before, path);
            const links = await page.locator("a[href]").evaluateAll((all) => all.map((it) => it.href));
            assert.deepEqual(links.filter((it) => !it.startsWith(base)), [], `links of ${path}`);
        }
        await page.goto(`${base}schedules`);
        await id("schedule-row").getByRole("link").first().click();
        await page.reload();                            // its name has a dot, as a file's would
        await seen(id("schedule-state"));
        assert.match((await (await fetch(`${base}no/such/screen`)).text()), /<div id="app">/);
        assert.equal((await fetch(`${base}no/such.thing`)).status, 404);
        assert.deepEqual(outside, []);
        // What was not found was asked for, and refused; nothing else was.
        const others = sins.filter((it) => !/404 .*\/v1\/(instances\/01a1e498|workflows\/nobodys)/.test(it));
        sins.length = 0;
        assert.deepEqual(others, []);
    }, { options: prefix ? ["--ui-base", prefix] : [], marked: false });

test("the page as bytes: kept, asked again, refused, turned off, without JavaScript", { skip: !!process.env.CAIRN_PAGE_SOME || !!process.env.CAIRN_PAGE_DIST }, async () => {
    const server = await startServer();
    try {
        const { text, headers } = await server.call("GET", `${server.base}/ui/`);
        assert.match(text, /<noscript>\s*<p>This page needs JavaScript/);
        assert.match(headers.get("content-security-policy"), /default-src 'none'/);
        assert.ok(headers.get("etag"));
        assert.equal((await fetch(server.page, { headers: { "If-None-Match": headers.get("etag") } })).status, 304);
        assert.equal((await fetch(server.page, { headers: { "If-None-Match": '"another"' } })).status, 200);
        const script = server.page + /src="([^"]+\.js)"/.exec(text)[1];
        assert.match((await fetch(script)).headers.get("cache-control"), /immutable/);
        assert.equal((await fetch(script, { headers: { "Accept-Encoding": "gzip" } })).headers.get("content-encoding"), "gzip");
        assert.equal((await fetch(script, { headers: { "Accept-Encoding": "gzip;q=0" } })).status, 406);
        assert.equal((await fetch(server.page + "no-such.js")).status, 404);
        // People are led to the page, programs are told that there is nothing.
        const root = await fetch(`${server.url}/`, { headers: { Accept: "text/html" }, redirect: "manual" });
        assert.deepEqual([root.status, root.headers.get("location")], [302, `${server.base}/ui/`]);
        assert.equal((await fetch(`${server.url}/`, { headers: { Accept: "application/json" } })).status, 404);
    } finally { await server.stop(); }
    const bare = await startServer(["--no-ui"]);
    try { assert.equal((await bare.call("GET", "/ui/")).status, 404); } finally { await bare.stop(); }
});
