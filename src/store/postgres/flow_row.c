/* store/postgres/flow_row.c - instances and steps that come back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/flow.h"

#include <assert.h>
#include <string.h>

/* A word, or "" for NULL; not copied. */
static const char *value_word(struct postgres_reader *reader, int column)
{
    return PQgetvalue(reader->result, reader->row, column);
}

static int32_t value_int32(struct postgres_reader *reader, int column)
{
    return (int32_t)value_int(reader, column);
}

void postgres_read_instance(struct postgres_reader *reader, int first,
                            struct instance_row *ret_row)
{
    const char *status = PQgetvalue(reader->result, reader->row, first + 7);
    *ret_row = (struct instance_row){
        .seq = value_int(reader, first),
        .id = value_text(reader, first + 1),
        .workflow = value_text(reader, first + 2),
        .version = value_int32(reader, first + 3),
        .key = value_text(reader, first + 4),
        .input = value_text(reader, first + 5),
        .output = value_text(reader, first + 6),
        .status = instance_status_from(status),
        .generation = value_int32(reader, first + 8),
        .last_error = value_text(reader, first + 9),
        .start_at_us = value_time(reader, first + 10),
        .created_at_us = value_time(reader, first + 11),
        .updated_at_us = value_time(reader, first + 12),
        .started_at_us = value_time(reader, first + 13),
        .finished_at_us = value_time(reader, first + 14),
        .is_dlq = value_bool(reader, first + 15),
        .has_compensation = value_bool(reader, first + 16),
        .goal = instance_goal_from(value_word(reader, first + 17)),
        .is_undo_failed = value_bool(reader, first + 18),
        .undo_first = value_int32(reader, first + 19),
        .undo_from = value_int32(reader, first + 20),
        .undo_to = value_int32(reader, first + 21),
        .undo_below = value_int(reader, first + 22),
        .stop_by = value_text(reader, first + 23),
        .stop_reason = value_text(reader, first + 24),
        .commits = value_int(reader, first + 25),
        .active_count = value_int32(reader, first + 26),
        .wait_count = value_int32(reader, first + 27),
        .sleep_count = value_int32(reader, first + 28),
        .decision_count = value_int32(reader, first + 29),
        .parked_count = value_int32(reader, first + 30),
        .awaited_count = value_int32(reader, first + 31),
        .is_function = value_bool(reader, first + 32),
        .revision = value_int(reader, first + 33),
        .places = value_int32(reader, first + 34),
        .is_forced = value_bool(reader, first + 35),
        .is_woken = value_bool(reader, first + 36),
        .undo_error = value_text(reader, first + 37),
    };
}

void postgres_read_step(struct postgres_reader *reader, int first, struct step_row *ret_row)
{
    const char *kind = PQgetvalue(reader->result, reader->row, first + 4);
    const char *status = PQgetvalue(reader->result, reader->row, first + 14);
    *ret_row = (struct step_row){
        .instance_id = value_text(reader, first),
        .instance_seq = value_int(reader, first + 1),
        .seq = value_int32(reader, first + 2),
        .name = value_text(reader, first + 3),
        .kind = step_kind_from(kind),
        .handler = value_text(reader, first + 5),
        .max_attempts = value_int32(reader, first + 6),
        .priority = value_int32(reader, first + 7),
        .next = value_int32(reader, first + 8),
        .scope_fork = value_int32(reader, first + 9),
        .scope_from = value_int32(reader, first + 10),
        .scope_to = value_int32(reader, first + 11),
        .config = value_text(reader, first + 12),
        .metadata = value_text(reader, first + 13),
        .status = step_status_from(status),
        .attempts = value_int32(reader, first + 15),
        .compensation_attempts = value_int32(reader, first + 16),
        .input = value_text(reader, first + 17),
        .output = value_text(reader, first + 18),
        .error = value_text(reader, first + 19),
        .commit_no = value_int(reader, first + 20),
        .next_run_at_us = value_time(reader, first + 21),
        .started_at_us = value_time(reader, first + 22),
        .finished_at_us = value_time(reader, first + 23),
        .is_ready = value_bool(reader, first + 24),
        .task_type = value_text(reader, first + 25),
        .due_at_us = value_time(reader, first + 26),
        .is_held = value_bool(reader, first + 27),
        .locked_by = value_text(reader, first + 28),
        .token = value_text(reader, first + 29),
        .locked_until_us = value_time(reader, first + 30),
        .call_until_us = value_time(reader, first + 31),
        .ended_by = value_text(reader, first + 32),
        .ended_token = value_text(reader, first + 33),
        .stop = step_stop_from(value_word(reader, first + 34)),
        .waiting_event = value_text(reader, first + 35),
        .deadline_at_us = value_time(reader, first + 36),
        .is_timed_out = value_bool(reader, first + 37),
        .signal = value_text(reader, first + 38),
        .remaining = value_int32(reader, first + 39),
        .updated_at_us = value_time(reader, first + 40),
        .ended_outcome = value_text(reader, first + 41),
        .past_effects = value_int32(reader, first + 42),
        .is_effect_begun = value_bool(reader, first + 43),
        .function_effects = value_text(reader, first + 44),
        .undo_error = value_text(reader, first + 45),
    };
}

cairn_code postgres_run_instances(struct store_tx *tx, enum postgres_query query,
                                  const struct postgres_params *params,
                                  struct instance_row *ret_rows, size_t room, size_t *ret_count,
                                  cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    cairn_code code = postgres_run(postgres_session_of(tx), query, params, &result, reterr);
    if (code)
        return code;
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    assert((size_t)PQntuples(result) <= room);
    (void)room;
    for (; reader.row < PQntuples(result); reader.row++)
        postgres_read_instance(&reader, 0, &ret_rows[reader.row]);
    *ret_count = (size_t)PQntuples(result);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_run_steps(struct store_tx *tx, enum postgres_query query,
                              const struct postgres_params *params, struct step_row *ret_rows,
                              size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    cairn_code code = postgres_run(postgres_session_of(tx), query, params, &result, reterr);
    if (code)
        return code;
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    assert((size_t)PQntuples(result) <= room);
    (void)room;
    for (; reader.row < PQntuples(result); reader.row++)
        postgres_read_step(&reader, 0, &ret_rows[reader.row]);
    *ret_count = (size_t)PQntuples(result);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}
