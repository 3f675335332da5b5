/* tests/store/test_sqlite.c - what holds for the SQLite back end alone: files that it must not
 * touch, limits, locks, and indexes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"
#include "store/sqlite/sqlite.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Helpers --------------------------------------------------------------------------------
 */

static const char *url_of(const char *path)
{
    static char url[512];
    snprintf(url, sizeof url, "sqlite:%s", path);
    return url;
}

static cairn_code try_open(const char *url, bool no_migrate, cairn_error *reterr)
{
    struct clock clock;
    struct store *store = NULL;
    clock_init_virtual(&clock, RIG_START_US);
    struct store_config config = {
        .url = url, .clock = &clock, .no_migrate = no_migrate, .lock_wait_ms = 50};
    cairn_code code = store_open(&config, &store, reterr);
    if (!code)
        store->ops->close(store);
    return code;
}

static void write_file(const char *path, const char *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    CHECK(file, "%s cannot be created", path);
    CHECK(fwrite(bytes, 1, len, file) == len, "%s cannot be written", path);
    fclose(file);
}

static char *read_file(const char *path, size_t *ret_len)
{
    FILE *file = fopen(path, "rb");
    CHECK(file, "%s cannot be opened", path);
    char *bytes = malloc(1 << 20);
    *ret_len = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static bool exists(const char *path, const char *suffix)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return access(name, F_OK) == 0;
}

