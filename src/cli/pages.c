/* cli/pages.c - lists that come in pages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/pages.h"

#include "base/mem.h"
#include "cli/events.h"

#include <stdio.h>

static void print_ids(const json_t *items)
{
    size_t i;
    json_t *item;
    json_array_foreach(items, i, item) puts(text_of(item, "id"));
}

static void print_entries(const struct feed *feed, const json_t *items)
{
    size_t i;
    json_t *entry;
    json_array_foreach(items, i, entry) feed->print(entry);
}

/* The items of a page as they stand in the answer, so that all pages make one document. */
static void print_items(const struct answer *answer, bool is_first)
{
    size_t len = 0;
    const char *items = body_member(answer, "items", &len);
    fputs(is_first ? "{\"items\":[" : "", stdout);
    if (items && json_array_size(json_object_get(answer->tree, "items"))) {
        fputs(is_first ? "" : ",", stdout);
        fwrite(items + 1, 1, len - 2, stdout);
    }
}

static void print_page(const struct args *args, const struct pages *pages, cairn_engine *engine,
                       const struct answer *answer, bool is_first)
{
    const json_t *items = json_object_get(answer->tree, "items");
    int64_t now_us = 0;
    if (args_wants(args, "ids")) {
        print_ids(items);
    } else if (args_wants(args, "json")) {
        print_items(answer, is_first);
    } else if (pages->feed) {
        print_entries(pages->feed, items);
    } else {
        cairn_clock_now(engine, &now_us, NULL);
        pages->table(items, now_us, is_first);
    }
}

/* What follows the last page that was printed. */
static void print_end(const struct args *args, const char *next)
{
    if (args_wants(args, "json")) {
        if (*next)
            printf("],\"next\":\"%s\"}\n", next);
        else
            puts("],\"next\":null}");
    } else if (*next) {
        fprintf(stderr, "There are more: add --cursor %s or --all\n", next);
    }
}

static void page_target(const struct args *args, const struct pages *pages, const char *cursor,
                        struct buf *target)
{
    if (pages->feed)
        feed_target(args, pages->feed, cursor, target);
    else
        pages->target(args, cursor, target);
}

int pages_run(const struct args *args, const struct pages *pages)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    return exit_code ? exit_code : pages_print(args, engine, pages);
}

int pages_print(const struct args *args, cairn_engine *engine, const struct pages *pages)
{
    char cursor[512];
    const char *given = args_text(args, "cursor");
    for (bool is_first = true;; is_first = false) {
        cleanup(buf_donep) struct buf target = {0};
        cleanup(answer_done) struct answer answer = {0};
        page_target(args, pages, is_first ? given : cursor, &target);
        int exit_code = call(engine, "GET", buf_text(&target), NULL, &answer);
        if (exit_code)
            return exit_code;
        print_page(args, pages, engine, &answer, is_first);
        snprintf(cursor, sizeof cursor, "%s", text_of(answer.tree, "next"));
        if (!*cursor || !args_has(args, "all"))
            break;
    }
    print_end(args, cursor);
    return EXIT_DONE;
}
