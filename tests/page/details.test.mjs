// details.test.mjs - the small things of a screen: filters within it, folds, what is exported, tips; and an instance with 20,000 events.
//
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deploy, ownOrder, start } from "./flows.mjs";
import { becomes, gone, group, scenario, scrolledTo, seen, until } from "./rig.mjs";

const shared = group();

/** What a click downloads. */
async function downloaded(page, button) {
    const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
    return readFileSync(await file.path(), "utf8");
}

shared("about: the version of the program, and the licence of everything that the page is made of", async (server, { id, open }) => {
    await open("settings");
    const { version } = await server.must("GET", "/v1/about");
    await becomes(() => id("about-version").textContent(), `Cairn ${version}`);
    assert.match(await server.cli("--version"), new RegExp(`^cairn ${version.replaceAll(".", "\\.")}\n`));
    // What only builds it, such as esbuild, is not in it.
    const read = (path) => JSON.parse(readFileSync(path, "utf8")), modules = process.env.CAIRN_PAGE_MODULES;
    const names = Object.keys(read(join(modules, "../package.json")).dependencies).filter((it) => it !== "esbuild");
    const said = await id("licences").textContent();
    for (const name of names) assert.ok(said.includes(`${name} (${read(join(modules, name, "package.json")).license})`), `${name} in "${said}"`);
    assert.equal(said.match(/\(/g).length, names.length);
});

shared("a workflow is deployed from a file", async (server, { page, id, open }) => {
    await open("workflows");
    await id("action-deploy").click();
    const choose = (text) => id("deploy-file").setInputFiles({ name: "flow.yaml", mimeType: "application/yaml", buffer: Buffer.from(text) });
    assert.equal(await id("sheet-confirm").isDisabled(), true);
    await choose("workflow: from_file\nversion: 1\nsteps:\n  - step: a\n    handlr: x\n");
    await id("sheet-confirm").click();
    await seen(page.locator("[data-testid=flaw][data-line='5']"));
    const text = "workflow: from_file\nversion: 1\nsteps:\n  - wait: w   # ü\n    event: e\n";
    await choose(text);
    await becomes(() => id("deploy-text").inputValue(), text);
    await id("sheet-confirm").click();
    await page.waitForURL(/workflows\/from_file\/1$/);
    await seen(page.locator("[data-testid=node][data-step=w]"));
    await seen(id("toast").getByText("Deployed from_file, version 1"));
    // The same once more changes nothing, and it says so.
    await open("workflows");
    await id("action-deploy").click();
    await choose(text);
    await becomes(() => id("deploy-text").inputValue(), text);
    await id("sheet-confirm").click();
    await seen(id("toast").getByText("The same content was there."));
}, { page: { refuses: [400] } });

shared("events are ordered from either end, and filtered by type and step; the address says so", async (server, { page, id, open }) => {
    const instance = await ownOrder(server, "events", '{"total": 1}', "events");
    await server.complete(await server.claim("events.reserve"), { total: 1 });
    await server.fail(await server.claim("events.ship"), "no carrier");
    const { items } = await server.must("GET", `/v1/instances/${instance}/events?limit=1000`);
    const shown = () => id("event-row").evaluateAll((all) => all.map((it) => it.dataset.event)), wanted = (fits) => items.filter(fits).map((it) => it.id);
    await open(`instances/${instance}?tab=events`);
    await becomes(shown, wanted(() => true).reverse());
    await id("events-order").click();
    await becomes(shown, wanted(() => true));
    await becomes(() => id("events-order").textContent(), "oldest first");
    await id("events-type").selectOption("step_started");
    await becomes(shown, wanted((it) => it.type === "step_started"));
    await id("events-step").selectOption("ship");
    await becomes(shown, wanted((it) => it.type === "step_started" && it.step === "ship"));
    await page.reload();
    await becomes(shown, wanted((it) => it.type === "step_started" && it.step === "ship"));
    assert.deepEqual(await Promise.all([id("events-type").inputValue(), id("events-step").inputValue()]), ["step_started", "ship"]);
    await id("events-type").selectOption("");
    await becomes(shown, wanted((it) => it.step === "ship").reverse());
    // A drawer leads to the events of its step.
    await open(`instances/${instance}?tab=steps&step=0`);
    await id("drawer").getByRole("link", { name: "Events of this step" }).click();
    await becomes(shown, wanted((it) => it.step === "reserve").reverse());
    await open(`instances/${instance}?tab=events&of=nobody&type=step_failed`);
    await seen(page.locator("[data-testid=empty][data-reason=filter]").getByText("Nothing matches."));
    assert.deepEqual(await Promise.all([id("events-type").inputValue(), id("events-step").inputValue()]), ["step_failed", "nobody"]);
    await id("clear-filters").click();
    await becomes(shown, wanted(() => true).reverse());
    // News of what is filtered comes by itself, once, and nothing else does.
    await id("events-type").selectOption("workflow_paused");
    await seen(page.locator("[data-testid=empty][data-reason=filter]"));
    const pause = () => server.must("POST", `/v1/instances/${instance}/pause`, { by: "t" }), paused = async () => (await server.must("GET", `/v1/instances/${instance}/events?type=workflow_paused`)).items.map((it) => it.id);
    await pause();
    await becomes(shown, await paused());
    await server.must("POST", `/v1/instances/${instance}/resume`, { by: "t" });
    await pause();
    await becomes(shown, (await paused()).reverse());
    assert.equal(await id("event-row").count(), 2);
    await id("events-order").click();
    await becomes(shown, await paused());
    await server.must("POST", `/v1/instances/${instance}/resume`, { by: "t" });
    await pause();
    await becomes(shown, await paused());
    assert.equal(await id("event-row").count(), 3);
});

shared("selected ids are exported, and of all that match those that are loaded", async (server, { page, id, open }) => {
    await deploy(server, "workflow: exported\nversion: 1\nsteps:\n  - wait: w\n    event: e\n");
    for (let n = 0; n < 5; n++) await start(server, "{}", `exported-${n}`, "exported");
    await open("instances?workflow=exported");
    await becomes(() => id("instance-row").count(), 5);
    const ids = await id("instance-row").evaluateAll((all) => all.map((it) => it.dataset.id)), lines = (list) => list.map((it) => `${it}\n`).join("");
    for (const at of [3, 1]) await id("select-row").nth(at).check();
    await seen(id("bulk-bar").getByText("2 selected"));
    assert.deepEqual((await downloaded(page, id("export-selected"))).split("\n").filter(Boolean).sort(), [ids[1], ids[3]].sort());
    await id("select-page").check();
    await id("select-matching").click();
    assert.equal(await downloaded(page, id("export-selected")), lines(ids));
    await page.getByLabel("Clear the selection").click();
    await gone(id("bulk-bar"));
    assert.equal(await id("select-row").nth(1).isChecked(), false);
});

shared("workflows are found by a part of their name, functions show who runs them", async (server, { page, id, open }) => {
    for (const name of ["Invoice", "shipping", "ship_back", "mail", "Returns", "stock"]) await deploy(server, `workflow: ${name}\nversion: 1\nsteps:\n  - wait: w\n    event: e\n`);
    await open("workflows");
    const names = () => id("workflow-row").evaluateAll((all) => all.map((it) => it.dataset.name));
    await until(async () => (await names()).includes("stock"), "all of them");
    const before = await page.evaluate(() => history.length);
    await id("filter-name").pressSequentially("SHIP");
    await becomes(names, ["ship_back", "shipping"]);
    assert.match(page.url(), /q=SHIP$/);
    assert.equal(await page.evaluate(() => history.length), before);
    await page.reload();
    await becomes(names, ["ship_back", "shipping"]);
    await id("filter-name").fill("");
    await until(async () => (await names()).includes("stock"), "all of them again");
    for (const name of ["runs_here", "runs_there", "runs_nowhere"]) await server.must("POST", "/v1/workflows", { function: name, version: 1 });
    for (const [worker, types] of [["one", ["runs_here"]], ["two", ["runs_%"]], ["three", ["runs"]]]) await server.must("POST", "/v1/tasks/claim", { worker, types });
    await open("functions");
    const workers = (name) => page.locator(`[data-testid=function-row][data-name=${name}]`).getByTestId("function-workers").textContent();
    await becomes(() => workers("runs_here"), "2");
    assert.equal(await workers("runs_there"), "1");
    await server.must("POST", "/v1/workflows", { function: "alone", version: 1 });
    await open("functions");
    await becomes(async () => (await workers("alone")).trim(), "none");
});

shared("dead letters: a group folds, the fourth is folded at first, each tab has its own", async (server, { page, id, open }) => {
    await deploy(server, "workflow: folds\nversion: 1\ndlq: true\nsteps:\n  - step: a\n    handler: folds.a\n    max_attempts: 1\n");
    const errors = ["no paper", "no ink", "no luck", "no time"];
    for (const [at, error] of errors.entries()) for (let n = errors.length - at; n > 0; n--) { await start(server, "{}", `${error} ${n}`, "folds"); await server.dead(await server.claim("folds.a"), error); }
    await open("dead?workflow=folds");
    const one = (error) => id("group").filter({ hasText: error }), isOpen = (error) => one(error).getByTestId("group-fold").getAttribute("aria-expanded");
    // The largest first.
    await becomes(() => id("group").evaluateAll((all) => all.map((it) => it.dataset.count)), ["4", "3", "2", "1"]);
    await becomes(() => one("no ink").getByTestId("dead-row").count(), 3);
    assert.deepEqual(await Promise.all(errors.map(isOpen)), ["true", "true", "true", "false"]);
    assert.equal(await one("no time").getByTestId("group-requeue").count(), 0);
    await one("no ink").getByTestId("group-fold").click();
    await gone(one("no ink").getByTestId("dead-row").first());
    await one("no time").getByTestId("group-fold").click();
    await seen(one("no time").getByTestId("dead-row"));
    assert.deepEqual(await Promise.all(errors.map(isOpen)), ["true", "false", "true", "true"]);
    // What is news to the list does not unfold it.
    await start(server, "{}", "one more", "folds");
    await server.dead(await server.claim("folds.a"), "no ink");
    await seen(page.locator('[data-testid=group][data-count="4"]').filter({ hasText: "no ink" }));
    assert.equal(await isOpen("no ink"), "false");
    await one("no ink").getByTestId("group-fold").click();
    await becomes(() => one("no ink").getByTestId("dead-row").count(), 4);
});

shared("an instance is called by its key, else by its id, and says its group", async (server, { id, open, visit }) => {
    await deploy(server, "workflow: named\nversion: 1\nsteps:\n  - wait: w\n    event: e\n");
    const begin = async (more) => (await server.must("POST", "/v1/instances", { workflow: "named", ...more })).id;
    const both = await begin({ key: "with <both>", group: "tenant-7" }), neither = await begin({});
    await open(`instances/${both}`);
    await becomes(() => id("instance-key").textContent(), "with <both>");
    await becomes(() => id("instance-group").textContent(), "group tenant-7");
    await visit(`instances/${neither}`);
    await becomes(() => id("instance-key").textContent(), `…${neither.slice(-8)}`);
    assert.equal(await id("instance-group").count(), 0);
});

shared("the start form: an example, JSON that is formatted without loss, and no start with a flaw", async (server, { page, id, open }) => {
    await deploy(server, JSON.stringify({ workflow: "example", version: 1, input: { example: { total: 1 } }, steps: [{ wait: "w", event: "e" }] }));
    await open("workflows/example/latest");
    await id("action-start").click();
    const form = id("start-form"), text = form.getByTestId("start-json");
    await becomes(async () => JSON.parse(await text.inputValue()), { total: 1 });
    await text.fill('{"b":[1.10,9007199254740993],"a":{}}');
    await form.getByTestId("json-format").click();
    assert.equal(await text.inputValue(), '{\n  "b": [\n    1.10,\n    9007199254740993\n  ],\n  "a": {}\n}');
    await text.fill('{"b":');
    assert.equal(await form.getByTestId("json-format").isDisabled(), true);
    assert.equal(await id("start-confirm").isDisabled(), true);
    await seen(form.getByTestId("json-valid").getByText("line 1, column 6"));
    await form.getByTestId("start-example").selectOption("file");
    assert.deepEqual(JSON.parse(await text.inputValue()), { total: 1 });
    const request = page.waitForRequest((it) => it.method() === "POST" && it.url().endsWith("/v1/instances"));
    await id("start-confirm").click();
    assert.deepEqual(JSON.parse((await request).postData()), { workflow: "example", version: 1, input: { total: 1 } });
    await seen(id("instance"));
});

shared("a workflow: its hash is copied, a start may have a group, and its row counts what ended today", async (server, { page, id, open }) => {
    await deploy(server, "workflow: counted\nversion: 1\nsteps:\n  - step: a\n    handler: counted.a\n    max_attempts: 1\n");
    const { hash } = await server.must("GET", "/v1/workflows/counted/1");
    await open("workflows/counted/1");
    await seen(id("copy-hash"));
    await page.evaluate(() => { navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }; });
    await id("copy-hash").click();
    assert.equal(await page.evaluate(() => window.copied), hash);
    await id("action-start").click();
    await id("start-group").fill("tenant 8");
    await id("start-form").getByTestId("start-json").fill("{}");
    await id("start-confirm").click();
    await becomes(() => id("instance-group").textContent(), "group tenant 8");
    await server.dead(await server.claim("counted.a"), "no luck");
    await start(server, "{}", "counted", "counted");
    await server.complete(await server.claim("counted.a"), {});
    const row = page.locator("[data-testid=workflow-row][data-name=counted]");
    await until(async () => {
        await open("workflows");                         // figures may miss seconds
        await seen(row);
        return (await row.getByTestId("ended-24h").textContent()) === "2" && (await row.getByTestId("failed-24h").textContent()) === "1";
    }, "two that ended, one of them failed");
});

