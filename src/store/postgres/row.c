/* store/postgres/row.c - values that come back, in PostgreSQL's binary form.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "store/postgres/postgres.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

const char *value_text(struct postgres_reader *reader, int column)
{
    if (PQgetisnull(reader->result, reader->row, column))
        return NULL;
    const char *text = PQgetvalue(reader->result, reader->row, column);
    size_t len = (size_t)PQgetlength(reader->result, reader->row, column);
    char *copy = arena_strndup(reader->arena, text, len);
    if (!copy)
        reader->failed = true;
    return copy;
}

int64_t value_int(struct postgres_reader *reader, int column)
{
    if (PQgetisnull(reader->result, reader->row, column))
        return 0;
    const char *bytes = PQgetvalue(reader->result, reader->row, column);
    if (PQgetlength(reader->result, reader->row, column) == 4) {
        uint32_t value;
        memcpy(&value, bytes, sizeof value);
        return (int32_t)be32toh(value);
    }
    assert(PQgetlength(reader->result, reader->row, column) == 8);
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return (int64_t)be64toh(value);
}

bool value_bool(struct postgres_reader *reader, int column)
{
    return !PQgetisnull(reader->result, reader->row, column) &&
           PQgetvalue(reader->result, reader->row, column)[0] != 0;
}

/* Held within what an instant can be: SQL knows infinity and the years before 1970. */
int64_t value_time(struct postgres_reader *reader, int column)
{
    if (PQgetisnull(reader->result, reader->row, column))
        return 0;
    int64_t us = value_int(reader, column);
    if (us < -POSTGRES_EPOCH_US)
        return 0;
    return us > INSTANT_MAX - POSTGRES_EPOCH_US ? INSTANT_MAX : us + POSTGRES_EPOCH_US;
}

void postgres_read_job(struct postgres_reader *reader, int first, struct job_row *ret_row)
{
    const char *status = PQgetvalue(reader->result, reader->row, first + 5);
    *ret_row = (struct job_row){
        .seq = value_int(reader, first),
        .id = value_text(reader, first + 1),
        .type = value_text(reader, first + 2),
        .payload = value_text(reader, first + 3),
        .key = value_text(reader, first + 4),
        .status = job_status_from(status),
        .priority = (int32_t)value_int(reader, first + 6),
        .attempt = (int32_t)value_int(reader, first + 7),
        .max_attempts = (int32_t)value_int(reader, first + 8),
        .is_ready = value_bool(reader, first + 9),
        .leased_by = value_text(reader, first + 10),
        .token = value_text(reader, first + 11),
        .ended_by = value_text(reader, first + 12),
        .ended_token = value_text(reader, first + 13),
        .last_error = value_text(reader, first + 14),
        .result = value_text(reader, first + 15),
        .run_at_us = value_time(reader, first + 16),
        .lease_until_us = value_time(reader, first + 17),
        .created_at_us = value_time(reader, first + 18),
        .updated_at_us = value_time(reader, first + 19),
        .deleted_at_us = value_time(reader, first + 20),
        .ended_outcome = value_text(reader, first + 21),
    };
}

cairn_code postgres_read_jobs(struct store_tx *tx, const PGresult *result,
                              struct job_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    size_t count = (size_t)PQntuples(result);
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    assert(count <= room);
    (void)room;
    for (size_t i = 0; i < count; i++) {
        reader.row = (int)i;
        postgres_read_job(&reader, 0, &ret_rows[i]);
    }
    *ret_count = count;
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}
