import sqlite3
import cairn

app = cairn.App()

@app.task("billing.invoice.v1")
def invoice(order: dict) -> None:
    print("invoice", order["id"])

cairn.open("sqlite:shop.db").close()                    # makes the tables
shop = sqlite3.connect("shop.db")
shop.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
for number, is_good in ((17, True), (18, False)):
    try:
        with shop:                                      # one transaction: both rows, or none
            shop.execute("INSERT INTO orders VALUES (?)", (number,))
            cairn.tx(shop).enqueue(invoice, {"id": number}, key=f"invoice-{number}")
            if not is_good:
                raise ValueError("changed my mind")
    except ValueError:
        pass
shop.close()

with cairn.open("sqlite:shop.db") as db:
    db.work(app, until_idle=True)
    print(len(list(db.jobs())))
# invoice 17
# 1
