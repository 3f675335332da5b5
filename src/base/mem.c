/* base/mem.c - the one door to the heap.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static atomic_long left = -1; /* allocations that may still succeed; negative: no limit */

void mem_fail_after(long count)
{
    atomic_store(&left, count);
}

static bool is_refused(void)
{
    /* Counts down to zero and no further: below it lies "no limit", and another thread may end
     * or begin the failing at any moment. */
    long now = atomic_load_explicit(&left, memory_order_relaxed);
    while (now > 0)
        if (atomic_compare_exchange_weak(&left, &now, now - 1))
            return false;
    return now == 0;
}

void *mem_alloc(size_t size)
{
    return is_refused() ? NULL : malloc(size ? size : 1);
}

void *mem_zalloc(size_t size)
{
    return is_refused() ? NULL : calloc(1, size ? size : 1);
}

void *mem_realloc(void *old, size_t size)
{
    return is_refused() ? NULL : realloc(old, size ? size : 1);
}

char *mem_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = mem_alloc(size);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}

void mem_free(void *block)
{
    free(block);
}

void mem_freep(void *pointer_to_pointer)
{
    void *block; /* copied, since what is pointed to is a pointer of another type */
    memcpy(&block, pointer_to_pointer, sizeof block);
    mem_free(block);
}
