import cairn

app = cairn.App()

@app.task("mail.send.v1", dead_on=(ValueError,))
def send(task: cairn.Task, mail: dict) -> str:
    if "@" not in mail["to"]:
        raise ValueError("no such address")
    if task.attempt < 3:
        raise cairn.Retry("the server is busy", after=0)
    return f"sent at call {task.attempt}"

with cairn.open("memory:") as db:
    good = db.enqueue(send, {"to": "ann@example.org"})
    bad = db.enqueue(send, {"to": "nobody"}, max_attempts=10)
    db.work(app, until_idle=True)
    print(good.result(timeout=5))
    try:
        bad.result(timeout=5)
    except cairn.JobFailed as e:
        print(e.job.last_error)
# sent at call 3
# ValueError: no such address
