/* tests/store/test_sqlite_flow.c - workflows on SQLite: that work does not grow with what waits
 * or with how long an instance is, that a sleeping instance is small, and what tables refuse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"
#include "sqlite_rig.h"
#include "store/event_log.h"
#include "store/sqlite/sqlite_sql.h"

/* ---- Starting ---------------------------------------------------------------------------------
 */

TEST(of_an_id_that_repeats_in_one_call_the_first_is_inserted)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row rows[4];
    enum insert_result results[4];
    for (int i = 0; i < 4; i++)
        rows[i] = instance_of(rig, "w");
    rows[2].id = rows[0].id;
    begin_write(rig);
    MUST(rig, rig->ops->insert_instances(rig->tx, rows, 4, results, &rig->error));
    for (int i = 0; i < 4; i++)
        CHECK_INT(results[i], i == 2 ? INSERT_AGAIN : INSERT_DONE);
    CHECK_INT(rows[2].seq, rows[0].seq);
}

/* ---- Plans ----------------------------------------------------------------------------------
 */

TEST(every_query_of_workflows_searches_its_index)
{
    static const struct {
        const char *name, *sql, *index;
    } queries[] = {
        {"next_task_type", SQL_NEXT_TASK_TYPE,
         "COVERING INDEX idx_workflow_step_ready (is_ready=? AND task_type>? AND task_type<?)"},
        {"next_step_turn", SQL_NEXT_STEP_TURN,
         "COVERING INDEX idx_workflow_step_ready (is_ready=? AND task_type=? AND group=? AND "
         "version>? AND "
         "(version,priority)<(?,?))"},
        {"claim_step_heads", SQL_CLAIM_STEP_HEADS,
         "COVERING INDEX idx_workflow_step_ready (is_ready=? AND task_type=? AND group=? AND "
         "version=? AND "
         "priority=?)"},
        {"next_step_lane", SQL_NEXT_STEP_LANE,
         "SEARCH step USING COVERING INDEX idx_workflow_step_ready (is_ready=? AND task_type=? "
         "AND group>?)"},
        {"read_claimed_step", SQL_READ_CLAIMED_STEP, "SEARCH step USING INTEGER PRIMARY KEY"},
        {"read_step", SQL_READ_STEP, "USING INTEGER PRIMARY KEY (rowid=?)"},
        {"update_step", SQL_UPDATE_STEP, "USING INTEGER PRIMARY KEY (rowid=?)"},
        {"list_steps", SQL_LIST_STEPS, "USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
        {"get_step", SQL_GET_STEP, "USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
        {"list_current_steps", SQL_LIST_CURRENT_STEPS,
         "idx_workflow_step_current (instance_seq=? AND rowid>?)"},
        {"list_shown_steps", SQL_LIST_SHOWN_STEPS,
         "idx_workflow_step_current (instance_seq=? AND rowid>?)"},
        {"list_committed_steps", SQL_LIST_COMMITTED_STEPS,
         "idx_workflow_step_committed (instance_seq=? AND commit_no>? AND commit_no<?)"},
        {"promote_steps", SQL_PROMOTE_STEPS,
         "SEARCH workflow_step USING INDEX "
         "idx_workflow_step_scheduled"},
        {"find_due_steps", SQL_FIND_DUE_STEPS, "idx_workflow_step_leased (due_at<?)"},
        {"find_due_steps", SQL_FIND_DUE_STEPS,
         "idx_workflow_step_timer (due_at>? AND due_at<?)"},
        {"find_due_instances", SQL_FIND_DUE_INSTANCES,
         "idx_workflow_instance_start (start_at<?)"},
        {"find_instance_seq", SQL_FIND_INSTANCE_SEQ, "COVERING INDEX"},
        {"get_instance", SQL_GET_INSTANCE, "(id=?)"},
        {"update_instance", SQL_UPDATE_INSTANCE, "(id=?)"},
        {"update_instance_status", SQL_UPDATE_INSTANCE_STATUS, "(id=?)"},
        {"walk_instances", SQL_WALK_INSTANCES,
         "USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
        {"walk_instances_by_status", SQL_WALK_INSTANCES_BY_STATUS,
         "(status=? AND rowid>? AND rowid<?)"},
        {"walk_instances_by_workflow", SQL_WALK_INSTANCES_BY_WORKFLOW,
         "COVERING INDEX idx_workflow_instance_workflow (workflow=? AND status=? AND rowid>? "
         "AND "
         "rowid<?)"},
        {"find_instance_ids", SQL_FIND_INSTANCE_IDS, "(id>? AND id<?)"},
        {"find_instance_keys", SQL_FIND_INSTANCE_KEYS, "(key>? AND key<?)"},
        {"find_instance_created", SQL_FIND_INSTANCE_CREATED,
         "USING INTEGER PRIMARY KEY (rowid>?)"},
        {"pick_instance", SQL_PICK_INSTANCE, "USING INTEGER PRIMARY KEY (rowid=?)"},
        {"find_known_instance", SQL_FIND_KNOWN_INSTANCE, "(key=? AND workflow=?)"},
        {"find_signal", SQL_FIND_SIGNAL,
         "idx_workflow_signal_untaken (instance_id=? AND event=?)"},
        {"find_known_signal", SQL_FIND_KNOWN_SIGNAL, "(instance_id=? AND id=?)"},
        {"ack_outbox", SQL_ACK_OUTBOX,
         "idx_workflow_outbox_instance (instance_id=? AND rowid<?)"},
        {"find_outbox_earlier", SQL_FIND_OUTBOX_EARLIER,
         "idx_workflow_outbox_instance (instance_id=?)"},
        {"delete_step", SQL_DELETE_STEP, "USING INTEGER PRIMARY KEY (rowid=?)"},
        {"list_logs", SQL_LIST_LOGS, "idx_workflow_log_instance (instance_id=? AND rowid>?)"},
        {"unmark_signals", SQL_UNMARK_SIGNALS, "(instance_id=?)"},
        {"list_decisions", SQL_LIST_DECISIONS,
         "idx_workflow_human_decision_instance (instance_id=? AND rowid>?)"},
        {"list_latest_decisions", SQL_LIST_LATEST_DECISIONS,
         "USING INTEGER PRIMARY KEY (rowid<?)"},
        {"list_undecided", SQL_LIST_UNDECIDED, "idx_workflow_step_undecided (deadline_at>?)"},
        {"list_undecided_without_end", SQL_LIST_UNDECIDED_WITHOUT_END,
         "idx_workflow_step_undecided (deadline_at=? AND rowid>?)"},
        {"close_dlq", SQL_CLOSE_DLQ, "idx_workflow_dlq_instance (instance_id=?)"},
        {"count_instances", SQL_COUNT_INSTANCES, "idx_workflow_instance_status (status=?)"},
        {"list_dlq", SQL_LIST_DLQ, "idx_workflow_dlq_open (id<?)"},
        {"list_dlq_of_instance", SQL_LIST_DLQ_OF_INSTANCE, "(instance_id=? AND rowid<?)"},
        {"list_definitions", SQL_LIST_DEFINITIONS, "((name,version)>(?,?))"},
        {"get_latest_definition", SQL_GET_LATEST_DEFINITION, "(name=?)"},
    };
    cleanup(rig_closep) struct rig *rig = rig_open();
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        const char *plan = plan_of(rig, queries[i].sql);
        CHECK(strstr(plan, queries[i].index), "%s does not use its index:\n%s", queries[i].name,
              plan);
        const char *scan = strstr(plan, "SCAN workflow");
        bool is_of_limits = scan && strncmp(scan, "SCAN workflow_limit\n", 20) == 0;
        CHECK((!scan || is_of_limits) && !strstr(plan, "TEMP B-TREE"), "%s scans or sorts:\n%s",
              queries[i].name, plan);
    }
}

/* These take the first entry of an index or walk one that holds only what is leased, not
 * delivered or not completed. */
TEST(no_query_of_workflows_walks_a_table_without_an_index)
{
    static const struct {
        const char *name, *sql;
    } queries[] = {
        {"next_due", SQL_NEXT_DUE},       {"find_claimed_steps", SQL_FIND_CLAIMED_STEPS},
        {"find_outbox", SQL_FIND_OUTBOX}, {"list_signals", SQL_LIST_SIGNALS},
        {"count_steps", SQL_COUNT_STEPS}, {"count_expired", SQL_COUNT_EXPIRED}};
    cleanup(rig_closep) struct rig *rig = rig_open();
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        const char *plan = plan_of(rig, queries[i].sql);
        CHECK(!strstr(plan, "SCAN workflow_step\n") &&
                  !strstr(plan, "SCAN workflow_instance\n") && !strstr(plan, "SCAN step\n") &&
                  !strstr(plan, "SCAN outbox\n") && !strstr(plan, "SCAN workflow_signal"),
              "%s:\n%s", queries[i].name, plan);
    }
}

/* ---- Work -----------------------------------------------------------------------------------
 */

/* Instances of one ready step each, of several types, priorities and ages. */
static void add_ready(struct rig *rig, int count)
{
    static const char *const types[] = {"a.x", "a.y", "b", "c", "a.off"};
    begin_write(rig);
    for (int i = 0; i < count; i++) {
        struct instance_row instance = new_instance(rig, "w");
        struct step_row row = ready_step(&instance, 0, types[i % 5], 40 + i / 5 % 7);
        row.next_run_at_us -= i * US_PER_MS;
        add_step(rig, row);
    }
    commit(rig);
}

/* Instances that sleep, and steps that will be tried again. */
static void add_timers(struct rig *rig, int count, int64_t due_us)
{
    begin_write(rig);
    for (int i = 0; i < count; i++) {
        struct instance_row instance = new_instance(rig, "w");
        struct step_row sleep = step_of(&instance, 0),
                        again = ready_step(&instance, 1, "b", 50);
        sleep.kind = KIND_SLEEP;
        sleep.status = STEP_WAITING;
        sleep.due_at_us = due_us + i;
        add_step(rig, sleep);
        again.is_ready = false;
        again.due_at_us = due_us + i;
        add_step(rig, again);
    }
    commit(rig);
}

/* So that rows are read as if others had written them. */
static void forget_rows(struct rig *rig)
{
    begin_write(rig);
    roll_back(rig);
}

/* What one round of a committer asks, in steps of SQLite's machine. */
static int steps_of_a_round(struct rig *rig)
{
    static const char *const patterns[] = {"a.%", "b", "z"};
    struct step_claim claim = {.base = {.patterns = patterns, .pattern_count = 3},
                               .aging_rate = 0.5};
    struct step_ref refs[10];
    const char *ids[10];
    size_t count;
    forget_rows(rig);
    begin_write(rig);
    steps_taken(rig);
    next_due(rig);
    MUST(rig, rig->ops->promote_steps(rig->tx, 10, &count, &rig->error));
    MUST(rig, rig->ops->find_due_steps(rig->tx, refs, 10, &count, &rig->error));
    MUST(rig, rig->ops->find_due_instances(rig->tx, ids, 10, &count, &rig->error));
    CHECK_INT(claim_steps_by(rig, 10, claim)->count, 10);
    int steps = steps_taken(rig);
    roll_back(rig);
    return steps;
}

TEST(a_claim_of_steps_costs_the_same_however_much_waits)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct registry_row off = {
        .name = "a.off", .intent_type = "workflow", .runtime = "go", .is_enabled = false};
    begin_write(rig);
    MUST(rig, rig->ops->put_registry(rig->tx, &off, &rig->error));
    commit(rig);
    add_ready(rig, 700);
    add_timers(rig, 30, RIG_START_US + US_PER_MIN);
    int few = steps_of_a_round(rig);
    add_ready(rig, 7000);
    add_timers(rig, 3000, RIG_START_US + US_PER_MIN);
    int many = steps_of_a_round(rig);
    CHECK(many <= few + few / 10, "%d steps with few waiting, %d with many", few, many);
}

