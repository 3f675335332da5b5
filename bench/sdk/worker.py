# bench/sdk/worker.py - no-op jobs with a worker of the Python SDK; see bench/sdk/compare.
#
# SPDX-License-Identifier: Apache-2.0
"""
  worker.py threads|asyncio URL COUNT HANDS     prints jobs a second; COUNT 0: waits until it is killed
"""
import sys
import time

import cairn

THREADS = 8     # handlers at the same time; the others are claimed ahead

app = cairn.App()


@app.task("noop.v1")
def noop(n: int) -> None:
    pass


@app.task("noop.async.v1")
async def noop_async(n: int) -> None:
    pass


def main() -> None:
    is_async, url, count, held = sys.argv[1] == "asyncio", sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    with cairn.open(url) as db:
        if count == 0:
            print("waits", flush=True)
            db.work(app)
            return
        db.enqueue_many(cairn.JobSpec(noop_async if is_async else noop, 17) for _ in range(count))
        at_once = held if is_async else min(THREADS, held)
        begun = time.perf_counter()
        done = db.work(app, until_idle=True, concurrency=at_once, prefetch=held - at_once)
        seconds = time.perf_counter() - begun
        assert done == count, f"{done} of {count} jobs were executed"
        print(round(count / seconds))


main()
