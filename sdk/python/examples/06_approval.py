import cairn

app = cairn.App()
LEAVE = """
workflow: leave
version: 1
steps: [{step: file}, {human: approval, timeout: 3d}, {step: book}]
"""

@app.task("%")
def any_step(value: dict) -> dict:
    return value

with cairn.open("memory:") as db:
    db.deploy(LEAVE)
    anna, bert = db.start("leave", {"who": "Anna"}), db.start("leave", {"who": "Bert"})
    db.work(app, until_idle=True)
    anna.confirm("approval", by="carla", comment="have fun")
    bert.reject("approval", by="carla", comment="we need you")
    db.work(app, until_idle=True)
    print(anna.result(timeout=5), bert.status())
    try:
        bert.confirm("approval", by="dan")
    except cairn.WrongState:
        print("decided already")
# {'who': 'Anna'} aborted
# decided already
