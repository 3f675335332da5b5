// crowd.mjs - so many open pages, as the server sees them: each reads the digests of the stream.  For speed.mjs.
//
// SPDX-License-Identifier: Apache-2.0
//
//   node crowd.mjs URL COUNT      prints a line once all of them read
const [url, count] = process.argv.slice(2);
const bodies = await Promise.all(Array.from({ length: Number(count) }, async () => (await fetch(url)).body));
console.log("ready");
await Promise.all(bodies.map(async (body) => { for await (const _ of body); }));
