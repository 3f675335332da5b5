/* tests/spec/flow_world.c - workflows in a world of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_world.h"

#include "scratch.h"

#include <jansson.h>
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdlib.h>

/* ---- opening ----------------------------------------------------------------------------- */

void wf_open(struct flow_world *fw)
{
    *fw = (struct flow_world){0};
    world_open(&fw->world);
}

void wf_open_as(struct flow_world *fw, cairn_open_options options)
{
    *fw = (struct flow_world){.world = {.url = scratch_store(), .seed = options.seed}};
    options.url = fw->world.url;
    options.virtual_clock = true;
    options.start_us = START_US;
    CHECK_DONE(&fw->world, cairn_open(&options, &fw->world.engine, &fw->world.error));
}

void wf_open_limited(struct flow_world *fw, size_t max_payload)
{
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.seed = 42;
    options.max_payload = max_payload;
    wf_open_as(fw, options);
}

void wf_close(struct flow_world *fw)
{
    cairn_page_free(fw->seen);
    cairn_page_free(fw->seen_steps);
    world_close(&fw->world);
}

void wf_advance(struct flow_world *fw, int64_t ms)
{
    world_advance(&fw->world, ms);
}

cairn_code wf_deploy(struct flow_world *fw, const char *text)
{
    return cairn_workflow_deploy(fw->world.engine, "test.yaml", text, NULL, &fw->world.error);
}

cairn_code wf_start(struct flow_world *fw, const cairn_start_options *options,
                    cairn_enqueued *ret_started)
{
    cairn_enqueued started = {.existing = -1};
    cairn_code code =
        cairn_instance_start(fw->world.engine, options, &started, &fw->world.error);
    if (!code)
        snprintf(fw->id, sizeof fw->id, "%s", started.id);
    if (ret_started)
        *ret_started = started;
    return code;
}

void wf_begin(struct flow_world *fw, const char *text)
{
    cairn_start_options options = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    wf_open(fw);
    CHECK_DONE(&fw->world, wf_deploy(fw, text));
    options.workflow = "w";
    options.input = "{\"n\": 1}";
    CHECK_DONE(&fw->world, wf_start(fw, &options, &started));
    CHECK_INT(started.existing, 0);
}

/* ---- working ----------------------------------------------------------------------------- */

static void copy(char *to, size_t room, const char *from)
{
    int len = snprintf(to, room, "%s", from ? from : "");
    CHECK((size_t)len < room, "\"%s\" does not fit", from);
}

static struct task hold(const struct flow_world *fw, const char *worker, const cairn_task *task)
{
    struct task held = {.attempt = task->attempt,
                        .max_attempts = task->max_attempts,
                        .lease_until_us = task->lease_until_us};
    CHECK(strcmp(task->kind, "job") != 0, "a job among steps");
    CHECK(task->token && task->token[0], "a task without a token");
    CHECK(task->instance_id && strncmp(task->id, task->instance_id, 36) == 0,
          "task %s of instance %s", task->id, task->instance_id);
    CHECK(task->id[36] == '.' && strlen(fw->id) == 36, "the task's id is %s", task->id);
    copy(held.worker, sizeof held.worker, worker);
    copy(held.id, sizeof held.id, task->id);
    copy(held.token, sizeof held.token, task->token);
    copy(held.key, sizeof held.key, task->key);
    copy(held.kind, sizeof held.kind, task->kind);
    copy(held.type, sizeof held.type, task->type);
    copy(held.step, sizeof held.step, task->step);
    copy(held.reason, sizeof held.reason, task->reason);
    copy(held.input, sizeof held.input, task->input);
    copy(held.signal, sizeof held.signal, task->signal);
    return held;
}

size_t wf_take_many(struct flow_world *fw, const char *worker, const char *type, uint32_t max,
                    struct task *ret_tasks)
{
    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    cairn_page *tasks = NULL;
    options.worker = worker;
    options.types = &type;
    options.type_count = 1;
    options.max = max;
    CHECK_DONE(&fw->world, cairn_claim(fw->world.engine, &options, &tasks, &fw->world.error));
    size_t count = cairn_page_count(tasks);
    CHECK(count <= max, "%zu tasks instead of at most %u", count, max);
    for (size_t i = 0; i < count; i++)
        ret_tasks[i] = hold(fw, worker, cairn_page_task(tasks, i));
    cairn_page_free(tasks);
    return count;
}

