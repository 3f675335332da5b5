// SPDX-License-Identifier: Apache-2.0

// The worker of the shop in Go: the same handlers as worker.py.
//
//	SHOP_URL=postgres://localhost/shop go run .
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"cairn.invalid/cairn"
	"github.com/jackc/pgx/v5/pgxpool"
)

type Order struct {
	Order  int64  `json:"order"`
	Item   string `json:"item"`
	Amount int    `json:"amount"`
}

type Shipped struct {
	Order   int64 `json:"order"`
	Shipped bool  `json:"shipped"`
}

var errTooHeavy = errors.New("a piano does not fit into a parcel")

// shop is what the handlers share.  A call may be repeated after a crash, so no statement has a second effect.
type shop struct{ pool *pgxpool.Pool }

func (s *shop) reserve(ctx context.Context, order Order) (Order, error) {
	_, err := s.pool.Exec(ctx, "INSERT INTO reservations (key, order_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
		cairn.TaskFrom(ctx).Key, order.Order)
	return order, err
}

func (s *shop) release(ctx context.Context, undo cairn.Undo[Order, Order]) (any, error) {
	_, err := s.pool.Exec(ctx, "UPDATE reservations SET released = true WHERE order_id = $1", undo.Input.Order)
	return nil, err
}

func (s *shop) charge(ctx context.Context, order Order) (Order, error) {
	_, err := s.pool.Exec(ctx, "INSERT INTO charges (key, order_id, amount) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
		cairn.TaskFrom(ctx).Key, order.Order, order.Amount)
	return order, err
}

func (s *shop) refund(ctx context.Context, undo cairn.Undo[Order, Order]) (any, error) {
	_, err := s.pool.Exec(ctx, "UPDATE charges SET refunded = true WHERE order_id = $1", undo.Input.Order)
	return nil, err
}

func (s *shop) ship(ctx context.Context, order Order) (Shipped, error) {
	if order.Item == "piano" {
		return Shipped{}, cairn.Dead(errTooHeavy)
	}
	_, err := s.pool.Exec(ctx, "INSERT INTO shipments (key, order_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
		cairn.TaskFrom(ctx).Key, order.Order)
	return Shipped{Order: order.Order, Shipped: true}, err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	url := os.Getenv("SHOP_URL")
	pool := cairn.Must(pgxpool.New(ctx, url))
	defer pool.Close()
	s, app := &shop{pool}, cairn.NewApp()
	cairn.Handle(app, "shop.reserve.v1", s.reserve)
	cairn.Handle(app, "shop.release.v1", s.release)
	cairn.Handle(app, "shop.charge.v1", s.charge)
	cairn.Handle(app, "shop.refund.v1", s.refund)
	cairn.Handle(app, "shop.ship.v1", s.ship)
	db := cairn.Must(cairn.Open(ctx, cairn.Config{URL: url}))
	defer db.Close()
	cairn.Must(db.Work(ctx, app, cairn.WorkerConfig{Concurrency: 8, Lease: 5 * time.Second}))
}
