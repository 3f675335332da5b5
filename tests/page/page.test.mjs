// page.test.mjs - the page in a browser, against a real server.
//
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { axeSource, closeBrowser, openPage, PATIENCE, startServer } from "./rig.mjs";

const ORDER = `workflow: order
version: 1
dlq: true
steps:
  - step: reserve
    handler: t.reserve
  - condition: is_large
    when: "{{ gt .total 1000 }}"
    then:
      - human: approval
  - condition: by_transfer
    when: '{{ eq .pays "transfer" }}'
    then:
      - wait: settled
        event: payment.settled
  - step: ship
    handler: t.ship
`;

after(closeBrowser);

/** A test with a server and a page of its own, which must have done nothing wrong. */
function scenario(name, act, { options = [], tokens = null, page: pageOptions = {} } = {}) {
    test(name, { timeout: 3 * PATIENCE }, async () => {
        const server = await startServer(options, tokens);
        try {
            const browser = await openPage(server, pageOptions);
            try {
                await act(server, browser);
                assert.deepEqual(browser.sins, []);
            } finally {
                await browser.close();
            }
        } finally {
            await server.stop();
        }
    });
}

const seen = (locator) => locator.waitFor({ state: "visible" });
async function deploy(server) {
    const answer = await server.call("POST", "/v1/workflows", ORDER);
    assert.ok(answer.status < 300, answer.text);
}
async function start(server, input, key) {
    await deploy(server);
    const answer = await server.call("POST", "/v1/instances", `{"workflow":"order","key":"${key}","input":${input}}`);
    return answer.json.id;
}

scenario("a new store says so, and a job appears without a reload", async (server, { page, id, open }) => {
    await open("jobs");
    await seen(page.locator('[data-testid=empty][data-reason="new"]'));
    await server.call("POST", "/v1/jobs", { type: "t.mail", key: "first" });
    await seen(page.locator("[data-testid=job-row]").filter({ hasText: "first" }));
    await id("job-row").getByRole("link").first().click();
    await seen(id("job"));
    assert.equal(await id("job-status").getAttribute("data-status"), "pending");
});

scenario("an order from start to end", async (server, { page, id, open }) => {
    await deploy(server);
    await open("workflows/order/latest");
    await id("action-start").click();
    await id("start-json").fill('{"total": 40, "n": 9007199254740993}');
    await id("start-key").fill("order-1");
    await id("start-confirm").click();
    await seen(id("instance"));
    await seen(page.locator('[data-testid=node][data-step=reserve][data-status=ready]'));
    const reserve = await server.claim("t.reserve");
    assert.match(JSON.stringify(reserve), /order-1|reserve/);
    await seen(page.locator('[data-testid=node][data-step=reserve][data-status=running]'));
    await server.complete(reserve, { total: 40 });
    await seen(page.locator('[data-testid=node][data-step=reserve][data-status=completed]'));
    await seen(page.locator('[data-testid=node][data-step=approval][data-taken=false]'));
    await server.complete(await server.claim("t.ship"), { parcel: "P-1" });
    await seen(page.locator('[data-testid=instance-status][data-status=completed]'));
    await id("tab-io").click();
    await seen(id("payload-output").getByText("P-1"));
    await seen(id("payload-input").getByText("9007199254740993"));
    await id("tab-timeline").click();
    await seen(page.locator("[data-testid=lane][data-step=ship]"));
    await id("tab-events").click();
    await seen(page.locator("[data-testid=event-row][data-type=workflow_completed]"));
});

scenario("a decision is made on the instance", async (server, { page, id, open }) => {
    const instance = await start(server, '{"total": 5000}', "big");
    await server.complete(await server.claim("t.reserve"), { total: 5000 });
    await open(`instances/${instance}?tab=steps`);
    const row = page.locator('[data-testid=step-row][data-step=approval][data-status=waiting_decision]');
    await seen(row);
    await row.getByRole("link").click();
    await id("drawer").getByTestId("action-approve").click();
    await id("comment").fill("fine");
    await id("by").fill("ada");
    await id("sheet-confirm").click();
    await seen(page.locator('[data-testid=toast][data-kind=ok]'));
    await seen(page.locator('[data-testid=step-row][data-step=approval][data-status=confirmed]'));
});

