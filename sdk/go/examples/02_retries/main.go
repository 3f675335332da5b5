package main

import (
	"context"
	"errors"
	"fmt"

	"cairn.invalid/cairn"
)

func main() {
	ctx, app := context.Background(), cairn.NewApp()
	send := cairn.NewTask[string, string]("mail.send.v1")
	send.Handle(app, func(ctx context.Context, to string) (string, error) {
		if attempt := cairn.TaskFrom(ctx).Attempt; to == "nobody" {
			return "", cairn.Dead(errors.New("no such address"))
		} else if attempt < 3 {
			return "", cairn.Retry(errors.New("the server is busy"), 0)
		}
		return "sent to " + to, nil
	})
	db := cairn.Must(cairn.Open(ctx, cairn.Config{URL: "memory:"}))
	defer db.Close()
	good, bad := cairn.Must(send.Enqueue(ctx, db, "ann", nil)), cairn.Must(send.Enqueue(ctx, db, "nobody", nil))
	cairn.Must(db.Work(ctx, app, cairn.WorkerConfig{UntilIdle: true}))
	_, err := bad.Result(ctx)
	fmt.Println(cairn.Must(good.Result(ctx)), errors.Is(err, cairn.ErrFailed), cairn.Must(bad.Get(ctx)).LastError)
} // sent to ann true no such address
