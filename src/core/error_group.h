/* core/error_group.h - which errors are alike.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Errors that differ only in numbers, ids and quoted texts are one group.  A group is named by a hash of
 * where the error happened and of its pattern, so it means the same in every process and at every time.
 */
#ifndef CORE_ERROR_GROUP_H
#define CORE_ERROR_GROUP_H

#include "base/arena.h"
#include "core/rows.h"

enum { ERROR_PATTERN_TEXT = 201, ERROR_GROUP_TEXT = 13 };

/* An error, and where it happened. */
struct error_place {
    const char *workflow; /* NULL: of a job */
    const char *step;     /* NULL: of a job */
    const char *type;     /* of a job its type, of a record the kind of its step; else NULL */
    bool is_undo;         /* of a compensation */
    const char *error;    /* NULL: there is none */
    int64_t at_us;
};

/* The first line of an error.  Ids, numbers and what stands in quotes are #, spaces are joined, and it is
 * cut to 200 bytes.  The pattern of a pattern is itself. */
void error_pattern(const char *error, char ret_pattern[ERROR_PATTERN_TEXT]);

/* The name of the group, 12 hexadecimal digits. */
void error_group(const struct error_place *place, const char *pattern,
                 char ret_group[ERROR_GROUP_TEXT]);

struct error_place error_of_job(const struct job_row *row);
struct error_place error_of_record(const struct dlq_row *row);

/* The error of its latest step that failed; if there is none, of its latest compensation.  False: memory
 * ran out. */
bool error_of_instance(struct arena *arena, const struct instance_row *row,
                       struct error_place *ret_place);

/* The name of its group, made of its pattern; "": there is no error. */
void error_group_of(const struct error_place *place, char ret_group[ERROR_GROUP_TEXT]);

/* Whether the error is in this group. */
bool error_is_in(const struct error_place *place, const char *group);

#endif
