// lists.test.mjs - lists and what is live: filters, search, news, lost connections, workers, errors, times, size.
//
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import { deploy, drain, start } from "./flows.mjs";
import { becomes, gone, group, PATIENCE, scenario, scrolledTo, seen, until } from "./rig.mjs";

scenario("a new store says so, and a job appears without a reload", async (server, { page, id, open }) => {
    await open("jobs");
    await seen(page.locator('[data-testid=empty][data-reason="new"]'));
    await server.must("POST", "/v1/jobs", { type: "t.mail", key: "first" });
    await seen(page.locator("[data-testid=job-row]").filter({ hasText: "first" }));
    await id("job-row").getByRole("link").first().click();
    await seen(id("job"));
    assert.equal(await id("job-status").getAttribute("data-status"), "pending");
    await seen(page.locator("[data-testid=empty][data-reason=none]").getByText("Not called yet."));
    await server.complete(await server.claim("t.mail"), { sent: true });
    await seen(page.locator("[data-testid=job-status][data-status=succeeded]"));
    await seen(id("payload-output").getByText("sent"));
    await becomes(() => id("attempt-row").count(), 1, "calls");
}, { marked: true });

scenario("the overview: what needs a person, counts, charts, types, errors, what has ended", async (server, { page, id, open }) => {
    await open("");
    await seen(page.locator("[data-testid=empty][data-reason=new]"));
    const begin = async (input, key) => { const made = await start(server, input, key); await server.complete(await server.claim("t.reserve"), JSON.parse(input)); return made; };
    await begin('{"total": 5000}', "asks");
    await seen(id("need-approvals").getByText("1 approval"));
    await begin('{"total": 1}', "dies");
    await server.dead(await server.claim("t.ship"), "no carrier goes there");
    await seen(id("need-dead").getByText("1 dead letter"));
    await seen(id("error-row").getByText("no carrier goes there"));
    await server.must("POST", "/v1/clock/advance", { ms: 120_000 });        // by now the server knows who serves what
    await server.must("POST", "/v1/jobs", { type: "o.nobody" });
    await seen(id("need-unserved").getByText("1 type nobody serves"));
    await seen(page.locator("[data-testid=type-row][data-type='o.nobody'][data-served=false]").getByText("no worker"));
    const ended = await begin('{"total": 2}', "goes-through");
    await server.complete(await server.claim("t.ship"), {});
    await seen(page.locator(`[data-testid=recent-row][data-id="${ended}"][data-status=completed]`).getByText("goes-through"));
    await becomes(() => id("count-dlq").locator("b").textContent(), "1");
    // What a person must look at, though nothing is parked.
    await deploy(server, "workflow: stuck\nversion: 1\nsteps:\n  - step: a\n    handler: o.stuck\n    max_attempts: 1\n    on_failure: pause_workflow\n");
    const stuck = await start(server, "{}", "stuck-1", "stuck");
    await server.dead(await server.claim("o.stuck"), "no luck");
    await seen(id("need-paused").getByText("1 paused"));
    await deploy(server, "workflow: half\nversion: 1\nsteps:\n  - step: a\n    handler: o.done\n    compensation: {handler: o.undo, max_attempts: 1}\n  - step: b\n    handler: o.late\n    max_attempts: 1\n");
    const half = await start(server, "{}", "half-1", "half");
    await server.complete(await server.claim("o.done"), {});
    await server.dead(await server.claim("o.late"), "no carrier");
    await server.dead(await server.claim("o.undo"), "the bank is closed");
    await seen(id("need-undo").getByText("1 could not be undone"));
    const follow = async (link, sign) => { await id(link).and(page.locator("a")).or(id(link).locator("a")).first().click(); await seen(sign); await page.goBack(); await seen(id("needs-you")); };
    await follow("need-approvals", id("approval-card"));
    await follow("need-dead", id("dead-row").first());
    await follow("need-paused", page.locator(`[data-testid=instance-row][data-id="${stuck}"]`));
    await follow("need-undo", page.locator("[data-testid=dead-row]").filter({ hasText: "half-1" }));
    assert.ok(half);
    await follow("error-row", page.locator("[data-testid=chip][data-name=group]"));
    await follow("need-unserved", id("types"));
    await follow("count-dlq", page.locator("[data-testid=chip][data-name=status][data-value=dlq]"));
    for (const name of ["chart-ended", "chart-failed", "chart-latency"]) await seen(id(name));
    await id("range-24h").click();
    await seen(page.locator("[data-testid=range-24h][aria-current=true]"));
    assert.match(page.url(), /range=24h/);
    // One place is pointed at in all charts, and a click leads to what happened then.
    const plot = id("chart-ended").locator("svg").first();
    let box;
    await until(async () => {
        box = await plot.boundingBox();                 // what comes above it may move it
        await page.mouse.move(box.x + box.width - 12, box.y + 40);
        return (await page.locator(".cross-hair").count()) === 3;
    }, "the same place in all charts");
    await page.mouse.move(5, 5);
    await until(async () => (await page.locator(".cross-hair").count()) === 0, "nothing is pointed at");
    await plot.click({ position: { x: box.width - 12, y: 40 } });
    await seen(page.locator("[data-testid=chip][data-name=from]").first());
    await page.goBack();
    await id("chart-ended").getByText("As a table").click();
    await seen(id("chart-ended").getByTestId("chart-table"));
}, { options: ["--virtual-clock"] });

const shared = group();
const row = (page, key) => page.locator("[data-testid=instance-row]").filter({ hasText: key });

shared("filters are in the address: set, reload, back, share", async (server, { page, context, id, open }) => {
    for (const key of ["one", "two"]) await start(server, "{}", key);
    await open("instances");
    await seen(row(page, "two"));
    await id("filter-status").locator("summary").click();
    await id("filter-status").getByLabel("failed").check();
    await seen(page.locator("[data-testid=chip][data-value=failed]").first());
    assert.match(page.url(), /status=failed/);
    await seen(page.locator("[data-testid=empty][data-reason=filter]"));
    await page.reload();
    await seen(page.locator("[data-testid=empty][data-reason=filter]"));
    const other = await context.newPage();
    await other.goto(page.url());
    await seen(other.locator("[data-testid=chip][data-value=failed]").first());
    await other.close();
    await page.goBack();
    await seen(row(page, "two"));
    await row(page, "one").getByRole("link").first().click();
    await seen(id("instance"));
    await page.keyboard.press("Escape");
    await seen(row(page, "two"));
    // By workflow: chosen, or typed.
    await deploy(server, "workflow: otherwise\nversion: 1\nsteps:\n  - wait: w\n    event: e\n");
    await start(server, "{}", "three", "otherwise");
    await page.reload();
    await seen(row(page, "three"));
    await id("filter-workflow").locator("summary").click();
    await id("filter-workflow").getByRole("button", { name: "otherwise" }).click();
    await gone(row(page, "two"));
    await becomes(() => id("instance-row").count(), 1);
    assert.match(page.url(), /workflow=otherwise/);
    await id("filter-workflow").locator("summary").click();
    await id("filter-workflow").getByRole("combobox").fill("order");
    await id("filter-workflow").getByRole("combobox").press("Enter");
    await seen(row(page, "two"));
    await gone(row(page, "three"));
    // By time: relative stays relative, a bound is sent as a moment.
    await id("filter-time").locator("summary").click();
    await id("filter-time").getByRole("button", { name: "last hour" }).click();
    await seen(page.locator("[data-testid=chip][data-name=from][data-value='-1h']"));
    await seen(row(page, "two"));
    await id("filter-time").locator("summary").click();
    const asked = page.waitForRequest((it) => it.url().includes("/v1/instances?") && it.url().includes("created_to="));
    await id("filter-time").getByLabel("created before").fill("2001-02-03T04:05");
    await id("filter-time").getByLabel("created before").press("Tab");
    assert.equal(new URL((await asked).url()).searchParams.get("created_to"), await page.evaluate(() => new Date("2001-02-03T04:05").toISOString()));
    await seen(page.locator("[data-testid=empty][data-reason=filter]"));
    await page.keyboard.press("Escape");
    await id("clear-filters").first().click();
    await seen(row(page, "three"));
    // By text: the address follows while one types, and going back does not go through every letter.
    const before = await page.evaluate(() => history.length);
    await id("filter-text").pressSequentially("thre");
    await gone(row(page, "two"));
    await seen(row(page, "three"));
    assert.match(page.url(), /q=thre/);
    assert.equal(await page.evaluate(() => history.length), before);
    // Jobs by type: each that is seen, and the first part that several share.
    for (const type of ["ft.one", "ft.two", "gt.three"]) await server.must("POST", "/v1/jobs", { type, key: type });
    await open("jobs");
    await seen(page.locator("[data-testid=job-row]").filter({ hasText: "gt.three" }));
    await id("filter-type").locator("summary").click();
    await id("filter-type").getByRole("button", { name: "ft.%" }).click();
    await becomes(() => id("job-row").count(), 2);
    assert.equal(new URL(page.url()).searchParams.get("type"), "ft.%");
}, { marked: true });

