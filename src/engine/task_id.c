/* engine/task_id.c - a task's id.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "engine/request.h"

#include <stdlib.h>
#include <string.h>

bool is_step_id(const char *task_id)
{
    return strchr(task_id, '.') != NULL;
}

bool step_id_split(const char *task_id, char instance_id[ID_TEXT], int32_t *ret_seq)
{
    const char *dot = strchr(task_id, '.');
    size_t digits = dot ? strspn(dot + 1, "0123456789") : 0;
    if (!dot || (size_t)(dot - task_id) >= ID_TEXT || digits == 0 || digits > 9 ||
        dot[1 + digits])
        return false;
    memcpy(instance_id, task_id, (size_t)(dot - task_id));
    instance_id[dot - task_id] = '\0';
    *ret_seq = (int32_t)strtol(dot + 1, NULL, 10);
    return id_is_valid(instance_id);
}

char *step_id_make(struct arena *arena, const char *instance_id, int32_t seq)
{
    char room[INT_TEXT];
    return arena_concat(arena, instance_id, ".", int_text(seq, room));
}

bool number_id_read(const char *id, int64_t *ret_number)
{
    size_t digits = strspn(id, "0123456789");
    if (digits == 0 || digits > 18 || id[digits])
        return false;
    *ret_number = strtoll(id, NULL, 10);
    return true;
}