/* Ready functions "f" of this version. */
static void add_version(struct rig *rig, int count, int32_t version)
{
    begin_write(rig);
    for (int i = 0; i < count; i++) {
        struct instance_row instance = new_instance(rig, "f");
        struct step_row row = ready_step(&instance, 0, "f", 50);
        row.kind = KIND_FUNCTION;
        row.version = version;
        add_step(rig, row);
    }
    commit(rig);
}

static int steps_of_a_version(struct rig *rig)
{
    struct function_range range = {.name = "f", .from = 2, .to = 3};
    forget_rows(rig);
    begin_write(rig);
    steps_taken(rig);
    CHECK_INT(
        claim_steps_by(rig, 10, (struct step_claim){.functions = &range, .function_count = 1})
            ->count,
        2);
    int steps = steps_taken(rig);
    roll_back(rig);
    return steps;
}

TEST(a_claim_passes_by_any_number_of_functions_that_it_has_no_code_for)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    add_version(rig, 2, 3);
    add_version(rig, 3, 4);
    add_version(rig, 3, 1);
    int few = steps_of_a_version(rig);
    add_version(rig, 3000, 4);
    add_version(rig, 3000, 1);
    int many = steps_of_a_version(rig);
    CHECK(many <= few + few / 10, "%d steps with few others, %d with many", few, many);
}

