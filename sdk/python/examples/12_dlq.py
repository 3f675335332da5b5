import cairn

app = cairn.App()

@app.task("load.v1", dead_on=(KeyError,))
def load(file: dict) -> str:
    return file["name"]

with cairn.open("memory:") as db:
    wf = cairn.Workflow("import", dlq=True)
    wf.step("load", load)
    db.deploy(wf)
    for n in range(3):
        db.start("import", {"nmae": f"{n}.csv"}, key=f"import-{n}")
    db.work(app, until_idle=True)
    for record in list(db.dlq()):
        print(record.step_name, record.error)
        db.requeue(record, input={"name": record.input["nmae"]})
    db.work(app, until_idle=True)
    print([i.output for i in db.instances(workflow="import", status="completed")])
# load KeyError: 'name', three times
# ['2.csv', '1.csv', '0.csv']