shared("what is not there yet is a skeleton; what is there stays while it is asked for again", async (server, { page, id, open, visit }) => {
    await deploy(server, "workflow: slow\nversion: 1\nsteps:\n  - human: ask\n");
    const instance = await start(server, "{}", "slow", "slow");
    await open("settings");
    await seen(id("settings"));
    let release, held = new Promise((done) => { release = done; }), asked = 0;
    await page.route("**/v1/approvals?limit=100*", async (route) => { asked++; await held; await route.continue(); });
    await visit("approvals?workflow=slow");
    await seen(id("loading"));
    assert.equal(await id("loading").getAttribute("aria-busy"), "true");
    await seen(page.locator(".progress"));
    release();
    await seen(id("approval-card"));
    await gone(id("loading"));
    held = new Promise((done) => { release = done; });
    const before = asked;
    await seen(page.locator("[data-testid=live-state][data-state=live]"));
    await server.must("POST", `/v1/instances/${instance}/pause`, { by: "t" });
    await until(() => asked > before, "the question");
    assert.deepEqual([await id("approval-card").count(), await id("loading").count()], [1, 0]);
    release();
});

shared("a page that is opened while the store does not answer comes by itself", async (server, { page, id, open }) => {
    let refusals = 2;
    await page.route("**/v1/me", (route) => refusals-- > 0 ? route.fulfill({ status: 503, contentType: "application/json", body: JSON.stringify({ code: "busy", message: "busy", detail: "", hint: "" }) }) : route.continue());
    await open("settings");
    await seen(id("banner").getByText("The store does not answer."));
    await seen(id("settings"));
    await gone(id("banner"));
    assert.ok(refusals < 0);
}, { page: { refuses: [503] } });

