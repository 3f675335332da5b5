// parts.test.mjs - what a screen is made of: graph, timeline, grid, JSON, events, calls; and the settings of a browser.
//
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { deploy, drain, ownOrder, start } from "./flows.mjs";
import { becomes, gone, group, scenario, seen, until } from "./rig.mjs";

const shared = group();
const step = (page, name) => page.locator(`[data-testid=node][data-step=${name}]`);

/** The page copies into window.copied from now on. */
const catchCopies = (page) => page.evaluate(() => { navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }; });
const copied = (page) => page.evaluate(() => window.copied);

/** What a click downloads. */
async function downloaded(page, button) {
    const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
    return { name: file.suggestedFilename(), text: readFileSync(await file.path(), "utf8") };
}

shared("a graph is made larger, smaller and fitted; the id beside the key is copied; it says when it began", async (server, { page, id, open }) => {
    const steps = Array.from({ length: 9 }, (_, n) => `  - step: s${n}\n    handler: wide.s\n`).join("");
    await deploy(server, `workflow: wide\nversion: 1\nsteps:\n${steps}`);
    const instance = await start(server, "{}", "wide", "wide"), { created_at, started_at } = await server.must("GET", `/v1/instances/${instance}`);
    await open(`instances/${instance}`);
    await seen(step(page, "s0"));
    const width = () => page.locator(".canvas > svg").evaluate((it) => it.getBoundingClientRect().width);
    const room = () => page.locator(".canvas").evaluate((it) => it.clientWidth);
    const before = await width();
    assert.ok(before > await room(), "nine steps are wider than the screen");
    await id("graph-in").click();
    await becomes(async () => Math.round(await width() / before * 100), 125);
    await id("graph-out").click();
    await id("graph-out").click();
    await becomes(async () => Math.round(await width() / before * 100), 80);
    await id("graph-fit").click();
    await until(async () => await width() <= await room(), "all of it in view");
    const [first, last] = [await step(page, "s0").boundingBox(), await step(page, "s8").boundingBox()];
    assert.ok(first.x >= 0 && last.x + last.width <= 1280, "the first and the last step are in view");
    // Each click after the drawing of the one before.
    const often = (name) => id(name).evaluate(async (it) => { for (let n = 0; n < 14; n++) { it.click(); await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); } });
    await often("graph-out");
    await becomes(async () => Math.round(await width() / before * 100), 25, "no smaller than a quarter");
    await often("graph-in");
    await becomes(async () => Math.round(await width() / before * 100), 200, "no larger than twice");
    await catchCopies(page);
    await id("copy-id").click();
    assert.equal(await copied(page), instance);
    const head = id("instance").locator(".head");
    await becomes(() => head.locator("time").evaluateAll((all) => all.map((it) => [it.textContent.split(" ")[0], it.dateTime])), [["created", created_at], ["started", started_at]]);
    // Of several reasons each names its step, and leads there.
    await server.must("POST", `/v1/instances/${instance}/pause`, { by: "t" });
    await seen(page.locator("[data-testid=instance-status][data-status=paused]"));
    await id("why-step").click();
    await seen(id("drawer").getByRole("heading", { name: "s0" }));
    // In a list it copies the row's id, and does not open the row.
    await open("instances?q=wide");
    await catchCopies(page);
    await page.locator(`[data-testid=instance-row][data-id="${instance}"]`).getByTestId("copy-id").click();
    assert.equal(await copied(page), instance);
    assert.match(page.url(), /instances\?q=wide$/);
});

shared("a timeline ends now while something runs, and a part of it is made large by dragging", async (server, { page, id, open }) => {
    const instance = await ownOrder(server, "line", "{}", "line"), task = await server.claim("line.reserve");
    await open(`instances/${instance}?tab=timeline`);
    const now = id("now-line"), lane = page.locator("[data-testid=lane][data-step=reserve]");
    await seen(lane);
    const area = async () => page.locator(".over").boundingBox();
    const isAtEnd = async () => { const [line, all] = [await now.boundingBox(), await area()]; return !!line && Math.abs(line.x - (all.x + all.width)) <= 2; };
    await until(isAtEnd, "the line of now at the right end");
    await server.complete(task, { total: 1 });
    await server.complete(await server.claim("line.ship"), {});
    await seen(page.locator("[data-testid=lane][data-step=ship]"));
    await now.waitFor({ state: "detached" });
    assert.equal(await id("timeline-reset").count(), 0);
    const said = () => page.getByTestId("timeline").locator("span.muted").first().textContent();
    const whole = await said(), { x, y, width } = await area();
    assert.match(whole, /in all/);
    const widest = async () => Math.max(...await id("bar").evaluateAll((all) => all.map((it) => it.getBoundingClientRect().width)));
    const before = await widest();
    await page.mouse.move(x + width * 0.02, y + 40);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.4, y + 40, { steps: 3 });
    await page.mouse.up();
    await seen(id("timeline-reset"));
    assert.match(await said(), / of /);
    await id("timeline-reset").click();
    await gone(id("timeline-reset"));
    assert.equal(await said(), whole);
    assert.ok(Math.abs(await widest() - before) < 1);
});

