/* cli/cells_limit.c - limits on the command line: rates that are given, and cells.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/json.h"
#include "cli/args.h"
#include "cli/cells.h"
#include "cli/route.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool rate_parse(const char *text, int32_t *ret_n, int64_t *ret_per_ms)
{
    enum { DIGITS_MAX = 9 };
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > DIGITS_MAX || text[digits] != '/')
        return false;
    *ret_n = (int32_t)strtol(text, NULL, 10);
    return *ret_n > 0 && durations_parse(text + digits + 1, ret_per_ms) && *ret_per_ms > 0;
}

void write_rate(const char *text, struct json_out *out)
{
    int32_t n = 0;
    int64_t per_ms = 0;
    rate_parse(text, &n, &per_ms); /* it was checked */
    json_open(out, '{');
    json_int(json_key(out, "n"), n);
    json_int(json_key(out, "per_ms"), per_ms);
    json_close(out, '}');
}

CELL(count_if_set)
{
    if (int_of(item->tree, key))
        buf_printf(text, "%" PRId64, int_of(item->tree, key));
}

CELL(rate)
{
    char per[DURATION_TEXT];
    const json_t *rate = json_object_get(item->tree, key);
    if (!json_is_object(rate))
        return;
    duration_format(int_of(rate, "per_ms") * US_PER_MS, per);
    buf_printf(text, "%" PRId64 "/%s", int_of(rate, "n"), per);
}

CELL(per_group)
{
    buf_str(text, is_true(item->tree, key) ? "group" : "store");
}

CELL(limit_line)
{
    buf_printf(text, "%s:", text_of(item->tree, key));
    if (int_of(item->tree, "concurrency"))
        buf_printf(text, " %" PRId64 " at a time", int_of(item->tree, "concurrency"));
    if (json_is_object(json_object_get(item->tree, "rate"))) {
        buf_str(text, int_of(item->tree, "concurrency") ? ", " : " ");
        cell_rate(item, "rate", text);
    }
    buf_str(text, is_true(item->tree, "per_group") ? ", for each group" : "");
}
