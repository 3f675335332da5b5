/* simulate/rates.c - how often calls of a step fail: "STEP=RATE,...".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/simulate.h"

#include "base/error.h"
#include "base/json.h"

#include <string.h>

/* One "STEP=RATE"; a name may have a "=" itself. */
static cairn_code read_rate(char *text, struct sim_rate *ret_rate, cairn_error *reterr)
{
    char *equals = strrchr(text, '=');
    double rate = -1;
    if (!equals || equals == text || !fraction_read(equals + 1, &rate) ||
        !(rate >= 0 && rate <= 1))
        return fail(reterr, CAIRN_E_BAD_INPUT,
                    "\"%.200s\" is not STEP=RATE with a rate from 0 to 1", text);
    *equals = '\0';
    *ret_rate = (struct sim_rate){.step = text, .fail = rate};
    return CAIRN_OK;
}

cairn_code sim_rates_read(const char *given, struct arena *arena, struct sim_rate **ret_rates,
                          size_t *ret_count, cairn_error *reterr)
{
    size_t most = 1, count = 0;
    for (const char *at = given; *at; at++)
        most += *at == ',';
    struct sim_rate *rates = arena_array(arena, most, sizeof *rates);
    char *text = arena_strdup(arena, given), *rest = NULL;
    NEED(rates && text, reterr);
    for (char *part = strtok_r(text, ",", &rest); part; part = strtok_r(NULL, ",", &rest))
        TRY(read_rate(part, &rates[count++], reterr));
    *ret_rates = rates;
    *ret_count = count;
    return CAIRN_OK;
}

static bool is_meant(const char *pattern, const char *name)
{
    size_t len = strlen(pattern);
    if (len && pattern[len - 1] == '%')
        return strncmp(pattern, name, len - 1) == 0;
    return strcmp(pattern, name) == 0;
}

double sim_fail_rate(const struct sim_rate *rates, size_t count, const char *name,
                     double otherwise)
{
    double rate = otherwise;
    for (size_t i = 0; i < count; i++)
        if (is_meant(rates[i].step, name))
            rate = rates[i].fail;
    return rate;
}
