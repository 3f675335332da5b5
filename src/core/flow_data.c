/* core/flow_data.c - where a step's data comes from: its input and output, and conditions.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A step whose file says `input` is given what the template makes; one with `output` hands on what that makes
 * of its handler's answer.  The column `passed` holds what then differs from input and output:
 *
 *     not ended, with `input`   the data that has arrived, for on_failure: continue
 *     ended, with `output`      what goes on, and what expressions and handlers read of it
 */
#include "base/buf.h"
#include "base/scan.h"
#include "core/condition.h"
#include "core/flow_inside.h"
#include "core/limit.h"
#include "core/template.h"

#include <string.h>

bool step_is_readable(const struct step_row *row)
{
    return row->status == STEP_COMPLETED || row->status == STEP_CONFIRMED;
}

const char *step_passed(const struct step_row *row)
{
    return row->passed ? row->passed : row->output;
}

const char *step_arrived(const struct flow_step *step)
{
    return step->row.passed ? step->row.passed : step->row.input;
}

bool step_is_unmade(const struct flow_step *step)
{
    return step->config->input && !step->row.passed;
}

bool step_is_uncalled(const struct flow_step *step)
{
    return step->config->input && !step->row.started_at_us;
}

/* ---- what expressions see ------------------------------------------------------------------- */

/* Only the steps that are named are read, in one question. */
static cairn_code read_outputs(struct flow *flow, const struct place_list *places,
                               struct expression_scope *scope)
{
    if (places->count == 0)
        return CAIRN_OK;
    struct expression_output *outputs =
        arena_array(flow->arena, places->count, sizeof *outputs);
    NEED(outputs, flow->error);
    TRY(flow->source->read_ahead(flow, places->items, places->count));
    for (size_t i = 0; i < places->count; i++) {
        struct flow_step *step;
        TRY(flow->source->step(flow, places->items[i], &step));
        if (step && step_is_readable(&step->row))
            outputs[scope->output_count++] =
                (struct expression_output){step->row.name, step_passed(&step->row)};
    }
    scope->outputs = outputs;
    return CAIRN_OK;
}

static cairn_code make_scope(struct flow *flow, const struct flow_step *step, const char *data,
                             const struct place_list *places,
                             struct expression_scope *ret_scope)
{
    const struct instance_row *instance = flow->instance;
    *ret_scope = (struct expression_scope){.data = data,
                                           .input = instance->input,
                                           .instance_id = instance->id,
                                           .key = instance->key,
                                           .tags = instance->tags,
                                           .step_name = step->row.name};
    return read_outputs(flow, places, ret_scope);
}

/* What the expressions of a step fail with is the step's failure; anything else is the engine's. */
static cairn_code take_flaw(struct flow *flow, cairn_code code, const char *key,
                            const cairn_error *why, const char **ret_flaw)
{
    bool is_theirs =
        code == CAIRN_E_BAD_INPUT || code == CAIRN_E_BAD_JSON || code == CAIRN_E_TOO_LARGE;
    *ret_flaw = NULL;
    if (!is_theirs) {
        if (code && flow->error)
            *flow->error = *why;
        return code;
    }
    *ret_flaw = key ? arena_printf(flow->arena, "%s: %s", key, why->message)
                    : arena_strdup(flow->arena, why->message);
    return *ret_flaw ? CAIRN_OK : fail_memory(flow->error);
}

static cairn_code make(struct flow *flow, const char *key, const char *template,
                       const struct expression_scope *scope, const char **ret_json,
                       const char **ret_flaw)
{
    cairn_error why = {0};
    cairn_code code =
        template_make(template, scope, flow->value_max, flow->arena, ret_json, &why);
    return take_flaw(flow, code, key, &why, ret_flaw);
}

/* ---- what steps ask for --------------------------------------------------------------------- */

cairn_code step_make_input(struct flow *flow, struct flow_step *step, const char **ret_flaw)
{
    const struct step_config *config = step->config;
    struct step_row *row = &step->row;
    struct expression_scope scope;
    const char *made = NULL;
    *ret_flaw = NULL;
    if (!config->input)
        return CAIRN_OK;
    TRY(make_scope(flow, step, row->input, &config->reads, &scope));
    TRY(make(flow, "input", config->input, &scope, &made, ret_flaw));
    if (*ret_flaw)
        return CAIRN_OK;
    row->passed = row->input ? row->input : "null";
    row->input = made;
    return CAIRN_OK;
}

/* The text of a group: of a JSON text, a number or a boolean. */
static cairn_code take_group(struct flow *flow, const char *json, const char **ret_group,
                             const char **ret_flaw)
{
    struct slice value = {json, strlen(json)};
    *ret_group = *json == '"' ? slice_string(value, flow->arena) : json;
    NEED(*ret_group, flow->error);
    if (*json == '{' || *json == '[')
        *ret_flaw = "group: it must be a text, not a list or an object";
    else if (strlen(*ret_group) > GROUP_MAX)
        *ret_flaw = "group: it is longer than 128 bytes";
    return CAIRN_OK;
}