shared("JSON of many lines is drawn in portions, forth and back", async (server, { page, id, open }) => {
    const lists = Array.from({ length: 60 }, (_, n) => Array.from({ length: 60 }, (_, m) => `${n}.${m}`));
    const job = (await server.must("POST", "/v1/jobs", { type: "d.lines", payload: lists })).id;
    await open(`jobs/${job}`);
    const input = id("payload-input"), lines = page.locator(".j-line");
    await input.getByTestId("json-level").selectOption("99");
    await becomes(() => lines.count(), 2000);
    // 60 lists with a line for each of 60 members and two brackets, between two brackets: 3,722 lines.
    await becomes(() => id("json-lines").textContent(), "1,722 lines more");
    await id("json-lines").click();
    await becomes(() => lines.count(), 1722);
    await seen(input.getByText('"59.59"'));
    assert.equal(await id("json-lines").count(), 0);
    await input.getByRole("button", { name: "earlier lines" }).click();
    await becomes(() => lines.count(), 2000);
    await seen(input.getByText('"0.0"', { exact: true }));
});

shared("small payloads of an instance are asked for at once, large ones when they are wanted", async (server, { page, id, open }) => {
    await deploy(server, "workflow: carries\nversion: 1\nsteps:\n  - step: s\n    handler: carries.s\n");
    const small = await start(server, '{"cents": 9007199254740993}', "carries-little", "carries"), task = await server.claim("carries.s");
    await server.complete(task, { done: 1 });
    const large = await start(server, JSON.stringify({ text: "x".repeat(300_000) }), "carries-much", "carries"), asked = [];
    page.on("request", (it) => { const { pathname, search } = new URL(it.url()); if (pathname.includes("/v1/instances")) asked.push(pathname.replace(/.*\/v1/, "/v1") + search); });
    await open(`instances/${small}?tab=io`);
    await seen(id("payload-input").getByText("9007199254740993"));
    await seen(id("payload-output").getByText('"done"'));
    assert.deepEqual(asked.filter((it) => it.includes("ids=")), [], "nobody asks how long they are");
    for (const part of ["input", "output"]) assert.equal(asked.filter((it) => it === `/v1/instances/${small}/${part}`).length, 1, part);
    await open(`instances/${large}?tab=io`);
    await seen(id("payload-input").getByText(/KB of JSON/));
    assert.ok(!asked.includes(`/v1/instances/${large}/input`), "a large one is not asked for");
    await id("payload-input").getByTestId("json-show").click();
    await becomes(() => asked.filter((it) => it === `/v1/instances/${large}/input`).length, 1);
    await seen(id("payload-input").getByText('"text"'));
    await server.must("POST", `/v1/instances/${large}/abort`, { by: "t", reason: "done" });
});

