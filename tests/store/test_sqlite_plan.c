/* tests/store/test_sqlite_plan.c - that work on SQLite does not grow with what waits, and that
 * running out of memory is survived anywhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sqlite_rig.h"
#include "store/sqlite/sqlite_sql.h"

/* ---- Plans ----------------------------------------------------------------------------------
 */

TEST(every_query_of_the_hot_path_searches_its_index)
{
    static const struct {
        const char *name, *sql, *index;
    } queries[] = {
        {"claim_heads", SQL_CLAIM_HEADS,
         "SEARCH workflow_run USING INDEX idx_workflow_run_claim"},
        {"next_type", SQL_NEXT_TYPE, "SEARCH workflow_run USING INDEX idx_workflow_run_claim"},
        {"read_job", SQL_READ_JOB, "USING INTEGER PRIMARY KEY (rowid=?)"},
        {"claim_rows", SQL_CLAIM_ROWS,
         "SEARCH workflow_run USING INDEX idx_workflow_run_claim"},
        {"lease_jobs", SQL_LEASE_JOBS, "USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
        {"complete_jobs", SQL_COMPLETE_JOBS, "USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
        {"update_job", SQL_UPDATE_JOB, "USING INTEGER PRIMARY KEY (rowid=?)"},
        {"postpone_job", SQL_POSTPONE_JOB, "USING INTEGER PRIMARY KEY (rowid=?)"},
        {"promote_jobs", SQL_PROMOTE_JOBS,
         "SEARCH workflow_run USING INDEX idx_workflow_run_scheduled"},
        {"lock_expired_jobs", SQL_LOCK_EXPIRED_JOBS,
         "SEARCH workflow_run USING INDEX idx_workflow_run_leased"},
        {"count_expired", SQL_COUNT_EXPIRED,
         "SEARCH workflow_run USING INDEX idx_workflow_run_leased"},
        {"lock_job", SQL_LOCK_JOB, "(id=?)"},
        {"get_job", SQL_GET_JOB, "(id=?)"},
        {"walk_jobs", SQL_WALK_JOBS, "USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
        {"find_job_keys", SQL_FIND_JOB_KEYS, "idx_workflow_run_idempotency"},
        {"find_job_ids", SQL_FIND_JOB_IDS, "(id>? AND id<?)"},
        {"find_job_seq", SQL_FIND_JOB_SEQ, "COVERING INDEX"},
        {"count_completed_instances", SQL_COUNT_COMPLETED_INSTANCES,
         "COVERING INDEX idx_workflow_instance_workflow (workflow=? AND status=?)"},
        {"find_job_created", SQL_FIND_JOB_CREATED, "USING INTEGER PRIMARY KEY (rowid>?)"},
        {"pick_job", SQL_PICK_JOB, "USING INTEGER PRIMARY KEY (rowid=?)"},
        {"walk_unsuccessful_jobs", SQL_WALK_UNSUCCESSFUL_JOBS,
         "idx_workflow_run_unsuccessful (status=? AND rowid>? AND rowid<?)"},
        {"find_known_job", SQL_FIND_KNOWN_JOB, "idx_workflow_run_idempotency"},
        {"list_registry", SQL_LIST_REGISTRY, "(workflow_name>?)"},
        {"scan_past_jobs", SQL_SCAN_PAST_JOBS, "USING INTEGER PRIMARY KEY (rowid>?)"},
        {"scan_past_instances", SQL_SCAN_PAST_INSTANCES,
         "SEARCH i USING INTEGER PRIMARY KEY (rowid>?)"},
        {"purge_steps", SQL_PURGE_STEPS, "USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
        {"purge_loose", SQL_PURGE_LOOSE, "(workflow_id=?)"},
        {"purge_posts", SQL_PURGE_POSTS, "(workflow_id=?)"},
        {"purge_signals", SQL_PURGE_SIGNALS, "(instance_id=?)"},
        {"purge_outbox", SQL_PURGE_OUTBOX, "(instance_id=?)"},
        {"purge_decisions", SQL_PURGE_DECISIONS, "(instance_id=?)"},
        {"purge_dlq", SQL_PURGE_DLQ, "(instance_id=?)"},
        {"purge_logs", SQL_PURGE_LOGS, "(instance_id=?)"},
        {"purge_intake", SQL_PURGE_INTAKE, "idx_workflow_intake_instance (instance_id=?)"},
        {"purge_marks", SQL_PURGE_MARKS, "(id=?)"},
        {"purge_step_children", SQL_PURGE_STEP_CHILDREN, "(instance_id=?)"},
        {"purge_elements", SQL_PURGE_ELEMENTS, "(instance_id=?)"},
        {"purge_jobs", SQL_PURGE_JOBS, "USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
        {"purge_instances", SQL_PURGE_INSTANCES,
         "USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
    };
    cleanup(rig_closep) struct rig *rig = rig_open();
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        const char *plan = plan_of(rig, queries[i].sql);
        CHECK(strstr(plan, queries[i].index), "%s does not use its index:\n%s", queries[i].name,
              plan);
        /* Limits are few, and mostly none. */
        const char *scan = strstr(plan, "SCAN workflow");
        bool is_of_limits = scan && strncmp(scan, "SCAN workflow_limit\n", 20) == 0;
        CHECK((!scan || is_of_limits) && !strstr(plan, "TEMP B-TREE"), "%s scans or sorts:\n%s",
              queries[i].name, plan);
    }
}

/* Every portion of a sweep asks for them, and mostly there are none. */
TEST(marks_of_purges_are_sorted_and_no_other_instance_is_looked_at)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    const char *plan = plan_of(rig, SQL_LIST_BEGUN_PURGES);
    CHECK(strstr(plan, "SCAN g\n") && !strstr(plan, "SCAN i"), "%s", plan);
}

TEST(events_are_found_by_their_chain_and_by_indexes)
{
#define LOG "SEARCH workflow_event_log USING INTEGER PRIMARY KEY (rowid=?)"
#define POST "SEARCH workflow_event_post USING"
    static const struct {
        const char *sql, *found_by[3];
    } queries[] = {
        {SQL_FIRST_EVENT, {POST, "SEARCH workflow_run", "SEARCH workflow_instance"}},
        {SQL_FIRST_EVENT_BEFORE, {POST, "SEARCH workflow_run", "SEARCH workflow_instance"}},
        {SQL_EVENT_LINKS, {LOG}},
        {SQL_EVENT_SAID, {LOG}},
        {SQL_LIST_LOOSE, {"(workflow_id=? AND rowid>?)"}},
        {SQL_LIST_LOOSE_BEFORE, {"(workflow_id=? AND rowid<?)"}},
        {SQL_LIST_ALL_EVENTS,
         {"SEARCH o USING INTEGER PRIMARY KEY (rowid>?)",
          "SEARCH workflow_event_loose USING INTEGER PRIMARY KEY (rowid>?)", "SCAN slot"}},
    };
    cleanup(rig_closep) struct rig *rig = rig_open();
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        const char *plan = plan_of(rig, queries[i].sql);
        for (size_t k = 0; k < 3 && queries[i].found_by[k]; k++)
            CHECK(strstr(plan, queries[i].found_by[k]), "%s is not in\n%s",
                  queries[i].found_by[k], plan);
        CHECK(!strstr(plan, "SCAN workflow"), "a table is scanned:\n%s", plan);
    }
}

/* Beside the candidates themselves, of which there are few, nothing is walked or sorted. */
TEST(a_claim_of_the_outbox_walks_what_is_fresh_and_what_is_due)
{
    static const char *const queries[] = {SQL_DEFER_OUTBOX, SQL_FIND_OUTBOX};
    static const char *const walked[] = {"idx_workflow_outbox_fresh",
                                         "idx_workflow_outbox_due (claimed_until",
                                         "idx_workflow_outbox_instance (instance_id=?"};
    cleanup(rig_closep) struct rig *rig = rig_open();
    for (size_t i = 0; i < 2; i++) {
        const char *plan = plan_of(rig, queries[i]);
        for (size_t k = 0; k < 3; k++)
            CHECK(strstr(plan, walked[k]), "%s is not in\n%s", walked[k], plan);
        CHECK(!strstr(plan, "idx_workflow_outbox_open") && !strstr(plan, "SCAN outbox\n"),
              "too much is walked:\n%s", plan);
    }
}

/* These take the first entry of an index, or sort one that holds only what is leased or, below
 * a limit, pending: the table itself is never walked. */
TEST(no_query_walks_the_table_without_an_index)
{
    static const struct {
        const char *name, *sql;
    } queries[] = {{"next_due", SQL_NEXT_DUE},
                   {"find_claimed", SQL_FIND_CLAIMED},
                   {"count_jobs", SQL_COUNT_JOBS},
                   {"count_few_pending", SQL_COUNT_FEW_PENDING},
                   {"walk_leased_jobs", SQL_WALK_LEASED_JOBS},
                   {"walk_few_pending_jobs", SQL_WALK_FEW_PENDING_JOBS},
                   {"list_types", SQL_LIST_TYPES}};
    cleanup(rig_closep) struct rig *rig = rig_open();
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        const char *plan = plan_of(rig, queries[i].sql);
        CHECK(!strstr(plan, "SCAN workflow_run\n"), "%s:\n%s", queries[i].name, plan);
    }
}

/* ---- Rows as spec/rows.txt describes them ---------------------------------------------------
 */

TEST(every_column_of_a_row_is_in_its_table_with_its_type)
{
    static const struct row_type *const types[] = {
        &job_row_type,    &instance_row_type, &step_row_type,      &signal_row_type,
        &outbox_row_type, &decision_row_type, &dlq_row_type,       &event_row_type,
        &log_row_type,    &registry_row_type, &definition_row_type};
    cleanup(rig_closep) struct rig *rig = rig_open();
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (size_t c = 0; c < types[i]->count; c++) {
            const struct column *column = &types[i]->columns[c];
            bool is_text = column_is_text(column) && column->kind != CODE_COLUMN;
            const char *type = "";
            if (column->flags & COLUMN_POSTGRES_ONLY)
                continue;
            sqlite3_table_column_metadata(db_of(rig->writer), "main", types[i]->table,
                                          column->name, &type, NULL, NULL, NULL, NULL);
            CHECK(type && strncmp(type, is_text ? "TEXT" : "INTEGER", 4) == 0, "%s.%s is %s",
                  types[i]->table, column->name, type ? type : "nothing");
        }
}

/* ---- Steps of SQLite's machine, which unlike time are the same at each run -------------------
 */

static void add_many(struct rig *rig, const char *type, int count, bool is_ready)
{
    begin_write(rig);
    for (int i = 0; i < count; i++) {
        struct job_row row = job_of(rig, type);
        row.is_ready = is_ready;
        row.run_at_us += is_ready ? 0 : US_PER_MIN + i;
        row.priority = 100 + i % 7;
        add(rig, row);
    }
    commit(rig);
}

/* What one round of a committer asks, in steps. */
static int steps_of_a_round(struct rig *rig)
{
    size_t count;
    begin_write(rig);
    steps_taken(rig);
    next_due(rig);
    MUST(rig, rig->ops->promote_jobs(rig->tx, 10, &count, &rig->error));
    MUST(rig, rig->ops->lock_expired_jobs(rig->tx, rig->rows, 10, &count, &rig->error));
    CLAIM(rig, 10, "a.%", "b", "z");
    int steps = steps_taken(rig);
    CHECK_INT(rig->count, 10);
    roll_back(rig);
    return steps;
}

TEST(a_claim_costs_the_same_however_much_waits)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct registry_row off = {
        .name = "a.off", .intent_type = "workflow", .runtime = "go", .is_enabled = false};
    begin_write(rig);
    MUST(rig, rig->ops->put_registry(rig->tx, &off, &rig->error));
    commit(rig);
    static const char *const types[] = {"a.x", "a.y", "b", "c", "a.off"};
    for (int i = 0; i < 5; i++)
        add_many(rig, types[i], 30, true);
    add_many(rig, "a.x", 30, false);
    int few = steps_of_a_round(rig);
    for (int i = 0; i < 5; i++)
        add_many(rig, types[i], 3000, true);
    add_many(rig, "a.x", 3000, false);
    int many = steps_of_a_round(rig);
    CHECK(many <= few + few / 10, "%d steps with few jobs, %d with many", few, many);
}

TEST(listing_what_waits_behind_a_long_past_is_cheap)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const enum job_status asked[] = {JOB_PENDING, JOB_LEASED, JOB_FAILED, JOB_CANCELLED};
    begin_write(rig);
    const char *id = add(rig, job_of(rig, "a"));
    for (int i = 0; i < 3000; i++) {
        struct job_row row = job_of(rig, "a");
        row.status = JOB_SUCCEEDED;
        row.is_ready = false;
        add(rig, row);
    }
    for (int i = 0; i < 4; i++) {
        steps_taken(rig);
        list(rig, (struct list_filter){.statuses = STATUS_BIT(asked[i])}, 9);
        CHECK_INT(rig->count, i == 0);
        int steps = steps_taken(rig);
        CHECK(steps < 500, "%d steps for %s", steps, job_status_name(asked[i]));
    }
    list(rig, (struct list_filter){.statuses = STATUS_BIT(JOB_PENDING)}, 9);
    CHECK_ROWS(rig, id);
}