/* Runs SQL on the file as any other program would. */
static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    CHECK(sqlite3_open(path, &db) == SQLITE_OK, "%s cannot be opened", path);
    sqlite3_busy_timeout(db, 5000);
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    CHECK(rc == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* Opens, expects a refusal, and checks that not one byte has changed. */
static void check_refused_untouched(const char *path, bool no_migrate, cairn_code wanted)
{
    cairn_error error = {0};
    size_t len, len_after;
    char *before = read_file(path, &len);
    cairn_code code = try_open(url_of(path), no_migrate, &error);
    CHECK(code == wanted, "%s is %s: %s (%s)", path, cairn_code_name(code), error.message,
          error.detail);
    CHECK(error.message[0], "nothing is said");
    char *after = read_file(path, &len_after);
    CHECK(len == len_after && memcmp(before, after, len) == 0, "%s has changed", path);
    CHECK(!exists(path, "-wal") && !exists(path, "-shm") && !exists(path, "-journal"),
          "a file was left beside %s", path);
    free(before);
    free(after);
}

/* Runs `check` in a child, as an ordinary user; it answers 0 when all is well. */
static int run_as_ordinary_user(int (*check)(const char *path), const char *path)
{
    pid_t child = fork();
    CHECK(child >= 0, "no child");
    if (child == 0) {
        if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(99);
        _exit(check(path));
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child, "the child is gone");
    CHECK(WIFEXITED(status), "the child was killed by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

/* ---- Opening --------------------------------------------------------------------------------
 */

TEST(a_file_that_is_not_a_database_is_refused_untouched)
{
    char bytes[9000];
    static const size_t lengths[] = {1, 15, 99, 100, 512, 4096, 9000};
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = "text that is no database\n"[i % 25];
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const char *path = scratch_path(".txt");
        write_file(path, bytes, lengths[i]);
        check_refused_untouched(path, false, CAIRN_E_NOT_A_DATABASE);
        check_refused_untouched(path, true, CAIRN_E_NOT_A_DATABASE);
    }
}

TEST(a_newer_schema_is_refused_untouched)
{
    const char *path = scratch_path(".db");
    cairn_error error = {0};
    CHECK_OK(try_open(url_of(path), false, &error));
    run_sql(path, "INSERT INTO workflow_migration VALUES (9999, '9999_future', 0, 9998)");
    check_refused_untouched(path, false, CAIRN_E_SCHEMA_NEWER);
    check_refused_untouched(path, true, CAIRN_E_SCHEMA_NEWER);
    run_sql(path, "UPDATE workflow_migration SET oldest = NULL WHERE number = 9999");
    check_refused_untouched(path, false, CAIRN_E_SCHEMA_NEWER);
}

/* All of the later migrations must allow it. */
TEST(a_newer_schema_that_allows_this_version_is_opened)
{
    const char *path = scratch_path(".db");
    cairn_error error = {0};
    CHECK_OK(try_open(url_of(path), false, &error));
    run_sql(path,
            "INSERT INTO workflow_migration SELECT 9998, 'future', 0, max(number) FROM "
            "workflow_migration; INSERT INTO workflow_migration SELECT 9999, 'future', 0, "
            "max(number) FROM workflow_migration WHERE number < 9998");
    CHECK_OK(try_open(url_of(path), false, &error));
    CHECK_OK(try_open(url_of(path), true, &error));
    run_sql(path, "UPDATE workflow_migration SET oldest = 9998 WHERE number = 9998");
    check_refused_untouched(path, false, CAIRN_E_SCHEMA_NEWER);
}

TEST(an_empty_file_becomes_a_store)
{
    const char *path = scratch_path(".db");
    cairn_error error = {0};
    write_file(path, "", 0);
    check_refused_untouched(path, true, CAIRN_E_SCHEMA_OLDER);
    CHECK_OK(try_open(url_of(path), false, &error));
    CHECK_OK(try_open(url_of(path), true, &error));
}

static cairn_code try_open_existing(const char *url, cairn_error *reterr)
{
    struct clock clock;
    struct store *store = NULL;
    clock_init_virtual(&clock, RIG_START_US);
    struct store_config config = {
        .url = url, .clock = &clock, .no_create = true, .lock_wait_ms = 50};
    cairn_code code = store_open(&config, &store, reterr);
    if (!code)
        store->ops->close(store);
    return code;
}

TEST(without_creating_a_missing_file_is_not_made)
{
    const char *path = scratch_path(".db");
    cairn_error error = {0};
    CHECK_INT(try_open_existing(url_of(path), &error), CAIRN_E_NOT_FOUND);
    CHECK(error.message[0] && error.hint[0], "nothing is said");
    CHECK(!exists(path, "") && !exists(path, "-wal"), "a file was made");
}

TEST(without_creating_a_file_without_our_tables_stays_as_it_is)
{
    const char *path = scratch_path(".db");
    cairn_error error = {0};
    write_file(path, "", 0);
    CHECK_INT(try_open_existing(url_of(path), &error), CAIRN_E_NOT_FOUND);
    run_sql(path, "CREATE TABLE theirs (a)");
    size_t len, len_after;
    char *before = read_file(path, &len);
    CHECK_INT(try_open_existing(url_of(path), &error), CAIRN_E_NOT_FOUND);
    char *after = read_file(path, &len_after);
    CHECK(len == len_after && memcmp(before, after, len) == 0, "%s has changed", path);
    free(before);
    free(after);
    CHECK_OK(try_open(url_of(path), false, &error));
    CHECK_OK(try_open_existing(url_of(path), &error));
}

TEST(without_migrating_a_missing_file_is_not_made)
{
    const char *path = scratch_path(".db");
    cairn_error error = {0};
    CHECK_INT(try_open(url_of(path), true, &error), CAIRN_E_SCHEMA_OLDER);
    CHECK(error.message[0] && error.hint[0], "nothing is said");
    CHECK(!exists(path, ""), "the file was made");
}

TEST(a_file_is_shared_with_an_applications_own_tables)
{
    const char *path = scratch_path(".db");
    run_sql(path, "PRAGMA user_version = 77; PRAGMA application_id = 78;"
                  "CREATE TABLE orders (n); INSERT INTO orders VALUES (1)");
    check_refused_untouched(path, true, CAIRN_E_SCHEMA_OLDER);
    cairn_error error = {0};
    CHECK_OK(try_open(url_of(path), false, &error));

    sqlite3 *db;
    sqlite3_open(path, &db);
    struct connection connection = {.db = db};
    CHECK_INT(connection_int(&connection, "SELECT n FROM orders", 0), 1);
    CHECK_INT(connection_int(&connection, "PRAGMA user_version", 0), 77);
    CHECK_INT(connection_int(&connection, "PRAGMA application_id", 0), 78);
    sqlite3_close(db);
}

TEST(somebody_elses_table_of_our_name_is_left_alone)
{
    const char *path = scratch_path(".db");
    run_sql(path, "CREATE TABLE workflow_run (mine)");
    check_refused_untouched(path, false, CAIRN_E_CONFLICT);
}

TEST(a_file_with_texts_in_utf_16_is_refused_untouched)
{
    const char *path = scratch_path(".db");
    run_sql(path, "PRAGMA encoding = 'UTF-16le'; CREATE TABLE orders (n)");
    check_refused_untouched(path, false, CAIRN_E_CONFLICT);
}

TEST(urls_that_name_no_file_are_bad_input)
{
    static const char *const urls[] = {"sqlite:", "sqlite:?max_page_count=5",
                                       "sqlite::memory:", "sqlite:/nowhere/at/all/x.db",
                                       "sqlite:/dev"};
    static const char *const suffixes[] = {"?x=1",
                                           "?",
                                           "?max_page_count=",
                                           "?max_page_count=0",
                                           "?max_page_count=-5",
                                           "?max_page_count=9x",
                                           "?max_page_count=99999999999999999999"};
    cairn_error error = {0};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        cairn_code code = try_open(urls[i], false, &error);
        CHECK(code == CAIRN_E_BAD_INPUT, "%s is %s", urls[i], cairn_code_name(code));
        CHECK(error.message[0], "nothing is said about %s", urls[i]);
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char url[600];
        const char *path = scratch_path(".db");
        snprintf(url, sizeof url, "sqlite:%s%s", path, suffixes[i]);
        CHECK_INT(try_open(url, false, &error), CAIRN_E_BAD_INPUT);
        CHECK(!exists(path, ""), "%s was made", path);
    }
}

static int expect_read_only(const char *path)
{
    cairn_error error = {0};
    cairn_code code = try_open(url_of(path), false, &error);
    if (code == CAIRN_E_READ_ONLY && error.message[0])
        return 0;
    print_error("%s is %s: %s\n", path, cairn_code_name(code), error.message);
    return 1;
}

TEST(a_read_only_file_is_refused)
{
    const char *path = scratch_path(".db"), *plain = scratch_path(".db");
    cairn_error error = {0};
    chmod(scratch_folder(), 0777);
    CHECK_OK(try_open(url_of(path), false, &error));
    run_sql(plain, "CREATE TABLE orders (n)");
    CHECK(chmod(path, 0444) == 0 && chmod(plain, 0444) == 0, "chmod failed");
    CHECK_INT(run_as_ordinary_user(expect_read_only, path), 0);
    CHECK_INT(run_as_ordinary_user(expect_read_only, plain), 0);
}

TEST(a_read_only_folder_is_refused)
{
    const char *folder = scratch_path("");
    char path[400], plain[400], missing[400];
    cairn_error error = {0};
    chmod(scratch_folder(), 0777);
    snprintf(path, sizeof path, "%s/a.db", folder);
    snprintf(plain, sizeof plain, "%s/b.db", folder);
    snprintf(missing, sizeof missing, "%s/c.db", folder);
    CHECK(mkdir(folder, 0777) == 0, "no folder");
    CHECK_OK(try_open(url_of(path), false, &error));
    run_sql(plain, "CREATE TABLE orders (n)");
    chmod(path, 0666);
    chmod(plain, 0666);
    chmod(folder, 0555);
    CHECK_INT(run_as_ordinary_user(expect_read_only, path), 0);
    CHECK_INT(run_as_ordinary_user(expect_read_only, plain), 0);
    CHECK_INT(run_as_ordinary_user(expect_read_only, missing), 0);
    chmod(folder, 0755); /* so that it can be removed */
}

TEST(processes_that_open_a_new_file_at_once_all_succeed)
{
    enum { OPENERS = 6, ROUNDS = 5 };
    for (int round = 0; round < ROUNDS; round++) {
        const char *path = scratch_path(".db");
        int gate[2];
        pid_t children[OPENERS];
        CHECK(pipe(gate) == 0, "no pipe");
        for (int i = 0; i < OPENERS; i++) {
            children[i] = fork();
            if (children[i] == 0) {
                char byte;
                cairn_error error = {0};
                close(gate[1]);
                if (read(gate[0], &byte, 1) != 0) /* ends for all at the same moment */
                    _exit(98);
                cairn_code code = try_open(url_of(path), false, &error);
                if (code)
                    print_error("%s (%s)\n", error.message, error.detail);
                _exit((int)code);
            }
        }
        close(gate[0]);
        close(gate[1]);
        for (int i = 0; i < OPENERS; i++) {
            int status;
            waitpid(children[i], &status, 0);
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "opener %d ended with %d", i,
                  WEXITSTATUS(status));
        }
        cairn_error error = {0};
        CHECK_OK(try_open(url_of(path), true, &error));
    }
}

