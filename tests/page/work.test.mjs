// work.test.mjs - what people do with the page: start, decide, signal, stop, mend.
//
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { deploy, start } from "./flows.mjs";
import { becomes, gone, group, scenario, seen, until } from "./rig.mjs";

const is = (page, status) => seen(page.locator(`[data-testid=instance-status][data-status=${status}]`));
const shared = group();

shared("an order from start to end", async (server, { page, id, open }) => {
    await deploy(server);
    await open("workflows/order/latest");
    await id("action-start").click();
    await id("start-json").fill('{"total": 40, "n": 9007199254740993}');
    await id("start-key").fill("order-1");
    await id("start-confirm").click();
    await seen(id("instance"));
    const node = (step, status) => seen(page.locator(`[data-testid=node][data-step=${step}][data-status=${status}]`));
    await node("reserve", "ready");
    const reserve = await server.claim("t.reserve");
    await node("reserve", "running");
    await server.complete(reserve, { total: 40 });
    await node("reserve", "completed");
    await seen(page.locator("[data-testid=node][data-step=approval][data-taken=false]"));
    await server.complete(await server.claim("t.ship"), { parcel: "P-1" });
    await is(page, "completed");
    await page.locator("[data-testid=node][data-step=ship]").click();
    await id("diff-input").click();
    await seen(id("drawer").getByText("The input is the output of by_transfer, unchanged."));
    await id("drawer-close").click();
    await id("tab-io").click();
    await seen(id("payload-output").getByText("P-1"));
    await seen(id("payload-input").getByText("9007199254740993"));
    await id("tab-timeline").click();
    await seen(page.locator("[data-testid=lane][data-step=ship]"));
    await id("tab-events").click();
    await seen(page.locator("[data-testid=event-row][data-type=workflow_completed]"));
    // The key is known: the page goes to the first one and says so.
    await open("workflows/order/latest");
    await id("action-start").click();
    await id("start-json").fill("{}");
    await id("start-key").fill("order-1");
    await id("start-confirm").click();
    await seen(id("toast").getByText("The key was known"));
    // What was typed and what was started before are offered; the typed one was kept.  Started later, it waits.
    await open("workflows/order/latest");
    await id("action-start").click();
    await becomes(() => id("start-json").inputValue(), "{}");
    await id("start-example").selectOption("last");
    await becomes(async () => JSON.parse(await id("start-json").inputValue()).total, 40);
    assert.match(await id("start-json").inputValue(), /9007199254740993/);
    await id("start-example").selectOption("draft");
    await becomes(() => id("start-json").inputValue(), "{}");
    await id("start-at").fill("2100-01-02T03:04");
    await id("start-key").fill("order-later");
    await id("start-confirm").click();
    await is(page, "pending");
    await seen(page.locator("[data-testid=why][data-code=starts_later]"));
    const later = (await server.must("GET", "/v1/instances?key=order-later")).items[0];
    assert.equal(later.start_at, new Date(await page.evaluate(() => new Date("2100-01-02T03:04").getTime())).toISOString());
}, { marked: true });

shared("a step's input is compared with what came before", async (server, { page, id, open }) => {
    await deploy(server, 'workflow: maps\nversion: 1\nsteps:\n  - step: reads\n    handler: m.reads\n  - step: gets\n    handler: m.gets\n    input: {total: "{{ .total }}", currency: EUR}\n');
    const instance = await start(server, "{}", "maps", "maps");
    await server.complete(await server.claim("m.reads"), { total: 5, secret: "x" });
    await open(`instances/${instance}?tab=steps&step=1`);
    await id("diff-input").click();
    await seen(id("drawer").getByText('+   "currency": "EUR"'));
    await seen(id("drawer").getByText('−   "secret": "x"'));
    await id("diff-input").click();
    await gone(id("drawer").getByText('+   "currency": "EUR"'));
    await server.complete(await server.claim("m.gets"), {});
});

scenario("what is typed into the start form is not written over", async (server, { page, id, open }) => {
    await deploy(server);
    await start(server, '{"total": 41}', "typed-1");
    let release;
    const held = new Promise((resolve) => { release = resolve; });
    await page.route("**/v1/instances?workflow=order*limit=1*", async (route) => { await held; await route.continue(); });
    await open("workflows/order/latest");
    await id("action-start").click();
    await seen(id("sheet").getByText("Loading …"));
    assert.equal(await id("start-json").count(), 0);
    release();
    await seen(id("start-json"));
    await id("start-json").fill('{"total": 42}');
    await id("start-key").fill("typed-2");
    await id("start-confirm").click();
    await seen(id("instance"));
    await id("tab-io").click();
    await seen(id("payload-input").getByText("42"));
});