TEST(a_long_backlog_is_listed_from_its_newest)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    add_many(rig, "a", 10001, true); /* more than list_jobs() sorts */
    begin_write(rig);
    const char *last = add(rig, job_of(rig, "b"));
    list(rig, (struct list_filter){.statuses = STATUS_BIT(JOB_PENDING)}, 9);
    CHECK_INT(rig->count, 9);
    CHECK_STR(rig->rows[0].id, last);
    CHECK(rig->rows[0].seq == rig->rows[8].seq + 8, "jobs are missing between");
    list(rig, (struct list_filter){.statuses = STATUS_BIT(JOB_PENDING), .pattern = "b%"}, 9);
    CHECK_ROWS(rig, last);
}

/* ---- Memory ---------------------------------------------------------------------------------
 */

/* A life in the store, to its first failure.  Only codes are looked at: what is checked is that
 * nothing breaks. */
static cairn_code live(const char *url)
{
    struct clock clock;
    struct store *store = NULL;
    struct store_session *writer = NULL;
    struct store_tx *tx = NULL;
    struct arena arena = {0};
    struct job_row rows[4];
    enum insert_result results[1];
    enum lock_result locks[1];
    size_t count = 0;
    const char *pattern = "a%";
    clock_init_virtual(&clock, RIG_START_US);
    struct store_config config = {.url = url, .clock = &clock, .lock_wait_ms = 50};
    struct job_row row = {.id = "0190163d-8694-739b-aea5-966c26f8ad91",
                          .type = "a.b",
                          .payload = "{}",
                          .key = "k",
                          .status = JOB_PENDING,
                          .is_ready = true,
                          .max_attempts = 3,
                          .run_at_us = 1,
                          .created_at_us = 1,
                          .updated_at_us = 1};
    struct job_claim wish = {.worker = "w",
                             .token = "t",
                             .patterns = &pattern,
                             .pattern_count = 1,
                             .lease_until_us = RIG_START_US + 9};
    struct list_filter filter = {.pattern = pattern};
    struct list_end end;
    const char *id = row.id;

    cairn_code code = store_open(&config, &store, NULL);
    if (!code)
        code = store->ops->session_open(store, SESSION_WRITER, &writer, NULL);
    if (!code)
        code = store->ops->begin(writer, &arena, &tx, NULL);
    if (!code)
        code = store->ops->insert_jobs(tx, &row, 1, results, NULL);
    if (!code)
        code = store->ops->claim_jobs(tx, &wish, rows, 4, &count, NULL);
    if (!code)
        code = store->ops->lock_jobs(tx, &id, 1, false, rows, locks, NULL);
    if (!code)
        code = store->ops->update_jobs(tx, rows, 1, NULL);
    if (!code)
        code = list_jobs(tx, &filter, rows, 4, &end, NULL);
    if (!code)
        code = store->ops->find_claimed(tx, "w", "t", rows, 4, &count, NULL);
    if (tx)
        store->ops->rollback(tx);
    if (writer)
        store->ops->session_close(writer);
    if (store)
        store->ops->close(store);
    arena_done(&arena);
    return code;
}

