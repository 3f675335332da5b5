/* api/metrics.c - the metrics in the text format of Prometheus.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"
#include "base/json.h"
#include "engine/totals.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* A metric without labels of users.  Those that share a name stand together, and their
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
    {"cairn_commit_seconds_max", NULL, "The longest commit of the processes that live.",
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

static void write_head(struct buf *buf, const char *name, const char *type, const char *help)
{
    buf_printf(buf, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_seconds(struct buf *buf, int64_t us)
{
    buf_printf(buf, "%" PRId64 ".%06" PRId64, us / 1000000, us % 1000000);
}

static void write_plain(struct buf *buf, const cairn_stats *stats)
{
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        const struct metric *metric = &metrics[i];
        uint64_t value = value_of(metric, stats);
        if (metric->help)
            write_head(buf, metric->name, metric->is_gauge ? "gauge" : "counter", metric->help);
        buf_printf(buf, "%s%s ", metric->name, metric->label ? metric->label : "");
        if (metric->is_seconds)
            write_seconds(buf, (int64_t)value);
        else
            buf_printf(buf, "%" PRIu64, value);
        buf_char(buf, '\n');
    }
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Bytes that are no UTF-8, which plain SQL can write, become "?". */
static void write_label_value(struct buf *buf, const char *text)
{
    bool is_valid = utf8_is_valid(text, strlen(text));
    for (const char *at = text; *at; at++) {
        if (*at == '\n')
            buf_str(buf, "\\n");
        else if (*at == '\\' || *at == '"')
            buf_printf(buf, "\\%c", *at);
        else
            buf_char(buf, is_valid || !(*at & 0x80) ? *at : '?');
    }
}

/* name{label="value"} with "key":"word" behind it, if there is one */
static void write_name(struct buf *buf, const char *name, const char *suffix, const char *label,
                       const char *value)
{
    buf_printf(buf, "%s%s", name, suffix);
    if (!label)
        return;
    buf_printf(buf, "{%s=\"", label);
    write_label_value(buf, value);
    buf_char(buf, '"');
}

static const char *label_of(enum total_kind kind)
{
    return kind == TOTAL_TYPE ? "type" : "workflow";
}

/* ---- outcomes -------------------------------------------------------------------------------- */

struct end_word {
    const char *word;
    enum total_count count;
};

static void write_outcomes(struct buf *buf, const struct metrics_output *given,
                           enum total_kind kind, const char *name, const char *help,
                           const struct end_word *ends)
{
    write_head(buf, name, "counter", help);
    for (size_t i = 0; i < given->sum_count; i++) {
        const struct total_sum *sum = &given->sums[i];
        for (const struct end_word *it = ends; it->word && sum->kind == kind; it++) {
            write_name(buf, name, "", label_of(kind), sum->name);
            buf_printf(buf, ",outcome=\"%s\"} %" PRId64 "\n", it->word,
                       sum->total.n[it->count]);
        }
    }
}

static const struct end_word job_outcomes[] = {{"succeeded", TOTAL_ENDED_WELL},
                                               {"failed", TOTAL_ENDED_FAILED},
                                               {"cancelled", TOTAL_ENDED_CANCELLED},
                                               {0}},
                             instance_outcomes[] = {{"completed", TOTAL_ENDED_WELL},
                                                    {"failed", TOTAL_ENDED_FAILED},
                                                    {"cancelled", TOTAL_ENDED_CANCELLED},
                                                    {"aborted", TOTAL_ENDED_ABORTED},
                                                    {0}},
                             call_outcomes[] = {{"completed", TOTAL_CALLS_WELL},
                                                {"failed", TOTAL_CALLS_FAILED},
                                                {"retried", TOTAL_CALLS_RETRIED},
                                                {0}};

/* ---- histograms ------------------------------------------------------------------------------ */

/* Which buckets of core/histogram.h are shown; those below the first are in it. */
struct bounds {
    int first, last;
};

static void write_histogram(struct buf *buf, const char *name, const struct bounds *bounds,
                            const char *label, const char *value,
                            const struct histogram *histogram, int64_t sum_us)
{
    int64_t count = 0;
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        count += histogram->n[i];
        if (i < bounds->first || i > bounds->last)
            continue;
        write_name(buf, name, "_bucket", label, value);
        buf_str(buf, label ? ",le=\"" : "{le=\"");
        write_seconds(buf, INT64_C(2) << i);
        buf_printf(buf, "\"} %" PRId64 "\n", count);
    }
    write_name(buf, name, "_bucket", label, value);
    buf_printf(buf, "%sle=\"+Inf\"} %" PRId64 "\n", label ? "," : "{", count);
    write_name(buf, name, "_sum", label, value);
    buf_str(buf, label ? "} " : " ");
    write_seconds(buf, sum_us);
    buf_char(buf, '\n');
    write_name(buf, name, "_count", label, value);
    buf_printf(buf, "%s%" PRId64 "\n", label ? "} " : " ", count);
}

static void write_histograms(struct buf *buf, const struct metrics_output *given,
                             enum total_kind kind, bool is_waited, const char *name,
                             const char *help)
{
    static const struct bounds bounds = {9, 35}; /* 1 ms to 19 h */
    write_head(buf, name, "histogram", help);
    for (size_t i = 0; i < given->sum_count; i++) {
        const struct total_sum *sum = &given->sums[i];
        const struct total *total = &sum->total;
        if (sum->kind == kind)
            write_histogram(buf, name, &bounds, label_of(kind), sum->name,
                            is_waited ? &total->waited : &total->took,
                            is_waited ? total->waited_us : total->took_us);
    }
}