struct task wf_take(struct flow_world *fw, const char *worker)
{
    struct task task = {0};
    CHECK(wf_take_many(fw, worker, "%", 1, &task) == 1, "there is nothing to take");
    return task;
}

struct task wf_take_step(struct flow_world *fw, const char *step)
{
    struct task task = wf_take(fw, "w");
    CHECK_STR(task.step, step);
    CHECK_STR(task.kind, "step");
    return task;
}

struct task wf_take_undo(struct flow_world *fw, const char *step)
{
    struct task task = wf_take(fw, "w");
    CHECK_STR(task.step, step);
    CHECK_STR(task.kind, "compensation");
    return task;
}

void wf_check_nothing_to_take(struct flow_world *fw)
{
    struct task task = {0};
    size_t count = wf_take_many(fw, "a-late-worker", "%", 1, &task);
    CHECK(count == 0, "%s of step %s was brought", task.kind, task.step);
}

cairn_code wf_report_as(struct flow_world *fw, const struct task *task, cairn_report *report)
{
    report->task_id = task->id;
    report->token = task->token;
    return cairn_report_many(fw->world.engine, task->worker, report, 1, NULL, NULL, NULL,
                             &fw->world.error);
}

cairn_code wf_report(struct flow_world *fw, const struct task *task, cairn_outcome outcome,
                     const char *text)
{
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.outcome = outcome;
    if (outcome == CAIRN_COMPLETE)
        report.output = text;
    else if (outcome != CAIRN_RELEASE)
        report.error = text;
    return wf_report_as(fw, task, &report);
}

cairn_code wf_retry(struct flow_world *fw, const struct task *task, int64_t delay_ms)
{
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.outcome = CAIRN_RETRY;
    report.delay_ms = delay_ms;
    report.error = "later, please";
    return wf_report_as(fw, task, &report);
}

cairn_code wf_wait(struct flow_world *fw, const struct task *task, const char *event,
                   int64_t timeout_ms)
{
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.outcome = CAIRN_WAIT;
    report.event = event;
    report.timeout_ms = timeout_ms;
    return wf_report_as(fw, task, &report);
}

cairn_code wf_beat(struct flow_world *fw, const struct task *task, uint32_t extend_ms,
                   const char **ret_stop)
{
    return cairn_heartbeat(fw->world.engine, task->worker, task->id, task->token, extend_ms,
                           NULL, ret_stop, &fw->world.error);
}

void wf_do(struct flow_world *fw, const char *step)
{
    char output[100];
    struct task task = wf_take_step(fw, step);
    snprintf(output, sizeof output, "{\"by\": \"%s\"}", step);
    CHECK_DONE(&fw->world, wf_report(fw, &task, CAIRN_COMPLETE, output));
}

void wf_undo(struct flow_world *fw, const char *step)
{
    struct task task = wf_take_undo(fw, step);
    CHECK_DONE(&fw->world, wf_report(fw, &task, CAIRN_COMPLETE, NULL));
}

void wf_do_badly(struct flow_world *fw, const char *step)
{
    struct task task = wf_take_step(fw, step);
    CHECK_DONE(&fw->world, wf_report(fw, &task, CAIRN_DEAD, "no good"));
}

/* ---- people ------------------------------------------------------------------------------ */

cairn_code wf_signal_as(struct flow_world *fw, const char *event, const char *id,
                        cairn_signalled *ret_signalled)
{
    cairn_signal_options options = CAIRN_SIGNAL_DEFAULTS;
    options.instance_id = fw->id;
    options.event = event;
    options.id = id;
    return cairn_instance_signal(fw->world.engine, &options, ret_signalled, &fw->world.error);
}

