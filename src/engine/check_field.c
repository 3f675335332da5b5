/* engine/check_field.c - checks of single fields.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "core/limit.h"
#include "core/pattern.h"
#include "engine/check.h"

#include <string.h>

cairn_code check_bad(struct check *check, const char *field, const char *why)
{
    return fail(check->error, CAIRN_E_BAD_INPUT, "%s %s", field, why);
}

static cairn_code too_large(struct check *check, const char *field, const char *why,
                            const char *unit, size_t given, size_t allowed)
{
    fail(check->error, CAIRN_E_TOO_LARGE, "%s %s", field, why);
    return fail_detail(check->error, CAIRN_E_TOO_LARGE, "%zu%s, %zu are allowed", given, unit,
                       allowed);
}

cairn_code check_present(struct check *check, const char *field, const char *text)
{
    return text ? CAIRN_OK : check_bad(check, field, "is missing");
}

cairn_code check_text(struct check *check, const char *field, const char *text, size_t max)
{
    TRY(check_present(check, field, text));
    size_t len = strlen(text);
    if (len == 0)
        return check_bad(check, field, "is empty");
    if (len > max)
        return too_large(check, field, "is too long", " bytes", len, max);
    return utf8_is_valid(text, len) ? CAIRN_OK : check_bad(check, field, "is not UTF-8");
}

cairn_code check_name(struct check *check, const char *field, const char *text)
{
    return check_text(check, field, text, check->limits->max_name);
}

cairn_code check_optional(struct check *check, const char *field, const char *text)
{
    return text ? check_name(check, field, text) : CAIRN_OK;
}

cairn_code check_runtime(struct check *check, const char *field, const char *text)
{
    TRY(check_name(check, field, text));
    return runtime_is_valid(text) ? CAIRN_OK
                                  : fail(check->error, CAIRN_E_BAD_INPUT,
                                         "%s \"%.64s\" " RUNTIME_RULE, field, text);
}

cairn_code check_level(struct check *check, const char *level)
{
    static const char *const levels[] = {"debug", "info", "warn", "error"};
    for (size_t i = 0; level && i < sizeof levels / sizeof *levels; i++)
        if (strcmp(level, levels[i]) == 0)
            return CAIRN_OK;
    cairn_code code = check_bad(check, "level", "does not exist");
    return fail_hint(check->error, code, "debug, info, warn or error");
}

/* May be left out or empty. */
cairn_code check_task_group(struct check *check, const char *group)
{
    return group && group[0] ? check_text(check, "group", group, GROUP_MAX) : CAIRN_OK;
}

/* A longer text, which may be left out or empty. */
cairn_code check_comment(struct check *check, const char *field, const char *text)
{
    bool is_given = text && text[0];
    return is_given ? check_text(check, field, text, check->limits->max_error) : CAIRN_OK;
}

cairn_code check_pattern(struct check *check, const char *field, const char *text)
{
    TRY(check_name(check, field, text));
    if (pattern_is_valid(text))
        return CAIRN_OK;
    cairn_code code =
        fail(check->error, CAIRN_E_BAD_INPUT,
             "%s \"%.128s\" is not a pattern: %% may stand only at the end", field, text);
    return fail_hint(check->error, code,
                     strcmp(field, "key") == 0
                         ? "give an exact key, or a prefix such as order-%%"
                         : "give an exact type, or a prefix such as billing.%%");
}

cairn_code check_size(struct check *check, const char *field, size_t len)
{
    size_t max = check->limits->max_payload;
    return len > max ? too_large(check, field, "is too large", " bytes", len, max) : CAIRN_OK;
}

cairn_code check_json(struct check *check, const char *field, const char *text)
{
    size_t max = check->limits->max_payload, len = text ? strlen(text) : 0;
    if (len > check->request->value_bytes)
        check->request->value_bytes = len;
    return text ? json_check_max(text, len, field, max, check->error) : CAIRN_OK;
}

cairn_code check_entries(struct check *check, const char *field, size_t count, size_t most)
{
    return count > most ? too_large(check, field, "has too many entries", "", count, most)
                        : CAIRN_OK;
}

cairn_code check_count(struct check *check, const char *field, size_t count, size_t least)
{
    if (count < least)
        return check_bad(check, field, "is empty");
    return check_entries(check, field, count, check->limits->max_batch);
}

cairn_code check_range(struct check *check, const char *field, int64_t value, int64_t least,
                       int64_t most)
{
    if (value >= least && value <= most)
        return CAIRN_OK;
    return fail(check->error, CAIRN_E_BAD_INPUT, "%s is %lld; it must be from %lld to %lld",
                field, (long long)value, (long long)least, (long long)most);
}

cairn_code check_ms(struct check *check, const char *field, int64_t ms, int64_t least)
{
    return check_range(check, field, ms, least, INSTANT_MAX / US_PER_MS);
}

/* A worker's outcome must not be lost because its program printed something odd. */
cairn_code check_trim_error(struct check *check, const char **error)
{
    if (!*error)
        return CAIRN_OK;
    size_t len = strnlen(*error, check->limits->max_error);
    if (!(*error)[len] && utf8_is_valid(*error, len))
        return CAIRN_OK;
    char *copy = arena_strndup(&check->request->arena, *error, len);
    NEED(copy, check->error);
    for (size_t i = len; i > 0 && i + 4 > len && !utf8_is_valid(copy, i); i--)
        copy[i - 1] = '\0'; /* a character that the cut has halved */
    len = strlen(copy);
    if (!utf8_is_valid(copy, len))
        for (size_t i = 0; i < len; i++)
            if ((unsigned char)copy[i] >= 0x80)
                copy[i] = '?';
    *error = copy;
    return CAIRN_OK;
}