TEST(running_out_of_memory_anywhere_is_an_error_and_no_more)
{
    const char *url = scratch_store();
    cairn_code code = CAIRN_E_OUT_OF_MEMORY;
    long allowed = 0;
    for (; code && allowed < 1000; allowed++) {
        mem_fail_after(allowed);
        code = live(url);
        mem_fail_after(-1);
        CHECK(!code || code == CAIRN_E_OUT_OF_MEMORY, "after %ld: %s", allowed,
              cairn_code_name(code));
    }
    CHECK(!code && allowed > 5, "%ld allocations were not enough", allowed);
}

/* ---- Pages of a long history ----------------------------------------------------------------
 */

/* A job with so many events, each of a commit of its own. */
static const char *add_history(struct rig *rig, int count)
{
    begin_write(rig);
    const char *id = add(rig, job_of(rig, "a"));
    commit(rig);
    const char *sql = arena_printf(
        &rig->arena,
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < %d)"
        "INSERT INTO workflow_event_log (id, at, prev, said, ids) SELECT n, n,"
        " CAST(printf('%%016d', (n - 1) << 12) AS BLOB), '[[\"heartbeat\",null,{}]]',"
        " json_array('%s') FROM n;"
        "INSERT INTO workflow_event_post SELECT '%s', id << 12 FROM workflow_event_log"
        " WHERE id %% 100 = 0;"
        "UPDATE workflow_run SET last_event = %d << 12, event_count = %d",
        count, id, id, count, count);
    CHECK(sqlite3_exec(db_of(rig->writer), sql, NULL, NULL, NULL) == SQLITE_OK, "%s",
          sqlite3_errmsg(db_of(rig->writer)));
    return id;
}

