// keeping.test.mjs - what starts by itself, what is limited, how long history is kept, and what waits to be delivered.
//
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { deploy } from "./flows.mjs";
import { axeSource, flawsOf, gone, group, scenario, seen, until } from "./rig.mjs";

const rowOf = (page, name) => page.locator(`[data-testid=schedule-row][data-id="${name}"]`);
const put = (server, name, spec) => server.must("PUT", `/v1/schedules/${encodeURIComponent(name)}`, spec);
const get = (server, name) => server.must("GET", `/v1/schedules/${encodeURIComponent(name)}`);

scenario("a schedule is made, run, paused, resumed, changed and removed", async (server, { page, id, open }) => {
    await open("");
    await id("nav-schedules").click();
    await seen(page.locator("[data-testid=empty][data-reason=new]").getByText("cairn schedule set nightly"));
    await id("action-schedule-new").click();
    await id("schedule-name").fill("nightly");
    await id("schedule-cron").fill("0 25 * * *");
    await id("schedule-starts").selectOption("job");
    assert.equal(await id("schedule-workflow").count(), 0);
    await id("schedule-task").fill("k.report");
    await id("input").fill('{"id": 9007199254740993, "rate": 1.10}');
    await id("sheet-confirm").click();
    await seen(page.locator("[data-testid=sheet] [data-testid=error][data-code=bad_input]").getByText('hour "25" is out of range'));
    await id("schedule-cron").fill("30 2 * * MON-FRI");
    await seen(id("sheet").getByText("Monday to Friday at 02:30"));
    await id("schedule-zone").fill("Europe/Berlin");
    await id("sheet-confirm").click();
    await seen(id("schedule"));
    assert.match(page.url(), /\/schedules\/nightly$/);
    await seen(id("why-text").getByText("Runs Monday to Friday at 02:30 (Europe/Berlin)"));
    await until(async () => (await id("schedule-next").count()) === 5, "five times");
    assert.match(await id("schedule-next").first().textContent(), /(Mon|Tue|Wed|Thu|Fri) \d+ \w+ 02:30 \+0[12]:00$/);
    const raw = (await server.call("GET", "/v1/schedules/nightly")).text;
    assert.match(raw, /"id": 9007199254740993, "rate": 1\.10/);
    await seen(id("payload-input").getByText("9007199254740993"));

    await id("schedule-run").click();
    await seen(id("sheet").getByText("Start a run of nightly now?"));
    await id("sheet-confirm").click();
    const run = page.locator("[data-testid=schedule-run-row]");
    await seen(page.locator("[data-testid=schedule-run-row][data-status=pending]"));
    await server.complete(await server.claim("k.report"), {});
    await seen(page.locator("[data-testid=schedule-run-row][data-status=succeeded]"));
    await run.getByRole("link").click();
    await seen(id("job"));
    await page.goBack();

    await id("schedule-toggle").click();
    await id("reason").fill("maintenance");
    await id("by").fill("ann");
    assert.match(await id("sheet").getByTestId("copy-cli").evaluate((it) => it.closest(".command").textContent), /^cairn schedule pause nightly --by ann --reason maintenance/);
    await id("sheet-confirm").click();
    await seen(page.locator("[data-testid=schedule-state][data-status=paused]"));
    assert.equal((await get(server, "nightly")).paused, true);
    await id("schedule-toggle").click();
    await id("sheet-confirm").click();
    await seen(page.locator("[data-testid=schedule-state][data-status=on]"));

    await id("action-schedule-edit").click();
    await id("schedule-when").selectOption("equal distances");
    await id("schedule-every").fill("soon");
    assert.equal(await id("sheet-confirm").isDisabled(), true);
    await id("schedule-every").fill("1h30m");
    await id("sheet-confirm").click();
    await seen(id("why-text").getByText("Runs every 1h 30m"));
    const changed = (await server.call("GET", "/v1/schedules/nightly")).text;
    assert.match(changed, /"every_ms":5400000/);
    assert.match(changed, /"id": 9007199254740993, "rate": 1\.10/);

    await id("action-schedule-remove").click();
    await seen(id("sheet"));
    await page.goBack();
    await gone(id("sheet"));
    await page.goForward();
    await id("action-schedule-remove").click();
    await id("sheet-confirm").click();
    await seen(page.locator("[data-testid=empty][data-reason=new]"));
    assert.equal((await server.call("GET", "/v1/schedules/nightly")).status, 404);
}, { marked: true, page: { refuses: [400, 404] } });      // an open page may ask once more for what was just removed

