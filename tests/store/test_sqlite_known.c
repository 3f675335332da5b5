/* tests/store/test_sqlite_known.c - rows that a writer need not read again (store/sqlite/known.h): that it
 * does not, and that it always answers what the file has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"
#include "sqlite_rig.h"

static struct instance_row start(struct rig *rig)
{
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    add_step(rig, step_of(&instance, 0));
    commit(rig);
    return instance;
}

TEST(a_row_that_was_written_is_not_read_again)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row instance = start(rig);
    begin_write(rig);
    steps_taken(rig);
    struct instance_row seen = lock_instance(rig, instance.id);
    struct step_row step = lock_step(rig, instance.id, 0);
    CHECK_INT(steps_taken(rig), 0);
    CHECK_INT(seen.seq, instance.seq);
    CHECK_TEXT(step.name, "s0");
    CHECK_TEXT(step.instance_id, instance.id);
    CHECK_TEXT(step.group, ""); /* as the table has it */
}

TEST(a_step_that_was_written_is_claimed_without_reading_it)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row made = ready_step(&instance, 0, "mail", 50);
    add_step(rig, made);
    commit(rig);
    begin_write(rig);
    struct steps *steps = claim_steps(rig, 9, "mail");
    CHECK_STEPS(steps, "s0");
    CHECK_TEXT(steps->rows[0].instance_id, instance.id);
    check_step_planned(&steps->rows[0], &made);
    const struct sqlite_session *session = (const struct sqlite_session *)rig->writer;
    CHECK(!session->statements[Q_READ_CLAIMED_STEP].handle, "it was read");
    commit(rig);
    begin_read(rig);
    CHECK_TEXT(get_step(rig, instance.id, "s0").locked_by, "w");
}

/* What was asked for by its place is known without its instance's id, which a task needs. */
TEST(a_step_that_was_locked_is_claimed_with_its_instance)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    add_step(rig, ready_step(&instance, 0, "mail", 50));
    commit(rig);
    run_elsewhere(rig, "UPDATE workflow_step SET updated_at = updated_at + 1");
    begin_write(rig);
    lock_step(rig, instance.id, 0);
    struct steps *steps = claim_steps(rig, 9, "mail");
    CHECK_STEPS(steps, "s0");
    CHECK_TEXT(steps->rows[0].instance_id, instance.id);
}

TEST(a_row_as_it_is_costs_no_statement)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row instance = start(rig);
    begin_write(rig);
    struct instance_row seen = lock_instance(rig, instance.id);
    struct step_row step = lock_step(rig, instance.id, 0);
    steps_taken(rig);
    update_instance(rig, seen);
    update_step(rig, step);
    CHECK_INT(steps_taken(rig), 0);
}

TEST(what_does_not_change_is_not_written)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row instance = start(rig);
    begin_write(rig);
    struct instance_row seen = lock_instance(rig, instance.id);
    run_plain(db_of(rig->writer),
              "CREATE TEMP TABLE written (name TEXT);"
              "CREATE TEMP TRIGGER a AFTER UPDATE OF status ON main.workflow_instance BEGIN"
              " INSERT INTO written VALUES ('status'); END;"
              "CREATE TEMP TRIGGER b AFTER UPDATE OF commits ON main.workflow_instance BEGIN"
              " INSERT INTO written VALUES ('commits'); END;");
    seen.commits++;
    update_instance(rig, seen);
    struct connection *connection = ((struct sqlite_session *)rig->writer)->connection;
    CHECK_INT(connection_int(connection, "SELECT count(*) FROM written", -1), 1);
    CHECK_INT(
        connection_int(connection, "SELECT count(*) FROM written WHERE name = 'commits'", -1),
        1);
}

TEST(another_connection_is_noticed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row instance = start(rig);
    run_elsewhere(rig, "UPDATE workflow_instance SET commits = 77;"
                       "UPDATE workflow_step SET attempts = 78");
    begin_write(rig);
    CHECK_INT(lock_instance(rig, instance.id).commits, 77);
    CHECK_INT(lock_step(rig, instance.id, 0).attempts, 78);
}

