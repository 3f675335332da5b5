/* base/trace.c - the trace that a request or a task belongs to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/trace.h"

#include "base/scan.h"

#include <string.h>

/* So many hexadecimal digits; *is_zero: all of them are 0. */
static bool is_hex(const char *text, size_t len, bool *is_zero)
{
    *is_zero = strspn(text, "0") >= len;
    return strspn(text, "0123456789abcdef") >= len;
}

bool trace_is_valid(const char *text)
{
    bool is_zero, is_trace_zero, is_span_zero;
    if (!text || strnlen(text, TRACE_TEXT) != TRACE_TEXT - 1)
        return false;
    return is_hex(text, 2, &is_zero) && strncmp(text, "ff", 2) != 0 && text[2] == '-' &&
           is_hex(text + 3, 32, &is_trace_zero) && !is_trace_zero && text[35] == '-' &&
           is_hex(text + 36, 16, &is_span_zero) && !is_span_zero && text[52] == '-' &&
           is_hex(text + 53, 2, &is_zero);
}

static void read_member(struct slice metadata, char ret_text[TRACE_TEXT])
{
    struct slice value = metadata.text ? scan_find(metadata, "traceparent") : metadata;
    if (value.len != TRACE_TEXT + 1 || !slice_unescape(value, ret_text, TRACE_TEXT) ||
        !trace_is_valid(ret_text))
        ret_text[0] = '\0';
}

void trace_of(const char *json, char ret_text[TRACE_TEXT])
{
    struct slice metadata;
    ret_text[0] = '\0';
    if (json && scan_text(json, strlen(json), &metadata))
        read_member(metadata, ret_text);
}

void trace_of_body(const char *body, size_t len, char ret_text[TRACE_TEXT])
{
    struct slice object;
    ret_text[0] = '\0';
    if (body && scan_text(body, len, &object))
        read_member(scan_find(object, "metadata"), ret_text);
}
