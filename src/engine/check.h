/* engine/check.h - what may be asked: every input is bounded before it comes near a store.
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

/* check_field.c: each names the field that it has checked. */
cairn_code check_bad(struct check *check, const char *field, const char *why);
cairn_code check_text(struct check *check, const char *field, const char *text, size_t max);
cairn_code check_name(struct check *check, const char *field, const char *text);
cairn_code check_optional(struct check *check, const char *field, const char *text);
cairn_code check_comment(struct check *check, const char *field, const char *text);
cairn_code check_present(struct check *check, const char *field, const char *text);
cairn_code check_pattern(struct check *check, const char *field, const char *text);
cairn_code check_size(struct check *check, const char *field, size_t len);
cairn_code check_json(struct check *check, const char *field, const char *text); /* or NULL */
cairn_code check_count(struct check *check, const char *field, size_t count, size_t least);
cairn_code check_entries(struct check *check, const char *field, size_t count, size_t most);
cairn_code check_range(struct check *check, const char *field, int64_t value, int64_t least,
                       int64_t most);
cairn_code check_ms(struct check *check, const char *field, int64_t ms, int64_t least);
/* Cuts an error text to what is kept, and makes it UTF-8. */
cairn_code check_trim_error(struct check *check, const char **error);

/* check.c: parts of several operations. */
cairn_code check_job_spec(struct check *check, cairn_job_spec *spec);
cairn_code check_start_options(struct check *check, cairn_start_options *options);
cairn_code check_claim_options(struct check *check, const cairn_claim_options *claim);
cairn_code check_outbound(struct check *check, const cairn_outbound *events, size_t count);
cairn_code check_lease(struct check *check, const char *worker, const char *task_id,
                       const char *token);

/* check.c: one for each operation, or for several of the same input. */
cairn_code check_nothing(struct check *check);
cairn_code check_id(struct check *check); /* in.id */
cairn_code check_enqueue(struct check *check);
cairn_code check_claim(struct check *check);
cairn_code check_idle(struct check *check);
cairn_code check_reports(struct check *check);
cairn_code check_heartbeat(struct check *check);
cairn_code check_heartbeats(struct check *check);
cairn_code check_context(struct check *check);
cairn_code check_registry(struct check *check);
cairn_code check_advance(struct check *check);
cairn_code check_deploy(struct check *check);
cairn_code check_definition(struct check *check);
cairn_code check_start(struct check *check);
cairn_code check_signal(struct check *check);
cairn_code check_stop(struct check *check);
cairn_code check_decide(struct check *check);
cairn_code check_requeue(struct check *check);
cairn_code check_outbox_claim(struct check *check);
cairn_code check_commit(struct check *check); /* check_commit.c */
cairn_code check_job_list(struct check *check);
cairn_code check_instance_list(struct check *check);
cairn_code check_text_list(struct check *check);   /* whose cursors are texts */
cairn_code check_number_list(struct check *check); /* whose cursors are numbers */
cairn_code check_part_list(struct check *check);   /* of something that has an id */

#endif