shared("many at once: a page, all that match, stopped on the way; ids are exported", async (server, { page, id, open }) => {
    await deploy(server, "workflow: many_at_once\nversion: 1\nsteps:\n  - wait: w\n    event: e\n");
    const ids = await Promise.all(Array.from({ length: 60 }, (_, n) => start(server, "{}", `many-${n}`, "many_at_once")));
    const counts = async () => (await server.must("GET", "/v1/instances/counts?workflow=many_at_once")).counts;
    await open("instances?workflow=many_at_once");
    await becomes(() => id("instance-row").count(), 50);
    const loaded = await id("instance-row").evaluateAll((all) => all.map((it) => it.dataset.id));
    await id("columns").locator("summary").click();
    const waiting = page.waitForEvent("download");
    await id("export-ids").click();
    const { readFileSync } = await import("node:fs");
    assert.equal(readFileSync(await (await waiting).path(), "utf8"), loaded.map((it) => `${it}\n`).join(""));
    // All on this page are these, and no more; taken back, nothing is selected.
    await id("select-page").check();
    await seen(id("bulk-bar").getByText("50 selected"));
    await id("select-page").uncheck();
    await gone(id("bulk-bar"));
    await id("select-page").check();
    await id("bulk-pause").click();
    await seen(id("sheet").getByText("50 instances are selected."));
    await id("sheet-cancel").click();
    // All that match is the filter itself.
    await becomes(() => id("select-matching").textContent(), "Select all that match (about 60)");
    await id("select-matching").click();
    await seen(id("bulk-bar").getByText("All that match"));
    await id("bulk-pause").click();
    await seen(id("sheet").getByText("About 60 instances match now; later ones are not touched."));
    await id("by").fill("ada");
    await id("per_second").fill("1");
    await id("sheet-confirm").click();
    await seen(page.locator("[data-testid=bulk-progress][data-status=running]"));
    // It goes on when its sheet is closed; from anywhere the chip leads to it.
    await id("bulk-close").click();
    await id("nav-jobs").click();
    await seen(id("jobs"));
    await id("bulk-chip").click();
    const bulk = await page.locator("section[data-testid=bulk]").getAttribute("data-id");
    assert.ok(page.url().endsWith(`/bulk/${bulk}`));
    await seen(page.getByText("workflow many_at_once"));
    await id("bulk-stop").click();
    await seen(page.locator("[data-testid=bulk-progress][data-status=stopped]").getByText("Stopped. Paused"));
    await gone(id("bulk-chip"));
    const stopped = await server.must("GET", `/v1/bulk/${bulk}`);
    assert.deepEqual([stopped.status, stopped.filter, stopped.by], ["stopped", { workflow: "many_at_once" }, "ada"]);
    assert.ok(stopped.done < 60, `${stopped.done} were paused`);
    assert.equal((await counts()).paused?.n ?? 0, stopped.done);
    // Without a stop all are reached, those beyond the page too.
    await open("instances?workflow=many_at_once");
    await id("select-page").check();
    await id("select-matching").click();
    await id("bulk-abort").click();
    await id("reason").fill("over");
    await id("sheet-confirm").click();
    await seen(page.locator('[data-testid=bulk-progress][data-status=done][data-done="60"]'));
    assert.equal((await counts()).aborted.n, ids.length);
});

shared("views are saved, used, exported and imported; columns are remembered", async (server, { page, id, open }) => {
    await start(server, "{}", "viewed");
    await open("instances?status=running&workflow=order");
    await id("save-view").click();
    await id("view-name").fill("mine");
    await id("sheet-confirm").click();
    await id("view-all").click();
    await page.waitForURL((url) => !url.search.includes("workflow"));
    await id("view-mine").click();
    await seen(page.locator("[data-testid=chip][data-name=workflow][data-value=order]"));
    await seen(page.locator("[data-testid=view-mine][aria-current=page]"));
    await open("instances?view=mine");
    await seen(page.locator("[data-testid=chip][data-name=status][data-value=running]"));
    // What an address says itself wins over the view that it names.
    await open("instances?view=mine&status=failed");
    await seen(page.locator("[data-testid=chip][data-name=workflow][data-value=order]").first());
    assert.equal(new URL(page.url()).searchParams.get("status"), "failed");
    assert.equal(await page.locator("[data-testid=view-mine][aria-current=page]").count(), 0);
    // Saved under the same name, it is this one from now on.
    await id("save-view").click();
    await id("view-name").fill("mine");
    await id("sheet-confirm").click();
    await seen(page.locator("[data-testid=view-mine][aria-current=page]"));
    await becomes(() => id("view-mine").count(), 1);
    await open("instances");
    await id("view-mine").click();
    await seen(page.locator("[data-testid=chip][data-name=status][data-value=failed]").first());
    await open("instances");
    await id("columns").locator("summary").click();
    await id("columns").getByLabel("input").check();
    await seen(page.getByRole("columnheader", { name: "input" }));
    await page.reload();
    await seen(page.getByRole("columnheader", { name: "input" }));
    await open("settings");
    const waiting = page.waitForEvent("download");
    await id("views-export").click();
    const path = await (await waiting).path();
    await id("saved-view").getByLabel("Remove mine").click();
    await gone(id("saved-view"));
    await id("views-import").setInputFiles(path);
    await seen(page.locator("[data-testid=saved-view][data-name=mine]"));
});

