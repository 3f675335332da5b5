/* tests/store/flow_rig.c - instances and steps for the tests of the workflow verbs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

/* ---- instances --------------------------------------------------------------------------- */

struct instance_row instance_of(struct rig *rig, const char *workflow)
{
    int64_t now_us = clock_now_us(&rig->clock);
    char id[ID_TEXT];
    id_make(&rig->rng, now_us, id);
    return (struct instance_row){.id = arena_strdup(&rig->arena, id),
                                 .workflow = workflow,
                                 .version = 1,
                                 .status = INSTANCE_RUNNING,
                                 .generation = 1,
                                 .input = "{}",
                                 .undo_first = -1,
                                 .undo_from = -1,
                                 .undo_to = -1,
                                 .created_at_us = now_us,
                                 .updated_at_us = now_us,
                                 .started_at_us = now_us};
}

struct instance_row add_instance(struct rig *rig, struct instance_row row)
{
    enum insert_result result;
    MUST(rig, rig->ops->insert_instances(rig->tx, &row, 1, &result, &rig->error));
    CHECK_INT(result, INSERT_DONE);
    CHECK(row.seq > 0, "seq is %lld", (long long)row.seq);
    return row;
}

struct instance_row new_instance(struct rig *rig, const char *workflow)
{
    return add_instance(rig, instance_of(rig, workflow));
}

struct instance_row get_instance(struct rig *rig, const char *id)
{
    struct instance_row row;
    MUST(rig, rig->ops->get_instance(rig->tx, id, &row, &rig->error));
    return row;
}

struct instance_row lock_instance(struct rig *rig, const char *id)
{
    struct instance_row row;
    enum lock_result result;
    MUST(rig, rig->ops->lock_instances(rig->tx, &id, 1, false, &row, &result, &rig->error));
    CHECK_INT(result, LOCK_DONE);
    return row;
}

void update_instance(struct rig *rig, struct instance_row row)
{
    MUST(rig, rig->ops->update_instances(rig->tx, &row, 1, &rig->error));
}

void check_instance_fixed(const struct instance_row *seen, const struct instance_row *wanted)
{
    CHECK_INT(seen->seq, wanted->seq);
    CHECK_TEXT(seen->id, wanted->id);
    CHECK_TEXT(seen->workflow, wanted->workflow);
    CHECK_INT(seen->version, wanted->version);
    CHECK_TEXT(seen->key, wanted->key);
    CHECK_TEXT(seen->parent, wanted->parent);
    CHECK_TEXT(seen->parent_event, wanted->parent_event);
    CHECK_TEXT(seen->source, wanted->source);
    CHECK_INT(seen->rerun_from, wanted->rerun_from);
    CHECK_INT(seen->parent_seq, wanted->parent_seq);
    CHECK_INT(seen->parent_round, wanted->parent_round);
    CHECK_INT(seen->element, wanted->element);
    CHECK_INT(seen->depth, wanted->depth);
    CHECK_JSON(seen->metadata, wanted->metadata);
    CHECK_JSON(seen->tags, wanted->tags);
    CHECK_JSON(seen->input, wanted->input);
    CHECK_INT(seen->created_at_us, wanted->created_at_us);
}

void check_instance_changing(const struct instance_row *seen, const struct instance_row *wanted)
{
    CHECK_JSON(seen->output, wanted->output);
    CHECK_INT(seen->status, wanted->status);
    CHECK_INT(seen->generation, wanted->generation);
    CHECK_JSON(seen->last_error, wanted->last_error);
    CHECK_JSON(seen->undo_error, wanted->undo_error);
    CHECK_INT(seen->start_at_us, wanted->start_at_us);
    CHECK_INT(seen->updated_at_us, wanted->updated_at_us);
    CHECK_INT(seen->started_at_us, wanted->started_at_us);
    CHECK_INT(seen->finished_at_us, wanted->finished_at_us);
    CHECK_INT(seen->is_dlq, wanted->is_dlq);
    CHECK_INT(seen->has_compensation, wanted->has_compensation);
    CHECK_INT(seen->goal, wanted->goal);
    CHECK_INT(seen->is_undo_failed, wanted->is_undo_failed);
    CHECK_INT(seen->undo_first, wanted->undo_first);
    CHECK_INT(seen->undo_from, wanted->undo_from);
    CHECK_INT(seen->undo_to, wanted->undo_to);
    CHECK_INT(seen->undo_below, wanted->undo_below);
    CHECK_TEXT(seen->stop_by, wanted->stop_by);
    CHECK_TEXT(seen->stop_reason, wanted->stop_reason);
    CHECK_TEXT(seen->paused_by, wanted->paused_by);
    CHECK_TEXT(seen->paused_reason, wanted->paused_reason);
    CHECK_INT(seen->paused_at_us, wanted->paused_at_us);
    CHECK_INT(seen->commits, wanted->commits);
    CHECK_INT(seen->active_count, wanted->active_count);
    CHECK_INT(seen->wait_count, wanted->wait_count);
    CHECK_INT(seen->sleep_count, wanted->sleep_count);
    CHECK_INT(seen->decision_count, wanted->decision_count);
    CHECK_INT(seen->parked_count, wanted->parked_count);
    CHECK_INT(seen->awaited_count, wanted->awaited_count);
    CHECK_INT(seen->child_count, wanted->child_count);
    CHECK_INT(seen->own_child_count, wanted->own_child_count);
    CHECK_INT(seen->is_telling, wanted->is_telling);
    CHECK_INT(seen->is_told, wanted->is_told);
    CHECK_INT(seen->is_function, wanted->is_function);
    CHECK_INT(seen->revision, wanted->revision);
    CHECK_INT(seen->places, wanted->places);
    CHECK_INT(seen->is_forced, wanted->is_forced);
    CHECK_INT(seen->is_woken, wanted->is_woken);
}

