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
#include "engine/workset.h"

#include <string.h>

enum { ELEMENTS_MAX = 100000, PORTION = 256 };

/* ---- the list ------------------------------------------------------------------------------- */

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
                        const struct children_row *row, const char *list, int32_t *ret_count,
                        const char **ret_flaw)
{
    struct workset_instance *instance = (struct workset_instance *)flow;
    struct slice value;
    struct scan scan;
    int32_t count = PORTION;
    *ret_count = 0;
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
