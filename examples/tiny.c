/* examples/tiny.c - the whole of Cairn's jobs in a hundred lines: record work, do it, look
 * back.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     tiny [URL]        such as sqlite:orders.db, postgres://host/db, http://127.0.0.1:22476
 *
 * Without a URL it uses $CAIRN_URL, or the file cairn.db.  Build it against the library with:
 *
 *     cc tiny.c $(pkg-config --cflags --libs cairn)
 */
#include <cairn.h>
#include <stdio.h>
#include <stdlib.h>

static cairn_engine *engine;
static cairn_error error;

/* Every call answers a code; zero is good, and `error` has the story. */
static void must(cairn_code code, const char *what)
{
    if (code == CAIRN_OK)
        return;
    fprintf(stderr, "tiny: %s: %s\n", what, error.message);
    if (error.detail[0])
        fprintf(stderr, "    %s\n", error.detail);
    if (error.hint[0])
        fprintf(stderr, "    %s\n", error.hint);
    exit(1);
}

/* A producer records that something is to be done.  It needs no worker to be there. */
static cairn_enqueued record_invoice(void)
{
    cairn_job_spec job = CAIRN_JOB_DEFAULTS;
    cairn_enqueued enqueued;
    job.type = "billing.invoice.v1";
    job.payload = "{\"order\": 17, \"total\": 49.9}";
    job.key = "order:17:invoice"; /* saying it twice is the same as once */
    must(cairn_enqueue(engine, &job, 1, &enqueued, &error), "could not enqueue");
    printf("job %s %s\n", enqueued.id, enqueued.existing ? "was known" : "is recorded");
    return enqueued;
}

/* A worker leases what is due, does it, and says how it went. */
static void work_off(void)
{
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = "tiny";
    claim.types = (const char *[]){"billing.%"};
    claim.type_count = 1;
    claim.max = 10;

    cairn_page *tasks;
    must(cairn_claim(engine, &claim, &tasks, &error), "could not claim");
    for (size_t i = 0; i < cairn_page_count(tasks); i++) {
        const cairn_task *task = cairn_page_task(tasks, i);
        printf("doing %s, call %d of %d, with %s\n", task->type, task->attempt,
               task->max_attempts, task->input);

        /* Long work says that it is alive, and learns whether it is still wanted. */
        const char *stop;
        must(cairn_heartbeat(engine, "tiny", task->id, task->token, 30000, NULL, &stop, &error),
             "could not keep the lease");
        if (stop)
            printf("stopped: %s\n", stop);
        else
            must(cairn_task_complete(engine, "tiny", task, "{\"invoice\": 4711}", &error),
                 "could not complete");
    }
    cairn_page_free(tasks);
}

/* Whoever is curious asks for the job, and for everything that ever happened to it. */
static void look_back(const char *id)
{
    cairn_page *jobs;
    must(cairn_job_get(engine, id, &jobs, &error), "could not look");
    const cairn_job *job = cairn_page_job(jobs, 0);
    printf("%s: %s, result %s\n", job->type, job->status, job->result ? job->result : "none");
    cairn_page_free(jobs);

    cairn_page *events;
    must(cairn_job_events(engine, id, NULL, 100, &events, &error), "could not look");
    for (size_t i = 0; i < cairn_page_count(events); i++) {
        const cairn_event *event = cairn_page_event(events, i);
        printf("    %-10s %s\n", event->type, event->data);
    }
    cairn_page_free(events);
}

int main(int argc, char **argv)
{
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    open.url = argc > 1 ? argv[1] : NULL;
    must(cairn_open(&open, &engine, &error), "could not open");
    cairn_enqueued enqueued = record_invoice();
    work_off();
    look_back(enqueued.id);
    cairn_close(engine);
    return 0;
}