shared("tags are shown, typed and filtered by", async (server, { page, id, open, visit }) => {
    await deploy(server);
    const begin = (key, tags) => server.must("POST", "/v1/instances", { workflow: "order", key, tags });
    await begin("tagged-1", { customer: "4711", city: "Oslo" });
    await begin("tagged-2", { customer: "4711", city: "São Paulo: <b>" });
    await begin("tagged-3", { customer: "9" });
    await open("instances?q=tagged");
    await seen(row(page, "tagged-3").getByText("customer:9"));
    await row(page, "tagged-1").getByRole("link", { name: "customer:4711" }).click();
    await seen(page.locator('[data-testid=chip][data-name=tag][data-value="customer:4711"]'));
    await seen(row(page, "tagged-2"));
    await gone(row(page, "tagged-3"));
    // A second one narrows the list; each goes by itself.
    await id("filter-tag").locator("summary").click();
    await id("filter-tag").getByRole("textbox").fill("city");
    await id("filter-tag").getByRole("textbox").press("Enter");
    assert.match(await id("filter-tag").getByRole("textbox").evaluate((it) => it.validationMessage), /name:value/);
    await id("filter-tag").getByRole("textbox").fill("city:São Paulo: <b>");
    await id("filter-tag").getByRole("textbox").press("Enter");
    await gone(row(page, "tagged-1"));
    await seen(row(page, "tagged-2"));
    assert.match(page.url(), /tag=customer.*tag=city/);
    await page.locator("[data-testid=chip][data-name=tag]").first().click();
    await gone(row(page, "tagged-1"));
    await id("clear-filters").click();
    await seen(row(page, "tagged-1"));
    // Given with a start, they are on the instance, and lead to the others.
    await visit("workflows/order/latest");
    await id("action-start").click();
    await id("start-json").fill("{}");
    await id("start-tags").fill("customer:4711, batch:a");
    await id("start-confirm").click();
    await seen(id("instance").getByText("batch:a"));
    await id("instance").getByRole("link", { name: "customer:4711" }).click();
    await seen(row(page, "tagged-1"));
    await server.must("POST", "/v1/jobs", { type: "t.tagged", key: "job-tagged", tags: { customer: "4711" } });
    await server.must("POST", "/v1/jobs", { type: "t.tagged", key: "job-bare" });
    await visit("jobs?tag=customer:4711");
    await seen(page.locator("[data-testid=job-row]").filter({ hasText: "job-tagged" }));
    assert.equal(await page.locator("[data-testid=job-row]").filter({ hasText: "job-bare" }).count(), 0);
    assert.equal(await page.locator("#app b b, #app td b > *").filter({ hasText: "São" }).count(), 0);
});

shared("found by id, beginning, key, and text of the input", async (server, { page, id, open }) => {
    const instance = await start(server, '{"city": "Atlantis"}', "needle-77");
    const find = async (text) => { await open("jobs"); await id("search").fill(text); await id("search").press("Enter"); };
    for (const text of [instance, "needle-77", "needle-7"]) {
        await find(text);
        await page.waitForURL((url) => url.pathname.endsWith(`/instances/${instance}`));
        await seen(id("instance-status"));
    }
    await open("jobs");
    await id("search").fill(instance.slice(0, 18));
    await seen(page.locator(`[data-testid=search-result][data-id="${instance}"]`));
    await find(`${instance}.0`);
    await page.waitForURL((url) => url.pathname.endsWith(`/instances/${instance}`) && url.searchParams.get("step") === "0");
    await seen(id("drawer"));
    await find("Atlantis");
    await page.waitForURL(/has=Atlantis/);
    await seen(row(page, "needle-77"));
    assert.equal(await id("count-all").count(), 0);             // nobody counts what has such a text
    for (const run_at of [undefined, "2100-01-01T00:00:00Z"]) await server.must("POST", "/v1/jobs", { type: "c.due", run_at });
    await open("jobs?type=c.due&due=true");
    await becomes(() => id("count-all").textContent(), "all 1");
    await open("instances?has=nowhere-to-be-found");
    await seen(id("empty"));
});

scenario("a search that was not to the end says how far it looked, and goes on", async (server, { page, id, open }) => {
    await server.must("POST", "/v1/jobs", { type: "far.back", key: "oldest", payload: { city: "Atlantis" } });
    const jobs = Array.from({ length: 1000 }, () => ({ type: "far.back" }));
    for (let n = 0; n < 25; n++) await server.must("POST", "/v1/jobs", { jobs });
    // The page asks on by itself for a second; of a clock that runs it is over after the first answer.
    await page.addInitScript(() => { const real = Date.now, began = real(); Date.now = () => began + (real() - began) * 1000; });
    await open("jobs?has=Atlantis");
    const searched = page.locator("[data-testid=empty][data-reason=searched]");
    await seen(searched);
    assert.match(await searched.textContent(), /^Not found in the newest ones \(back to .+\)\./);
    const answer = await server.must("GET", "/v1/jobs?has=Atlantis&view=row&limit=50");
    assert.ok(answer.next && answer.scanned_to);
    await until(async () => {
        if (await searched.isVisible()) await searched.getByRole("button", { name: "Search further back" }).click({ timeout: 2000 }).catch(() => undefined);
        return page.locator("[data-testid=job-row]").filter({ hasText: "oldest" }).isVisible();
    }, "the oldest");
    // While there is time, it looks further back by itself, up to five times: here the clock stands.  How far that is depends on the machine.
    const other = await page.context().newPage();
    let asked = 0;
    other.on("request", (it) => { if (it.url().includes("/v1/jobs?")) asked++; });
    await other.addInitScript(() => { const at = Date.now(); Date.now = () => at; });
    await other.goto(`${server.page}jobs?has=Atlantis`);
    await seen(other.locator("[data-testid=job-row], [data-testid=empty][data-reason=searched]"));
    assert.ok(asked > 1 && asked <= 5, `asked ${asked} times`);
    await other.close();
});

scenario("what is chosen: several statuses, a range of rows, all that match; counts lead to theirs", async (server, { page, id, open, visit }) => {
    await deploy(server, "workflow: chosen\nversion: 1\nsteps:\n  - wait: w\n    event: e\n");
    const ids = [];
    for (let n = 0; n < 6; n++) ids.push((await server.must("POST", "/v1/instances", { workflow: "chosen", key: `chosen-${n}`, tags: { city: "Oslo", ...(n < 4 ? { batch: "a" } : {}) } })).id);
    for (const n of [0, 1]) await server.must("POST", `/v1/instances/${ids[n]}/abort`, { by: "t", reason: "t" });
    await server.must("POST", `/v1/instances/${ids[2]}/pause`, { by: "t" });
    const keys = () => id("instance-row").evaluateAll((all) => all.map((it) => it.querySelector(".row-link").textContent)), keyed = (...numbers) => numbers.map((it) => `chosen-${it}`);
    const param = (name) => new URL(page.url()).searchParams.get(name), check = (status) => id("filter-status").getByLabel(status, { exact: true }).check();
    await open("instances?workflow=chosen");
    await becomes(keys, keyed(5, 4, 3, 2, 1, 0));
    await id("filter-status").locator("summary").click();
    await check("aborted");
    await becomes(keys, keyed(1, 0));
    await check("paused");
    await becomes(keys, keyed(2, 1, 0));
    assert.equal(param("status"), "aborted,paused");
    await page.keyboard.press("Escape");
    // Each has a chip of its own; what a count counts is the rest of the filter.
    await page.locator("[data-testid=chip][data-value=aborted]").click();
    await becomes(keys, keyed(2));
    assert.deepEqual([param("status"), param("workflow")], ["paused", "chosen"]);
    await becomes(() => id("count-all").textContent(), "all 6");
    await id("count-aborted").click();
    await becomes(keys, keyed(1, 0));
    assert.deepEqual([param("status"), param("workflow")], ["aborted", "chosen"]);
    // All that match is what the status leaves.
    await id("select-page").check();
    await becomes(() => id("select-matching").textContent(), "Select all that match (about 2)");
    await id("count-all").click();
    await becomes(keys, keyed(5, 4, 3, 2, 1, 0));
    await gone(id("bulk-bar"));                          // what was chosen in another list is no longer chosen
    assert.equal(param("status"), null);
    // A range, from the row that was clicked last.
    await id("select-row").nth(1).click();
    await id("select-row").nth(4).click({ modifiers: ["Shift"] });
    await seen(id("bulk-bar").getByText("4 selected"));
    assert.deepEqual(await id("select-row").evaluateAll((all) => all.map((it) => it.checked)), [false, true, true, true, true, false]);
    await id("select-row").nth(2).click();
    await seen(id("bulk-bar").getByText("3 selected"));
    // Counts follow what happens.
    await server.must("POST", "/v1/instances", { workflow: "chosen", key: "chosen-6", tags: { city: "Oslo", batch: "a" } });
    await becomes(() => id("count-all").textContent(), "all 7");
    // Several tags go to the server as several.
    await visit("instances?tag=city:Oslo&tag=batch:a");
    await becomes(() => id("instance-row").count(), 5);
    await id("select-page").check();
    await id("select-matching").click();
    const asked = page.waitForRequest((it) => it.url().endsWith("/v1/bulk"));
    await id("bulk-pause").click();
    assert.deepEqual(JSON.parse((await asked).postData()), { on: "instances", action: "pause", filter: { tag: ["city:Oslo", "batch:a"] }, dry_run: true });
    await seen(id("sheet").getByText("About 5 instances match now"));
    await id("sheet-cancel").click();
    // Where all there is has been selected, there is no more to select.
    await visit("instances");
    await becomes(() => id("instance-row").count(), 7);
    await id("select-page").check();
    await seen(id("bulk-bar").getByText("7 selected"));
    assert.equal(await id("select-matching").count(), 0);
    // What was not counted to the end says so.
    await page.route("**/v1/instances/counts?*", (route) => route.fulfill({ json: { counts: { running: { n: 10_000, is_more: true }, failed: { n: 31, is_more: false } } } }));
    await visit("instances?workflow=chosen");
    await becomes(() => id("count-running").textContent(), "running 10,000+");
    assert.equal(await id("count-failed").textContent(), "failed 31");
    await becomes(() => id("count-all").textContent(), "all 10,031+");
});

