/* tests/store/foreign.h - somebody else's connection to a rig's database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_FOREIGN_H
#define STORE_FOREIGN_H

#include "rig.h"

#include <libpq-fe.h>
#include <stdlib.h>

static inline PGconn *foreign_open(const char *url)
{
    PGconn *conn = PQconnectdb(url);
    CHECK(PQstatus(conn) == CONNECTION_OK, "%s", PQerrorMessage(conn));
    return conn;
}

static inline void foreign_closep(PGconn **conn)
{
    PQfinish(*conn);
}

/* Runs statements and returns the last one's first value; valid until the next call. */
static inline const char *foreign_run(PGconn *conn, const char *sql)
{
    static char value[65536];
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    value[0] = '\0';
    if (status == PGRES_TUPLES_OK && PQntuples(result) > 0)
        snprintf(value, sizeof value, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    CHECK(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK, "%s: %s", sql,
          PQerrorMessage(conn));
    return value;
}

static inline long foreign_number(PGconn *conn, const char *sql)
{
    return strtol(foreign_run(conn, sql), NULL, 10);
}

/* Waits until every transaction that runs on this server now, perhaps another test's, has ended.
 * What was deleted before is then dead for all, and an index scan that passes it marks it so. */
static inline void foreign_outlive_others(PGconn *conn)
{
    char sql[400];
    long next = foreign_number(conn, "SELECT pg_snapshot_xmax(pg_current_snapshot())");
    snprintf(
        sql, sizeof sql,
        "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= %ld AND NOT EXISTS"
        " (SELECT FROM pg_stat_activity WHERE datname = current_database()"
        " AND pid <> pg_backend_pid() AND age(backend_xmin) > age('%ld'::xid))",
        next, next & 0xffffffff);
    int tries = 12000; /* two minutes */
    while (foreign_run(conn, sql)[0] != 't' && --tries > 0)
        foreign_run(conn, "SELECT pg_sleep(0.01)");
    CHECK(tries > 0, "a transaction older than %ld does not end", next);
}

#endif
