/* tests/store/test_flow_rollback.c - a transaction that is rolled back leaves nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* What stands in the store before: an instance with steps in every index, and its messages. */
struct scene {
    struct instance_row instance;
    struct instance_row added; /* not yet inserted */
    int64_t taken_signal;
};

static cairn_code put_definition(struct rig *rig, int32_t version)
{
    enum put_result result;
    struct definition_row row = {.name = "w",
                                 .version = version,
                                 .hash = HASH,
                                 .content = "{}",
                                 .created_at_us = RIG_START_US};
    return rig->ops->put_definition(rig->tx, &row, &result, &rig->error);
}

static cairn_code add_signal(struct rig *rig, const char *id, const char *signal_id,
                             int64_t *seq)
{
    enum insert_result result;
    struct signal_row row = {.instance_id = id,
                             .id = signal_id,
                             .event = "paid",
                             .payload = "{}",
                             .received_at_us = RIG_START_US,
                             .taken_by = -1};
    cairn_code code = rig->ops->insert_signal(rig->tx, &row, &result, &rig->error);
    *seq = row.seq;
    return code;
}

static cairn_code append_three(struct rig *rig, const char *id)
{
    struct outbox_row mail = {
        .instance_id = id, .event = "shipped", .payload = "{}", .created_at_us = RIG_START_US};
    struct event_row event = {.subject_id = id,
                              .type = "step_ready",
                              .step = "s0",
                              .data = "{}",
                              .at_us = RIG_START_US};
    struct dlq_row letter = {.instance_id = id,
                             .workflow = "w",
                             .version = 1,
                             .step_seq = 0,
                             .step_name = "s0",
                             .step_type = "task",
                             .reason = "r",
                             .created_at_us = RIG_START_US,
                             .is_open = true};
    cairn_code code = rig->ops->append_outbox(rig->tx, &mail, 1, &rig->error);
    if (!code)
        code = rig->ops->append_events(rig->tx, &event, 1, &rig->error);
    return code ? code : rig->ops->append_dlq(rig->tx, &letter, 1, &rig->error);
}

static cairn_code append_log(struct rig *rig, const char *id)
{
    struct log_row row = {.instance_id = id, .level = "info", .message = "m", .data = "{}"};
    return rig->ops->append_logs(rig->tx, &row, 1, &rig->error);
}

static struct scene set_scene(struct rig *rig)
{
    struct scene scene = {.added = instance_of(rig, "w2")};
    begin_write(rig);
    scene.instance = new_instance(rig, "w");
    MUST(rig, put_definition(rig, 1));
    add_step(rig, ready_step(&scene.instance, 0, "a", 50));
    struct step_row later = ready_step(&scene.instance, 1, "a", 50);
    later.is_ready = false;
    later.due_at_us = RIG_START_US;
    add_step(rig, later);
    struct step_row done = step_of(&scene.instance, 2);
    done.status = STEP_COMPLETED;
    done.commit_no = 1;
    add_step(rig, done);
    MUST(rig, add_signal(rig, scene.instance.id, "1", &scene.taken_signal));
    MUST(rig,
         rig->ops->mark_signal(rig->tx, scene.instance.id, scene.taken_signal, 0, &rig->error));
    MUST(rig, append_three(rig, scene.instance.id));
    MUST(rig, append_log(rig, scene.instance.id));
    commit(rig);
    return scene;
}

/* A step is added to an instance that was there; it and others are forgotten. */
static cairn_code remember_and_forget(struct rig *rig, const struct scene *scene,
                                      const struct instance_row *added)
{
    const char *id = scene->instance.id;
    struct step_row rows[2] = {step_of(&scene->instance, 3), step_of(&scene->instance, 4)};
    struct step_ref refs[] = {{id, 0}, {id, 2}, {id, 3}, {id, 1}, {id, 9}, {added->id, 0}};
    cairn_code code = rig->ops->insert_steps(rig->tx, rows, 2, &rig->error);
    if (!code)
        code = rig->ops->delete_steps(rig->tx, refs, sizeof refs / sizeof *refs, &rig->error);
    if (!code)
        code = append_log(rig, id);
    return code ? code : append_log(rig, added->id);
}

