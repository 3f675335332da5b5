/* tests/spec/test_notice.c - what an engine tells the program that has opened it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/scan.h"
#include "cairn.h"
#include "scratch.h"
#include "server.h"
#include "test.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <time.h>

enum { NOTICES_MAX = 64, PATIENCE_S = 60 };

/* What was told, by threads of the engine. */
struct told {
    pthread_mutex_t lock;
    size_t count;
    struct {
        int level;
        char event[32], json[512];
    } list[NOTICES_MAX];
};

static void take_notice(void *arg, int level, const char *text, const char *json)
{
    struct told *told = arg;
    struct slice object = {0};
    pthread_mutex_lock(&told->lock);
    if (told->count < NOTICES_MAX && text[0] && scan_text(json, strlen(json), &object)) {
        told->list[told->count].level = level;
        slice_unescape(scan_find(object, "event"), told->list[told->count].event, 32);
        snprintf(told->list[told->count].json, 512, "%s", json);
        told->count++;
    }
    pthread_mutex_unlock(&told->lock);
}

/* The number of a notice; -1: it was not told. */
static long long number_in(struct told *told, const char *event, const char *name, int level)
{
    long long found = -1;
    struct slice object = {0};
    int64_t number = 0;
    pthread_mutex_lock(&told->lock);
    for (size_t i = 0; i < told->count && found < 0; i++) {
        const char *json = told->list[i].json;
        if (strcmp(told->list[i].event, event) != 0 || told->list[i].level != level)
            continue;
        found = 0;
        if (name && scan_text(json, strlen(json), &object) &&
            slice_int(scan_find(object, name), &number))
            found = number;
    }
    pthread_mutex_unlock(&told->lock);
    return found;
}

/* Waits until it is told. */
static long long await_notice(struct told *told, const char *event, const char *name, int level)
{
    for (time_t since = time(NULL); time(NULL) - since < PATIENCE_S;) {
        long long number = number_in(told, event, name, level);
        if (number >= 0)
            return number;
        nanosleep(&(struct timespec){.tv_nsec = 5 * 1000 * 1000}, NULL);
    }
    CHECK(false, "%s is not told", event);
    return -1;
}

static cairn_engine *open_told(struct told *told, const char *url)
{
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cairn_engine *engine = NULL;
    cairn_error error;
    *told = (struct told){.lock = PTHREAD_MUTEX_INITIALIZER};
    open.url = url;
    open.retry_ms = 100;
    open.notice = take_notice;
    open.notice_arg = told;
    CHECK_OK(cairn_open(&open, &engine, &error));
    return engine;
}

static void add_job(cairn_engine *engine)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    cairn_error error;
    spec.type = "t.v1";
    CHECK_OK(cairn_enqueue(engine, &spec, 1, NULL, &error));
}

static cairn_page *claim(cairn_engine *engine, uint32_t lease_ms)
{
    const char *types[] = {"t.v1"};
    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    cairn_page *tasks;
    cairn_error error;
    options.worker = "w";
    options.types = types;
    options.type_count = 1;
    options.lease_ms = lease_ms;
    CHECK_OK(cairn_claim(engine, &options, &tasks, &error));
    CHECK_INT(cairn_page_count(tasks), 1);
    return tasks;
}

TEST(a_migration_is_told)
{
    struct told told;
    const char *url = scratch_store_of(scratch_kind()); /* without tables */
    cairn_schema schema = CAIRN_SCHEMA_DEFAULTS;
    cairn_engine *engine = open_told(&told, url);
    CHECK_INT(cairn_schema_get(engine, &schema, NULL), CAIRN_OK);
    CHECK_INT(number_in(&told, "migrated", "from", CAIRN_NOTICE_INFO), 0);
    CHECK_INT(number_in(&told, "migrated", "to", CAIRN_NOTICE_INFO), schema.to);
    cairn_close(engine);
    cairn_close(open_told(&told, url));
    CHECK_INT(told.count, 0);
}

TEST(leases_that_expire_and_reports_that_are_late_are_told)
{
    struct told told;
    cairn_error error;
    cairn_engine *engine = open_told(&told, scratch_store());
    add_job(engine);
    cairn_page *tasks = claim(engine, 1);
    CHECK_INT(await_notice(&told, "leases_expired", "count", CAIRN_NOTICE_WARNING), 1);
    CHECK_INT(cairn_task_complete(engine, "w", cairn_page_task(tasks, 0), "{}", &error),
              CAIRN_E_LEASE_LOST);
    CHECK_INT(await_notice(&told, "late_reports", "count", CAIRN_NOTICE_WARNING), 1);
    cairn_page_free(tasks);
    cairn_close(engine);
}

static sqlite3 *open_file(const char *url)
{
    sqlite3 *db = NULL;
    CHECK_INT(sqlite3_open(url + strlen("sqlite:"), &db), SQLITE_OK);
    sqlite3_busy_timeout(db, PATIENCE_S * 1000);
    return db;
}