TEST(steps_to_be_promoted_are_found_behind_any_number_of_due_sleeps)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    size_t count;
    begin_write(rig);
    for (int i = 0; i < 2000; i++) {
        struct instance_row instance = new_instance(rig, "w");
        struct step_row sleep = step_of(&instance, 0);
        sleep.kind = KIND_SLEEP;
        sleep.status = STEP_WAITING;
        sleep.due_at_us = RIG_START_US - 10;
        add_step(rig, sleep);
    }
    commit(rig);
    add_timers(rig, 1, RIG_START_US);
    begin_write(rig);
    steps_taken(rig);
    MUST(rig, rig->ops->promote_steps(rig->tx, 10, &count, &rig->error));
    CHECK_INT(count, 1);
    int steps = steps_taken(rig);
    CHECK(steps < 500, "%d steps", steps);
}

/* A linear plan whose first step is ready. */
static struct instance_row add_plan(struct rig *rig, int32_t length)
{
    struct instance_row instance = new_instance(rig, "w");
    for (int32_t seq = 0; seq < length; seq++) {
        struct step_row row = seq ? step_of(&instance, 0) : ready_step(&instance, 0, "x", 50);
        row.seq = seq;
        row.name = arena_printf(&rig->arena, "s%d", seq);
        row.next = seq + 1 < length ? seq + 1 : -1;
        add_step(rig, row);
    }
    return instance;
}

