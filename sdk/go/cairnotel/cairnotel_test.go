package cairnotel_test

import (
	"context"
	"errors"
	"testing"

	"cairn.invalid/cairn"
	"cairn.invalid/cairn/cairnotel"
	"cairn.invalid/cairn/cairntest"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

func TestACallIsASpanWithALinkToItsProducer(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(recorder))
	env, app := cairntest.New(t), cairn.NewApp()
	app.Use(cairnotel.Middleware(provider))
	cairn.Handle(app, "mail.v1", func(context.Context, any) (any, error) { return nil, cairn.Dead(errors.New("no address")) })

	ctx, producer := provider.Tracer("shop").Start(context.Background(), "order")
	cairn.Must(env.Engine.Enqueue(ctx, "mail.v1", nil, &cairn.JobOptions{Key: "k", Metadata: cairnotel.Metadata(ctx)}))
	producer.End()
	env.Work(app)

	spans := recorder.Ended()
	run := spans[len(spans)-1]
	if run.Name() != "run mail.v1" || run.Status().Description != "no address" || len(run.Events()) != 1 {
		t.Error(run.Name(), run.Status(), run.Events())
	}
	if links := run.Links(); len(links) != 1 || links[0].SpanContext.TraceID() != producer.SpanContext().TraceID() {
		t.Error("links:", run.Links())
	}
	if run.Parent().IsValid() || run.SpanContext().TraceID() == producer.SpanContext().TraceID() {
		t.Error("the span is a child of its producer")
	}
	found := map[string]string{}
	for _, a := range run.Attributes() {
		found[string(a.Key)] = a.Value.Emit()
	}
	if found["cairn.type"] != "mail.v1" || found["cairn.key"] != "k" || found["cairn.attempt"] != "1" {
		t.Error(found)
	}
	if cairnotel.Metadata(context.Background()) != nil {
		t.Error("metadata without a span")
	}
}
