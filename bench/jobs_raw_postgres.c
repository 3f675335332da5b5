/* bench/jobs_raw_postgres.c - the bare statements for jobs on PostgreSQL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/jobs.h"
#include "bench/raw_postgres.h"

static const struct raw_pg_statement statements[] = {
    {"insert",
     "INSERT INTO workflow.workflow_run (id, type, payload, status, priority, run_at, "
     "attempt, max_attempts, created_at, updated_at, is_ready) "
     "SELECT id, $2, $3::jsonb, 'pending', 100, now(), 0, 3, now(), now(), true "
     "FROM unnest($1::uuid[]) AS given (id)"},
    {"lease_job",
     "UPDATE workflow.workflow_run AS r SET status = 'leased', is_ready = false, "
     "leased_by = $2, lease_until = now() + interval '30 s', lease_token = $3, "
     "updated_at = now() FROM unnest($1::uuid[]) AS given (id) WHERE r.id = given.id"},
    {"complete_job",
     "UPDATE workflow.workflow_run AS r SET status = 'succeeded', is_ready = false, "
     "leased_by = NULL, lease_until = NULL, lease_token = NULL, ended_by = $2, "
     "ended_token = $3, result = 'null', updated_at = now() "
     "FROM unnest($1::uuid[]) AS given (id) WHERE r.id = given.id"},
};

static bool open_raw(const char *url, const struct raw_plan *plan, void **ret_raw)
{
    return raw_pg_open(url, plan, statements, sizeof statements / sizeof *statements, ret_raw);
}

static bool send_change(struct raw_pg *raw, const char *change, struct raw_range jobs,
                        const char *const *events)
{
    if (jobs.count == 0)
        return true;
    const char *ids = raw_pg_ids(raw, jobs);
    if (!raw_pg_send(raw, change, 3, (const char *[]){ids, BENCH_WORKER, RAW_TOKEN}))
        return false;
    for (; *events; events++)
        if (!raw_pg_event(raw, ids, *events, NULL, RAW_CLAIM_DATA))
            return false;
    return true;
}

static bool start(void *arg, struct raw_range items)
{
    struct raw_pg *raw = arg;
    const char *ids = raw_pg_ids(raw, items);
    return raw_pg_commit(
        raw, raw_pg_begin(raw) &&
                 raw_pg_send(raw, "insert", 3,
                             (const char *[]){ids, raw->plan.type, BENCH_PAYLOAD}) &&
                 raw_pg_event(raw, ids, "created", NULL, "{}"));
}

static bool turn(void *arg, struct raw_range done, struct raw_range next)
{
    static const char *const completed[] = {"succeeded", NULL};
    static const char *const leased[] = {"leased", "started", NULL};
    struct raw_pg *raw = arg;
    return raw_pg_commit(raw, raw_pg_begin(raw) &&
                                  send_change(raw, "complete_job", done, completed) &&
                                  send_change(raw, "lease_job", next, leased));
}

const struct raw_ops raw_jobs_postgres = {
    .open = open_raw, .start = start, .turn = turn, .close = raw_pg_close};