shared("approve, reject, and a decision that came too late", async (server, { page, id, open }) => {
    const ids = {};
    for (const key of ["yes", "no", "late"]) {
        ids[key] = await start(server, '{"total": 5000}', key);
        await server.complete(await server.claim("t.reserve"), { total: 5000 });
    }
    await open("approvals");
    const card = (key) => page.locator(`[data-testid=approval-card][data-id="${ids[key]}"]`);
    await seen(card("late"));
    await until(async () => (await id("badge-approvals").textContent()) === "3", "the badge 3");
    await card("yes").getByTestId("action-approve").click();
    await seen(id("sheet").getByText("The next step starts at once."));
    await id("comment").fill("fine");
    await id("by").fill("ada");
    await id("sheet-confirm").click();
    await seen(card("yes").getByText("Approved by ada"));
    await seen(page.locator("[data-testid=decided-row]").filter({ hasText: "yes" }).filter({ hasText: "fine" }));
    await card("no").getByTestId("action-reject").click();
    assert.equal(await id("sheet-confirm").isDisabled(), true);
    await id("comment").fill("too dear");
    await id("sheet-confirm").click();
    await gone(id("sheet"));
    await until(async () => (await server.must("GET", `/v1/instances/${ids.no}`)).status === "aborted", "the rejection");
    await card("late").getByTestId("action-approve").click();
    await server.must("POST", `/v1/instances/${ids.late}/steps/approval/decision`, { decision: "confirmed", by: "carla" });
    await id("sheet-confirm").click();
    await seen(id("sheet").getByText("Already approved by carla."));
    await id("sheet-cancel").click();
    await gone(id("badge-approvals"));
    for (let left = 2; left > 0; left--) await server.complete(await server.claim("t.ship"), {});
}, { page: { refuses: [409] }, marked: true });

shared("a decision is made on the instance", async (server, { page, id, open }) => {
    const instance = await start(server, '{"total": 5000}', "big");
    await server.complete(await server.claim("t.reserve"), { total: 5000 });
    // Of the two ways behind the condition one was taken, and the other has no steps that could say so.
    await open(`instances/${instance}?tab=graph`);
    const ways = (isTaken) => page.locator(`[data-testid=edge][data-from=is_large][data-taken=${isTaken}]`);
    await seen(page.locator("[data-testid=node][data-step=approval][data-status=waiting_decision]"));
    await becomes(async () => [await ways(true).count(), await ways(false).count()], [1, 1]);
    // It has not been left yet.
    assert.equal(await page.locator("[data-testid=edge][data-from=approval]").getAttribute("data-taken"), "false");
    await open(`instances/${instance}?tab=steps`);
    const row = page.locator("[data-testid=step-row][data-step=approval][data-status=waiting_decision]");
    await seen(row);
    await row.getByRole("link").click();
    await id("drawer").getByTestId("action-approve").click();
    await id("comment").fill("fine");
    await id("by").fill("ada");
    await id("sheet-confirm").click();
    await seen(page.locator("[data-testid=toast][data-kind=ok]"));
    await seen(page.locator("[data-testid=step-row][data-step=approval][data-status=confirmed]"));
    await seen(id("decision").getByText("ada"));
    await server.complete(await server.claim("t.ship"), {});
});

shared("a step that failed says so, though the saga has rolled it back", async (server, { page, id, open }) => {
    await deploy(server, "workflow: undo\nversion: 1\nsteps:\n  - step: reserve\n    handler: u.reserve\n    compensation: {handler: u.release}\n  - step: pack\n    handler: u.pack\n  - step: ship\n    handler: u.ship\n    max_attempts: 1\n");
    const instance = await start(server, "{}", "undo-1", "undo");
    for (const type of ["u.reserve", "u.pack"]) await server.complete(await server.claim(type), {});
    await server.dead(await server.claim("u.ship"), "no carrier");
    await server.complete(await server.claim("u.release"), {});
    await open(`instances/${instance}?tab=graph`);
    const node = (step) => page.locator(`[data-testid=node][data-step=${step}][data-status=rolled_back]`);
    await seen(node("reserve").getByText("undone, 1."));
    await seen(node("pack").getByText("nothing to undo"));
    await seen(node("ship").getByText("1/1 failed"));
    await node("ship").click();
    await seen(id("drawer").getByText("Failed after 1 call: no carrier. Had nothing to undo."));
});

shared("a signal is sent from the sentence, and the same id changes nothing", async (server, { page, id, open }) => {
    const instance = await start(server, '{"total": 1, "pays": "transfer"}', "later");
    await server.complete(await server.claim("t.reserve"), { total: 1, pays: "transfer" });
    await open(`instances/${instance}`);
    await is(page, "waiting_signal");
    await page.locator('[data-testid=why][data-code=event] [data-testid=why-action][data-action=signal]').click();
    assert.equal(await id("event").inputValue(), "payment.settled");
    await id("id").fill("pay-1");
    await id("payload").fill('{"cents": 9007199254740993}');
    await becomes(() => id("sheet").locator(".command").textContent(), `cairn signal ${instance} payment.settled --payload '{"cents": 9007199254740993}' --id pay-1`);
    await id("keep").uncheck();
    await until(async () => (await id("sheet").locator(".command").textContent()).endsWith(" --no-latch"), "that it is not kept");
    await id("sheet-confirm").click();
    await seen(id("toast").getByText("Taken"));
    await is(page, "running");
    await id("tab-io").click();
    await seen(id("signal-row").getByText("taken by settled"));
    await seen(id("signal-row").getByText(/\{"cents": ?9007199254740993\}/));     // PostgreSQL keeps no blanks
    await id("action-signal").click();
    await id("event").fill("payment.settled");
    await id("id").fill("pay-1");
    await id("sheet-confirm").click();
    await seen(id("toast").getByText("known"));
    await server.complete(await server.claim("t.ship"), {});
}, { marked: true });

