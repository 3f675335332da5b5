// ways.test.mjs - ways through the page: from a list to one of it and back, and what a screen looks like on the way.
//
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { deploy, ownOrder, start } from "./flows.mjs";
import { becomes, gone, group, scenario, seen, until } from "./rig.mjs";

const shared = group();
const placeOf = (page) => page.evaluate(() => ({ y: Math.round(scrollY), rows: document.querySelectorAll("[data-testid=job-row]").length }));

scenario("who comes back to a list finds it as it was: rows, place, filter, focus", async (server, { page, id, open }) => {
    for (let at = 0; at < 120; at++) await server.must("POST", "/v1/jobs", { type: "v.back", key: `back-${1000 + at}` });
    await open("jobs?status=pending");
    await becomes(() => id("job-row").count(), 50);
    await id("older").click();
    await becomes(() => id("job-row").count(), 100);
    const row = page.locator("[data-testid=job-row]").filter({ hasText: "back-1040" });
    await row.scrollIntoViewIfNeeded();
    const before = await placeOf(page), job = await row.getAttribute("data-id");
    assert.ok(before.y > 500);
    for (const back of [() => page.keyboard.press("Escape"), () => page.goBack(), () => page.locator(".crumbs a").click()]) {
        await row.locator("a.row-link").click();
        await seen(id("job"));
        await back();
        await becomes(() => placeOf(page), before, "rows and place");
        assert.match(page.url(), /\/jobs\?status=pending$/);
        await becomes(() => page.evaluate(() => document.activeElement.closest("tr")?.dataset.id), job, "the row that was opened has the focus");
    }
    // What has happened meanwhile is seen.
    await row.locator("a.row-link").click();
    await seen(id("job"));
    await server.must("POST", `/v1/jobs/${job}/cancel`);
    await server.must("POST", "/v1/jobs", { type: "v.back", key: "back-new" });
    await page.keyboard.press("Escape");
    await becomes(() => row.getAttribute("data-status"), "cancelled");
    await becomes(() => row.getAttribute("data-stale"), "true");
    await becomes(() => id("news-pill").getAttribute("data-count"), "1");
    // Who asks for the list anew gets it from its beginning.
    await id("nav-jobs").click();
    await becomes(() => id("job-row").count(), 50);
});

shared("Esc leads back to the list, whatever was looked at, and never away from the page", async (server, { page, id, open }) => {
    const instance = await start(server, '{"total": 1}', "esc-1");
    await open("instances?q=esc-1");
    await page.locator("a.row-link").click();
    await id("tab-steps").click();
    await id("step-row").first().locator("a.row-link").click();
    await seen(id("drawer"));
    await page.keyboard.press("Escape");
    await gone(id("drawer"));
    await page.keyboard.press("Escape");
    await seen(id("instances"));
    assert.match(page.url(), /\/instances\?q=esc-1$/);
    // Whoever came by a link has no list to go back to, and gets all of them.
    await page.goto("about:blank");
    await open(`instances/${instance}`);
    await seen(id("instance"));
    await page.keyboard.press("Escape");
    await seen(id("instances"));
    assert.match(page.url(), /\/instances$/);
});

scenario("the overview says nothing that is not so: jobs that have ended, a workflow to start, a worker's token", async (server, { page, id, open }) => {
    const as = (role) => ({ Authorization: `Bearer secret-secret-secret-${role}-1` });
    const signIn = async (role) => { await page.evaluate((token) => sessionStorage.setItem("cairn.token", token), `secret-secret-secret-${role}-1`); await open(""); };
    await open("sign-in");
    await seen(id("sign-in"));
    await signIn("operate");
    const isNew = page.locator("[data-testid=empty][data-reason=new]"), startButton = isNew.getByRole("button", { name: "Start an instance" });
    await seen(isNew);
    assert.equal(await startButton.count(), 0, "nothing can be started");
    await server.must("POST", "/v1/workflows", "workflow: first\nversion: 1\nsteps:\n  - wait: w\n    event: e\n", as("operate"));
    await open("");
    await seen(startButton);
    const { id: job } = await server.must("POST", "/v1/jobs", { type: "v.over" }, as("operate"));
    await seen(id("overview"));
    await server.must("POST", `/v1/jobs/${job}/cancel`, undefined, as("operate"));
    await open("");
    await seen(id("overview"));
    assert.equal(await isNew.count(), 0, "a job was recorded");
    // What a role may not ask for is not said to be nothing.
    await signIn("work");
    await seen(id("overview"));
    assert.equal(await page.getByText(/Nothing waits|Nothing has failed|live worker|All is well/).count(), 0);
}, { tokens: ["work", "operate"].map((role) => `${role} secret-secret-secret-${role}-1 ${role}-ann\n`).join("") });

