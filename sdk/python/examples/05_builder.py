import cairn

app = cairn.App()

@app.task("%")
def any_step(task: cairn.Task, value: dict) -> dict:
    print(task.step, end=" ")
    return value

wf = cairn.Workflow("order", version=1)
wf.step("reserve", compensation="release", retry=cairn.Backoff("fixed", base="1s"))
with wf.condition("in_stock", "{{ gt .count 0 }}") as stock:
    with stock.then():
        wf.step("pick")
    with stock.otherwise():
        wf.step("restock")
with wf.fork("fulfilment", join="all") as fork:
    with fork.branch():
        wf.step("ship")
    with fork.branch():
        wf.step("invoice")
wf.step("close")

with cairn.open("memory:") as db:
    db.deploy(wf)
    order = db.start("order", {"count": 2})
    db.work(app, until_idle=True, concurrency=1)
    print(order.result(timeout=5)["strategy"])
# reserve pick ship invoice close all
