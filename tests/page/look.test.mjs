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

const PHONES = { "390": { width: 390, height: 844 }, "320": { width: 320, height: 640 } };
for (const [name, viewport] of Object.entries(PHONES))
    shared(`a phone of ${name} px scrolls only down, and its targets can be hit`, async (server, { page, id, open, visit }) => {
        const instance = await start(server, "{}", "on-the-phone");
        const paths = ["", "instances", `instances/${instance}`, "dead", "settings"];
        if (name === "390") paths.push(`instances/${instance}?tab=timeline`, "jobs", "approvals", "workflows", "functions", "workers", "schedules", "schedules/nightly");
        await server.must("PUT", "/v1/schedules/nightly", { cron: "30 2 * * MON-FRI", timezone: "Europe/Berlin", task: "t.a_rather_long_name_of_a_type.v1" });
        for (const path of paths) {
            await visit(path);
            await seen(page.locator("main section").first());
            await seen(page.locator("main h1").first());
            const excess = await page.evaluate((width) => document.documentElement.scrollWidth - width, viewport.width);
            assert.ok(excess <= 0, `${path} is ${excess} px too wide`);
        }
        const small = await page.getByTestId("nav").locator("a:visible, button:visible").evaluateAll((all) => all.filter((it) => it.getBoundingClientRect().height < 44).length);
        assert.equal(small, 0);
        await visit("instances");
        await seen(id("filter-status"));
        const low = await page.locator("main summary.button").evaluateAll((all) => all.filter((it) => it.getBoundingClientRect().height < 44).map((it) => it.textContent));
        assert.deepEqual(low, [], "menus that are hard to hit");
        await open(`instances/${instance}`);
        await seen(id("step-row").first());
        for (const action of ["action-pause", "action-cancel"]) assert.ok((await id(action).boundingBox()).height >= 44, action);
        await id("more-actions").locator("summary").click();
        await seen(id("action-abort"));
        await page.keyboard.press("Escape");
        // The tab that is open is in view, and so are the actions for what is selected.
        await visit(`instances/${instance}?tab=definition`);
        await seen(id("definition"));
        const isInView = (box) => !!box && box.x >= 0 && box.x + box.width <= viewport.width && box.y + box.height <= viewport.height;
        await until(async () => isInView(await id("tab-definition").boundingBox()), "the open tab in view");
        await visit("instances");
        await id("select-row").first().click();
        await seen(id("bulk-abort"));
        await until(async () => isInView(await id("bulk-restart").boundingBox()), "the last action in view");
        await id("nav-more").click();
        await seen(id("nav-settings"));
    }, { page: { viewport, hasTouch: true, isMobile: true } });

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
        const paths = { "": "needs-you", instances: "instance-row", [`instances/${instance}`]: "graph", [`instances/${instance}?tab=timeline`]: "lane", [`instances/${instance}?tab=steps&step=1`]: "drawer", [`instances/${instance}?tab=io`]: "payload-input",
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
        await id("action-abort").click();
        await seen(id("sheet"));
        await check("sheet");
        await visit("schedules");
        await id("action-schedule-new").click();
        await seen(id("schedule-cron"));
        await check("form of a schedule");
    }, { page: { colorScheme, bypassCSP: true } });

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

scenario("under a prefix every address works", async (server, { page, id }) => {
    await start(server, "{}", "prefixed");
    await page.goto(`${server.url}/a/b/ui/instances`);
    await id("instance-row").getByRole("link").first().click();
    await seen(id("instance"));
    assert.match(page.url(), /\/a\/b\/ui\/instances\/[0-9a-f-]+$/);
    await page.reload();
    await seen(id("instance-status"));
    for (const path of ["workflows/order/1", "workflows/order/latest?tab=handlers", "jobs", "dead", "approvals", "workers", "schedules", "settings", "no/such/screen"]) {
        await page.goto(`${server.url}/a/b/ui/${path}`);
        await seen(page.locator("main section").first());
    }
    await seen(page.getByText("There is no screen here."));
}, { options: ["--ui-base", "/a/b"] });

test("the page as bytes: kept, asked again, refused, turned off, without JavaScript", { skip: !!process.env.CAIRN_PAGE_SOME }, async () => {
    const server = await startServer();
    const { text, headers } = await server.call("GET", `${server.base}/ui/`);
    assert.match(text, /<noscript>\s*<p>This page needs JavaScript/);
    assert.match(headers.get("content-security-policy"), /default-src 'none'/);
    assert.equal((await fetch(server.page, { headers: { "If-None-Match": headers.get("etag") } })).status, headers.get("etag") ? 304 : 200);
    const script = /src="([^"]+\.js)"/.exec(text)[1];
    assert.match((await fetch(server.page + script)).headers.get("cache-control"), /immutable/);
    assert.equal((await fetch(server.page + "no-such.js")).status, 404);
    await server.stop();
    const bare = await startServer(["--no-ui"]);
    assert.equal((await bare.call("GET", "/ui/")).status, 404);
    await bare.stop();
});
