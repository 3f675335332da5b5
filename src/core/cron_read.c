/* core/cron_read.c - reading a cron expression.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "core/cron.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* What a field may hold. */
struct field {
    const char *name;
    int first, last;
    int shown_last;           /* weekdays: 7 is Sunday, too */
    const char *const *words; /* for its values from `first` on, or NULL */
};

static const char *const month_words[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL",
                                          "AUG", "SEP", "OCT", "NOV", "DEC", NULL};
static const char *const weekday_words[] = {"SUN", "MON", "TUE", "WED",
                                            "THU", "FRI", "SAT", NULL};

enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELD_COUNT };
enum { CRON_TEXT_MAX = 255, ITEM_MAX = 32 };

static const struct field fields[FIELD_COUNT] = {
    [MINUTE] = {"minute", 0, 59, 59, NULL},
    [HOUR] = {"hour", 0, 23, 23, NULL},
    [DAY] = {"day of month", 1, 31, 31, NULL},
    [MONTH] = {"month", 1, 12, 12, month_words},
    [WEEKDAY] = {"day of week", 0, 7, 7, weekday_words},
};

static const struct {
    const char *name, *meaning;
} shorthands[] = {
    {"@hourly", "0 * * * *"},   {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
    {"@weekly", "0 0 * * 0"},   {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
};

/* ---- what is wrong --------------------------------------------------------------------------- */

static cairn_code bad_field(const struct field *field, const char *item, const char *why,
                            cairn_error *reterr)
{
    cairn_code code =
        fail(reterr, CAIRN_E_BAD_INPUT, "cron: %s \"%.32s\" %s", field->name, item, why);
    if (field->words)
        return fail_hint(reterr, code,
                         "allowed are * and numbers from %d to %d or names from %s to %s, with "
                         "ranges (%d-%d), steps (*/2) and lists (%d,%d)",
                         field->first, field->shown_last, field->words[0],
                         field->words[field->first ? 11 : 6], field->first, field->first + 2,
                         field->first, field->first + 2);
    return fail_hint(
        reterr, code,
        "allowed are * and numbers from %d to %d, with ranges (%d-%d), steps (*/2) "
        "and lists (%d,%d)",
        field->first, field->shown_last, field->first, field->first + 2, field->first,
        field->first + 2);
}

static cairn_code bad_shape(const char *text, const char *why, cairn_error *reterr)
{
    cairn_code code = fail(reterr, CAIRN_E_BAD_INPUT, "cron \"%.64s\" %s", text, why);
    return fail_hint(
        reterr, code,
        "it has five fields: minute, hour, day of month, month, day of week, as in "
        "\"30 2 * * MON-FRI\"; or it is @hourly, @daily, @weekly, @monthly or "
        "@yearly");
}

/* ---- a field --------------------------------------------------------------------------------- */

/* A number or a name at *at, which moves behind it; -1: neither. */
static int read_value(const struct field *field, const char **at)
{
    int value = 0, digits = 0;
    for (; isdigit((unsigned char)**at) && digits < 4; (*at)++, digits++)
        value = value * 10 + (**at - '0');
    if (digits)
        return value;
    for (int i = 0; field->words && field->words[i]; i++)
        if (strncasecmp(*at, field->words[i], 3) == 0 && !isalpha((unsigned char)(*at)[3])) {
            *at += 3;
            return field->first + i;
        }
    return -1;
}

/* A range without its step: *, a value, or two. */
static cairn_code read_range(const struct field *field, const char *item, const char **at,
                             int *ret_from, int *ret_to, cairn_error *reterr)
{
    if (**at == '*') {
        (*at)++;
        *ret_from = field->first;
        *ret_to = field == &fields[WEEKDAY] ? 6 : field->last;
        return CAIRN_OK;
    }
    *ret_from = *ret_to = read_value(field, at);
    if (*ret_from >= 0 && **at == '-') {
        (*at)++;
        *ret_to = read_value(field, at);
    } else if (*ret_from >= 0 && **at == '/') {
        *ret_to = field == &fields[WEEKDAY] ? 6 : field->last; /* from there on */
    }
    if (*ret_from < 0 || *ret_to < 0)
        return bad_field(field, item, "cannot be read", reterr);
    if (*ret_from < field->first || *ret_from > field->last || *ret_to > field->last)
        return bad_field(field, item, "is out of range", reterr);
    if (*ret_from > *ret_to)
        return bad_field(field, item, "is a range that ends before it begins", reterr);
    return CAIRN_OK;
}

static cairn_code read_item(const struct field *field, const char *item, uint64_t *values,
                            cairn_error *reterr)
{
    const char *at = item;
    int from, to, step = 1;
    TRY(read_range(field, item, &at, &from, &to, reterr));
    if (*at == '/') {
        at++;
        bool is_number = isdigit((unsigned char)*at);
        step = is_number ? read_value(field, &at) : -1;
        if (step < 1 || step > field->last)
            return bad_field(field, item, "has a step that is not a number from 1 on", reterr);
    }
    if (*at)
        return bad_field(field, item, "cannot be read", reterr);
    for (int value = from; value <= to; value += step)
        *values |= UINT64_C(1) << value;
    return CAIRN_OK;
}

/* A list of items; text ends at its blank. */
static cairn_code read_field(const struct field *field, const char *text, size_t len,
                             uint64_t *ret_values, cairn_error *reterr)
{
    *ret_values = 0;
    for (size_t at = 0; at <= len;) {
        char item[ITEM_MAX] = "";
        const char *comma = memchr(text + at, ',', len - at);
        size_t item_len = comma ? (size_t)(comma - text) - at : len - at;
        memcpy(item, text + at, item_len < ITEM_MAX ? item_len : ITEM_MAX - 1);
        if (item_len == 0 || item_len >= ITEM_MAX)
            return bad_field(field, item, item_len ? "cannot be read" : "is empty", reterr);
        TRY(read_item(field, item, ret_values, reterr));
        at += item_len + 1;
    }
    return CAIRN_OK;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Such as February 30, which never comes. */
static bool is_possible(const struct cron *cron)
{
    static const int longest[] = {0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (!cron->is_any_weekday)
        return true; /* either is enough */
    for (int month = 1; month <= 12; month++)
        if (cron->months >> month & 1 && cron->days & ((UINT64_C(2) << longest[month]) - 1))
            return true;
    return false;
}

static cairn_code read_fields(const char *text, const char *shown, struct cron *ret_cron,
                              cairn_error *reterr)
{
    uint64_t values[FIELD_COUNT];
    bool is_star[FIELD_COUNT];
    const char *at = text + strspn(text, " \t");
    int count = 0;
    for (; *at; count++) {
        size_t len = strcspn(at, " \t");
        if (count == FIELD_COUNT)
            return bad_shape(shown, "has more than five fields", reterr);
        is_star[count] = len == 1 && *at == '*';
        TRY(read_field(&fields[count], at, len, &values[count], reterr));
        at += len;
        at += strspn(at, " \t");
    }
    if (count < FIELD_COUNT)
        return bad_shape(shown, count ? "has fewer than five fields" : "is empty", reterr);
    if (values[WEEKDAY] >> 7 & 1)
        values[WEEKDAY] |= 1;
    *ret_cron = (struct cron){.minutes = values[MINUTE],
                              .hours = (uint32_t)values[HOUR],
                              .days = (uint32_t)values[DAY],
                              .months = (uint32_t)values[MONTH],
                              .weekdays = (uint32_t)values[WEEKDAY] & 127,
                              .is_any_hour = is_star[HOUR],
                              .is_any_day = is_star[DAY],
                              .is_any_weekday = is_star[WEEKDAY]};
    return is_possible(ret_cron)
               ? CAIRN_OK
               : bad_shape(shown, "never comes: no month that it names has such a day", reterr);
}

cairn_code cron_read(const char *text, struct cron *ret_cron, cairn_error *reterr)
{
    if (strlen(text) > CRON_TEXT_MAX)
        return bad_shape(text, "is too long: 255 bytes are allowed", reterr);
    if (text[0] != '@')
        return read_fields(text, text, ret_cron, reterr);
    for (size_t i = 0; i < sizeof shorthands / sizeof *shorthands; i++)
        if (strcasecmp(text, shorthands[i].name) == 0)
            return read_fields(shorthands[i].meaning, text, ret_cron, reterr);
    return bad_shape(text, "is not known", reterr);
}