static void complete(struct rig *rig, struct step_row *row, int64_t commit_no)
{
    row->status = STEP_COMPLETED;
    row->output = "{}";
    row->commit_no = commit_no;
    row->ended_by = row->locked_by;
    row->ended_token = row->token;
    row->locked_by = row->token = NULL;
    row->locked_until_us = row->due_at_us = 0;
    row->finished_at_us = rig->tx->now_us;
}

static void make_ready(struct rig *rig, struct step_row *row)
{
    row->status = STEP_READY;
    row->is_ready = true;
    row->task_type = "x";
    row->input = "{}";
    row->next_run_at_us = rig->tx->now_us;
}

/* What the engine does for a step: claims it, takes its result, makes the next one ready. */
static void run_step(struct rig *rig, const char *id, int32_t seq)
{
    struct step_ref refs[2] = {{id, seq}, {id, seq + 1}};
    struct step_row rows[2], current[4];
    bool is_found[2];
    size_t count;
    struct steps *claimed = claim_steps(rig, 4, "x");
    CHECK_INT(claimed->count, 1);
    CHECK_INT(claimed->rows[0].seq, seq);

    struct instance_row instance = lock_instance(rig, id);
    MUST(rig, rig->ops->lock_steps(rig->tx, refs, 2, rows, is_found, &rig->error));
    MUST(rig, rig->ops->lock_current_steps(rig->tx, id, -1, current, 4, &count, &rig->error));
    CHECK_INT(count, 1);
    complete(rig, &rows[0], ++instance.commits);
    make_ready(rig, &rows[1]);
    MUST(rig, rig->ops->update_steps(rig->tx, rows, 2, &rig->error));
    update_instance(rig, instance);
    MUST(rig, rig->ops->lock_committed_steps(rig->tx, id, INT64_MAX, 0, INT32_MAX, current, 4,
                                             &count, &rig->error));
    CHECK_INT(current[0].seq, seq);
    struct event_row event = {.subject_id = id, .type = "step_completed", .step = "s"};
    MUST(rig, rig->ops->append_events(rig->tx, &event, 1, &rig->error));
}

/* Of one step near the end of a plan, in steps of SQLite's machine. */
static int steps_near_the_end(int32_t length)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = add_plan(rig, length);
    for (int32_t seq = 0; seq < length - 5; seq++)
        run_step(rig, instance.id, seq);
    commit(rig);
    run_elsewhere(rig, "CREATE TABLE t (x)"); /* so that no row is known without looking */
    begin_write(rig);
    steps_taken(rig);
    run_step(rig, instance.id, length - 5);
    return steps_taken(rig);
}

