/* bench/scratch.h - where a bench keeps its files, and what tells its runs apart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_SCRATCH_H
#define BENCH_SCRATCH_H

#include "cli/args.h"

#include <stdbool.h>
#include <stdint.h>

enum { SCRATCH_PATH = 512 };

/* A new folder for files; removed when the bench is over. */
struct scratch {
    char folder[SCRATCH_PATH];
    char url[SCRATCH_PATH + 32];
    char raw_url[SCRATCH_PATH + 32];
};

/* Beside the file of a sqlite: URL, so that both are on the same disk; else in $TMPDIR or
 * /var/tmp, which unlike /tmp is not kept in memory.  False: standard error says why. */
bool scratch_make(struct scratch *scratch, const char *url);
void scratch_done(struct scratch *scratch);

/* As --seed says, or by chance. */
uint64_t bench_seed(const struct args *args);

#endif
