/* tests/unit/test_memory_function.c - what functions ask of a memory store: rows that come later
 * and go again, and a rollback that undoes both.  What it shares with the others is in
 * tests/store/.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/mem.h"
#include "memory_rig.h"

#define ID "00000000-0000-7000-8000-000000000001"
#define OTHER "00000000-0000-7000-8000-000000000002"

/* ---- rows -------------------------------------------------------------------------------- */

static struct instance_row function_of(const char *id)
{
    return (struct instance_row){.id = id,
                                 .workflow = "order",
                                 .version = 1,
                                 .status = INSTANCE_RUNNING,
                                 .input = "{}",
                                 .created_at_us = START_US,
                                 .updated_at_us = START_US,
                                 .is_function = true,
                                 .revision = 1,
                                 .places = 1};
}

static struct step_row step_of(int32_t seq, const char *name, enum step_kind kind,
                               enum step_status status)
{
    return (struct step_row){.instance_id = ID,
                             .instance_seq = 1,
                             .seq = seq,
                             .name = name,
                             .kind = kind,
                             .max_attempts = 3,
                             .priority = 50,
                             .scope_fork = -1,
                             .status = status,
                             .input = "{}",

                             .updated_at_us = START_US};
}

static cairn_code insert_step(struct fixture *f, struct step_row row)
{
    return ops->insert_steps(f->tx, &row, 1, &error);
}

static cairn_code delete_step(struct fixture *f, int32_t seq)
{
    return ops->delete_steps(f->tx, &(struct step_ref){ID, seq}, 1, &error);
}

static cairn_code insert_signal(struct fixture *f, const char *id, const char *event,
                                int32_t taken_by)
{
    enum insert_result result;
    struct signal_row row = {.instance_id = ID,
                             .id = id,
                             .event = event,
                             .payload = "{}",
                             .received_at_us = START_US,
                             .taken_by = taken_by};
    return ops->insert_signal(f->tx, &row, &result, &error);
}

static cairn_code append_log(struct fixture *f, const char *id, const char *message)
{
    struct log_row row = {.instance_id = id, .level = "info", .message = message, .data = "1"};
    return ops->append_logs(f->tx, &row, 1, &error);
}

/* ---- a picture of everything that can be asked ------------------------------------------- */

static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

static void picture_steps(struct buf *out, const char *what, const struct step_row *rows,
                          size_t count)
{
    buf_printf(out, "%s\n", what);
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "  %d %s %s %s next %d %s %s %s ready %d due %lld commit %lld by %s\n",
                   rows[i].seq, rows[i].name, step_kind_name(rows[i].kind),
                   step_status_name(rows[i].status), rows[i].next, or_dash(rows[i].handler),
                   or_dash(rows[i].output), or_dash(rows[i].error), rows[i].is_ready,
                   (long long)rows[i].due_at_us, (long long)rows[i].commit_no,
                   or_dash(rows[i].locked_by));
}

static void picture_instance(struct fixture *f, struct buf *out)
{
    static const char *const ids[] = {ID, OTHER};
    for (size_t i = 0; i < 2; i++) {
        struct instance_row row;
        CHECK_OK(ops->get_instance(f->tx, ids[i], &row, &error));
        buf_printf(out, "%s function %d revision %lld places %d forced %d woken %d %s\n",
                   row.id, row.is_function, (long long)row.revision, row.places, row.is_forced,
                   row.is_woken, or_dash(row.last_error));
        struct log_row logs[20];
        size_t count;
        CHECK_OK(ops->list_logs(f->tx, ids[i], 0, logs, 20, &count, &error));
        for (size_t k = 0; k < count; k++)
            buf_printf(out, "  log %lld %s %s %s %s %d %lld\n", (long long)logs[k].id,
                       logs[k].level, logs[k].message, or_dash(logs[k].data),
                       or_dash(logs[k].step), logs[k].attempt, (long long)logs[k].at_us);
    }
}

static void picture_signals(struct fixture *f, struct buf *out)
{
    struct signal_row rows[20];
    size_t count;
    CHECK_OK(ops->list_signals(f->tx, &(const char *){ID}, 1, 0, rows, 20, &count, &error));
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "signal %lld %s %s %s\n", (long long)rows[i].seq, rows[i].id,
                   rows[i].event, rows[i].payload);
    static const char *const events[] = {"paid", "sent"};
    for (size_t i = 0; i < 2; i++) {
        cairn_code code = ops->find_signal(f->tx, ID, events[i], INT64_MAX, rows, &error);
        buf_printf(out, "oldest %s: %s\n", events[i], code ? "none" : rows[0].id);
    }
}

