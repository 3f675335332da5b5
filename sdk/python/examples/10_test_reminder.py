import cairn
from cairn.testing import Environment

app = cairn.App()

@app.function("reminder")
def reminder(ctx: cairn.Context, who: str) -> str:
    ctx.sleep("30d")
    return f"hello {who}, it is {ctx.now():%Y-%m-%d}"

def test_reminds_after_thirty_days(cairn_env: Environment) -> None:
    run = cairn_env.db.start(reminder, "ann")
    cairn_env.work(app)
    cairn_env.advance("29d")
    assert cairn_env.work(app) == 0 and run.status() == "running"
    cairn_env.advance("1d")
    cairn_env.work(app)
    assert run.result() == "hello ann, it is 2030-01-31"

def test_skips_time_by_itself(cairn_env: Environment) -> None:
    run = cairn_env.db.start(reminder, "bob")
    cairn_env.run(app, until=run)
    assert run.result().startswith("hello bob")
