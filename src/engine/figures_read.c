/* engine/figures_read.c - figures of the store, with those of this process that are not written yet.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/figures.h"
#include "engine/read.h"

#include <string.h>

enum { ROWS_MAX = 8000 };

/* What this process has counted is newer than its row. */
static struct figure_row *find_own(struct figure_row *rows, size_t count, const char *process,
                                   int64_t at_us)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].resolution == FIGURES_MINUTE && rows[i].at_us == at_us &&
            strcmp(rows[i].process, process) == 0)
            return &rows[i];
    return NULL;
}

static cairn_code add_own(struct question *q, const char *type, int64_t from_us,
                          struct figure_row *rows, size_t *count)
{
    struct local_engine *engine = q->engine;
    cairn_code code = CAIRN_OK;
    pthread_mutex_lock(&engine->figures.lock);
    for (const struct figure_minute *it = engine->figures.minutes; it && !code; it = it->next) {
        if (it->at_us < from_us || strcmp(it->type, type) != 0 || *count == ROWS_MAX)
            continue;
        struct figure_row *row = find_own(rows, *count, engine->workers.process, it->at_us);
        if (!row)
            row = &rows[(*count)++];
        code = figures_minute_row(engine, q->arena, it, row, q->error);
    }
    pthread_mutex_unlock(&engine->figures.lock);
    return code;
}

static cairn_code list_into(struct question *q, const char *type, int64_t from_us,
                            struct figure_row *rows, size_t *ret_count)
{
    *ret_count = 0;
    TRY(STORE(q, list_figures, type, from_us, rows, ROWS_MAX, ret_count));
    return add_own(q, type, from_us, rows, ret_count);
}

cairn_code figures_room(struct question *q, struct figure_row **ret_rows)
{
    *ret_rows = arena_array(q->arena, ROWS_MAX, sizeof **ret_rows);
    NEED(*ret_rows, q->error);
    return CAIRN_OK;
}

cairn_code figures_list(struct question *q, const char *type, int64_t from_us,
                        struct figure_row **ret_rows, size_t *ret_count)
{
    TRY(figures_room(q, ret_rows));
    return list_into(q, type, from_us, *ret_rows, ret_count);
}

cairn_code figures_sum(struct question *q, struct figure_row *rows, const char *type,
                       int64_t from_us, struct figure *ret_sum)
{
    struct figure one;
    size_t count;
    *ret_sum = (struct figure){0};
    TRY(list_into(q, type, from_us, rows, &count));
    for (size_t i = 0; i < count; i++) {
        figure_of_row(&rows[i], &one);
        figure_add(ret_sum, &one);
    }
    return CAIRN_OK;
}
