/* cli/say.h - messages on standard error, always in the same form.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     cairn: could not open sqlite:jobs.db: the disk is full
 *         Details, indented.
 *         What to do about it.
 */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include "base/buf.h"
#include "base/error.h"
#include "cairn.h"

#include <stdbool.h>
#include <stdio.h>

void say_error(const char *format, ...) format_like(1, 2); /* "cairn: " and the text */
void say_more(const char *format, ...) format_like(1, 2);  /* an indented line after it */

/* Writes a line, with its newline and at most 4096 bytes, to standard error, in one piece.
 * False: standard error was full for wait_ms, and nothing was written. */
bool say_line(const char *line, size_t len, int wait_ms);

/* Prints why a call failed, or why the server rejected it; the answer is the exit code. */
int say_failure(const cairn_error *error);
int say_rejection(int http_status, const char *message, const char *detail, const char *hint);

/* At the end of a program: an exit code that also says whether all output could be written, so that
 * a full disk does not look like success. */
int flush_output(int exit_code);

/* Progress, one line that replaces itself; only on a terminal. */
void say_progress(const char *format, ...) format_like(1, 2);
/* "====      ": how much is done; nothing if it is not known of how many. */
enum { BAR_TEXT = 31 };
const char *progress_bar(char bar[BAR_TEXT], int64_t done, int64_t of);
void end_progress(void);

/* Adds text with "?" in place of control characters and broken UTF-8, so that foreign text cannot
 * control a terminal. */
void buf_clean(struct buf *buf, const char *text, size_t len);

/* Adds text with U+FFFD in place of bytes that are not UTF-8, and of NUL. */
void buf_utf8(struct buf *buf, const char *text, size_t len);

#endif
