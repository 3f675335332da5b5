/* engine/check.h - what the checks of requests share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ENGINE_CHECK_H
#define ENGINE_CHECK_H

#include "engine/request.h"

struct check {
    const cairn_open_options *limits;
    struct request *request;
    cairn_error *error;
};

/* check.c: each names what it has looked at. */
cairn_code check_bad(struct check *check, const char *what, const char *why);
cairn_code check_text(struct check *check, const char *what, const char *text, size_t max);
cairn_code check_name(struct check *check, const char *what, const char *text);
cairn_code check_optional(struct check *check, const char *what, const char *text);
cairn_code check_pattern(struct check *check, const char *what, const char *text);
cairn_code check_json(struct check *check, const char *what, const char *text);
cairn_code check_count(struct check *check, const char *what, size_t count, size_t least);
cairn_code check_range(struct check *check, const char *what, int64_t value, int64_t least,
                       int64_t most);
cairn_code check_spec(struct check *check, cairn_job_spec *spec);
cairn_code check_start(struct check *check, cairn_start_options *options);
cairn_code check_claim(struct check *check, const cairn_claim_options *claim);
cairn_code check_outbound(struct check *check, const cairn_outbound *events, size_t count);

/* Cuts an error text to what is kept, and makes it UTF-8. */
cairn_code check_trim_error(struct check *check, const char **error);

/* check_commit.c */
cairn_code check_commit(struct check *check);

#endif
