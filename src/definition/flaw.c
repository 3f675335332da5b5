/* definition/flaw.c - the errors of a workflow file, collected while it is read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "definition/flaw.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The length of the longest beginning of `text` that has at most `room` bytes and ends between
 * two characters. */
static size_t cut_length(const char *text, size_t room)
{
    size_t len = strlen(text);
    if (len <= room)
        return len;
    len = room;
    while (len > 0 && ((unsigned char)text[len] & 0xC0) == 0x80)
        len--;
    return len;
}

const char *quoted(char to[QUOTED_TEXT], const char *name)
{
    size_t len = cut_length(name, QUOTED_TEXT - 8);
    snprintf(to, QUOTED_TEXT, "\"%.*s%s\"", (int)len, name, name[len] ? "..." : "");
    for (char *c = to; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = ' ';
    return to;
}

static struct flaw *new_flaw(struct flaws *flaws)
{
    if (flaws->count == FLAWS_MAX)
        return NULL;
    struct flaw *list =
        arena_grow(flaws->arena, flaws->list, flaws->count, 1, &flaws->room, sizeof *list);
    if (!list) {
        flaws->is_out_of_memory = true;
        return NULL;
    }
    flaws->list = list;
    return &list[flaws->count++];
}

static void add(struct flaws *flaws, cairn_code code, struct place at, const char *format,
                va_list args)
{
    struct flaw *flaw = new_flaw(flaws);
    if (!flaw)
        return;
    char text[2 * sizeof flaw->error.message];
    vsnprintf(text, sizeof text, format, args);
    size_t len = cut_length(text, sizeof flaw->error.message - 1);
    memcpy(flaw->error.message, text, len);
    flaw->error.message[len] = '\0';
    flaw->error.line = at.line;
    flaw->error.column = at.column;
    flaw->code = code;
}

void flaw_add(struct flaws *flaws, struct place at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(flaws, CAIRN_E_BAD_INPUT, at, format, args);
    va_end(args);
}

void flaw_limit(struct flaws *flaws, struct place at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(flaws, CAIRN_E_TOO_LARGE, at, format, args);
    va_end(args);
}

/* The sort is stable: flaws at one place stay in the order in which they were found. */
static void sort_by_place(struct flaw *list, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct flaw flaw = list[i];
        size_t k = i;
        for (; k > 0; k--) {
            const cairn_flaw *before = &list[k - 1].error;
            if (before->line < flaw.error.line ||
                (before->line == flaw.error.line && before->column <= flaw.error.column))
                break;
            list[k] = list[k - 1];
        }
        list[k] = flaw;
    }
}

static void tell_others(const struct flaws *flaws, cairn_error *reterr)
{
    char text[sizeof reterr->detail];
    size_t used = 0;
    for (size_t i = 1; i < flaws->count && used < sizeof text; i++) {
        const cairn_flaw *error = &flaws->list[i].error;
        int len = snprintf(text + used, sizeof text - used, "%s%d:%d: %s", used ? "\n" : "",
                           error->line, error->column, error->message);
        used += len < 0 ? 0 : (size_t)len;
    }
    if (used)
        fail_detail(reterr, reterr->code, "%.*s", (int)cut_length(text, sizeof text - 1), text);
}

cairn_code flaws_tell(struct flaws *flaws, const char *file, cairn_flaw *ret_errors,
                      size_t room, size_t *ret_count, cairn_error *reterr)
{
    if (flaws->is_out_of_memory)
        return fail_memory(reterr);
    sort_by_place(flaws->list, flaws->count);
    size_t told = flaws->count < room ? flaws->count : room;
    for (size_t i = 0; i < told; i++)
        ret_errors[i] = flaws->list[i].error;
    if (ret_count)
        *ret_count = told;
    if (flaws->count == 0)
        return CAIRN_OK;

    const struct flaw *first = &flaws->list[0];
    if (first->error.line)
        fail(reterr, first->code, "%s:%d:%d: %s", file, first->error.line, first->error.column,
             first->error.message);
    else
        fail(reterr, first->code, "%s: %s", file, first->error.message);
    if (reterr)
        tell_others(flaws, reterr);
    return first->code;
}