scenario("a time that comes is shown by itself, also one that is left out", async (server, { page, id, open, visit }) => {
    /** This clock stands, so no timer of the page ends; a job makes news. */
    const advance = async (ms) => { await server.must("POST", "/v1/clock/advance", { ms }); await server.must("POST", "/v1/jobs", { type: "k.news" }); };
    await deploy(server, "workflow: night\nversion: 1\nsteps:\n  - step: a\n    handler: k.a\n");
    await open("schedules");
    await seen(id("empty"));
    await put(server, "hourly", { every_ms: 3_600_000, workflow: "night" });
    const row = rowOf(page, "hourly"), dot = (status) => row.locator(`[data-testid=schedule-dot][data-status=${status}]`);
    await seen(row.getByText("every 1h"));
    await seen(row.getByText("in 1 h"));
    await advance(3_600_000);
    await seen(dot("running"));
    await advance(3_600_000);
    await seen(dot("skipped"));
    await server.complete(await server.claim("k.a"), {});
    await seen(dot("completed"));
    await dot("completed").click();
    await seen(id("instance"));
    await visit("schedules/hourly");
    await seen(page.locator("[data-testid=schedule-run-row][data-status=skipped]").getByText("left out: an earlier run had not ended"));
    await put(server, "hourly", { every_ms: 3_600_000, workflow: "night", overlap: "queue" });
    await advance(3_600_000);
    await advance(3_600_000);
    await seen(id("why-text").getByText("waits until the earlier one has ended"));
    await put(server, "broken", { every_ms: 3_600_000, workflow: "no_such" });
    await visit("schedules/broken");
    await seen(id("schedule"));
    await id("schedule-run").click();
    await id("sheet-confirm").click();
    await seen(page.locator("[data-testid=sheet] [data-testid=error]").getByText('workflow "no_such" does not exist'));
    await id("sheet-cancel").click();
    await advance(3_600_000);
    await seen(page.locator("[data-testid=schedule-run-row][data-status=failed]").getByText("no_such"));
}, { options: ["--virtual-clock"], page: { refuses: [404] } });

const shared = group();

shared("names of schedules are text, wherever they stand", async (server, { page, id, open }) => {
    const name = '<img src=x onerror=alert(1)> "a/b" \u202e%2e?#';
    await put(server, name, { cron: "7 3 */2 * MON", task: "<b>t</b>", input: "</script>", paused: true });
    await open("schedules");
    const row = page.getByTestId("schedule-row").filter({ hasText: "onerror" });
    await seen(row.getByText("7 3 */2 * MON"));               // no words: as it was written
    assert.equal(await row.getAttribute("data-id"), name);
    await row.getByRole("link").first().click();
    await seen(id("schedule"));
    await page.reload();
    await seen(page.locator("[data-testid=schedule-state][data-status=paused]"));
    await id("schedule-toggle").click();
    await id("sheet-confirm").click();
    await seen(page.locator("[data-testid=schedule-state][data-status=on]"));
    assert.equal((await get(server, name)).paused, false);
    assert.equal(await page.locator("main img, main b b").count(), 0);
    await open("schedules/there-is-none");
    await seen(page.locator("[data-testid=error][data-code=not_found]").getByText("There is no schedule there-is-none."));
}, { page: { refuses: [404] } });

const TOKENS = ["view", "produce", "work", "operate"].map((role) => `${role} secret-secret-secret-${role}-1 ${role}-ann\n`).join("");
const as = (role) => ({ Authorization: `Bearer secret-secret-secret-${role}-1` });