/* ---- steps ------------------------------------------------------------------------------- */

/* "s0", "s1", ...: texts that stay. */
static const char *place_name(int32_t seq)
{
    enum { NAMES = 256 };
    static char names[NAMES][16];
    CHECK(seq >= 0 && seq < NAMES, "place %d has no name", seq);
    snprintf(names[seq], sizeof names[seq], "s%d", seq);
    return names[seq];
}

struct step_row step_of(const struct instance_row *instance, int32_t seq)
{
    return (struct step_row){.instance_id = instance->id,
                             .instance_seq = instance->seq,
                             .seq = seq,
                             .name = place_name(seq),
                             .kind = KIND_TASK,
                             .handler = "handler",
                             .max_attempts = 3,
                             .priority = 50,
                             .next = -1,
                             .scope_fork = -1,
                             .scope_from = 0,
                             .scope_to = 0,
                             .status = STEP_PENDING,
                             .updated_at_us = instance->created_at_us};
}

struct step_row ready_step(const struct instance_row *instance, int32_t seq, const char *type,
                           int32_t priority)
{
    struct step_row row = step_of(instance, seq);
    row.priority = priority;
    row.status = STEP_READY;
    row.is_ready = true;
    row.handler = row.task_type = type;
    row.input = "{}";
    row.next_run_at_us = instance->created_at_us;
    return row;
}

void add_step(struct rig *rig, struct step_row row)
{
    MUST(rig, rig->ops->insert_steps(rig->tx, &row, 1, &rig->error));
}

void add_pending_steps(struct rig *rig, const struct instance_row *instance, int32_t count)
{
    struct step_row rows[ROWS_MAX];
    CHECK(count <= ROWS_MAX, "count is %d", count);
    for (int32_t seq = 0; seq < count; seq++)
        rows[seq] = step_of(instance, seq);
    MUST(rig, rig->ops->insert_steps(rig->tx, rows, (size_t)count, &rig->error));
}

struct step_row get_step(struct rig *rig, const char *instance_id, const char *name)
{
    struct step_row row;
    MUST(rig, rig->ops->get_step(rig->tx, instance_id, name, &row, &rig->error));
    return row;
}

struct step_row lock_step(struct rig *rig, const char *instance_id, int32_t seq)
{
    struct step_ref ref = {instance_id, seq};
    struct step_row row;
    bool is_found = false;
    MUST(rig, rig->ops->lock_steps(rig->tx, &ref, 1, &row, &is_found, &rig->error));
    CHECK(is_found, "step %d is not found", seq);
    return row;
}

void update_step(struct rig *rig, struct step_row row)
{
    MUST(rig, rig->ops->update_steps(rig->tx, &row, 1, &rig->error));
}

void check_step_planned(const struct step_row *seen, const struct step_row *wanted)
{
    CHECK_TEXT(seen->instance_id, wanted->instance_id);
    CHECK_INT(seen->instance_seq, wanted->instance_seq);
    CHECK_INT(seen->seq, wanted->seq);
    CHECK_TEXT(seen->name, wanted->name);
    CHECK_INT(seen->kind, wanted->kind);
    CHECK_TEXT(seen->handler, wanted->handler);
    CHECK_INT(seen->max_attempts, wanted->max_attempts);
    CHECK_INT(seen->priority, wanted->priority);
    CHECK_INT(seen->next, wanted->next);
    CHECK_INT(seen->scope_fork, wanted->scope_fork);
    CHECK_INT(seen->scope_from, wanted->scope_from);
    CHECK_INT(seen->scope_to, wanted->scope_to);
    CHECK_JSON(seen->config, wanted->config);
    CHECK_JSON(seen->metadata, wanted->metadata);
    CHECK_JSON(seen->instance_metadata, wanted->instance_metadata);
}

