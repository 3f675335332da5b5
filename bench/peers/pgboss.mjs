// bench/peers/pgboss.mjs - pg-boss; see bench/peers/compare.
//
// SPDX-License-Identifier: Apache-2.0
import PgBoss from "pg-boss";

import {begin, counter, dispatch, latencies, untilStopped} from "./peer.mjs";

const url = process.argv[3];
const CONCURRENCY = 24, BATCH = 500, QUEUE = "noop";

async function open() {
    const boss = new PgBoss({connectionString: url, max: CONCURRENCY + 1, supervise: false, schedule: false});
    boss.on("error", (error) => console.error(String(error)));
    await boss.start();
    return boss;
}

async function enqueue(count, batch) {
    const boss = await open();
    await begin();
    for (let from = 0; from < count; from += batch)
        await boss.insert(Array.from({length: Math.min(batch, count - from)},
                                     (_, i) => ({name: QUEUE, data: {n: from + i}})));
    console.log("done");
}

// It polls no more often than twice a second by itself; so each lane fetches as soon as it has completed.
async function drain(mode) {
    const isBatched = mode === "batched";
    const boss = await open(), add = counter();
    let isStopped = false;
    const lane = async () => {
        while (!isStopped) {
            const jobs = await boss.fetch(QUEUE, {batchSize: isBatched ? BATCH : 1});
            if (!jobs.length) {
                await new Promise((done) => setTimeout(done, 20));
                continue;
            }
            await boss.complete(QUEUE, jobs.map((job) => job.id));
            add(jobs.length);
        }
    };
    await begin();
    const lanes = Array.from({length: isBatched ? 2 : CONCURRENCY}, lane);
    await untilStopped();
    isStopped = true;
    await Promise.all(lanes);
}

async function latency(samples) {
    const boss = await open();
    let resolve = () => {};
    await boss.work(QUEUE, {pollingIntervalSeconds: 0.5}, async () => resolve(process.hrtime.bigint()));
    await begin();
    await latencies(samples, (n) => boss.send(QUEUE, {n}), () => new Promise((done) => { resolve = done; }));
}

async function migrate() {
    const boss = await open();
    await boss.createQueue(QUEUE);
}

await dispatch({migrate, enqueue, drain, latency});
