/* engine/read_step.c - one step whole: its calls, the step before it, and why it stands where it does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/scan.h"
#include "engine/read_why.h"

#include <string.h>

enum { EVENTS_MAX = 5000, PORTION = 500, KEPT_MAX = 1000, BACK_MAX = 256 };

/* What was read for one step. */
struct look {
    struct question *q;
    struct instance_row instance;
    struct step_row row;
    struct why_step why;

    /* Its events, the newest first; at most KEPT_MAX. */
    struct event_row *events;
    size_t event_count;

    struct step_row previous; /* name NULL: none was found */
    const char *condition;    /* that did not take the step's list; NULL: none */
    bool is_condition_true;
};

/* ---- events --------------------------------------------------------------------------------- */

static cairn_code read_events(struct look *look)
{
    struct question *q = look->q;
    struct event_row *rows = arena_array(q->arena, PORTION, sizeof *rows);
    const char *name = look->row.name ? look->row.name : "";
    size_t count = PORTION, seen = 0;
    look->events = arena_array(q->arena, KEPT_MAX, sizeof *look->events);
    NEED(rows && look->events, q->error);
    for (int64_t before = 0; count == PORTION && seen < EVENTS_MAX; seen += count) {
        TRY(STORE(q, list_events_before, look->instance.id, before, rows, PORTION, &count));
        for (size_t i = 0; i < count; i++) {
            bool is_own = rows[i].step && strcmp(rows[i].step, name) == 0;
            if (is_own && look->event_count < KEPT_MAX)
                look->events[look->event_count++] = rows[i];
            before = rows[i].id;
        }
    }
    return CAIRN_OK;
}

/* A text of an event's data; NULL: it has none. */
static cairn_code event_text(struct question *q, const struct event_row *event,
                             const char *name, const char **ret_text)
{
    struct slice data, value;
    *ret_text = NULL;
    if (!scan_text(event->data, strlen(event->data), &data))
        return CAIRN_OK;
    value = scan_find(data, name);
    if (!value.text || !slice_is_string(value))
        return CAIRN_OK;
    *ret_text = slice_string(value, q->arena);
    NEED(*ret_text, q->error);
    return CAIRN_OK;
}

/* ---- calls ---------------------------------------------------------------------------------- */

static const char *outcome_of(const char *type)
{
    static const struct {
        const char *type, *outcome;
    } outcomes[] = {
        {"step_completed", "completed"},
        {"compensation_success", "completed"},
        {"step_retry", "retry"},
        {"compensation_retry", "retry"},
        {"step_failed", "failed"},
        {"compensation_max_retries_exceeded", "failed"},
        {"step_waiting", "waiting"},
        {"step_ready", "released"},
        {"step_skipped_missing_handler", "released"},
        {"step_skipped", "stopped"},
        {"step_pending", "stopped"},
    };
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++)
        if (strcmp(outcomes[i].type, type) == 0)
            return outcomes[i].outcome;
    return NULL;
}

static cairn_code begin_call(struct look *look, const struct event_row *event,
                             struct step_whole *item, int32_t counts[2])
{
    struct attempt_item *attempt = &item->attempts[item->attempt_count++];
    const char *status, *worker;
    TRY(event_text(look->q, event, "status", &status));
    TRY(event_text(look->q, event, "worker", &worker));
    bool is_undo = status && strcmp(status, "compensation") == 0;
    *attempt = (struct attempt_item){.kind = is_undo ? "undo" : "call",
                                     .worker = worker,
                                     .n = ++counts[is_undo],
                                     .started_at_us = event->at_us};
    return CAIRN_OK;
}

/* What a function remembers has no event of its beginning: it is called inside of the function. */
static bool is_remembered(const struct step_row *row)
{
    return row->kind == KIND_TASK && !row->handler;
}

