/* cli/backup.c - cairn backup: a copy of an SQLite store while it is in use.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * SQLite copies pages in portions.  It would begin anew after each commit of somebody else, so we hold
 * a read transaction: the copy is the store as it was at the beginning, and nobody waits for it.
 * The file gets its name when it is whole, checked and on the disk.
 */
#include "base/mem.h"
#include "cli/call.h"
#include "cli/print.h"
#include "cli/say.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PORTION_PAGES = 1024, BUSY_MS = 10000 };

struct copying {
    const char *file;
    char part[PATH_MAX]; /* its name until it is whole */
    sqlite3 *from, *to;
    int64_t bytes;
};

static void copying_done(struct copying *copying)
{
    sqlite3_close(copying->from);
    sqlite3_close(copying->to);
    if (copying->part[0])
        unlink(copying->part);
}

static int refuse(sqlite3 *db, const char *what, const char *file)
{
    say_error("could not %s \"%s\": %s", what, file, sqlite3_errmsg(db));
    return EXIT_STORE;
}

static int refuse_file(const char *what, const char *file)
{
    say_error("could not %s \"%s\": %s", what, file, strerror(errno));
    return EXIT_STORE;
}

/* Only a file can be copied by us; the path without the URL's parameters. */
static int find_path(const struct args *args, char path[PATH_MAX])
{
    const char *url = args_text(args, "url");
    if (!url)
        url = getenv("CAIRN_URL");
    if (!url || !*url)
        url = "sqlite:cairn.db";
    if (strncmp(url, "sqlite:", 7) == 0) {
        snprintf(path, PATH_MAX, "%.*s", (int)strcspn(url + 7, "?"), url + 7);
        return EXIT_DONE;
    }
    if (strncmp(url, "postgres", 8) == 0) {
        say_error("cannot back up PostgreSQL: it has its own tools for that");
        say_more("pg_dump --schema=workflow, pg_basebackup, or what your provider has");
    } else {
        say_error("cannot back up \"%s\": only SQLite files can be", url);
        say_more("run it on the server's machine with --url sqlite:FILE");
    }
    return EXIT_USAGE;
}

/* Whether it has the tables of a store; the answer is an exit code. */
static int check_source(sqlite3 *db, const char *path)
{
    static const char sql[] = "SELECT 1 FROM sqlite_schema WHERE name = 'workflow_run'";
    sqlite3_stmt *look = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &look, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(look);
    sqlite3_finalize(look);
    if (rc == SQLITE_DONE)
        say_error("\"%s\" is not a store of Cairn", path);
    else if (rc != SQLITE_ROW)
        return refuse(db, "read", path);
    return rc == SQLITE_ROW ? EXIT_DONE : EXIT_STORE;
}

static int open_source(struct copying *copying, const char *path)
{
    if (sqlite3_open_v2(path, &copying->from, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return refuse(copying->from, "open", path);
    sqlite3_busy_timeout(copying->from, BUSY_MS);
    if (sqlite3_exec(copying->from, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        return refuse(copying->from, "read", path);
    return check_source(copying->from, path);
}

/* A file of ours alone, beside the one that it becomes. */
static int open_target(struct copying *copying)
{
    char part[PATH_MAX];
    if (access(copying->file, F_OK) == 0) {
        say_error("\"%s\" exists already", copying->file);
        say_more("name another file: a backup is never replaced");
        return EXIT_NO;
    }
    if ((size_t)snprintf(part, sizeof part, "%s.part", copying->file) >= sizeof part) {
        errno = ENAMETOOLONG;
        return refuse_file("create", copying->file);
    }
    int fd = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return refuse_file("create", part);
    close(fd);
    memcpy(copying->part, part, sizeof part);
    if (sqlite3_open_v2(part, &copying->to, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return refuse(copying->to, "open", part);
    /* A copy that is not finished is thrown away, and a finished one is synced by us. */
    if (sqlite3_exec(copying->to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL,
                     NULL, NULL) != SQLITE_OK)
        return refuse(copying->to, "open", part);
    return EXIT_DONE;
}

static int copy_pages(struct copying *copying)
{
    sqlite3_backup *backup = sqlite3_backup_init(copying->to, "main", copying->from, "main");
    int rc = backup ? SQLITE_OK : SQLITE_ERROR;
    while (rc == SQLITE_OK) {
        rc = sqlite3_backup_step(backup, PORTION_PAGES);
        int all = sqlite3_backup_pagecount(backup), left = sqlite3_backup_remaining(backup);
        say_progress("%d of %d pages", all - left, all);
    }
    end_progress();
    bool is_whole = rc == SQLITE_DONE;
    if (backup)
        sqlite3_backup_finish(backup);
    return is_whole ? EXIT_DONE : refuse(copying->to, "write", copying->part);
}

/* What a disk has lost is noticed now and not when the copy is needed. */
static int check_copy(struct copying *copying)
{
    sqlite3_stmt *check = NULL;
    int rc = sqlite3_prepare_v2(copying->to, "PRAGMA quick_check(1)", -1, &check, NULL);
    bool is_right = rc == SQLITE_OK && sqlite3_step(check) == SQLITE_ROW &&
                    strcmp((const char *)sqlite3_column_text(check, 0), "ok") == 0;
    if (!is_right)
        say_error("the copy of the store is damaged: %s",
                  check ? (const char *)sqlite3_column_text(check, 0)
                        : sqlite3_errmsg(copying->to));
    sqlite3_finalize(check);
    return is_right ? EXIT_DONE : EXIT_STORE;
}

static int name_copy(struct copying *copying)
{
    if (sqlite3_close(copying->to) != SQLITE_OK)
        return refuse(copying->to, "close", copying->part);
    copying->to = NULL;
    int fd = open(copying->part, O_RDONLY | O_CLOEXEC);
    bool is_kept = fd >= 0 && fsync(fd) == 0;
    copying->bytes = fd >= 0 ? (int64_t)lseek(fd, 0, SEEK_END) : 0;
    if (fd >= 0)
        close(fd);
    if (!is_kept ||
        renameat2(AT_FDCWD, copying->part, AT_FDCWD, copying->file, RENAME_NOREPLACE))
        return refuse_file("write", copying->file);
    copying->part[0] = '\0';
    return EXIT_DONE;
}

static void print_done(const struct args *args, const char *path, const struct copying *copying)
{
    if (!args_wants(args, "json")) {
        printf("copied %s to %s: %lld bytes\n", path, copying->file, (long long)copying->bytes);
        return;
    }
    json_t *done = json_pack("{s:s, s:s, s:I}", "store", path, "file", copying->file, "bytes",
                             (json_int_t)copying->bytes);
    json_dumpf(done, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(done);
}

int run_backup(const struct args *args)
{
    char path[PATH_MAX];
    cleanup(copying_done) struct copying copying = {.file = args->operands[0]};
    TRY(find_path(args, path));
    TRY(open_source(&copying, path));
    TRY(open_target(&copying));
    TRY(copy_pages(&copying));
    TRY(check_copy(&copying));
    TRY(name_copy(&copying));
    print_done(args, path, &copying);
    return EXIT_DONE;
}
