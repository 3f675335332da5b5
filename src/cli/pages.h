/* cli/pages.h - lists that come in pages: one of them, or with --all every one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_PAGES_H
#define CLI_PAGES_H

#include "cli/call.h"

/* What a list is of.  The command has PAGE_OPTIONS. */
struct pages {
    /* Writes where a page is asked for; `cursor` NULL: the first. */
    void (*target)(const struct args *args, const char *cursor, struct buf *target);

    /* Prints a page as a table; the first one has a head. */
    void (*table)(const json_t *items, int64_t now_us, bool is_first);

    const struct feed *feed; /* in place of both: entries, one on a line */
};

/* The options of such a list, in its table. */
#define PAGE_OPTIONS                                                                \
    {.name = "limit",                                                               \
     .kind = OPTION_INT,                                                            \
     .value = "N",                                                                  \
     .help = "at most N of them, 1 to 1000; 100 if not given",                      \
     .min = 1,                                                                      \
     .max = 1000},                                                                  \
        {.name = "cursor",                                                          \
         .kind = OPTION_TEXT,                                                       \
         .value = "CURSOR",                                                         \
         .help = "continue after a page: its \"next\""},                            \
    {                                                                               \
        .name = "all", .kind = OPTION_FLAG, .help = "all pages, not only the first" \
    }

/* The answer is an exit code. */
int pages_run(const struct args *args, const struct pages *pages);
int pages_print(const struct args *args, cairn_engine *engine, const struct pages *pages);

#endif