cairn_code step_make_group(struct flow *flow, struct flow_step *step, const char **ret_flaw)
{
    const struct step_config *config = step->config;
    struct expression_scope scope;
    const char *data = config->child.over ? step->row.input : step_arrived(step), *made = NULL;
    *ret_flaw = NULL;
    if (!config->group)
        return CAIRN_OK;
    step->row.group = flow->instance->group;
    TRY(make_scope(flow, step, data, &config->group_reads, &scope));
    TRY(make(flow, "group", config->group, &scope, &made, ret_flaw));
    if (*ret_flaw || strcmp(made, "null") == 0)
        return CAIRN_OK;
    const char *group = NULL;
    TRY(take_group(flow, made, &group, ret_flaw));
    if (!*ret_flaw)
        step->row.group = group;
    return CAIRN_OK;
}

cairn_code step_make_list(struct flow *flow, const struct flow_step *step,
                          const char **ret_list, const char **ret_flaw)
{
    struct expression_scope scope;
    TRY(make_scope(flow, step, step->row.input, &step->config->reads, &scope));
    return make(flow, "over", step->config->child.over, &scope, ret_list, ret_flaw);
}

/* ---- what a start names its child ----------------------------------------------------------- */

static cairn_code make_key(struct flow *flow, const struct flow_step *step,
                           const char **ret_key, const char **ret_flaw)
{
    const struct child_config *child = &step->config->child;
    struct expression_scope scope;
    const char *made = NULL;
    TRY(make_scope(flow, step, step_arrived(step), &child->key_reads, &scope));
    TRY(make(flow, "key", child->key, &scope, &made, ret_flaw));
    if (*ret_flaw)
        return CAIRN_OK;
    if (*made == '{' || *made == '[' || *made == 'n') {
        *ret_flaw = "key: it must be a text, not null, a list or an object";
        return CAIRN_OK;
    }
    struct slice value = {made, strlen(made)};
    *ret_key = *made == '"' ? slice_string(value, flow->arena) : made;
    return *ret_key ? CAIRN_OK : fail_memory(flow->error);
}

/* A tag is a text, so a number that an expression makes is one, too. */
static const char *tags_as_texts(struct arena *arena, const char *json)
{
    struct slice object = {json, strlen(json)}, key, value;
    struct scan scan;
    struct buf buf = {0};
    if (!scan_object(object, &scan))
        return json;
    buf_char(&buf, '{');
    for (const char *comma = ""; scan_member(&scan, &key, &value); comma = ",") {
        const char *quote = strchr("\"{[n", *value.text) ? "" : "\"";
        buf_printf(&buf, "%s\"%.*s\":%s%.*s%s", comma, (int)key.len, key.text, quote,
                   (int)value.len, value.text, quote);
    }
    buf_char(&buf, '}');
    return buf_keep(&buf, arena);
}

static cairn_code make_tags(struct flow *flow, const struct flow_step *step,
                            const char **ret_tags, const char **ret_flaw)
{
    const struct child_config *child = &step->config->child;
    struct expression_scope scope;
    const char *made = NULL;
    TRY(make_scope(flow, step, step_arrived(step), &child->tags_reads, &scope));
    TRY(make(flow, "tags", child->tags, &scope, &made, ret_flaw));
    if (*ret_flaw)
        return CAIRN_OK;
    *ret_tags = tags_as_texts(flow->arena, made);
    return *ret_tags ? CAIRN_OK : fail_memory(flow->error);
}

cairn_code flow_child_names(struct flow *flow, const struct flow_step *step,
                            const char **ret_key, const char **ret_tags, const char **ret_flaw)
{
    const struct child_config *child = &step->config->child;
    *ret_key = *ret_tags = *ret_flaw = NULL;
    if (child->key)
        TRY(make_key(flow, step, ret_key, ret_flaw));
    if (child->tags && !*ret_flaw)
        TRY(make_tags(flow, step, ret_tags, ret_flaw));
    return CAIRN_OK;
}

/* ---- what goes on --------------------------------------------------------------------------- */

/* Nearly all steps have none, which their text says faster than it is read. */
static bool may_have_output(const struct step_row *row)
{
    return row->config && strstr(row->config, "\"output\"");
}

cairn_code step_make_output(struct flow *flow, struct flow_step *step, const char **ret_flaw)
{
    struct step_row *row = &step->row;
    struct expression_scope scope;
    const char *made = NULL;
    *ret_flaw = NULL;
    if (may_have_output(row)) {
        TRY(flow->source->config(flow, step));
        const struct step_config *config = step->config;
        if (config->output) {
            TRY(make_scope(flow, step, row->output, &config->output_reads, &scope));
            TRY(make(flow, "output", config->output, &scope, &made, ret_flaw));
        }
    }
    if (!*ret_flaw)
        row->passed = made;
    return CAIRN_OK;
}

cairn_code step_evaluate(struct flow *flow, struct flow_step *step, bool *ret_is_true,
                         const char **ret_flaw)
{
    struct expression_scope scope;
    cairn_error why = {0};
    TRY(make_scope(flow, step, step->row.input, &step->config->reads, &scope));
    cairn_code code = condition_evaluate(step->config->when, &scope, ret_is_true, &why);
    return take_flaw(flow, code, NULL, &why, ret_flaw);
}