scenario("news wait while somebody is elsewhere in the list; what is loaded stays", async (server, { page, id, open }) => {
    await deploy(server, "workflow: calm\nversion: 1\nsteps:\n  - wait: w\n    event: e\n");
    const begin = (key) => server.must("POST", "/v1/instances", { workflow: "calm", key });
    for (let n = 0; n < 55; n++) await begin(`old-${n}`);
    await page.addInitScript(() => { const real = Date.now; window.ahead = 0; Date.now = () => real() + window.ahead; });
    await open("instances");
    await becomes(() => id("instance-row").count(), 50);
    await id("older").click();
    await becomes(() => id("instance-row").count(), 55);
    await gone(id("older"));
    await seen(page.locator("[data-testid=live-state][data-state=live]"));
    // By now it is long ago that the pointer was in the list.
    const away = async () => { await page.mouse.move(2, 2); await page.evaluate(() => { document.activeElement?.blur(); scrollTo(0, 0); window.ahead += 60_000; }); };
    const pill = (n) => seen(page.locator(`[data-testid=news-pill][data-count="${n}"]`));
    await away();
    await begin("enters");
    await seen(row(page, "enters"));
    assert.deepEqual([await id("instance-row").count(), await row(page, "old-0").count()], [56, 1]);
    // Further down, nothing comes in above.
    await page.evaluate(() => { scrollTo(0, 600); window.ahead += 60_000; });
    await begin("above");
    await pill(1);
    assert.equal(await row(page, "above").count(), 0);
    await id("news-pill").click();
    await seen(row(page, "above"));
    assert.equal(await page.evaluate(() => scrollY), 0);
    // Nor while a menu is open, a sheet asks, or something is selected.
    await away();
    await id("filter-status").locator("summary").click();
    await page.mouse.move(2, 2);
    await page.evaluate(() => { document.activeElement?.blur(); window.ahead += 60_000; });
    await begin("behind a menu");
    await pill(1);
    assert.equal(await row(page, "behind a menu").count(), 0);
    await id("filter-status").locator("summary").click();
    await id("select-row").first().check();
    await away();
    await begin("while selected");
    await pill(2);
    assert.equal(await row(page, "while selected").count(), 0);
    await id("bulk-pause").click();
    await seen(id("sheet"));
    await begin("behind a sheet");
    await pill(3);
    await id("sheet-cancel").click();
    await page.getByLabel("Clear the selection").click();
    await away();
    await begin("at last");
    await seen(row(page, "at last"));
    await seen(row(page, "behind a menu"));
    // A row that changes is marked for a moment; one that is no longer due is dimmed.
    await page.evaluate(() => { window.marked = []; new MutationObserver((list) => { for (const it of list) if (it.target.classList.contains("marked")) window.marked.push(it.target.dataset.id); }).observe(document.querySelector("main"), { subtree: true, attributeFilter: ["class"] }); });
    const changed = await row(page, "enters").getAttribute("data-id");
    await server.must("POST", `/v1/instances/${changed}/pause`, { by: "t" });
    await seen(page.locator(`[data-testid=instance-row][data-id="${changed}"][data-status=paused]`));
    await until(() => page.evaluate((it) => window.marked.includes(it), changed), "the mark");
    await until(async () => (await page.locator("tr.marked").count()) === 0, "the end of the mark");
    assert.deepEqual(await page.evaluate(() => [...new Set(window.marked)]), [changed]);
    const job = (await server.must("POST", "/v1/jobs", { type: "calm.job", retry: { backoff: "fixed", base_ms: 3_600_000 } })).id, own = (more) => page.locator(`[data-testid=job-row][data-id="${job}"]${more}`);
    await open("jobs?status=pending,leased&due=true");
    await seen(own("[data-status=pending]"));
    await seen(page.locator("[data-testid=live-state][data-state=live]"));
    await server.fail(await server.claim("calm.job"), "later");
    await seen(own("[data-status=pending][data-stale=true]"));
});

/** Notes from now on when each request goes out, those for streams too. */
const noteRequests = (page) => page.addInitScript(() => {
    const fetch = window.fetch;
    window.sent = [];
    window.fetch = (...words) => { if (String(words[0]).includes("/v1/")) window.sent.push({ at: performance.now(), what: `${words[1]?.method ?? "GET"} ${String(words[0]).split("/v1/")[1]}` }); return fetch(...words); };
});

/** Each request that is the fifth within a second, with those before it; a tenth of a second is left for the way from its turn to the wire. */
const tooMany = (page) => page.evaluate(() => window.sent.flatMap((it, index) => index >= 4 && it.at - window.sent[index - 4].at < 900 ? [window.sent.slice(index - 4, index + 1)] : []));

