/* base/sort.h - sorting what is mostly in order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stdlib.h>

/* As qsort(), which compares some eight times as often what is in order already: rows of a batch mostly are. */
static inline void sort_items(void *items, size_t count, size_t size,
                              int (*compare)(const void *, const void *))
{
    const char *at = items;
    for (size_t i = 1; i < count; i++, at += size)
        if (compare(at, at + size) > 0) {
            qsort(items, count, size, compare);
            return;
        }
}

#endif
