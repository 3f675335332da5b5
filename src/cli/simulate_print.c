/* cli/simulate_print.c - what cairn simulate prints: ends, orders of undo, laws, and stories.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/simulate.h"

#include "base/json.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/print.h"
#include "cli/say.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each line cleaned: names and inputs are the user's. */
void print_story(const struct buf *story, const char *indent)
{
    const char *at = buf_text(story);
    while (*at) {
        cleanup(buf_donep) struct buf clean = {0};
        size_t len = strcspn(at, "\n");
        buf_clean(&clean, at, len);
        printf("%s%s\n", indent, buf_text(&clean));
        at += len + (at[len] == '\n');
    }
}

/* ---- for eyes ---------------------------------------------------------------------------------- */

static int by_count(const void *a, const void *b)
{
    const struct sim_count *one = a, *other = b;
    if (one->n != other->n)
        return one->n < other->n ? 1 : -1;
    return strcmp(one->what, other->what);
}

/* Most frequent first, so that the output does not depend on which thread was quicker. */
static struct sim_count *sorted(const struct sim_count *items, size_t count,
                                struct arena *arena)
{
    struct sim_count *copy = arena_array(arena, count + 1, sizeof *copy);
    if (copy && count) {
        memcpy(copy, items, count * sizeof *copy);
        qsort(copy, count, sizeof *copy, by_count);
    }
    return copy;
}

static void print_count(const struct sim_tally *tally, const struct sim_count *counted,
                        const char *what, const char *remark)
{
    cleanup(buf_donep) struct buf clean = {0};
    buf_clean(&clean, what, strlen(what));
    printf("  %8" PRIu64 "  %5.1f %%  %s%s  (first: seed %" PRIu64 ")\n", counted->n,
           100.0 * (double)counted->n / (double)tally->runs, buf_text(&clean), remark,
           counted->seed);
}

static void print_ends(const struct sim_tally *tally, struct arena *arena)
{
    const struct sim_count *ends = sorted(tally->ends.items, tally->ends.count, arena);
    for (size_t i = 0; ends && i < tally->ends.count; i++)
        print_count(tally, &ends[i], ends[i].what,
                    is_endless(ends[i].what) ? ": does not end by itself" : "");
}

static void print_undone(const struct sim_tally *tally, struct arena *arena)
{
    const struct sim_count *undone = sorted(tally->undone.items, tally->undone.count, arena);
    for (size_t i = 0; undone && i < tally->undone.count; i++)
        print_count(tally, &undone[i], *undone[i].what ? undone[i].what : "nothing", "");
}

static void print_unreached(const struct sim_tally *tally)
{
    bool is_any = false;
    for (size_t i = 0; i < tally->step_count; i++)
        if (!tally->reached[i]) {
            printf("%s%s", is_any ? ", " : "\nNever reached: ", tally->steps[i]);
            is_any = true;
        }
    fputs(is_any ? "\n" : "", stdout);
}

static void print_laws(const struct sim_tally *tally)
{
    if (tally->law_count)
        printf("\nLaws\n");
    for (size_t i = 0; i < tally->law_count; i++)
        if (tally->broken[i].n)
            printf(
                "  BROKEN  %s  (in %" PRIu64 " of %" PRIu64 " runs, first: seed %" PRIu64 ")\n",
                tally->broken[i].what, tally->broken[i].n, tally->runs, tally->broken[i].seed);
        else
            printf("  holds   %s\n", tally->broken[i].what);
}

/* One that breaks a law and does not end is told once. */
static void print_told(const struct sim_tally *tally, const struct sim_told *told, size_t count)
{
    const struct sim_told *last = &told[count - 1];
    bool is_law = false, is_repeated = false;
    for (size_t i = 0; i < tally->law_count; i++)
        is_law |= tally->broken[i].what == last->why;
    for (size_t i = 0; i + 1 < count; i++)
        is_repeated |= told[i].seed == last->seed;
    printf(is_law ? "\nSeed %" PRIu64 " breaks %s%s\n"
                  : "\nSeed %" PRIu64 " does not end by itself: it is %s%s\n",
           last->seed, last->why, is_repeated ? ", as told above" : "");
    if (!is_repeated)
        print_story(&last->story, "  ");
}

