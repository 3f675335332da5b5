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

#endif