shared("logs: by step, by text, and followed only by who wants to", async (server, { page, id, open }) => {
    await server.must("POST", "/v1/workflows", { function: "says_more", version: 1 });
    const instance = await start(server, "{}", "says_more", "says_more"), task = await server.claim("says_more");
    let { revision } = task, seq = 0;
    const say = async (from, to) => { seq++; ({ revision } = await server.report("commit", task, { revision, outcome: "go_on", steps: [{ seq, key: `step${seq}`, kind: "task", status: "completed", output: 1 }],
        logs: Array.from({ length: to - from }, (_, n) => ({ level: "info", message: `Line ${from + n}.`, step: (from + n) % 2 ? "odd" : "even" })) })); };
    await say(0, 60);
    await open(`instances/${instance}?tab=logs`);
    await becomes(() => id("log-row").count(), 60);
    await id("logs-step").selectOption("odd");
    await becomes(() => id("log-row").count(), 30);
    assert.match(page.url(), /of=odd/);
    await id("logs-text").fill("LINE 5");                // 5, 51, 53 ... 59
    await becomes(() => id("log-row").count(), 6);
    assert.match(page.url(), /text=LINE(\+|%20)5/);
    const asked = [];
    page.on("request", (it) => { if (it.url().includes("/logs?")) asked.push(new URL(it.url()).searchParams); });
    await page.reload();
    await becomes(() => id("log-row").count(), 6);
    assert.ok(asked.length > 0 && asked.every((it) => it.get("step") === "odd" && it.get("text") === "LINE 5"), "the server filters");
    assert.equal(await id("logs-text").inputValue(), "LINE 5");
    await id("logs-text").fill("nothing like this");
    await seen(page.locator("[data-testid=empty][data-reason=filter]"));
    await id("logs-text").fill("");
    await id("logs-step").selectOption("");
    await becomes(() => id("log-row").count(), 60);
    // At the end the end stays in view; who has scrolled up, or does not follow, stays where they are.
    const last = (n) => id("log-row").getByText(`Line ${n}.`, { exact: true }), isInView = (it) => it.evaluate((row) => { const { top, bottom } = row.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; });
    const toEnd = () => page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight)), at = () => page.evaluate(() => scrollY);
    await toEnd();
    await say(60, 90);
    await seen(last(89));
    await becomes(() => isInView(last(89)), true, "the newest line in view");
    await page.evaluate(() => scrollTo(0, 0));
    await say(90, 120);
    await seen(last(119));
    assert.equal(await at(), 0);
    await id("logs-follow").uncheck();
    await toEnd();
    const before = await at();
    await say(120, 150);
    await seen(last(149));
    assert.equal(await at(), before);
    await server.report("commit", task, { revision, outcome: "complete", output: 1 });
});

shared("what is found is listed while one types, and chosen with the arrows", async (server, { page, id, open }) => {
    await deploy(server, "workflow: haystack\nversion: 1\nsteps:\n  - wait: w\n    event: e\n");
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await start(server, "{}", `straw-${n}`, "haystack"));
    await open("jobs");
    await id("search").fill("straw");
    await becomes(() => id("search-results").getByTestId("search-result").count(), 3);
    const found = await id("search-result").evaluateAll((all) => all.map((it) => it.dataset.id)), chosen = () => id("search-results").locator(".chosen").getAttribute("data-id");
    assert.deepEqual([...found].sort(), [...ids].sort());
    assert.equal(await chosen(), found[0]);
    for (const [key, place] of [["ArrowUp", 0], ["ArrowDown", 1], ["ArrowDown", 2], ["ArrowDown", 2], ["ArrowUp", 1]]) { await id("search").press(key); assert.equal(await chosen(), found[place], key); }
    await id("search").press("Enter");
    await page.waitForURL((url) => url.pathname.endsWith(`/instances/${found[1]}`));
    await gone(id("search-results"));
    // Esc leaves, and types nothing into the screen below.
    await id("search").fill("straw");
    await seen(id("search-results"));
    await id("search").press("Escape");
    await gone(id("search-results"));
    assert.equal(await id("search").inputValue(), "");
    await id("search").fill("no such thing");
    await id("search-results").getByText("Search inputs and errors for").click();
    await page.waitForURL((url) => url.pathname.endsWith("/instances") && url.searchParams.get("has") === "no such thing");
});

