from dataclasses import dataclass
import cairn, cairn.testing

app = cairn.App()

@dataclass
class Order:
    item: str

@app.task("card.refund.v1")
def refund(undo: cairn.Undo[Order, int]) -> None:
    print("refund", undo.output, "for the", undo.input.item)

def charge(order: Order) -> int:
    return 420

@app.function("order", version=1)
def buy(ctx: cairn.Context, order: Order) -> str:
    paid = ctx.step("charge", charge, order, retries=3, compensation=refund)
    ctx.sleep("1h", step="cool_off")
    parcel = ctx.wait_event("packed", str, timeout="1d")        # cairn.TimedOut fails it, so the card is refunded
    return f"{parcel} for {paid}"

with cairn.testing.Environment() as env:
    book, piano = env.db.start(buy, Order("book")), env.db.start(buy, Order("piano"))
    book.signal("packed", "parcel 1")
    env.run(app, until=[book, piano])
    print(book.result(), "/", piano.status())
# refund 420 for the piano, then: parcel 1 for 420 / failed
