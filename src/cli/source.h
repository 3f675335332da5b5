/* cli/source.h - text that an option names: itself, @FILE, or "-" for standard input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdio.h>

/* Reads it whole; false: standard error says why not. */
bool source_read(const char *given, struct buf *ret_text);

/* Opens FILE, or standard input for "-"; NULL: standard error says why not. */
FILE *source_open(const char *file);
void source_close(FILE **source); /* leaves standard input open */

#endif
