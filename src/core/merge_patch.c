/* core/merge_patch.c - JSON changed by a merge patch (RFC 7396).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/merge_patch.h"

#include "base/scan.h"

#include <string.h>

static void merge(struct slice target, struct slice patch, struct buf *out);

static bool is_object(struct slice value)
{
    struct scan scan;
    return value.text && scan_object(value, &scan);
}

/* Keys without their quotes, which may be written with escapes. */
static bool is_same_key(struct slice a, struct slice b)
{
    char one[512], other[512];
    if (a.len == b.len && memcmp(a.text, b.text, a.len) == 0)
        return true;
    if (!memchr(a.text, '\\', a.len) && !memchr(b.text, '\\', b.len))
        return false;
    return a.len < sizeof one && b.len < sizeof other &&
           slice_unescape((struct slice){a.text - 1, a.len + 2}, one, sizeof one) &&
           slice_unescape((struct slice){b.text - 1, b.len + 2}, other, sizeof other) &&
           strcmp(one, other) == 0;
}

static bool find_member(struct slice object, struct slice key, struct slice *ret_value)
{
    struct scan scan;
    struct slice other;
    bool is_found = false;
    *ret_value = (struct slice){0};
    if (!object.text || !scan_object(object, &scan))
        return false;
    struct slice value;
    while (scan_member(&scan, &other, &value))
        if (is_same_key(other, key)) {
            *ret_value = value;
            is_found = true;
        }
    return is_found;
}

static void begin_member(struct buf *out, struct slice key, bool *is_first)
{
    buf_str(out, *is_first ? "\"" : ",\"");
    *is_first = false;
    buf_add(out, key.text, key.len);
    buf_str(out, "\":");
}

static void merge_objects(struct slice target, struct slice patch, struct buf *out)
{
    struct scan scan;
    struct slice key, value, change;
    bool is_first = true;
    buf_char(out, '{');
    if (target.text && scan_object(target, &scan))
        while (scan_member(&scan, &key, &value)) {
            bool is_changed = find_member(patch, key, &change);
            if (is_changed && slice_is(change, "null"))
                continue;
            begin_member(out, key, &is_first);
            if (is_changed)
                merge(value, change, out);
            else
                buf_add(out, value.text, value.len);
        }
    if (scan_object(patch, &scan))
        while (scan_member(&scan, &key, &change)) {
            if (slice_is(change, "null") || find_member(target, key, &value))
                continue;
            begin_member(out, key, &is_first);
            merge((struct slice){0}, change, out);
        }
    buf_char(out, '}');
}

/* A patch that is no object replaces the target; a target that is none counts as {}. */
static void merge(struct slice target, struct slice patch, struct buf *out)
{
    if (is_object(patch))
        merge_objects(is_object(target) ? target : (struct slice){0}, patch, out);
    else
        buf_add(out, patch.text, patch.len);
}

bool merge_patch(const char *target, const char *patch, struct buf *out)
{
    struct slice on, with;
    if (!scan_text(target, strlen(target), &on) || !scan_text(patch, strlen(patch), &with))
        return false;
    merge(on, with, out);
    return true;
}
