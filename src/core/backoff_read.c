/* core/backoff_read.c - what a job says of its retries, as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backoff.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"

#include <string.h>

/* More than the four members need, however they are written. */
enum { RETRY_BYTES_MAX = 1024 };

static cairn_code bad_member(const char *name, const char *wanted, cairn_error *reterr)
{
    return fail(reterr, CAIRN_E_BAD_INPUT, "%.40s of retry must be %s", name, wanted);
}

static cairn_code read_ms(const char *name, const json_t *value, int64_t *ret_us,
                          cairn_error *reterr)
{
    int64_t most = INSTANT_MAX / US_PER_MS;
    int64_t ms = json_is_integer(value) ? json_integer_value(value) : -1;
    if (ms < 0 || ms > most)
        return bad_member(name, "a whole number of milliseconds, from 0", reterr);
    *ret_us = ms * US_PER_MS;
    return CAIRN_OK;
}

/* -1: no number. */
static double read_fraction(const json_t *value)
{
    size_t len = 0;
    double fraction = -1;
    const char *text = json_number_text(value, &len); /* a NUL ends it, as every string */
    if (!text)
        return json_is_integer(value) ? (double)json_integer_value(value) : -1;
    return fraction_read(text, &fraction) ? fraction : -1;
}

static cairn_code read_member(const char *name, const json_t *value, struct backoff *retry,
                              cairn_error *reterr)
{
    if (strcmp(name, "base_ms") == 0)
        return read_ms(name, value, &retry->base_us, reterr);
    if (strcmp(name, "max_ms") == 0)
        return read_ms(name, value, &retry->max_us, reterr);
    if (strcmp(name, "jitter") == 0) {
        double jitter = read_fraction(value);
        retry->jitter = jitter;
        return jitter >= 0 && jitter <= 1 ? CAIRN_OK
                                          : bad_member(name, "a number from 0 to 1", reterr);
    }
    if (strcmp(name, "backoff") != 0)
        return fail(
            reterr, CAIRN_E_BAD_INPUT,
            "retry has the unknown member \"%.40s\"; it takes backoff, base_ms, max_ms and "
            "jitter",
            name);
    const char *word = json_string_value(value);
    return word && backoff_from(word, &retry->kind)
               ? CAIRN_OK
               : bad_member(name, "fixed, linear, exponential or quadratic", reterr);
}

static cairn_code read_tree(json_t *tree, struct backoff *retry, cairn_error *reterr)
{
    const char *name;
    json_t *value;
    if (!json_is_object(tree))
        return fail(reterr, CAIRN_E_BAD_INPUT, "retry is not a JSON object");
    json_object_foreach(tree, name, value)
    {
        TRY(read_member(name, value, retry, reterr));
    }
    return CAIRN_OK;
}

static cairn_code retry_read(const char *json, struct backoff *retry, cairn_error *reterr)
{
    json_t *tree = NULL;
    size_t len = strnlen(json, RETRY_BYTES_MAX + 1);
    if (len > RETRY_BYTES_MAX)
        return fail(reterr, CAIRN_E_BAD_INPUT, "retry has more than %d bytes",
                    (int)RETRY_BYTES_MAX);
    TRY(json_read(json, len, "retry", &tree, reterr));
    cairn_code code = read_tree(tree, retry, reterr);
    json_decref(tree);
    return code;
}

cairn_code retry_check(const char *json, cairn_error *reterr)
{
    struct backoff ignored = backoff_for_jobs;
    return json ? retry_read(json, &ignored, reterr) : CAIRN_OK;
}

struct backoff retry_of_job(const char *json)
{
    struct backoff retry = backoff_for_jobs;
    return json && retry_read(json, &retry, NULL) == CAIRN_OK ? retry : backoff_for_jobs;
}
