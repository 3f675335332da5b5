/* tests/sdk/run_c.c - executes a scenario through cairn.h; README.md says what a scenario is.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     run_c SCENARIO.json URL
 */
#include <cairn.h>
#include <jansson.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 64, CALLS_MAX = 256, TEXTS_MAX = 4096, TEXT_MAX = 512 };
static const int64_t START_US = INT64_C(1893456000000000); /* 2030-01-01T00:00:00Z */

struct named {
    const char *name;
    char id[40];
    bool is_job;
};

/* How often a task or a step of a function was called. */
struct called {
    char key[TEXT_MAX];
    size_t count;
};

static json_t *scenario;
static cairn_engine *engine;
static struct named names[NAMES_MAX];
static size_t name_count;
static struct called called[CALLS_MAX];
static size_t called_count;
static char *texts[TEXTS_MAX]; /* freed at the end */
static size_t text_count;
static int64_t start_us;
static char wrong[TEXT_MAX]; /* what an action has found to be wrong */

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* Keeps a text until the program ends. */
static char *keep_text(char *text)
{
    if (text_count == TEXTS_MAX) {
        puts("the scenario has too many texts");
        exit(1);
    }
    return texts[text_count++] = text;
}

/* A value as JSON; NULL if there is none. */
static char *dump(const json_t *value)
{
    return value ? keep_text(json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT)) : NULL;
}

static int64_t int_of(const json_t *object, const char *key, int64_t otherwise)
{
    const json_t *value = json_object_get(object, key);
    return value ? json_integer_value(value) : otherwise;
}

/* "+1000" is a second after the start. */
static int64_t time_of(const json_t *object, const char *key)
{
    const char *text = text_of(object, key);
    return text ? start_us + strtoll(text + 1, NULL, 10) * 1000 : 0;
}

static struct named *find(const json_t *action)
{
    const char *name =
        json_string_value(json_object_iter_value(json_object_iter((json_t *)action)));
    for (size_t i = 0; name && i < name_count; i++)
        if (strcmp(names[i].name, name) == 0)
            return &names[i];
    fprintf(stdout, "nothing is called %s\n", name ? name : "so");
    exit(1);
}

static void keep(const json_t *action, const char *id, bool is_job)
{
    const char *name = text_of(action, "as");
    if (!name || name_count == NAMES_MAX)
        return;
    names[name_count] = (struct named){.name = name, .is_job = is_job};
    snprintf(names[name_count++].id, sizeof names->id, "%s", id);
}

/* ---- handlers ------------------------------------------------------------------------------- */

/* What this call does, by how often it was called before. */
static const json_t *next_call(const json_t *script, const char *key)
{
    size_t i = 0;
    while (i < called_count && strcmp(called[i].key, key) != 0)
        i++;
    if (i == called_count && called_count < CALLS_MAX)
        snprintf(called[called_count++].key, TEXT_MAX, "%s", key);
    size_t number = called[i].count++;
    size_t last = json_array_size(script) - 1;
    return json_array_get(script, number < last ? number : last);
}

static void emit(cairn_work *work, const json_t *events)
{
    size_t i;
    const json_t *event;
    json_array_foreach((json_t *)events, i, event)
        cairn_work_emit(work, text_of(event, "event"), dump(json_object_get(event, "payload")));
}

static cairn_outcome fail_with(cairn_work *work, const char *text, cairn_outcome outcome)
{
    cairn_work_set_error(work, text);
    return outcome;
}

/* Whether the task has the metadata that the call expects. */
static bool has_metadata(cairn_work *work, const json_t *wanted)
{
    const char *text = cairn_work_task(work)->metadata;
    json_t *metadata = json_loads(text ? text : "null", JSON_DECODE_ANY, NULL);
    bool is_same = json_equal(metadata, wanted);
    json_decref(metadata);
    return is_same;
}