shared("pause, resume, cancel with its undo, restart, abort", async (server, { page, id, open }) => {
    const instance = await start(server, '{"total": 1}', "ups");
    await open(`instances/${instance}`);
    await is(page, "running");
    await id("action-pause").click();
    await seen(id("sheet").getByText("Nothing new starts until you resume."));
    await id("reason").fill("a look first");
    await id("by").fill("ada");
    await id("sheet-confirm").click();
    await is(page, "paused");
    await seen(page.locator("[data-testid=why][data-code=paused_by]").getByText("a look first"));
    await id("action-resume").click();
    await seen(id("sheet").getByText("1 held step goes on"));
    await id("sheet-confirm").click();
    await is(page, "running");
    await server.complete(await server.claim("t.reserve"), { total: 1 });
    await seen(page.locator("[data-testid=node][data-step=ship][data-status=ready]"));
    await id("action-cancel").click();
    await seen(id("sheet").getByText("1 completed step will be undone"));
    assert.equal(await id("sheet-confirm").isDisabled(), true);
    await id("reason").fill("no longer wanted");
    await id("sheet-confirm").click();
    await is(page, "compensating");
    await server.complete(await server.claim("t.release"), {});
    await is(page, "cancelled");
    await seen(page.locator("[data-testid=node][data-step=reserve][data-status=rolled_back]").getByText("undone, 1."));
    await id("more-actions").locator("summary").click();
    await id("action-restart").click();
    await id("sheet-confirm").click();
    await is(page, "running");
    await id("more-actions").locator("summary").click();
    await id("action-abort").click();
    await id("reason").fill("wrong one");
    assert.equal(await id("by").inputValue(), "ada");
    await id("sheet-confirm").click();
    await is(page, "aborted");
    const events = (await server.call("GET", `/v1/instances/${instance}/events?limit=100`)).text;
    assert.match(events, /"requested_by":\s*"ada"/);
});

shared("what failed is retried, and new code is accepted by force", async (server, { page, id, visit }) => {
    await deploy(server, "workflow: luck\nversion: 1\nsteps:\n  - step: a\n    handler: f.a\n    max_attempts: 1\n");
    const failed = await start(server, "{}", "unlucky", "luck");
    await server.dead(await server.claim("f.a"), "no luck");
    await visit(`instances/${failed}`);
    await is(page, "failed");
    await id("action-retry").click();
    await seen(id("sheet").getByText("Failed, undone and stopped steps get fresh attempts; completed ones stay."));
    await id("sheet-confirm").click();
    await is(page, "running");
    await server.complete(await server.claim("f.a"), {});
    await is(page, "completed");
    // Only a mismatch offers force, and only who types the key gets it.
    await server.must("POST", "/v1/workflows", { function: "changed", version: 1 });
    const mismatched = await start(server, "{}", "old-code", "changed"), task = await server.claim("changed");
    await server.report("commit", task, { revision: task.revision, outcome: "mismatch", error: 'version_mismatch: remembered is the step "charge", but the code asks for the step "check_limit"' });
    await visit("functions/changed/latest");
    await seen(page.locator(`[data-testid=mismatch-row][data-id="${mismatched}"]`).getByText("check_limit"));
    await visit(`instances/${mismatched}`);
    await is(page, "paused");
    await id("action-resume-force").click();
    await seen(id("sheet").getByText("everything else is executed anew and may be called twice"));
    await id("typed").fill("something else");
    assert.equal(await id("sheet-confirm").isDisabled(), true);
    await id("typed").fill("old-code");
    await id("sheet-confirm").click();
    await is(page, "running");
    const again = await server.claim("changed");
    assert.equal(again.forced, true);
    await server.report("commit", again, { revision: again.revision, outcome: "complete", output: 1 });
    await is(page, "completed");
    await gone(id("action-resume-force"));
});

shared("an action that came too late says how things stand", async (server, { page, id, open }) => {
    const instance = await start(server, '{"total": 1}', "slow-hand");
    await open(`instances/${instance}`);
    await id("action-pause").click();
    await server.must("POST", `/v1/instances/${instance}/abort`, { by: "bob", reason: "no" });
    await id("sheet-confirm").click();
    await seen(id("sheet").getByText("It has changed meanwhile: now aborted."));
    assert.equal(await id("sheet-confirm").isDisabled(), true);
    // It offers what can be done now, and nothing else.
    assert.deepEqual(await id("sheet-action").evaluateAll((all) => all.map((it) => it.dataset.action)), ["restart", "rerun", "start-again"]);
    await page.locator("[data-testid=sheet-action][data-action=restart]").click();
    await seen(page.locator("[data-testid=sheet][data-action=restart]").getByText("Begin anew from the original input?"));
    await id("sheet-confirm").click();
    await is(page, "running");
    await server.must("POST", `/v1/instances/${instance}/abort`, { by: "bob", reason: "no" });
    // The same of a job.
    const job = (await server.must("POST", "/v1/jobs", { type: "j.late" })).id;
    await open(`jobs/${job}`);
    await id("action-job-cancel").click();
    await server.complete(await server.claim("j.late"), {});
    await id("sheet-confirm").click();
    await seen(id("sheet").getByText("It has changed meanwhile: now succeeded."));
    assert.deepEqual(await id("sheet-action").evaluateAll((all) => all.map((it) => it.dataset.action)), ["job-delete"]);
    await id("sheet-cancel").click();
    // And of a dead letter that somebody else has requeued.
    const parked = await start(server, '{"total": 1}', "late-letter");
    await server.dead(await server.claim("t.reserve"), "too late");
    await open("dead");
    await page.locator("[data-testid=dead-row]").filter({ hasText: "late-letter" }).getByTestId("action-requeue").click();
    const record = (await server.must("GET", `/v1/dlq?instance=${parked}`)).items[0].id;
    await server.must("POST", `/v1/dlq/${record}/requeue`, {});
    await id("sheet-confirm").click();
    await seen(id("sheet").getByText("It has changed meanwhile: now running."));
    await page.locator("[data-testid=sheet-action][data-action=abort]").click();
    await id("reason").fill("enough");
    await id("by").fill("ada");
    await id("sheet-confirm").click();
    await until(async () => (await server.must("GET", `/v1/instances/${parked}`)).status === "aborted", "the abort");
}, { page: { refuses: [409] } });

