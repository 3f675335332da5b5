/* tests/unit/print_times.c - prints the times of cron expressions, for cron_oracle.py.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reads lines FROM TO ZONE EXPRESSION (times in seconds since 1970); prints for each a line of the times t with
 * FROM < t <= TO.
 */
#include "base/mem.h"
#include "core/cron.h"
#include "zone/zone.h"

#include <stdio.h>
#include <string.h>

static cairn_code print_times(int64_t from_s, int64_t to_s, const char *name, const char *text,
                              cairn_error *reterr)
{
    struct cron cron;
    cleanup(zone_closep) struct zone *zone = NULL;
    cairn_code code = zone_open(name, &zone, reterr);
    if (!code)
        code = cron_read(text, &cron, reterr);
    if (code)
        return code;
    struct cron_zone place = {.offset_s = zone_offset_s, .place = zone};
    for (int64_t at_s = from_s; (at_s = cron_next_s(&cron, &place, at_s)) && at_s <= to_s;)
        printf("%lld ", (long long)at_s);
    puts("");
    return CAIRN_OK;
}

int main(void)
{
    char line[512], name[64], text[256];
    long long from_s, to_s;
    cairn_error error = {0};
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%lld %lld %63s %255[^\n]", &from_s, &to_s, name, text) != 4)
            return 2;
        if (print_times(from_s, to_s, name, text, &error)) {
            fprintf(stderr, "%s: %s\n", text, error.message);
            return 1;
        }
    }
    return 0;
}