static cairn_outcome execute(cairn_work *work, const json_t *call)
{
    const json_t *metadata = json_object_get(call, "metadata");
    if (metadata && !has_metadata(work, metadata))
        return fail_with(work, "other metadata", CAIRN_DEAD);
    emit(work, json_object_get(call, "emit"));
    if (json_object_get(call, "echo")) {
        cairn_work_set_output(work, cairn_work_task(work)->input);
        return CAIRN_COMPLETE;
    }
    if (json_object_get(call, "complete")) {
        cairn_work_set_output(work, dump(json_object_get(call, "complete")));
        return CAIRN_COMPLETE;
    }
    if (text_of(call, "fail"))
        return fail_with(work, text_of(call, "fail"), CAIRN_FAIL);
    if (text_of(call, "dead"))
        return fail_with(work, text_of(call, "dead"), CAIRN_DEAD);
    if (text_of(call, "wait")) {
        cairn_work_wait(work, text_of(call, "wait"), int_of(call, "timeout_ms", -1));
        return CAIRN_WAIT;
    }
    if (text_of(call, "retry")) {
        cairn_work_set_delay(work, int_of(call, "after_ms", -1));
        return fail_with(work, text_of(call, "retry"), CAIRN_RETRY);
    }
    cairn_work_set_delay(work, int_of(call, "release_ms", 0));
    return CAIRN_RELEASE;
}

static cairn_outcome handle(cairn_work *work, void *arg)
{
    const cairn_task *task = cairn_work_task(work);
    char key[TEXT_MAX];
    snprintf(key, sizeof key, "%s %s", task->kind, task->id);
    return execute(work, next_call(arg, key));
}

/* ---- functions ------------------------------------------------------------------------------ */

struct step {
    const json_t *script;
    const char *key;
};

static cairn_outcome run_step(cairn_work *work, void *arg)
{
    const struct step *step = arg;
    char key[TEXT_MAX];
    snprintf(key, sizeof key, "%s %s", cairn_work_task(work)->instance_id, step->key);
    return execute(work, next_call(step->script, key));
}

static int64_t ms_of(const char *duration)
{
    char *unit;
    int64_t count = strtoll(duration, &unit, 10);
    return count * (strcmp(unit, "ms") == 0  ? 1
                    : strcmp(unit, "s") == 0 ? 1000
                    : strcmp(unit, "m") == 0 ? 60000
                                             : 3600000);
}

/* The same of a member. */
static int64_t duration_of(const json_t *object, const char *key, int64_t otherwise)
{
    const char *text = text_of(object, key);
    return text ? ms_of(text) : otherwise;
}

/* A task type, or an object as in workflow files. */
static void set_compensation(cairn_step_options *options, const json_t *undo)
{
    const json_t *retry = json_object_get(undo, "retry");
    const char *backoff = text_of(retry, "backoff");
    options->compensation =
        json_is_object(undo) ? text_of(undo, "handler") : json_string_value(undo);
    options->compensation_max_attempts = (int32_t)int_of(undo, "max_attempts", 3);
    if (backoff)
        options->compensation_backoff = backoff;
    options->compensation_base_ms = duration_of(retry, "base", options->compensation_base_ms);
    options->compensation_max_ms = duration_of(retry, "max", options->compensation_max_ms);
    options->compensation_timeout_ms = duration_of(undo, "timeout", 0);
    options->compensation_once = json_is_false(json_object_get(undo, "idempotent"));
    if (json_object_get(undo, "metadata"))
        options->compensation_metadata = dump(json_object_get(undo, "metadata"));
}

static cairn_code do_step(cairn_passage *passage, const json_t *statement, char **ret_value)
{
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    struct step step = {json_object_get(statement, "calls"), text_of(statement, "step")};
    const char *output = NULL;
    options.key = step.key;
    options.run = run_step;
    options.arg = &step;
    options.input = dump(json_object_get(statement, "input"));
    options.retries = (int32_t)int_of(statement, "retries", 2);
    set_compensation(&options, json_object_get(statement, "compensation"));
    cairn_code code = cairn_passage_step(passage, &options, &output, NULL);
    if (!code)
        *ret_value = keep_text(strdup(output));
    return code;
}

static cairn_code do_wait(cairn_passage *passage, const json_t *statement, char **ret_value)
{
    const char *payload = NULL;
    cairn_code code =
        cairn_passage_wait_event(passage, NULL, text_of(statement, "wait_event"),
                                 int_of(statement, "timeout_ms", -1), &payload, NULL);
    if (!code)
        *ret_value = keep_text(strdup(payload));
    return code;
}