TEST(statements_of_the_same_connection_are_noticed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row instance = start(rig);
    begin_write(rig);
    run_plain(db_of(rig->writer), "UPDATE workflow_instance SET commits = 77;"
                                  "UPDATE workflow_step SET attempts = 78");
    CHECK_INT(lock_instance(rig, instance.id).commits, 77);
    CHECK_INT(lock_step(rig, instance.id, 0).attempts, 78);
    run_plain(db_of(rig->writer), "DELETE FROM workflow_step WHERE id > 0");
    struct step_ref ref = {instance.id, 0};
    struct step_row row;
    bool is_found = true;
    MUST(rig, rig->ops->lock_steps(rig->tx, &ref, 1, &row, &is_found, &rig->error));
    CHECK(!is_found, "a step that was deleted");
}

TEST(what_was_rolled_back_is_forgotten)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row instance = start(rig);
    begin_write(rig);
    struct instance_row seen = lock_instance(rig, instance.id);
    struct step_row step = lock_step(rig, instance.id, 0);
    seen.commits = 77;
    step.attempts = 78;
    update_instance(rig, seen);
    update_step(rig, step);
    struct instance_row other = new_instance(rig, "w");
    roll_back(rig);
    begin_write(rig);
    CHECK_INT(lock_instance(rig, instance.id).commits, instance.commits);
    CHECK_INT(lock_step(rig, instance.id, 0).attempts, 0);
    const char *ids[] = {other.id};
    struct instance_row row;
    enum lock_result result = LOCK_DONE;
    MUST(rig, rig->ops->lock_instances(rig->tx, ids, 1, true, &row, &result, &rig->error));
    CHECK_INT(result, LOCK_ABSENT);
}

/* Rows, some larger than are kept, are changed by all who can, one by one and many at a time; after each commit
 * the writer answers what a reader, who knows nothing, reads. */
enum { INSTANCES = 40, TURNS = 2000 };

static char *text_of(struct rig *rig)
{
    size_t len =
        rng_below(&rig->rng, 8) ? rng_below(&rig->rng, 40) : 3000 + rng_below(&rig->rng, 3000);
    char *text = arena_alloc(&rig->arena, len + 3);
    memset(text, 'a' + (int)rng_below(&rig->rng, 26), len + 2);
    text[0] = text[len + 1] = '"';
    text[len + 2] = '\0';
    return text;
}

static struct instance_row changed_instance(struct rig *rig, const char *id, uint64_t how)
{
    struct instance_row row = lock_instance(rig, id);
    switch (how) {
    case 0:
        row.commits++;
        row.updated_at_us++;
        break;
    case 1:
        row.output = rng_below(&rig->rng, 2) ? text_of(rig) : NULL;
        break;
    case 2:
        row.status = row.status == INSTANCE_RUNNING ? INSTANCE_PAUSED : INSTANCE_RUNNING;
        row.undo_first = (int32_t)rng_below(&rig->rng, 3) - 1;
        break;
    default:
        row.stop_by = rng_below(&rig->rng, 2) ? "somebody" : NULL;
        row.is_dlq = !row.is_dlq;
    }
    return row;
}

static struct step_row changed_step(struct rig *rig, const char *id, uint64_t how)
{
    struct step_row row = lock_step(rig, id, 0);
    switch (how) {
    case 0:
        row.attempts++;
        break;
    case 1:
        row.output = rng_below(&rig->rng, 2) ? text_of(rig) : NULL;
        row.commit_no++;
        break;
    case 2:
        row.locked_by = row.locked_by ? NULL : "w";
        row.token = row.locked_by ? "t" : NULL;
        row.locked_until_us = row.due_at_us = row.locked_by ? RIG_START_US : 0;
        row.status = row.locked_by ? STEP_RUNNING : STEP_COMPLETED;
        break;
    default:
        row.group = rng_below(&rig->rng, 2) ? "g" : NULL;
    }
    return row;
}

