/* tests/store/test_postgres_purge.c - a purge and others at the same time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"
#include "foreign.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* ---- a key whose owner is being purged --------------------------------------------------------- */

/* Both ways to have a key. */
struct owner {
    bool is_job;
    char id[ID_TEXT];
};

static const char *add_owner(struct rig *rig, bool is_job)
{
    if (is_job) {
        struct job_row row = job_of(rig, "a");
        row.key = "k";
        row.status = JOB_SUCCEEDED;
        row.is_ready = false;
        return add(rig, row);
    }
    struct instance_row row = instance_of(rig, "w");
    row.key = "k";
    row.status = INSTANCE_COMPLETED;
    row.finished_at_us = RIG_START_US;
    return add_instance(rig, row).id;
}

/* The purge as far as its commit. */
static void purge_owner(struct rig *rig, const struct owner *owner)
{
    const char *id = owner->id;
    struct key_row key = {.kind = owner->is_job ? "job" : "instance",
                          .workflow = owner->is_job ? "" : "w",
                          .key = "k",
                          .id = id,
                          .ended_at_us = RIG_START_US};
    MUST(rig, rig->ops->keep_keys(rig->tx, &key, 1, &rig->error));
    purge(rig, owner->is_job ? LIST_JOBS : LIST_INSTANCES, &id, 1);
}

/* Somebody who inserts the same key meanwhile, and tries again as an engine does. */
struct inserter {
    struct rig *rig;
    bool is_job;
    enum insert_result result;
    char id[ID_TEXT];
    int tries;
    cairn_code code;
};

static cairn_code insert_once(struct inserter *in)
{
    struct rig *rig = in->rig;
    const char *id;
    cairn_code code = rig->ops->begin(rig->writer, &rig->arena, &rig->tx, &rig->error);
    if (code)
        return code;
    if (in->is_job) {
        struct job_row row = job_of(rig, "a");
        row.key = "k";
        code = rig->ops->insert_jobs(rig->tx, &row, 1, &in->result, &rig->error);
        id = row.id;
    } else {
        struct instance_row row = instance_of(rig, "w");
        row.key = "k";
        code = rig->ops->insert_instances(rig->tx, &row, 1, &in->result, &rig->error);
        id = row.id;
    }
    if (!code)
        snprintf(in->id, sizeof in->id, "%s", id);
    struct store_tx *tx = rig->tx;
    rig->tx = NULL;
    if (!code)
        return rig->ops->commit(tx, false, &rig->error);
    rig->ops->rollback(tx);
    return code;
}

static void *insert(void *arg)
{
    struct inserter *in = arg;
    do
        in->code = insert_once(in);
    while (in->code == CAIRN_E_BUSY && ++in->tries < 3);
    return NULL;
}

static void wait_until_blocked(PGconn *watcher)
{
    while (!foreign_number(watcher, "SELECT count(*) FROM pg_stat_activity WHERE datname ="
                                    " current_database() AND wait_event_type = 'Lock'"))
        usleep(1000);
}

static void check_insert_beside_purge(bool is_job)
{
    cleanup(rig_closep) struct rig *purger = rig_open_url(scratch_store_of("postgres"));
    cleanup(rig_closep) struct rig *other = rig_open_url(purger->url);
    cleanup(foreign_closep) PGconn *watcher = foreign_open(purger->url);
    struct inserter in = {.rig = other, .is_job = is_job};
    struct owner owner = {.is_job = is_job};
    pthread_t thread;
    begin_write(purger);
    snprintf(owner.id, sizeof owner.id, "%s", add_owner(purger, is_job));
    commit(purger);

    begin_write(purger);
    purge_owner(purger, &owner);
    CHECK_INT(pthread_create(&thread, NULL, insert, &in), 0);
    wait_until_blocked(watcher);
    commit(purger);
    pthread_join(thread, NULL);
    CHECK_INT(in.code, CAIRN_OK);
    CHECK_INT(in.result, INSERT_EXISTING);
    CHECK_STR(in.id, owner.id);
    CHECK_INT(in.tries, 1);
    CHECK_INT(foreign_number(watcher, "SELECT (SELECT count(*) FROM workflow.workflow_run)"
                                      " + (SELECT count(*) FROM workflow.workflow_instance)"),
              0);
}

TEST(a_job_that_waits_for_the_purge_of_its_key_has_the_old_owner)
{
    check_insert_beside_purge(true);
}

TEST(an_instance_that_waits_for_the_purge_of_its_key_has_the_old_owner)
{
    check_insert_beside_purge(false);
}

TEST(plain_sql_that_waits_for_the_purge_of_its_key_is_told_to_try_again)
{
    cleanup(rig_closep) struct rig *purger = rig_open_url(scratch_store_of("postgres"));
    cleanup(foreign_closep) PGconn *watcher = foreign_open(purger->url);
    cleanup(foreign_closep) PGconn *producer = foreign_open(purger->url);
    struct owner owner = {.is_job = true};
    const char *sql = "INSERT INTO workflow.workflow_run (type, payload, idempotency_key)"
                      " VALUES ('a', '{}', 'k') ON CONFLICT DO NOTHING";
    begin_write(purger);
    snprintf(owner.id, sizeof owner.id, "%s", add_owner(purger, true));
    commit(purger);

    begin_write(purger);
    purge_owner(purger, &owner);
    CHECK(PQsendQuery(producer, sql), "not sent");
    wait_until_blocked(watcher);
    commit(purger);
    PGresult *result = PQgetResult(producer);
    CHECK_STR(PQresultErrorField(result, PG_DIAG_SQLSTATE), "40001");
    PQclear(result);
    CHECK(!PQgetResult(producer), "there is more");
    foreign_run(producer, sql);
    CHECK_INT(foreign_number(watcher, "SELECT count(*) FROM workflow.workflow_run"), 0);
}

/* What was read is locked later: meanwhile it may have changed, or somebody may have taken it. */
TEST(what_is_locked_is_read_again_and_what_others_hold_is_left_out)
{
    enum { HELD, CHANGED, SAME, JOBS };
    cleanup(rig_closep) struct rig *rig = rig_open_url(scratch_store_of("postgres"));
    cleanup(foreign_closep) PGconn *other = foreign_open(rig->url);
    struct past_row rows[JOBS];
    size_t count = 0;
    begin_write(rig);
    for (int i = 0; i < JOBS; i++) {
        struct job_row row = job_of(rig, i == HELD      ? "held"
                                         : i == CHANGED ? "changed"
                                                        : "same");
        row.status = JOB_SUCCEEDED;
        row.is_ready = false;
        add(rig, row);
    }
    commit(rig);
    begin_write(rig);
    MUST(rig, rig->ops->scan_past(rig->tx, LIST_JOBS, 0, rows, JOBS, &count, &rig->error));
    CHECK_INT(count, JOBS);
    foreign_run(other,
                "UPDATE workflow.workflow_run SET status = 'pending' WHERE type = 'changed'");
    foreign_run(other, "BEGIN");
    foreign_run(other, "SELECT 1 FROM workflow.workflow_run WHERE type = 'held' FOR UPDATE");
    MUST(rig, rig->ops->lock_past(rig->tx, LIST_JOBS, rows, &count, &rig->error));
    CHECK_INT(count, 2);
    for (size_t i = 0; i < count; i++) {
        bool is_same = strcmp(rows[i].name, "same") == 0;
        CHECK_STR(rows[i].status, is_same ? "succeeded" : "pending");
        CHECK_INT(rows[i].ended_at_us > 0, is_same);
    }
    foreign_run(other, "ROLLBACK");
}
