/* definition/number.h - fractions as text, whatever the process's locale.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DEFINITION_NUMBER_H
#define DEFINITION_NUMBER_H

#include <stdbool.h>

enum { NUMBER_TEXT = 40 };

/* False: not a number, or beyond a double. */
bool number_read(const char *text, double *ret_value);

/* The shortest text that is read back as the same number, as JSON; never like an integer. */
void number_write(double value, char to[NUMBER_TEXT]);

#endif