static cairn_job_spec job_of(const json_t *fields)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = text_of(fields, "type");
    spec.payload = dump(json_object_get(fields, "payload"));
    spec.key = text_of(fields, "key");
    spec.priority = (int32_t)int_of(fields, "priority", spec.priority);
    spec.max_attempts = (int32_t)int_of(fields, "max_attempts", spec.max_attempts);
    spec.run_at_us = time_of(fields, "run_at");
    return spec;
}

static cairn_start_options start_of(const json_t *fields)
{
    cairn_start_options options = CAIRN_START_DEFAULTS;
    options.workflow = text_of(fields, "workflow");
    options.version = (int32_t)int_of(fields, "version", 0);
    options.input = dump(json_object_get(fields, "input"));
    options.key = text_of(fields, "key");
    options.start_at_us = time_of(fields, "start_at");
    return options;
}

static cairn_code do_call(cairn_passage *passage, const json_t *fields, char **ret_value)
{
    cairn_start_options options = start_of(fields);
    const char *output = NULL;
    cairn_code code = cairn_passage_call(passage, NULL, &options, -1, &output, NULL);
    if (!code)
        *ret_value = keep_text(strdup(output));
    return code;
}

/* All begin, then all end: side by side for the passage, if not for the processor. */
static cairn_code do_gather(cairn_passage *passage, const json_t *steps, char **ret_value)
{
    enum { STEPS_MAX = 8 };
    cairn_work *works[STEPS_MAX] = {0};
    const char *outputs[STEPS_MAX] = {0};
    size_t i, count = json_array_size(steps);
    cairn_code code = CAIRN_OK;
    json_t *values = json_array();
    for (i = 0; i < count && !code; i++) {
        cairn_step_options options = CAIRN_STEP_DEFAULTS;
        options.key = text_of(json_array_get(steps, i), "step");
        code = cairn_passage_begin_step(passage, &options, &works[i], &outputs[i], NULL);
    }
    for (i = 0; i < count; i++) {
        struct step step = {json_object_get(json_array_get(steps, i), "calls"),
                            text_of(json_array_get(steps, i), "step")};
        if (works[i]) {
            cairn_outcome outcome = run_step(works[i], &step);
            cairn_code ended =
                cairn_passage_end_step(passage, works[i], outcome, &outputs[i], NULL);
            code = code ? code : ended;
        }
        json_array_append_new(values, outputs[i] ? json_loads(outputs[i], JSON_DECODE_ANY, NULL)
                                                 : json_null());
    }
    *ret_value = dump(values);
    json_decref(values);
    return code;
}

static cairn_code do_statement(cairn_passage *passage, const json_t *statement,
                               char **ret_value)
{
    const json_t *what;
    char id[40];
    if (text_of(statement, "step"))
        return do_step(passage, statement, ret_value);
    if (text_of(statement, "wait_event"))
        return do_wait(passage, statement, ret_value);
    if (text_of(statement, "sleep"))
        return cairn_passage_sleep(passage, text_of(statement, "sleep"),
                                   int_of(statement, "ms", 0), NULL);
    if (text_of(statement, "log"))
        return cairn_passage_log(passage, "info", text_of(statement, "log"), NULL, NULL);
    if ((what = json_object_get(statement, "enqueue"))) {
        cairn_job_spec spec = job_of(what);
        return cairn_passage_start_job(passage, NULL, &spec, id, NULL);
    }
    if ((what = json_object_get(statement, "start"))) {
        cairn_start_options options = start_of(what);
        return cairn_passage_start_workflow(passage, NULL, &options, id, NULL);
    }
    if ((what = json_object_get(statement, "call")))
        return do_call(passage, what, ret_value);
    if ((what = json_object_get(statement, "gather")))
        return do_gather(passage, what, ret_value);
    if (json_object_get(statement, "uuid")) {
        cairn_code code = cairn_passage_uuid(passage, id, NULL);
        json_t *text = json_string(code ? "" : id);
        *ret_value = dump(text);
        json_decref(text);
        return code;
    }
    if ((what = json_object_get(statement, "value"))) {
        *ret_value = dump(what);
        return CAIRN_OK;
    }
    cairn_passage_set_error(passage, text_of(statement, "fail"));
    return CAIRN_E_STEP_FAILED;
}