static void change_pair(struct rig *rig, const char *id)
{
    update_instance(rig, changed_instance(rig, id, rng_below(&rig->rng, 4)));
    update_step(rig, changed_step(rig, id, rng_below(&rig->rng, 4)));
}

/* Most of them, alike or each in its way. */
static void change_many(struct rig *rig, const struct instance_row *of)
{
    struct instance_row instances[INSTANCES];
    struct step_row steps[INSTANCES];
    size_t count = 0;
    uint64_t how = rng_below(&rig->rng, 5);
    for (int i = 0; i < INSTANCES; i++) {
        if (rng_below(&rig->rng, 8) == 0)
            continue;
        instances[count] =
            changed_instance(rig, of[i].id, how < 4 ? how : rng_below(&rig->rng, 4));
        steps[count++] = changed_step(rig, of[i].id, how < 4 ? how : rng_below(&rig->rng, 4));
    }
    MUST(rig, rig->ops->update_instances(rig->tx, instances, count, &rig->error));
    MUST(rig, rig->ops->update_steps(rig->tx, steps, count, &rig->error));
}

static void change_plainly(sqlite3 *db, struct rig *rig, int64_t seq)
{
    char sql[200];
    snprintf(sql, sizeof sql,
             "UPDATE workflow_instance SET commits = commits + 1 WHERE seq = %lld;"
             "UPDATE workflow_step SET error = 'e%u' WHERE id = %lld << 20;",
             (long long)seq, (unsigned)rng_below(&rig->rng, 100), (long long)seq);
    if (db)
        run_plain(db, sql);
    else
        run_elsewhere(rig, sql);
}

static void check_pair(struct rig *rig, const char *id)
{
    begin_write(rig);
    struct instance_row known = lock_instance(rig, id);
    struct step_row step = lock_step(rig, id, 0);
    commit(rig);
    begin_read(rig);
    struct instance_row read = get_instance(rig, id);
    struct step_row read_step = get_step(rig, id, "s0");
    check_instance_fixed(&known, &read);
    check_instance_changing(&known, &read);
    check_step_planned(&step, &read_step);
    check_step_changing(&step, &read_step);
    roll_back(rig);
}

TEST(the_writer_knows_what_a_reader_reads)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row instances[INSTANCES];
    for (int i = 0; i < INSTANCES; i++)
        instances[i] = start(rig);
    for (int turn = 0; turn < TURNS; turn++) {
        const struct instance_row *at = &instances[rng_below(&rig->rng, INSTANCES)];
        unsigned what = (unsigned)rng_below(&rig->rng, 16);
        if (what == 0) {
            change_plainly(NULL, rig, at->seq);
        } else {
            begin_write(rig);
            if (what == 3)
                change_many(rig, instances);
            else
                change_pair(rig, at->id);
            if (what == 1)
                change_plainly(db_of(rig->writer), rig, at->seq);
            if (what == 2)
                roll_back(rig);
            else
                commit(rig);
        }
        for (int i = 0; what == 3 && i < INSTANCES; i++)
            check_pair(rig, instances[i].id);
        check_pair(rig, at->id);
    }
}

static int count_statement(unsigned what, void *count, void *statement, void *sql)
{
    (void)what, (void)statement, (void)sql;
    ++*(int *)count;
    return 0;
}

TEST(rows_that_change_alike_are_written_together)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row rows[INSTANCES];
    int count = 0;
    for (int i = 0; i < INSTANCES; i++)
        rows[i] = start(rig);
    begin_write(rig);
    for (int i = 0; i < INSTANCES; i++)
        rows[i].commits = i + 1;
    sqlite3_trace_v2(db_of(rig->writer), SQLITE_TRACE_STMT, count_statement, &count);
    MUST(rig, rig->ops->update_instances(rig->tx, rows, INSTANCES, &rig->error));
    sqlite3_trace_v2(db_of(rig->writer), 0, NULL, NULL);
    CHECK_INT(count, 2); /* of 32 rows, and of the others */
    for (int i = 0; i < INSTANCES; i++)
        CHECK_INT(lock_instance(rig, rows[i].id).commits, i + 1);
}

