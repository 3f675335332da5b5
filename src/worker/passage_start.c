/* worker/passage_start.c - jobs and workflows that a function starts: once, or not at all.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The id is made here and remembered; the job or instance itself is written in the commit that
 * remembers it.  One with a key may exist already, with another id: if the caller asks for the id,
 * the commit is made at once.
 */
#include "worker/passage.h"

#include "core/backoff.h"
#include "core/tag.h"
#include "engine/options.h"

#include "base/json.h"
#include "base/scan.h"

#include <stdio.h>
#include <string.h>

/* The id in {"id": "..."}. */
static bool read_id(const char *output, char ret_id[ID_TEXT])
{
    json_t *tree = NULL;
    if (!output || json_read(output, strlen(output), "output", &tree, NULL))
        return false;
    const char *id = json_string_value(json_object_get(tree, "id"));
    bool is_good = id && strlen(id) < ID_TEXT;
    if (is_good)
        snprintf(ret_id, ID_TEXT, "%s", id);
    json_decref(tree);
    return is_good;
}

static cairn_code answer_start(struct cairn_passage *passage, const cairn_step *row,
                               char ret_id[ID_TEXT])
{
    if (strcmp(row->status, "completed") != 0)
        return passage_step_failed(passage, row->name, row->error, 1);
    if (!read_id(row->output, ret_id))
        return fail(&passage->last, CAIRN_E_BAD_JSON,
                    "what is remembered as \"%.80s\" has no id", row->name);
    return CAIRN_OK;
}

/* What jobs and workflows have in common.  *ret_new_seq: the place of what is to be started; 0: it
 * is remembered. */
static cairn_code remember_start(struct cairn_passage *passage, const char *given,
                                 char ret_id[ID_TEXT], int32_t *ret_new_seq)
{
    struct asked asked;
    *ret_new_seq = 0;
    TRY(memory_ask(passage, given, "start", &asked));
    if (asked.row)
        return answer_start(passage, asked.row, ret_id);
    TRY(passage_make_room(passage));
    TRY(passage_make_id(passage, ret_id));
    const char *output = arena_printf(&passage->arena, "{\"id\":\"%s\"}", ret_id);
    if (!output)
        return passage_no_memory(passage);
    struct commit_step *step = buffer_step(passage, asked.key, "start", "completed", asked.seq);
    if (!step)
        return passage->over;
    step->output = output;
    *ret_new_seq = asked.seq;
    return CAIRN_OK;
}

static cairn_code learn_id(struct cairn_passage *passage, bool is_job, char ret_id[ID_TEXT])
{
    passage->started_id = ret_id;
    passage->is_started_job = is_job;
    cairn_code code = passage_flush(passage);
    passage->started_id = NULL;
    return code;
}

/* A run may be repeated: a key that is known must be found. */
static cairn_code check_found(struct cairn_passage *passage, const char *on_existing)
{
    if (!on_existing || on_existing_from(on_existing) == EXISTING_RETURN)
        return CAIRN_OK;
    return fail(&passage->last, CAIRN_E_BAD_INPUT,
                "on_existing can only be return for what a function starts");
}

/* ---- jobs ---------------------------------------------------------------------------------- */

static cairn_code add_job(struct cairn_passage *passage, const cairn_job_spec *spec,
                          const char *id, int32_t seq)
{
    struct commit_job *job = list_add(&passage->arena, &passage->buffer.jobs);
    if (!job)
        return passage_no_memory(passage);
    *job = (struct commit_job){.seq = seq, .spec = *spec};
    TRY(passage_copy(passage, id, &job->id));
    TRY(passage_copy(passage, spec->type, &job->spec.type));
    TRY(passage_copy(passage, spec->payload, &job->spec.payload));
    TRY(passage_copy(passage, spec->key, &job->spec.key));
    TRY(passage_copy(passage, spec->metadata, &job->spec.metadata));
    TRY(passage_copy(passage, spec->tags, &job->spec.tags));
    TRY(passage_copy(passage, spec->retry, &job->spec.retry));
    buffer_weigh(&passage->buffer, spec->payload);
    return CAIRN_OK;
}

static cairn_code start_job(struct cairn_passage *passage, const char *key,
                            const cairn_job_spec *given, bool is_asked, char ret_id[ID_TEXT])
{
    int32_t seq = 0;
    cairn_job_spec spec;
    TRY(passage_enter(passage));
    TRY(options_take(OPTIONS_JOB_SPEC, &spec, given, &passage->last));
    if (!spec.type || !spec.type[0])
        return fail(&passage->last, CAIRN_E_BAD_INPUT, "type is empty");
    TRY(passage_check_json(passage, spec.payload, "payload"));
    TRY(metadata_check(spec.metadata, &passage->last));
    TRY(tags_check(spec.tags, &passage->last));
    TRY(retry_check(spec.retry, &passage->last));
    TRY(check_found(passage, spec.on_existing));
    if (spec.debounce_ms)
        return fail(&passage->last, CAIRN_E_BAD_INPUT,
                    "debounce_ms is not for what a function starts");
    spec.on_existing = NULL;
    TRY(remember_start(passage, key ? key : spec.type, ret_id, &seq));
    if (!seq)
        return CAIRN_OK;
    TRY(add_job(passage, &spec, ret_id, seq));
    return spec.key && is_asked ? learn_id(passage, true, ret_id) : CAIRN_OK;
}

