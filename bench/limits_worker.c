/* bench/limits_worker.c - jobs of many groups; see bench/limits.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     limits-worker fill URL TYPE COUNT GROUPS      GROUPS 0: jobs without a group
 *     limits-worker drain URL TYPE THREADS ROOM HOLD_MS FILE
 *
 * A drain says how many jobs are done, a number in each line, until a line comes on standard input.  Then it writes
 * a line for each job to FILE: when its claim returned, when its report was sent (nanoseconds), its place
 * in what the claim brought, and its payload, which is the number of its group.
 */
#include <cairn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FILL = 1000, ROOM_MAX = 1000, THREADS_MAX = 64, WAIT_MS = 50 };

static cairn_engine *engine;
static atomic_bool is_stopped;
static atomic_long done_count;

struct note {
    long long claimed_ns, reported_ns;
    size_t place;
    int group;
};

struct drain {
    const char *type;
    size_t room;
    long hold_ms;
    struct note *notes;
    size_t count, size;
};

static _Noreturn void fail(const char *why)
{
    fprintf(stderr, "limits-worker: %s\n", why);
    exit(1);
}

static void must(cairn_code code, const cairn_error *error)
{
    if (code)
        fail(error->message);
}

static long long now_ns(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000000LL + at.tv_nsec;
}

/* ---- fill ------------------------------------------------------------------------------------- */

/* A group's jobs stand together, as if one tenant after the other had brought its backlog. */
static void fill(const char *type, size_t total, size_t groups)
{
    static cairn_job_spec specs[FILL];
    static cairn_enqueued enqueued[FILL];
    static char names[FILL][32], payloads[FILL][32];
    cairn_error error;
    for (size_t from = 0; from < total; from += FILL) {
        size_t some = FILL < total - from ? FILL : total - from;
        for (size_t i = 0; i < some; i++) {
            size_t group = groups ? (from + i) * groups / total : 0;
            snprintf(names[i], sizeof names[i], "g%06zu", group);
            snprintf(payloads[i], sizeof payloads[i], "%zu", group);
            specs[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
            specs[i].type = type;
            specs[i].payload = payloads[i];
            specs[i].group = groups ? names[i] : NULL;
        }
        must(cairn_enqueue(engine, specs, some, enqueued, &error), &error);
    }
}

/* ---- drain ------------------------------------------------------------------------------------ */

static struct note *add_notes(struct drain *drain, const cairn_page *tasks)
{
    size_t count = cairn_page_count(tasks);
    long long at_ns = now_ns();
    while (drain->count + count > drain->size) {
        drain->size = drain->size ? 2 * drain->size : ROOM_MAX;
        drain->notes = realloc(drain->notes, drain->size * sizeof *drain->notes);
        if (!drain->notes)
            fail("memory ran out");
    }
    struct note *notes = drain->notes + drain->count;
    for (size_t i = 0; i < count; i++)
        notes[i] = (struct note){
            .claimed_ns = at_ns, .place = i, .group = atoi(cairn_page_task(tasks, i)->input)};
    drain->count += count;
    return notes;
}

static size_t make_reports(const cairn_page *tasks, cairn_report *reports)
{
    size_t count = cairn_page_count(tasks);
    for (size_t i = 0; i < count; i++) {
        const cairn_task *task = cairn_page_task(tasks, i);
        reports[i] = (cairn_report)CAIRN_REPORT_DEFAULTS;
        reports[i].task_id = task->id;
        reports[i].token = task->token;
    }
    return count;
}

/* Completes what the last claim brought, and claims the next in the same commit. */
static void *drain_some(void *arg)
{
    struct drain *drain = arg;
    const struct timespec hold = {.tv_sec = drain->hold_ms / 1000,
                                  .tv_nsec = drain->hold_ms % 1000 * 1000000L};
    cairn_report reports[ROOM_MAX];
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    cairn_error error;
    claim.worker = "limits";
    claim.types = &drain->type;
    claim.type_count = 1;
    claim.max = (uint32_t)drain->room;
    claim.wait_ms = WAIT_MS;
    while (!atomic_load(&is_stopped)) {
        cairn_page *tasks = NULL;
        must(cairn_claim(engine, &claim, &tasks, &error), &error);
        while (cairn_page_count(tasks)) {
            cairn_page *next = NULL;
            struct note *notes = add_notes(drain, tasks);
            nanosleep(&hold, NULL);
            size_t count = make_reports(tasks, reports);
            for (size_t i = 0; i < count; i++)
                notes[i].reported_ns = now_ns();
            must(cairn_report_many(engine, "limits", reports, count, NULL, &claim, &next,
                                   &error),
                 &error);
            cairn_page_free(tasks);
            tasks = next;
            printf("%ld\n", atomic_fetch_add(&done_count, (long)count) + (long)count);
            fflush(stdout);
        }
        cairn_page_free(tasks);
    }
    return NULL;
}

static void write_notes(const struct drain *drain, FILE *file)
{
    for (size_t i = 0; i < drain->count; i++) {
        const struct note *note = &drain->notes[i];
        fprintf(file, "%lld %lld %zu %d\n", note->claimed_ns, note->reported_ns, note->place,
                note->group);
    }
}

static void drain_all(const struct drain *wanted, size_t threads, const char *path)
{
    static struct drain drains[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    if (threads > THREADS_MAX || wanted->room > ROOM_MAX)
        fail("too many threads, or too much room");
    FILE *file = fopen(path, "we");
    if (!file)
        fail("the file cannot be written");
    puts("ready");
    fflush(stdout);
    getchar();
    for (size_t i = 0; i < threads; i++) {
        drains[i] = *wanted;
        if (pthread_create(&ids[i], NULL, drain_some, &drains[i]))
            fail("no thread can be started");
    }
    getchar();
    atomic_store(&is_stopped, true);
    for (size_t i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        write_notes(&drains[i], file);
        free(drains[i].notes);
    }
    if (fclose(file))
        fail("the file cannot be written");
}

static size_t number(const char *text)
{
    return strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cairn_error error;
    bool is_fill = argc == 6 && strcmp(argv[1], "fill") == 0;
    bool is_drain = argc == 8 && strcmp(argv[1], "drain") == 0;
    if (!is_fill && !is_drain)
        fail("see the head of bench/limits_worker.c");
    open.url = argv[2];
    must(cairn_open(&open, &engine, &error), &error);
    if (is_fill)
        fill(argv[3], number(argv[4]), number(argv[5]));
    else
        drain_all(&(struct drain){.type = argv[3],
                                  .room = number(argv[5]),
                                  .hold_ms = (long)number(argv[6])},
                  number(argv[4]), argv[7]);
    cairn_close(engine);
    return 0;
}
