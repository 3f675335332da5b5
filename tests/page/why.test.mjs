// why.test.mjs - each reason why something has not ended, or how it ended: shown with its sentence and its first action.
//
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { deploy, start } from "./flows.mjs";
import { becomes, gone, group, scenario, seen, until } from "./rig.mjs";

const FLOWS = {
    w_task: "  - step: a\n    handler: w.task\n    max_attempts: 3\n    retry: {backoff: fixed, base: 1h}\n",
    w_once: "  - step: a\n    handler: w.once\n    max_attempts: 1\n",
    w_sleep: "  - sleep: rest\n    for: 1h\n",
    w_wait: "  - wait: paid\n    event: paid\n    timeout: 1d\n",
    w_human: "  - human: ask\n    timeout: 1d\n",
    w_off: "  - step: a\n    handler: w.off\n",
    w_none: "  - step: a\n    handler: w.none\n",
    w_runtime: "  - step: a\n    handler: w.runtime\n",
    w_room: "  - step: a\n    handler: w.room\n",
    w_pauses: "  - step: a\n    handler: w.pauses\n    max_attempts: 1\n    on_failure: pause_workflow\n",
    w_undo: "  - step: a\n    handler: w.undo\n    compensation: {handler: w.undone, max_attempts: 1}\n  - step: b\n    handler: w.late\n    max_attempts: 1\n",
    w_two: "  - step: a\n    handler: w.two\n  - step: b\n    handler: w.two\n",
    w_choice: '  - condition: is_large\n    when: "{{ gt .total 10 }}"\n    then:\n      - step: check\n        handler: w.never\n  - wait: paid\n    event: paid\n',
    w_any: "  - fork: race\n    join: any\n    branches:\n      - [{step: quick, handler: w.quick}]\n      - [{wait: slow, event: never}]\n",
    w_all: "  - fork: both\n    join: all\n    branches:\n      - [{wait: one, event: one}]\n      - [{wait: two, event: two}]\n",
    w_child: "  - start: bill\n    workflow: w_held\n",
    w_held: "  - wait: paid\n    event: paid\n",
    w_map: '  - map: all\n    over: "{{ .list }}"\n    steps:\n      - wait: paid\n        event: paid\n',
    w_limited: "  - step: a\n    handler: w.limited\n",
    w_on: "  - step: a\n    handler: w.on\n    max_attempts: 1\n    on_failure: continue\n",
};

/** Ways to rows of the table of reasons: the code that is expected, and how to get there.  One builds on another where it says so.
 *  Left out is what is over before anybody can ask (start_due, settling, undo_gap), and what only is so while no process
 *  runs timers, which a server does (start_overdue, lease_over, lease_stuck, timer_over, settled_oddly, unclaimed). */