cairn_code cairn_passage_start_job(cairn_passage *passage, const char *key,
                                   const cairn_job_spec *spec, char ret_id[40],
                                   cairn_error *reterr)
{
    char id[ID_TEXT] = "";
    TRY(passage_take(passage, reterr));
    cairn_code code = start_job(passage, key, spec, ret_id != NULL, id);
    if (!code && ret_id)
        memcpy(ret_id, id, sizeof id);
    return passage_tell(passage, code, reterr);
}

/* ---- workflows ----------------------------------------------------------------------------- */

static cairn_code add_start(struct cairn_passage *passage, const cairn_start_options *options,
                            const char *id, int32_t seq)
{
    struct commit_start *start = list_add(&passage->arena, &passage->buffer.starts);
    if (!start)
        return passage_no_memory(passage);
    *start = (struct commit_start){.seq = seq, .options = *options};
    TRY(passage_copy(passage, id, &start->id));
    TRY(passage_copy(passage, options->workflow, &start->options.workflow));
    TRY(passage_copy(passage, options->input, &start->options.input));
    TRY(passage_copy(passage, options->key, &start->options.key));
    TRY(passage_copy(passage, options->metadata, &start->options.metadata));
    TRY(passage_copy(passage, options->tags, &start->options.tags));
    TRY(passage_copy(passage, options->tell_instance, &start->options.tell_instance));
    TRY(passage_copy(passage, options->tell_event, &start->options.tell_event));
    buffer_weigh(&passage->buffer, options->input);
    return CAIRN_OK;
}

/* One for each child, since a child whose call has timed out may end later. */
static const char *call_event(struct cairn_passage *passage, const char *id)
{
    return arena_printf(&passage->arena, "call:%s", id);
}

static cairn_code start_workflow(struct cairn_passage *passage, const char *key,
                                 const cairn_start_options *given, bool is_asked, bool is_call,
                                 char ret_id[ID_TEXT])
{
    int32_t seq = 0;
    cairn_start_options options;
    TRY(passage_enter(passage));
    TRY(options_take(OPTIONS_START, &options, given, &passage->last));
    if (!options.workflow || !options.workflow[0])
        return fail(&passage->last, CAIRN_E_BAD_INPUT, "workflow is empty");
    if (is_call && (options.key || options.tell_instance || options.tell_event))
        return fail(&passage->last, CAIRN_E_BAD_INPUT,
                    "a call has no key, and tells its own function");
    TRY(passage_check_json(passage, options.input, "input"));
    TRY(metadata_check(options.metadata, &passage->last));
    TRY(tags_check(options.tags, &passage->last));
    TRY(check_found(passage, options.on_existing));
    options.on_existing = NULL;
    TRY(remember_start(passage, key ? key : options.workflow, ret_id, &seq));
    if (!seq)
        return CAIRN_OK;
    if (is_call) {
        options.tell_instance = passage->task.instance_id;
        options.tell_event = call_event(passage, ret_id);
    }
    TRY(add_start(passage, &options, ret_id, seq));
    return options.key && is_asked ? learn_id(passage, false, ret_id) : CAIRN_OK;
}

cairn_code cairn_passage_start_workflow(cairn_passage *passage, const char *key,
                                        const cairn_start_options *options, char ret_id[40],
                                        cairn_error *reterr)
{
    char id[ID_TEXT] = "";
    TRY(passage_take(passage, reterr));
    cairn_code code = start_workflow(passage, key, options, ret_id != NULL, false, id);
    if (!code && ret_id)
        memcpy(ret_id, id, sizeof id);
    return passage_tell(passage, code, reterr);
}

/* ---- children that are waited for ---------------------------------------------------------- */

/* What the child's end says: {id, status, output, last_error}. */
static cairn_code answer_call(struct cairn_passage *passage, const char *key,
                              const char *payload, const char **ret_output)
{
    struct slice end = {0};
    if (!scan_text(payload, strlen(payload), &end))
        return fail(&passage->last, CAIRN_E_BAD_JSON, "the end of \"%.80s\" is not JSON", key);
    struct slice status = scan_find(end, "status");
    struct slice message = scan_find(scan_find(end, "last_error"), "message");
    bool is_completed = slice_is(status, "\"completed\"");
    bool is_failed = slice_is(status, "\"failed\"") && message.text;
    const char *text = is_completed
                           ? slice_json(scan_find(end, "output"), &passage->arena)
                           : slice_string(is_failed ? message : status, &passage->arena);
    if (!text)
        return passage_no_memory(passage);
    if (!is_completed)
        return passage_step_failed(passage, key, text, 1);
    *ret_output = text;
    return CAIRN_OK;
}

static cairn_code call(struct cairn_passage *passage, const char *key,
                       const cairn_start_options *options, int64_t timeout_ms,
                       const char **ret_output)
{
    char id[ID_TEXT];
    const char *payload = NULL;
    TRY(start_workflow(passage, key, options, false, true, id));
    const char *name = key ? key : options->workflow;
    const char *end = arena_printf(&passage->arena, "%s:end", name);
    const char *event = call_event(passage, id);
    if (!end || !event)
        return passage_no_memory(passage);
    TRY(passage_wait_event(passage, end, event, timeout_ms, &payload));
    return answer_call(passage, name, payload, ret_output);
}

cairn_code cairn_passage_call(cairn_passage *passage, const char *key,
                              const cairn_start_options *options, int64_t timeout_ms,
                              const char **ret_output, cairn_error *reterr)
{
    const char *output = NULL;
    TRY(passage_take(passage, reterr));
    cairn_code code = call(passage, key, options, timeout_ms, &output);
    if (!code && ret_output)
        *ret_output = output;
    return passage_tell(passage, code, reterr);
}