/* ---- Limits and locks -----------------------------------------------------------------------
 */

static struct job_row large_job(struct rig *rig)
{
    char *payload = arena_alloc(&rig->arena, 10001);
    memset(payload, 'x', 10000);
    payload[0] = payload[9999] = '"';
    payload[10000] = '\0';
    struct job_row row = job_of(rig, "a");
    row.payload = payload;
    return row;
}

TEST(a_full_file_is_told_and_what_was_committed_stays)
{
    char url[400];
    snprintf(url, sizeof url, "sqlite:%s?max_page_count=110", scratch_path(".db"));
    cleanup(rig_closep) struct rig *rig = rig_open_url(url);
    cairn_code code = CAIRN_OK;
    uint64_t committed = 0;
    while (!code && committed < 100) {
        begin_write(rig);
        struct job_row row = large_job(rig);
        enum insert_result result;
        code = rig->ops->insert_jobs(rig->tx, &row, 1, &result, &rig->error);
        if (code) {
            roll_back(rig);
        } else {
            commit(rig);
            committed++;
        }
    }
    CHECK(code == CAIRN_E_STORE_FULL, "%s: %s", cairn_code_name(code), rig->error.message);
    CHECK(committed > 2 && committed < 60, "%d jobs fit", (int)committed);

    struct job_counts counts;
    begin_read(rig);
    MUST(rig, rig->ops->count_jobs(rig->tx, &counts, &rig->error));
    CHECK_INT(counts.pending, committed);
    list(rig, (struct list_filter){0}, 1);
    CHECK_INT(strlen(rig->rows[0].payload), 10000);
}

