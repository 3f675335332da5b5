/* tests/spec/saga.c - sagas in a world of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

#include <jansson.h>

struct task sg_take(struct flow_world *fw, const char *step)
{
    struct task task = {0};
    CHECK(wf_take_many(fw, "w", step, 1, &task) == 1, "step %s cannot be taken", step);
    CHECK_STR(task.step, step);
    CHECK_STR(task.kind, "step");
    return task;
}

void sg_complete(struct flow_world *fw, const struct task *task)
{
    char output[100];
    snprintf(output, sizeof output, "{\"by\": \"%s\"}", task->step);
    CHECK_DONE(&fw->world, wf_report(fw, task, CAIRN_COMPLETE, output));
}

void sg_do(struct flow_world *fw, const char *step)
{
    struct task task = sg_take(fw, step);
    sg_complete(fw, &task);
}

void sg_fail(struct flow_world *fw, const char *step)
{
    struct task task = sg_take(fw, step);
    CHECK_DONE(&fw->world, wf_report(fw, &task, CAIRN_DEAD, "no good"));
}

struct task sg_take_undo(struct flow_world *fw, const char *step)
{
    struct task tasks[4] = {0};
    size_t count = wf_take_many(fw, "w", "%", 4, tasks);
    CHECK(count == 1, "%zu tasks to be done (%s, %s) instead of the undo of %s", count,
          tasks[0].step, tasks[1].step, step);
    CHECK_STR(tasks[0].step, step);
    CHECK_STR(tasks[0].kind, "compensation");
    return tasks[0];
}

void sg_undo(struct flow_world *fw, const char *step)
{
    struct task task = sg_take_undo(fw, step);
    wf_check_status(fw, "compensating");
    wf_check_nothing_to_take(fw); /* strictly one at a time */
    CHECK_DONE(&fw->world, wf_report(fw, &task, CAIRN_COMPLETE, NULL));
}

void sg_undo_all(struct flow_world *fw, const char *steps)
{
    char step[64];
    int read = 0;
    for (; sscanf(steps, " %63s%n", step, &read) == 1; steps += read)
        sg_undo(fw, step);
    wf_check_nothing_to_take(fw);
}

cairn_code sg_decide(struct flow_world *fw, const char *step, bool is_confirmed)
{
    return cairn_instance_decide(fw->world.engine, fw->id, step, is_confirmed, "ann", "well",
                                 &fw->world.error);
}

/* ---- the DLQ -------------------------------------------------------------------------------- */

static cairn_page *list_records(struct flow_world *fw)
{
    cairn_page *dlq = NULL;
    CHECK_DONE(&fw->world,
               cairn_dlq_list(fw->world.engine, NULL, 1000, &dlq, &fw->world.error));
    return dlq;
}

static struct record copy_record(const cairn_dlq_record *from)
{
    struct record to = {.is_open = from->is_open, .created_at_us = from->created_at_us};
    snprintf(to.id, sizeof to.id, "%s", from->id);
    snprintf(to.instance_id, sizeof to.instance_id, "%s", from->instance_id);
    snprintf(to.workflow_id, sizeof to.workflow_id, "%s", from->workflow_id);
    snprintf(to.step_id, sizeof to.step_id, "%s", from->step_id);
    snprintf(to.step_name, sizeof to.step_name, "%s", from->step_name);
    snprintf(to.step_type, sizeof to.step_type, "%s", from->step_type);
    snprintf(to.input, sizeof to.input, "%s", from->input ? from->input : "");
    snprintf(to.error, sizeof to.error, "%s", from->error ? from->error : "");
    snprintf(to.reason, sizeof to.reason, "%s", from->reason ? from->reason : "");
    return to;
}

struct record sg_record(struct flow_world *fw, const char *step)
{
    struct record found = {0};
    cairn_page *dlq = list_records(fw);
    for (size_t i = 0; i < cairn_page_count(dlq); i++)
        if (strcmp(cairn_page_dlq_record(dlq, i)->step_name, step) == 0)
            found = copy_record(cairn_page_dlq_record(dlq, i));
    cairn_page_free(dlq);
    CHECK(found.id[0], "there is no record of step %s", step);
    return found;
}

struct record sg_record_of(struct flow_world *fw, const char *id)
{
    cairn_page *dlq = NULL;
    CHECK_DONE(&fw->world, cairn_dlq_get(fw->world.engine, id, &dlq, &fw->world.error));
    struct record found = copy_record(cairn_page_dlq_record(dlq, 0));
    cairn_page_free(dlq);
    return found;
}

size_t sg_count_records(struct flow_world *fw)
{
    cairn_page *dlq = list_records(fw);
    size_t count = cairn_page_count(dlq);
    cairn_page_free(dlq);
    return count;
}

cairn_code sg_requeue(struct flow_world *fw, const char *step, const char *input)
{
    struct record record = sg_record(fw, step);
    return cairn_dlq_requeue(fw->world.engine, record.id, input, &fw->world.error);
}

/* ---- looking -------------------------------------------------------------------------------- */

void sg_check_json(const char *seen, const char *wanted)
{
    json_t *a = json_loads(seen ? seen : "", JSON_DECODE_ANY, NULL);
    json_t *b = json_loads(wanted, JSON_DECODE_ANY, NULL);
    CHECK(b, "the test's own JSON is broken: %s", wanted);
    CHECK(a && json_equal(a, b), "%s instead of %s", seen, wanted);
    json_decref(a);
    json_decref(b);
}

void sg_check_event(struct flow_world *fw, const char *type, const char *step,
                    const char *fields)
{
    cairn_page *events = NULL;
    const cairn_event *found = NULL;
    CHECK_DONE(&fw->world, cairn_instance_events(fw->world.engine, fw->id, NULL, 1000, &events,
                                                 &fw->world.error));
    for (size_t i = 0; i < cairn_page_count(events); i++) {
        const cairn_event *event = cairn_page_event(events, i);
        bool is_its = !step || (event->step && strcmp(event->step, step) == 0);
        if (is_its && strcmp(event->type, type) == 0)
            found = event;
    }
    CHECK(found, "there is no %s of %s", type, step ? step : "the instance");
    json_t *data = json_loads(found->data, 0, NULL), *wanted = json_loads(fields, 0, NULL);
    const char *key;
    json_t *value;
    CHECK(data && wanted, "%s or %s is no JSON", found->data, fields);
    json_object_foreach(wanted, key, value)
    {
        CHECK(json_equal(json_object_get(data, key), value), "%s has the data %s, not %s", type,
              found->data, fields);
    }
    json_decref(data);
    json_decref(wanted);
    cairn_page_free(events);
}

void sg_check_stop(struct flow_world *fw, const struct task *task, const char *stop)
{
    const char *told = NULL;
    int64_t until_us = wf_step(fw, task->step)->locked_until_us;
    CHECK_DONE(&fw->world, wf_beat(fw, task, 10 * MINUTE_MS, &told));
    CHECK(told && strcmp(told, stop) == 0, "told \"%s\" instead of \"%s\"", told, stop);
    CHECK_INT(wf_step(fw, task->step)->locked_until_us, until_us);
}

void sg_check_late(struct flow_world *fw, const struct task *task)
{
    CHECK_INT(wf_report(fw, task, CAIRN_COMPLETE, "{\"late\": true}"), CAIRN_E_LEASE_LOST);
}
