package main

import (
	"context"
	"errors"
	"fmt"

	"cairn.invalid/cairn"
)

type Trip = map[string]string

const trip = cairn.Text(`{workflow: trip, version: 1, steps: [
    {step: flight, compensation: {handler: cancel_flight}}, {step: car, max_attempts: 1}]}`)

func main() {
	ctx, app := context.Background(), cairn.NewApp()
	cairn.Handle(app, "flight", func(context.Context, Trip) (Trip, error) { return Trip{"seat": "12A"}, nil })
	cairn.Handle(app, "car", func(context.Context, Trip) (Trip, error) { return nil, errors.New("no cars left") })
	cairn.Handle(app, "cancel_flight", func(_ context.Context, u cairn.Undo[Trip, Trip]) (any, error) {
		fmt.Println("cancel", (*u.Output)["seat"], "to", u.Input["to"])
		return nil, nil
	})
	db := cairn.Must(cairn.Open(ctx, cairn.Config{URL: "memory:"}))
	defer db.Close()
	cairn.Must(db.Deploy(ctx, trip))
	run := cairn.Must(db.Start(ctx, "trip", Trip{"to": "Lisbon"}, nil))
	cairn.Must(db.Work(ctx, app, cairn.WorkerConfig{UntilIdle: true}))
	fmt.Println(cairn.Must(run.Status(ctx)), cairn.Must(run.Get(ctx)).LastError.Message) // cancel 12A to Lisbon / failed no cars left
}