shared("the grid has a column for each instance, the newest at the right, and a cell opens its step", async (server, { page, id, open }) => {
    await deploy(server, "workflow: rows\nversion: 1\nsteps:\n  - step: read\n    handler: rows.read\n    compensation: {handler: rows.undo}\n  - fork: both\n    join: all\n    branches:\n      - - step: left\n          handler: rows.left\n      - - step: right\n          handler: rows.right\n          max_attempts: 1\n  - step: last\n    handler: rows.last\n");
    const first = await start(server, "{}", "rows-1", "rows");
    await drain(server, ["rows.read", "rows.left", "rows.right", "rows.last"]);
    for (const type of ["rows.left", "rows.right", "rows.last"]) await drain(server, [type]);
    await until(async () => (await server.must("GET", `/v1/instances/${first}`)).status === "completed", "the first one's end");
    const second = await start(server, "{}", "rows-2", "rows");
    await server.complete(await server.claim("rows.read"), {});
    await server.dead(await server.claim("rows.right"), "it is full");
    await server.complete(await server.claim("rows.undo"), {});
    await until(async () => (await server.must("GET", `/v1/instances/${second}`)).status === "failed", "the second one's end");
    await open("workflows/rows/latest?tab=grid");
    const cell = (instance, name, status) => page.locator(`[data-testid=grid-cell][data-id="${instance}"][data-step=${name}][data-status=${status}]`);
    await seen(id("grid"));
    await seen(cell(first, "right", "completed"));
    const [left, right] = [await cell(first, "right", "completed").boundingBox(), await page.locator(`[data-testid=grid-cell][data-id="${second}"][data-step=right]`).boundingBox()];
    assert.ok(left.x < right.x && left.y === right.y);
    const { items } = await server.must("GET", `/v1/instances/${second}/steps?limit=100`);
    for (const it of items.filter((it) => it.status !== "pending")) await seen(cell(second, it.name, it.status));
    // All of it was undone; the one that failed looks like it.
    const says = (name) => page.locator(`[data-testid=grid-cell][data-id="${second}"][data-step=${name}]`).getAttribute("title");
    await becomes(() => says("right"), "right of rows-2: failed, rolled back");
    assert.equal(await says("read"), "read of rows-2: rolled back");
    await page.locator(`[data-testid=grid-cell][data-id="${second}"][data-step=right]`).click();
    await seen(id("drawer").getByRole("heading", { name: "right" }));
    await seen(id("drawer").getByText("it is full").first());
    assert.match(page.url(), new RegExp(`instances/${second}\\?`));
});

