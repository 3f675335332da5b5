/* bench/server.c - what a PostgreSQL server says about itself, and a snapshot held open on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/flow.h"
#include "bench/raw.h"

#include <libpq-fe.h>
#include <stdlib.h>

bool flow_sizes_postgres(const char *url, struct flow_sizes *ret_sizes)
{
    PGconn *server = PQconnectdb(url);
    PGresult *result =
        PQexec(server, "SELECT pg_total_relation_size('workflow.workflow_instance'), "
                       "pg_total_relation_size('workflow.workflow_step'), "
                       "pg_total_relation_size('workflow.workflow_event_log') + "
                       "pg_total_relation_size('workflow.workflow_event_loose')");
    bool is_known = PQresultStatus(result) == PGRES_TUPLES_OK;
    if (is_known)
        *ret_sizes =
            (struct flow_sizes){.instances = strtoll(PQgetvalue(result, 0, 0), NULL, 10),
                                .steps = strtoll(PQgetvalue(result, 0, 1), NULL, 10),
                                .events = strtoll(PQgetvalue(result, 0, 2), NULL, 10)};
    PQclear(result);
    PQfinish(server);
    return is_known;
}

int64_t raw_postgres_written(const char *url)
{
    int64_t bytes = -1;
    PGconn *server = PQconnectdb(url);
    if (PQstatus(server) == CONNECTION_OK) {
        PGresult *result =
            PQexec(server, "SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint");
        if (PQresultStatus(result) == PGRES_TUPLES_OK)
            bytes = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
        PQclear(result);
    }
    PQfinish(server);
    return bytes;
}

/* ---- a held snapshot ------------------------------------------------------------------------ */

/* The first statement takes the snapshot. */
void *raw_postgres_hold(const char *url)
{
    PGconn *server = PQconnectdb(url);
    PGresult *result = PQexec(server, "BEGIN ISOLATION LEVEL REPEATABLE READ; "
                                      "SELECT count(*) FROM pg_catalog.pg_database");
    bool is_held = PQresultStatus(result) == PGRES_TUPLES_OK;
    PQclear(result);
    if (is_held)
        return server;
    PQfinish(server);
    return NULL;
}

void raw_postgres_release(void *snapshot)
{
    PQfinish(snapshot);
}
