/* cli/tuning.h - options of the commands that run an engine for long: serve and work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TUNING_H
#define CLI_TUNING_H

#include "cairn.h"
#include "cli/args.h"

/* Fills in the given values; false: one is wrong, and an error was printed. */
bool tuning_read(const struct args *args, cairn_open_options *options);

#endif