TEST(a_step_costs_the_same_however_long_its_instance_is)
{
    int short_plan = steps_near_the_end(20);
    int long_plan = steps_near_the_end(3000);
    CHECK(long_plan <= short_plan + short_plan / 20, "%d in a short plan, %d in a long one",
          short_plan, long_plan);
}

/* Pages that the latest commit wrote. */
static int pages_written(struct rig *rig)
{
    int pages = 0, unused = 0;
    sqlite3_db_status(db_of(rig->writer), SQLITE_DBSTATUS_CACHE_WRITE, &pages, &unused, 1);
    return pages;
}

TEST(a_new_revision_writes_the_row_and_no_index)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row row = {0};
    begin_write(rig);
    for (int i = 0; i < 500; i++) { /* so that each index has pages of its own */
        row = instance_of(rig, "w");
        row.key = row.id;
        row.is_function = true;
        row.revision = 7;
        row = add_instance(rig, row);
    }
    commit(rig);
    for (int i = 0; i < 2; i++) {
        begin_write(rig);
        row = lock_instance(rig, row.id);
        row.revision++;
        row.places++;
        row.commits++;
        row.is_woken = !row.is_woken;
        row.updated_at_us++;
        pages_written(rig);
        update_instance(rig, row);
        commit(rig);
        CHECK_INT(pages_written(rig), 1);
    }
}

/* ---- Size -----------------------------------------------------------------------------------
 */

static int64_t size_of(struct rig *rig)
{
    struct connection *connection = ((struct sqlite_session *)rig->writer)->connection;
    return connection_int(connection, "PRAGMA page_count", 0) *
           connection_int(connection, "PRAGMA page_size", 0);
}

/* An instance whose first step is done and whose second sleeps, with what the engine notes. */
static void add_sleeper(struct rig *rig)
{
    static const char *const types[] = {"workflow_started", "step_ready", "step_started",
                                        "step_completed", "step_waiting"};
    struct instance_row instance = instance_of(rig, "orders.reminder");
    instance.key = instance.id;
    instance.sleep_count = 1;
    instance.commits = 1;
    instance = add_instance(rig, instance);
    struct step_row first = ready_step(&instance, 0, "orders.mail.v1", 50);
    first.is_ready = false;
    first.locked_by = "worker-1";
    first.token = "0123456789abcdef01";
    complete(rig, &first, 1);
    add_step(rig, first);
    struct step_row sleep = step_of(&instance, 1);
    sleep.kind = KIND_SLEEP;
    sleep.status = STEP_WAITING;
    sleep.due_at_us = sleep.next_run_at_us = rig->tx->now_us + INT64_C(86400) * US_PER_SEC;
    sleep.config = "{\"for\":86400000}";
    add_step(rig, sleep);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct event_row event = {.subject_id = instance.id,
                                  .type = types[i],
                                  .step = i ? "reminder" : NULL,
                                  .data = "{\"status\":\"running\",\"retry_count\":0}"};
        MUST(rig, rig->ops->append_events(rig->tx, &event, 1, &rig->error));
    }
}

TEST(a_sleeping_instance_with_all_that_is_noted_takes_less_than_2_kb)
{
    enum { SLEEPERS = 2000 };
    cleanup(rig_closep) struct rig *rig = rig_open();
    int64_t empty = size_of(rig);
    begin_write(rig);
    for (int i = 0; i < SLEEPERS; i++)
        add_sleeper(rig);
    commit(rig);
    int64_t each = (size_of(rig) - empty) / SLEEPERS;
    CHECK(each < 2048, "each takes %lld bytes", (long long)each);
}

/* ---- Tables ---------------------------------------------------------------------------------
 */

static int run_sql(struct rig *rig, const char *sql)
{
    return sqlite3_exec(db_of(rig->writer), sql, NULL, NULL, NULL);
}

