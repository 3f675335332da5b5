/* cli/say.h - what the program says to a person: on standard error, in the same form always.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     cairn: could not open sqlite:jobs.db: the disk is full
 *         The facts, indented.
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
 * False: nobody has read standard error for wait_ms, and nothing was written. */
bool say_line(const char *line, size_t len, int wait_ms);

/* As say_error(), for a program that must not stop because nobody reads its standard error:
 * then the line is dropped. */
void say_note(const char *format, ...) format_like(1, 2);

/* Says what a call failed with; the answer is the exit code that fits. */
int say_failure(const cairn_error *error);
int exit_code_for(int http_status);

/* At the end of a program: an exit code that also says whether all output could be written, so that
 * a full disk does not look like success. */
int flush_output(int exit_code);

/* Progress, one line that replaces itself; only on a terminal.  NULL: wipe it. */
void say_progress(const char *format, ...) format_like(1, 2);
void end_progress(void);

/* How many letters must change to make one word the other. */
size_t edit_distance(const char *one, const char *other);

/* Adds text with control characters and broken UTF-8 made visible ("?"), so that what others
 * wrote cannot command a terminal. */
void buf_clean(struct buf *buf, const char *text, size_t len);

/* Adds text with U+FFFD in place of bytes that are not UTF-8, and of NUL. */
void buf_utf8(struct buf *buf, const char *text, size_t len);

#endif
