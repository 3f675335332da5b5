/* api/system.c - the clock, the figures, the health of the process, and its own description.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"

#include "openapi_json.h"

#include <inttypes.h>

static void write_now(const struct call *call, const struct request *request,
                      struct answer *answer)
{
    (void)call;
    json_open(&answer->out, '{');
    json_key(&answer->out, "now");
    json_time(&answer->out, request->out.now_us);
    json_close(&answer->out, '}');
}

static void read_advance(struct call *call, struct request *request)
{
    request->in.advance.ms = field_int_needed(&call->body, "ms", 0, DURATION_MS_MAX);
}

static void write_stats(const struct call *call, const struct request *request,
                        struct answer *answer)
{
    (void)call;
    const cairn_stats *stats = &request->out.stats;
    const struct {
        const char *name;
        uint64_t value;
    } figures[] = {
        {"enqueued", stats->enqueued},
        {"claimed", stats->claimed},
        {"completed", stats->completed},
        {"failed", stats->failed},
        {"retried", stats->retried},
        {"cancelled", stats->cancelled},
        {"released", stats->released},
        {"heartbeats", stats->heartbeats},
        {"lease_expiries", stats->lease_expiries},
        {"late_reports", stats->late_reports},
        {"commits", stats->commits},
        {"commit_requests", stats->commit_requests},
        {"commit_us", stats->commit_us},
        {"commit_us_max", stats->commit_us_max},
        {"pending", stats->pending},
        {"ready", stats->ready},
        {"leased", stats->leased},
        {"oldest_waiting_us", stats->oldest_waiting_us},
        {"steps_ready", stats->steps_ready},
        {"steps_leased", stats->steps_leased},
        {"instances_pending", stats->instances_pending},
        {"instances_running", stats->instances_running},
        {"instances_waiting_signal", stats->instances_waiting_signal},
        {"instances_paused", stats->instances_paused},
        {"instances_compensating", stats->instances_compensating},
        {"instances_dlq", stats->instances_dlq},
        {"started", stats->started},
        {"passages", stats->passages},
        {"passage_commits", stats->passage_commits},
        {"passage_conflicts", stats->passage_conflicts},
    };
    json_open(&answer->out, '{');
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        json_key(&answer->out, figures[i].name);
        json_int(&answer->out, (int64_t)figures[i].value);
    }
    json_close(&answer->out, '}');
}

static void write_doctor(const struct call *call, const struct request *request,
                         struct answer *answer)
{
    (void)call;
    const struct page_output *page = &request->out.page;
    json_open(&answer->out, '{');
    json_key(&answer->out, "items");
    json_open(&answer->out, '[');
    for (size_t i = 0; i < page->count; i++) {
        json_open(&answer->out, '{');
        json_key(&answer->out, "check");
        json_str(&answer->out, page->findings[i].check);
        json_key(&answer->out, "result");
        json_str(&answer->out, page->findings[i].result);
        json_key(&answer->out, "text");
        json_str(&answer->out, page->findings[i].text);
        json_close(&answer->out, '}');
    }
    json_close(&answer->out, ']');
    json_close(&answer->out, '}');
}

static void metric_head(struct buf *buf, const char *name, const char *type, const char *help)
{
    buf_printf(buf, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void metric(struct buf *buf, const char *name, const char *type, uint64_t value,
                   const char *help)
{
    metric_head(buf, name, type, help);
    buf_printf(buf, "%s %" PRIu64 "\n", name, value);
}

/* Prometheus wants seconds. */
static void metric_seconds(struct buf *buf, const char *name, const char *type, uint64_t us,
                           const char *help)
{
    metric_head(buf, name, type, help);
    buf_printf(buf, "%s %" PRIu64 ".%06" PRIu64 "\n", name, us / 1000000, us % 1000000);
}

struct state_count {
    const char *name;
    uint64_t count;
};

/* One gauge, a line for each state. */
static void metric_states(struct buf *buf, const char *name, const char *label,
                          const char *help, const struct state_count *states, size_t count)
{
    metric_head(buf, name, "gauge", help);
    for (size_t i = 0; i < count; i++)
        buf_printf(buf, "%s{%s=\"%s\"} %" PRIu64 "\n", name, label, states[i].name,
                   states[i].count);
}

static void write_depth(struct buf *buf, const cairn_stats *stats)
{
    const struct state_count jobs[] = {
        {"ready", stats->ready},
        {"scheduled", stats->pending > stats->ready ? stats->pending - stats->ready : 0},
        {"leased", stats->leased},
    };
    metric_states(buf, "cairn_queue_depth", "state", "Jobs that have not ended, by state.",
                  jobs, sizeof jobs / sizeof *jobs);
}