shared("a job is cancelled, retried, and deleted", async (server, { page, id, open }) => {
    const job = (await server.must("POST", "/v1/jobs", { type: "j.three", key: "three" })).id;
    const stands = (status) => until(async () => (await server.must("GET", `/v1/jobs/${job}`)).status === status, status);
    await open(`jobs/${job}`);
    const act = async (action, sentence, buttons) => {
        await id(`action-${action}`).click();
        await seen(id("sheet").getByText(sentence));
        await becomes(() => id("sheet").locator(".command").textContent(), `cairn job ${action.slice(4)} ${job}`);
        await id("sheet-confirm").click();
        await gone(id("sheet"));
        for (const [other, isThere] of Object.entries(buttons)) await becomes(() => id(`action-${other}`).count(), isThere ? 1 : 0, `${action}: ${other}`);
    };
    await seen(id("action-job-delete"));
    assert.equal(await id("action-job-retry").count(), 0);
    await act("job-cancel", "Cancel? Its worker is told at its next heartbeat.", { "job-cancel": false, "job-retry": true });
    await stands("cancelled");
    await act("job-retry", "Make it pending again with fresh attempts?", { "job-cancel": true, "job-retry": false });
    await stands("pending");
    await act("job-delete", "Delete? It is no longer claimed nor listed.", { "job-cancel": false, "job-retry": false, "job-delete": false });
    await seen(page.locator("[data-testid=why][data-code=job_deleted]"));
    assert.equal((await server.must("GET", "/v1/jobs?type=j.three")).items.length, 0);
    assert.deepEqual((await server.must("POST", "/v1/tasks/claim", { worker: "w", types: ["j.three"] })).tasks, []);
});

shared("what failed is mended: the input is edited, and sent as it was typed", async (server, { page, id, open }) => {
    const instance = await start(server, '{"file": "prices.cvs", "n": 9007199254740993}', "mend");
    await server.dead(await server.claim("t.reserve"), "no such file");
    const record = (await server.must("GET", "/v1/dlq?limit=100")).items.find((it) => it.instance_id === instance).id;
    await open("");
    await id("search").fill(record);
    await page.locator(`[data-testid=search-result][data-id="${record}"]`).click();
    await seen(page.locator(`[data-testid=dead-record][data-id="${record}"]`).getByText("no such file"));
    await seen(id("dead-record").getByText("9007199254740993"));
    await open("dead");
    const row = page.locator("[data-testid=dead-row]").filter({ hasText: "prices.cvs" });
    await row.getByTestId("action-requeue-edit").click();
    const editor = id("json-editor");
    assert.match(await editor.inputValue(), /9007199254740993/);
    await editor.fill('{"file": "prices.csv", ');
    await seen(id("json-valid").getByText("line 1, column"));
    assert.equal(await id("sheet-confirm").isDisabled(), true);
    const typed = '{"file": "prices.csv",  "n": 9007199254740993, "x": 1.10}';
    await editor.fill(typed);
    await seen(id("json-diff").getByText('+   "file": "prices.csv"'));
    const request = page.waitForRequest((it) => it.url().endsWith("/requeue"));
    await id("sheet-confirm").click();
    assert.equal((await request).postData(), `{"input":${typed}}`);
    await seen(id("toast").getByText("with the new input"));
    const task = await server.claim("t.reserve");
    assert.equal(task.input.file, "prices.csv");
    await server.complete(task, { total: 1 });
    await server.complete(await server.claim("t.ship"), {});
    await until(async () => (await server.must("GET", `/v1/instances/${instance}`)).status === "completed", "the end");
    await gone(row);
}, { marked: true });

shared("two versions: compared, and the old one started", async (server, { page, id, open }) => {
    const file = (version, handler, more) => `workflow: ship_it\nversion: ${version}\nsteps:\n  - step: pack\n    handler: ${handler}\n${more}`;
    await deploy(server, file(1, "v.pack.v1", "  - step: label\n    handler: v.label\n"));
    await deploy(server, file(2, "v.pack.v2", "  - sleep: rest\n    for: 1h\n"));
    await open("workflows/ship_it/2");
    await id("compare").click();
    const item = (change, step) => page.locator(`[data-testid=diff-item][data-change=${change}][data-step=${step}]`);
    await seen(item("added", "rest"));
    await seen(item("removed", "label"));
    await seen(item("changed", "pack").getByText("v.pack.v2"));
    await open("workflows/ship_it/latest");
    await id("version-select").selectOption("1");
    await seen(page.locator("[data-testid=node][data-step=label]"));
    await id("action-start").click();
    await id("start-json").fill("{}");
    await id("start-confirm").click();
    await seen(id("instance"));
    await seen(page.locator("[data-testid=instance]").getByText("ship_it v1"));
    await id("tab-definition").click();
    await seen(id("definition").getByText("v.label").first());
    await open("workflows");
    await page.locator("[data-testid=workflow-row][data-name=ship_it]").getByTestId("action-start").click();
    await id("start-version").selectOption("1");
    await id("start-json").fill("{}");
    await id("start-key").fill("by-choice");
    await id("start-confirm").click();
    await seen(page.locator("[data-testid=instance]").getByText("ship_it v1"));
    assert.equal((await server.must("GET", "/v1/instances?q=by-choice")).items[0].version, 1);
    // A file with a flaw is not kept; the flaw is shown with its line.
    await open("workflows");
    await id("action-deploy").click();
    await id("deploy-text").fill("workflow: x\nversion: 1\nsteps:\n  - step: a\n    handlr: b\n");
    await id("sheet-confirm").click();
    await seen(page.locator("[data-testid=flaw][data-line='5']"));
}, { page: { refuses: [400] } });