/* A statement that may fail: the word of its error is its value. */
static cairn_code try_statement(cairn_passage *passage, const json_t *statement,
                                char **ret_value)
{
    cairn_code code = do_statement(passage, statement, ret_value);
    if (code != CAIRN_E_STEP_FAILED && code != CAIRN_E_TIMED_OUT)
        return code;
    *ret_value =
        keep_text(strdup(code == CAIRN_E_STEP_FAILED ? "\"step_failed\"" : "\"timed_out\""));
    return CAIRN_OK;
}

static cairn_code run_function(cairn_passage *passage, void *arg)
{
    const json_t *script = arg, *statement;
    size_t i;
    char *value = NULL;
    json_array_foreach((json_t *)script, i, statement)
    {
        const json_t *inner = json_object_get(statement, "try");
        cairn_code code = inner ? try_statement(passage, inner, &value)
                                : do_statement(passage, statement, &value);
        if (code)
            return code;
    }
    return cairn_passage_set_output(passage, value ? value : "null", NULL);
}

/* ---- actions -------------------------------------------------------------------------------- */

static cairn_code do_enqueue(const json_t *action, json_t *ret_answer, cairn_error *reterr)
{
    cairn_job_spec spec = job_of(json_object_get(action, "enqueue"));
    cairn_enqueued enqueued;
    cairn_code code = cairn_enqueue(engine, &spec, 1, &enqueued, reterr);
    if (code)
        return code;
    keep(action, enqueued.id, true);
    json_object_set_new(ret_answer, "existing", json_boolean(enqueued.existing));
    return CAIRN_OK;
}

static cairn_code do_enqueue_many(const json_t *action, cairn_error *reterr)
{
    const json_t *fields = json_object_get(action, "enqueue_many"), *one;
    size_t i, count = json_array_size(fields);
    cairn_job_spec *specs = calloc(count, sizeof *specs);
    json_array_foreach((json_t *)fields, i, one) specs[i] = job_of(one);
    cairn_code code = cairn_enqueue(engine, specs, count, NULL, reterr);
    free(specs);
    return code;
}

static cairn_code do_start(const json_t *action, json_t *ret_answer, cairn_error *reterr)
{
    cairn_start_options options = start_of(json_object_get(action, "start"));
    cairn_enqueued started;
    cairn_code code = cairn_instance_start(engine, &options, &started, reterr);
    if (code)
        return code;
    keep(action, started.id, false);
    json_object_set_new(ret_answer, "existing", json_boolean(started.existing));
    return CAIRN_OK;
}

static void build_list(cairn_builder *builder, const json_t *elements);

/* What an element has beside the keys that the builder's calls take themselves. */
static char *options_of(const json_t *element, const char *const *without)
{
    json_t *rest = json_copy((json_t *)element);
    for (; *without; without++)
        json_object_del(rest, *without);
    char *text = json_object_size(rest) ? dump(rest) : NULL;
    json_decref(rest);
    return text;
}

static void build_step(cairn_builder *builder, const json_t *step)
{
    static const char *const of_step[] = {"step", "handler", "compensation", NULL};
    static const char *const of_undo[] = {"handler", NULL};
    const json_t *undo = json_object_get(step, "compensation");
    cairn_builder_step(builder, text_of(step, "step"), text_of(step, "handler"),
                       options_of(step, of_step));
    if (undo)
        cairn_builder_compensation(builder, text_of(undo, "handler"),
                                   options_of(undo, of_undo));
}

static void build_condition(cairn_builder *builder, const json_t *element)
{
    cairn_builder_condition(builder, text_of(element, "condition"), text_of(element, "when"));
    build_list(builder, json_object_get(element, "then"));
    if (json_object_get(element, "else")) {
        cairn_builder_else(builder);
        build_list(builder, json_object_get(element, "else"));
    }
    cairn_builder_end(builder);
}

