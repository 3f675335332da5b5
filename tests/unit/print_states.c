/* tests/unit/print_states.c - prints docs/states.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     print_states > docs/states.md
 */
#include "states_text.h"

#include <stdio.h>

int main(void)
{
    struct buf out = {0};
    states_text(&out);
    bool is_good = !buf_failed(&out) && fputs(buf_text(&out), stdout) >= 0;
    buf_done(&out);
    return is_good ? 0 : 1;
}
