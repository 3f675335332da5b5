// children.test.mjs - instances that start others: children, the elements of maps, and reruns.
//
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { deploy, start } from "./flows.mjs";
import { axeSource, becomes, flawsOf, gone, group, seen, until } from "./rig.mjs";

const shared = group();
const HOSTILE = "<img src=x onerror=alert(1)>\u202e{{x}}";

/** prep, then a child, then a map whose elements call TAG.send. */
const parentOf = (tag, parallel = 2) => `workflow: p_${tag}
version: 1
steps:
  - step: prep
    handler: ${tag}.prep
  - start: bill
    workflow: b_${tag}
  - map: mails
    over: "{{ .list }}"
    max_parallel: ${parallel}
    steps:
      - step: send
        handler: ${tag}.send
        max_attempts: 1
`;

async function family(server, tag, list, parallel) {
    await deploy(server, parentOf(tag, parallel));
    await deploy(server, `workflow: b_${tag}\nversion: 1\nsteps:\n  - step: charge\n    handler: ${tag}.charge\n`);
    return start(server, JSON.stringify({ list }), `parent-${tag}`, `p_${tag}`);
}

const childrenOf = async (server, id) => (await server.must("GET", `/v1/instances?parent=${id}&view=row`)).items;

shared("a child stands below its step, and each leads to the other", async (server, { page, id, open }) => {
    const parent = await family(server, "c", [1]), input = { list: [1] };
    await page.addInitScript(axeSource());
    await open(`instances/${parent}?tab=steps`);
    await seen(page.locator("[data-testid=step-row][data-step=bill][data-status=pending]"));
    assert.equal(await id("child-row").count(), 0);
    await server.complete(await server.claim("c.prep"), input);
    const row = page.locator("[data-testid=child-row][data-status=running][data-of=bill]");
    await seen(row.getByText("b_c v1"));
    const [child] = await childrenOf(server, parent);
    assert.equal(await row.getAttribute("data-id"), child.id);
    await seen(page.locator("[data-testid=why][data-code=child]").first());
    assert.deepEqual(await flawsOf(page), []);
    await id("why-link").first().click();
    await until(() => page.url().endsWith(`/instances/${child.id}`), "the child's own screen");
    const up = page.locator(`[data-testid=parent][data-id="${parent}"]`);
    await seen(up.getByText("parent-c"));
    await seen(page.locator("[data-testid=parent-status][data-status=running]"));
    await seen(page.locator("[data-testid=node][data-step=charge]"));
    await up.click();
    await seen(page.locator("[data-testid=node][data-step=bill][data-kind=start]"));

    // Its end is seen without a reload, in the row and in the drawer.
    await id("tab-steps").click();
    await server.complete(await server.claim("c.charge"), input);
    await seen(page.locator("[data-testid=child-row][data-status=completed]"));
    await page.locator("[data-testid=step-row][data-step=bill] a").click();
    await seen(id("drawer").locator(`[data-testid=child-row][data-id="${child.id}"][data-status=completed]`));
    await id("drawer").getByTestId("child-row").getByRole("link").click();
    await seen(page.locator("[data-testid=instance-status][data-status=completed]"));

    // The list may leave out what was started by others.
    await page.goto(`${server.page}instances`);
    const childInList = page.locator(`[data-testid=instance-row][data-id="${child.id}"]`);
    await seen(childInList);
    await id("filter-roots").click();
    await gone(childInList);
    await seen(page.locator(`[data-testid=instance-row][data-id="${parent}"]`));
    assert.match(page.url(), /parent=none/);

    // A new version of the workflow is compared and drawn with what a map does for each element.
    await page.goto(`${server.page}workflows/p_c/1`);
    await seen(page.locator("[data-testid=node][data-step=send][data-kind=task]"));
    await id("tab-handlers").click();
    await seen(page.locator("[data-testid=handler-row][data-type='c.send']"));
}, { marked: true });

