// crowd.mjs - so many open pages, as the server sees them: each reads the digests of the stream.  For speed.mjs.  It looks at nothing that it is
// sent: a browser would, but not on the machine of the server.
//
// SPDX-License-Identifier: Apache-2.0
//
//   node crowd.mjs URL COUNT      prints a line once all of them read
import { connect } from "node:net";

const [url, count] = process.argv.slice(2), { hostname, port, pathname, search, host } = new URL(url);
await Promise.all(Array.from({ length: Number(count) }, () => new Promise((done, failed) => {
    const socket = connect(Number(port), hostname, () => socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n\r\n`));
    socket.once("data", done).once("close", failed).once("error", failed).resume();
})));
console.log("ready");