scenario("a signal is sent, and the same id changes nothing", async (server, { page, id, open }) => {
    const instance = await start(server, '{"total": 1, "pays": "transfer"}', "later");
    await server.complete(await server.claim("t.reserve"), { total: 1, pays: "transfer" });
    await open(`instances/${instance}`);
    await seen(page.locator('[data-testid=instance-status][data-status=waiting_signal]'));
    await id("action-signal").click();
    assert.equal(await id("event").inputValue(), "payment.settled");
    await id("id").fill("pay-1");
    await id("sheet-confirm").click();
    await seen(id("toast").getByText("Taken"));
    await seen(page.locator('[data-testid=instance-status][data-status=running]'));
    await id("action-signal").click();
    await id("event").fill("payment.settled");
    await id("id").fill("pay-1");
    await id("sheet-confirm").click();
    await seen(id("toast").getByText("known"));
});

scenario("pause, resume, cancel, restart, abort", async (server, { page, id, open }) => {
    const instance = await start(server, '{"total": 1}', "ups");
    await open(`instances/${instance}`);
    const is = (status) => seen(page.locator(`[data-testid=instance-status][data-status=${status}]`));
    await is("running");
    await id("action-pause").click();
    await seen(id("sheet").getByText("Nothing new starts until you resume."));
    await id("sheet-confirm").click();
    await is("paused");
    await id("action-resume").click();
    await id("sheet-confirm").click();
    await is("running");
    await id("action-cancel").click();
    assert.equal(await id("sheet-confirm").isDisabled(), true);
    await id("reason").fill("no longer wanted");
    await id("by").fill("ada");
    await id("sheet-confirm").click();
    await is("cancelled");
    await id("more-actions").locator("summary").click();
    await id("action-restart").click();
    await id("sheet-confirm").click();
    await is("running");
    await id("more-actions").locator("summary").click();
    await id("action-abort").click();
    await id("reason").fill("wrong one");
    assert.equal(await id("by").inputValue(), "ada");
    await id("sheet-confirm").click();
    await is("aborted");
    const events = (await server.call("GET", `/v1/instances/${instance}/events?limit=100`)).text;
    assert.match(events, /"requested_by":\s*"ada"/);
});

scenario("filters are in the address: set, reload, back", async (server, { page, id, open }) => {
    for (const key of ["one", "two"]) await start(server, "{}", key);
    await open("instances");
    await seen(id("instance-row").nth(1));
    await id("filter-status").locator("summary").click();
    await id("filter-status").getByLabel("failed").check();
    await seen(page.locator('[data-testid=chip][data-value=failed]').first());
    assert.match(page.url(), /status=failed/);
    await seen(page.locator('[data-testid=empty][data-reason=filter]'));
    await page.reload();
    await seen(page.locator('[data-testid=empty][data-reason=filter]'));
    await page.goBack();
    await seen(id("instance-row").nth(1));
    await id("instance-row").first().getByRole("link").first().click();
    await seen(id("instance"));
    await page.keyboard.press("Escape");
    await seen(id("instance-row").nth(1));
});

const HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202egnp.exe";

scenario("text of others is only text", async (server, { page, id, open }) => {
    await server.call("POST", "/v1/jobs", { type: "t.bad", key: HOSTILE, payload: { __proto__x: HOSTILE, "<b>": ["javascript:alert(1)", "{{x}}", "😀"] } });
    const task = await server.claim("t.bad");
    await server.dead(task, HOSTILE);
    await open("jobs");
    await seen(id("job-row").getByText("<script>alert(1)</script>").first());
    await open(`jobs/${task.id}`);
    await seen(id("payload-input").getByText("javascript:alert(1)"));
    assert.equal(await page.locator("#app script, #app img").count(), 0);
    assert.equal(await page.locator("text=\u202e").count(), 0);
});

scenario("what may not run does not run", async (server, { page, sins, open, id }) => {
    await open("instances");
    await seen(id("instances"));
    const isBlocked = await page.evaluate(() => {
        const script = document.createElement("script");
        try { script.textContent = "window.bad = 1"; document.body.append(script); } catch { return true; }
        return window.bad === undefined;
    });
    assert.equal(isBlocked, true);
    await page.getByTestId("nav-settings").click();
    await seen(id("settings"));
    sins.length = 0; // the browser has said what it blocked
});