shared("the elements of a map: counts, those of a status, each opens its instance", async (server, { page, id, open }) => {
    const parent = await family(server, "m", [HOSTILE, "two", "three"]);
    await page.addInitScript(axeSource());
    await server.complete(await server.claim("m.prep"), { list: [HOSTILE, "two", "three"] });
    await server.complete(await server.claim("m.charge"), { list: [HOSTILE, "two", "three"] });
    await open(`instances/${parent}`);
    await seen(page.locator("[data-testid=node][data-step=mails][data-kind=map]").getByText("0 of 3 done"));
    const why = page.locator("[data-testid=why][data-code=mapping]").first();
    await becomes(() => why.getByTestId("why-text").textContent(), "0 of 3 elements done, 0 failed.");
    await why.getByTestId("why-link").click();
    const map = page.locator("[data-testid=map][data-step=mails]");
    await seen(map.getByText("0 of 3 elements done, 0 failed."));
    await until(async () => (await id("element-row").count()) === 2, "two at a time");
    await seen(id("element-row").getByText("<img src=x onerror=alert(1)>"));
    assert.equal(await page.locator("img").count(), 0);
    assert.deepEqual(await flawsOf(page), []);

    await page.setViewportSize({ width: 390, height: 844 });
    await until(() => page.evaluate(() => Math.max(document.documentElement.scrollWidth, ...[...document.querySelectorAll(".table-wrap")].map((it) => it.scrollWidth)) <= 390), "a page that does not scroll sideways");
    await page.setViewportSize({ width: 1280, height: 800 });

    await server.complete(await server.claim("m.send"), "sent");
    await seen(page.locator("[data-testid=map][data-done='1']"));
    await server.fail(await server.claim("m.send"), "no such address");
    await seen(page.locator("[data-testid=map][data-failed='1']"));
    await id("elements-failed").click();
    await until(async () => (await id("element-row").count()) === 1, "the one that failed");
    const failed = page.locator("[data-testid=element-row][data-status=failed]");
    await seen(failed.getByText("no such address"));
    assert.match(page.url(), /map=2/);
    assert.match(page.url(), /elements=failed/);
    await page.reload();
    await seen(failed);
    await failed.getByRole("link").first().click();
    await seen(page.locator(`[data-testid=parent][data-id="${parent}"]`).getByText("element of mails of parent-m"));
    await seen(page.locator("[data-testid=node][data-step=send][data-status=failed]"));
    // The part of a workflow that a map runs cannot be started by itself, but this instance can be run again.
    await id("more-actions").locator("summary").click();
    await seen(id("action-restart"));
    assert.equal(await id("action-start-again").count(), 0);
    await id("action-rerun").click();
    await id("sheet-confirm").click();
    await seen(id("source"));
    await seen(page.locator("[data-testid=node][data-step=send][data-status=ready]"));
    await gone(id("parent"));
    await page.goBack();
    await page.goBack();
    await id("elements-list").click();
    await seen(page.locator(`[data-testid=chip][data-name=parent][data-value="${parent}"]`));
    await until(async () => (await id("instance-row").count()) === 1, "the same in the list");
}, { marked: true });

shared("a map of ten thousand elements is folded, and read a page at a time", async (server, { page, id, open }) => {
    const list = Array.from({ length: 10_000 }, (_, index) => index);
    const parent = await family(server, "big", list, 200);
    await server.complete(await server.claim("big.prep"), { list });
    await server.complete(await server.claim("big.charge"), { list });
    let bytes = 0;
    page.on("response", (response) => { if (/\/v1\/instances(\?|\/counts)/.test(response.url())) void response.body().then((it) => { bytes += it.length; }, () => undefined); });
    await open(`instances/${parent}?tab=steps`);
    await seen(id("map-text").getByText("0 of 10,000 elements done, 0 failed."));
    assert.equal(await id("element-row").count(), 0);
    await id("map-fold").click();
    await until(async () => (await id("element-row").count()) === 25, "a page");
    const ids = () => id("element-row").evaluateAll((all) => all.map((it) => it.dataset.id)), first = await ids();
    await id("elements-more").click();
    await until(async () => (await id("element-row").count()) === 50, "one more");
    const both = await ids();
    assert.deepEqual(both.slice(0, 25), first);
    assert.equal(new Set(both).size, 50);
    await id("map-fold").click();
    await gone(id("elements"));
    assert.ok(bytes < 500_000, `${bytes} bytes were read`);
});

const LINE = `workflow: line
version: 1
steps:
  - step: one
    handler: r.one
  - step: two
    handler: r.two
    max_attempts: 1
  - step: three
    handler: r.three
`;