/* Writes by every verb, stopping at the first error. */
static cairn_code write_all(struct rig *rig, const struct scene *scene)
{
    const char *id = scene->instance.id;
    const char *all = "%";
    struct instance_row added = scene->added, changed = scene->instance;
    struct step_claim claim = {.base = {.worker = "w",
                                        .token = "t",
                                        .patterns = &all,
                                        .pattern_count = 1,
                                        .lease_until_us = RIG_START_US + US_PER_MIN}};
    struct step_row steps[2], claimed[4], committed = step_of(&scene->instance, 2);
    struct outbox_row mail[4];
    int64_t earlier;
    enum insert_result result;
    size_t count;
    int64_t seq;
    added.key = "k";
    changed.status = INSTANCE_DLQ;
    changed.output = "[1]";
    changed.start_at_us = RIG_START_US + 3;
    committed.status = STEP_COMPENSATION;
    committed.task_type = "undo";
    committed.commit_no = 9;
    committed.due_at_us = RIG_START_US - 5;

    cairn_code code = put_definition(rig, 2);
    if (!code)
        code = rig->ops->insert_instances(rig->tx, &added, 1, &result, &rig->error);
    if (code)
        return code;
    steps[0] = ready_step(&added, 0, "new type", 90);
    steps[1] = step_of(&added, 1);
    if (!code)
        code = rig->ops->insert_steps(rig->tx, steps, 2, &rig->error);
    if (!code)
        code = rig->ops->update_instances(rig->tx, &changed, 1, &rig->error);
    if (!code)
        code = rig->ops->update_steps(rig->tx, &committed, 1, &rig->error);
    if (!code)
        code = rig->ops->promote_steps(rig->tx, 9, &count, &rig->error);
    if (!code)
        code = rig->ops->claim_steps(rig->tx, &claim, claimed, 3, &count, &rig->error);
    if (!code)
        code = add_signal(rig, id, "2", &seq);
    if (!code)
        code = add_signal(rig, added.id, "2", &seq);
    if (!code)
        code = rig->ops->keep_signal_taken(rig->tx, id, seq, &rig->error);
    if (!code)
        code = rig->ops->mark_signal(rig->tx, id, 0, -1, &rig->error);
    if (!code)
        code = append_three(rig, id);
    if (!code)
        code = append_three(rig, added.id);
    if (!code)
        code = rig->ops->claim_outbox(rig->tx, "me", RIG_START_US + US_PER_MIN, mail, 2, &count,
                                      &rig->error);
    if (!code)
        code = rig->ops->ack_outbox(rig->tx, mail[0].id, &earlier, &rig->error);
    if (!code)
        code = remember_and_forget(rig, scene, &added);
    return code ? code : rig->ops->close_dlq(rig->tx, id, -1, &rig->error);
}

