# bench/sdk/functions.py - durable functions of five steps that do nothing, with Cairn or with DBOS; see bench/sdk/compare.
#
# SPDX-License-Identifier: Apache-2.0
"""
  functions.py cairn|dbos URL COUNT

Prints functions a second: one at a time, and many at the same time (COUNT are started, then all awaited); and the
most that the process has had in memory, in MiB.
"""
import resource
import sys
import time

STEPS = 5
PARALLEL = 32       # threads that execute functions


def nothing(n: int) -> int:
    return n


def with_cairn(url: str, count: int) -> None:
    import cairn

    app = cairn.App()

    @app.function("five")
    def five(ctx: cairn.Context, n: int) -> int:
        return sum(ctx.step(f"step-{i}", nothing, n) for i in range(STEPS))

    with cairn.open(url) as db, db.worker(app, concurrency=PARALLEL):
        assert db.start(five, 1).result(timeout=60) == STEPS      # everything is warm
        measure(count, lambda n: db.start(five, n).result(), lambda n: db.start(five, n), lambda run: run.result())


def with_dbos(url: str, count: int) -> None:
    from dbos import DBOS

    step = DBOS.step()(nothing)

    @DBOS.workflow()
    def five(n: int) -> int:
        return sum(step(n) for _ in range(STEPS))

    DBOS(config={"name": "bench", "system_database_url": url, "log_level": "ERROR", "run_admin_server": False,
                 "max_executor_threads": PARALLEL})
    DBOS.launch()
    try:
        assert five(1) == STEPS
        measure(count, five, lambda n: DBOS.start_workflow(five, n), lambda run: run.get_result())
    finally:
        DBOS.destroy()


def measure(count, call, start, result) -> None:
    one_by_one = max(1, count // 5)
    begun = time.perf_counter()
    for n in range(one_by_one):
        assert call(n) == STEPS * n
    alone = one_by_one / (time.perf_counter() - begun)
    begun = time.perf_counter()
    runs = [start(n) for n in range(count)]
    assert [result(run) for run in runs] == [STEPS * n for n in range(count)]
    many = count / (time.perf_counter() - begun)
    print(round(alone, 1), round(many, 1), round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1))


{"cairn": with_cairn, "dbos": with_dbos}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