const REASONS = {
    unknown: (s) => s.instance("w_none"),               // a server in its first minute
    unserved: async (s) => { await s.advance(61_000); return s.last; },
    no_runtime: async (s) => { await s.must("PUT", "/v1/registry/w.runtime", { runtime: "cobol" }); await s.must("POST", "/v1/tasks/claim", { worker: "gopher", types: ["w.x"], runtime: "go" }); return s.instance("w_runtime"); },
    type_off: async (s) => { await s.must("PUT", "/v1/registry/w.off", { runtime: "go", is_enabled: false, description: "left as it is" }); return s.instance("w_off"); },
    about_to: async (s) => { await s.must("POST", "/v1/tasks/claim", { worker: "eager", types: ["w.room"] }); return s.instance("w_room"); },
    busy: async (s) => { await s.advance(5000); return s.last; },
    starts_later: async (s) => s.instance("w_task", { start_at: await s.in(86_400_000) }),
    working: async (s) => { const it = await s.instance("w_task"); s.task = await s.claim("w.task"); return it; },
    completed: async (s) => { await s.complete(s.task, { done: true }); return s.last; },
    step_done: (s) => ({ ...s.last, step: "a" }),
    retry_later: async (s) => { const it = await s.instance("w_task"); await s.fail(await s.claim("w.task"), "the bank is closed"); return it; },
    given_back: async (s) => { const it = await s.instance("w_task"); await s.report("release", await s.claim("w.task"), { delay_ms: 3_600_000 }); return it; },
    handler_event: async (s) => { const it = await s.instance("w_task"); await s.report("wait", await s.claim("w.task"), { event: "paid", timeout_ms: 3_600_000 }); return it; },
    failed: async (s) => { const it = await s.instance("w_once"); await s.fail(await s.claim("w.once"), "no luck"); return it; },
    step_failed: (s) => ({ ...s.last, step: "a" }),
    parked: async (s) => { const it = await s.instance("w_dlq"); await s.dead(await s.claim("w.dlq"), "no such file"); return it; },
    parked_step: (s) => ({ ...s.last, step: "a" }),
    limited: async (s) => { await s.must("PUT", "/v1/limits/w_limit", { types: "w.limited", concurrency: 1 }); await s.instance("w_limited"); await s.claim("w.limited"); return s.instance("w_limited"); },
    paused_failure: async (s) => { const it = await s.instance("w_pauses"); await s.dead(await s.claim("w.pauses"), "no luck"); return it; },
    paused_by: async (s) => { const it = await s.instance("w_sleep"); await s.must("POST", `/v1/instances/${it.id}/pause`, { by: "ada", reason: "a look first" }); return it; },
    held: (s) => s.last,
    paused_draining: async (s) => { const it = await s.instance("w_task"); await s.claim("w.task"); await s.must("POST", `/v1/instances/${it.id}/pause`, { by: "ada", reason: "r" }); return it; },
    paused_mismatch: async (s) => {
        await s.must("POST", "/v1/workflows", { function: "w_fn", version: 1 });
        const it = await s.instance("w_fn"), task = await s.claim("w_fn");
        await s.report("commit", task, { revision: task.revision, outcome: "mismatch", error: 'version_mismatch: remembered is the step "charge", but the code asks for the step "check_limit"' });
        return it;
    },
    sleep: (s) => s.instance("w_sleep"),
    child: async (s) => { const it = await s.instance("w_child"); await s.advance(1); return it; },          // the next commit starts it
    mapping: async (s) => { const it = await s.instance("w_map", { input: { list: [1, 2] } }); await s.advance(1); return it; },
    event: (s) => s.instance("w_wait"),
    decision: (s) => s.instance("w_human"),
    decided: async (s) => { await s.must("POST", `/v1/instances/${s.last.id}/steps/ask/decision`, { decision: "confirmed", by: "carla", comment: "fine" }); return { ...s.last, step: "ask" }; },
    rejected: async (s) => { const it = await s.instance("w_human"); await s.must("POST", `/v1/instances/${it.id}/steps/ask/decision`, { decision: "rejected", by: "carla", comment: "too dear" }); return it; },
    aborted: async (s) => { const it = await s.instance("w_wait"); await s.must("POST", `/v1/instances/${it.id}/abort`, { by: "bob", reason: "wrong one" }); return it; },
    stopped: (s) => ({ ...s.last, step: "paid" }),
    cancelled: async (s) => { const it = await s.instance("w_wait"); await s.must("POST", `/v1/instances/${it.id}/cancel`, { by: "bob", reason: "no longer wanted" }); return it; },
    stopping: async (s) => { const it = await s.instance("w_task"); await s.claim("w.task"); await s.must("POST", `/v1/instances/${it.id}/cancel`, { by: "bob", reason: "enough" }); return it; },
    told_to_stop: (s) => s.last,
    undoing: async (s) => {
        const it = await s.instance("w_undo");
        await s.complete(await s.claim("w.undo"), {});
        await s.dead(await s.claim("w.late"), "no carrier");
        return it;
    },
    undo_failed: async (s) => { await s.dead(await s.claim("w.undone"), "the bank is closed"); return s.last; },
    undone: async (s) => {
        const it = await s.instance("w_undo");
        await s.complete(await s.claim("w.undo"), {});
        await s.dead(await s.claim("w.late"), "no carrier");
        await s.complete(await s.claim("w.undone"), {});
        return { ...it, step: "a" };
    },
    not_yet: async (s) => ({ ...await s.instance("w_two"), step: "b" }),
    not_taken: async (s) => ({ ...await s.instance("w_choice", { input: { total: 1 } }), step: "check" }),
    superseded: async (s) => { const it = await s.instance("w_any"); await s.complete(await s.claim("w.quick"), {}); return { ...it, step: "slow" }; },
    joining: async (s) => ({ ...await s.instance("w_all"), step: "both_join" }),
    went_on: async (s) => { const it = await s.instance("w_on"); await s.dead(await s.claim("w.on"), "no luck"); return { ...it, step: "a" }; },
    job_later: async (s) => s.job({ type: "w.job", run_at: await s.in(86_400_000) }),
    job_ready: (s) => s.job({ type: "w.job1" }),
    job_leased: async (s) => { const it = await s.job({ type: "w.job2" }); s.task = await s.claim("w.job2"); return it; },
    job_succeeded: async (s) => { await s.complete(s.task, {}); return s.last; },
    job_failed: async (s) => { const it = await s.job({ type: "w.job3" }); await s.dead(await s.claim("w.job3"), "customer 404 does not exist"); return it; },
    job_retry: async (s) => { const it = await s.job({ type: "w.job4" }); await s.report("retry", await s.claim("w.job4"), { error: "at lunch", delay_ms: 3_600_000 }); return it; },
    job_cancelled: async (s) => { const it = await s.job({ type: "w.job5" }); await s.must("POST", `/v1/jobs/${it.id}/cancel`); return it; },
    job_deleted: async (s) => { const it = await s.job({ type: "w.job6" }); await s.must("DELETE", `/v1/jobs/${it.id}`); return it; },
};

