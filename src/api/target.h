/* api/target.h - takes a request's target apart: path segments and query parameters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef API_TARGET_H
#define API_TARGET_H

#include "api/operation.h"

enum { SEGMENTS_MAX = 8, PARAMS_MAX = 32 };

struct param {
    const char *name, *value;
};

/* All texts are decoded, UTF-8 and free of NUL. */
struct target {
    const char *segments[SEGMENTS_MAX];
    size_t segment_count; /* SEGMENTS_MAX + 1: more than any route has */
    struct param params[PARAMS_MAX];
    size_t param_count;
};

/* Splits "/v1/jobs?limit=10" and decodes it into the request's arena.  Sets the request's
 * error. */
cairn_code target_read(const char *text, struct request *request, struct target *ret_target);

/* The value of a query parameter; NULL: not given, or empty. */
const char *target_param(const struct target *target, const char *name);

/* Refuses every query parameter that the object (NULL: it has none) does not name. */
cairn_code target_allow(const struct target *target, struct request *request,
                        const struct object *query);

/* Reads the parameters that the object names. */
void target_read_query(const struct target *target, struct request *request,
                       const struct object *query, void *to);

#endif
