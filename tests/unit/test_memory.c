/* tests/unit/test_memory.c - mem, arena and buf: growing, aligning, and running out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "test.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>

/* ---- mem --------------------------------------------------------------------------------- */

TEST(allocations_fail_when_told_to_and_go_on_failing)
{
    mem_fail_after(2);
    void *one = mem_alloc(1), *two = mem_zalloc(1), *three = mem_alloc(1);
    void *same = mem_realloc(two, 100);
    char *copy = mem_strdup("text");
    mem_fail_after(-1);
    CHECK(one && two, "failed too early");
    CHECK(!three && !same && !copy, "failed too late");
    mem_free(one);
    mem_free(two);
    mem_free(NULL);
    copy = mem_strdup("text");
    CHECK_STR(copy, "text");
    mem_freep(&copy);
}

TEST(a_block_of_no_size_is_still_a_block)
{
    void *none = mem_alloc(0), *zeroed = mem_zalloc(0), *grown = mem_realloc(NULL, 0);
    CHECK(none && zeroed && grown, "no block");
    mem_free(none);
    mem_free(zeroed);
    mem_free(grown);
}

enum { THREADS = 4, TRIES = 2000, ALLOWED = 100 };
static atomic_int successes;

static void *allocate(void *arg)
{
    (void)arg;
    for (int i = 0; i < TRIES; i++) {
        void *block = mem_alloc(8);
        if (block)
            atomic_fetch_add(&successes, 1);
        mem_free(block);
    }
    return NULL;
}

/* Not one more, however the threads fall over each other: a count that slips below zero would
 * mean "no limit". */
TEST(exactly_as_many_allocations_succeed_as_were_allowed)
{
    for (int round = 0; round < 20; round++) {
        pthread_t threads[THREADS];
        atomic_store(&successes, 0);
        mem_fail_after(ALLOWED);
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, allocate, NULL);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        mem_fail_after(-1);
        CHECK_INT(atomic_load(&successes), ALLOWED);
    }
}

static void *toggle(void *arg)
{
    atomic_bool *is_over = arg;
    while (!atomic_load(is_over)) {
        mem_fail_after(1);
        mem_fail_after(-1);
    }
    return NULL;
}

TEST(when_failing_has_ended_it_has_ended_for_everyone)
{
    pthread_t threads[THREADS], toggler;
    atomic_bool is_over = false;
    pthread_create(&toggler, NULL, toggle, &is_over);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, allocate, NULL);
    for (int i = 0; i < THREADS / 2; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&is_over, true);
    pthread_join(toggler, NULL); /* the last thing it did was to end the failing */
    for (int i = THREADS / 2; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    void *block = mem_alloc(1);
    mem_fail_after(-1);
    CHECK(block, "an allocation fails though none should");
    mem_free(block);
}

/* ---- arena ------------------------------------------------------------------------------- */

/* How many blocks an action takes from the heap: the least count that lets it succeed. */
static long heap_blocks(bool (*action)(struct arena *arena))
{
    for (long count = 0; count < 1000; count++) {
        struct arena arena = {0};
        mem_fail_after(count);
        bool is_done = action(&arena);
        mem_fail_after(-1);
        arena_done(&arena);
        if (is_done)
            return count;
    }
    return -1;
}

TEST(everything_in_an_arena_is_aligned_and_apart)
{
    struct arena arena = {0};
    unsigned char *blocks[300];
    for (size_t i = 0; i < 300; i++) {
        blocks[i] = arena_alloc(&arena, i);
        CHECK(blocks[i], "no memory");
        CHECK_INT((uintptr_t)blocks[i] % alignof(max_align_t), 0);
        memset(blocks[i], (int)(i & 0xFF), i);
    }
    for (size_t i = 0; i < 300; i++)
        for (size_t k = 0; k < i; k++)
            CHECK(blocks[i][k] == (i & 0xFF), "block %zu was written into", i);
    arena_done(&arena);
    arena_done(&arena);
}

TEST(a_growing_array_keeps_its_entries_and_zeroes_the_rest)
{
    struct arena arena = {0};
    int *numbers = NULL;
    size_t room = 0;
    for (size_t count = 0; count < 1000; count++) {
        numbers = arena_grow(&arena, numbers, count, 1, &room, sizeof *numbers);
        CHECK(numbers && room > count, "no room for entry %zu", count);
        CHECK_INT(numbers[count], 0);
        numbers[count] = (int)count;
    }
    for (int i = 0; i < 1000; i++)
        CHECK_INT(numbers[i], i);
    int *same = arena_grow(&arena, numbers, 1000, room - 1000, &room, sizeof *numbers);
    CHECK(same == numbers, "it was copied though there was room");
    CHECK(!arena_grow(&arena, numbers, 1000, SIZE_MAX, &room, sizeof *numbers), "too many");
    numbers = arena_grow(&arena, numbers, 3, 2, &room, sizeof *numbers); /* begun again */
    CHECK(numbers[2] == 2 && !numbers[3] && !numbers[4] && numbers[5] == 5, "not zeroed");
    arena_done(&arena);
}

TEST(an_arena_refuses_sizes_that_overflow)
{
    struct arena arena = {0};
    CHECK(!arena_alloc(&arena, SIZE_MAX), "SIZE_MAX");
    CHECK(!arena_alloc(&arena, SIZE_MAX - 8), "SIZE_MAX - 8");
    CHECK(!arena_array(&arena, SIZE_MAX / 8, 16), "a product that wraps");
    CHECK(!arena_array(&arena, SIZE_MAX, SIZE_MAX), "both");
    CHECK(!arena_strndup(&arena, "", SIZE_MAX), "a length that wraps");
    CHECK(arena_array(&arena, 0, 8), "an empty array is one");
    CHECK(arena_array(&arena, 8, 0), "an array of nothing is one");
    arena_done(&arena);
}

