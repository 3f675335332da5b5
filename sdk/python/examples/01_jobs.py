import cairn

app = cairn.App()

@app.task("billing.invoice.v1")
def invoice(order: dict) -> dict:
    return {"pdf": f"{order['id']}.pdf"}

with cairn.open("memory:") as db:
    job = db.enqueue(invoice, {"id": 17}, key="invoice-17")
    again = db.enqueue("billing.invoice.v1", {"id": 17}, key="invoice-17")
    db.work(app, until_idle=True)
    print(again.existing, again.id == job.id, job.result(timeout=5))
# True True {'pdf': '17.pdf'}
