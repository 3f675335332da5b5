/* tests/kill/function_worker.c - a worker with two functions, made to be killed.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     function_worker URL CALLS
 *
 * Both functions make the same trip, one in each commit mode.  Every call of a step's code leaves a
 * line "INSTANCE STEP" in the file CALLS, written at once, so that what was repeated can be counted.
 */
#include "cairn.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEASE_MS = 2000, LEGS = 3 };

static int calls_fd;
static cairn_worker *the_worker; /* for the signal handler */

static void stop(int number)
{
    (void)number;
    cairn_worker_stop(the_worker);
}

/* One write to a file opened for appending: whole lines, whoever else writes. */
static cairn_outcome call(cairn_work *work, void *arg)
{
    (void)arg;
    const cairn_task *task = cairn_work_task(work);
    char line[160];
    int len = snprintf(line, sizeof line, "%s %s\n", task->instance_id, task->step);
    if (write(calls_fd, line, (size_t)len) != len)
        return CAIRN_DEAD;
    if (strcmp(task->step, "shaky") == 0 && task->attempt == 1) {
        cairn_work_set_error(work, "the first call fails");
        return CAIRN_FAIL;
    }
    return CAIRN_COMPLETE;
}

static cairn_code step(cairn_passage *passage, const char *key)
{
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    options.key = key;
    options.run = call;
    options.base_ms = 20;
    return cairn_passage_step(passage, &options, NULL, NULL);
}

static cairn_code leave(cairn_passage *passage)
{
    cairn_job_spec ticket = CAIRN_JOB_DEFAULTS;
    ticket.type = "trip.ticket.v1";
    ticket.payload = "{}";
    cairn_code code = step(passage, "pack");
    if (!code)
        code = cairn_passage_log(passage, "info", "packed", NULL, NULL);
    if (!code)
        code = step(passage, "shaky");
    if (!code)
        code = cairn_passage_start_job(passage, "ticket", &ticket, NULL, NULL);
    return code ? code : cairn_passage_sleep(passage, "rest", 30, NULL);
}

static cairn_code trip(cairn_passage *passage, void *arg)
{
    (void)arg;
    int64_t began_us;
    cairn_code code = cairn_passage_now(passage, &began_us, NULL);
    if (!code)
        code = leave(passage);
    if (!code)
        code = cairn_passage_wait_event(passage, "signal", "go", -1, NULL, NULL);
    for (int i = 0; i < LEGS && !code; i++)
        code = step(passage, "leg");
    if (!code)
        code = cairn_passage_log(passage, "info", "arrived", NULL, NULL);
    return code;
}

static cairn_code set_up(cairn_engine *engine, cairn_error *error)
{
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    cairn_function_options function = CAIRN_FUNCTION_DEFAULTS;
    options.lease_ms = LEASE_MS;
    function.run = trip;
    function.max_attempts = 1000; /* it is killed on purpose */
    cairn_code code = cairn_worker_new(engine, &options, &the_worker, error);
    function.name = "trip_step";
    if (!code)
        code = cairn_worker_function(the_worker, &function, error);
    function.name = "trip_passage";
    function.commit = CAIRN_COMMIT_PASSAGE;
    return code ? code : cairn_worker_function(the_worker, &function, error);
}

int main(int argc, char **argv)
{
    cairn_engine *engine = NULL;
    cairn_error error = {0};
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    if (argc != 3)
        return 2;
    options.url = argv[1];
    calls_fd = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0600);
    cairn_code code = calls_fd < 0 ? CAIRN_E_STORE : cairn_open(&options, &engine, &error);
    if (!code)
        code = set_up(engine, &error);
    if (!code) {
        signal(SIGTERM, stop);
        fputs("working\n", stderr);
        code = cairn_worker_run(the_worker, &error);
    }
    if (code)
        fprintf(stderr, "%s\n%s\n", error.message, error.detail);
    cairn_worker_free(the_worker);
    cairn_close(engine);
    return !code ? 0 : code == CAIRN_E_UNREACHABLE ? 3 : 1;
}
