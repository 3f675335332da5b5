/* examples/worker.c - a worker with callbacks: register handlers, run until told to stop.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     worker [URL]               runs until Ctrl-C
 *     worker [URL] --demo        first records a few jobs, then ends when nothing is left to do
 *
 * Four threads run handlers; claims, heartbeats and reports happen by themselves.
 */
#include <cairn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static cairn_worker *worker; /* for the signal handler */

static void on_signal(int number)
{
    (void)number;
    cairn_worker_stop(worker); /* handlers finish, and their outcomes are reported */
}

/* Completes, with an output. */
static cairn_outcome make_thumbnail(cairn_work *work, void *arg)
{
    (void)arg;
    printf("thumbnail of %s\n", cairn_work_task(work)->input);
    cairn_work_set_output(work, "{\"width\": 300, \"height\": 200}");
    return CAIRN_COMPLETE;
}

/* Fails the first time; and asks to be called again at once, not after the backoff. */
static cairn_outcome send_mail(cairn_work *work, void *arg)
{
    int *sent = arg;
    if (cairn_work_task(work)->attempt == 1) {
        cairn_work_set_error(work, "the mail server is busy");
        cairn_work_set_delay(work, 0);
        return CAIRN_RETRY;
    }
    printf("mail number %d for %s\n", ++*sent, cairn_work_task(work)->input);
    return CAIRN_COMPLETE;
}

/* Whatever else begins with "notify.": long work asks now and then whether to go on. */
static cairn_outcome notify(cairn_work *work, void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++)
        if (cairn_work_stop(work))
            return CAIRN_RELEASE;
    printf("notified by %s\n", cairn_work_task(work)->type);
    return CAIRN_COMPLETE;
}

static cairn_code record_demo(cairn_engine *engine, cairn_error *error)
{
    cairn_job_spec jobs[4];
    const char *types[4] = {"content.thumbnail.v1", "content.thumbnail.v1", "notify.email.v1",
                            "notify.webhook.v1"};
    for (int i = 0; i < 4; i++) {
        jobs[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
        jobs[i].type = types[i];
        jobs[i].payload = i % 2 ? "{\"id\": 1}" : "{\"id\": 2}";
    }
    return cairn_enqueue(engine, jobs, 4, NULL, error); /* all four in one commit */
}

static cairn_code run(cairn_engine *engine, int is_demo, cairn_error *error)
{
    int sent = 0;
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    options.until_idle = is_demo;
    cairn_code code = is_demo ? record_demo(engine, error) : CAIRN_OK;
    if (!code)
        code = cairn_worker_new(engine, &options, &worker, error);
    if (!code)
        code = cairn_worker_handle(worker, "content.thumbnail.v1", make_thumbnail, NULL, error);
    if (!code)
        code = cairn_worker_handle(worker, "notify.email.v1", send_mail, &sent, error);
    if (!code)
        code = cairn_worker_handle(worker, "notify.%", notify, NULL, error);
    if (!code) {
        signal(SIGINT, on_signal);
        signal(SIGTERM, on_signal);
        code = cairn_worker_run(worker, error);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
    }
    cairn_worker_free(worker);
    return code;
}

int main(int argc, char **argv)
{
    cairn_engine *engine = NULL;
    cairn_error error;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    int is_demo = argc > 1 && strcmp(argv[argc - 1], "--demo") == 0;
    open.url = argc > 1 + is_demo ? argv[1] : NULL;
    cairn_code code = cairn_open(&open, &engine, &error);
    if (!code)
        code = run(engine, is_demo, &error);
    cairn_close(engine);
    if (code)
        fprintf(stderr, "worker: %s\n    %s\n    %s\n", error.message, error.detail,
                error.hint);
    return code ? 1 : 0;
}
