/* base/buf.h - text that grows.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Running out of memory is remembered instead of reported at each step: add as you like, then
 * ask buf_failed() once.  A zeroed struct is an empty buf.  The text is always followed by a
 * NUL.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The digits of a number, at the end of `room`. */
enum { INT_TEXT = 24 };
char *int_text(int64_t value, char room[INT_TEXT]);

struct buf {
    char *text; /* NULL until something was added */
    size_t len, room;
    bool failed;
};

void buf_done(struct buf *buf);
void buf_reset(struct buf *buf); /* empty again, memory kept, failure forgotten */
void buf_add(struct buf *buf, const char *bytes, size_t len);
void buf_str(struct buf *buf, const char *text);
void buf_char(struct buf *buf, char c);
char *buf_extend(struct buf *buf,
                 size_t len); /* for len bytes to be written; NULL: it failed */
void buf_int(struct buf *buf, int64_t value);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_url(struct buf *buf, const char *text); /* percent-encoded */
/* "?name=value", or "&name=value" if there is a "?"; nothing if the value is NULL. */
void buf_param(struct buf *url, const char *name, const char *value);
void buf_shell(struct buf *buf, const char *word); /* quoted if a shell needs it */
/* "21ms", "1.3s", "2m 5s", "3h 12m", "6d 4h" */
void buf_duration(struct buf *buf, int64_t us);
bool buf_failed(const struct buf *buf);
const char *buf_text(const struct buf *buf);      /* "" when empty */
char *buf_take(struct buf *buf, size_t *ret_len); /* the text is yours (mem_free); buf empty */

/* The text in an arena, or NULL if memory ran out; buf is done. */
char *buf_keep(struct buf *buf, struct arena *arena);

#endif
