package function

import (
	"cairn.invalid/cairn"
	"cairn.invalid/cairn/cairntest"
	"context"
	"testing"
	"time"
)

func buy(ctx *cairn.Context, item string) (string, error) {
	undo := &cairn.StepOptions{Input: item, Compensation: &cairn.Compensation{Handler: "card.refund.v1"}}
	if _, err := cairn.Step(ctx, "charge", func(context.Context) (int, error) { return 420, nil }, undo); err != nil {
		return "", err
	}
	if err := ctx.Sleep(time.Hour, nil); err != nil {
		return "", err
	}
	return cairn.WaitEvent[string](ctx, "packed", &cairn.WaitOptions{Timeout: 24 * time.Hour})
}

func TestBuy(t *testing.T) {
	ctx, app, env := context.Background(), cairn.NewApp(), cairntest.New(t)
	order := cairn.NewFunction[string, string]("order", 1, nil).Handle(app, buy)
	cairn.Handle(app, "card.refund.v1", func(_ context.Context, u cairn.Undo[string, int]) (int, error) { return *u.Output, nil })
	book, piano := cairn.Must(order.Start(ctx, env.Engine, "book", nil)), cairn.Must(order.Start(ctx, env.Engine, "piano", nil))
	cairn.Must(book.Signal(ctx, "packed", "parcel 1", nil))
	env.Run(app, book, piano) // the piano's wait runs out after 25 hours, and its charge is undone
	t.Log(cairn.Must(book.Result(ctx)), cairn.Must(piano.Status(ctx)))
} // parcel 1 failed