TEST(a_writer_that_waits_too_long_is_told_that_the_store_is_busy)
{
    cleanup(rig_closep) struct rig *rig = rig_open(); /* its lock_wait_ms is 200 */
    struct store_session *second;
    struct store_tx *tx;
    MUST(rig, rig->ops->session_open(rig->store, SESSION_WRITER, &second, &rig->error));
    begin_write(rig);
    add(rig, job_of(rig, "a"));
    CHECK_INT(rig->ops->begin(second, &rig->arena, &tx, &rig->error), CAIRN_E_BUSY);
    CHECK(rig->error.message[0] && rig->error.detail[0], "nothing is said");
    commit(rig);
    MUST(rig, rig->ops->begin(second, &rig->arena, &tx, &rig->error));
    rig->ops->rollback(tx);
    rig->ops->session_close(second);
}

TEST(readers_are_not_held_up_by_a_writer_and_cannot_write)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct store_tx *tx;
    struct job_counts counts;
    begin_write(rig);
    add(rig, job_of(rig, "a"));
    MUST(rig, rig->ops->begin(rig->reader, &rig->arena, &tx, &rig->error));
    MUST(rig, rig->ops->count_jobs(tx, &counts, &rig->error));
    CHECK_INT(counts.pending, 0);
    rig->ops->rollback(tx);
    commit(rig);

    struct connection *connection = ((struct sqlite_session *)rig->reader)->connection;
    CHECK(connection_exec(connection, "DELETE FROM workflow_run") != SQLITE_OK,
          "a reader wrote");
}

TEST(every_commit_is_synced_and_the_log_is_used)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct store_facts facts;
    begin_write(rig);
    MUST(rig, rig->ops->inspect(rig->tx, &facts, &rig->error));
    CHECK_STR(facts.settings, "journal_mode=wal synchronous=full");
    CHECK(strncmp(facts.product, "SQLite 3.", 9) == 0, "product is %s", facts.product);
    CHECK(facts.size_bytes > 0 && facts.clock_us == 0, "size is %d", (int)facts.size_bytes);
}

