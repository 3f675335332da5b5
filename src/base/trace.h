/* base/trace.h - the trace that a request or a task belongs to, as W3C Trace Context names it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
 *
 * Whoever sends a request or records work can write anything there, and it goes into logs: so anything else
 * counts as none.
 */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include <stdbool.h>
#include <stddef.h>

enum { TRACE_TEXT = 56 };

/* Whether this is a traceparent: 55 characters, lower case, neither id all zeros; may be NULL. */
bool trace_is_valid(const char *text);

/* The member "traceparent" of metadata; "" if it has none that is valid.  `json` may be NULL. */
void trace_of(const char *json, char ret_text[TRACE_TEXT]);

/* The same of the member "metadata" of the body of a request. */
void trace_of_body(const char *body, size_t len, char ret_text[TRACE_TEXT]);

#endif
