// Package cairnotel traces handlers and functions with OpenTelemetry. It is a module of its own,
// so that the SDK does not depend on OpenTelemetry.
package cairnotel

import (
	"context"
	"encoding/json"

	"cairn.invalid/cairn"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Middleware makes a span "run TYPE" around each call of a handler or function, for App.Use. The
// span has a link to the producer's span if the task's metadata has a traceparent; it is not its
// child, since a queue would make one endless trace. provider nil: the global one.
func Middleware(provider trace.TracerProvider) func(next cairn.Handler) cairn.Handler {
	if provider == nil {
		provider = otel.GetTracerProvider()
	}
	tracer := provider.Tracer("cairn.invalid/cairn/cairnotel")
	return func(next cairn.Handler) cairn.Handler {
		return func(ctx context.Context, task *cairn.Task) (json.RawMessage, error) {
			options := []trace.SpanStartOption{trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(attributes(task)...)}
			if link, ok := linkOf(task.Metadata); ok {
				options = append(options, trace.WithLinks(link))
			}
			ctx, span := tracer.Start(ctx, "run "+task.Type, options...)
			defer span.End()
			output, err := next(ctx, task)
			if err != nil {
				span.RecordError(err)
				span.SetStatus(codes.Error, err.Error())
			}
			return output, err
		}
	}
}

// Metadata returns the trace context of ctx, for JobOptions.Metadata and StartOptions.Metadata; nil
// if there is none.
func Metadata(ctx context.Context) map[string]any {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	if len(carrier) == 0 {
		return nil
	}
	metadata := map[string]any{}
	for name, value := range carrier {
		metadata[name] = value
	}
	return metadata
}

func attributes(task *cairn.Task) []attribute.KeyValue {
	all := []attribute.KeyValue{
		attribute.String("cairn.task", task.ID), attribute.String("cairn.kind", task.Kind), attribute.String("cairn.type", task.Type),
		attribute.Int("cairn.attempt", int(task.Attempt)), attribute.String("cairn.worker", task.Worker)}
	for name, value := range map[string]string{"cairn.key": task.Key, "cairn.instance": task.InstanceID, "cairn.step": task.Step} {
		if value != "" {
			all = append(all, attribute.String(name, value))
		}
	}
	return all
}

// linkOf is the producer's span, from {"traceparent", "tracestate"}.
func linkOf(metadata json.RawMessage) (trace.Link, bool) {
	var said struct {
		Parent string `json:"traceparent"`
		State  string `json:"tracestate"`
	}
	if len(metadata) == 0 || json.Unmarshal(metadata, &said) != nil || said.Parent == "" {
		return trace.Link{}, false
	}
	carrier := propagation.MapCarrier{"traceparent": said.Parent, "tracestate": said.State}
	producer := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
	return trace.Link{SpanContext: producer}, producer.IsValid()
}