cairn_signalled wf_signal(struct flow_world *fw, const char *event, const char *payload)
{
    cairn_signal_options options = CAIRN_SIGNAL_DEFAULTS;
    cairn_signalled signalled = {.existing = -1};
    options.instance_id = fw->id;
    options.event = event;
    options.payload = payload;
    CHECK_DONE(&fw->world,
               cairn_instance_signal(fw->world.engine, &options, &signalled, &fw->world.error));
    return signalled;
}

cairn_code wf_pause(struct flow_world *fw)
{
    return cairn_instance_pause(fw->world.engine, fw->id, &fw->world.error);
}

cairn_code wf_resume(struct flow_world *fw)
{
    return cairn_instance_resume(fw->world.engine, fw->id, 0, &fw->world.error);
}

cairn_code wf_restart(struct flow_world *fw)
{
    return cairn_instance_restart(fw->world.engine, fw->id, &fw->world.error);
}

cairn_code wf_again(struct flow_world *fw)
{
    return cairn_instance_retry(fw->world.engine, fw->id, &fw->world.error);
}

cairn_code wf_cancel(struct flow_world *fw)
{
    return cairn_instance_cancel(fw->world.engine, fw->id, "ann", "not needed",
                                 &fw->world.error);
}

cairn_code wf_abort(struct flow_world *fw)
{
    return cairn_instance_abort(fw->world.engine, fw->id, "bob", "hopeless", &fw->world.error);
}

/* ---- looking ----------------------------------------------------------------------------- */

const cairn_instance *wf_instance(struct flow_world *fw)
{
    cairn_page_free(fw->seen);
    fw->seen = NULL;
    CHECK_DONE(&fw->world,
               cairn_instance_get(fw->world.engine, fw->id, &fw->seen, &fw->world.error));
    CHECK_INT(cairn_page_count(fw->seen), 1);
    const cairn_instance *instance = cairn_page_instance(fw->seen, 0);
    CHECK_STR(instance->id, fw->id);
    return instance;
}

static void list_steps(struct flow_world *fw)
{
    cairn_page_free(fw->seen_steps);
    fw->seen_steps = NULL;
    CHECK_DONE(&fw->world, cairn_instance_steps(fw->world.engine, fw->id, NULL, 1000,
                                                &fw->seen_steps, &fw->world.error));
}

const cairn_step *wf_step(struct flow_world *fw, const char *name)
{
    const cairn_step *found = NULL;
    list_steps(fw);
    for (size_t i = 0; i < cairn_page_count(fw->seen_steps); i++)
        if (strcmp(cairn_page_step(fw->seen_steps, i)->name, name) == 0)
            found = cairn_page_step(fw->seen_steps, i);
    CHECK(found, "there is no step %s", name);
    return found;
}

void wf_check_status(struct flow_world *fw, const char *status)
{
    CHECK_STR(wf_instance(fw)->status, status);
}

enum { TEXT_MAX = 4000 };

static void add_word(char *text, const char *first, const char *second)
{
    size_t len = strlen(text);
    int more = snprintf(text + len, TEXT_MAX - len, "%s%s%s%s", len ? " " : "", first,
                        second ? ":" : "", second ? second : "");
    CHECK(len + (size_t)more < TEXT_MAX, "more than fits");
}

void wf_check_steps(struct flow_world *fw, const char *wanted)
{
    char seen[TEXT_MAX] = "";
    list_steps(fw);
    for (size_t i = 0; i < cairn_page_count(fw->seen_steps); i++) {
        const cairn_step *step = cairn_page_step(fw->seen_steps, i);
        CHECK_INT(step->seq, i);
        add_word(seen, step->name, step->status);
    }
    CHECK(strcmp(seen, wanted) == 0, "the steps are \"%s\", not \"%s\"", seen, wanted);
}

void wf_check_current(struct flow_world *fw, const char *wanted)
{
    char seen[TEXT_MAX] = "";
    const cairn_instance *instance = wf_instance(fw);
    for (size_t i = 0; i < instance->current_step_count; i++)
        add_word(seen, instance->current_steps[i], NULL);
    CHECK(strcmp(seen, wanted) == 0, "current_steps is \"%s\", not \"%s\"", seen, wanted);
}

