// bench/peers/peer.mjs - what the peers in Node.js have in common; see bench/peers/compare.
//
// SPDX-License-Identifier: Apache-2.0
import {createInterface} from "node:readline";

const lines = createInterface({input: process.stdin})[Symbol.asyncIterator]();

/** Says that everything is warm, and returns when the clock runs. */
export async function begin() {
    console.log("ready");
    await lines.next();
}

/** Resolves when there is nothing more to do. */
export async function untilStopped() {
    await lines.next();
}

/** Counts what is done, and tells of it a hundred times a second. */
export function counter() {
    let count = 0, told = 0;
    setInterval(() => {
        if (count !== told)
            console.log(String(told = count));
    }, 10).unref();
    return (more = 1) => { count += more; };
}

/** Microseconds from before `add` to the start of the handler, of each of so many, one after the other. */
export async function latencies(samples, add, started) {
    const found = [];
    for (let i = 0; i < samples; i++) {
        const begun = process.hrtime.bigint();
        const seen = started();
        await add(i);
        found.push(Number((await seen) - begun) / 1000);
    }
    found.sort((a, b) => a - b);
    console.log(JSON.stringify({p50: found[samples >> 1], p99: found[Math.floor(samples * 0.99)]}));
}

/** Does what the command line says: VERB URL NUMBER-OR-MODE... */
export async function dispatch({migrate, enqueue, drain, latency}) {
    const [verb, , ...rest] = process.argv.slice(2);
    const verbs = {
        migrate,
        enqueue: () => enqueue(Number(rest[0]), Number(rest[1])),
        drain: () => drain(rest[0]),
        latency: () => latency(Number(rest[0])),
    };
    await verbs[verb]();
    process.exit(0);
}