/* Everything can be asked, and the answers are those of set_scene(). */
static void check_scene(struct rig *rig, const struct scene *scene)
{
    const char *id = scene->instance.id;
    struct instance_row instances[4];
    struct list_end end;
    struct definition_row definition;
    struct event_row events[4];
    struct dlq_row letters[4];
    struct outbox_row mail[4];
    struct log_row logs[4];
    struct signal_row signal;
    struct steps steps;
    uint64_t counts[INSTANCE_STATUS_COUNT];
    size_t count;

    begin_write(rig);
    MUST(rig, rig->ops->get_definition(rig->tx, "w", 0, &definition, &rig->error));
    CHECK_INT(definition.version, 1);
    MUST(rig,
         list_instances(rig->tx, &(struct list_filter){0}, instances, 4, &end, &rig->error));
    CHECK_INT(end.count, 1);
    check_instance_fixed(&instances[0], &scene->instance);
    check_instance_changing(&instances[0], &scene->instance);
    MUST(rig, list_instances(rig->tx, &(struct list_filter){.key = "k"}, instances, 4, &end,
                             &rig->error));
    CHECK_INT(end.count, 0);
    MUST(rig, rig->ops->count_instances(rig->tx, counts, &rig->error));
    CHECK_INT(counts[INSTANCE_RUNNING], 1);
    CHECK_INT(counts[INSTANCE_DLQ], 0);
    CHECK_INT(next_due(rig).flow_us, RIG_START_US);
    MUST(rig, rig->ops->list_steps(rig->tx, id, -1, false, steps.rows, 9, &steps.count,
                                   &rig->error));
    CHECK_STEPS(&steps, "s0", "s1", "s2");
    MUST(rig, rig->ops->lock_current_steps(rig->tx, id, -1, steps.rows, 9, &steps.count,
                                           &rig->error));
    CHECK_STEPS(&steps, "s0", "s1");
    MUST(rig, rig->ops->lock_committed_steps(rig->tx, id, 99, 0, 9, steps.rows, 9, &steps.count,
                                             &rig->error));
    CHECK_STEPS(&steps, "s2");
    CHECK_INT(steps.rows[0].commit_no, 1);
    CHECK_INT(steps.rows[0].status, STEP_COMPLETED);
    MUST(rig, rig->ops->find_claimed_steps(rig->tx, "w", "t", steps.rows, 9, &steps.count,
                                           &rig->error));
    CHECK_NO_STEPS(&steps);
    CHECK_STEPS(claim_steps(rig, 9, "%"), "s0");
    CHECK_INT(rig->ops->find_signal(rig->tx, id, "paid", LAST_INSTANT_US, &signal, &rig->error),
              CAIRN_E_NOT_FOUND);
    MUST(rig, rig->ops->list_signals(rig->tx, &id, 1, 0, &signal, 1, &count, &rig->error));
    CHECK_INT(count, 0);
    MUST(rig, rig->ops->list_logs(rig->tx, id, 0, logs, 4, &count, &rig->error));
    CHECK_INT(count, 1);
    MUST(rig, rig->ops->list_events(rig->tx, NULL, 0, events, 4, &count, &rig->error));
    CHECK_INT(count, 1);
    MUST(rig, rig->ops->list_dlq(rig->tx, NULL, 0, letters, 4, &count, &rig->error));
    CHECK_INT(count, 1);
    MUST(rig, rig->ops->claim_outbox(rig->tx, "you", RIG_START_US + 1, mail, 4, &count,
                                     &rig->error));
    CHECK_INT(count, 1);
    roll_back(rig);
}

TEST(a_rolled_back_transaction_leaves_no_trace_of_any_verb)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct scene scene = set_scene(rig);
    check_scene(rig, &scene);
    for (int i = 0; i < 3; i++) { /* what was undone can be done, and undone, again */
        begin_write(rig);
        MUST(rig, write_all(rig, &scene));
        roll_back(rig);
        check_scene(rig, &scene);
    }
}

TEST(what_was_rolled_back_can_be_done_and_committed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct scene scene = set_scene(rig);
    begin_write(rig);
    MUST(rig, write_all(rig, &scene));
    roll_back(rig);
    begin_write(rig);
    MUST(rig, write_all(rig, &scene));
    commit(rig);
    begin_read(rig);
    CHECK_INT(get_instance(rig, scene.instance.id).status, INSTANCE_DLQ);
    struct definition_row definition;
    MUST(rig, rig->ops->get_definition(rig->tx, "w", 0, &definition, &rig->error));
    CHECK_INT(definition.version, 2);
    struct steps steps;
    MUST(rig, rig->ops->list_steps(rig->tx, scene.instance.id, -1, false, steps.rows, 9,
                                   &steps.count, &rig->error));
    CHECK_STEPS(&steps, "s4");
}

TEST(whichever_allocation_fails_the_rollback_succeeds)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct scene scene = set_scene(rig);
    cairn_code code = CAIRN_E_OUT_OF_MEMORY;
    for (long allowed = 0; code; allowed++) {
        begin_write(rig);
        struct arena own = {0}; /* so that copies must allocate, too */
        rig->tx->arena = &own;
        mem_fail_after(allowed);
        code = write_all(rig, &scene);
        mem_fail_after(-1);
        CHECK(!code || code == CAIRN_E_OUT_OF_MEMORY, "after %ld it is %s", allowed,
              cairn_code_name(code));
        roll_back(rig);
        arena_done(&own);
        check_scene(rig, &scene);
        CHECK(allowed < 10000, "it never succeeds");
    }
}