/* What is in the file itself, without the log; -1: not even the table. */
static int64_t count_in_file(const struct rig *rig)
{
    char uri[512];
    struct connection connection = {0};
    snprintf(uri, sizeof uri, "file:%s?immutable=1", rig->url + strlen("sqlite:"));
    int rc = sqlite3_open_v2(uri, &connection.db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    CHECK(rc == SQLITE_OK, "%s: %s", uri, sqlite3_errmsg(connection.db));
    int64_t count = connection_int(&connection, "SELECT count(*) FROM workflow_run", -1);
    sqlite3_close(connection.db);
    return count;
}

TEST(a_purge_brings_back_to_the_file_what_it_wrote)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct past_row rows[2];
    size_t count = 0;
    begin_write(rig);
    for (int i = 0; i < 2; i++) {
        struct job_row row = job_of(rig, "a");
        row.status = JOB_SUCCEEDED;
        row.is_ready = false;
        add(rig, row);
    }
    commit(rig);
    CHECK(count_in_file(rig) != 2, "every commit makes a checkpoint");
    begin_write(rig);
    MUST(rig, rig->ops->scan_past(rig->tx, LIST_JOBS, 0, rows, 2, &count, &rig->error));
    MUST(rig, rig->ops->purge(rig->tx, LIST_JOBS, rows, 1, &rig->error));
    commit(rig);
    CHECK_INT(count_in_file(rig), 1);
    begin_write(rig);
    add(rig, job_of(rig, "a"));
    commit(rig);
    CHECK_INT(count_in_file(rig), 1); /* the next one does not */
}

TEST(damage_is_found)
{
    const char *path = scratch_path(".db");
    struct rig *rig = rig_open_url(url_of(path));
    begin_write(rig);
    for (int i = 0; i < 200; i++)
        add(rig, job_of(rig, "a"));
    commit(rig);
    rig_close(rig);

    FILE *file = fopen(path, "r+b");
    CHECK(file, "no file");
    fseek(file, 0, SEEK_END);
    fseek(file, ftell(file) - 3 * 4096, SEEK_SET);
    for (int i = 0; i < 4096; i++)
        fputc(0xAA, file);
    fclose(file);

    struct store_facts facts;
    rig = rig_open_url(url_of(path));
    begin_read(rig);
    MUST(rig, rig->ops->inspect(rig->tx, &facts, &rig->error));
    CHECK(!facts.is_intact && facts.damage[0], "the damage was not seen");
    rig_close(rig);
}

/* ---- Other writers --------------------------------------------------------------------------
 */

static const char *path_of(const struct rig *rig)
{
    return ((struct sqlite_store *)rig->store)->path;
}

TEST(a_plain_insert_is_a_complete_job)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    run_sql(path_of(rig),
            "INSERT INTO workflow_run (type, payload, idempotency_key)"
            " VALUES ('a', '{\"n\": 1}', 'k') ON CONFLICT (idempotency_key) DO NOTHING;"
            "INSERT INTO workflow_run (type, payload, idempotency_key)"
            " VALUES ('b', '{\"n\": 1}', 'k') ON CONFLICT (idempotency_key) DO NOTHING;");
    struct clock real;
    clock_init_real(&real);
    clock_set_us(&rig->clock,
                 clock_now_us(&real) > RIG_START_US ? clock_now_us(&real) : RIG_START_US);
    begin_write(rig);
    list(rig, (struct list_filter){0}, 9);
    CHECK_INT(rig->count, 1);
    struct job_row row = rig->rows[0];
    CHECK(id_is_valid(row.id), "id is %s", row.id);
    CHECK_INT(row.priority, 100);
    CHECK_INT(row.max_attempts, 3);
    CHECK_INT(row.attempt, 0);
    int64_t age_us = clock_now_us(&real) - row.created_at_us;
    CHECK(age_us > -US_PER_SEC && age_us < US_PER_MIN, "it is %lld us old", (long long)age_us);
    CHECK_INT(row.run_at_us, row.created_at_us);
    CHECK_INT(row.updated_at_us, row.created_at_us);
    commit(rig);
}