shared("a time tells all of its forms on hover, on focus and on tap", async (server, { page, id, open }) => {
    const job = (await server.must("POST", "/v1/jobs", { type: "d.tip" })).id, { created_at } = await server.must("GET", `/v1/jobs/${job}`);
    await open(`jobs/${job}`);
    const time = id("job").getByTestId("time").first(), utc = `${created_at.slice(0, 19).replace("T", " ")}Z`;
    await seen(time);
    assert.equal(await id("tip").count(), 0);
    await page.keyboard.press("Tab");                    // what follows was reached with the keyboard
    await time.focus();
    await until(async () => (await id("tip").textContent()).includes(utc), "the tip");
    assert.match(await id("tip").textContent(), /now|ago/);
    const [tip, own] = [await id("tip").boundingBox(), await time.boundingBox()];
    assert.ok(tip.y >= own.y + own.height || tip.y + tip.height <= own.y, "it does not lie over what it is about");
    await page.keyboard.press("Escape");
    await gone(id("tip"));
    await seen(time);                                    // Esc has closed the tip, and nothing else
    await time.tap();
    await until(async () => (await id("tip").textContent()).includes(utc), "the tip of a tap");
    await page.locator("h1").first().tap();
    await gone(id("tip"));
    await time.hover();
    assert.ok((await time.getAttribute("title")).includes(utc));
}, { page: { hasTouch: true } });

shared("a timeline says when the undo begins, and nothing of it where nothing is undone", async (server, { page, id, open, visit }) => {
    await deploy(server, "workflow: undoes\nversion: 1\nsteps:\n  - step: done\n    handler: undoes.done\n    compensation: {handler: undoes.undo}\n  - step: fails\n    handler: undoes.fails\n    max_attempts: 1\n");
    const begin = async (key) => { const it = await start(server, "{}", key, "undoes"); await server.complete(await server.claim("undoes.done"), {}); return it; };
    const well = await begin("well");
    await server.complete(await server.claim("undoes.fails"), {});
    const ill = await begin("ill");
    await server.dead(await server.claim("undoes.fails"), "no luck");
    await server.complete(await server.claim("undoes.undo"), {});
    await open(`instances/${ill}?tab=timeline`);
    await seen(id("undo-line").getByText("undo begins"));
    const undo = page.locator("[data-testid=lane][data-step=done] [data-testid=bar][data-kind=undo]"), [line, bar] = [await id("undo-line").boundingBox(), await undo.boundingBox()];
    assert.ok(Math.abs(line.x - bar.x) <= 2, `the line at ${line.x}, its bar at ${bar.x}`);
    const call = await page.locator("[data-testid=lane][data-step=fails] [data-testid=bar][data-kind=call]").boundingBox();
    assert.ok(call.x < line.x, "what failed came before");
    await visit(`instances/${well}?tab=timeline`);
    await seen(page.locator("[data-testid=lane][data-step=fails]"));
    assert.equal(await id("undo-line").count(), 0);
});

shared("a saved view is renamed and moved, and still leads where it led", async (server, { page, id, open, visit }) => {
    await start(server, "{}", "renamed");
    for (const [name, query] of [["first", "status=running"], ["second", "workflow=order"]]) {
        await open(`instances?${query}`);
        await id("save-view").click();
        await id("view-name").fill(name);
        await id("sheet-confirm").click();
        await seen(id(`view-${name}`));
    }
    await visit("settings");
    const names = () => id("saved-view").evaluateAll((all) => all.map((it) => it.dataset.name));
    await becomes(names, ["first", "second"]);
    await page.locator("[data-testid=saved-view][data-name=second]").getByTestId("view-rename").click();
    await becomes(() => id("view-name").inputValue(), "second");
    await id("view-name").fill("  ");
    assert.equal(await id("sheet-confirm").isDisabled(), true);
    await id("view-name").fill("orders");
    await id("sheet-confirm").click();
    await becomes(names, ["first", "orders"]);
    await page.getByLabel("Move orders up").click();
    await becomes(names, ["orders", "first"]);
    await page.reload();
    await becomes(names, ["orders", "first"]);
    assert.equal(await page.getByLabel("Move orders up").isDisabled(), true);
    await page.locator("[data-testid=saved-view][data-name=orders]").getByRole("link").click();
    await seen(page.locator("[data-testid=chip][data-name=workflow][data-value=order]"));
    await seen(id("view-orders"));
    assert.equal(await id("view-second").count(), 0);
});

shared("a step's payloads come from routes of their own", async (server, { page, id, open }) => {
    const instance = await ownOrder(server, "own", '{"total": 1}', "own");
    await server.complete(await server.claim("own.reserve"), { total: 1, n: 0 });
    const asked = [];
    page.on("request", (it) => { if (it.url().includes("/v1/")) asked.push(it.url().split("/v1/")[1]); });
    await open(`instances/${instance}?tab=steps&step=0`);
    await seen(id("drawer").getByTestId("payload-input").getByText('"total"'));
    await seen(id("drawer").getByTestId("payload-output").getByText('"n"'));
    assert.deepEqual(asked.filter((it) => /put$/.test(it)).sort(), [`steps/${instance}.0/input`, `steps/${instance}.0/output`]);
    assert.deepEqual(asked.filter((it) => it.includes("/steps?") && !it.includes("view=row")), [], "no step whole but this one");
    await server.complete(await server.claim("own.ship"), {});
});

