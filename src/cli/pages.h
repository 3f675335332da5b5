/* cli/pages.h - lists that come in pages: one of them, or with --all every one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_PAGES_H
#define CLI_PAGES_H

#include "cli/call.h"

/* What a list is of.  The command has --cursor and --all. */
struct pages {
    /* Writes where a page is asked for; `cursor` NULL: the first. */
    void (*target)(const struct args *args, const char *cursor, struct buf *target);

    /* Prints a page for eyes; the first one has a head. */
    void (*table)(const json_t *items, int64_t now_us, bool is_first);
};

int pages_run(const struct args *args, const struct pages *pages);

#endif