TEST(an_arena_copies_texts)
{
    struct arena arena = {0};
    CHECK_STR(arena_strdup(&arena, "abc"), "abc");
    CHECK_STR(arena_strndup(&arena, "abc", 2), "ab");
    CHECK_STR(arena_printf(&arena, "%d-%s", 5, "x"), "5-x");
    CHECK_STR(arena_concat(&arena, "a", "", "bc", "d", NULL), "abcd");
    CHECK_STR(arena_concat(&arena, "", NULL), "");
    CHECK(!arena_strdup(&arena, NULL), "NULL became a text");
    char *zeroed = arena_zalloc(&arena, 100);
    for (int i = 0; i < 100; i++)
        CHECK_INT(zeroed[i], 0);
    static char large[700000];
    memset(large, 'x', sizeof large - 1);
    CHECK_STR(arena_printf(&arena, "%s", large), large);
    arena_done(&arena);
}

static bool take_small_large_small(struct arena *arena)
{
    return arena_alloc(arena, 16) && arena_alloc(arena, 1 << 20) && arena_alloc(arena, 16) &&
           arena_alloc(arena, 1 << 20) && arena_alloc(arena, 16);
}

/* Else rows with large payloads would take a fresh block for every small text between them. */
TEST(a_large_piece_gets_a_block_of_its_own_and_small_ones_go_on_as_before)
{
    CHECK_INT(heap_blocks(take_small_large_small), 3);
}

TEST(an_arena_survives_running_out)
{
    struct arena arena = {0};
    char *first = arena_strdup(&arena, "first");
    mem_fail_after(0);
    void *large = arena_alloc(&arena, 100000);
    char *small = arena_strdup(&arena, "small");
    mem_fail_after(-1);
    CHECK(!large, "a large block came from nowhere");
    CHECK_STR(small, "small");
    CHECK(arena_alloc(&arena, 100000), "no block, though there is memory again");
    CHECK_STR(first, "first");
    arena_done(&arena);
}

/* ---- buf --------------------------------------------------------------------------------- */

TEST(a_buf_grows_and_always_ends_in_nul)
{
    struct buf buf = {0};
    CHECK_STR(buf_text(&buf), "");
    for (int i = 0; i < 1000; i++) {
        buf_char(&buf, 'a');
        buf_str(&buf, "bc");
        buf_add(&buf, "defX", 3);
        buf_printf(&buf, "%d", i % 10);
        CHECK_INT(strlen(buf_text(&buf)), buf.len);
        CHECK_INT(buf.len, 7 * (i + 1));
    }
    CHECK(strncmp(buf_text(&buf), "abcdef0abcdef1abc", 17) == 0, "%.17s", buf_text(&buf));
    CHECK(!buf_failed(&buf), "failed");
    buf_reset(&buf);
    CHECK_STR(buf_text(&buf), "");
    buf_add(&buf, NULL, 0);
    CHECK_STR(buf_text(&buf), "");
    buf_done(&buf);
    buf_done(&buf);
}

TEST(numbers_are_written_as_printf_has_them)
{
    static const int64_t numbers[] = {0,     1,         -1,        9,         10,           -10,
                                      12345, INT32_MIN, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char wanted[32], room[INT_TEXT];
        struct buf buf = {0};
        snprintf(wanted, sizeof wanted, "%lld", (long long)numbers[i]);
        buf_int(&buf, numbers[i]);
        CHECK_STR(buf_text(&buf), wanted);
        CHECK_STR(int_text(numbers[i], room), wanted);
        buf_done(&buf);
    }
}

TEST(a_buf_prints_across_the_edge_of_its_room)
{
    for (size_t before = 100; before < 140; before++) {
        struct buf buf = {0};
        for (size_t i = 0; i < before; i++)
            buf_char(&buf, 'x');
        buf_printf(&buf, "%s", "0123456789");
        CHECK_INT(buf.len, before + 10);
        CHECK_STR(buf_text(&buf) + before, "0123456789");
        buf_done(&buf);
    }
}

TEST(what_is_taken_from_a_buf_is_the_callers)
{
    struct buf buf = {0};
    size_t len = 99;
    char *empty = buf_take(&buf, &len);
    CHECK_STR(empty, "");
    CHECK_INT(len, 0);
    buf_str(&buf, "abc");
    char *text = buf_take(&buf, &len);
    CHECK_STR(text, "abc");
    CHECK_INT(len, 3);
    CHECK_STR(buf_text(&buf), "");
    mem_free(empty);
    mem_free(text);
}

TEST(a_buf_remembers_that_memory_ran_out)
{
    struct buf buf = {0};
    buf_str(&buf, "kept");
    mem_fail_after(0);
    for (int i = 0; i < 100; i++)
        buf_str(&buf, "0123456789");
    mem_fail_after(-1);
    CHECK(buf_failed(&buf), "it does not say so");
    buf_str(&buf, "more");
    buf_printf(&buf, "%d", 1);
    CHECK(buf_failed(&buf), "it forgot");
    CHECK(!buf_take(&buf, NULL), "half a text was given away");
    CHECK_INT(strlen(buf_text(&buf)), buf.len);
    buf_reset(&buf);
    buf_str(&buf, "fresh");
    CHECK(!buf_failed(&buf), "a reset does not forget");
    CHECK_STR(buf_text(&buf), "fresh");
    buf_done(&buf);

    mem_fail_after(0);
    buf_add(&buf, "", SIZE_MAX); /* a size that nothing has: refused before it is copied */
    mem_fail_after(-1);
    CHECK(buf_failed(&buf), "SIZE_MAX bytes were added");
    buf_done(&buf);
}
