/* definition/number.c - fractions as text, whatever the process's locale.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "definition/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In glibc the C locale is a constant: asking for it takes no memory and cannot fail. */
static locale_t c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

bool number_read(const char *text, double *ret_value)
{
    char *end;
    double value = strtod_l(text, &end, c_locale());
    if (end == text || *end || !isfinite(value))
        return false;
    *ret_value = value;
    return true;
}

void number_write(double value, char to[NUMBER_TEXT])
{
    locale_t before = uselocale(c_locale());
    for (int digits = 1; digits <= 17; digits++) {
        double again;
        snprintf(to, NUMBER_TEXT, "%.*g", digits, value);
        if (number_read(to, &again) && again == value)
            break;
    }
    uselocale(before);
    if (!strpbrk(to, ".e"))
        strcat(to, ".0");
}