static void picture_names(struct fixture *f, struct buf *out)
{
    static const char *const names[] = {"order", "charge", "nap", "paid", "again", "new"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct step_row row;
        cairn_code code = ops->get_step(f->tx, ID, names[i], &row, &error);
        buf_printf(out, "%s is at %d\n", names[i], code ? -1 : row.seq);
    }
}

static char *picture(struct fixture *f)
{
    struct buf out = {0};
    struct step_row rows[50];
    struct step_ref due[20];
    struct step_counts counts;
    int64_t due_us;
    size_t count;
    begin(f);
    picture_instance(f, &out);
    picture_signals(f, &out);
    picture_names(f, &out);
    CHECK_OK(ops->list_steps(f->tx, ID, -1, false, rows, 50, &count, &error));
    picture_steps(&out, "all", rows, count);
    CHECK_OK(ops->list_steps(f->tx, ID, 0, true, rows, 50, &count, &error));
    picture_steps(&out, "current", rows, count);
    CHECK_OK(ops->lock_current_steps(f->tx, ID, -1, rows, 50, &count, &error));
    picture_steps(&out, "to be locked", rows, count);
    CHECK_OK(ops->lock_steps_between(f->tx, ID, STEP_NONE, 1, 9, rows, 50, &count, &error));
    picture_steps(&out, "between", rows, count);
    CHECK_OK(ops->lock_committed_steps(f->tx, ID, 99, 0, 99, rows, 50, &count, &error));
    picture_steps(&out, "committed", rows, count);
    CHECK_OK(ops->find_claimed_steps(f->tx, "w", "t", rows, 50, &count, &error));
    picture_steps(&out, "claimed", rows, count);
    CHECK_OK(ops->find_due_steps(f->tx, due, 20, &count, &error));
    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "due %d\n", due[i].seq);
    CHECK_OK(ops->count_steps(f->tx, &counts, &error));
    CHECK_OK(ops->next_flow_due(f->tx, &due_us, &error));
    buf_printf(&out, "%llu %llu %lld\n", (unsigned long long)counts.ready,
               (unsigned long long)counts.leased, (long long)due_us);

    /* What a promotion and a claim would get, which is rolled back again. */
    const char *all = "%";
    struct step_claim claim = {.base = {.worker = "look",
                                        .token = "look",
                                        .patterns = &all,
                                        .pattern_count = 1,
                                        .lease_until_us = START_US + US_PER_MIN}};
    CHECK_OK(ops->promote_steps(f->tx, 9, &count, &error));
    CHECK_OK(ops->claim_steps(f->tx, &claim, rows, 50, &count, &error));
    picture_steps(&out, "to be claimed", rows, count);
    roll_back(f);
    CHECK(!buf_failed(&out), "no memory for a picture");
    return buf_take(&out, NULL);
}

/* A step in each index that there is, each of which will be deleted. */
static void fill(struct fixture *f)
{
    struct instance_row rows[] = {function_of(ID), function_of(OTHER)};
    enum insert_result results[2];
    begin(f);
    CHECK_OK(ops->insert_instances(f->tx, rows, 2, results, &error));
    struct step_row runner = step_of(0, "order", KIND_FUNCTION, STEP_RUNNING);
    runner.handler = runner.task_type = "order";
    runner.next = -1;
    runner.locked_by = "w";
    runner.token = "t";
    runner.locked_until_us = START_US + US_PER_MIN;
    runner.due_at_us = runner.locked_until_us + 1;
    CHECK_OK(insert_step(f, runner));
    commit(f);

    begin(f); /* later, into an instance that is there */
    struct step_row done = step_of(1, "charge", KIND_TASK, STEP_COMPLETED);
    done.output = "[1]";
    done.commit_no = 1;
    CHECK_OK(insert_step(f, done));
    struct step_row nap = step_of(2, "nap", KIND_SLEEP, STEP_WAITING);
    nap.due_at_us = START_US - 1;
    CHECK_OK(insert_step(f, nap));
    struct step_row undo = step_of(3, "undo", KIND_TASK, STEP_COMPENSATION);
    undo.task_type = "refund";
    undo.is_ready = true;
    CHECK_OK(insert_step(f, undo));
    struct step_row later = step_of(4, "later", KIND_TASK, STEP_COMPENSATION);
    later.task_type = "refund";
    later.due_at_us = START_US - 2;
    CHECK_OK(insert_step(f, later));
    CHECK_OK(insert_step(f, step_of(5, "when", KIND_VALUE, STEP_COMPLETED)));
    CHECK_OK(insert_signal(f, "1", "sent", -1));
    CHECK_OK(insert_signal(f, "2", "paid", 2));
    CHECK_OK(insert_signal(f, "3", "paid", -1));
    CHECK_OK(append_log(f, ID, "one"));
    CHECK_OK(append_log(f, OTHER, "two"));
    commit(f);
}