static void build_fork(cairn_builder *builder, const json_t *element)
{
    const json_t *branch;
    size_t i;
    cairn_builder_fork(builder, text_of(element, "fork"), text_of(element, "join"));
    json_array_foreach(json_object_get(element, "branches"), i, branch)
    {
        cairn_builder_branch(builder);
        build_list(builder, branch);
    }
    cairn_builder_end(builder);
}

static void build(cairn_builder *builder, const json_t *element)
{
    static const char *const of_wait[] = {"wait", "event", NULL}, *const of_human[] = {"human",
                                                                                       NULL};
    if (text_of(element, "step"))
        build_step(builder, element);
    else if (text_of(element, "condition"))
        build_condition(builder, element);
    else if (text_of(element, "fork"))
        build_fork(builder, element);
    else if (text_of(element, "save_point"))
        cairn_builder_save_point(builder, text_of(element, "save_point"));
    else if (text_of(element, "sleep"))
        cairn_builder_sleep(builder, text_of(element, "sleep"), ms_of(text_of(element, "for")));
    else if (text_of(element, "wait"))
        cairn_builder_wait(builder, text_of(element, "wait"), text_of(element, "event"),
                           options_of(element, of_wait));
    else if (text_of(element, "human"))
        cairn_builder_human(builder, text_of(element, "human"), options_of(element, of_human));
}

static void build_list(cairn_builder *builder, const json_t *elements)
{
    const json_t *element;
    size_t i;
    json_array_foreach((json_t *)elements, i, element) build(builder, element);
}

static cairn_code do_deploy(const json_t *action, json_t *ret_answer, cairn_error *reterr)
{
    const json_t *file = json_object_get(action, "deploy");
    cairn_builder *builder =
        cairn_builder_new(text_of(file, "workflow"), (int32_t)int_of(file, "version", 1));
    const char *text = NULL;
    bool existing = false;
    cairn_builder_dlq(builder, json_is_true(json_object_get(file, "dlq")));
    json_t *input = json_object_get(file, "input");
    cairn_builder_input(builder, dump(json_object_get(input, "schema")),
                        dump(json_object_get(input, "example")));
    build_list(builder, json_object_get(file, "steps"));
    cairn_code code = cairn_builder_text(builder, &text, reterr);
    if (!code)
        code = cairn_workflow_deploy(engine, "scenario", text, &existing, reterr);
    cairn_builder_free(builder);
    json_object_set_new(ret_answer, "existing", json_boolean(existing));
    return code;
}

/* A worker with the scenario's handlers and functions. */
static cairn_code make_worker(cairn_worker **ret_worker, cairn_error *reterr)
{
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    const char *type;
    json_t *script;
    options.name = "parity";
    options.concurrency = 1;
    options.until_idle = true;
    cairn_code code = cairn_worker_new(engine, &options, ret_worker, reterr);
    json_object_foreach(json_object_get(scenario, "handlers"), type, script) if (!code) code =
        cairn_worker_handle(*ret_worker, type, handle, script, reterr);
    json_object_foreach(json_object_get(scenario, "functions"), type, script) if (!code)
    {
        cairn_function_options function = CAIRN_FUNCTION_DEFAULTS;
        function.name = type;
        function.version = (int32_t)int_of(script, "version", 1);
        function.run = run_function;
        function.arg = json_object_get(script, "do");
        code = cairn_worker_function(*ret_worker, &function, reterr);
    }
    return code;
}

static cairn_code do_work(const json_t *action, cairn_error *reterr)
{
    cairn_worker *worker = NULL;
    size_t expected = (size_t)int_of(action, "work", 0);
    cairn_stats before = CAIRN_STATS_DEFAULTS, after = CAIRN_STATS_DEFAULTS;
    cairn_stats_get(engine, &before, NULL);
    cairn_code code = make_worker(&worker, reterr);
    if (!code)
        code = cairn_worker_run(worker, reterr);
    cairn_worker_free(worker);
    cairn_stats_get(engine, &after, NULL);
    if (!code && after.claimed - before.claimed != expected)
        snprintf(wrong, sizeof wrong, "%" PRIu64 " tasks were executed",
                 after.claimed - before.claimed);
    return code;
}

