/* bench/peers/cairn.c - Cairn itself, driven as the others are; see bench/peers/compare.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     peer enqueue URL COUNT BATCH
 *     peer start URL COUNT STEPS          workflows, whose steps are drained like jobs
 *     peer drain URL batched|single|jobs|steps [MAX]      until a line comes on standard input
 *     peer latency URL SAMPLES
 *
 * bench/round-trips uses it, too: "jobs" and "steps" are drained by one thread, in batches.
 */
#include <cairn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH_MAX = 1000, BATCH = 500, STEPS = 100, LANES = 2, SINGLES = 24, TELL_MS = 10 };

static cairn_engine *engine;
static atomic_bool is_stopped;
static atomic_long done_count;

static void must(cairn_code code, const cairn_error *error)
{
    if (code && code != CAIRN_E_CLOSED) {
        fprintf(stderr, "peer: %s: %s\n", cairn_code_name(code), error->message);
        exit(1);
    }
}

static void await_line(void)
{
    int c = getchar();
    while (c != '\n' && c != EOF)
        c = getchar();
}

static void say(const char *word)
{
    puts(word);
    fflush(stdout);
}

/* ---- enqueue ---------------------------------------------------------------------------------- */

static void enqueue(size_t count, size_t batch)
{
    static cairn_job_spec specs[BATCH_MAX];
    static cairn_enqueued enqueued[BATCH_MAX];
    static char payloads[BATCH_MAX][32];
    cairn_error error;
    say("ready");
    await_line();
    for (size_t from = 0; from < count; from += batch) {
        size_t some = batch < count - from ? batch : count - from;
        for (size_t i = 0; i < some; i++) {
            snprintf(payloads[i], sizeof payloads[i], "{\"n\": %zu}", from + i);
            specs[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
            specs[i].type = "noop";
            specs[i].payload = payloads[i];
        }
        must(cairn_enqueue(engine, specs, some, enqueued, &error), &error);
    }
    say("done");
}

/* ---- workflows -------------------------------------------------------------------------------- */

/* Without being told: nobody measures it. */
static void start(size_t count, size_t steps)
{
    cairn_start_options options = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    cairn_error error;
    char name[32], *text = malloc(64 + steps * 48);
    if (!text)
        exit(1);
    snprintf(name, sizeof name, "peer-%zu", steps);
    int at = sprintf(text, "{\"workflow\": \"%s\", \"version\": 1, \"steps\": [", name);
    for (size_t i = 0; i < steps; i++)
        at += sprintf(text + at, "%s{\"step\": \"s%zu\", \"handler\": \"noop\"}", i ? ", " : "",
                      i);
    sprintf(text + at, "]}");
    must(cairn_workflow_deploy(engine, "peer", text, NULL, &error), &error);
    options.workflow = name;
    for (size_t i = 0; i < count; i++)
        must(cairn_instance_start(engine, &options, &started, &error), &error);
    free(text);
    say("done");
}

/* ---- drain ------------------------------------------------------------------------------------ */

static void *tell(void *arg)
{
    const struct timespec rest = {.tv_nsec = TELL_MS * 1000000L};
    for (long told = 0;; nanosleep(&rest, NULL)) {
        long now = atomic_load(&done_count);
        if (now != told)
            printf("%ld\n", told = now), fflush(stdout);
    }
    return arg;
}

/* Completes what the last claim brought, and claims the next in the same commit. */
static void *drain_lane(void *arg)
{
    size_t max = *(const size_t *)arg, count = 0;
    cairn_report reports[BATCH];
    cairn_page *tasks = NULL, *next = NULL;
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    cairn_error error;
    claim.worker = "peer";
    claim.types = (const char *[]){"noop"};
    claim.type_count = 1;
    claim.max = (uint32_t)max;
    claim.wait_ms = 50;
    while (!atomic_load(&is_stopped)) {
        for (size_t i = 0; i < count; i++) {
            const cairn_task *task = cairn_page_task(tasks, i);
            reports[i] = (cairn_report)CAIRN_REPORT_DEFAULTS;
            reports[i].task_id = task->id;
            reports[i].token = task->token;
        }
        must(count ? cairn_report_many(engine, "peer", reports, count, NULL, &claim, &next,
                                       &error)
                   : cairn_claim(engine, &claim, &next, &error),
             &error);
        atomic_fetch_add(&done_count, (long)count);
        cairn_page_free(tasks);
        tasks = next;
        next = NULL;
        count = cairn_page_count(tasks);
    }
    cairn_page_free(tasks);
    return NULL;
}

/* given: how many each thread takes; NULL: as many as it says here. */
static void drain(const char *mode, const char *given)
{
    static const struct {
        const char *name;
        size_t lanes, max;
    } modes[] = {{"batched", LANES, BATCH},
                 {"jobs", 1, BATCH},
                 {"steps", 1, STEPS},
                 {"single", SINGLES, 1}};
    pthread_t lanes[SINGLES], teller;
    size_t which = 0;
    while (which < 3 && strcmp(modes[which].name, mode) != 0)
        which++;
    size_t count = modes[which].lanes, max = modes[which].max;
    size_t wanted = given ? strtoul(given, NULL, 10) : 0;
    if (wanted && wanted < BATCH)
        max = wanted;
    say("ready");
    await_line();
    pthread_create(&teller, NULL, tell, NULL);
    for (size_t i = 0; i < count; i++)
        pthread_create(&lanes[i], NULL, drain_lane, &max);
    await_line();
    atomic_store(&is_stopped, true);
    for (size_t i = 0; i < count; i++)
        pthread_join(lanes[i], NULL);
}

/* ---- latency ---------------------------------------------------------------------------------- */

static double now_us(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e6 + (double)at.tv_nsec / 1e3;
}

static _Atomic double started_us;

static cairn_outcome note_start(cairn_work *work, void *arg)
{
    (void)work;
    (void)arg;
    atomic_store(&started_us, now_us());
    return CAIRN_COMPLETE;
}

static void *run_worker(void *worker)
{
    cairn_error error;
    must(cairn_worker_run(worker, &error), &error);
    return NULL;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure_latency(size_t samples)
{
    double *found = calloc(samples, sizeof *found);
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    cairn_worker *worker;
    cairn_enqueued added;
    cairn_error error;
    pthread_t thread;
    if (!found)
        exit(1);
    options.concurrency = SINGLES;
    spec.type = "noop";
    must(cairn_worker_new(engine, &options, &worker, &error), &error);
    must(cairn_worker_handle(worker, "noop", note_start, NULL, &error), &error);
    pthread_create(&thread, NULL, run_worker, worker);
    say("ready");
    await_line();
    for (size_t i = 0; i < samples; i++) {
        double begun_us = now_us();
        atomic_store(&started_us, 0);
        must(cairn_enqueue(engine, &spec, 1, &added, &error), &error);
        const struct timespec rest = {.tv_nsec = 20000};
        while (atomic_load(&started_us) == 0)
            nanosleep(&rest, NULL);
        found[i] = atomic_load(&started_us) - begun_us;
    }
    qsort(found, samples, sizeof *found, compare_doubles);
    printf("{\"p50\": %.0f, \"p99\": %.0f}\n", found[samples / 2], found[samples * 99 / 100]);
    cairn_worker_stop(worker);
    pthread_join(thread, NULL);
    cairn_worker_free(worker);
    free(found);
}

int main(int argc, char **argv)
{
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cairn_error error;
    if (argc < 4)
        return 2;
    open.url = argv[2];
    must(cairn_open(&open, &engine, &error), &error);
    if (strcmp(argv[1], "enqueue") == 0 && argc == 5)
        enqueue(strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
    else if (strcmp(argv[1], "drain") == 0)
        drain(argv[3], argc > 4 ? argv[4] : NULL);
    else if (strcmp(argv[1], "start") == 0 && argc == 5)
        start(strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
    else
        measure_latency(strtoul(argv[3], NULL, 10));
    cairn_close(engine);
    return 0;
}