scenario("an action on many: what its sheet asks and sends, and what its progress says", async (server, { page, id, open, visit }) => {
    const jobs = [];
    for (let n = 0; n < 7; n++) { jobs.push((await server.must("POST", "/v1/jobs", { type: "many.job", key: `many-${n}` })).id); await server.dead(await server.claim("many.job"), "no luck"); }
    await open("jobs?status=failed");
    await becomes(() => id("job-row").count(), 7);
    const shown = await id("job-row").evaluateAll((all) => all.map((it) => it.dataset.id)), colour = () => id("sheet-confirm").evaluate((it) => getComputedStyle(it).backgroundColor);
    await id("select-page").check();
    await id("bulk-retry").click();
    await seen(id("sheet").getByRole("heading", { name: "Retry 7 jobs" }));
    await seen(id("sheet").getByText("7 jobs are selected. They become pending again with fresh attempts."));
    const harmless = await colour();
    for (const [name, text] of Object.entries({ reason: "all is well again", limit: "3", per_second: "50", by: "ada" })) await id(name).fill(text);
    await becomes(() => id("sheet").locator(".command").textContent(), `cairn bulk retry --on jobs ${shown.slice(0, 5).join(" ")} … --by ada --reason 'all is well again' --limit 3 --per-second 50`);
    const asked = page.waitForRequest((it) => it.url().endsWith("/v1/bulk"));
    await id("sheet-confirm").click();
    const body = JSON.parse((await asked).postData());
    assert.deepEqual({ ...body, ids: body.ids.sort() }, { on: "jobs", action: "retry", ids: [...jobs].sort(), reason: "all is well again", by: "ada", limit: 3, per_second: 50 });
    await seen(page.locator('[data-testid=bulk-progress][data-status=done][data-done="3"]').getByText("Retried 3."));
    await gone(id("bulk-bar"));
    // Esc closes the progress, and stays on the screen.
    await page.keyboard.press("Escape");
    await gone(id("bulk-progress"));
    await seen(id("jobs"));
    // What cannot be taken back looks like it.
    await visit("jobs?type=many.job");
    await becomes(() => id("job-row").count(), 7);
    await id("select-row").first().check();
    await id("bulk-cancel").click();
    await seen(id("sheet").getByText("1 job is selected. Workers are told at their next heartbeat."));
    assert.notEqual(await colour(), harmless);
    await id("sheet-cancel").click();
    await id("bulk-delete").click();
    await seen(id("sheet").getByText("They are no longer claimed nor listed."));
    await id("sheet-cancel").click();
    // How far it is, by the store's clock, which stands here; and what was passed over, with the way there.
    const { now } = await server.must("GET", "/v1/about"), on = "jobs", started_at = new Date(Date.parse(now) - 4000).toISOString();
    const answer = { id: "b", on, action: "retry", status: "running", done: 412, expected: 1400, skipped: { wrong_state: 3 }, skipped_sample: [{ id: jobs[0], code: "wrong_state", message: "it is leased" }], by: "ada", filter: { type: "many.job", status: "failed" }, started_at, finished_at: null };
    await page.route("**/v1/bulk/b", (route) => route.fulfill({ json: answer }));
    await visit("bulk/b");
    await seen(id("bulk-progress").getByText("412 of about 1,400 · 3 skipped · 103/s"));
    await seen(id("bulk-progress").getByText("type many.job, status failed · by ada"));
    assert.deepEqual(await id("bulk-progress").evaluate((it) => [it.dataset.done, it.dataset.skipped, it.querySelector("progress").value, it.querySelector("progress").max]), ["412", "3", 415, 1400]);
    await seen(id("bulk-skipped").getByText("wrong state: it is leased"));
    await id("bulk-skipped").getByRole("link").click();
    await page.waitForURL((url) => url.pathname.endsWith(`/jobs/${jobs[0]}`));
}, { options: ["--virtual-clock"] });

scenario("the chip of an action on many goes when it is over, wherever one is", async (server, { page, id, open }) => {
    await deploy(server, "workflow: chips\nversion: 1\nsteps:\n  - wait: w\n    event: e\n");
    for (let n = 0; n < 4; n++) await start(server, "{}", `chip-${n}`, "chips");
    await open("instances");
    await becomes(() => id("instance-row").count(), 4);
    await id("select-page").check();
    await id("bulk-pause").click();
    await id("by").fill("ada");
    await id("per_second").fill("1");
    await id("sheet-confirm").click();
    await id("bulk-close").click();
    await seen(id("bulk-chip"));
    await id("nav-settings").click();
    await seen(id("bulk-chip"));
    await until(async () => (await server.must("GET", "/v1/bulk")).items[0].status === "done", "the end");
    await gone(id("bulk-chip"));
});