static cairn_code change_instance(struct fixture *f)
{
    struct instance_row row = function_of(ID);
    row.revision = 9;
    row.places = 12;
    row.is_forced = row.is_woken = true;
    row.last_error = "{}";
    return ops->update_instances(f->tx, &row, 1, &error);
}

static cairn_code change_steps(struct fixture *f)
{
    struct step_row changed = step_of(1, "charge", KIND_TASK, STEP_ROLLED_BACK);
    changed.output = "[2]";
    changed.commit_no = 7;
    cairn_code code = ops->update_steps(f->tx, &changed, 1, &error);
    for (int32_t seq = 0; !code && seq <= 4; seq++)
        code = delete_step(f, seq);
    if (!code) /* once more, and one that never was */
        code = delete_step(f, 1);
    if (!code)
        code = delete_step(f, 77);

    /* The same name at another place; and a place, though nobody does that, once more. */
    struct step_row again = step_of(6, "charge", KIND_START, STEP_COMPLETED);
    again.commit_no = 8;
    if (!code)
        code = insert_step(f, again);
    if (!code)
        code = insert_step(f, step_of(2, "new", KIND_WAIT, STEP_WAITING));
    again.output = "[3]";
    if (!code)
        code = ops->update_steps(f->tx, &again, 1, &error);

    /* What came and went within one transaction. */
    if (!code)
        code = insert_step(f, step_of(7, "brief", KIND_VALUE, STEP_COMPLETED));
    return code ? code : delete_step(f, 7);
}

static cairn_code change_everything(struct fixture *f)
{
    cairn_code code = change_instance(f);
    if (!code)
        code = change_steps(f);
    if (!code)
        code = insert_signal(f, "4", "sent", -1);
    if (!code)
        code = ops->mark_signal(f->tx, ID, 1, 6, &error);
    if (!code)
        code = ops->mark_signal(f->tx, ID, 0, 2, &error);
    if (!code)
        code = append_log(f, ID, "three");
    if (!code)
        code = append_log(f, OTHER, "four");
    return code ? code : append_log(f, ID, "five");
}

/* ---- tests ------------------------------------------------------------------------------- */

TEST(a_rollback_brings_back_what_was_deleted_and_takes_what_came)
{
    struct fixture f;
    set_up(&f);
    fill(&f);
    cleanup(mem_freep) char *before = picture(&f);
    for (int i = 0; i < 3; i++) {
        begin(&f);
        CHECK_OK(change_everything(&f));
        roll_back(&f);
        cleanup(mem_freep) char *after = picture(&f);
        CHECK_STR(after, before);
    }
    begin(&f);
    CHECK_OK(change_everything(&f));
    commit(&f);
    cleanup(mem_freep) char *changed = picture(&f);
    CHECK(strcmp(changed, before) != 0, "the same transaction changes nothing when committed");
    tear_down(&f);
}

TEST(whichever_allocation_fails_what_was_deleted_comes_back)
{
    struct fixture f;
    set_up(&f);
    fill(&f);
    cleanup(mem_freep) char *before = picture(&f);
    long failures = 0;
    for (cairn_code code = CAIRN_E_OUT_OF_MEMORY; code; failures++) {
        begin(&f);
        mem_fail_after(failures);
        code = change_everything(&f);
        mem_fail_after(-1);
        CHECK(code == CAIRN_OK || code == CAIRN_E_OUT_OF_MEMORY, "%s", cairn_code_name(code));
        roll_back(&f);
        cleanup(mem_freep) char *after = picture(&f);
        CHECK_STR(after, before);
    }
    CHECK(failures > 10, "only %ld allocations were tried", failures);
    tear_down(&f);
}