/** What is done next, where a reason was seen. */
const THEN = {
    working: async (s, { page, visit }, it) => {
        await visit(`instances/${it.id}?tab=steps&step=0`);
        await seen(page.getByTestId("drawer").locator("[data-testid=attempt-row][data-outcome=running]"));
    },
    type_off: async (s, { page, id }) => {
        await page.locator("[data-testid=why][data-code=type_off] [data-testid=why-action][data-action=type-enable]").first().click();
        await becomes(() => id("sheet").locator(".command").textContent(), "cairn registry set w.off --runtime go --enable --description 'left as it is'");
        await id("sheet-confirm").click();
        await gone(id("sheet"));
        const entry = (await s.must("GET", "/v1/registry?limit=1000")).items.find((one) => one.workflow_name === "w.off");
        assert.deepEqual([entry.runtime, entry.is_enabled, entry.description], ["go", true, "left as it is"]);
    },
};

/** These are no buttons: the page goes there by links of its own. */
const LINKS = ["workers", "about", "doctor", "work", "copy"];
const flat = (text) => text.replace(/\s+/g, " ");

function toolsOf(server) {
    const tools = {
        ...server, last: null,
        instance: async (workflow, more = {}) => (tools.last = { kind: "instance", id: (await server.must("POST", "/v1/instances", { workflow, input: {}, ...more })).id }),
        job: async (spec) => (tools.last = { kind: "job", id: (await server.must("POST", "/v1/jobs", spec)).id }),
        advance: (ms) => server.must("POST", "/v1/clock/advance", { ms }),
        in: async (ms) => new Date(Date.parse((await server.must("GET", "/v1/clock")).now) + ms).toISOString(),
    };
    return tools;
}