scenario("a busy list holds still", async (server, { page, id, open }) => {
    await noteRequests(page);
    await deploy(server, "workflow: busy\nversion: 1\nsteps:\n  - step: a\n    handler: b.a\n");
    const begin = (key) => server.must("POST", "/v1/instances", { workflow: "busy", key });
    for (let n = 0; n < 20; n++) await begin(`old-${n}`);
    await open("instances");
    await seen(row(page, "old-19"));
    await row(page, "old-19").hover();
    await page.locator("[data-testid=instance-row]").nth(2).getByTestId("select-row").check();
    const order = () => page.locator("[data-testid=instance-row]").evaluateAll((all) => all.map((it) => it.dataset.id));
    const before = await order();
    await page.evaluate(() => { window.shift = 0; new PerformanceObserver((list) => { for (const it of list.getEntries()) if (!it.hadRecentInput) window.shift += it.value; }).observe({ type: "layout-shift", buffered: false }); });
    let asked = 0;
    page.on("request", (it) => { if (it.url().includes("/v1/") && !it.url().includes("/v1/stream")) asked++; });
    const began = Date.now();
    for (let n = 0; n < 60; n++) await begin(`new-${n}`);
    await server.complete(await server.claim("b.a"), {});
    await seen(id("news-pill"));
    await until(async () => Number(await id("news-pill").getAttribute("data-count")) >= 20, "the count of news");
    await seen(page.locator("[data-testid=instance-row][data-status=completed]"));
    assert.deepEqual(await order(), before);
    assert.equal(await page.locator("[data-testid=instance-row]").nth(2).getByTestId("select-row").isChecked(), true);
    const shift = await page.evaluate(() => window.shift);
    assert.ok(shift < 0.01, `the layout has shifted by ${shift}`);
    const seconds = (Date.now() - began) / 1000;
    assert.ok(asked <= 4 + 4 * seconds, `${asked} requests in ${seconds} s`);
    await until(async () => { await page.keyboard.press("r"); return row(page, "new-59").isVisible(); }, "the newest row");
    // A row that no longer matches stays where it is, dimmed.
    await open("instances?status=running");
    await seen(page.locator("[data-testid=instance-row]").first());
    await seen(page.locator("[data-testid=live-state][data-state=live]"));
    await page.locator("[data-testid=instance-row]").first().hover();
    const first = await page.locator("[data-testid=instance-row]").first().getAttribute("data-id");
    await server.must("POST", `/v1/instances/${first}/abort`, { by: "t", reason: "t" });
    await seen(page.locator(`[data-testid=instance-row][data-id="${first}"][data-stale=true][data-status=aborted]`));
    // Paused, nothing changes; afterwards it catches up.
    await id("live-toggle").click();
    await seen(page.locator("[data-testid=live-state][data-state=paused]"));
    const second = await page.locator("[data-testid=instance-row]").nth(1).getAttribute("data-id");
    await server.must("POST", `/v1/instances/${second}/abort`, { by: "t", reason: "t" });
    await page.keyboard.press("p");
    await seen(page.locator(`[data-testid=instance-row][data-id="${second}"][data-status=aborted]`));
    // Nothing enters under a pointer that rests, however long; when it has left, rows enter by themselves.
    await page.locator("[data-testid=instance-row]").first().hover();
    await page.evaluate(() => { const real = Date.now; Date.now = () => real() + 60_000; });
    await begin("under-pointer");
    await seen(id("news-pill"));
    assert.equal(await row(page, "under-pointer").count(), 0);
    await page.mouse.move(2, 2);
    await begin("pointer-left");
    await seen(row(page, "pointer-left"));
    // Whatever a person clicks, no more than four questions go out in any second.
    await page.evaluate(() => { window.sent = []; });
    await id("filter-status").locator("summary").click();
    const boxes = await id("filter-status").getByRole("checkbox").all();
    await until(async () => { for (const box of [...boxes, ...boxes]) await box.click(); return (await page.evaluate(() => window.sent.length)) > 6; }, "some questions");
    await seen(row(page, "pointer-left"));
    assert.deepEqual(await tooMany(page), []);
}, { page: { haste: 1 } });

scenario("on every screen, opened anew or from another, no more than four requests go out in any second", async (server, { page, id, open, visit }) => {
    await noteRequests(page);
    await deploy(server, "workflow: asks\nversion: 1\nsteps:\n  - human: ask\n");
    await deploy(server, "workflow: asks\nversion: 2\nsteps:\n  - human: ask\n");
    await deploy(server, "workflow: parks\nversion: 1\ndlq: true\nsteps:\n  - step: a\n    handler: four.parks\n    max_attempts: 1\n");
    const asks = await start(server, "{}", "asks", "asks");
    for (const error of ["no paper", "no ink", "no luck"]) { await start(server, "{}", error, "parks"); await server.dead(await server.claim("four.parks"), error); }
    const job = (await server.must("POST", "/v1/jobs", { type: "four.job", key: "job" })).id;
    await server.complete(await server.claim("four.job"), { a: 1 });
    const code = [];
    for (const name of ["four_a", "four_b", "four_c"]) { await server.must("POST", "/v1/workflows", { function: name, version: 1 }); code.push(await start(server, "{}", name, name)); }
    const held = await server.claim("four_a");
    await server.must("PUT", "/v1/schedules/four", { cron: "30 2 * * *", task: "four.job" });
    const bulk = (await server.must("POST", "/v1/bulk", { on: "instances", action: "pause", ids: [asks], by: "t" })).id;
    await server.must("POST", `/v1/instances/${asks}/resume`, { by: "t" });
    const screens = { "": "needs-you", instances: "instance-row", [`instances/${asks}?tab=graph`]: "node", [`instances/${asks}?tab=steps&step=0`]: "drawer", [`instances/${asks}?tab=timeline`]: "lane", [`instances/${asks}?tab=events`]: "event-row", [`instances/${asks}?tab=io`]: "payload-input", [`instances/${asks}?tab=definition`]: "definition",
                      [`instances/${code[0]}?tab=logs`]: "logs", jobs: "job-row", [`jobs/${job}`]: "payload-output", approvals: "approval-card", dead: "dead-row", "dead?tab=jobs": "empty", workflows: "workflow-row", "workflows/asks/2": "node", "workflows/asks/2?tab=grid": "grid-cell", "workflows/asks/2?tab=handlers": "workflow",
                      "workflows/asks/2?tab=instances": "instance-row", "workflows/asks/diff?a=1&b=2": "diff", functions: "stands-running", "functions/four_a/1": "stands-running", workers: "worker-task", schedules: "schedule-row", "schedules/four": "schedule-next", settings: "finding", [`bulk/${bulk}`]: "bulk-progress" };
    // From one to the next as fast as each shows what it is there for.
    await open("");
    for (const [path, sign] of Object.entries(screens)) { await visit(path); await seen(id(sign).first()); }
    assert.deepEqual(await tooMany(page), []);
    assert.ok((await page.evaluate(() => window.sent.length)) > 40);
    // And each by itself: the last that goes out is what the navigation counts.
    for (const [path, sign] of Object.entries(screens)) {
        await open(path);
        await seen(id(sign).first());
        await until(() => page.evaluate(() => window.sent.some((it) => it.what.endsWith("needs"))), "the badges");
        assert.deepEqual(await tooMany(page), [], path);
        // Of what is asked for, one at a time of each.
        const what = await page.evaluate(() => window.sent.map((it) => it.what));
        assert.ok(what.filter((it) => it === "GET me").length === 1 && what.filter((it) => it === "GET about").length <= 1, `${path}: ${what}`);
    }
    await server.report("commit", held, { revision: held.revision, outcome: "complete", output: 1 });
}, { page: { haste: 5 } });

