import cairn

app = cairn.App()
TRIP = """
workflow: trip
version: 1
steps:
  - step: flight
    compensation: {handler: cancel_flight}
  - step: car
    max_attempts: 1
"""

@app.task("flight")
def flight(trip: dict) -> dict:
    return {"seat": "12A"}

@app.task("cancel_flight")
def cancel_flight(undo: cairn.Undo[dict, dict]) -> None:
    print("cancel", undo.output["seat"], "to", undo.input["to"])

@app.task("car")
def car(trip: dict) -> dict:
    raise RuntimeError("no cars left")

with cairn.open("memory:") as db:
    db.deploy(TRIP)
    trip = db.start("trip", {"to": "Lisbon"})
    db.work(app, until_idle=True)
    print(trip.status(), trip.get().error)   # cancel 12A to Lisbon / failed RuntimeError: no cars left