TEST(a_plain_insert_for_later_waits_for_its_time)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    char sql[200];
    snprintf(sql, sizeof sql, "INSERT INTO workflow_run (type, run_at) VALUES ('a', %lld)",
             (long long)RIG_START_US + 50);
    run_sql(path_of(rig), sql);
    size_t count;
    begin_write(rig);
    const char *due = add(rig, job_of(rig, "a"));
    CLAIM(rig, 1, "a");
    CHECK_ROWS(rig, due); /* though the other one is older */
    CHECK_INT(next_due(rig).job_us, RIG_START_US + 50);
    commit(rig);
    pass_us(rig, 50);
    begin_write(rig);
    MUST(rig, rig->ops->promote_jobs(rig->tx, 9, &count, &rig->error));
    CHECK_INT(count, 1);
    CLAIM(rig, 9, "a");
    CHECK_INT(rig->count, 1);
}

TEST(a_lease_without_an_end_has_run_out)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct store_facts facts;
    run_sql(path_of(rig), "INSERT INTO workflow_run (type, status, leased_by)"
                          " VALUES ('a', 'leased', 'by hand')");
    begin_write(rig);
    MUST(rig, rig->ops->inspect(rig->tx, &facts, &rig->error));
    CHECK_INT(facts.expired_leases, 1);
    int64_t due_us = next_due(rig).job_us;
    CHECK(due_us > 0 && due_us <= rig->tx->now_us, "the timer is due at %lld",
          (long long)due_us);
    MUST(rig, rig->ops->lock_expired_jobs(rig->tx, rig->rows, 10, &rig->count, &rig->error));
    CHECK_INT(rig->count, 1);
    CHECK_STR(rig->rows[0].leased_by, "by hand");
}

TEST(a_payload_that_is_not_json_is_refused_by_the_table)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row row = job_of(rig, "a");
    enum insert_result result;
    row.payload = "{";
    begin_write(rig);
    CHECK_INT(rig->ops->insert_jobs(rig->tx, &row, 1, &result, &rig->error), CAIRN_E_STORE);
    CHECK(rig->error.detail[0], "the database's words are missing");
}

TEST(a_foreign_event_keeps_its_word)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct event_row event;
    size_t count;
    run_sql(path_of(rig), "INSERT INTO workflow_event (workflow_id, event_type)"
                          " VALUES ('x', 'looked_at')");
    begin_read(rig);
    MUST(rig, rig->ops->list_events(rig->tx, "x", 0, &event, 1, &count, &rig->error));
    CHECK_INT(count, 1);
    CHECK_INT(job_event_from(event.type), EVENT_NONE);
    CHECK_STR(event.type, "looked_at");
    CHECK(!event.data, "data is %s", event.data);
}

TEST(a_commit_by_another_process_is_noticed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    rig->ops->is_changed_elsewhere(rig->writer);
    CHECK(!rig->ops->is_changed_elsewhere(rig->writer), "nothing has happened");
    run_sql(path_of(rig), "INSERT INTO workflow_run (type) VALUES ('a')");
    CHECK(rig->ops->is_changed_elsewhere(rig->writer), "the commit was not noticed");
    CHECK(!rig->ops->is_changed_elsewhere(rig->writer), "it was noticed twice");
    run_sql(path_of(rig), "INSERT INTO workflow_run (type) VALUES ('a')");
    begin_write(rig); /* sees it, but nobody has asked yet */
    commit(rig);
    CHECK(rig->ops->is_changed_elsewhere(rig->writer), "the commit was forgotten");
}

/* Lets the watch tell of what has been, until it has nothing to tell. */
static void settle(struct rig *rig, int stop_fd)
{
    while (rig->ops->watch(rig->store, stop_fd, 0))
        continue;
}

/* Without a timeout, at whose end a watch looks once more by itself: if it does not see the
 * commit, the alarm ends the program. */