scenario("what a screen does not show, it does not ask for", async (server, { page, id, open, visit }) => {
    // The page listens before the job is recorded: what it hears first would otherwise be a race.
    const recorded = async () => {
        await page.evaluate(() => {
            const channel = new BroadcastChannel("cairn-live");
            window.news = new Promise((done) => { channel.onmessage = ({ data }) => { if (data.digest?.jobs.length) { channel.close(); done(true); } }; });
        });
        await server.must("POST", "/v1/jobs", { type: "q.other" });
        await page.evaluate(() => window.news);
    };
    const isAnswer = (request) => /\/v1\/(?!stream|clock)/.test(request.url()), requests = [];
    let underWay = 0;
    page.on("request", (request) => { if (isAnswer(request)) { requests.push(request.url()); underWay++; } });
    for (const end of ["requestfinished", "requestfailed"]) page.on(end, (request) => { if (isAnswer(request)) underWay--; });
    await deploy(server, "workflow: q\nversion: 1\nsteps:\n  - human: ask\n");
    const asked = await start(server, "{}", "asked", "q");
    await open("approvals");
    await seen(id("approval-card"));
    await seen(page.locator("[data-testid=live-state][data-state=live]"));
    for (const [path, sign] of [["approvals", "approval-card"], ["instances", "instance-row"], [`instances/${asked}`, "instance"], ["workflows", "workflow-row"]]) {
        await visit(path);
        await seen(id(sign).first());
        await recorded();                               // the first news may be news to this screen
        await recorded();
        await until(() => underWay === 0, "all answers");
        requests.length = 0;
        await recorded();
        await recorded();
        assert.deepEqual(requests, [], path || "overview");
    }
    // What it shows, it asks for at once.
    await visit("approvals");
    await seen(id("approval-card"));
    await server.must("POST", `/v1/instances/${asked}/steps/ask/decision`, { by: "t", decision: "confirmed" });
    await seen(page.locator("[data-testid=empty][data-reason=done]"));
});

scenario("a server that is away: the content stays, and it catches up", async (server, { page, id, open, sins }) => {
    await start(server, "{}", "before");
    await open("instances");
    await seen(row(page, "before"));
    await seen(page.locator("[data-testid=live-state][data-state=live]"));
    await server.kill();
    await seen(id("banner"));
    await seen(row(page, "before"));
    await server.again();
    await start(server, "{}", "after");
    await seen(row(page, "after"));
    await gone(id("banner"));
    assert.equal(await row(page, "after").count(), 1);
    // The browser has noted every try while nobody answered.
    const others = sins.filter((it) => !/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/.test(it));
    sins.length = 0;
    assert.deepEqual(others, []);
});

scenario("eight tabs share one stream", async (server, { page, context, open }) => {
    await start(server, "{}", "tabs");
    let streams = 0;
    context.on("request", (it) => { if (it.url().includes("/v1/stream")) streams++; });
    await open("instances");
    await seen(page.locator("[data-testid=live-state][data-state=live]"));
    const tabs = [page];
    while (tabs.length < 8) {
        const tab = await context.newPage();
        await tab.goto(`${server.page}instances`);
        await seen(row(tab, "tabs"));
        tabs.push(tab);
    }
    for (const tab of tabs) await seen(tab.locator("[data-testid=live-state][data-state=live]"));
    assert.equal(streams, 1);
    await start(server, "{}", "for-all");
    for (const tab of tabs) { await tab.bringToFront(); await seen(row(tab, "for-all")); }
});

scenario("workers and types: live, quiet, gone, busy, switched off, served by nobody", async (server, { page, id, open, visit }) => {
    const advance = (ms) => server.must("POST", "/v1/clock/advance", { ms });
    // What is asked twice a minute is asked twice a second here.
    await page.addInitScript(() => { const real = setInterval; window.setInterval = (act, ms) => real(act, ms >= 30_000 ? ms / 60 : ms); });
    await deploy(server, "workflow: lonely\nversion: 1\nsteps:\n  - step: a\n    handler: k.lonely\n");
    const lonely = await start(server, "{}", "lonely", "lonely");
    await server.must("POST", "/v1/jobs", { type: "k.render", key: "film" });
    await server.must("POST", "/v1/jobs", { type: "k.nobody", key: "fax" });
    await server.must("POST", "/v1/tasks/claim", { worker: "once", types: ["k.other"] });
    const task = await server.claim("k.render");
    await open("workers");
    const worker = (name, state) => page.locator(`[data-testid=worker-row][data-name=${name}][data-state=${state}]`), tester = worker("tester", "live");
    await seen(tester);
    await seen(tester.getByText("1/"));
    await page.keyboard.press("j");
    await becomes(() => page.evaluate(() => document.activeElement.getAttribute("data-testid")), "worker-row");
    await seen(page.locator(`[data-testid=worker-task][data-id="${task.id}"]`));
    const type = page.locator('[data-testid=type-row][data-type="k.nobody"]');
    await seen(type.getByText("not known yet"));
    await becomes(() => type.getAttribute("data-served"), "unknown");
    // After a minute the server can judge; a heartbeat counts as being seen, so who works without claiming stays.
    await visit(`instances/${lonely}`);
    await seen(page.locator("[data-testid=why][data-code=unknown]"));
    await advance(61_000);
    await server.report("heartbeat", task, { extend_ms: 3_600_000 });
    await seen(page.locator("[data-testid=why][data-code=unserved]"));
    await visit("workers");
    await seen(tester);
    await seen(worker("once", "quiet"));
    await seen(page.getByRole("heading", { name: "1 live · 1 quiet" }));
    await seen(type.getByText("none"));
    await becomes(() => type.getAttribute("data-served"), "false");
    await server.must("POST", "/v1/jobs", { type: "k.render", key: "second film" });
    await visit("jobs?q=second%20film");
    await seen(page.locator("[data-testid=why][data-code=job_ready]").getByText("and it is busy"));
    await visit("workers");
    await seen(worker("once", "quiet"));
    await advance(10 * 60_000);
    await server.report("heartbeat", task, { extend_ms: 3_600_000 });
    await gone(worker("once", "quiet"));
    await seen(tester);
    assert.equal(await worker("once", "gone").count(), 0);
    await page.getByRole("button", { name: "Show 1 that are gone" }).click();
    await seen(worker("once", "gone"));
    await server.must("PUT", "/v1/registry/k.nobody", { runtime: "go", description: "a fax" });
    await page.reload();
    await type.getByTestId("action-type-disable").click();
    await seen(id("sheet").getByText("Nobody can claim k.nobody from now on"));
    await becomes(() => id("sheet").locator(".command").textContent(), "cairn registry set k.nobody --runtime go --disable --description 'a fax'");
    await id("sheet-confirm").click();
    await seen(type.getByTestId("action-type-enable"));
    assert.equal((await server.must("GET", "/v1/registry")).items[0].description, "a fax");
    await visit("jobs?q=fax");
    await seen(page.locator("[data-testid=why][data-code=job_ready]").getByText("switched off"));
    await server.complete(task, {});
}, { options: ["--virtual-clock"] });

scenario("times: three ways, a zone with a daylight change, a clock that stands", async (server, { page, id, open }) => {
    await server.must("POST", "/v1/jobs", { type: "c.now", key: "timed" });
    await open("jobs");
    const time = page.locator("[data-testid=job-row]").getByTestId("time").last();
    await seen(time);
    const at = await time.getAttribute("datetime"), now = async () => time.textContent();
    await seen(page.getByText("virtual clock"));
    await becomes(now, "now");
    await server.must("POST", "/v1/clock/advance", { ms: 3 * 60_000 });
    await server.must("POST", "/v1/jobs", { type: "c.other" });
    await until(async () => /^3 min ago$/.test(await page.locator("[data-testid=job-row]").filter({ hasText: "timed" }).getByTestId("time").last().textContent()), "three minutes");
    const timed = page.locator("[data-testid=job-row]").filter({ hasText: "timed" }).getByTestId("time").last();
    await id("time-zone").click();
    await until(async () => /^\d+ \w{3} \d\d:\d\d:\d\d$/.test(await timed.textContent()), "local times");
    await id("time-zone").click();
    await becomes(() => timed.textContent(), `${at.slice(0, 19).replace("T", " ")}Z`);
    await open("settings");
    await id("set-time").selectOption("zone");
    await id("set-zone").fill("Europe/Oslo");
    await id("set-zone").press("Tab");
    await open("jobs");
    const oslo = new Intl.DateTimeFormat("en-GB", { timeZone: "Europe/Oslo", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }).format(new Date(at));
    await seen(timed);
    assert.ok((await timed.textContent()).endsWith(oslo), oslo);
    // The text behind it is made anew for who looks.
    await seen(page.getByText("virtual clock"));
    await timed.hover();
    await until(async () => /min ago|now/.test(await timed.getAttribute("title")), "a time by the store's clock");
}, { options: ["--virtual-clock"] });