const SCHEMA = {
    type: "object", required: ["customer", "total"], properties: {
        customer: { type: "string", title: "Customer", description: "who pays", pattern: "^[A-Z]", minLength: 2 }, total: { type: "number", minimum: 1 }, pays: { enum: ["card", "transfer"] }, isGift: { type: "boolean" },
        lines: { type: "array", items: { type: "string" } }, to: { type: "object", properties: { city: { type: "string" } } }, more: { oneOf: [{ type: "string" }, { type: "number" }] },
    },
};

shared("a form is made of the schema of the input, and what it does not understand is JSON", async (server, { page, id, visit }) => {
    await deploy(server, JSON.stringify({ workflow: "formed", version: 1, input: { schema: SCHEMA, example: { customer: "Ada", total: 1.5 } }, steps: [{ wait: "ever", event: "ever" }] }));
    await visit("workflows/formed/latest");
    await id("action-start").click();
    assert.equal(await id("field-customer").inputValue(), "Ada");
    await seen(id("sheet").getByText("who pays"));
    const names = await page.locator("[data-testid^='field-']").evaluateAll((all) => all.map((it) => it.getAttribute("data-testid")));
    assert.deepEqual(names.slice(0, 3), ["field-customer", "field-total", "field-isGift"]);   // as `required` has them, then by name
    assert.equal(await id("start-confirm").isDisabled(), false);
    await id("field-customer").fill("ada");
    await seen(id("sheet").getByRole("status").getByText(/customer/i));
    assert.equal(await id("start-confirm").isDisabled(), true);
    await id("field-customer").fill("Ada L.");
    await id("field-total").fill("");
    await id("field-total").pressSequentially("0.5");   // "0." on the way is no number; nothing else is lost
    assert.equal(await id("field-customer").inputValue(), "Ada L.");
    assert.equal(await id("start-confirm").isDisabled(), true);
    await id("field-total").fill("9007199254740993");
    await id("field-pays").selectOption("transfer");
    await id("field-isGift").check();
    await id("field-lines").fill("one\ntwo");
    await id("field-city").fill("Oslo");
    await id("field-more").fill("[1");
    assert.equal(await id("start-confirm").isDisabled(), true);
    await id("field-more").fill("7");
    await id("start-as-json").click();
    assert.match(await id("start-json").inputValue(), /9007199254740993/);
    await id("start-as-form").click();
    await id("start-key").fill("by-form");
    const request = page.waitForRequest((it) => it.method() === "POST" && it.url().endsWith("/v1/instances"));
    await id("start-confirm").click();
    assert.match((await request).postData(), /"total": ?9007199254740993/);
    await seen(id("instance"));
    const { items } = await server.must("GET", "/v1/instances?workflow=formed");
    assert.deepEqual({ ...items[0].input, total: 0 }, { customer: "Ada L.", total: 0, pays: "transfer", isGift: true, lines: ["one", "two"], to: { city: "Oslo" }, more: 7 });
});

const TOKENS = ["view", "produce", "work", "operate"].map((role) => `${role} secret-secret-secret-${role}-1 ${role}-ann\n`).join("");
const as = (role) => ({ Authorization: `Bearer secret-secret-secret-${role}-1` });
const guarded = group({ tokens: TOKENS });

/** Of each screen, the buttons that an operator has there; of others those that the table of roles gives them. */
const BUTTONS = {
    instance: { all: ["signal", "pause", "cancel", "abort", "restart", "rerun", "start-again"], produce: ["signal", "start-again"] },
    job: { all: ["job-cancel", "job-delete", "job-add"], produce: ["job-cancel", "job-add"] }, jobs: { all: ["job-add"], produce: ["job-add"] },
    approvals: { all: ["approve", "reject"], produce: [] }, dead: { all: ["requeue", "requeue-edit"], produce: [] },
    workflows: { all: ["start", "deploy"], produce: ["start"] }, workers: { all: ["type-disable"], produce: [] },
};