static void set_last_event(struct rig *rig, const char *id, int64_t event)
{
    const char *sql =
        arena_printf(&rig->arena, "UPDATE workflow_run SET last_event = %lld WHERE id = '%s'",
                     (long long)event, id);
    CHECK(sqlite3_exec(db_of(rig->writer), sql, NULL, NULL, NULL) == SQLITE_OK, "%s",
          sqlite3_errmsg(db_of(rig->writer)));
}

/* The steps that a page takes, at the end or somewhere in between. */
static int steps_of_page(struct rig *rig, const char *id, int64_t cursor, bool is_newest,
                         int64_t wanted)
{
    struct event_row rows[ROWS_MAX];
    size_t count;
    begin_write(rig);
    steps_taken(rig);
    MUST(rig, is_newest ? rig->ops->list_events_before(rig->tx, id, cursor << EVENT_SLOT_BITS,
                                                       rows, 50, &count, &rig->error)
                        : rig->ops->list_events(rig->tx, id, cursor << EVENT_SLOT_BITS, rows,
                                                50, &count, &rig->error));
    int steps = steps_taken(rig);
    CHECK_INT(count, 50);
    CHECK_INT(rows[0].id >> EVENT_SLOT_BITS, wanted);
    commit(rig);
    return steps;
}

TEST(a_page_of_a_long_history_costs_what_it_holds)
{
    int few[6], many[6];
    for (int round = 0; round < 2; round++) {
        cleanup(rig_closep) struct rig *rig = rig_open();
        int all = round ? 20000 : 400;
        int *steps = round ? many : few;
        const char *id = add_history(rig, all);
        steps[0] = steps_of_page(rig, id, 0, false, 1);
        steps[1] = steps_of_page(rig, id, all / 2, false, all / 2 + 1);
        steps[2] = steps_of_page(rig, id, all - 50, false, all - 49);
        steps[3] = steps_of_page(rig, id, 0, true, all);
        steps[4] = steps_of_page(rig, id, all / 2, true, all / 2 - 1);
        steps[5] = steps_of_page(rig, id, 51, true, 50);
    }
    for (int i = 0; i < 6; i++)
        CHECK(many[i] < few[i] * 2, "page %d takes %d steps of 20,000 events and %d of 400", i,
              many[i], few[i]);
}