shared("a browser whose clock is three minutes off shows times by the store's", async (server, { page, id, open }) => {
    await page.addInitScript(() => { const now = Date.now; Date.now = () => now.call(Date) - 180_000; });
    const job = (await server.must("POST", "/v1/jobs", { type: "c.off", key: "by the store" })).id;
    await open(`jobs/${job}`);
    const time = id("job").getByTestId("time").first();
    await seen(time);
    // By this browser's clock it would be "in 3 min".
    await until(async () => /^(created )?(now|\d+ s ago|[12] min ago)$/.test(await time.textContent()), "a time that has passed");
    await open("settings");
    await until(async () => /clock \+(3m|2m 5\d)/.test(await id("about").textContent()), "the difference");
});

const STUBS = {
    forbidden: [403, /does not allow this/], internal: [500, /it broke/], store: [500, /it broke/], bad_input: [400, /it broke/],
};

shared("every kind of error is shown where it belongs", async (server, { page, id, open, visit }) => {
    await start(server, "{}", "stubbed");
    const fresh = async (path) => { await visit("settings"); await visit(path); };
    for (const [code, [status, words]] of Object.entries(STUBS)) {
        await page.route("**/v1/instances?**", (route) => route.fulfill({ status, contentType: "application/json", body: JSON.stringify({ code, message: "it broke", detail: "there", hint: "look" }) }));
        await fresh("instances");
        const error = page.locator(`[data-testid=error][data-code=${code}]`);
        await seen(error);
        assert.match(await error.textContent(), words);
        assert.equal(await error.getByTestId("copy-error").count(), code === "internal" || code === "store" ? 1 : 0);
        await page.unroute("**/v1/instances?**");
        await error.getByTestId("retry").click();
        await seen(row(page, "stubbed"));
    }
    for (const code of ["busy", "too_many", "unreachable", "closed"]) {
        await page.route("**/v1/instances?**", (route) => route.fulfill({ status: 503, contentType: "application/json", body: JSON.stringify({ code, message: "busy", detail: "", hint: "" }) }));
        await fresh("instances");
        await seen(page.locator(`[data-testid=banner][data-code=${code}]`).getByText("The store does not answer."));
        await page.unroute("**/v1/instances?**");
        await seen(row(page, "stubbed"));               // by itself
        await gone(id("banner"));
    }
    for (const code of ["store_full", "read_only"]) {
        await fresh("jobs");
        await page.route("**/v1/jobs", (route) => route.request().method() === "POST" ? route.fulfill({ status: 507, contentType: "application/json", body: JSON.stringify({ code, message: "the disk is full", detail: "", hint: "" }) }) : route.fallback());
        await id("action-job-add").first().click();
        await id("type").fill("e.full");
        await id("sheet-confirm").click();
        await seen(page.locator(`[data-testid=banner][data-code=${code}]`).getByText("the disk is full"));
        await seen(id("sheet").getByTestId("error"));
        await page.unroute("**/v1/jobs");
        await id("sheet-confirm").click();
        await gone(id("banner"));
    }
    await page.route("**/v1/instances?**", (route) => route.fulfill({ status: 503, contentType: "application/json", body: JSON.stringify({ code: "schema_newer", message: "the schema is newer", detail: "", hint: "" }) }));
    await fresh("instances");
    await seen(page.locator("[data-testid=banner][data-code=schema_newer]"));
    await page.unroute("**/v1/instances?**");
    await seen(row(page, "stubbed"));
    await gone(id("banner"));
    // Who does not want to wait for an answer gives it up, and may ask again.
    await page.route("**/v1/approvals?limit=100", () => undefined);
    await visit("approvals");
    await id("cancel-request").click();
    const stopped = page.locator("[data-testid=error][data-code=stopped]");
    await seen(stopped);
    await page.unroute("**/v1/approvals?limit=100");
    await stopped.getByTestId("retry").click({ timeout: 5000 }).catch(() => undefined);     // news may have asked before
    await gone(stopped);
    await seen(id("approvals"));
    await open("instances/01a1e498-b1c2-7926-9196-26f6018a4f33");
    await seen(page.locator("[data-testid=error][data-code=not_found]").getByText("There is no instance"));
    // A drawer that fails leaves the screen below it alone.
    const stubbed = (await server.must("GET", "/v1/instances?q=stubbed&limit=1")).items[0].id;
    await page.route("**/v1/steps/*.0", (route) => route.fulfill({ contentType: "application/json", body: '{"attempts_list": [null]}' }));
    await open(`instances/${stubbed}?tab=steps&step=0`);
    await seen(id("crash"));
    await seen(id("step-row").first());
    // What the server refuses, though it was allowed before, is asked about; its button goes.
    await open(`instances/${stubbed}`);
    await id("action-pause").click();
    await page.route("**/v1/me", async (route) => { const answer = await (await route.fetch()).json(); await route.fulfill({ json: { ...answer, may: answer.may.filter((it) => !it.endsWith("/pause")) } }); });
    await page.route("**/pause", (route) => route.fulfill({ status: 403, contentType: "application/json", body: JSON.stringify({ code: "forbidden", message: "not allowed", detail: "", hint: "" }) }));
    await id("sheet-confirm").click();
    await seen(id("sheet").locator("[data-testid=error][data-code=forbidden]"));
    await gone(id("action-pause"));
    await page.unroute("**/v1/me");
    // While nobody looks, nothing is tried again.
    await open("settings");
    await page.evaluate(() => {
        const real = window.setTimeout;
        window.setTimeout = (act, ms, ...rest) => real(() => { act(...rest); if (ms >= 1000 && document.hidden) window.fired = true; }, ms);
        Object.defineProperty(document, "hidden", { configurable: true, get: () => !window.isSeen });
    });
    let asked = 0;
    await page.route("**/v1/instances?**", (route) => { asked++; return route.fulfill({ status: 503, contentType: "application/json", body: JSON.stringify({ code: "busy", message: "busy", detail: "", hint: "" }) }); });
    await visit("instances");
    await seen(page.locator("[data-testid=banner][data-code=busy]"));
    const before = asked;
    await until(() => page.evaluate(() => window.fired), "the time to try again");
    await page.evaluate(() => fetch("../healthz"));
    assert.equal(asked, before);
    await page.unroute("**/v1/instances?**");
    await page.evaluate(() => { window.isSeen = true; document.dispatchEvent(new Event("visibilitychange")); });
    await seen(row(page, "stubbed"));
    // A part that fails says so, and the rest goes on.
    await page.route("**/v1/workers", (route) => route.fulfill({ contentType: "application/json", body: '{"items": 7}' }));
    await open("workers");
    await seen(id("crash"));
    await id("nav-instances").click();
    await seen(row(page, "stubbed"));
}, { page: { refuses: [400, 403, 404, 500, 503, 507] } });

