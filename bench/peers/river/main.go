// bench/peers/river - River; see bench/peers/compare.
//
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

type noop struct {
	N int `json:"n"`
}

func (noop) Kind() string { return "noop" }

type worker struct {
	river.WorkerDefaults[noop]
	done func()
}

func (w *worker) Work(context.Context, *river.Job[noop]) error {
	w.done()
	return nil
}

var (
	ctx   = context.Background()
	input = bufio.NewReader(os.Stdin)
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// begin says that everything is warm, and returns when the clock runs.
func begin() {
	fmt.Println("ready")
	untilStopped()
}

func untilStopped() { _, _ = input.ReadString('\n') }

func open(url string, workers int, done func()) (*river.Client[pgx.Tx], *pgxpool.Pool) {
	config, err := pgxpool.ParseConfig(url)
	must(err)
	config.MaxConns = 25
	pool, err := pgxpool.NewWithConfig(ctx, config)
	must(err)
	handlers := river.NewWorkers()
	river.AddWorker(handlers, &worker{done: done})
	options := &river.Config{
		Workers: handlers, FetchCooldown: time.Millisecond, FetchPollInterval: 50 * time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if workers > 0 {
		options.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}}
	}
	client, err := river.NewClient(riverpgxv5.New(pool), options)
	must(err)
	return client, pool
}

func migrate(url string) {
	pool, err := pgxpool.New(ctx, url)
	must(err)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	must(err)
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	must(err)
}

func enqueue(url string, count, batch int) {
	client, _ := open(url, 0, nil)
	begin()
	for from := 0; from < count; from += batch {
		jobs := make([]river.InsertManyParams, min(batch, count-from))
		for i := range jobs {
			jobs[i] = river.InsertManyParams{Args: noop{from + i}}
		}
		_, err := client.InsertManyFast(ctx, jobs)
		must(err)
	}
	fmt.Println("done")
}

// drain: batched with as many workers as a fetch may bring; otherwise 24 that have one job each.
func drain(url, mode string) {
	var count atomic.Int64
	workers := 24
	if mode == "batched" {
		workers = 1000
	}
	client, _ := open(url, workers, func() { count.Add(1) })
	go func() {
		for told := int64(0); ; time.Sleep(10 * time.Millisecond) {
			if now := count.Load(); now != told {
				fmt.Println(now)
				told = now
			}
		}
	}()
	begin()
	must(client.Start(ctx))
	untilStopped()
	must(client.Stop(ctx))
}

func latency(url string, samples int) {
	started := make(chan time.Time, 1)
	client, _ := open(url, 24, func() { started <- time.Now() })
	must(client.Start(ctx))
	begin()
	found := make([]float64, samples)
	for i := range found {
		begun := time.Now()
		_, err := client.Insert(ctx, noop{i}, nil)
		must(err)
		found[i] = float64((<-started).Sub(begun).Microseconds())
	}
	slices.Sort(found)
	text, err := json.Marshal(map[string]float64{"p50": found[samples/2], "p99": found[samples*99/100]})
	must(err)
	fmt.Println(string(text))
	must(client.Stop(ctx))
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	must(err)
	return value
}

func main() {
	verb, url, rest := os.Args[1], os.Args[2], os.Args[3:]
	switch verb {
	case "migrate":
		migrate(url)
	case "enqueue":
		enqueue(url, number(rest[0]), number(rest[1]))
	case "drain":
		drain(url, rest[0])
	case "latency":
		latency(url, number(rest[0]))
	}
}