shared("dead letters: a group in the address, undo, more than a page, one that was mended, failed jobs that are selected", async (server, { page, id, open, visit }) => {
    await deploy(server, "workflow: letters\nversion: 1\ndlq: true\nsteps:\n  - step: a\n    handler: letters.a\n    compensation: {handler: letters.undo, max_attempts: 1}\n  - step: b\n    handler: letters.b\n    max_attempts: 1\n");
    const worker = "tester", fail = async (type, many, error) => {
        for (let left = many; left > 0;) {
            const { tasks } = await server.must("POST", "/v1/tasks/claim", { worker, types: [type], max: 100, lease_ms: 600_000, wait_ms: 20_000 });
            if (tasks.length) await server.must("POST", "/v1/tasks/report", { worker, results: tasks.map((it) => ({ id: it.id, token: it.token, outcome: "dead", error })) });
            left -= tasks.length;
        }
    };
    // One that could not be undone, and 52 that failed alike.
    const undone = await start(server, "{}", "letter-undo", "letters");
    await server.complete(await server.claim("letters.a"), {});
    await server.must("POST", `/v1/instances/${undone}/cancel`, { by: "t", reason: "t" });
    await fail("letters.undo", 1, "the bank is closed");
    await Promise.all(Array.from({ length: 52 }, (_, n) => start(server, `{"n": ${n}}`, `letter-${n}`, "letters")));
    await fail("letters.a", 52, "no stamps");
    await deploy(server, "workflow: parcels\nversion: 1\ndlq: true\nsteps:\n  - step: a\n    handler: parcels.a\n    max_attempts: 1\n");
    await start(server, "{}", "parcel", "parcels");
    await fail("parcels.a", 1, "too heavy");
    await open("dead");
    await seen(id("group").filter({ hasText: "too heavy" }));
    await id("filter-workflow").selectOption("letters");
    await gone(id("group").filter({ hasText: "too heavy" }));
    assert.match(page.url(), /workflow=letters/);
    const one = (text) => id("group").filter({ hasText: text });
    await seen(one("the bank is closed").getByText("undo", { exact: true }));
    assert.equal(await one("no stamps").getByText("undo", { exact: true }).count(), 0);
    await becomes(() => one("no stamps").getByTestId("dead-row").count(), 50);
    await one("no stamps").getByTestId("older").click();
    await becomes(() => one("no stamps").getByTestId("dead-row").count(), 52);
    await seen(one("no stamps").getByRole("link", { name: "letter-0", exact: true }));
    // The address names a group: it alone is shown, until its chip is removed.
    const group = await one("the bank is closed").getAttribute("data-group");
    await visit(`dead?group=${group}`);
    await seen(one("the bank is closed"));
    assert.equal(await id("group").count(), 1);
    await page.locator("[data-testid=chip][data-name=group]").click();
    await seen(one("no stamps"));
    // By its number it is there although it was mended; there is nothing to do with it any more.
    const record = (await server.must("GET", `/v1/dlq?instance=${undone}`)).items[0].id;
    await visit(`dead?record=${record}`);
    await seen(id("dead-record").getByTestId("action-requeue"));
    await server.must("POST", `/v1/dlq/${record}/requeue`, {});
    await server.complete(await server.claim("letters.undo"), {});
    await open(`dead?record=${record}`);
    await seen(id("dead-record").getByText("no longer open"));
    assert.equal(await id("dead-record").getByTestId("action-requeue").count(), 0);
    // What failed without being parked: how many there are stands on the tab, and those that are selected are retried.
    const jobs = [];
    for (let n = 0; n < 3; n++) { jobs.push((await server.must("POST", "/v1/jobs", { type: "letters.job", key: `lost-${n}` })).id); await server.dead(await server.claim("letters.job"), "no address"); }
    await open("dead?tab=jobs");
    const { failed } = (await server.must("GET", "/v1/jobs/counts")).counts;
    await becomes(async () => (await id("dead-tab-jobs").textContent()).trim(), `Failed jobs ${failed.n}`);
    // All of a group are those of it that have failed.
    const asked = page.waitForRequest((it) => it.url().endsWith("/v1/bulk"));
    await one("no address").getByTestId("group-retry").click();
    assert.deepEqual(JSON.parse((await asked).postData()), { on: "jobs", action: "retry", filter: { group: await one("no address").getAttribute("data-group"), status: "failed" }, dry_run: true });
    await id("sheet-cancel").click();
    for (const job of jobs.slice(1)) await page.locator(`[data-testid=dead-row][data-id="${job}"]`).getByTestId("select-row").check();
    await id("bulk-retry").click();
    await id("by").fill("ada");
    await id("sheet-confirm").click();
    await seen(page.locator('[data-testid=bulk-progress][data-status=done][data-done="2"]'));
    assert.deepEqual(await Promise.all(jobs.map(async (it) => (await server.must("GET", `/v1/jobs/${it}`)).status)), ["failed", "pending", "pending"]);
});

scenario("names of 256 characters: grid, handlers and lists stay within the screen, and say them whole", async (server, { page, id, open, visit }) => {
    const long = (text) => `${text}${"x".repeat(256)}`.slice(0, 256), workflow = long("flow_"), step = long("step_"), place = `workflows/${encodeURIComponent(workflow)}`;
    await deploy(server, JSON.stringify({ workflow, version: 1, steps: [{ step, handler: long("handler.") }, { human: "asks" }] }));
    for (let n = 0; n < 25; n++) await server.must("POST", "/v1/instances", { workflow, key: long(`key-${n}-`) });
    const isWithin = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    for (const width of [1280, 800, 390]) {
        await page.setViewportSize({ width, height: 800 });
        await (width === 1280 ? open : visit)(`${place}/1?tab=grid`);
        await becomes(() => id("grid-cell").count(), 50);
        await becomes(isWithin, true, `grid at ${width}`);
        const head = page.locator("[data-testid=grid] tbody th").first();
        assert.equal(await head.getAttribute("title"), step);
        // The names stay when one goes to the newest.
        const newest = id("grid-cell").nth(24);
        await newest.scrollIntoViewIfNeeded();
        const [name, cell] = [await head.boundingBox(), await newest.boundingBox()];
        assert.ok(name.x >= 0 && name.x + name.width <= cell.x + 1 && cell.x + cell.width <= width, `at ${width}: ${JSON.stringify([name, cell])}`);
        for (const [path, sign, last] of [[`${place}/1?tab=handlers`, "handler-row", "td:last-child"], ["workflows", "workflow-row", "[data-testid=action-start]"]]) {
            await visit(path);
            const end = id(sign).first().locator(last);
            await seen(end);
            await becomes(isWithin, true, `${path} at ${width}`);
            const box = await end.boundingBox();
            assert.ok(box.x + box.width <= width, `${path} at ${width}: its end is at ${box.x + box.width}`);
        }
    }
    // Loaded again, however long the address is.
    await page.goto(`${server.page}${place}/1?tab=grid`);
    await seen(id("grid"));
});

