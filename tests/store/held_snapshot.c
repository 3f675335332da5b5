/* tests/store/held_snapshot.c - how fast a queue is while somebody holds an old snapshot.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   held-snapshot [--seconds N] [--batch N] [--steps]
 *
 * Enqueues and works off jobs (or workflows of 20 steps) in turns, N seconds without and N seconds with
 * a snapshot that another connection holds, as a dump or a report does, on a new database of
 * CAIRN_TEST_POSTGRES.  Prints both throughputs, the slowest second of each, and the ratio.  What a
 * claim reads is checked by test_postgres_held.c, which needs no clock.
 */
#include "base/clock.h"
#include "cairn.h"
#include "scratch.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_MAX = 1000, STEPS = 20 };

struct pressure {
    cairn_engine *engine;
    cairn_error error;
    size_t batch;
    bool is_steps;
    cairn_report reports[BATCH_MAX];
    cairn_job_spec jobs[BATCH_MAX];
    cairn_enqueued enqueued[BATCH_MAX];
};

struct figures {
    uint64_t done;
    double seconds, slowest_turn_ms;
    double worst_rate; /* of a second */
};

static void must(struct pressure *pressure, cairn_code code, const char *doing)
{
    if (!code)
        return;
    fprintf(stderr, "held-snapshot: could not %s: %s (%s)\n", doing, pressure->error.message,
            pressure->error.detail);
    exit(1);
}

static void produce(struct pressure *pressure)
{
    cairn_start_options start = CAIRN_START_DEFAULTS;
    start.workflow = "held";
    if (!pressure->is_steps) {
        must(pressure,
             cairn_enqueue(pressure->engine, pressure->jobs, pressure->batch,
                           pressure->enqueued, &pressure->error),
             "enqueue");
        return;
    }
    for (size_t i = 0; i < pressure->batch; i += STEPS)
        must(pressure,
             cairn_instance_start(pressure->engine, &start, pressure->enqueued,
                                  &pressure->error),
             "start");
}

static size_t work(struct pressure *pressure)
{
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    cairn_page *tasks = NULL;
    claim.worker = "w";
    claim.types = (const char *[]){"held.job"};
    claim.type_count = 1;
    claim.max = (uint32_t)pressure->batch;
    must(pressure, cairn_claim(pressure->engine, &claim, &tasks, &pressure->error), "claim");
    size_t count = cairn_page_count(tasks);
    for (size_t i = 0; i < count; i++) {
        pressure->reports[i] = (cairn_report)CAIRN_REPORT_DEFAULTS;
        pressure->reports[i].task_id = cairn_page_task(tasks, i)->id;
        pressure->reports[i].token = cairn_page_task(tasks, i)->token;
    }
    if (count)
        must(pressure,
             cairn_report_many(pressure->engine, "w", pressure->reports, count, NULL, NULL,
                               NULL, &pressure->error),
             "report");
    cairn_page_free(tasks);
    return count;
}

static struct figures run_for(struct pressure *pressure, int seconds, const char *name)
{
    struct figures figures = {.worst_rate = 1e12};
    int64_t begin_us = monotonic_us(), second_us = begin_us;
    uint64_t in_second = 0;
    for (int64_t now_us = begin_us; now_us - begin_us < seconds * US_PER_SEC;) {
        int64_t turn_us = now_us;
        produce(pressure);
        in_second += work(pressure);
        now_us = monotonic_us();
        if ((double)(now_us - turn_us) / 1000 > figures.slowest_turn_ms)
            figures.slowest_turn_ms = (double)(now_us - turn_us) / 1000;
        if (now_us - second_us < US_PER_SEC)
            continue;
        double rate = (double)in_second * 1e6 / (double)(now_us - second_us);
        if (rate < figures.worst_rate)
            figures.worst_rate = rate;
        if ((now_us - begin_us) / US_PER_SEC % 10 == 0)
            fprintf(stderr, "%s %4lld s: %.0f/s\n", name,
                    (long long)((now_us - begin_us) / US_PER_SEC), rate);
        figures.done += in_second;
        in_second = 0;
        second_us = now_us;
    }
    figures.done += in_second;
    figures.seconds = (double)(monotonic_us() - begin_us) / 1e6;
    printf("%-9s %8.0f %s/s, worst second %8.0f/s, slowest turn %7.1f ms\n", name,
           (double)figures.done / figures.seconds, pressure->is_steps ? "steps" : "jobs",
           figures.worst_rate, figures.slowest_turn_ms);
    return figures;
}

static PGconn *hold_snapshot(const char *url)
{
    PGconn *conn = PQconnectdb(url);
    PGresult *result = PQexec(conn, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
                                    "SELECT count(*) FROM workflow.workflow_registry");
    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        fprintf(stderr, "held-snapshot: %s", PQerrorMessage(conn));
        exit(1);
    }
    PQclear(result);
    return conn;
}

static void prepare(struct pressure *pressure, const char *url)
{
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    char workflow[STEPS * 40 + 64] = "workflow: held\nversion: 1\nsteps:\n";
    for (int i = 0; i < STEPS; i++) {
        size_t len = strlen(workflow);
        snprintf(workflow + len, sizeof workflow - len, "  - {step: s%d, handler: held.job}\n",
                 i);
    }
    options.url = url;
    must(pressure, cairn_open(&options, &pressure->engine, &pressure->error), "open");
    for (size_t i = 0; i < pressure->batch; i++) {
        pressure->jobs[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
        pressure->jobs[i].type = "held.job";
    }
    if (pressure->is_steps)
        must(pressure,
             cairn_workflow_deploy(pressure->engine, "held.yaml", workflow, NULL,
                                   &pressure->error),
             "deploy");
}

int main(int argc, char **argv)
{
    static struct pressure pressure = {.batch = 100};
    int seconds = 10;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--steps") == 0)
            pressure.is_steps = true;
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            seconds = atoi(argv[++i]);
        else if (strcmp(argv[i], "--batch") == 0 && i + 1 < argc)
            pressure.batch = (size_t)atoi(argv[++i]);
    }
    if (seconds < 1 || pressure.batch < 1 || pressure.batch > BATCH_MAX) {
        fprintf(stderr, "usage: held-snapshot [--seconds N] [--batch 1..1000] [--steps]\n");
        return 2;
    }
    const char *url = scratch_store_of("postgres");
    prepare(&pressure, url);
    run_for(&pressure, 2, "warm-up");
    struct figures without = run_for(&pressure, seconds, "without");
    PGconn *holder = hold_snapshot(url);
    struct figures with = run_for(&pressure, seconds, "held");
    PQfinish(holder);
    printf("ratio     %8.2f\n",
           (double)with.done / with.seconds / ((double)without.done / without.seconds));
    cairn_close(pressure.engine);
    return 0;
}