TEST(tables_refuse_what_must_not_be)
{
    static const char *const changes[] = {
        "UPDATE workflow_step SET status = 'finished'",
        "UPDATE workflow_step SET kind = 'loop'",
        "UPDATE workflow_step SET priority = 101",
        "UPDATE workflow_step SET locked_by = 'w', token = 't'",
        "UPDATE workflow_step SET locked_by = 'w', locked_until = 1, is_ready = 0",
        "UPDATE workflow_step SET locked_by = 'w', token = 't', locked_until = 1",
        "UPDATE workflow_step SET is_held = 1",
        "UPDATE workflow_step SET task_type = NULL",
        "UPDATE workflow_step SET status = 'completed', is_current = 0",
        "UPDATE workflow_step SET is_current = 0",
        "UPDATE workflow_step SET commit_no = 0",
        "UPDATE workflow_step SET stop = 6",
        "UPDATE workflow_instance SET is_function = 2",
        "UPDATE workflow_instance SET places = -1",
        "UPDATE workflow_instance SET status = 'asleep'",
        "UPDATE workflow_instance SET active_count = -1",
        "UPDATE workflow_instance SET input = '{'",
    };
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    add_step(rig, ready_step(&instance, 0, "x", 50));
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        CHECK_INT(run_sql(rig, changes[i]), SQLITE_CONSTRAINT_CHECK);
    CHECK_INT(run_sql(rig, "UPDATE workflow_step SET attempts = 1"), SQLITE_OK);
}

/* By a trigger, which the writer runs without: the engine looks at the length itself. */
TEST(a_long_group_of_a_job_is_refused)
{
    static const char insert[] = "INSERT INTO workflow_run (type, \"group\")"
                                 " VALUES ('a', printf('%.*c', 129, 'g'))";
    cleanup(rig_closep) struct rig *rig = rig_open();
    sqlite3 *db = NULL;
    CHECK_INT(sqlite3_open(rig->url + strlen("sqlite:"), &db), SQLITE_OK);
    sqlite3_extended_result_codes(db, 1);
    CHECK_INT(sqlite3_exec(db, insert, NULL, NULL, NULL), SQLITE_CONSTRAINT_TRIGGER);
    run_plain(
        db,
        "INSERT INTO workflow_run (type, \"group\") VALUES ('a', printf('%.*c', 128, 'g'))");
    CHECK_INT(sqlite3_exec(db, "UPDATE workflow_run SET \"group\" = \"group\" || 'g'", NULL,
                           NULL, NULL),
              SQLITE_CONSTRAINT_TRIGGER);
    sqlite3_close(db);
}

/* Only those who have many events are looked for in the table that says where to begin. */
TEST(a_purged_job_with_many_events_leaves_no_place_to_begin)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct connection *connection = ((struct sqlite_session *)rig->writer)->connection;
    struct event_row events[EVENTS_A_POST];
    int64_t next = 0;
    begin_write(rig);
    struct job_row job = lock_one(rig, add(rig, job_of(rig, "a")));
    MUST(rig, rig->ops->number_events(rig->tx, &next, &rig->error));
    for (int i = 0; i < EVENTS_A_POST; i++, job.last_event = next++)
        events[i] = (struct event_row){.id = next,
                                       .subject_id = job.id,
                                       .type = "leased",
                                       .data = "{}",
                                       .prev = job.last_event,
                                       .number = ++job.event_count};
    MUST(rig, rig->ops->append_events(rig->tx, events, EVENTS_A_POST, &rig->error));
    MUST(rig, rig->ops->update_jobs(rig->tx, &job, 1, &rig->error));
    CHECK_INT(connection_int(connection, "SELECT count(*) FROM workflow_event_post", -1), 1);
    purge(rig, LIST_JOBS, &job.id, 1);
    CHECK_INT(connection_int(connection, "SELECT count(*) FROM workflow_event_post", -1), 0);
    CHECK_INT(connection_int(connection, "SELECT count(*) FROM workflow_event_log", -1), 0);
}

TEST(people_see_the_place_of_a_step_and_its_instance)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct connection *connection = ((struct sqlite_session *)rig->writer)->connection;
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    add_step(rig, ready_step(&instance, 7, "x", 50));
    int64_t found = connection_int(connection,
                                   "SELECT count(*) FROM workflow_step AS step"
                                   " JOIN workflow_instance AS instance"
                                   " ON instance.seq = step.instance_seq"
                                   " WHERE instance.workflow = 'w' AND step.seq = 7",
                                   -1);
    CHECK_INT(found, 1);
}