shared("JSON: raw, downloaded, long strings in portions; a large payload is asked for when it is opened", async (server, { page, id, open, visit }) => {
    const text = `{"n": 9007199254740993, "price": 1.10, "long": "${"ab".repeat(400)}"}`;
    const small = (await server.must("POST", "/v1/jobs", `{"type": "j.small", "payload": ${text}}`)).id;
    const kept = (await server.call("GET", `/v1/jobs/${small}/payload`)).text;
    await open(`jobs/${small}`);
    const input = id("payload-input");
    await seen(input.getByTestId("json-string-more").getByText("300 characters more"));
    assert.doesNotMatch(await input.textContent(), /(ab){400}/);
    await input.getByTestId("json-string-more").click();
    await becomes(async () => /(ab){400}"/.test(await input.textContent()), true);
    await input.getByTestId("json-raw").click();
    await becomes(() => input.locator("pre").textContent(), kept);
    await input.getByTestId("json-raw").click();
    await seen(input.locator(".j-tree"));
    assert.deepEqual(await downloaded(page, input.getByTestId("json-download")), { name: `${small}-payload.json`, text: kept });
    // Nothing of it is read before somebody wants it; then one click shows it.
    const big = (await server.must("POST", "/v1/jobs", { type: "j.large", payload: { list: Array.from({ length: 20_000 }, (_, n) => `member ${n}`) } })).id;
    const asked = [];
    page.on("request", (it) => { if (it.url().endsWith("/payload")) asked.push(it.url()); });
    await visit(`jobs/${big}`);
    await seen(id("event-row").first());
    await seen(input.getByText(/KB of JSON/));
    assert.deepEqual(asked, []);
    assert.equal((await downloaded(page, input.getByTestId("json-download"))).text, (await server.call("GET", `/v1/jobs/${big}/payload`)).text);
    assert.equal(asked.length, 1);
    await input.getByTestId("json-show").click();
    await seen(input.getByText('"list"'));
    assert.equal(await input.getByTestId("json-show").count(), 0);
});

shared("an address finds its event among thousands, and its call in the drawer", async (server, { page, id, open, visit }) => {
    await server.must("POST", "/v1/workflows", { function: "many", version: 1 });
    const instance = await start(server, "{}", "many", "many"), task = await server.claim("many");
    await server.report("commit", task, { revision: task.revision, outcome: "go_on", steps: Array.from({ length: 400 }, (_, n) => ({ seq: n + 1, key: `k${n}`, kind: "task", status: "completed", output: n })) });
    const events = [];
    for (let cursor = ""; cursor !== null;) {
        const page = await server.must("GET", `/v1/instances/${instance}/events?limit=1000&order=newest${cursor && `&cursor=${cursor}`}`);
        events.push(...page.items);
        cursor = page.next;
    }
    assert.ok(events.length > 250, `${events.length} events`);
    const old = events.at(-3), row = (it) => page.locator(`[data-testid=event-row][data-event="${it.id}"]`);
    await open(`instances/${instance}?tab=events&event=${old.id}`);
    await seen(row(old));
    await becomes(() => row(old).evaluate((it) => it.classList.contains("marked") && it.getBoundingClientRect().top >= 0 && it.getBoundingClientRect().bottom <= innerHeight), true, "marked, and in view");
    await seen(id("events-from"));
    await seen(row(events.at(-1)));
    await id("events-order").click();
    await seen(row(old));
    assert.equal(await id("event-row").first().getAttribute("data-event"), old.id);
    await id("events-order").click();
    await id("events-all").click();
    await seen(row(events[0]));
    assert.doesNotMatch(page.url(), /event=/);
    // One of the newest stays among them.
    await row(events[2]).getByRole("link").first().click();
    await becomes(() => row(events[2]).evaluate((it) => it.classList.contains("marked")), true);
    assert.equal(await id("events-from").count(), 0);
    await visit(`instances/${instance}?tab=events&event=1`);
    await seen(id("events-from").getByText("There is no event 1 here."));

    await deploy(server, "workflow: twice\nversion: 1\nsteps:\n  - step: call\n    handler: twice.call\n    max_attempts: 3\n    retry: {backoff: fixed, base: 1ms}\n");
    const called = await start(server, "{}", "twice", "twice");
    await server.fail(await server.claim("twice.call"), "the line is busy");
    await server.fail(await server.claim("twice.call"), "nobody answers");
    // As long as the calls are not known, nothing is said of them.
    let release;
    const held = new Promise((resolve) => { release = resolve; });
    await page.route(/\/v1\/steps\/[^/]+$/, async (route) => { await held; await route.continue(); });
    await visit(`instances/${called}?tab=steps&step=0&attempt=2`);
    await seen(id("drawer").getByRole("heading", { name: "Calls" }));
    assert.equal(await id("drawer").getByText("Not called yet.").count(), 0);
    release();
    const call = (n) => page.locator(`[data-testid=attempt-row][data-attempt="${n}"]`);
    await seen(call(2).getByText("nobody answers"));
    assert.equal(await call(2).getAttribute("aria-current"), "true");
    assert.equal(await call(1).getAttribute("aria-current"), null);
    await call(1).getByRole("link").click();
    await becomes(() => call(1).getAttribute("aria-current"), "true");
    assert.match(page.url(), /attempt=1/);
    await id("drawer-close").click();
    await gone(id("drawer"));
    assert.doesNotMatch(page.url(), /attempt|step=/);
});

shared("a screen that is loaded again is there before it is heard again who is signed in", async (server, { page, id, open }) => {
    await start(server, "{}", "again");
    await open("instances");
    await seen(id("instance-row").first());
    let release;
    const held = new Promise((resolve) => { release = resolve; });
    await page.route("**/v1/me", async (route) => { await held; await route.continue(); });
    await page.reload();
    await seen(id("instance-row").first());
    await seen(id("nav-instances"));
    release();
});

shared("settings of this browser: each does what it says, and all can be forgotten", async (server, { page, id, open, visit }) => {
    const instance = await start(server, "{}", "settings");
    await open("settings");
    const shown = (name) => page.evaluate((it) => document.documentElement.dataset[it], name), page_ = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await id("set-theme").selectOption("light");
    const light = await page_();
    await id("set-theme").selectOption("dark");
    await becomes(() => shown("theme"), "dark");
    assert.notEqual(await page_(), light);
    await visit("instances");
    const height = () => id("instance-row").first().evaluate((it) => it.getBoundingClientRect().height);
    await seen(id("instance-row").first());
    const normal = await height();
    await visit("settings");
    await id("set-density").selectOption("tight");
    await id("set-by").fill("grace");
    await id("set-shortcuts").uncheck();
    await id("set-live").uncheck();
    await becomes(() => id("live-state").getAttribute("data-state"), "off");
    await page.keyboard.press("Tab");
    for (const key of ["g", "i"]) await page.keyboard.press(key);
    await page.keyboard.press("?");
    await seen(id("settings"));
    assert.equal(await id("shortcuts").count(), 0);
    await page.reload();
    await becomes(async () => [await id("set-theme").inputValue(), await id("set-density").inputValue(), await id("set-by").inputValue(), await id("set-shortcuts").isChecked(), await id("set-live").isChecked()], ["dark", "tight", "grace", false, false]);
    await visit("instances");
    await becomes(async () => await height() < normal, true, "lower rows");
    await visit(`instances/${instance}`);
    await id("action-cancel").click();
    assert.equal(await id("by").inputValue(), "grace");
    await id("sheet-cancel").click();
    // What the doctor finds: the type that nobody serves first, what is well behind a fold.
    const answer = page.waitForResponse((it) => it.url().endsWith("/v1/doctor"));
    await visit("settings");
    await seen(page.locator("[data-testid=finding]:not([data-result=ok])").first());
    await gone(page.locator("[data-testid=finding][data-result=ok]").first());
    await id("findings-ok").locator("summary").click();
    await seen(page.locator("[data-testid=finding][data-result=ok]").first());
    const { items } = await (await answer).json();
    assert.deepEqual((await id("finding").evaluateAll((all) => all.map((it) => it.dataset.result))).sort(), items.map((it) => it.result).sort());
    await id("forget").click();
    await seen(id("sheet").getByText(/saved views/));
    await id("sheet-cancel").click();
    assert.equal(await id("set-by").inputValue(), "grace");
    await id("forget").click();
    await id("sheet-confirm").click();
    await becomes(() => shown("theme"), "system");
    await becomes(async () => [await id("set-density").inputValue(), await id("set-by").inputValue(), await id("set-shortcuts").isChecked(), await id("set-live").isChecked()], ["normal", "", true, true]);
    assert.deepEqual(await page.evaluate(() => Object.keys(localStorage).filter((it) => it.startsWith("cairn."))), []);
});

shared("the keys walk from card to card, and a tab that fails leaves the rest as it is", async (server, { page, id, open, visit }) => {
    await deploy(server, "workflow: asks\nversion: 1\nsteps:\n  - human: ask\n");
    const instances = [];
    for (const key of ["ask-1", "ask-2", "ask-3"]) instances.push(await start(server, "{}", key, "asks"));
    await open("approvals?workflow=asks");
    await becomes(() => id("approval-card").count(), 3);
    const at = () => page.evaluate(() => [...document.querySelectorAll("[data-testid=approval-card]")].indexOf(document.activeElement));
    for (const [key, place] of [["j", 0], ["j", 1], ["j", 2], ["j", 2], ["k", 1], ["k", 0], ["k", 0]]) {
        await page.keyboard.press(key);
        await becomes(at, place, key);
    }
    // From the card the next Tab is its own link.
    await page.keyboard.press("Tab");
    await becomes(() => page.evaluate(() => document.activeElement.closest("[data-testid=approval-card]")?.dataset.id), instances[0]);
    // Events without a time cannot be drawn: that tab says so, the head, the actions and the other tabs go on.
    await page.route(`**/v1/instances/${instances[0]}/events*`, async (route) => route.fulfill({ json: { items: [null], next: null } }));
    await visit(`instances/${instances[0]}?tab=timeline`);
    await seen(id("crash").getByText("This part of the page failed."));
    await seen(id("instance-status"));
    await seen(id("action-pause"));
    await catchCopies(page);
    await id("copy-error").click();
    assert.match(await copied(page), /\S/);
    await id("tab-steps").click();
    await seen(id("step-row").first());
    assert.equal(await id("crash").count(), 0);
});

shared("on a phone the bar stays where it is, and what confirms a long form is in view", async (server, { page, id, open, visit }) => {
    await open("workflows");
    const bar = ["nav-overview", "nav-instances", "nav-approvals", "nav-dead", "nav-more"], places = () => Promise.all(bar.map((it) => id(it).boundingBox()));
    await seen(id("nav-more"));
    const before = await places();
    assert.equal(await id("nav-jobs").isVisible(), false);
    await id("nav-more").click();
    await seen(id("nav-settings"));
    assert.deepEqual(await places(), before);
    for (const it of ["nav-jobs", "nav-settings"]) assert.ok((await id(it).boundingBox()).y < before[0].y, it);
    await id("nav-more").click();
    await gone(id("nav-settings"));
    await page.setViewportSize({ width: 320, height: 640 });
    await becomes(async () => new Set((await places()).map((it) => it.y)).size, 1, "one row, however narrow");
    await page.setViewportSize({ width: 390, height: 844 });
    const names = Array.from({ length: 12 }, (_, n) => [`field${n}`, { type: "string" }]);
    await deploy(server, JSON.stringify({ workflow: "long_form", version: 1, input: { schema: { type: "object", properties: Object.fromEntries(names) } }, steps: [{ wait: "ever", event: "ever" }] }));
    await visit("workflows/long_form/latest");
    await id("action-start").click();
    await seen(id("field-field11"));
    const { y, height } = await id("start-confirm").boundingBox();
    assert.ok(y + height <= 844, `it ends at ${y + height}`);
    await id("sheet-cancel").click();
    // Between phone and desk a list shows all of its rows, to their ends.
    await page.setViewportSize({ width: 800, height: 600 });
    await server.must("POST", "/v1/instances", { workflow: "long_form", key: "tagged", tags: { customer: "4711", city: "Nairobi" } });
    await visit("instances");
    await seen(id("instance-row").first());
    await becomes(() => page.locator(".table-wrap").first().evaluate((it) => it.scrollWidth - it.clientWidth), 0, "nothing is cut off at the right");
    await page.keyboard.press("?");
    await seen(id("shortcuts").getByText("Ctrl+K"));
}, { page: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } });

