/* cli/tuning.c - options of the commands that run an engine for long: serve and work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/tuning.h"
#include "cli/say.h"

#include <stdlib.h>

/* A number from 0 to `most`, if it was given. */
static bool read_number(const struct args *args, const char *name, double most,
                        double *ret_number)
{
    char *end;
    if (!args_has(args, name))
        return true;
    const char *text = args_text(args, name);
    double number = strtod(text, &end);
    if (end == text || *end || !(number >= 0 && number <= most)) {
        say_error("--%s must be a number from 0 to %.0f, not \"%s\"", name, most, text);
        return false;
    }
    *ret_number = number;
    return true;
}

bool tuning_read(const struct args *args, cairn_open_options *options)
{
    options->missing_cooldown_ms =
        (uint32_t)args_number(args, "missing-cooldown", options->missing_cooldown_ms);
    options->missing_throttle_ms =
        (uint32_t)args_number(args, "missing-throttle", options->missing_throttle_ms);
    return read_number(args, "aging-rate", 1e6, &options->aging_rate) &&
           read_number(args, "missing-jitter", 1, &options->missing_jitter);
}