TEST(a_plan_longer_than_an_id_can_say_is_refused)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row row = step_of(&instance, 0);
    row.seq = PLACES_MAX - 1;
    add_step(rig, row);
    row.seq = PLACES_MAX;
    cairn_code code = rig->ops->insert_steps(rig->tx, &row, 1, &rig->error);
    CHECK_INT(code, CAIRN_E_TOO_LARGE);
    CHECK(rig->error.message[0], "nothing is said");
    CHECK_INT(lock_step(rig, instance.id, PLACES_MAX - 1).seq, PLACES_MAX - 1);
}

/* A file as the first version left it. */
static const char *make_first_version(void)
{
    const char *url = scratch_store_of("sqlite");
    sqlite3 *db;
    CHECK(sqlite3_open(url + strlen("sqlite:"), &db) == SQLITE_OK, "%s cannot be opened", url);
    int rc = sqlite3_exec(db, migrations[0].sql, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db,
                          "CREATE TABLE workflow_migration (number INTEGER PRIMARY KEY,"
                          " name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT;"
                          "INSERT INTO workflow_migration VALUES (1, '0001_jobs', 0);"
                          "INSERT INTO workflow_run (id, type) VALUES ('old', 'a');"
                          "INSERT INTO workflow_event (workflow_id, event_type)"
                          " VALUES ('old', 'created')",
                          NULL, NULL, NULL);
    CHECK(rc == SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
    return url;
}

TEST(a_store_of_the_first_version_keeps_its_jobs_and_gains_workflows)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(make_first_version());
    struct event_row events[3];
    size_t count;
    begin_write(rig);
    CHECK_STR(get(rig, "old").type, "a");
    struct instance_row instance = new_instance(rig, "w");
    struct event_row event = {
        .subject_id = instance.id, .type = "step_ready", .step = "s0", .data = "{}"};
    MUST(rig, rig->ops->append_events(rig->tx, &event, 1, &rig->error));
    MUST(rig, rig->ops->list_events(rig->tx, NULL, 0, events, 3, &count, &rig->error));
    CHECK_INT(count, 2);
    CHECK_STR(events[0].subject_id, "old");
    CHECK(!events[0].step, "an old event has a step");
    CHECK_STR(events[1].step, "s0");
    CHECK(events[1].id > events[0].id, "ids go backwards");
}

/* ---- Memory ---------------------------------------------------------------------------------
 */