scenario("the progress of a bulk action is not asked for while nobody looks", async (server, { page, id, open }) => {
    await deploy(server, "workflow: idle\nversion: 1\nsteps:\n  - step: a\n    handler: idle.a\n");
    for (let n = 0; n < 6; n++) await start(server, "{}", `idle-${n}`, "idle");
    await page.addInitScript(() => {
        window.isAway = false;
        Object.defineProperty(document, "hidden", { get: () => window.isAway });
        Object.defineProperty(document, "visibilityState", { get: () => window.isAway ? "hidden" : "visible" });
    });
    await page.clock.install();
    const bulk = (await server.must("POST", "/v1/bulk", { on: "instances", action: "pause", filter: { workflow: "idle" }, by: "t", per_second: 1 })).id;
    await server.must("POST", `/v1/bulk/${bulk}/stop`, {});
    const answer = { ...await server.must("GET", `/v1/bulk/${bulk}`), status: "running", finished_at: null };
    let asked = 0;
    await page.route(`**/v1/bulk/${bulk}`, (route) => { asked++; return route.fulfill({ json: answer }); });
    await open(`bulk/${bulk}`);
    await seen(page.locator("[data-testid=bulk-progress][data-status=running]"));
    const atFirst = asked;
    await until(async () => { await page.clock.runFor(2100); return asked > atFirst; }, "asked again while somebody looks");
    await page.evaluate(() => { window.isAway = true; document.dispatchEvent(new Event("visibilitychange")); });
    // What was asked for just before may still be on its way; then ten times nothing.
    let before = asked, quiet = 0;
    for (let n = 0; n < 40 && quiet < 10; n++) {
        await page.clock.runFor(2100);
        quiet = asked === before ? quiet + 1 : 0;
        before = asked;
    }
    assert.equal(quiet, 10);
    await page.evaluate(() => { window.isAway = false; document.dispatchEvent(new Event("visibilitychange")); });
    await until(async () => { await page.clock.runFor(2100); return asked > before; }, "asked again when somebody looks again");
});
