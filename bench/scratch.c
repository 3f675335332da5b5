/* bench/scratch.c - where a bench keeps its files, and what tells its runs apart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/scratch.h"

#include "base/random.h"
#include "cli/say.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
    (void)info, (void)type, (void)ftw;
    return remove(path);
}

void scratch_done(struct scratch *scratch)
{
    if (scratch->folder[0])
        nftw(scratch->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

bool scratch_make(struct scratch *scratch, const char *url)
{
    const char *base = getenv("TMPDIR");
    size_t len;
    if (!base || !*base)
        base = "/var/tmp";
    len = strlen(base);
    if (url && strncmp(url, "sqlite:", 7) == 0) {
        const char *slash = strrchr(url + 7, '/');
        base = slash ? url + 7 : ".";
        len = slash && slash > base ? (size_t)(slash - base) : 1;
    }
    int room =
        snprintf(scratch->folder, SCRATCH_PATH, "%.*s/cairn-bench-XXXXXX", (int)len, base);
    if (room >= SCRATCH_PATH || !mkdtemp(scratch->folder)) {
        say_error("could not make a folder in \"%.*s\": %s", (int)len, base, strerror(errno));
        scratch->folder[0] = '\0';
        return false;
    }
    snprintf(scratch->url, sizeof scratch->url, "sqlite:%s/bench.db", scratch->folder);
    snprintf(scratch->raw_url, sizeof scratch->raw_url, "sqlite:%s/raw.db", scratch->folder);
    return true;
}

uint64_t bench_seed(const struct args *args)
{
    struct rng rng;
    rng_init(&rng, 0);
    return (uint64_t)args_number(args, "seed", (int64_t)(rng_next(&rng) >> 33) + 1);
}