guarded("roles: who may only look sees no buttons, and the server refuses them", async (server, { page, id, open, visit }) => {
    const must = (method, path, body) => server.must(method, path, body, as("operate")), addresses = [];
    page.on("request", (it) => addresses.push(it.url()));
    await must("POST", "/v1/workflows", "workflow: plain\nversion: 1\nsteps:\n  - step: a\n    handler: r.a\n");
    await must("POST", "/v1/workflows", "workflow: asks\nversion: 1\nsteps:\n  - human: ok\n");
    await must("POST", "/v1/workflows", "workflow: parks\nversion: 1\ndlq: true\nsteps:\n  - step: a\n    handler: r.parks\n    max_attempts: 1\n");
    const begin = async (workflow) => (await must("POST", "/v1/instances", { workflow, key: `roles-${workflow}` })).id;
    const instance = await begin("plain"), asks = await begin("asks"), job = (await must("POST", "/v1/jobs", { type: "r.job", key: "roles" })).id;
    await begin("parks");
    const { tasks: [task] } = await must("POST", "/v1/tasks/claim", { worker: "w", types: ["r.parks"], wait_ms: 20_000 });
    await must("POST", `/v1/tasks/${task.id}/dead`, { worker: "w", token: task.token, error: "no luck" });
    await must("PUT", "/v1/registry/r.job", { runtime: "go" });
    const record = (await must("GET", "/v1/dlq")).items[0].id;
    const screens = { instance: `instances/${instance}`, job: `jobs/${job}`, jobs: "jobs", approvals: "approvals", dead: "dead", workflows: "workflows", workers: "workers" };
    const signs = { instance: "instance", job: "job", jobs: "job-row", approvals: "approval-card", dead: "dead-row", workflows: "workflow-row", workers: "type-row" };
    // What the buttons would send, and who may send it; what is allowed is not sent, but for the last one.
    const calls = [["POST", `/v1/instances/${instance}/pause`, {}], ["POST", `/v1/instances/${instance}/cancel`, { by: "x", reason: "y" }], ["POST", `/v1/instances/${instance}/abort`, { by: "x", reason: "y" }], ["POST", `/v1/instances/${instance}/restart`, {}],
                   ["DELETE", `/v1/jobs/${job}`], ["POST", `/v1/instances/${asks}/steps/ok/decision`, { decision: "confirmed" }], ["POST", `/v1/dlq/${record}/requeue`, {}], ["POST", "/v1/workflows", "workflow: x\nversion: 1\nsteps:\n  - sleep: s\n    for: 1h\n"],
                   ["PUT", "/v1/registry/r.job", { runtime: "go" }], ["POST", "/v1/bulk", { on: "jobs", action: "retry", filter: {}, dry_run: true }]];
    const ofProducers = [["POST", `/v1/instances/${instance}/signal`, { event: "e" }], ["POST", `/v1/jobs/${job}/cancel`, {}], ["POST", "/v1/jobs", { type: "r.x" }], ["POST", "/v1/instances", { workflow: "plain" }]];
    for (const role of ["view", "produce", "work", "operate"]) {
        await open(`instances/${instance}`);
        await seen(id("sign-in"));
        await id("token").fill(`secret-secret-secret-${role}-1`);
        await id("sign-in-confirm").click();
        await is(page, "running");
        await becomes(() => id("who").getAttribute("data-role"), role);
        await becomes(() => id("who").textContent(), `${role}-ann`);
        for (const [screen, path] of Object.entries(screens)) {
            const mayRead = role !== "work" || ["instance", "job", "jobs", "dead", "workflows"].includes(screen);
            // Entries that a role may not read are left out.
            if (["approvals", "dead", "workers"].includes(screen)) await becomes(() => id(`nav-${screen}`).count(), mayRead ? 1 : 0, `${role}: nav-${screen}`);
            if (!mayRead) continue;
            await visit(path);
            await seen(id(signs[screen]).first());
            const { all, produce } = BUTTONS[screen], shown = role === "operate" ? all : role === "produce" ? produce : [];
            for (const action of all) await becomes(async () => (await id(`action-${action}`).count()) > 0, shown.includes(action), `${role}: ${action} on ${screen}`);
            assert.equal(await page.locator("[data-testid=why-action]").evaluateAll((them, shown) => them.filter((it) => !["workers", "about", "limit", ...shown].includes(it.dataset.action)).length, shown), 0, `${role}: what a reason offers on ${screen}`);
        }
        await visit("jobs");
        await id("select-row").first().check();
        await becomes(() => page.locator("[data-testid=bulk-retry]").count(), role === "operate" ? 1 : 0, `${role}: bulk`);
        for (const [method, path, body] of [...calls, ...(role === "produce" ? [] : ofProducers)]) if (role !== "operate") assert.equal((await server.call(method, path, body, as(role))).status, 403, `${role}: ${method} ${path}`);
        assert.doesNotMatch(page.url(), /secret/);
        await id("sign-out").click();
        await seen(id("sign-in"));
    }
    // Without a token nothing is answered, and the token was in no address, nor is it kept when signed out.
    for (const [method, path, body] of [["GET", "/v1/instances"], ...calls, ...ofProducers]) assert.equal((await server.call(method, path, body)).status, 401, path);
    assert.deepEqual(addresses.filter((it) => it.includes("secret")), []);
    assert.equal(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]).includes("secret")), false);
}, { page: { refuses: [401, 403] } });

