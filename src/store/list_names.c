/* store/list_names.c - jobs and instances that are looked up by their ids and keys.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "core/pattern.h"
#include "store/list_scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAMES_MAX = 1000, /* that are looked up */
    PREFIX_LEAST = 4, /* of an id: what is shorter is looked for among keys alone */
    END_LEN = 8,      /* as many characters as people copy from the end of an id */
};

static int compare_falling(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left < right) - (left > right);
}

static cairn_code add_names(struct scan *scan, struct list_names names)
{
    struct source *source = &scan->sources[0];
    size_t count = 0;
    names.kind = scan->kind;
    TRY(scan->ops->find_names(scan->tx, &names, source->seqs + source->count, NAMES_MAX, &count,
                              scan->error));
    source->count += count;
    return CAIRN_OK;
}

/* Keys from this one on: behind it comes nothing that begins with it but the greatest character. */
static cairn_code add_keys(struct scan *scan, const char *key, size_t len, bool is_prefix)
{
    struct arena *arena = scan->tx->arena;
    const char *from = arena_strndup(arena, key, len);
    const char *below =
        arena_printf(arena, is_prefix ? "%.*s\xF4\x8F\xBF\xBF" : "%.*s\1", (int)len, key);
    NEED(from && below, scan->error);
    return add_names(scan, (struct list_names){.key_from = from, .key_below = below});
}

/* A text that an id may begin with is the range of such ids. */
static cairn_code add_ids_from(struct scan *scan, const char *text)
{
    static const char first[] = "00000000-0000-0000-0000-000000000000",
                      last[] = "ffffffff-ffff-ffff-ffff-ffffffffffff";
    size_t len = strlen(text);
    if (len < PREFIX_LEAST || len > sizeof first - 1)
        return CAIRN_OK;
    char *from = arena_strdup(scan->tx->arena, first),
         *to = arena_strdup(scan->tx->arena, last);
    NEED(from && to, scan->error);
    for (size_t i = 0; i < len; i++) {
        if (first[i] == '-' ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
            return CAIRN_OK;
        from[i] = to[i] = (char)tolower((unsigned char)text[i]);
    }
    return add_names(scan, (struct list_names){.id_from = from, .id_to = to});
}

/* The last characters of an id, which people can tell apart where ids of one hour begin alike. */
static bool is_id_end(const char *text)
{
    return strlen(text) == END_LEN && strspn(text, "0123456789abcdefABCDEF") == END_LEN;
}

/* Looked for among the newest, since no index has the ends of ids; and only if no id begins so. */
static cairn_code add_ids_with_end(struct scan *scan, const char *text)
{
    if (scan->sources[0].count > 0 || !is_id_end(text))
        return CAIRN_OK;
    char *end = arena_strdup(scan->tx->arena, text);
    NEED(end, scan->error);
    for (char *c = end; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return add_names(scan, (struct list_names){.id_end = end, .newest = LIST_SCAN_MAX});
}

static bool id_ends_with(const char *id, const char *text)
{
    size_t len = strlen(id);
    return is_id_end(text) && len >= END_LEN && strcasecmp(id + len - END_LEN, text) == 0;
}

static bool begins_with(const char *text, const char *prefix)
{
    return text && strncmp(text, prefix, strlen(prefix)) == 0;
}

bool scan_is_named(const struct scan *scan, const char *id, const char *key)
{
    const struct list_filter *filter = &scan->filter;
    bool is_listed = !filter->ids;
    for (size_t i = 0; i < filter->id_count && !is_listed; i++)
        is_listed = strcasecmp(filter->ids[i], id) == 0;
    bool is_key = !filter->key || (key && pattern_matches(filter->key, key));
    bool is_q = !filter->q || strncasecmp(id, filter->q, strlen(filter->q)) == 0 ||
                begins_with(key, filter->q) || id_ends_with(id, filter->q);
    return is_listed && is_key && is_q;
}

/* Drops what is outside of the bounds, and what is there twice. */
static void sort_names(const struct scan *scan, struct source *source)
{
    size_t kept = 0;
    if (source->count)
        qsort(source->seqs, source->count, sizeof *source->seqs, compare_falling);
    for (size_t i = 0; i < source->count; i++) {
        int64_t seq = source->seqs[i];
        if (seq >= scan->from && seq < scan->before &&
            (kept == 0 || source->seqs[kept - 1] != seq))
            source->seqs[kept++] = seq;
    }
    source->count = kept;
}

cairn_code scan_look_up(struct scan *scan)
{
    const struct list_filter *filter = &scan->filter;
    struct source *source = &scan->sources[0];
    source->seqs = arena_array(scan->tx->arena, 2 * (size_t)NAMES_MAX, sizeof *source->seqs);
    NEED(source->seqs, scan->error);
    source->is_done = true;
    scan->source_count = 1;
    if (filter->ids) {
        TRY(add_names(scan,
                      (struct list_names){.ids = filter->ids, .id_count = filter->id_count}));
    } else if (filter->key) {
        bool is_prefix = pattern_is_prefix(filter->key);
        TRY(add_keys(scan, filter->key, strlen(filter->key) - is_prefix, is_prefix));
    } else {
        TRY(add_ids_from(scan, filter->q));
        TRY(add_ids_with_end(scan, filter->q));
        TRY(add_keys(scan, filter->q, strlen(filter->q), true));
    }
    sort_names(scan, source);
    return CAIRN_OK;
}
