// screenshots.mjs - the pictures of the README, made from the demo.
//
// SPDX-License-Identifier: Apache-2.0
//
//   ./run &                            and when it is up:
//   CAIRN_PAGE_MODULES=web/node_modules node tests/page/screenshots.mjs http://127.0.0.1:22476
//
// Writes docs/images/page-light.png (the overview) and docs/images/page-dark.png (an order that failed and was undone).
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

const { chromium } = createRequire(resolve(process.env.CAIRN_PAGE_MODULES, "x.js"))("playwright-core");
const server = process.argv[2], folder = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const order = (await (await fetch(`${server}/v1/instances?q=order-1002`)).json()).items[0].id;
const browser = await chromium.launch({ executablePath: process.env.CAIRN_CHROMIUM ?? "/usr/bin/chromium", args: ["--headless=new", "--no-sandbox", "--disable-gpu"] });
for (const [colorScheme, path, sign] of [["light", "", "needs-you"], ["dark", `instances/${order}`, "graph"]]) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 720 } });
    await page.goto(`${server}/ui/${path}`);
    await page.getByTestId(sign).waitFor();
    await page.waitForLoadState("load");
    await page.waitForTimeout(1500);
    await page.screenshot({ path: `${folder}page-${colorScheme}.png` });
}
await browser.close();