static cairn_code end_call(struct look *look, const struct event_row *event,
                           struct step_whole *item, int32_t counts[2])
{
    const char *outcome = outcome_of(event->type);
    struct attempt_item *open =
        item->attempt_count ? &item->attempts[item->attempt_count - 1] : NULL;
    bool is_call = outcome && (strcmp(outcome, "completed") == 0 ||
                               strcmp(outcome, "retry") == 0 || strcmp(outcome, "failed") == 0);
    if (!outcome || ((!open || open->outcome) && !(is_remembered(&look->row) && is_call)))
        return CAIRN_OK;
    if (!open || open->outcome) {
        open = &item->attempts[item->attempt_count++];
        *open = (struct attempt_item){.kind = "call", .n = ++counts[0]};
    }
    open->outcome = outcome;
    open->ended_at_us = event->at_us;
    return event_text(look->q, event, "error", &open->error);
}

static cairn_code list_calls(struct look *look, struct step_whole *item)
{
    int32_t counts[2] = {0};
    item->attempts = arena_array(look->q->arena, look->event_count, sizeof *item->attempts);
    NEED(item->attempts || !look->event_count, look->q->error);
    for (size_t i = look->event_count; i-- > 0;) {
        const struct event_row *event = &look->events[i];
        if (strcmp(event->type, "step_started") == 0)
            TRY(begin_call(look, event, item, counts));
        else
            TRY(end_call(look, event, item, counts));
    }
    return CAIRN_OK;
}

/* ---- what is around it ---------------------------------------------------------------------- */

static bool is_within(struct place_range range, int32_t seq)
{
    return range.first >= 0 && seq >= range.first && seq <= range.last;
}

/* Whether the step follows this one, which stands before it in the file. */
static bool is_followed(const struct step_row *before, const struct step_config *config,
                        int32_t seq)
{
    if (before->kind == KIND_CONDITION &&
        (config->then_list.first == seq || config->else_list.first == seq))
        return true;
    for (size_t i = 0; before->kind == KIND_FORK && i < config->branch_count; i++)
        if (config->branches[i].first == seq)
            return true;
    return before->kind != KIND_FORK && before->next == seq;
}

static void look_at(struct look *look, const struct step_row *before,
                    const struct step_config *config)
{
    int32_t seq = look->row.seq;
    /* One that was passed over has given nothing; another list of the same condition may have. */
    if ((!look->previous.name || look->previous.status == STEP_SKIPPED) &&
        is_followed(before, config, seq))
        look->previous = *before;
    bool is_then = is_within(config->then_list, seq),
         is_else = is_within(config->else_list, seq);
    if (!look->condition && before->kind == KIND_CONDITION && (is_then || is_else)) {
        look->condition = before->name;
        look->is_condition_true = is_else;
    }
}

/* The nearest ones are looked at, one after the other. */
static cairn_code read_before(struct look *look)
{
    struct question *q = look->q;
    int32_t least = look->row.seq > BACK_MAX ? look->row.seq - BACK_MAX : 0;
    for (int32_t seq = look->row.seq - 1; seq >= least; seq--) {
        struct step_ref ref = {.instance_id = look->instance.id, .seq = seq};
        struct step_config config = {0};
        struct step_row row;
        bool is_found = false;
        TRY(STORE(q, read_steps, &ref, 1, &row, &is_found));
        if (!is_found)
            continue;
        TRY(step_config_read(q->arena, row.config, &config, q->error));
        look_at(look, &row, &config);
        if (look->previous.name && look->previous.status != STEP_SKIPPED &&
            (look->condition || look->row.status != STEP_SKIPPED))
            break;
    }
    return CAIRN_OK;
}

/* ---- why ------------------------------------------------------------------------------------ */

static cairn_code was_not_taken(struct look *look, bool *ret_is_so)
{
    const char *reason = NULL;
    for (size_t i = 0; i < look->event_count; i++) {
        if (strcmp(look->events[i].type, "step_skipped") != 0)
            continue;
        TRY(event_text(look->q, &look->events[i], "reason", &reason));
        break;
    }
    *ret_is_so = reason && strcmp(reason, "condition") == 0;
    return CAIRN_OK;
}