scenario("schedules, limits, retention and delivery: each role has the buttons that it may use", async (server, { page, id, open, visit }) => {
    await server.must("PUT", "/v1/schedules/nightly", { cron: "0 2 * * *", task: "k.night" }, as("operate"));
    await server.must("PUT", "/v1/limits/nights", { types: "k.night", concurrency: 1 }, as("operate"));
    const shown = { view: ["list", "retention", "delivery"], produce: ["list", "delivery"], work: ["delivery"], operate: ["list", "buttons", "retention", "delivery"] };
    for (const [role, parts] of Object.entries(shown)) {
        const has = (part) => parts.includes(part) ? 1 : 0;
        await open("settings");
        await seen(id("sign-in"));
        await id("token").fill(`secret-secret-secret-${role}-1`);
        await id("sign-in-confirm").click();
        await seen(id("delivery"));
        if (has("retention")) await seen(id("retention"));
        assert.equal(await id("retention").count(), has("retention"), role);
        assert.equal(await id("action-retention").count(), has("buttons"), role);
        assert.equal(await id("nav-schedules").count(), has("list"), role);
        if (has("list")) {
            await visit("schedules");
            await seen(id("schedule-row"));
            for (const button of ["schedule-run", "schedule-toggle", "action-schedule-new"]) assert.equal(await id(button).count(), has("buttons"), `${role}: ${button}`);
            await id("schedule-row").getByRole("link").first().click();
            await seen(id("schedule"));
            for (const button of ["schedule-run", "schedule-toggle", "action-schedule-edit", "action-schedule-remove"]) assert.equal(await id(button).count(), has("buttons"), `${role}: ${button}`);
            await visit("workers");
            await seen(id("limit-row"));
            for (const button of ["action-limit-new", "action-limit-edit", "action-limit-remove"]) assert.equal(await id(button).count(), has("buttons"), `${role}: ${button}`);
        }
        assert.equal((await server.call("PUT", "/v1/limits/nights", { types: "k.night", concurrency: 1 }, as(role))).status, has("buttons") ? 200 : 403, role);
        assert.equal((await server.call("POST", "/v1/schedules/nightly/pause", {}, as(role))).status, has("buttons") ? 200 : 403, role);
        assert.equal((await server.call("PUT", "/v1/retention", { keys_ms: null }, as(role))).status, has("buttons") ? 200 : 403, role);
        await id("sign-out").click();
        await seen(id("sign-in"));
    }
}, { tokens: TOKENS, page: { refuses: [401, 403] } });

scenario("retention is shown and changed, and nothing but what was changed", async (server, { page, id, open }) => {
    const kept = (name) => page.locator(`[data-testid=retention-row][data-name=${name}]`);
    await server.must("PUT", "/v1/retention", { jobs: { cancelled: 5_400_001 } });
    await open("settings");
    await seen(kept("jobs-cancelled").getByText("1h 30m 1ms"));
    await id("action-retention").click();
    await id("retention-jobs-failed").fill("a week");
    assert.equal(await id("sheet-confirm").isDisabled(), true);
    await id("retention-jobs-failed").fill("7d");
    await id("retention-instances-completed").fill("never");
    await page.getByText("On the command line").click();
    await seen(id("sheet").getByText("cairn retention set --jobs failed=7d --instances completed=never"));
    const request = page.waitForRequest((it) => it.method() === "PUT");
    await id("sheet-confirm").click();
    assert.deepEqual(JSON.parse((await request).postData()), { jobs: { failed: 604_800_000 }, instances: { completed: null } });
    await seen(kept("jobs-failed").getByText("7d"));
    await seen(kept("instances-completed").getByText("for ever"));
    assert.equal(await kept("jobs-cancelled").getAttribute("data-ms"), "5400001");
}, { marked: true });