TEST(what_was_deleted_is_nowhere)
{
    struct fixture f;
    set_up(&f);
    fill(&f);
    begin(&f); /* which is as if it had never been */
    CHECK_OK(change_everything(&f));
    roll_back(&f);
    begin(&f);
    CHECK_OK(change_everything(&f));
    commit(&f);
    cleanup(mem_freep) char *seen = picture(&f);
    CHECK_STR(seen, ID " function 1 revision 9 places 12 forced 1 woken 1 {}\n"
                       "  log 1 info one 1 - 0 1700000000000000\n"
                       "  log 3 info three 1 - 0 1700000000000000\n"
                       "  log 5 info five 1 - 0 1700000000000000\n" OTHER
                       " function 1 revision 1 places 1 forced 0 woken 0 -\n"
                       "  log 2 info two 1 - 0 1700000000000000\n"
                       "  log 4 info four 1 - 0 1700000000000000\n"
                       "signal 2 2 paid {}\n"
                       "signal 3 3 paid {}\n"
                       "signal 4 4 sent {}\n"
                       "oldest paid: 2\n"
                       "oldest sent: 4\n"
                       "order is at -1\n"
                       "charge is at 6\n"
                       "nap is at -1\n"
                       "paid is at -1\n"
                       "again is at -1\n"
                       "new is at 2\n"
                       "all\n"
                       "  2 new wait waiting next 0 - - - ready 0 due 0 commit 0 by -\n"
                       "  5 when value completed next 0 - - - ready 0 due 0 commit 0 by -\n"
                       "  6 charge start completed next 0 - [3] - ready 0 due 0 commit 8 by -\n"
                       "current\n"
                       "  2 new wait waiting next 0 - - - ready 0 due 0 commit 0 by -\n"
                       "to be locked\n"
                       "  2 new wait waiting next 0 - - - ready 0 due 0 commit 0 by -\n"
                       "between\n"
                       "  2 new wait waiting next 0 - - - ready 0 due 0 commit 0 by -\n"
                       "  5 when value completed next 0 - - - ready 0 due 0 commit 0 by -\n"
                       "  6 charge start completed next 0 - [3] - ready 0 due 0 commit 8 by -\n"
                       "committed\n"
                       "  6 charge start completed next 0 - [3] - ready 0 due 0 commit 8 by -\n"
                       "claimed\n"
                       "0 0 0\n"
                       "to be claimed\n");
    tear_down(&f);
}

/* Quick enough only if neither a hole nor a signal that was taken is ever looked at: with a look
 * at all of them this is 10^10 steps, and the runner's time limit notices. */
TEST(a_hundred_thousand_places_that_were_forgotten_cost_nothing)
{
    enum { PLACES = 100000 };
    struct fixture f;
    set_up(&f);
    fill(&f);
    for (int32_t seq = 10; seq < PLACES; seq++) {
        struct step_row rows[9];
        struct signal_row signals[9];
        struct log_row logs[2];
        size_t count;
        char id[16];
        snprintf(id, sizeof id, "s%d", seq);
        begin(&f);
        CHECK_OK(insert_step(&f, step_of(seq, id, KIND_TASK, STEP_COMPLETED)));
        CHECK_OK(insert_signal(&f, id, "many", seq));
        CHECK_OK(append_log(&f, ID, id));
        CHECK_OK(ops->list_steps(f.tx, ID, 0, false, rows, 9, &count, &error));
        CHECK_INT(count, 6);
        CHECK_INT(rows[5].seq, seq);
        CHECK_OK(delete_step(&f, seq));
        CHECK_OK(
            ops->list_signals(f.tx, &(const char *){ID}, 1, 0, signals, 9, &count, &error));
        CHECK_INT(count, 2);
        CHECK_OK(ops->list_logs(f.tx, ID, seq - 8, logs, 2, &count, &error));
        CHECK_INT(count, 1);
        CHECK_STR(logs[0].message, id);
        commit(&f);
    }
    begin(&f);
    CHECK_OK(insert_step(&f, step_of(INT32_MAX, "last", KIND_TASK, STEP_COMPLETED)));
    commit(&f);
    tear_down(&f);
}

TEST(a_log_of_an_instance_that_is_not_there_is_refused)
{
    struct fixture f;
    struct log_row row;
    struct signal_row signal;
    size_t count = 7;
    set_up(&f);
    begin(&f);
    CHECK_INT(append_log(&f, ID, "lost"), CAIRN_E_STORE);
    CHECK_STR(error.message, "cannot add a log: instance \"" ID "\" does not exist");
    roll_back(&f);
    begin(&f);
    CHECK_OK(delete_step(&f, 0));
    CHECK_OK(ops->list_logs(f.tx, ID, 0, &row, 1, &count, &error));
    CHECK_INT(count, 0);
    CHECK_OK(ops->list_signals(f.tx, &(const char *){ID}, 1, 0, &signal, 1, &count, &error));
    CHECK_INT(count, 0);
    roll_back(&f);
    tear_down(&f);
}