/** What the server says, once it says this. */
async function reasonOf(server, it, code) {
    const steps = it.step ? (await server.must("GET", `/v1/instances/${it.id}/steps?view=row&limit=100`)).items : [], step = steps.find((row) => row.name === it.step);
    if (it.step) assert.ok(step, `${code}: a step ${it.step} among ${steps.map((row) => row.name)}`);
    let last = [];
    const why = await until(async () => {
        const whys = step ? [(await server.must("GET", `/v1/steps/${step.id}`)).why] : it.kind === "job" ? [(await server.must("GET", `/v1/jobs/${it.id}`)).why] : (await server.must("GET", `/v1/instances/${it.id}/why`)).items;
        last = whys.filter(Boolean);
        return last.find((one) => one.code === code);
    }, `the reason ${code}`).catch((reason) => { throw new Error(`${reason.message}: ${JSON.stringify(last)}`); });
    return { why, seq: step?.seq };
}

scenario("every reason is shown with its sentence, and the command line says the same", async (server, { page, id, visit }) => {
    for (const [name, body] of Object.entries(FLOWS)) await deploy(server, `workflow: ${name}\nversion: 1\nsteps:\n${body}`);
    await deploy(server, "workflow: w_dlq\nversion: 1\ndlq: true\nsteps:\n  - step: a\n    handler: w.dlq\n    max_attempts: 1\n");
    const tools = toolsOf(server);
    for (const [code, make] of Object.entries(REASONS)) {
        const it = await make(tools), { why, seq } = await reasonOf(server, it, code);
        await visit(`${it.kind}s/${it.id}${it.step ? `?tab=steps&step=${seq}` : ""}`);
        const screen = page.locator(`[data-testid=${it.kind}][data-id="${it.id}"]`);
        const box = (it.step ? page.getByTestId("drawer") : screen).locator(`[data-testid=why][data-code=${code}]`).first();
        await seen(screen);
        await seen(box);
        // Times are shown in the page's own way; the words between them are the server's.
        const missing = async () => { const shown = await box.getByTestId("why-text").textContent(); return why.template.split(/\{\w+\}/).map((words) => words.trim()).filter((part) => part && !shown.includes(part)); };
        await becomes(missing, [], `${code}: words that the page leaves out`);
        // With each time as the server writes it, it is the server's sentence.
        const whole = () => box.getByTestId("why-text").evaluate((it) => { const copy = it.cloneNode(true); for (const time of copy.querySelectorAll("time")) time.replaceWith(time.getAttribute("datetime")); for (const one of copy.querySelectorAll("[data-id]")) one.replaceWith(one.getAttribute("data-id")); return copy.textContent; });
        await becomes(whole, why.text, `${code}: the sentence`);
        const first = why.actions[0]?.action;
        if (first && !LINKS.includes(first)) assert.equal(await box.getByTestId("why-action").first().getAttribute("data-action"), first, code);
        if (it.step) {
            const step = flat(await server.cli("step", `${it.id}.${seq}`));
            assert.ok(step.includes(flat(why.text)), `${code}: cairn step says "${why.text}": ${step}`);
            continue;
        }
        const said = flat(await server.cli("why", it.id)), isFirst = it.kind === "job" || (await server.must("GET", `/v1/instances/${it.id}`)).why.code === code;
        assert.ok(said.includes(flat(why.text)), `${code}: cairn why says "${why.text}": ${said}`);
        const told = isFirst ? flat(await server.cli(...(it.kind === "job" ? ["job", "show"] : ["show"]), it.id)) : null;
        if (isFirst) for (const part of why.text.split(/\S*\d{4}-\d\d-\d\dT\S+Z/).map((words) => flat(words).trim()).filter((words) => words.length > 3))
            assert.ok(told.includes(part.replace(/[.,;]$/, "")), `${code}: cairn show says "${part}": ${told}`);
        await THEN[code]?.(tools, { page, id, visit }, it);
    }
    assert.equal(Object.keys(REASONS).length, 51);
}, { options: ["--virtual-clock"] });

const own = group();