/* ---- what there is now ----------------------------------------------------------------------- */

static void write_gauge(struct buf *buf, const char *name, const char *help, int64_t value)
{
    write_head(buf, name, "gauge", help);
    buf_printf(buf, "%s %" PRId64 "\n", name, value);
}

enum type_gauge { TYPE_READY, TYPE_LEASED, TYPE_OLDEST, TYPE_WORKERS };

static void write_type_gauge(struct buf *buf, const struct metrics_output *given,
                             enum type_gauge gauge, const char *name, const char *help)
{
    write_head(buf, name, "gauge", help);
    for (size_t i = 0; i < given->type_count; i++) {
        const struct type_item *type = &given->types[i];
        int64_t oldest_us = type->oldest_ready_us ? given->now_us - type->oldest_ready_us : 0;
        write_name(buf, name, "", "type", type->type);
        buf_str(buf, "} ");
        if (gauge == TYPE_OLDEST)
            write_seconds(buf, oldest_us > 0 ? oldest_us : 0);
        else
            buf_printf(buf, "%" PRId64,
                       gauge == TYPE_READY    ? type->ready
                       : gauge == TYPE_LEASED ? type->leased
                                              : type->workers_live);
        buf_char(buf, '\n');
    }
}

static void write_limit_gauge(struct buf *buf, const struct metrics_output *given,
                              size_t member, const char *name, const char *help)
{
    if (!given->limit_count)
        return;
    write_head(buf, name, "gauge", help);
    for (size_t i = 0; i < given->limit_count; i++) {
        const struct limit_item *limit = &given->limits[i];
        write_name(buf, name, "", "limit", limit->name);
        buf_printf(buf, "} %" PRId64 "\n", *(const int64_t *)((const char *)limit + member));
    }
}

static void write_limits(struct buf *buf, const struct metrics_output *given)
{
    write_limit_gauge(buf, given, offsetof(struct limit_item, taken), "cairn_limit_taken",
                      "Tasks that are leased and that the limit matches.");
    write_limit_gauge(buf, given, offsetof(struct limit_item, waiting), "cairn_limit_waiting",
                      "Tasks that can be claimed and that the limit matches; at most 10000 of "
                      "each type are counted.");
    write_limit_gauge(buf, given, offsetof(struct limit_item, is_full), "cairn_limit_full",
                      "1 if no place is free, in one group at least.");
}

static void write_now(struct buf *buf, const struct metrics_output *given)
{
    write_type_gauge(buf, given, TYPE_READY, "cairn_type_ready",
                     "Tasks that can be claimed now, by type; at most 10000 are counted.");
    write_type_gauge(buf, given, TYPE_LEASED, "cairn_type_leased",
                     "Tasks that are leased, by type; at most 10000 are counted.");
    write_type_gauge(buf, given, TYPE_OLDEST, "cairn_type_oldest_ready_seconds",
                     "How long the oldest task that can be claimed has waited, by type.");
    write_type_gauge(buf, given, TYPE_WORKERS, "cairn_type_workers",
                     "Live workers that claim the type.");
    write_limits(buf, given);
    write_gauge(buf, "cairn_dlq_open", "Open records of the dead letter queue, up to 10000.",
                given->dead);
    write_gauge(buf, "cairn_approvals_waiting",
                "Steps that wait for a decision of a person, up to 10000.", given->approvals);
    write_gauge(buf, "cairn_database_bytes", "Size of the database.",
                (int64_t)given->size_bytes);
}

void write_metrics(const struct request *request, struct answer *answer)
{
    static const struct bounds commit_bounds = {7, 24}; /* 0.3 ms to 34 s */
    const struct metrics_output *given = request->out.metrics;
    struct buf *buf = &answer->buf;
    answer->content_type = "text/plain; version=0.0.4; charset=utf-8";
    write_plain(buf, &given->stats);
    write_head(buf, "cairn_commit_seconds", "histogram", "How long commits took.");
    write_histogram(buf, "cairn_commit_seconds", &commit_bounds, NULL, NULL, &given->all->took,
                    given->all->took_us);
    write_outcomes(buf, given, TOTAL_TYPE, "cairn_jobs_ended_total",
                   "Jobs that have ended, by type and outcome.", job_outcomes);
    write_outcomes(buf, given, TOTAL_WORKFLOW, "cairn_instances_ended_total",
                   "Instances that have ended, by workflow and outcome.", instance_outcomes);
    write_outcomes(buf, given, TOTAL_TYPE, "cairn_calls_total",
                   "Calls of handlers that have ended, by type and outcome.", call_outcomes);
    write_histograms(buf, given, TOTAL_TYPE, true, "cairn_queue_wait_seconds",
                     "From being ready to the claim, by type.");
    write_histograms(buf, given, TOTAL_TYPE, false, "cairn_handler_seconds",
                     "From the claim to the report, by type.");
    write_histograms(buf, given, TOTAL_WORKFLOW, false, "cairn_instance_seconds",
                     "From the start of an instance to its end, by workflow.");
    write_now(buf, given);
    write_head(buf, "cairn_build_info", "gauge", "Always 1; the labels describe the server.");
    buf_printf(buf, "cairn_build_info{version=\"%s\",store=\"%s\",schema=\"%d\"} 1\n",
               cairn_version(), given->store, (int)given->schema);
}