void check_step_changing(const struct step_row *seen, const struct step_row *wanted)
{
    CHECK_INT(seen->status, wanted->status);
    CHECK_INT(seen->attempts, wanted->attempts);
    CHECK_INT(seen->compensation_attempts, wanted->compensation_attempts);
    CHECK_JSON(seen->input, wanted->input);
    CHECK_JSON(seen->output, wanted->output);
    CHECK_TEXT(seen->error, wanted->error);
    CHECK_INT(seen->commit_no, wanted->commit_no);
    CHECK_INT(seen->next_run_at_us, wanted->next_run_at_us);
    CHECK_INT(seen->started_at_us, wanted->started_at_us);
    CHECK_INT(seen->finished_at_us, wanted->finished_at_us);
    CHECK_INT(seen->is_ready, wanted->is_ready);
    CHECK_TEXT(seen->task_type, wanted->task_type);
    CHECK_INT(seen->due_at_us, wanted->due_at_us);
    CHECK_INT(seen->is_held, wanted->is_held);
    CHECK_TEXT(seen->locked_by, wanted->locked_by);
    CHECK_TEXT(seen->token, wanted->token);
    CHECK_INT(seen->locked_until_us, wanted->locked_until_us);
    CHECK_INT(seen->call_until_us, wanted->call_until_us);
    CHECK_TEXT(seen->ended_by, wanted->ended_by);
    CHECK_TEXT(seen->ended_token, wanted->ended_token);
    CHECK_INT(seen->stop, wanted->stop);
    CHECK_TEXT(seen->waiting_event, wanted->waiting_event);
    CHECK_INT(seen->deadline_at_us, wanted->deadline_at_us);
    CHECK_INT(seen->is_timed_out, wanted->is_timed_out);
    CHECK_JSON(seen->signal, wanted->signal);
    CHECK_INT(seen->remaining, wanted->remaining);
    CHECK_INT(seen->is_copied, wanted->is_copied);
    CHECK_TEXT(seen->group, wanted->group ? wanted->group : "");
    CHECK_INT(seen->is_counted, wanted->is_counted);
    CHECK_TEXT(seen->ended_outcome, wanted->ended_outcome);
    CHECK_INT(seen->past_effects, wanted->past_effects);
    CHECK_INT(seen->is_effect_begun, wanted->is_effect_begun);
    CHECK_TEXT(seen->function_effects, wanted->function_effects);
    CHECK_TEXT(seen->undo_error, wanted->undo_error);
    CHECK_JSON(seen->passed, wanted->passed);
    CHECK_INT(seen->updated_at_us, wanted->updated_at_us);
}

static void complete_claim(const struct rig *rig, struct step_claim *claim)
{
    if (!claim->base.worker)
        claim->base.worker = "w";
    if (!claim->base.token)
        claim->base.token = "t";
    if (!claim->base.lease_until_us)
        claim->base.lease_until_us = rig->tx->now_us + US_PER_MIN;
}

struct steps *claim_steps_by(struct rig *rig, size_t room, struct step_claim claim)
{
    struct steps *steps = arena_zalloc(&rig->arena, sizeof *steps);
    CHECK(steps && room <= ROWS_MAX, "room is %zu", room);
    complete_claim(rig, &claim);
    steps->count = SIZE_MAX;
    MUST(rig,
         rig->ops->claim_steps(rig->tx, &claim, steps->rows, room, &steps->count, &rig->error));
    CHECK(steps->count <= room, "%zu steps came into room for %zu", steps->count, room);
    return steps;
}

struct steps *claim_steps(struct rig *rig, size_t room, const char *pattern)
{
    return claim_steps_by(
        rig, room, (struct step_claim){.base = {.patterns = &pattern, .pattern_count = 1}});
}

void check_steps(const struct steps *steps, size_t count, const char *const *names)
{
    for (size_t i = 0; i < count && i < steps->count; i++)
        CHECK(strcmp(steps->rows[i].name, names[i]) == 0, "step %zu is %s, not %s", i,
              steps->rows[i].name, names[i]);
    CHECK(steps->count == count, "%zu steps came, not %zu", steps->count, count);
}

void register_type(struct rig *rig, const char *name, const char *runtime, bool enabled)
{
    struct registry_row row = {
        .name = name, .intent_type = "workflow", .runtime = runtime, .is_enabled = enabled};
    MUST(rig, rig->ops->put_registry(rig->tx, &row, &rig->error));
}

bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}
