/* cli/tuning.h - options of the commands that run an engine for long: serve and work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TUNING_H
#define CLI_TUNING_H

#include "cairn.h"
#include "cli/args.h"

#define TUNING_OPTIONS                                                                         \
    {.name = "aging-rate",                                                                     \
     .kind = OPTION_TEXT,                                                                      \
     .value = "POINTS",                                                                        \
     .help = "points of priority that a waiting step gains a second; 0.5 if not given, 0: "    \
             "none"},                                                                          \
        {.name = "missing-cooldown",                                                           \
         .kind = OPTION_DURATION,                                                              \
         .value = "DURATION",                                                                  \
         .help =                                                                               \
             "for how long a step is given back whose worker has no handler for it; 5s if "    \
             "not given, 0s: others may claim it at once",                                     \
         .min = 0,                                                                             \
         .max = UINT32_MAX},                                                                   \
        {.name = "missing-jitter",                                                             \
         .kind = OPTION_TEXT,                                                                  \
         .value = "PART",                                                                      \
         .help = "vary that time by up to this part of it, at random; 0.2 if not given"},      \
    {                                                                                          \
        .name = "missing-throttle", .kind = OPTION_DURATION, .value = "DURATION",              \
        .help = "tell of a missing handler in the events once for a type in this time; 1m if " \
                "not given, 0s: each time",                                                    \
        .min = 0, .max = UINT32_MAX                                                            \
    }

/* Fills in what was given; false: it was wrong, and standard error says so. */
bool tuning_read(const struct args *args, cairn_open_options *options);

#endif