scenario("what waits to be delivered, and what was given up", async (server, { page, id, open, visit }) => {
    await deploy(server, "workflow: shop\nversion: 1\nsteps:\n  - step: pay\n    handler: k.pay\n");
    await open("settings");
    await seen(id("delivery").getByText("No event waits to be delivered."));
    const instance = (await server.must("POST", "/v1/instances", { workflow: "shop" })).id;
    const task = await server.claim("k.pay");
    await server.must("POST", `/v1/tasks/${task.id}/complete`, `{"worker":"tester","token":"${task.token}","output":{},"outbound":[{"event":"order.<b>paid</b>","payload":{"order":9007199254740993}},{"event":"order.packed"}]}`);
    const waiting = page.getByTestId("outbox-waiting"), dead = page.getByTestId("outbox-dead");
    await until(async () => (await waiting.count()) === 2, "two events, without a reload");
    await seen(id("delivery").getByText("cairn deliver --to"));
    const [{ id: first }] = (await server.must("POST", "/v1/outbox/claim", { worker: "d1", max: 1, lease_ms: 600_000 })).events;
    await server.must("POST", `/v1/outbox/${first}/release`, { worker: "d1", error: "the receiver answered with status 500", max_attempts: 1 });
    await open("settings");
    await seen(dead.getByText("the receiver answered with status 500"));
    await seen(dead.getByText("order.<b>paid</b>"));
    await page.evaluate(() => { navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }; });
    await dead.getByTestId("copy-payload").click();
    /* As the store has it: PostgreSQL puts a space after a colon. */
    assert.equal((await page.evaluate(() => window.copied)).replace(" ", ""), '{"order":9007199254740993}');
    await until(async () => (await waiting.count()) === 1, "one that waits");
    await seen(page.getByRole("heading", { name: "1 waiting · 1 given up" }));
    await dead.getByRole("link").click();
    await seen(page.locator(`[data-testid=instance][data-id="${instance}"]`));
    await seen(page.getByTestId("outbox-row").filter({ hasText: "paid" }).getByText("given up after 1 try"));
    await server.must("POST", `/v1/outbox/${(await server.must("POST", "/v1/outbox/claim", { worker: "d1" })).events[0].id}/ack`, {});
    await visit("settings");
    await gone(waiting.first());
}, { marked: true });

scenario("a limit is made, seen to be full, changed and removed", async (server, { page, id, open }) => {
    const row = (name) => page.locator(`[data-testid=limit-row][data-name="${name}"]`), hostile = "<img src=x onerror=alert(1)>";
    await page.addInitScript(axeSource());
    await open("workers");
    await seen(id("limits").getByText("None: as many tasks run as workers have places."));
    await id("action-limit-new").click();
    await id("limit-name").fill(hostile);
    await id("limit-types").fill("l.%");
    assert.equal(await id("sheet-confirm").isDisabled(), true, "neither a number nor a rate");
    await id("limit-rate").fill("many");
    assert.equal(await id("sheet-confirm").isDisabled(), true);
    await id("limit-rate").fill("100/m");
    await seen(id("sheet").getByText("100 tasks may begin in 1m."));
    await id("limit-concurrency").fill("1");
    assert.deepEqual(await flawsOf(page), []);
    assert.match(await id("sheet").getByTestId("copy-cli").evaluate((it) => it.closest(".command").textContent), /^cairn limit set '<img src=x onerror=alert\(1\)>' --types l\.% --concurrency 1 --rate 100\/1m/);
    await id("sheet-confirm").click();
    await seen(row(hostile).getByText("at most 1 at a time and 100 begin in 1m"));
    assert.equal(await page.locator("img").count(), 0);
    const [made] = (await server.must("GET", "/v1/limits")).items;
    assert.deepEqual([made.types, made.concurrency, made.rate, made.per_group], ["l.%", 1, { n: 100, per_ms: 60_000 }, false]);

    // One runs, two wait for its place: the job says so and leads here.
    await server.must("POST", "/v1/jobs", { type: "l.one", payload: {} });
    const task = await server.claim("l.one"), second = (await server.must("POST", "/v1/jobs", { type: "l.one", payload: {} })).id;
    await server.must("POST", "/v1/jobs", { type: "l.one", payload: {} });
    await seen(page.locator("[data-testid=limit-row][data-taken='1'][data-waiting='2']").getByText("full"));
    await open(`jobs/${second}`);
    const why = page.locator("[data-testid=why][data-code=job_ready]").first();
    await seen(why);
    assert.match(await why.getByTestId("why-text").textContent(), /^Waits for a place: <img src=x onerror=alert\(1\)> allows 1 at a time\.$/);
    await why.getByTestId("why-link").click();
    await seen(page.locator("tr.marked[data-testid=limit-row]"));
    assert.match(page.url(), /workers\?limit=/);

    await row(hostile).getByTestId("action-limit-edit").click();
    await id("limit-concurrency").fill("2");
    await id("limit-rate").fill("");
    await id("limit-per-group").check();
    await id("sheet-confirm").click();
    await seen(row(hostile).getByText("at most 2 at a time, for each group"));
    await row(hostile).getByTestId("action-limit-remove").click();
    await seen(id("sheet").getByText("what waits for a place is given out at once"));
    await id("sheet-confirm").click();
    await gone(row(hostile));
    assert.deepEqual((await server.must("GET", "/v1/limits")).items, []);
    await server.complete(task, {});
}, { marked: true });