/* A life of an instance in the store, to its first failure; as in test_sqlite_plan.c. */
static cairn_code live_in(struct store *store, struct store_tx *tx)
{
    const struct store_ops *ops = store->ops;
    struct instance_row instance = {.id = "0190163d-8694-739b-aea5-966c26f8ad91",
                                    .workflow = "w",
                                    .key = "k",
                                    .input = "{}",
                                    .status = INSTANCE_RUNNING,
                                    .generation = 1,
                                    .created_at_us = 1,
                                    .updated_at_us = 1};
    struct instance_row again = instance;
    struct list_filter filter = {.workflow = "w"};
    struct list_end end;
    struct step_row rows[4];
    struct definition_row definition = {
        .name = "w", .version = 1, .hash = "h", .content = "{}", .created_at_us = 1};
    struct signal_row signal = {
        .instance_id = instance.id, .id = "s", .event = "e", .taken_by = -1};
    struct outbox_row outbox = {.instance_id = instance.id, .event = "e", .payload = "{}"};
    struct dlq_row dlq = {
        .instance_id = instance.id, .workflow = "w", .step_name = "s0", .is_open = true};
    struct event_row event = {.subject_id = instance.id, .type = "t", .data = "{}"};
    const char *pattern = "a%", *id = instance.id;
    struct step_claim wish = {.base = {.worker = "w",
                                       .token = "t",
                                       .patterns = &pattern,
                                       .pattern_count = 1,
                                       .lease_until_us = RIG_START_US + 9}};
    struct step_ref ref = {id, 0};
    enum insert_result result;
    enum lock_result lock;
    enum put_result put;
    bool is_found;
    size_t count;
    uint64_t counts[INSTANCE_STATUS_COUNT];
    struct step_counts step_counts;
    struct log_row log = {.instance_id = instance.id, .level = "info", .message = "m"};

    cairn_code code = ops->put_definition(tx, &definition, &put, NULL);
    if (!code)
        code = ops->put_definition(tx, &definition, &put, NULL);
    if (!code)
        code = ops->list_definitions(tx, NULL, 0, &definition, 1, &count, NULL);
    if (!code)
        code = ops->insert_instances(tx, &instance, 1, &result, NULL);
    if (!code)
        code = ops->insert_instances(tx, &again, 1, &result, NULL);
    if (!code)
        code = ops->lock_instances(tx, &id, 1, false, &instance, &lock, NULL);
    struct step_row step = ready_step(&instance, 0, "a.b", 50);
    if (!code)
        code = ops->insert_steps(tx, &step, 1, NULL);
    if (!code)
        code = ops->claim_steps(tx, &wish, rows, 4, &count, NULL);
    if (!code)
        code = ops->find_claimed_steps(tx, "w", "t", rows, 4, &count, NULL);
    if (!code)
        code = ops->lock_steps(tx, &ref, 1, rows, &is_found, NULL);
    if (!code)
        code = ops->update_steps(tx, rows, 1, NULL);
    if (!code)
        code = ops->update_instances(tx, &instance, 1, NULL);
    if (!code)
        code = ops->lock_current_steps(tx, id, -1, rows, 4, &count, NULL);
    if (!code)
        code = ops->get_step(tx, id, "s0", rows, NULL);
    if (!code)
        code = ops->delete_steps(tx, &ref, 1, NULL);
    if (!code)
        code = ops->find_due_steps(tx, &ref, 1, &count, NULL);
    if (!code)
        code = list_instances(tx, &filter, &again, 1, &end, NULL);
    filter = (struct list_filter){.q = "0190", .has = "x", .from_us = 1, .to_us = 2};
    if (!code)
        code = list_instances(tx, &filter, &again, 1, &end, NULL);
    if (!code)
        code = ops->count_instances(tx, counts, NULL);
    if (!code)
        code = ops->count_steps(tx, &step_counts, NULL);
    if (!code)
        code = ops->insert_signal(tx, &signal, &result, NULL);
    if (!code)
        code = ops->find_signal(tx, id, "e", INT64_MAX, &signal, NULL);
    if (!code)
        code = ops->list_signals(tx, &id, 1, 0, &signal, 1, &count, NULL);
    if (!code)
        code = ops->read_steps(tx, &(struct step_ref){id, 0}, 1, rows, &is_found, NULL);
    if (!code)
        code = ops->list_memos(tx, &(struct step_ref){id, 0}, 1, rows, 4, &count, NULL);
    if (!code)
        code = ops->read_instances(tx, &id, 1, &again, &is_found, NULL);
    if (!code)
        code = ops->append_logs(tx, &log, 1, NULL);
    if (!code)
        code = ops->list_logs(tx, id, 0, &log, 1, &count, NULL);
    if (!code)
        code = ops->append_outbox(tx, &outbox, 1, NULL);
    if (!code)
        code = ops->claim_outbox(tx, "w", RIG_START_US, &outbox, 1, &count, NULL);
    if (!code)
        code = ops->append_dlq(tx, &dlq, 1, NULL);
    if (!code)
        code = ops->list_dlq(tx, id, 0, &dlq, 1, &count, NULL);
    if (!code)
        code = ops->append_events(tx, &event, 1, NULL);
    if (!code)
        code = ops->list_events(tx, NULL, 0, &event, 1, &count, NULL);
    return code;
}

static cairn_code live(struct store *store, struct store_session *writer)
{
    struct arena arena = {0};
    struct store_tx *tx = NULL;
    cairn_code code = store->ops->begin(writer, &arena, &tx, NULL);
    if (!code) {
        code = live_in(store, tx);
        store->ops->rollback(tx);
    }
    arena_done(&arena);
    return code;
}

TEST(running_out_of_memory_anywhere_in_a_workflow_is_an_error_and_no_more)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    cairn_code code = CAIRN_E_OUT_OF_MEMORY;
    long allowed = 0;
    for (; code && allowed < 1000; allowed++) {
        mem_fail_after(allowed);
        code = live(rig->store, rig->writer);
        mem_fail_after(-1);
        CHECK(!code || code == CAIRN_E_OUT_OF_MEMORY, "after %ld: %s", allowed,
              cairn_code_name(code));
    }
    CHECK(!code && allowed > 2, "%ld allocations were not enough", allowed);
}
