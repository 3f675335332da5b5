/* store/postgres/inspect.c - what doctor wants to know.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

#include <stdio.h>

cairn_code postgres_product(struct store_tx *tx, char *ret_product, cairn_error *reterr)
{
    const char *version = PQparameterStatus(postgres_session_of(tx)->conn, "server_version");
    bool is_pooled = atomic_load(&postgres_store_of(tx->session)->is_pooled);
    (void)reterr;
    snprintf(ret_product, PRODUCT_TEXT, "PostgreSQL %.60s%s", version ? version : "",
             is_pooled ? " (pooled)" : "");
    return CAIRN_OK;
}

cairn_code postgres_inspect(struct store_tx *tx, struct store_facts *ret_facts,
                            cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    bool is_pooled = atomic_load(&postgres_store_of(tx->session)->is_pooled);
    struct postgres_params params = PARAMS(tx, TIME(tx->now_us));
    TRY(postgres_ask(tx, PG_INSPECT, &params, &reader, reterr));

    /* PostgreSQL has no quick check of its own: what answers counts as intact. */
    *ret_facts = (struct store_facts){
        .schema_version = (int)value_int(&reader, 1),
        .newest_schema_version = postgres_newest_schema(),
        .clock_us = value_time(&reader, 2),
        .expired_leases = (uint64_t)value_int(&reader, 3),
        .oldest_outbox_us = value_time(&reader, 6),
        .unwatched_leases = (uint64_t)value_int(&reader, 7),
        .size_bytes = (uint64_t)value_int(&reader, 4),
        .is_intact = true,
    };
    snprintf(ret_facts->product, sizeof ret_facts->product, "PostgreSQL %s%s",
             PQgetvalue(reader.result, 0, 0), is_pooled ? " (pooled)" : "");
    snprintf(ret_facts->settings, sizeof ret_facts->settings, "%s",
             PQgetvalue(reader.result, 0, 5));
    return CAIRN_OK;
}
