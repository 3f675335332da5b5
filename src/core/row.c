/* core/row.c - members of a row, by the description of their column.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/row.h"
#include "base/clock.h"
#include "core/counter.h"

#include <string.h>

int word_from(const struct words *words, const char *word)
{
    for (int i = 0; word && i < words->count; i++)
        if (words->names[i] && strcmp(words->names[i], word) == 0)
            return i;
    return 0;
}

bool column_is_text(const struct column *column)
{
    return column->kind <= UUID_COLUMN || column->words;
}

const char *member_text(const struct column *column, const void *row)
{
    const char *member = (const char *)row + column->offset;
    if (column->words)
        return column->words->names[*(const int *)member];
    return *(const char *const *)member;
}

void member_set_text(const struct column *column, void *row, const char *text)
{
    char *member = (char *)row + column->offset;
    if (column->words)
        *(int *)member = word_from(column->words, text);
    else
        *(const char **)member = text;
}

bool row_keep_texts(const struct row_type *type, void *row, struct arena *arena)
{
    for (size_t i = 0; i < type->count; i++) {
        const struct column *column = &type->columns[i];
        const char *text = column->kind <= UUID_COLUMN ? member_text(column, row) : NULL;
        if (!text)
            continue;
        text = arena_strdup(arena, text);
        if (!text)
            return false;
        member_set_text(column, row, text);
    }
    return true;
}

int64_t member_int(const struct column *column, const void *row)
{
    const char *member = (const char *)row + column->offset;
    switch (column->kind) {
    case INT64_COLUMN:
    case TIME_COLUMN:
        return *(const int64_t *)member;
    case BOOL_COLUMN:
        return *(const bool *)member;
    default:
        return *(const int32_t *)member;
    }
}

void member_set_int(const struct column *column, void *row, int64_t value)
{
    char *member = (char *)row + column->offset;
    switch (column->kind) {
    case INT64_COLUMN:
        *(int64_t *)member = value;
        break;
    case TIME_COLUMN:
        *(int64_t *)member = instant_held(value);
        break;
    case BOOL_COLUMN:
        *(bool *)member = value != 0;
        break;
    default:
        *(int32_t *)member = counter_of(value);
    }
}