shared("what a screen says can be read: calls, events, notes, workers, plans", async (server, { page, id, open, visit }) => {
    const instance = await ownOrder(server, "v", '{"total": 1}', "look-1"), worker = "worker-of-the-night-shift";
    const claim = async (type) => ({ ...(await server.must("POST", "/v1/tasks/claim", { worker, types: [type], wait_ms: 20_000 })).tasks[0], worker });
    await server.complete(await claim("v.reserve"), { total: 1 });
    await server.fail(await claim("v.ship"), `no carrier goes there: ${"the road is closed, ".repeat(8)}`);
    // A call in the drawer has one line, but for its error.
    await open(`instances/${instance}?tab=steps&step=0`);
    const call = id("drawer").getByTestId("attempt-row").first();
    await seen(call);
    assert.ok((await call.boundingBox()).height < 50, "one line");
    await page.keyboard.press("Escape");
    // The tables of steps and events are as wide as the screen, however long a note or the data.
    const isWithin = (locator) => locator.evaluate((it) => it.scrollWidth <= it.clientWidth + 1);
    await seen(id("steps"));
    assert.ok(await isWithin(page.locator(".table-wrap").filter({ has: id("steps") })), "steps");
    await visit(`instances/${instance}?tab=events`);
    await seen(id("event-row").first());
    assert.ok(await isWithin(id("events").locator(".table-wrap")), "events");
    // "since" is followed by a moment, not by "4 s ago".
    await deploy(server, "workflow: look_on\nversion: 1\nsteps:\n  - step: a\n    handler: v.on\n");
    const busy = await start(server, "{}", "look-2", "look_on");
    await server.claim("v.on");
    await visit(`instances/${busy}`);
    await until(async () => /tester works on a since \d+ \w+ \d\d:\d\d:\d\d \(/.test(await id("why-text").first().textContent()), "a moment behind since");
    // A plan by itself is drawn with whole lines: none of it was left out.
    await visit("workflows/look_on/latest");
    await becomes(() => id("node").first().locator(".shape").evaluate((it) => getComputedStyle(it).strokeDasharray), "none");
    // A worker's tasks have the names that people know.
    await visit("workers");
    const row = page.locator("[data-testid=worker-row][data-name=tester]");
    await seen(row);
    if (await row.getByRole("button").getAttribute("aria-expanded") === "false") await row.getByRole("button").click();
    await seen(page.locator("[data-testid=worker-task]").filter({ hasText: "look-2" }));
});

shared("a list of jobs counts calls as the command line does, and a parked instance says so once", async (server, { page, id, open, visit }) => {
    const { id: job } = await server.must("POST", "/v1/jobs", { type: "v.counted", key: "counted" });
    await server.complete(await server.claim("v.counted"), {});
    await open("jobs?q=counted");
    const row = page.locator(`[data-testid=job-row][data-id="${job}"]`), calls = /\b1\/3\b/;
    await until(async () => calls.test((await row.locator("td").allTextContents()).join(" ")), "one call");
    assert.match(await server.cli("job", "list", "--type", "v.counted"), calls);
    const parked = await ownOrder(server, "u", '{"total": 1}', "parked-once");
    await server.dead(await server.claim("u.reserve"), "no such account");
    await visit(`instances/${parked}`);
    await seen(page.locator("[data-testid=why][data-code=parked]"));
    await becomes(() => page.locator("section.why-box > [data-testid=why]").count(), 1);
    await visit(`instances/${parked}?step=0`);
    await seen(id("drawer").locator("[data-testid=why][data-code=parked_step]"));
});

shared("of a long list of approvals more can be asked for", async (server, { page, id, open }) => {
    await deploy(server, "workflow: many_asked\nversion: 1\nsteps:\n  - human: ask\n");
    await Promise.all(Array.from({ length: 103 }, (_, at) => start(server, "{}", `asked-${at}`, "many_asked")));
    await open("approvals?workflow=many_asked");
    await becomes(() => id("approval-card").count(), 100);
    await id("older").click();
    await becomes(() => id("approval-card").count(), 103);
    await gone(id("older"));
});
