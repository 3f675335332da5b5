/* engine/map.c - the list that a map runs over, and the array that its children make.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The list is read once, when the step begins, and kept in portions: a wave reads the portion that its
 * elements are in, however long the list is.
 */
#include "base/json.h"
#include "base/mem.h"
#include "base/scan.h"
#include "core/template.h"
#include "engine/workset.h"

#include <string.h>

enum { ELEMENTS_MAX = 100000, PORTION = 256 };

/* ---- the list ------------------------------------------------------------------------------- */

/* The outputs of the steps that the expression names. */
static cairn_code add_outputs(struct workset_instance *instance, const char *over,
                              struct expression_scope *scope)
{
    struct batch *batch = instance->batch;
    struct expression_steps steps = {0};
    TRY(template_steps(over, &batch->arena, &steps, batch->error));
    if (steps.count == 0 || instance->is_new)
        return CAIRN_OK;
    struct expression_output *outputs =
        arena_array(&batch->arena, steps.count, sizeof *outputs);
    NEED(outputs, batch->error);
    TRY(workset_flush(instance));
    for (size_t i = 0; i < steps.count; i++) {
        struct step_row row;
        cairn_code code = STORE(batch, get_step, instance->row.id, steps.items[i], &row);
        if (code && code != CAIRN_E_NOT_FOUND)
            return code;
        bool is_finished =
            !code && (row.status == STEP_COMPLETED || row.status == STEP_CONFIRMED);
        outputs[i] =
            (struct expression_output){steps.items[i], is_finished ? row.output : NULL};
    }
    scope->outputs = outputs;
    scope->output_count = steps.count;
    return CAIRN_OK;
}

static cairn_code evaluate(struct workset_instance *instance, const struct flow_step *step,
                           const char **ret_list, const char **ret_flaw)
{
    struct batch *batch = instance->batch;
    const char *over = step->config->child.over;
    cairn_error why = {0};
    struct expression_scope scope = {.data = step->row.input,
                                     .input = instance->row.input,
                                     .instance_id = instance->row.id,
                                     .key = instance->row.key,
                                     .tags = instance->row.tags,
                                     .step_name = step->row.name};
    TRY(add_outputs(instance, over, &scope));
    cairn_code code =
        template_make(over, &scope, instance->flow.max_bytes, &batch->arena, ret_list, &why);
    if (code == CAIRN_E_OUT_OF_MEMORY)
        return fail_memory(batch->error);
    *ret_flaw = code ? arena_printf(&batch->arena, "over: %s", why.message) : NULL;
    return code && !*ret_flaw ? fail_memory(batch->error) : CAIRN_OK;
}

/* One portion as a list of its own. */
static cairn_code keep_portion(struct workset_instance *instance,
                               const struct children_row *row, struct scan *scan, int32_t first,
                               int32_t most, int32_t *ret_count)
{
    struct batch *batch = instance->batch;
    struct buf buf = {0};
    struct slice item;
    int32_t count = 0;
    buf_char(&buf, '[');
    while (count < PORTION && first + count < most && scan_item(scan, &item)) {
        if (count++)
            buf_char(&buf, ',');
        buf_add(&buf, item.text, item.len);
    }
    buf_char(&buf, ']');
    struct elements_row elements = {.instance_id = row->instance_id,
                                    .seq = row->seq,
                                    .round = row->round,
                                    .first = first,
                                    .items = buf_keep(&buf, &batch->arena)};
    struct elements_row *added =
        count ? list_add(&batch->arena, &instance->elements) : &elements;
    NEED(elements.items && added, batch->error);
    *added = elements;
    *ret_count = count;
    return CAIRN_OK;
}

/* How many elements are run over; somebody who tries a workflow wants few. */
static int32_t elements_most(const struct workset_instance *instance,
                             const struct flow_step *step)
{
    size_t few = instance->batch->engine->base.options.map_elements;
    int32_t needed = step->config->child.at_least;
    if (few == 0 || few > ELEMENTS_MAX)
        return ELEMENTS_MAX;
    return needed > (int32_t)few ? needed : (int32_t)few;
}

cairn_code map_elements(struct flow *flow, const struct flow_step *step,
                        const struct children_row *row, int32_t *ret_count,
                        const char **ret_flaw)
{
    struct workset_instance *instance = (struct workset_instance *)flow;
    const char *list = NULL;
    struct slice value;
    struct scan scan;
    int32_t count = PORTION;
    *ret_count = 0;
    TRY(evaluate(instance, step, &list, ret_flaw));
    if (*ret_flaw)
        return CAIRN_OK;
    if (!scan_text(list, strlen(list), &value) || !scan_list(value, &scan)) {
        *ret_flaw = "over is not a list";
        return CAIRN_OK;
    }
    if (scan_count(value) > ELEMENTS_MAX) {
        *ret_flaw = arena_printf(flow->arena, "over has %zu elements; %d are allowed",
                                 scan_count(value), ELEMENTS_MAX);
        return *ret_flaw ? CAIRN_OK : fail_memory(flow->error);
    }
    for (; count == PORTION; *ret_count += count)
        TRY(keep_portion(instance, row, &scan, *ret_count, elements_most(instance, step),
                         &count));
    return CAIRN_OK;
}

cairn_code map_read(struct batch *batch, const struct children_row *row, int32_t first,
                    const char **ret_items, int32_t wanted, int32_t *ret_count)
{
    struct elements_row elements;
    struct slice value, item;
    struct scan scan;
    int32_t at = first / PORTION * PORTION, count = 0;
    TRY(STORE(batch, get_elements, row, at, &elements));
    if (!scan_text(elements.items, strlen(elements.items), &value) || !scan_list(value, &scan))
        return fail(batch->error, CAIRN_E_STORE, "the elements of a map are not a list");
    for (; count < wanted && scan_item(&scan, &item); at++) {
        if (at < first)
            continue;
        ret_items[count] = slice_json(item, &batch->arena);
        NEED(ret_items[count], batch->error);
        count++;
    }
    *ret_count = count;
    return CAIRN_OK;
}

/* ---- the array ------------------------------------------------------------------------------ */

/* Outputs in the order of their elements; between them null for what did not complete. */
static cairn_code write_outputs(struct batch *batch, const struct children_row *row,
                                struct json_out *out)
{
    struct child_output_row *rows = arena_array(&batch->arena, PORTION, sizeof *rows);
    size_t count = row->size ? PORTION : 0;
    int32_t next = 0;
    NEED(rows, batch->error);
    for (int64_t after = 0; count == PORTION;) {
        TRY(STORE(batch, list_child_outputs, row, after, rows, PORTION, &count));
        for (size_t i = 0; i < count; i++, next++) {
            for (; next < rows[i].element; next++)
                json_raw(out, NULL);
            json_raw(out, rows[i].output);
            after = rows[i].seq;
        }
    }
    for (; next < row->size; next++)
        json_raw(out, NULL);
    return CAIRN_OK;
}

cairn_code map_collect(struct flow *flow, const struct children_row *row,
                       const char **ret_output)
{
    struct batch *batch = ((struct workset_instance *)flow)->batch;
    cleanup(buf_done) struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_open(&out, '[');
    TRY(write_outputs(batch, row, &out));
    json_close(&out, ']');
    *ret_output = buf_keep(&buf, &batch->arena);
    return *ret_output ? CAIRN_OK : fail_memory(batch->error);
}
