import threading
import cairn

app = cairn.App()
started, stopped = threading.Event(), threading.Event()

@app.task("report.build.v1")
def build(task: cairn.Task, payload: dict) -> None:
    started.set()
    while not task.wait(60):        # sleeps a minute, or less if it is stopped
        pass
    stopped.set()
    task.check()                    # raises cairn.Stopped

with cairn.open("memory:") as db, db.worker(app, look="100ms"):
    job = db.enqueue(build)
    started.wait(5)
    job.cancel()
    print(job.status(), stopped.wait(5))
# cancelled True
