// bench/peers/graphile.mjs - Graphile Worker; see bench/peers/compare.
//
// SPDX-License-Identifier: Apache-2.0
import {makeWorkerUtils, run, Logger} from "graphile-worker";

import {begin, counter, dispatch, latencies, untilStopped} from "./peer.mjs";

const url = process.argv[3];
const CONCURRENCY = 24;
const logger = new Logger(() => () => {});

// What its documentation says is fastest; one at a time: what it does unless told otherwise.
const BATCHED = {localQueue: {size: 500}, completeJobBatchDelay: 0, failJobBatchDelay: 0};

async function work(isBatched, noop) {
    return run({
        preset: {worker: {connectionString: url, concurrentJobs: CONCURRENCY, maxPoolSize: CONCURRENCY + 1,
                          ...(isBatched ? BATCHED : {})}},
        logger, noHandleSignals: true, taskList: {noop},
    });
}

async function enqueue(count, batch) {
    const utils = await makeWorkerUtils({connectionString: url, logger});
    await begin();
    for (let from = 0; from < count; from += batch) {
        const jobs = Array.from({length: Math.min(batch, count - from)},
                                (_, i) => ({identifier: "noop", payload: {n: from + i}}));
        await utils.addJobs(jobs);
    }
    console.log("done");
    await utils.release();
}

async function drain(mode) {
    const add = counter();
    await begin();
    const runner = await work(mode === "batched", async () => {});
    runner.events.on("job:success", () => add());
    await untilStopped();
    await runner.stop();
}

async function latency(samples) {
    let resolve = () => {};
    const runner = await work(false, async () => resolve(process.hrtime.bigint()));
    const utils = await makeWorkerUtils({connectionString: url, logger});
    await begin();
    await latencies(samples, (n) => utils.addJob("noop", {n}), () => new Promise((done) => { resolve = done; }));
    await utils.release();
    await runner.stop();
}

async function migrate() {
    const utils = await makeWorkerUtils({connectionString: url, logger});
    await utils.migrate();
    await utils.release();
}

await dispatch({migrate, enqueue, drain, latency});