scenario("the keyboard alone finds, opens, acts and goes back", async (server, { page, id, open }) => {
    await start(server, "{}", "keys");
    await open("");
    await seen(id("nav"));
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await seen(id("instance-row"));
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await seen(id("instance"));
    await page.keyboard.press("]");
    await seen(id("timeline").or(page.getByText("Nothing has happened yet.")));
    await id("action-pause").focus();
    await page.keyboard.press("Enter");
    await seen(id("sheet"));
    await page.keyboard.press("Escape");
    await id("sheet").waitFor({ state: "detached" });
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("data-testid")), "action-pause");
    await page.keyboard.press("?");
    await seen(id("shortcuts"));
});

scenario("a wrong token is not known, a right one leads back", async (server, { page, id, open }) => {
    await open("jobs");
    await seen(id("sign-in"));
    await id("token").fill("wrong-wrong-wrong-wrong-wrong-1");
    await id("sign-in-confirm").click();
    await seen(id("sign-in-error"));
    await id("token").fill("secret-secret-secret-secret-1");
    await id("sign-in-confirm").click();
    await seen(id("jobs"));
    assert.doesNotMatch(page.url(), /secret/);
    await id("sign-out").click();
    await seen(id("sign-in"));
}, { tokens: "operate secret-secret-secret-secret-1 ada\n" });

scenario("under a prefix every address works", async (server, { page, id }) => {
    await start(server, "{}", "prefixed");
    await page.goto(`${server.url}/a/b/ui/instances`);
    await id("instance-row").getByRole("link").first().click();
    await seen(id("instance"));
    assert.match(page.url(), /\/a\/b\/ui\/instances\/[0-9a-f-]+$/);
    await page.reload();
    await seen(id("instance-status"));
    for (const path of ["workflows/order/1", "no/such/screen"]) {
        await page.goto(`${server.url}/a/b/ui/${path}`);
        await seen(page.locator("main section").first());
    }
}, { options: ["--ui-base", "/a/b"] });

scenario("a phone scrolls only down, and its targets can be hit", async (server, { page, id, open }) => {
    await start(server, "{}", "on-the-phone");
    for (const path of ["", "instances", "settings"]) {
        await open(path);
        await seen(page.locator("main section").first());
        const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(excess <= 0, `${path} is ${excess} px too wide`);
    }
    const small = await page.getByTestId("nav").locator("a:visible, button:visible").evaluateAll((all) => all.filter((it) => it.getBoundingClientRect().height < 44).length);
    assert.equal(small, 0);
    await id("nav-more").click();
    await seen(id("nav-settings"));
}, { page: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } });

for (const colorScheme of ["light", "dark"])
    scenario(`no serious flaw of accessibility, ${colorScheme}`, async (server, { page, id, open }) => {
        await page.addInitScript(axeSource());
        const instance = await start(server, '{"total": 1}', "axe");
        await server.complete(await server.claim("t.reserve"), { total: 1 });
        await server.dead(await server.claim("t.ship"), "no carrier");
        // The rule that is off compares names with texts as one word; a node's name says more than its text.
        const check = async (what) => {
            await page.evaluate(() => Promise.all(document.getAnimations().map((it) => it.finished)));
            const flaws = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ["violations"], rules: { "label-content-name-mismatch": { enabled: false } } })).violations.filter((it) => ["serious", "critical"].includes(it.impact)).map((it) => `${it.id}: ${it.nodes[0].html}`));
            assert.deepEqual(flaws, [], what);
        };
        const paths = { instances: "instance-row", [`instances/${instance}`]: "graph", settings: "set-time" };
        for (const [path, sign] of Object.entries(paths)) {
            await open(path);
            await seen(id(sign).first());
            await check(path);
        }
        await open(`instances/${instance}?tab=io`);
        await seen(id("payload-input"));
        await id("more-actions").locator("summary").click();
        await id("action-abort").click();
        await check("sheet");
    }, { page: { colorScheme, bypassCSP: true } });

test("without JavaScript there is a sentence", { timeout: PATIENCE }, async () => {
    const server = await startServer();
    const { text } = await server.call("GET", "/ui/");
    await server.stop();
    assert.match(text, /<noscript>\s*<p>This page needs JavaScript/);
});