static cairn_code add_decision(struct look *look, struct why_other *facts)
{
    struct question *q = look->q;
    struct decision_row rows[16];
    size_t count = 16;
    if (look->row.kind != KIND_HUMAN)
        return CAIRN_OK;
    for (int64_t after = 0; count == 16;) {
        TRY(STORE(q, list_decisions, look->instance.id, after, rows, 16, &count));
        for (size_t i = 0; i < count; i++) {
            after = rows[i].id;
            if (rows[i].step_seq != look->row.seq)
                continue;
            facts->decided_by = rows[i].decided_by;
            facts->comment = rows[i].comment;
            facts->decided_us = rows[i].decided_at_us;
            facts->is_confirmed = strcmp(rows[i].decision, "confirmed") == 0;
        }
    }
    return CAIRN_OK;
}

/* The names of the open steps in the branches that a join waits for. */
static cairn_code add_branches(struct look *look, struct why_other *facts)
{
    struct question *q = look->q;
    const struct step_config *join = look->why.config;
    struct step_config config = {0};
    struct step_row fork;
    struct open_steps open = {0};
    struct buf names = {0};
    bool is_found = false;
    if (look->row.kind != KIND_JOIN || !join)
        return CAIRN_OK;
    struct step_ref ref = {.instance_id = look->instance.id, .seq = join->fork};
    TRY(STORE(q, read_steps, &ref, 1, &fork, &is_found));
    if (!is_found)
        return CAIRN_OK;
    TRY(step_config_read(q->arena, fork.config, &config, q->error));
    TRY(question_open_steps(q, look->instance.id, &open));
    for (size_t i = 0; i < open.count; i++)
        if (open.items[i].seq > fork.seq && open.items[i].seq < look->row.seq)
            buf_printf(&names, "%s%s", names.len ? ", " : "", open.items[i].name);
    facts->branch_count = (int32_t)config.branch_count;
    facts->branches = arena_strdup(q->arena, names.len ? buf_text(&names) : "-");
    bool is_failed = buf_failed(&names) || !facts->branches;
    buf_done(&names);
    return is_failed ? fail_memory(q->error) : CAIRN_OK;
}

static cairn_code say_why(struct look *look, struct step_whole *item)
{
    struct question *q = look->q;
    struct why_other facts = {.now_us = q->tx->now_us,
                              .opened_us = question_opened_us(q),
                              .instance = &look->instance,
                              .step = &look->why,
                              .previous = look->previous.name};
    cairn_why *why = arena_zalloc(q->arena, sizeof *why);
    bool is_not_taken = false;
    NEED(why, q->error);
    TRY(was_not_taken(look, &is_not_taken));
    if (is_not_taken) {
        facts.condition = look->condition;
        facts.is_condition_true = look->is_condition_true;
    }
    TRY(add_decision(look, &facts));
    TRY(add_branches(look, &facts));
    item->why = why;
    return why_step(q->arena, &facts, why) ? CAIRN_OK : fail_memory(q->error);
}

/* ---- the step ------------------------------------------------------------------------------- */

static cairn_code find_step(struct look *look, const char *id)
{
    struct question *q = look->q;
    char instance_id[ID_TEXT];
    bool is_found = false;
    struct step_ref ref = {.instance_id = instance_id};
    if (step_id_split(id, instance_id, &ref.seq)) {
        cairn_code code = STORE(q, get_instance, instance_id, &look->instance);
        if (code && code != CAIRN_E_NOT_FOUND)
            return code;
        if (!code)
            TRY(STORE(q, read_steps, &ref, 1, &look->row, &is_found));
    }
    if (!is_found)
        return fail(q->error, CAIRN_E_NOT_FOUND, "step \"%.64s\" does not exist", id);
    return CAIRN_OK;
}

cairn_code answer_step(struct question *q)
{
    struct look look = {.q = q};
    struct step_whole *item = arena_zalloc(q->arena, sizeof *item);
    NEED(item, q->error);
    TRY(find_step(&look, q->request->in.id));
    TRY(why_facts_of_step(q, &look.row, &look.why));
    TRY(read_events(&look));
    TRY(read_before(&look));
    TRY(step_to_public(q->arena, &look.row, &item->base, q->error));
    TRY(question_wait_for(q, &look.row, &item->base));
    item->instance_id = look.instance.id;
    item->previous_seq = look.previous.name ? look.previous.seq : -1;
    TRY(list_calls(&look, item));
    TRY(say_why(&look, item));
    q->request->out.page = (struct page_output){.items = item, .count = 1};
    return CAIRN_OK;
}
