/* base/mem.h - the one door to the heap, so that tests can make any allocation fail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

/* Runs `fn(&variable)` when the variable's scope ends, whichever return ends it. */
#define cleanup(fn) __attribute__((cleanup(fn)))

void *mem_alloc(size_t size);              /* NULL when memory has run out */
void *mem_zalloc(size_t size);             /* zeroed */
void *mem_realloc(void *old, size_t size); /* on NULL the old block stands */
char *mem_strdup(const char *text);
void mem_free(void *block);               /* may be NULL */
void mem_freep(void *pointer_to_pointer); /* for cleanup() */

/* Tests: lets `count` more allocations succeed, then fails all; -1 ends it.  Process-wide. */
void mem_fail_after(long count);

#endif