/* A row of the log is loaded whole, however few of its slots are wanted: so it is loaded once for a page. */
TEST(a_page_of_events_of_one_commit_loads_their_row_once)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct event_row events[250];
    int64_t first;
    const char *id = add_history(rig, 100);
    int apart = steps_of_page(rig, id, 0, false, 1);
    begin_write(rig);
    id = add(rig, job_of(rig, "a"));
    MUST(rig, rig->ops->number_events(rig->tx, &first, &rig->error));
    for (int i = 0; i < 250; i++)
        events[i] = (struct event_row){.id = first + i,
                                       .prev = i ? first + i - 1 : 0,
                                       .number = i + 1,
                                       .subject_id = id,
                                       .type = "heartbeat",
                                       .data = arena_printf(&rig->arena, "{\"n\":%d}", i)};
    MUST(rig, rig->ops->append_events(rig->tx, events, 250, &rig->error));
    commit(rig);
    set_last_event(rig, id, first + 249);
    int together = steps_of_page(rig, id, 0, false, first >> EVENT_SLOT_BITS);
    CHECK(together * 5 < apart, "%d steps for 50 events of a commit, %d for 50 commits",
          together, apart);
}

/* The histories above have theirs from the test itself. */
TEST(every_hundredth_event_has_a_post)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct event_row events[250];
    int64_t first;
    begin_write(rig);
    const char *id = add(rig, job_of(rig, "a"));
    MUST(rig, rig->ops->number_events(rig->tx, &first, &rig->error));
    for (int i = 0; i < 250; i++)
        events[i] = (struct event_row){.id = first + i,
                                       .prev = i ? first + i - 1 : 0,
                                       .number = i + 1,
                                       .subject_id = id,
                                       .type = "heartbeat",
                                       .data = "{}"};
    MUST(rig, rig->ops->append_events(rig->tx, events, 250, &rig->error));
    commit(rig);
    sqlite3_stmt *posts;
    CHECK_INT(sqlite3_prepare_v2(db_of(rig->writer),
                                 "SELECT count(*), min(event_id), max(event_id)"
                                 " FROM workflow_event_post WHERE workflow_id = ?1",
                                 -1, &posts, NULL),
              SQLITE_OK);
    sqlite3_bind_text(posts, 1, id, -1, SQLITE_STATIC);
    CHECK_INT(sqlite3_step(posts), SQLITE_ROW);
    int64_t seen[3] = {sqlite3_column_int64(posts, 0), sqlite3_column_int64(posts, 1),
                       sqlite3_column_int64(posts, 2)};
    sqlite3_finalize(posts);
    CHECK_INT(seen[0], 2);
    CHECK_INT(seen[1], first + 99);
    CHECK_INT(seen[2], first + 199);
}

/* Plain SQL that names a job reads that job's events alone. */
TEST(the_view_of_one_job_walks_its_chain)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    const char *id = add_history(rig, 300);
    for (int i = 0; i < 300; i++) {
        begin_write(rig);
        add(rig, job_of(rig, "b"));
        commit(rig);
    }
    const char *sql = arena_printf(
        &rig->arena, "SELECT count(*) FROM workflow_event WHERE workflow_id = '%s'", id);
    const char *plan = plan_of(rig, sql);
    CHECK(!strstr(plan, "SCAN workflow_run") && !strstr(plan, "SCAN workflow_instance") &&
              !strstr(plan, "SCAN workflow_event_"),
          "%s", plan);
    CHECK_INT(connection_int(((struct sqlite_session *)rig->writer)->connection, sql, -1), 300);
}
