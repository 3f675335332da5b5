/* api/system.c - the metrics, the health of the process, and its own description.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"
#include "base/error.h"

#include <inttypes.h>
#include <string.h>

/* A metric in the text format of Prometheus.  Those that share a name stand together, and their
 * labels tell them apart. */
struct metric {
    const char *name, *label, *help; /* label: such as {state="ready"}; NULL: none */
    size_t offset;                   /* in cairn_stats */
    bool is_gauge;
    bool is_seconds; /* kept in microseconds */
};

#define STAT(member) .offset = offsetof(cairn_stats, member)
#define COUNTER(metric_name, member, text)              \
    {                                                   \
        .name = metric_name, STAT(member), .help = text \
    }
#define STATE(metric_name, metric_label, member, text)                          \
    {                                                                           \
        .name = metric_name, .label = metric_label, STAT(member), .help = text, \
        .is_gauge = true                                                        \
    }

static const struct metric metrics[] = {
    COUNTER("cairn_jobs_enqueued_total", enqueued, "Jobs recorded."),
    COUNTER("cairn_jobs_cancelled_total", cancelled, "Jobs cancelled."),
    COUNTER("cairn_tasks_claimed_total", claimed, "Tasks claimed."),
    COUNTER("cairn_tasks_completed_total", completed, "Tasks completed."),
    COUNTER("cairn_tasks_failed_total", failed, "Tasks failed for good."),
    COUNTER("cairn_tasks_retried_total", retried, "Failed attempts that will be tried again."),
    COUNTER("cairn_tasks_released_total", released, "Tasks given back unexecuted."),
    COUNTER("cairn_heartbeats_total", heartbeats, "Leases extended."),
    COUNTER("cairn_lease_expiries_total", lease_expiries, "Leases that ran out."),
    COUNTER("cairn_late_reports_total", late_reports,
            "Reports refused because the lease was lost."),
    STATE("cairn_queue_depth", "{state=\"ready\"}", ready,
          "Jobs that have not ended, by state."),
    STATE("cairn_queue_depth", "{state=\"scheduled\"}", pending, NULL),
    STATE("cairn_queue_depth", "{state=\"leased\"}", leased, NULL),
    {"cairn_oldest_waiting_seconds", NULL, "How long the oldest due job has waited.",
     offsetof(cairn_stats, oldest_waiting_us), true, true},
    COUNTER("cairn_instances_started_total", started, "Instances started."),
    STATE("cairn_steps", "{state=\"ready\"}", steps_ready,
          "Steps that can be claimed or are leased."),
    STATE("cairn_steps", "{state=\"leased\"}", steps_leased, NULL),
    STATE("cairn_instances", "{status=\"pending\"}", instances_pending,
          "Instances that have not ended, by status."),
    STATE("cairn_instances", "{status=\"running\"}", instances_running, NULL),
    STATE("cairn_instances", "{status=\"waiting_signal\"}", instances_waiting_signal, NULL),
    STATE("cairn_instances", "{status=\"paused\"}", instances_paused, NULL),
    STATE("cairn_instances", "{status=\"compensating\"}", instances_compensating, NULL),
    STATE("cairn_instances", "{status=\"dlq\"}", instances_dlq, NULL),
    COUNTER("cairn_passages_total", passages, "Passages of functions begun."),
    COUNTER("cairn_passage_commits_total", passage_commits, "Commits made by passages."),
    COUNTER("cairn_passage_conflicts_total", passage_conflicts,
            "Commits of passages that met another revision than they had read."),
    COUNTER("cairn_commits_total", commits, "Commits."),
    COUNTER("cairn_commit_requests_total", commit_requests,
            "Requests answered by commits; over cairn_commits_total, the batch size."),
    {"cairn_commit_seconds_sum", NULL, "Time spent in commits.",
     offsetof(cairn_stats, commit_us), false, true},
    {"cairn_commit_seconds_max", NULL, "The longest commit.",
     offsetof(cairn_stats, commit_us_max), true, true},
};

/* Jobs that are pending but not due yet are no figure of their own. */
static uint64_t value_of(const struct metric *metric, const cairn_stats *stats)
{
    uint64_t value;
    memcpy(&value, (const char *)stats + metric->offset, sizeof value);
    if (metric->offset != offsetof(cairn_stats, pending))
        return value;
    return value > stats->ready ? value - stats->ready : 0;
}