own("where the instances of a function stand: called, sleeping, waiting, retrying, paused", async (server, { page, id, open }) => {
    await server.must("POST", "/v1/workflows", { function: "stands", version: 1 });
    /** Starts one, and leaves it with this remembered step. */
    const leave = async (key, step) => {
        const instance = await start(server, "{}", key, "stands"), task = await server.claim("stands");
        await server.report("commit", task, { revision: task.revision, outcome: "suspend", steps: [{ seq: 1, key: "one", ...step }] });
        return instance;
    };
    await leave("naps", { kind: "sleep", status: "waiting", delay_ms: 3_600_000 });
    await leave("naps too", { kind: "sleep", status: "waiting", delay_ms: 3_600_000 });
    await leave("hopes", { kind: "wait", status: "waiting", event: "never", timeout_ms: 3_600_000 });
    await leave("tries", { kind: "task", status: "ready", attempts: 1, max_attempts: 3, delay_ms: 3_600_000, error: "the bank is closed" });
    const held = await leave("held", { kind: "sleep", status: "waiting", delay_ms: 3_600_000 });
    await server.must("POST", `/v1/instances/${held}/pause`, {});
    await start(server, "{}", "called", "stands");
    await server.must("POST", "/v1/tasks/claim", { worker: "vanishes", types: ["stands"], lease_ms: 1000 });
    await server.claim("stands"); // waits until that lease is over
    await open("functions");
    const stands = async (of) => Object.fromEntries(await Promise.all(["running", "sleeping", "waiting", "retrying", "lost", "paused"].map(async (it) => [it, await of.getByTestId(`stands-${it}`).locator("b").or(of.locator(`td[data-testid=stands-${it}]`)).textContent()])));
    const row = page.locator("[data-testid=function-row][data-name=stands]");
    await until(async () => (await row.getByTestId("stands-sleeping").textContent()) === "2", "the figures");
    const expected = { running: "1", sleeping: "2", waiting: "1", retrying: "1", lost: "0", paused: "1" };
    await becomes(() => stands(row), expected);
    await becomes(() => row.getByTestId("lost-24h").textContent(), "1");
    await row.getByRole("link").first().click();
    await until(async () => (await id("stands-sleeping").textContent()).startsWith("2"), "the tiles");
    await becomes(() => stands(id("function")), expected);
    await id("stands-sleeping").click();
    await seen(page.locator("[data-testid=chip][data-name=stand][data-value=sleeping]"));
    await until(async () => (await id("instance-row").count()) === 2, "those that sleep");
});

own("what failed leads to all that failed alike", async (server, { page, id, open }) => {
    await deploy(server, "workflow: alike\nversion: 1\nsteps:\n  - step: a\n    handler: a.a\n    max_attempts: 1\n");
    const ids = [];
    for (const error of ["card 17 refused", "card 18 refused", "no <b>such</b> account"]) {
        ids.push(await start(server, "{}", `alike-${error}`, "alike"));
        await server.fail(await server.claim("a.a"), error);
    }
    await open(`instances/${ids[1]}`);
    await seen(id("same-error").getByText("2 have failed alike"));
    const group = await id("same-error").getAttribute("data-group");
    await id("same-error").click();
    await seen(page.locator(`[data-testid=group][data-group="${group}"][data-count="2"]`));
    await becomes(() => id("group").count(), 1);
    await until(async () => (await id("dead-row").count()) === 2, "both");
    await page.locator("[data-testid=chip][data-name=group]").click();
    await until(async () => (await id("group").count()) === 2, "all groups");
    await open(`instances/${ids[2]}`);
    await seen(id("same-error").getByText("Errors like this"));
    assert.notEqual(await id("same-error").getAttribute("data-group"), group);
    await open("instances?workflow=alike");
    await until(async () => (await id("instance-row").count()) === 3, "the rows");
    assert.deepEqual(await page.locator("th").evaluateAll((all) => all.filter((it) => it.textContent === "calls").length), 1);
    assert.equal(await id("instance-row").locator("td.num", { hasText: /^1(\/1)?$/ }).count(), 3);
});
