/* bench/jobs_raw_sqlite.c - the bare statements for jobs on SQLite.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/jobs.h"
#include "bench/raw_sqlite.h"

enum { INSERT = RAW_OWN, LEASE, COMPLETE };

static const char *const statements[] = {
    "INSERT INTO workflow_run (id, type, payload, status, priority, run_at, attempt, "
    "max_attempts, created_at, updated_at, is_ready) "
    "VALUES (?1, ?2, ?3, 'pending', 100, ?4, 0, 3, ?4, ?4, 1)",
    "UPDATE workflow_run SET status = 'leased', is_ready = 0, leased_by = ?2, "
    "lease_until = ?3, lease_token = ?4, updated_at = ?5 WHERE seq = ?1",
    "UPDATE workflow_run SET status = 'succeeded', is_ready = 0, leased_by = NULL, "
    "lease_until = NULL, lease_token = NULL, ended_by = ?2, ended_token = ?3, "
    "result = 'null', updated_at = ?4 WHERE seq = ?1",
};

static bool open_raw(const char *url, const struct raw_plan *plan, void **ret_raw)
{
    return raw_lite_open(url, plan, statements, sizeof statements / sizeof *statements,
                         ret_raw);
}

static bool insert_one(struct raw_lite *raw, uint64_t at)
{
    struct raw_item *job = &raw->plan.items[at];
    bool is_done =
        raw_lite_run(raw, INSERT, "ttti", job->id, raw->plan.type, BENCH_PAYLOAD, raw->now_us);
    job->seq = sqlite3_last_insert_rowid(raw->db);
    return is_done && raw_lite_event(raw, job, "created", NULL, NULL);
}

static bool complete_one(struct raw_lite *raw, uint64_t at)
{
    const struct raw_item *job = &raw->plan.items[at];
    return raw_lite_run(raw, COMPLETE, "itti", job->seq, BENCH_WORKER, RAW_TOKEN,
                        raw->now_us) &&
           raw_lite_event(raw, job, "succeeded", NULL, RAW_CLAIM_DATA);
}

static bool lease_one(struct raw_lite *raw, uint64_t at)
{
    const struct raw_item *job = &raw->plan.items[at];
    return raw_lite_run(raw, LEASE, "ititi", job->seq, BENCH_WORKER,
                        raw->now_us + 30 * US_PER_SEC, RAW_TOKEN, raw->now_us) &&
           raw_lite_event(raw, job, "leased", NULL, RAW_CLAIM_DATA) &&
           raw_lite_event(raw, job, "started", NULL, RAW_CLAIM_DATA);
}

static bool start(void *raw, struct raw_range items)
{
    return raw_lite_turn(raw, items, insert_one, (struct raw_range){0}, NULL);
}

static bool turn(void *raw, struct raw_range done, struct raw_range next)
{
    return raw_lite_turn(raw, done, complete_one, next, lease_one);
}

const struct raw_ops raw_jobs_sqlite = {
    .open = open_raw, .start = start, .turn = turn, .close = raw_lite_close};