guarded("a wrong token is not known, a right one leads back; signing out reaches other tabs", async (server, { page, context, id, open }) => {
    await open("jobs");
    await seen(id("sign-in"));
    await id("token").fill("wrong-wrong-wrong-wrong-wrong-1");
    assert.equal(await id("token").getAttribute("type"), "password");
    await id("token-show").click();
    await becomes(() => id("token").getAttribute("type"), "text");
    assert.equal(await id("token").inputValue(), "wrong-wrong-wrong-wrong-wrong-1");
    await id("token-show").click();
    await becomes(() => id("token").getAttribute("type"), "password");
    await id("sign-in-confirm").click();
    await becomes(() => id("sign-in-error").textContent(), "This token is not known.");
    await id("token").fill("secret-secret-secret-operate-1");
    await id("keep").check();
    await id("sign-in-confirm").click();
    await seen(id("jobs"));
    assert.doesNotMatch(page.url(), /secret/);
    const other = await context.newPage();
    await other.goto(`${server.page}settings`);
    await seen(other.getByTestId("settings"));
    await id("sign-out").click();
    await seen(id("sign-in"));
    await seen(other.getByTestId("sign-in"));
    await other.close();
    // A browser that is forgotten has no token either, also none for this tab alone.
    await id("token").fill("secret-secret-secret-operate-1");
    await id("sign-in-confirm").click();
    await id("nav-settings").click();
    await id("forget").click();
    await id("sheet-confirm").click();
    await seen(id("sign-in"));
}, { page: { refuses: [401] } });

// ---- many at once ----------------------------------------------------------------------------------

/** So many dead letters of one step; the last ones have failed for another reason. */
async function fillDead(server, many, ofSecond) {
    await deploy(server, "workflow: imports\nversion: 1\ndlq: true\nsteps:\n  - step: read\n    handler: i.read\n    max_attempts: 1\n");
    const numbers = Array.from({ length: many }, (_, n) => n), worker = "tester";
    while (numbers.length) await Promise.all(numbers.splice(0, 50).map((n) => start(server, `{"n": ${n}, "file": "prices.cvs"}`, `import-${n}`, "imports")));
    for (let left = many; left > 0;) {
        const { tasks } = await server.must("POST", "/v1/tasks/claim", { worker, types: ["i.read"], max: 100, lease_ms: 600_000, wait_ms: 20_000 });
        const results = tasks.map((it) => ({ id: it.id, token: it.token, outcome: "dead", error: it.input.n < many - ofSecond ? "no such file" : "the disk is full" }));
        if (tasks.length) await server.must("POST", "/v1/tasks/report", { worker, results });
        left -= tasks.length;
    }
}

scenario("dead letters: one input for all, all requeued, all cancelled; failed jobs and instances beside them", async (server, { page, id, open }) => {
    await fillDead(server, 3, 1);
    await open("dead");
    const badge = (text) => becomes(() => id("badge-dead").textContent(), text, "the badge"), group = (n) => page.locator(`[data-testid=group][data-count="${n}"]`);
    const inputs = async () => (await server.must("POST", "/v1/tasks/claim", { worker: "tester", types: ["i.read"], max: 10, lease_ms: 600_000, wait_ms: 20_000 })).tasks;
    const done = async (text) => { await seen(page.locator("[data-testid=bulk-progress][data-status=done]").getByText(text)); await id("bulk-close").click(); };
    await badge("3");
    await group(2).getByTestId("group-edit").click();
    await id("edit-mode-patch").click();
    await becomes(() => id("json-editor").inputValue(), "{}");
    // A patch changes what it names, and leaves the rest of each as it is.
    await id("json-editor").fill('{"file": null, "mended": true}');
    await seen(id("edit-preview").getByText('+   "mended": true').first());
    assert.match(await id("edit-preview").textContent(), /−   "file": "prices\.cvs"/);
    assert.doesNotMatch(await id("edit-preview").textContent(), /−   "n"/);
    await id("edit-mode-replace").click();              // begins with what the first one has
    await until(async () => (await id("json-editor").inputValue()).includes("prices.cvs"), "the input of the first");
    await id("json-editor").fill('{"file": "all.csv", "n": 9007199254740993}');
    await seen(id("edit-preview").getByText("The first 2, before and after"));
    await seen(id("edit-preview").getByText('+   "file": "all.csv"').first());
    await id("by").fill("ada");
    await id("sheet-confirm").click();
    await done("Requeued 2.");
    await badge("1");
    let tasks = await inputs();
    while (tasks.length < 2) tasks = [...tasks, ...await inputs()];
    assert.deepEqual(tasks.map((it) => it.input.file), ["all.csv", "all.csv"]);
    for (const task of tasks) await server.dead({ ...task, worker: "tester" }, "no such file");
    await badge("3");
    // All again as they are; the other group is left alone.
    await group(2).getByTestId("group-requeue").click();
    await seen(id("sheet").getByText("About 2 dead letters match now; later ones are not touched. Each is called again with fresh attempts."));
    await id("sheet-confirm").click();
    await done("Requeued 2.");
    await badge("1");
    tasks = await inputs();
    while (tasks.length < 2) tasks = [...tasks, ...await inputs()];
    assert.deepEqual(tasks.map((it) => it.input.file), ["all.csv", "all.csv"]);
    for (const task of tasks) await server.complete({ ...task, worker: "tester" }, {});
    // The instances of a group are cancelled, and their letters are closed.
    await seen(group(1));
    await group(1).getByTestId("group-cancel").click();
    assert.equal(await id("sheet-confirm").isDisabled(), true);
    await id("reason").fill("given up");
    await id("sheet-confirm").click();
    await done("Cancelled 1.");
    await gone(id("badge-dead"));
    await seen(page.locator("[data-testid=empty][data-reason=done]"));
    assert.equal((await server.must("GET", "/v1/instances?status=cancelled")).items.length, 1);
    // What failed without being parked has its own tabs.
    await deploy(server, "workflow: brittle\nversion: 1\nsteps:\n  - step: a\n    handler: i.brittle\n    max_attempts: 1\n");
    const brittle = await start(server, "{}", "brittle-1", "brittle");
    await server.dead(await server.claim("i.brittle"), "it broke");
    const jobs = [];
    for (const key of ["first", "second"]) {
        jobs.push((await server.must("POST", "/v1/jobs", { type: "i.job", key })).id);
        await server.dead(await server.claim("i.job"), `${key === "first" ? "no paper" : "no ink"}`);
    }
    // From a tab with rows to another: those of one are not taken for those of the other.
    const parked = await start(server, "{}", "parked-1", "imports");
    await server.dead(await server.claim("i.read"), "no such file");
    await seen(page.locator("[data-testid=dead-row]").filter({ hasText: "parked-1" }));
    assert.ok(parked);
    await id("dead-tab-jobs").click();
    assert.match(page.url(), /tab=jobs/);
    await becomes(() => id("group").count(), 2);
    await seen(page.locator(`[data-testid=dead-row][data-id="${jobs[0]}"]`));
    await page.locator("[data-testid=group]").filter({ hasText: "no paper" }).getByTestId("group-retry").click();
    await id("sheet-confirm").click();
    await done("Retried 1.");
    await until(async () => (await server.must("GET", `/v1/jobs/${jobs[0]}`)).status === "pending", "the job again");
    await page.locator("[data-testid=group]").filter({ hasText: "no ink" }).getByTestId("group-delete").click();
    await id("sheet-confirm").click();
    await done("Deleted 1.");
    await seen(page.locator("[data-testid=empty][data-reason=done]"));
    assert.equal((await server.must("GET", "/v1/jobs?type=i.job")).items.length, 1);
    await id("dead-tab-instances").click();
    await seen(page.locator(`[data-testid=dead-row][data-id="${brittle}"]`));
    await id("group-retry").click();
    await id("sheet-confirm").click();
    await done("Retried 1.");
    await until(async () => (await server.must("GET", `/v1/instances/${brittle}`)).status === "running", "the instance again");
    await id("dead-tab-parked").click();
    assert.doesNotMatch(page.url(), /tab=/);
    await seen(page.locator("[data-testid=dead-tab-parked][aria-selected=true]"));
    await seen(page.locator("[data-testid=dead-row]").filter({ hasText: "parked-1" }));
    assert.equal(await id("crash").count(), 0);
});