static cairn_code do_signal(const json_t *action, json_t *ret_answer, cairn_error *reterr)
{
    cairn_signal_options options = CAIRN_SIGNAL_DEFAULTS;
    cairn_signalled signalled;
    options.instance_id = find(action)->id;
    options.event = text_of(action, "event");
    options.payload = dump(json_object_get(action, "payload"));
    options.id = text_of(action, "id");
    options.no_latch = text_of(action, "latch") != NULL;
    cairn_code code = cairn_instance_signal(engine, &options, &signalled, reterr);
    if (code)
        return code;
    json_object_set_new(ret_answer, "existing", json_boolean(signalled.existing));
    json_object_set_new(ret_answer, "taken", json_boolean(signalled.taken));
    json_object_set_new(ret_answer, "kept", json_boolean(signalled.kept));
    return CAIRN_OK;
}

static cairn_code do_requeue(const json_t *action, cairn_error *reterr)
{
    const char *id = find(action)->id;
    cairn_page *records = NULL;
    cairn_code code = cairn_dlq_list(engine, NULL, 100, &records, reterr);
    for (size_t i = 0; !code && i < cairn_page_count(records); i++) {
        const cairn_dlq_record *record = cairn_page_dlq_record(records, i);
        if (strcmp(record->instance_id, id) == 0)
            code = cairn_dlq_requeue(engine, record->id, dump(json_object_get(action, "input")),
                                     reterr);
    }
    cairn_page_free(records);
    return code;
}

/* Compares how something ended with what is expected. */
static void check_end(const json_t *action, const char *status, const char *result)
{
    const char *error = text_of(action, "error");
    json_t *value = result ? json_loads(result, JSON_DECODE_ANY, NULL) : json_null();
    bool is_well = strcmp(status, "succeeded") == 0 || strcmp(status, "completed") == 0;
    if (error ? strcmp(status, error) != 0
              : !is_well || !json_equal(value, json_object_get(action, "is")))
        snprintf(wrong, sizeof wrong, "it is %s with %s", status, result ? result : "nothing");
    json_decref(value);
}

static cairn_code do_result(const json_t *action, cairn_error *reterr)
{
    const struct named *named = find(action);
    cairn_page *page = NULL;
    cairn_code code = named->is_job
                          ? cairn_job_wait(engine, named->id, 10000, &page, reterr)
                          : cairn_instance_wait(engine, named->id, 10000, &page, reterr);
    const cairn_job *job = cairn_page_job(page, 0);
    const cairn_instance *instance = cairn_page_instance(page, 0);
    if (job)
        check_end(action, job->status, job->result);
    if (instance)
        check_end(action, instance->status, instance->output);
    cairn_page_free(page);
    return code;
}

static cairn_code do_control(const char *verb, const json_t *action, cairn_error *reterr)
{
    const struct named *at = find(action);
    const char *by = text_of(action, "by"), *reason = text_of(action, "reason");
    if (strcmp(verb, "delete") == 0)
        return cairn_job_delete(engine, at->id, reterr);
    if (strcmp(verb, "cancel") == 0)
        return at->is_job ? cairn_job_cancel(engine, at->id, reterr)
                          : cairn_instance_cancel(engine, at->id, by, reason, reterr);
    if (strcmp(verb, "retry") == 0)
        return at->is_job ? cairn_job_retry(engine, at->id, reterr)
                          : cairn_instance_retry(engine, at->id, reterr);
    if (strcmp(verb, "abort") == 0)
        return cairn_instance_abort(engine, at->id, by, reason, reterr);
    if (strcmp(verb, "pause") == 0)
        return cairn_instance_pause(engine, at->id, reterr);
    if (strcmp(verb, "resume") == 0)
        return cairn_instance_resume(engine, at->id,
                                     json_is_true(json_object_get(action, "force")), reterr);
    if (strcmp(verb, "restart") == 0)
        return cairn_instance_restart(engine, at->id, reterr);
    bool is_confirmed = strcmp(text_of(action, "decision"), "confirmed") == 0;
    return cairn_instance_decide(engine, at->id, text_of(action, "step"), is_confirmed, by,
                                 text_of(action, "comment"), reterr);
}