static void write_flows(struct buf *buf, const cairn_stats *stats)
{
    const struct state_count steps[] = {
        {"ready", stats->steps_ready},
        {"leased", stats->steps_leased},
    };
    const struct state_count instances[] = {
        {"pending", stats->instances_pending},
        {"running", stats->instances_running},
        {"waiting_signal", stats->instances_waiting_signal},
        {"paused", stats->instances_paused},
        {"compensating", stats->instances_compensating},
        {"dlq", stats->instances_dlq},
    };
    metric(buf, "cairn_instances_started_total", "counter", stats->started,
           "Instances started.");
    metric_states(buf, "cairn_steps", "state", "Steps that can be claimed or are leased.",
                  steps, sizeof steps / sizeof *steps);
    metric_states(buf, "cairn_instances", "status", "Instances that have not ended, by status.",
                  instances, sizeof instances / sizeof *instances);
}

static void write_passages(struct buf *buf, const cairn_stats *stats)
{
    metric(buf, "cairn_passages_total", "counter", stats->passages,
           "Passages of functions begun.");
    metric(buf, "cairn_passage_commits_total", "counter", stats->passage_commits,
           "Commits made by passages.");
    metric(buf, "cairn_passage_conflicts_total", "counter", stats->passage_conflicts,
           "Commits of passages that met another revision than they had read.");
}

static void write_metrics(const struct call *call, const struct request *request,
                          struct answer *answer)
{
    (void)call;
    const cairn_stats *stats = &request->out.stats;
    struct buf *buf = &answer->buf;
    answer->content_type = "text/plain; version=0.0.4; charset=utf-8";
    metric(buf, "cairn_jobs_enqueued_total", "counter", stats->enqueued, "Jobs recorded.");
    metric(buf, "cairn_jobs_cancelled_total", "counter", stats->cancelled, "Jobs cancelled.");
    metric(buf, "cairn_tasks_claimed_total", "counter", stats->claimed, "Tasks claimed.");
    metric(buf, "cairn_tasks_completed_total", "counter", stats->completed, "Tasks completed.");
    metric(buf, "cairn_tasks_failed_total", "counter", stats->failed, "Tasks failed for good.");
    metric(buf, "cairn_tasks_retried_total", "counter", stats->retried,
           "Failed attempts that will be tried again.");
    metric(buf, "cairn_tasks_released_total", "counter", stats->released,
           "Tasks given back unexecuted.");
    metric(buf, "cairn_heartbeats_total", "counter", stats->heartbeats, "Leases extended.");
    metric(buf, "cairn_lease_expiries_total", "counter", stats->lease_expiries,
           "Leases that ran out.");
    metric(buf, "cairn_late_reports_total", "counter", stats->late_reports,
           "Reports refused because the lease was lost.");
    write_depth(buf, stats);
    metric_seconds(buf, "cairn_oldest_waiting_seconds", "gauge", stats->oldest_waiting_us,
                   "How long the oldest due job has waited.");
    write_flows(buf, stats);
    write_passages(buf, stats);
    metric(buf, "cairn_commits_total", "counter", stats->commits, "Commits.");
    metric(buf, "cairn_commit_requests_total", "counter", stats->commit_requests,
           "Requests answered by commits; over cairn_commits_total, the batch size.");
    metric_seconds(buf, "cairn_commit_seconds_sum", "counter", stats->commit_us,
                   "Time spent in commits.");
    metric_seconds(buf, "cairn_commit_seconds_max", "gauge", stats->commit_us_max,
                   "The longest commit.");
}

static void write_status(struct answer *answer, const char *status)
{
    json_open(&answer->out, '{');
    json_key(&answer->out, "status");
    json_str(&answer->out, status);
    json_close(&answer->out, '}');
}

static void write_health(const struct call *call, const struct request *request,
                         struct answer *answer)
{
    (void)call, (void)request;
    write_status(answer, "ok");
}

/* A probe is asked every few seconds and wants to know about now. */
enum { READY_WAIT_MS = 1000 };

static void read_ready(struct call *call, struct request *request)
{
    (void)call;
    request->probe_ms = READY_WAIT_MS;
}

static void write_ready(const struct call *call, const struct request *request,
                        struct answer *answer)
{
    (void)call, (void)request;
    write_status(answer, "ready");
}

static void write_openapi(const struct call *call, const struct request *request,
                          struct answer *answer)
{
    (void)call, (void)request;
    buf_add(&answer->buf, (const char *)openapi_json, sizeof openapi_json);
}

static const struct route routes[] = {
    {"GET", "/v1/clock", OP_CLOCK_NOW, NULL, NULL, write_now, 0},
    {"POST", "/v1/clock/advance", OP_CLOCK_ADVANCE, NULL, read_advance, write_now, 0},
    {"GET", "/v1/stats", OP_STATS, NULL, NULL, write_stats, 0},
    {"GET", "/v1/doctor", OP_DOCTOR, NULL, NULL, write_doctor, 0},
    {"GET", "/metrics", OP_STATS, NULL, NULL, write_metrics, 0},
    {"GET", "/healthz", OP_COUNT, NULL, NULL, write_health, 0},
    {"GET", "/readyz", OP_CLOCK_NOW, NULL, read_ready, write_ready, 503},
    {"GET", "/openapi.json", OP_COUNT, NULL, NULL, write_openapi, 0},
};

const struct route_list system_routes = {routes, sizeof routes / sizeof *routes};