scenario("300 dead letters in two groups: all of one are patched although the server is killed, the other is not touched", async (server, { page, id, open, sins }) => {
    await fillDead(server, 300, 20);
    await open("dead");
    const first = page.locator('[data-testid=group][data-count="280"]'), second = page.locator('[data-testid=group][data-count="20"]');
    await seen(first);
    await seen(second);
    await first.getByTestId("group-edit").click();
    await id("edit-mode-patch").click();
    await id("json-editor").fill('{"file": "prices.csv"}');
    await seen(id("edit-preview").getByText('+   "file": "prices.csv"').first());
    await id("by").fill("ada");
    await id("per_second").fill("70");                  // slow enough to be killed in the middle
    assert.equal(await id("sheet-confirm").isDisabled(), true);
    await id("typed").fill("280");
    await id("sheet").getByText("On the command line").click();
    await seen(id("sheet").getByText(/^cairn bulk requeue --on dlq --group [0-9a-f]+ --input-patch '\{"file": "prices.csv"\}' --by ada --per-second 70$/));
    await id("sheet-confirm").click();
    const progress = id("bulk-progress"), bulk = async () => (await server.must("GET", "/v1/bulk")).items[0];
    await seen(progress);
    await until(async () => (await bulk()).done > 0, "the first ones");
    await server.kill();
    await server.again();
    assert.notEqual((await bulk()).status, "failed");
    await seen(page.locator('[data-testid=bulk-progress][data-status=done][data-done="280"][data-skipped="0"]'));
    await seen(progress.getByText("Requeued 280."));
    await id("bulk-close").click();
    await gone(first);
    await seen(second);
    const inputs = [];
    for (let tasks = null; !tasks || tasks.length; inputs.push(...tasks)) ({ tasks } = await server.must("POST", "/v1/tasks/claim", { worker: "tester", types: ["i.read"], max: 100, lease_ms: 600_000 }));
    assert.deepEqual(inputs.map((it) => it.input.n).sort((a, b) => a - b), Array.from({ length: 280 }, (_, n) => n));
    assert.ok(inputs.every((it) => it.input.file === "prices.csv"));
    // Three of those that are chosen have been requeued by hand meanwhile: they are skipped, and it says why.
    await becomes(() => second.getByTestId("select-row").count(), 20);
    for (const box of await second.getByTestId("select-row").all()) await box.check();
    await id("bulk-requeue").click();
    await seen(id("sheet").getByText("20 dead letters are selected."));
    const records = (await server.must("GET", "/v1/dlq?limit=100")).items.map((it) => it.id);
    for (const record of records.slice(0, 3)) await server.must("POST", `/v1/dlq/${record}/requeue`, {});
    await id("sheet-confirm").click();
    await seen(page.locator('[data-testid=bulk-progress][data-status=done][data-done="17"][data-skipped="3"]'));
    await seen(progress.getByText(/3 skipped: 3 wrong state/));
    await becomes(() => id("bulk-skipped").count(), 3);
    // Every try while the server was away is noted by the browser.
    const others = sins.filter((it) => !/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/.test(it));
    sins.length = 0;
    assert.deepEqual(others, []);
});
