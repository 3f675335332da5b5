import cairn

app = cairn.App()
PAYMENT = """
workflow: payment
version: 1
steps: [{step: request}, {wait: settled, event: payment.settled, timeout: 1h}, {step: receipt}]
"""

@app.task("request")
def request(order: dict) -> dict:
    return order

@app.task("receipt")
def receipt(task: cairn.Task, order: dict) -> dict:
    assert task.signal
    return {"order": order["id"], "paid": task.signal.payload["amount"]}

with cairn.open("memory:") as db:
    db.deploy(PAYMENT)
    payment = db.start("payment", {"id": 17})
    db.work(app, until_idle=True)
    print(payment.status())
    print(payment.signal("payment.settled", {"amount": 250}, id="bank-991").taken)
    print(payment.signal("payment.settled", {"amount": 250}, id="bank-991").existing)
    db.work(app, until_idle=True)
    print(payment.result(timeout=5))
# waiting_signal / True / True / {'order': 17, 'paid': 250}, a line each