scenario("20,000 events: a page at a time from either end, all of them for the timeline when asked for", async (server, { page, id, open }) => {
    await server.must("POST", "/v1/workflows", { function: "endless", version: 1 });
    const instance = await start(server, "{}", "endless", "endless");
    // A function has at most 10,000 steps; begun anew, it has as many events again.
    for (const isAgain of [false, true]) {
        if (isAgain) await server.must("POST", `/v1/instances/${instance}/restart`, { by: "t" });
        const task = await server.claim("endless");
        let { revision } = task;
        for (let from = 1; from < 10_000; from += 1000)
            ({ revision } = await server.report("commit", task, { revision, outcome: "go_on", steps: Array.from({ length: Math.min(1000, 10_000 - from) }, (_, n) => ({ seq: from + n, key: `k${from + n}`, kind: "task", status: "completed", output: n })) }));
        await server.report("commit", task, { revision, outcome: "complete", output: 1 });
    }
    const events = [];
    for (let cursor = ""; cursor !== null;) { const { items, next } = await server.must("GET", `/v1/instances/${instance}/events?limit=1000${cursor && `&cursor=${cursor}`}`); events.push(...items); cursor = next; }
    assert.ok(events.length > 20_000, `${events.length} events`);
    const asked = [];
    page.on("request", (it) => { if (it.url().includes("/events?")) asked.push(new URL(it.url()).searchParams); });
    await open(`instances/${instance}?tab=events`);
    const edge = (at) => id("event-row").nth(at).getAttribute("data-event"), rows = () => id("event-row").count();
    const walk = async (wanted) => {
        await becomes(() => edge(0), wanted[0].id);
        await becomes(() => edge(-1), wanted[199].id);
        await becomes(rows, 200);
        for (const many of [400, 600, 800]) {
            await until(() => id("older").isEnabled(), "the button again");
            await id("older").click();
            await becomes(async () => { await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight)); return edge(-1); }, wanted[many - 1].id, `${many} events`);
        }
        assert.ok(await rows() < 500, "rows are windowed");
        // Nothing between was left out, nor is there twice: the rows in view are neighbours.
        const shown = await id("event-row").evaluateAll((all) => all.map((it) => it.dataset.event)), first = wanted.findIndex((it) => it.id === shown[0]);
        assert.deepEqual(shown, wanted.slice(first, first + shown.length).map((it) => it.id));
        await page.evaluate(() => scrollTo(0, 0));
        await becomes(() => edge(0), wanted[0].id);
    };
    await walk([...events].reverse());
    await id("events-order").click();
    await walk(events);
    assert.ok(asked.length < 12 && asked.every((it) => it.get("limit") === "200"), `${asked.length} questions`);
    // A search goes on by itself for a while, says how far it came, and goes on when somebody wants it to.
    asked.length = 0;
    const shown = () => id("event-row").evaluateAll((all) => all.map((it) => it.dataset.event)), of = events.filter((it) => it.step === "k5000").map((it) => it.id);
    await id("events-step").fill("k5000");
    await id("events-step").press("Enter");
    const searchOn = async (isDone) => until(async () => { if (await isDone()) return true; if (await id("older").isEnabled()) await id("older").click(); return false; }, "what the search finds");
    await becomes(async () => (await shown())[0], of[0]);
    await seen(id("scanned-to"));
    await becomes(() => id("older").textContent(), "Search on");
    assert.ok((await shown()).length < of.length, "not all of them were looked at");
    assert.ok(asked.length <= 5 && asked.every((it) => it.get("step") === "k5000"), `${asked.length} questions`);
    await searchOn(async () => (await shown()).length === of.length);
    assert.deepEqual(await shown(), of);
    await open(`instances/${instance}?tab=events&of=nobody`);
    await seen(page.locator("[data-testid=empty][data-reason=searched]"));
    await seen(id("scanned-to"));
    await searchOn(() => page.locator("[data-testid=empty][data-reason=filter]").isVisible());
    await gone(id("older"));
    await id("clear-filters").click();
    await becomes(rows, 200);
    // The timeline draws steps until somebody wants all; then each wait and call of a step is there.
    asked.length = 0;
    await id("tab-timeline").click();
    await seen(page.getByText("More than 2,000 events: drawn by steps alone."));
    const lane = page.locator("[data-testid=lane][data-step=endless]"), kinds = () => lane.getByTestId("bar").evaluateAll((all) => all.map((it) => it.dataset.kind));
    await becomes(kinds, ["call"]);
    assert.equal(asked.length, 2);
    await id("timeline-all").click();
    await gone(id("timeline-all"));
    await becomes(kinds, ["queued", "call", "queued", "call"]);
    assert.ok(asked.length >= 2 + 20_000 / 1000, `${asked.length} questions`);
    assert.ok(await id("lane").count() <= 200);
    await seen(page.getByText(/9,800 more steps are not drawn/));
    await id("tab-steps").click();
    await scrolledTo(page, page.locator("[data-testid=step-row][data-step=k9999]"));
    assert.ok(await id("step-row").count() < 500, "rows are windowed");
});
