/* tests/lib/scratch.c - fresh places for tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scratch.h"

#include <ftw.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[256];
static char *databases[4096];
static int database_count;
static char *texts[16384]; /* paths and URLs, which callers may use until the program ends */
static int text_count;

static void give_up(const char *what, const char *why)
{
    fprintf(stderr, "tests: %s: %s\n", what, why);
    exit(3);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
    (void)info, (void)type, (void)ftw;
    return remove(path);
}

static PGconn *connect_server(void)
{
    const char *url = getenv("CAIRN_TEST_POSTGRES");
    if (!url)
        give_up("CAIRN_TEST_POSTGRES is not set", "run ./test, which starts a private server");
    PGconn *server = PQconnectdb(url);
    if (PQstatus(server) != CONNECTION_OK)
        give_up("no PostgreSQL", PQerrorMessage(server));
    return server;
}

static void run_sql(PGconn *server, const char *sql)
{
    PGresult *result = PQexec(server, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        give_up(sql, PQerrorMessage(server));
    PQclear(result);
}

/* Registered after the first connection, so that it runs before the cleanup of OpenSSL, which libpq uses. */
static void drop_databases(void)
{
    PGconn *server = connect_server();
    char sql[256];
    for (int i = 0; i < database_count; i++) {
        snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS %s WITH (FORCE)", databases[i]);
        PQclear(PQexec(server, sql));
        free(databases[i]);
    }
    PQfinish(server);
}

static void clean_up(void)
{
    if (folder[0])
        nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    while (text_count)
        free(texts[--text_count]);
}

static const char *keep(char *text)
{
    if (text_count == (int)(sizeof texts / sizeof *texts))
        give_up("paths and URLs", "too many");
    return texts[text_count++] = text;
}

static void prepare(void)
{
    if (folder[0])
        return;
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/cairn-test-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        give_up("no scratch folder", folder);
    atexit(clean_up);
}

const char *scratch_folder(void)
{
    prepare();
    return folder;
}

const char *scratch_path(const char *suffix)
{
    static int number;
    char *path;
    prepare();
    if (asprintf(&path, "%s/%d%s", folder, ++number, suffix) < 0)
        give_up("memory", "none left");
    return keep(path);
}

const char *scratch_kind(void)
{
    const char *kind = getenv("CAIRN_TEST_STORE");
    return kind ? kind : "sqlite";
}

/* The URL with another database: postgres://user@host:port/NAME?rest. */
static char *database_url(const char *url, const char *name)
{
    const char *host = strstr(url, "://") + 3;
    const char *slash = strchr(host, '/');
    const char *query = strchr(host, '?');
    size_t len = slash ? (size_t)(slash - url) : query ? (size_t)(query - url) : strlen(url);
    char *result;
    if (asprintf(&result, "%.*s/%s%s", (int)len, url, name, query ? query : "") < 0)
        give_up("memory", "none left");
    return result;
}

/* A copy of a database on the private server, to be reached by the URL in `variable`.  Copying files
 * costs less than writing the copy into the log, which nothing reads here. */
static const char *new_database(const char *variable, const char *template)
{
    char sql[256];
    char *name;
    const char *url = getenv(variable);
    if (!url)
        give_up(variable, "is not set; run ./test, which starts a private server");
    PGconn *server = connect_server();
    prepare();
    if (database_count == (int)(sizeof databases / sizeof *databases))
        give_up("databases", "too many");
    if (asprintf(&name, "cairn_%d_%d", (int)getpid(), database_count) < 0)
        give_up("memory", "none left");
    if (database_count == 0)
        atexit(drop_databases);
    databases[database_count++] = name;
    snprintf(sql, sizeof sql, "CREATE DATABASE %s TEMPLATE %s STRATEGY file_copy", name,
             template);
    run_sql(server, sql);
    PQfinish(server);
    return keep(database_url(url, name));
}

/* A copy of a file; the tests have few that are large. */
static void copy_file(const char *from, const char *to)
{
    char bytes[64 * 1024];
    size_t len;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    if (!in || !out)
        give_up("no copy of", from);
    while ((len = fread(bytes, 1, sizeof bytes, in)) > 0)
        if (fwrite(bytes, 1, len, out) != len)
            give_up("cannot write", to);
    if (ferror(in) || fclose(in) != 0 || fclose(out) != 0)
        give_up("cannot copy", from);
}

/* `template`: a database of PostgreSQL; `file`: one of SQLite, or NULL for one without tables. */
static const char *new_store(const char *kind, const char *template, const char *file)
{
    if (strcmp(kind, "memory") == 0)
        return "memory:";
    if (strcmp(kind, "postgres") == 0)
        return new_database("CAIRN_TEST_POSTGRES", template);
    if (strcmp(kind, "pgbouncer") == 0)
        return new_database("CAIRN_TEST_PGBOUNCER", template);
    if (strcmp(kind, "sqlite") != 0)
        give_up("CAIRN_TEST_STORE is none of sqlite, postgres, pgbouncer, memory", kind);

    char *url;
    const char *path = scratch_path(".db");
    if (file)
        copy_file(file, path);
    if (asprintf(&url, "sqlite:%s", path) < 0)
        give_up("memory", "none left");
    return keep(url);
}

const char *scratch_store_of(const char *kind)
{
    return new_store(kind, "template0", NULL);
}

const char *scratch_store(void)
{
    const char *template = getenv("CAIRN_TEST_TEMPLATE");
    return new_store(scratch_kind(), template ? template : "template0",
                     getenv("CAIRN_TEST_TEMPLATE_FILE"));
}