shared("a thousand steps, a wide fork, long lists", async (server, { page, id, open, visit }) => {
    const steps = Array.from({ length: 1000 }, (_, n) => `  - step: s${n}\n    handler: l.s\n`).join("");
    await deploy(server, `workflow: long\nversion: 1\nsteps:\n${steps}`);
    const branches = Array.from({ length: 200 }, (_, n) => `      - - step: b${n}\n          handler: l.b\n`).join("");
    await deploy(server, `workflow: wide\nversion: 1\nsteps:\n  - fork: many\n    join: all\n    branches:\n${branches}`);
    const long = await start(server, "{}", "long", "long"), wide = await start(server, "{}", "wide", "wide");
    await open(`instances/${long}`);
    const fold = page.locator("[data-testid=fold][data-kind=folded]");
    await seen(fold.first());
    assert.match(await fold.textContent(), /975 steps/);
    await page.locator("[data-testid=graph]").evaluate((it) => { const canvas = it.querySelector(".canvas"); canvas.scrollLeft = canvas.scrollWidth / 2; });
    await fold.press("Enter");
    await until(async () => (await id("graph").getAttribute("data-nodes")) === "1000", "all nodes");
    assert.ok(await page.locator("[data-testid=node]").count() < 300, "only what is in view is drawn");
    await id("tab-steps").click();
    await seen(page.locator("[data-testid=step-row][data-step=s0]"));
    assert.ok(await id("step-row").count() < 500, "rows are windowed");
    await scrolledTo(page, page.locator("[data-testid=step-row][data-step=s999]"));
    await visit(`instances/${wide}`);
    await seen(page.locator("[data-testid=fold][data-step=many]").getByText("200 branches"));
    await drain(server, ["l.b"]);
});

shared("a function of 5,000 steps: windowed, its events in pages", async (server, { page, id, open }) => {
    await server.must("POST", "/v1/workflows", { function: "many", version: 1 });
    const instance = await start(server, "{}", "many", "many"), task = await server.claim("many");
    let revision = task.revision;
    for (let from = 1; from <= 5000; from += 500)
        ({ revision } = await server.report("commit", task, { revision, outcome: "go_on", steps: Array.from({ length: 500 }, (_, n) => ({ seq: from + n, key: `k${from + n}`, kind: "task", status: "completed", output: n })) }));
    await server.report("commit", task, { revision, outcome: "complete", output: 1 });
    await open(`instances/${instance}`);
    await seen(page.locator("[data-testid=step-row][data-step=k1]"));
    assert.ok(await id("step-row").count() < 500, "rows are windowed");
    await scrolledTo(page, page.locator("[data-testid=step-row][data-step=k5000]"));
    await id("tab-events").click();
    await seen(id("event-row").first());
    assert.ok(await id("event-row").count() <= 500, "events come in pages");
    await id("tab-timeline").click();
    await seen(id("timeline"));
    await id("tab-io").click();
    await seen(id("payload-output"));
});

shared("logs: read to the end, filtered by call and level, followed", async (server, { page, id, open }) => {
    await server.must("POST", "/v1/workflows", { function: "talks", version: 1 });
    const instance = await start(server, "{}", "talks", "talks"), task = await server.claim("talks");
    let revision = task.revision;
    const say = async (from, to, steps = []) => { ({ revision } = await server.report("commit", task, { revision, outcome: "go_on", steps, logs: Array.from({ length: to - from }, (_, n) => ({ level: (from + n) % 2 ? "warn" : "info", message: `line ${from + n}.`, attempt: from + n < 1000 ? 1 : 2  })) })); };
    for (let from = 0; from < 1200; from += 200) await say(from, from + 200);
    ({ revision } = await server.must("POST", `/v1/tasks/${task.id}/commit`, `{"worker":"tester","token":"${task.token}","revision":${revision},"outcome":"go_on","logs":[{"level":"info","message":"exactly","attempt":3,"data":{"cents":9007199254740993}}]}`));
    await open(`instances/${instance}?tab=logs`);
    await seen(id("log-row").getByText("line 0.", { exact: true }));
    await id("older").click();
    await gone(id("older"));
    await id("logs-attempt").selectOption("3");
    await seen(id("log-row").getByText('{"cents":9007199254740993}'));
    await id("logs-attempt").selectOption("2");
    await seen(id("log-row").getByText("line 1001.", { exact: true }));
    await id("logs-level").selectOption("warn");
    await until(async () => (await id("log-row").count()) === 100, "the warnings of the second call");
    // What comes later is added, and nothing twice.
    await say(1200, 1204, [{ seq: 1, key: "k", kind: "task", status: "completed", output: 1 }]);
    await seen(id("log-row").getByText("line 1203.", { exact: true }));
    await becomes(() => id("log-row").count(), 102);
    await server.report("commit", task, { revision, outcome: "complete", output: 1 });
});

shared("bounded payloads: large JSON is asked for only when it is wanted", async (server, { page, id, open }) => {
    const list = Array.from({ length: 20_000 }, (_, n) => ({ n, text: `member ${n}` }));
    const job = (await server.must("POST", "/v1/jobs", { type: "j.big", payload: { list, deep: JSON.parse("[".repeat(50) + "]".repeat(50)) } })).id;
    await open(`jobs/${job}`);
    await seen(id("payload-input").getByText(/KB of JSON|MB of JSON/));
    await id("payload-input").getByTestId("json-show").click();
    await seen(id("payload-input").getByText('"list"'));
    await id("json-level").selectOption("99");
    await seen(id("json-more").first());
    assert.ok(await page.locator(".j-line").count() <= 2100);
    await id("json-find").fill("member 77");
    await seen(page.locator(".found").getByText("member 77").first());
});

/** Passes everything on, until it is told to cut what is open. */
function cuttingProxy(target) {
    const open = new Set(), proxy = createServer((from, to) => {
        const asked = request(target + from.url, { method: from.method, headers: { ...from.headers, host: new URL(target).host, ...(from.headers.origin ? { origin: target } : {}) } }, (answer) => { to.writeHead(answer.statusCode, answer.headers); to.flushHeaders(); answer.pipe(to); });
        asked.on("error", () => to.destroy());
        open.add(to);
        to.on("close", () => { open.delete(to); asked.destroy(); });
        from.pipe(asked);
    });
    return new Promise((done) => proxy.listen(0, "127.0.0.1", () => done({ url: `http://127.0.0.1:${proxy.address().port}`, cut: () => { for (const it of open) it.destroy(); }, close: () => { proxy.closeAllConnections?.(); proxy.close(); } })));
}

scenario("a proxy that cuts the stream: nothing is missed, nothing comes twice", async (server, { page, id, sins }) => {
    const proxy = await cuttingProxy(server.url);
    try {
        await start(server, "{}", "first");
        await page.goto(proxy.url + server.base + "/ui/instances");
        await seen(row(page, "first"));
        await seen(page.locator("[data-testid=live-state][data-state=live]"));
        proxy.cut();
        await start(server, "{}", "while-cut");
        await seen(row(page, "while-cut"));
        assert.equal(await row(page, "while-cut").count(), 1);
        await seen(id("nav"));
    } finally { proxy.close(); }
    const others = sins.filter((it) => !it.includes(proxy.url));
    sins.length = 0;
    assert.deepEqual(others, []);
}, { page: { refuses: [502] } });

assert.ok(PATIENCE > 0);