void write_metrics(const struct request *request, struct answer *answer)
{
    struct buf *buf = &answer->buf;
    answer->content_type = "text/plain; version=0.0.4; charset=utf-8";
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        const struct metric *metric = &metrics[i];
        uint64_t value = value_of(metric, &request->out.stats);
        if (metric->help)
            buf_printf(buf, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help,
                       metric->name, metric->is_gauge ? "gauge" : "counter");
        buf_printf(buf, "%s%s ", metric->name, metric->label ? metric->label : "");
        if (metric->is_seconds)
            buf_printf(buf, "%" PRIu64 ".%06" PRIu64 "\n", value / 1000000, value % 1000000);
        else
            buf_printf(buf, "%" PRIu64 "\n", value);
    }
}

/* Without the engine it is ok; with its answer it is ready. */
void write_health(const struct request *request, struct answer *answer)
{
    json_open(&answer->out, '{');
    json_str(json_key(&answer->out, "status"), request->op == OP_COUNT ? "ok" : "ready");
    json_close(&answer->out, '}');
}

void read_clock(struct call *call, struct request *request)
{
    (void)call;
    request->in.clock.is_next_wanted = true;
}

/* A probe is asked every few seconds and wants to know about now. */
enum { READY_WAIT_MS = 1000 };

void read_ready(struct call *call, struct request *request)
{
    (void)call;
    request->probe_ms = READY_WAIT_MS;
}

/* From openapi.S, which scripts/gen_api.py makes. */
extern const char openapi_json[], openapi_json_end[];

void write_openapi(const struct request *request, struct answer *answer)
{
    (void)request;
    /* cppcheck-suppress comparePointers ; the two labels are of one piece of text */
    buf_add(&answer->buf, openapi_json, (size_t)(openapi_json_end - openapi_json));
}

/* The server has this route itself: a stream is no answer. */
void write_stream(const struct request *request, struct answer *answer)
{
    (void)request;
    cairn_error error;
    fail(&error, CAIRN_E_NOT_FOUND, "the stream is there only over HTTP");
    fail_hint(&error, CAIRN_E_NOT_FOUND, "follow GET /v1/events?cursor=");
    answer_error(answer, &error);
}

/* A dry run says what it has found; else the action has begun. */
void write_bulk(const struct request *request, struct answer *answer)
{
    const struct bulk_item *bulk = &request->out.bulk;
    struct json_out *out = &answer->out;
    if (!request->in.bulk.is_dry_run) {
        answer->status = 202;
        object_write(out, &bulk_object, bulk, WRITE_ANSWER);
        return;
    }
    json_open(out, '{');
    json_open(json_key(out, "matched"), '{');
    json_int(json_key(out, "n"), bulk->n);
    json_bool(json_key(out, "is_more"), bulk->is_more);
    json_close(out, '}');
    json_open(json_key(out, "sample"), '[');
    for (size_t i = 0; i < bulk->matched_count; i++)
        json_str(out, bulk->matched[i]);
    json_close(out, ']');
    json_close(out, '}');
}

void write_overview(const struct request *request, struct answer *answer)
{
    json_raw(&answer->out, request->out.overview);
}

/* {"counts": {STATUS: {"n", "is_more"}, ...}} */
void write_counts(const struct request *request, struct answer *answer)
{
    const struct page_output *page = &request->out.page;
    struct json_out *out = &answer->out;
    json_open(out, '{');
    json_open(json_key(out, "counts"), '{');
    for (size_t i = 0; i < page->count; i++) {
        json_open(json_key(out, page->counts[i].status), '{');
        json_int(json_key(out, "n"), page->counts[i].n);
        json_bool(json_key(out, "is_more"), page->counts[i].is_more);
        json_close(out, '}');
    }
    json_close(out, '}');
    json_close(out, '}');
}

void write_errors(const struct request *request, struct answer *answer)
{
    const struct page_output *page = &request->out.page;
    struct json_out *out = &answer->out;
    json_open(out, '{');
    list_write(out, "items", &error_group_object, page->errors, page->count, WRITE_ANSWER);
    json_int(json_key(out, "scanned"), page->n);
    json_bool(json_key(out, "is_more"), page->is_more);
    json_close(out, '}');
}
