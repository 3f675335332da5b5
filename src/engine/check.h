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
typedef cairn_code check_of_text(struct check *check, const char *field, const char *text);
check_of_text check_bad; /* with the reason */
check_of_text check_name, check_pattern, check_present;
check_of_text check_runtime;
check_of_text check_optional, check_comment, check_json; /* may be NULL */
cairn_code check_text(struct check *check, const char *field, const char *text, size_t max);
cairn_code check_size(struct check *check, const char *field, size_t len);
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

/* The group of a task; may be NULL or empty. */
cairn_code check_task_group(struct check *check, const char *group);
cairn_code check_level(struct check *check, const char *level); /* of a line of a log */

/* The name of a group of errors; may be NULL. */
cairn_code check_group(struct check *check, const char *group);

/* A page whose cursor is a number. */
cairn_code check_number_page(struct check *check, const char *cursor, uint32_t limit);

/* One for each operation, or for several of the same input: check.c, check_commit.c, list_filter.c. */
typedef cairn_code check_of_request(struct check *check);
check_of_request check_nothing, check_enqueue, check_claim, check_reports, check_heartbeat,
    check_heartbeats, check_idle, check_context, check_commit, check_registry, check_advance,
    check_deploy, check_definition, check_start, check_signal, check_control, check_stop,
    check_decide, check_requeue, check_rerun, check_outbox_claim, check_outbox_release,
    check_job_list, check_instance_list, check_job_counts, check_instance_counts,
    check_approvals, check_definitions, check_grid, check_errors, check_dlq_list, check_find,
    check_overview, check_bulk_start, check_retention, check_purge, check_schedule,
    check_schedule_next, check_limit;
check_of_request check_id;                           /* in.id */
check_of_request check_text_list;                    /* whose cursors are texts */
check_of_request check_number_list, check_part_list; /* numbers; of something that has an id */
check_of_request check_history;                      /* of events and logs */

#endif