static cairn_page *list_events(struct flow_world *fw)
{
    cairn_page *events = NULL;
    CHECK_DONE(&fw->world, cairn_instance_events(fw->world.engine, fw->id, NULL, 1000, &events,
                                                 &fw->world.error));
    return events;
}

void wf_check_events(struct flow_world *fw, const char *wanted)
{
    char seen[TEXT_MAX] = "";
    int64_t last_id = 0, last_us = START_US;
    cairn_page *events = list_events(fw);
    for (size_t i = 0; i < cairn_page_count(events); i++) {
        const cairn_event *event = cairn_page_event(events, i);
        CHECK(event->id > last_id, "event %zu does not have a higher id", i);
        CHECK(event->at_us >= last_us, "event %zu (%s) is too early", i, event->type);
        CHECK(event->data && event->data[0] == '{', "event %zu has the data %s", i,
              event->data);
        last_id = event->id;
        last_us = event->at_us;
        add_word(seen, event->type, event->step);
    }
    cairn_page_free(events);
    CHECK(strcmp(seen, wanted) == 0, "the events are\n\"%s\", not\n\"%s\"", seen, wanted);
}

size_t wf_count_events(struct flow_world *fw, const char *type)
{
    size_t count = 0;
    cairn_page *events = list_events(fw);
    for (size_t i = 0; i < cairn_page_count(events); i++)
        count += strcmp(cairn_page_event(events, i)->type, type) == 0;
    cairn_page_free(events);
    return count;
}

void wf_check_last_error(struct flow_world *fw, const char *step, const char *message,
                         int attempt)
{
    const char *text = wf_instance(fw)->last_error;
    json_t *error = json_loads(text ? text : "", 0, NULL);
    CHECK(error, "last_error is %s", text);
    CHECK_STR(json_string_value(json_object_get(error, "step")), step);
    CHECK_STR(json_string_value(json_object_get(error, "message")), message);
    CHECK_INT(json_integer_value(json_object_get(error, "attempt")), attempt);
    const char *at = json_string_value(json_object_get(error, "at"));
    CHECK(at && strlen(at) == strlen("2026-01-28T12:30:00.000Z"), "at is %s", at);
    json_decref(error);
}

/* ---- past the engine --------------------------------------------------------------------- */

static void sql_sqlite(const char *file, const char *statement, long long *ret_value)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    CHECK(sqlite3_open(file, &db) == SQLITE_OK, "could not open %s", file);
    sqlite3_busy_timeout(db, 5000);
    int result = sqlite3_prepare_v2(db, statement, -1, &stmt, NULL);
    CHECK(result == SQLITE_OK, "%s: %s", statement, sqlite3_errmsg(db));
    result = sqlite3_step(stmt);
    CHECK(result == SQLITE_ROW || result == SQLITE_DONE, "%s: %s", statement,
          sqlite3_errmsg(db));
    if (result == SQLITE_ROW)
        *ret_value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

static void sql_postgres(const char *url, const char *statement, long long *ret_value)
{
    PGconn *db = PQconnectdb(url);
    PGresult *result = PQexec(db, statement);
    ExecStatusType status = PQresultStatus(result);
    CHECK(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK, "%s: %s", statement,
          PQerrorMessage(db));
    if (PQntuples(result) && PQnfields(result))
        *ret_value = atoll(PQgetvalue(result, 0, 0));
    PQclear(result);
    PQfinish(db);
}

bool wf_sql(struct flow_world *fw, const char *statement, long long *ret_value)
{
    char text[1000] = "";
    long long value = 0;
    bool is_postgres = strcmp(scratch_kind(), "postgres") == 0;
    if (strcmp(scratch_kind(), "memory") == 0)
        return false;
    for (const char *at = statement; *at; at++) {
        char one[2] = {*at, '\0'};
        strcat(text, *at == '{' ? (is_postgres ? "workflow." : "") : *at == '}' ? "" : one);
    }
    if (is_postgres)
        sql_postgres(fw->world.url, text, &value);
    else
        sql_sqlite(fw->world.url + strlen("sqlite:"), text, &value);
    if (ret_value)
        *ret_value = value;
    return true;
}