void print_simulation(const struct sim_tally *tally, const struct sim_told *told, size_t count)
{
    struct arena arena = {0};
    printf("%s version %" PRId32 ", %" PRIu64 " runs\n\nEnds\n", tally->workflow,
           tally->version, tally->runs);
    print_ends(tally, &arena);
    printf("\nUndone, in this order\n");
    print_undone(tally, &arena);
    print_unreached(tally);
    print_laws(tally);
    for (size_t i = 0; i < count; i++)
        print_told(tally, told, i + 1);
    arena_done(&arena);
}

/* ---- for programs ------------------------------------------------------------------------------ */

static void write_counts(struct json_out *out, const char *key, const char *member,
                         const struct sim_count *counts, size_t count)
{
    json_open(json_key(out, key), '[');
    for (size_t i = 0; counts && i < count; i++) {
        json_open(out, '{');
        json_str(json_key(out, member), counts[i].what);
        json_int(json_key(out, "runs"), (int64_t)counts[i].n);
        json_int(json_key(out, "first_seed"), (int64_t)counts[i].seed);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void write_unreached(struct json_out *out, const struct sim_tally *tally)
{
    json_open(json_key(out, "never_reached"), '[');
    for (size_t i = 0; i < tally->step_count; i++)
        if (!tally->reached[i])
            json_str(out, tally->steps[i]);
    json_close(out, ']');
}

static void write_laws(struct json_out *out, const struct sim_tally *tally)
{
    json_open(json_key(out, "laws"), '[');
    for (size_t i = 0; i < tally->law_count; i++) {
        const struct sim_count *broken = &tally->broken[i];
        json_open(out, '{');
        json_str(json_key(out, "law"), broken->what);
        json_bool(json_key(out, "holds"), broken->n == 0);
        json_int(json_key(out, "broken"), (int64_t)broken->n);
        if (broken->n)
            json_int(json_key(out, "first_seed"), (int64_t)broken->seed);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void write_story(struct json_out *out, const struct buf *story)
{
    json_open(json_key(out, "story"), '[');
    for (const char *at = buf_text(story); *at;) {
        size_t len = strcspn(at, "\n");
        cleanup(buf_donep) struct buf line = {0};
        buf_utf8(&line, at, len);
        json_str(out, buf_text(&line));
        at += len + (at[len] == '\n');
    }
    json_close(out, ']');
}

void print_simulation_json(const struct sim_tally *tally, const struct sim_told *told,
                           size_t count)
{
    cleanup(buf_donep) struct buf text = {0};
    struct arena arena = {0};
    struct json_out out = {.buf = &text};
    json_open(&out, '{');
    json_str(json_key(&out, "workflow"), tally->workflow);
    json_int(json_key(&out, "version"), tally->version);
    json_int(json_key(&out, "runs"), (int64_t)tally->runs);
    write_counts(&out, "ends", "status", sorted(tally->ends.items, tally->ends.count, &arena),
                 tally->ends.count);
    write_counts(&out, "undone", "order",
                 sorted(tally->undone.items, tally->undone.count, &arena), tally->undone.count);
    write_unreached(&out, tally);
    write_laws(&out, tally);
    json_open(json_key(&out, "stories"), '[');
    for (size_t i = 0; i < count; i++) {
        json_open(&out, '{');
        json_int(json_key(&out, "seed"), (int64_t)told[i].seed);
        json_str(json_key(&out, "about"), told[i].why);
        write_story(&out, &told[i].story);
        json_close(&out, '}');
    }
    json_close(&out, ']');
    json_close(&out, '}');
    puts(buf_text(&text));
    arena_done(&arena);
}