shared("an instance is run again from a step, with another input, and from its beginning", async (server, { page, id, open }) => {
    await deploy(server, LINE);
    const first = await start(server, '{"n": 9007199254740993}', "line-1", "line");
    await server.complete(await server.claim("r.one"), `{"n": 9007199254740993, "x": ${JSON.stringify(HOSTILE)}}`);
    await server.fail(await server.claim("r.two"), "no");
    await page.addInitScript(axeSource());
    await open(`instances/${first}?tab=steps&step=1`);
    await id("drawer").getByTestId("action-rerun").click();
    await seen(id("sheet").getByText("A new instance begins at two. 1 step before it is copied"));
    assert.match(await id("sheet").textContent(), /line-1 stays as it is/);
    assert.deepEqual(await flawsOf(page), []);
    const command = () => id("sheet").getByTestId("copy-cli").evaluate((it) => it.closest(".command").textContent);
    assert.match(await command(), new RegExp(`^cairn rerun ${first} --from two`));
    await id("json-editor").fill('{"n": 9007199254740993, "mended": true}');
    await until(async () => /--input/.test(await command()), "the input in the command");
    await id("sheet-confirm").click();
    await seen(page.locator(`[data-testid=source]`));
    const second = /instances\/([0-9a-f-]{36})/.exec(page.url())[1];
    assert.notEqual(second, first);
    const { tasks: [task] } = await server.must("POST", "/v1/tasks/claim", { worker: "tester", types: ["r.one", "r.two"], lease_ms: 600_000 });
    assert.equal(task.type, "r.two");
    assert.match((await server.call("GET", `/v1/instances/${second}/steps`)).text, /"input":\{"n": ?9007199254740993, ?"mended": ?true\}/);
    await server.complete({ ...task, worker: "tester" }, {});
    await seen(page.locator("[data-testid=node][data-step=two][data-status=completed]"));
    await id("source").click();
    await seen(page.locator("[data-testid=instance-status][data-status=failed]"));

    await id("more-actions").locator("summary").click();
    await id("action-rerun").click();
    await seen(id("sheet").getByText("calls every step again"));
    await id("sheet-confirm").click();
    await until(() => { const at = /instances\/([0-9a-f-]{36})/.exec(page.url())?.[1]; return at && at !== first; }, "the new instance");
    const third = /instances\/([0-9a-f-]{36})/.exec(page.url())[1];
    assert.equal((await server.must("GET", `/v1/instances/${third}`)).source, first);
    assert.match((await server.call("GET", `/v1/instances/${third}`)).text, /"input":\{"n": ?9007199254740993\}/);
    // A step that was not reached: the server says what is missing.
    await page.goto(`${server.page}instances/${first}?tab=steps&step=2`);
    await id("drawer").getByTestId("action-rerun").click();
    await id("sheet-confirm").click();
    await seen(id("sheet").getByText("the step has no input"));
    await id("json-editor").fill("{}");
    await id("sheet-confirm").click();
    await seen(page.locator("[data-testid=node][data-step=three][data-status=ready]"));
}, { page: { refuses: [400] }, marked: true });

shared("the input of a branch is what went into its fork, and numbers keep their digits", async (server, { page, id, open }) => {
    await deploy(server, "workflow: pair\nversion: 1\ninput: {example: 9007199254740993}\nsteps:\n  - fork: both\n    join: all\n    branches:\n      - [{step: x, handler: p.x}]\n      - [{step: y, handler: p.y, metadata: {n: 9007199254740993}}]\n");
    const instance = await start(server, "{}", "pair-1", "pair");
    await open(`instances/${instance}?tab=steps&step=2`);
    await seen(id("diff-input").getByText("Compare with the output of both"));
    await seen(id("payload-metadata").getByText("9007199254740993"));
    await open(`instances/${instance}?tab=definition`);
    await seen(id("definition").getByText("9007199254740993").first());
    await open("workflows/pair/1?tab=file");
    await seen(id("definition").getByText("9007199254740993").first());
});

shared("what happens if a key is known is chosen with it", async (server, { page, id, open }) => {
    await deploy(server, LINE);
    await server.must("POST", "/v1/jobs", { type: "k.quiet", key: "known", payload: { n: 1 } });
    await open("jobs");
    await id("action-job-add").click();
    await id("type").fill("k.quiet");
    assert.equal(await id("job-existing").count(), 0);
    await id("key").fill("known");
    await id("job-existing").selectOption("fail");
    await seen(id("sheet").getByText("it is refused"));
    await id("job-group").fill("tenant <b>");
    await id("sheet-confirm").click();
    await seen(page.locator("[data-testid=sheet] [data-testid=error][data-code=conflict]"));
    await id("sheet-cancel").click();
    await id("action-job-add").click();
    await id("type").fill("k.quiet");
    await id("key").fill("other");
    await id("job-group").fill("tenant <b>");
    await id("job-debounce").fill("1h");
    await id("priority").fill("5");
    await id("max_attempts").fill("7");
    await until(async () => / --priority 5 --max-attempts 7$/.test(await id("sheet").locator(".command").textContent()), "priority and attempts in the command");
    await id("sheet-confirm").click();
    await seen(id("job-in-group").getByText("tenant <b>"));
    const job = /jobs\/([0-9a-f-]{36})/.exec(page.url())[1], at = (await server.must("GET", `/v1/jobs/${job}`)).run_at;
    assert.ok(Date.parse(at) > Date.now() + 3_000_000, at);
    await open("workflows/line/1");
    await id("action-start").click();
    await id("start-at").fill("2100-01-02T03:04");
    await id("start-tags").fill("city:Oslo, size:a b");
    await until(async () => /^cairn start line --version 1 .* --at 2100-01-0\d\S+Z --tag city=Oslo --tag 'size=a b'$/s.test(await id("sheet").locator(".command").textContent()), "version, time and tags in the command");
}, { page: { refuses: [409] } });