/* ---- triggers ------------------------------------------------------------------------------- */

static int are_triggers_on(struct rig *rig)
{
    int is_on = -1;
    sqlite3_db_config(db_of(rig->writer), SQLITE_DBCONFIG_ENABLE_TRIGGER, -1, &is_on);
    return is_on;
}

TEST(our_own_triggers_are_for_others)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    start(rig);
    CHECK_INT(are_triggers_on(rig), 0);
}

TEST(a_trigger_that_somebody_adds_works_from_the_next_transaction_on)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    start(rig);
    run_elsewhere(rig, "CREATE TABLE theirs (id TEXT);"
                       "CREATE TRIGGER theirs_insert AFTER INSERT ON workflow_instance BEGIN"
                       " INSERT INTO theirs VALUES (NEW.id); END;");
    start(rig);
    struct connection *connection = ((struct sqlite_session *)rig->writer)->connection;
    CHECK_INT(connection_int(connection, "SELECT count(*) FROM theirs", -1), 1);
    run_elsewhere(rig, "DROP TRIGGER theirs_insert");
    start(rig);
    CHECK_INT(connection_int(connection, "SELECT count(*) FROM theirs", -1), 1);
    CHECK_INT(are_triggers_on(rig), 0);
}

TEST(what_such_a_trigger_changes_is_read_again)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row instance = start(rig);
    run_elsewhere(rig, "CREATE TRIGGER theirs AFTER UPDATE ON workflow_instance BEGIN"
                       " UPDATE workflow_instance SET commits = 77 WHERE seq = NEW.seq; END;");
    begin_write(rig);
    struct instance_row seen = lock_instance(rig, instance.id);
    seen.commits++;
    update_instance(rig, seen);
    commit(rig);
    begin_write(rig);
    CHECK_INT(lock_instance(rig, instance.id).commits, 77);
}

/* With triggers and without. */
TEST(tags_are_indexed_once_whoever_does_it)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    for (int turn = 0; turn < 2; turn++) {
        begin_write(rig);
        struct job_row job = job_of(rig, "t");
        enum insert_result result;
        job.tags = "{\"a\":\"b\"}";
        MUST(rig, rig->ops->insert_jobs(rig->tx, &job, 1, &result, &rig->error));
        CHECK_INT(result, INSERT_DONE);
        struct connection *connection = ((struct sqlite_session *)rig->writer)->connection;
        CHECK_INT(connection_int(connection, "SELECT count(*) FROM workflow_tag", -1), 1);
        purge(rig, LIST_JOBS, (const char *const[]){job.id}, 1);
        CHECK_INT(connection_int(connection, "SELECT count(*) FROM workflow_tag", -1), 0);
        commit(rig);
        run_elsewhere(rig,
                      "CREATE TRIGGER IF NOT EXISTS theirs AFTER UPDATE ON workflow_run BEGIN"
                      " SELECT 1; END;");
    }
}

TEST(a_key_that_is_kept_is_known)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    run_plain(db_of(rig->writer), "INSERT INTO workflow_key VALUES ('job', '', 'k', 'j', 1),"
                                  " ('instance', 'w', 'k', 'i', 1)");
    struct job_row job = job_of(rig, "t");
    struct instance_row instance = instance_of(rig, "w");
    enum insert_result result;
    job.key = instance.key = "k";
    MUST(rig, rig->ops->insert_jobs(rig->tx, &job, 1, &result, &rig->error));
    CHECK_INT(result, INSERT_EXISTING);
    CHECK_STR(job.id, "j");
    MUST(rig, rig->ops->insert_instances(rig->tx, &instance, 1, &result, &rig->error));
    CHECK_INT(result, INSERT_EXISTING);
    CHECK_STR(instance.id, "i");
}