static cairn_code act(const char *verb, const json_t *action, json_t *ret_answer,
                      cairn_error *reterr)
{
    if (strcmp(verb, "enqueue") == 0)
        return do_enqueue(action, ret_answer, reterr);
    if (strcmp(verb, "enqueue_many") == 0)
        return do_enqueue_many(action, reterr);
    if (strcmp(verb, "job") == 0 || strcmp(verb, "instance") == 0) {
        keep(action, text_of(action, verb), strcmp(verb, "job") == 0);
        return CAIRN_OK;
    }
    if (strcmp(verb, "deploy") == 0)
        return do_deploy(action, ret_answer, reterr);
    if (strcmp(verb, "start") == 0)
        return do_start(action, ret_answer, reterr);
    if (strcmp(verb, "work") == 0)
        return do_work(action, reterr);
    if (strcmp(verb, "advance_ms") == 0)
        return cairn_clock_advance(engine, int_of(action, verb, 0), NULL, reterr);
    if (strcmp(verb, "signal") == 0)
        return do_signal(action, ret_answer, reterr);
    if (strcmp(verb, "code") == 0)
        return json_object_update(json_object_get(scenario, "functions"),
                                  json_object_get(action, verb))
                   ? CAIRN_E_OUT_OF_MEMORY
                   : CAIRN_OK;
    if (strcmp(verb, "requeue") == 0)
        return do_requeue(action, reterr);
    if (strcmp(verb, "result") == 0)
        return do_result(action, reterr);
    return do_control(verb, action, reterr);
}

/* What is wrong with how an action went; NULL: nothing. */
static const char *check_action(const json_t *action)
{
    const char *verb = json_object_iter_key(json_object_iter((json_t *)action)), *field;
    const char *expected = strcmp(verb, "result") ? text_of(action, "error") : NULL;
    cairn_error error = {0};
    json_t *answer = json_object(), *value;
    wrong[0] = '\0';
    cairn_code code = act(verb, action, answer, &error);
    if (code ? !expected || strcmp(cairn_code_name(code), expected) != 0 : expected != NULL)
        snprintf(wrong, sizeof wrong, "%s %s", cairn_code_name(code), error.message);
    json_object_foreach(json_object_get(action, "gives"), field,
                        value) if (!code && !json_equal(json_object_get(answer, field), value))
        snprintf(wrong, sizeof wrong, "%s is not as expected", field);
    json_decref(answer);
    return wrong[0] ? wrong : NULL;
}

/* So that it can be started before a worker has registered it. */
static cairn_code deploy_functions(cairn_error *reterr)
{
    const char *name;
    json_t *function;
    json_object_foreach(json_object_get(scenario, "functions"), name, function)
    {
        json_t *file = json_pack("{s:s, s:i}", "function", name, "version",
                                 (int)int_of(function, "version", 1));
        cairn_code code = cairn_workflow_deploy(engine, "scenario", dump(file), NULL, reterr);
        json_decref(file);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

int main(int argc, char **argv)
{
    json_error_t where;
    cairn_error error = {0};
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    const json_t *action;
    size_t i;
    if (argc != 3 || !(scenario = json_load_file(argv[1], 0, &where))) {
        fprintf(stderr, "usage: run_c SCENARIO.json URL\n");
        return 2;
    }
    options.url = argv[2];
    options.virtual_clock = strncmp(argv[2], "http", 4) != 0;
    options.start_us = options.virtual_clock ? START_US : 0;
    if (cairn_open(&options, &engine, &error) || cairn_clock_now(engine, &start_us, &error) ||
        deploy_functions(&error)) {
        printf("%s\n", error.message);
        return 1;
    }
    json_array_foreach(json_object_get(scenario, "do"), i, action)
    {
        const char *problem = check_action(action);
        if (problem) {
            printf("action %zu, %s: %s\n", i + 1, dump(action), problem);
            return 1;
        }
    }
    cairn_close(engine);
    json_decref(scenario);
    for (i = 0; i < text_count; i++)
        free(texts[i]);
    return 0;
}