static void execute(sqlite3 *db, const char *sql)
{
    CHECK(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
}

TEST(timers_that_are_late_are_told)
{
    struct told told;
    const char *url = scratch_store_of("sqlite");
    cairn_engine *engine = open_told(&told, url);
    add_job(engine);
    cairn_page_free(claim(engine, 60000));
    sqlite3 *db = open_file(url);
    execute(db, "UPDATE workflow_run SET lease_until = lease_until - 120000000");
    sqlite3_close(db);
    long long late_ms = await_notice(&told, "timers_late", "late_ms", CAIRN_NOTICE_WARNING);
    CHECK(late_ms >= 50000 && late_ms < 600000, "%lld ms", late_ms);
    cairn_close(engine);
}

TEST(a_store_that_is_lost_and_found_again_is_told)
{
    struct told told;
    const char *url = scratch_store_of("sqlite"), *file = url + strlen("sqlite:");
    char aside[512];
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    cairn_engine *engine = open_told(&told, url);
    spec.type = "t.v1";
    snprintf(aside, sizeof aside, "%s.aside", file);
    CHECK_INT(rename(file, aside), 0);
    CHECK_INT(cairn_enqueue(engine, &spec, 1, NULL, NULL), CAIRN_E_UNREACHABLE);
    await_notice(&told, "store_lost", NULL, CAIRN_NOTICE_ERROR);
    CHECK_INT(number_in(&told, "store_recovered", NULL, CAIRN_NOTICE_INFO), -1);
    CHECK_INT(rename(aside, file), 0);
    await_notice(&told, "store_recovered", "after_ms", CAIRN_NOTICE_INFO);
    add_job(engine);
    cairn_close(engine);
}

/* The answer goes to whoever asked; the log is where an operator looks. */
TEST(a_store_that_refuses_to_write_is_told_once_a_minute)
{
    struct told told;
    char url[400], payload[20000] = "\"";
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    cairn_code code = CAIRN_OK;
    cairn_page *page;
    bool is_found = false;
    snprintf(url, sizeof url, "sqlite:%s?max_page_count=150", scratch_path(".db"));
    cairn_engine *engine = open_told(&told, url);
    memset(payload + 1, 'x', sizeof payload - 3);
    payload[sizeof payload - 2] = '"';
    spec.type = "t.v1";
    spec.payload = payload;
    for (int i = 0; i < 100 && !code; i++)
        code = cairn_enqueue(engine, &spec, 1, NULL, NULL);
    CHECK_INT(code, CAIRN_E_STORE_FULL);
    CHECK_INT(number_in(&told, "commit_failed", "left_out", CAIRN_NOTICE_ERROR), 0);
    size_t count = told.count;
    CHECK_INT(cairn_enqueue(engine, &spec, 1, NULL, NULL), CAIRN_E_STORE_FULL);
    CHECK_INT(told.count, count);
    CHECK_INT(cairn_doctor(engine, &page, NULL), CAIRN_OK);
    for (size_t i = 0; i < cairn_page_count(page); i++)
        is_found |= strcmp(cairn_page_finding(page, i)->check, "disk") == 0;
    CHECK(is_found, "doctor does not say it");
    cairn_page_free(page);
    cairn_close(engine);
}

TEST(a_server_that_is_lost_and_found_again_is_told)
{
    struct told told;
    struct server server;
    char port[16];
    int64_t now_us;
    const char *store = scratch_store_of("sqlite");
    server_start(&server, store, "0", NULL);
    snprintf(port, sizeof port, "%s", server.port);
    cairn_engine *engine = open_told(&told, server.url);
    server_kill(&server);
    CHECK_INT(cairn_clock_now(engine, &now_us, NULL), CAIRN_E_UNREACHABLE);
    CHECK_INT(number_in(&told, "store_lost", NULL, CAIRN_NOTICE_ERROR), 0);
    server_start(&server, store, port, NULL);
    while (cairn_clock_now(engine, &now_us, NULL))
        ;
    CHECK(number_in(&told, "store_recovered", "after_ms", CAIRN_NOTICE_INFO) >= 0, "not told");
    CHECK_INT(told.count, 2);
    cairn_close(engine);
    server_stop(&server);
}

/* ---- pulled ---------------------------------------------------------------------------------- */

static const char *body_of(const cairn_response *response)
{
    const char *body = response ? cairn_response_body(response, NULL) : NULL;
    return body ? body : "";
}

static size_t count_in(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

static cairn_engine *open_plain(const char *url)
{
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cairn_engine *engine = NULL;
    cairn_error error;
    open.url = url;
    CHECK_OK(cairn_open(&open, &engine, &error));
    return engine;
}

TEST(notices_are_pulled_once)
{
    cairn_response *response = NULL;
    cairn_engine *engine =
        open_plain(scratch_store_of(scratch_kind())); /* without tables: a migration is told */
    CHECK_INT(cairn_notices(engine, &response), 1);
    CHECK_INT(cairn_response_status(response), 200);
    const char *body = body_of(response);
    const char *migrated =
        "{\"notices\":[{\"event\":\"migrated\",\"level\":\"info\",\"from\":0";
    CHECK(strncmp(body, migrated, strlen(migrated)) == 0, "%s", body);
    CHECK(strstr(body, "],\"dropped\":0}"), "%s", body);
    cairn_response_free(response);
    CHECK_INT(cairn_notices(engine, &response), 0);
    CHECK(!response, "there is none");
    cairn_close(engine);
}

/* A commit that is slow is told, too, so there may be more than one notice for each report. */
TEST(the_newest_notices_are_kept)
{
    enum { LATE = 70, KEPT = 64 };
    cairn_response *response;
    cairn_engine *engine = open_plain(scratch_store());
    cairn_task task = {.id = "00000000-0000-4000-8000-000000000000", .token = "t"};
    int dropped = 0;
    for (int i = 0; i < LATE; i++)
        CHECK_INT(cairn_task_complete(engine, "w", &task, "{}", NULL), CAIRN_E_LEASE_LOST);
    CHECK_INT(cairn_notices(engine, &response), KEPT);
    const char *body = body_of(response);
    const char *end = strstr(body, "],\"dropped\":");
    CHECK_INT(count_in(body, "\"event\":"), KEPT);
    CHECK(end && sscanf(end, "],\"dropped\":%d}", &dropped) == 1, "%s", body);
    CHECK(dropped >= LATE - KEPT, "%d were dropped", dropped);
    cairn_response_free(response);
    cairn_close(engine);
}