static void check_watch_returns(struct rig *rig, int stop_fd)
{
    alarm(60);
    CHECK(rig->ops->watch(rig->store, stop_fd, -1), "the watch was stopped");
    alarm(0);
}

TEST(a_watch_returns_when_another_process_has_committed_and_not_before)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    int stop[2], go[2];
    CHECK(pipe(stop) == 0 && pipe(go) == 0, "no pipe");
    settle(rig, stop[0]);
    CHECK(!rig->ops->watch(rig->store, stop[0], 1), "nothing has happened");
    rig->ops->is_changed_elsewhere(rig->writer);

    char path[400];
    snprintf(path, sizeof path, "%s", path_of(rig));
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(go[1]);
        if (read(go[0], &byte, 1) != 0)
            _exit(98);
        run_sql(path, "INSERT INTO workflow_run (type) VALUES ('a')");
        _exit(0);
    }
    close(go[0]);
    close(go[1]);
    check_watch_returns(rig, stop[0]);
    CHECK(rig->ops->is_changed_elsewhere(rig->writer), "the watch came before the commit");
    int status;
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
    close(stop[0]);
    close(stop[1]);
}

/* A file system whose syncs wait: between the write of a commit, which inotify tells of, and the
 * moment when others see it.  For a child process. */
static struct {
    sqlite3_vfs vfs;
    const sqlite3_io_methods *real;
    sqlite3_io_methods slow;
    int (*open)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);
    int written_fd, go_fd;
} slow_disk;

static int sync_when_told(sqlite3_file *file, int flags)
{
    char byte = 'w';
    if (write(slow_disk.written_fd, &byte, 1) != 1 || read(slow_disk.go_fd, &byte, 1) < 0)
        return SQLITE_IOERR_FSYNC;
    return slow_disk.real->xSync(file, flags);
}

static int open_slow(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *ret_flags)
{
    int rc = slow_disk.open(vfs, name, file, flags, ret_flags);
    if (rc == SQLITE_OK && flags & SQLITE_OPEN_WAL) {
        slow_disk.real = file->pMethods;
        slow_disk.slow = *file->pMethods;
        slow_disk.slow.xSync = sync_when_told;
        file->pMethods = &slow_disk.slow;
    }
    return rc;
}

static void insert_on_slow_disk(const char *path, int written_fd, int go_fd)
{
    slow_disk.vfs = *sqlite3_vfs_find(NULL);
    slow_disk.open = slow_disk.vfs.xOpen;
    slow_disk.vfs.xOpen = open_slow;
    slow_disk.vfs.zName = "slow";
    slow_disk.written_fd = written_fd;
    slow_disk.go_fd = go_fd;
    sqlite3_vfs_register(&slow_disk.vfs, 1);
    run_sql(path, "PRAGMA synchronous = FULL; INSERT INTO workflow_run (type) VALUES ('a')");
}

TEST(a_watch_sees_a_commit_whose_sync_takes_long)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    int stop[2], written[2], go[2];
    char path[400], byte;
    CHECK(pipe(stop) == 0 && pipe(written) == 0 && pipe(go) == 0, "no pipe");
    begin_write(rig); /* so that the log is there, and its header synced */
    add(rig, job_of(rig, "a"));
    commit(rig);
    settle(rig, stop[0]);

    snprintf(path, sizeof path, "%s", path_of(rig));
    pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        insert_on_slow_disk(path, written[1], go[0]);
        _exit(0);
    }
    close(go[0]);
    CHECK(read(written[0], &byte, 1) == 1, "the child is gone");
    CHECK(!rig->ops->watch(rig->store, stop[0], 1), "nothing is committed yet");
    close(go[1]); /* now it is, and no more is written */
    check_watch_returns(rig, stop[0]);
    int status;
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
    for (int i = 0; i < 2; i++)
        close(stop[i]), close(written[i]);
}

TEST(a_watch_ends_when_told_to_stop)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    int stop[2];
    CHECK(pipe(stop) == 0, "no pipe");
    settle(rig, stop[0]);
    CHECK(write(stop[1], "x", 1) == 1, "cannot write");
    CHECK(!rig->ops->watch(rig->store, stop[0], -1), "it saw something");
    close(stop[0]);
    close(stop[1]);
}
