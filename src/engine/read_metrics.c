/* engine/read_metrics.c - GET /metrics: what all processes have counted, and what there is now.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The request goes through a batch first, which writes what this process has counted, so that the answer is
 * what the store has: the same from every process, and not less than any answer before.
 */
#include "engine/batch.h"
#include "engine/limit.h"
#include "engine/read.h"
#include "engine/totals.h"

#include <string.h>

enum { METRICS_MS = 5000 };

cairn_code batch_metrics(struct batch *batch, struct request *request)
{
    (void)request;
    batch->is_figures_wanted = true;
    return CAIRN_OK;
}

#define COPY_TOTAL(name) stats->name = (uint64_t)all->n[TOTAL_##name];
static void copy_totals(const struct total *all, cairn_stats *stats)
{
    COUNTERS(COPY_TOTAL)
    COPY_TOTAL(commits)
    COPY_TOTAL(commit_requests)
    COPY_TOTAL(commit_us_max)
}

static struct type_item *find_type(struct type_item *types, size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(types[i].type, name) == 0)
            return &types[i];
    types[*count] = (struct type_item){.type = name};
    return &types[(*count)++];
}

/* A type that has not been counted yet is a label of its own while there is room. */
static const char *label_of(struct total_names *names, const char *type)
{
    size_t *count = &names->counts[TOTAL_TYPE];
    const char *label = total_label(names, TOTAL_TYPE, type);
    if (strcmp(label, "other") != 0 || *count == TOTAL_NAMES_MAX || strcmp(type, "other") == 0)
        return label;
    return names->names[TOTAL_TYPE][(*count)++] = type;
}

/* What is ready, leased and oldest now. */
static cairn_code read_types(struct question *q, struct total_names *names,
                             struct metrics_output *metrics)
{
    struct type_item *found;
    size_t found_count, count = 0;
    TRY(question_types(q, TYPE_COUNT_MAX, &found, &found_count));
    struct type_item *types = arena_array(q->arena, TOTAL_NAMES_MAX + 1, sizeof *types);
    NEED(types, q->error);
    for (size_t i = 0; i < found_count; i++) {
        const char *label = label_of(names, found[i].type);
        struct type_item *type = find_type(types, &count, label);
        int64_t oldest_us = found[i].oldest_ready_us;
        type->ready += found[i].ready;
        type->leased += found[i].leased;
        type->workers_live += found[i].workers_live;
        if (oldest_us && (!type->oldest_ready_us || oldest_us < type->oldest_ready_us))
            type->oldest_ready_us = oldest_us;
    }
    metrics->types = types;
    metrics->type_count = count;
    return CAIRN_OK;
}

cairn_code answer_metrics(struct question *q)
{
    struct metrics_output *metrics = arena_zalloc(q->arena, sizeof *metrics);
    struct total_sums *sums = arena_zalloc(q->arena, sizeof *sums);
    struct need_counts needs = {0};
    NEED(metrics && sums, q->error);
    TRY(STORE(q, limit_time, METRICS_MS));
    TRY(totals_sum(q, sums));
    TRY(question_stats(q, &metrics->stats));
    copy_totals(&sums->items->total, &metrics->stats);
    TRY(STORE(q, count_needs, &needs));
    TRY(STORE(q, measure, &metrics->size_bytes));
    TRY(read_types(q, &sums->names, metrics));
    struct limit_item *limits;
    TRY(question_limit_items(q, &limits, &metrics->limit_count));
    metrics->limits = limits;
    metrics->all = &sums->items->total;
    metrics->sums = sums->items + 1;
    metrics->sum_count = sums->count - 1;
    metrics->now_us = q->tx->now_us;
    metrics->approvals = needs.approvals;
    metrics->dead = needs.dead;
    metrics->schema = q->engine->base.schema->to;
    metrics->store = q->ops->name;
    q->request->out.metrics = metrics;
    return CAIRN_OK;
}
