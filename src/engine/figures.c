/* engine/figures.c - counts what batches do, and writes it to the store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/figures.h"

#include "base/hash.h"
#include "base/mem.h"
#include "engine/workset.h"

#include <stdio.h>
#include <string.h>

#define WRITE_US (10 * US_PER_SEC)
#define FOLD_US US_PER_MIN

void figures_init(struct figures *figures, const char *process)
{
    pthread_mutex_init(&figures->lock, NULL);
    totals_init(&figures->totals, process);
}

void figures_done(struct figures *figures)
{
    for (struct figure_minute *it = figures->minutes, *next; it; it = next) {
        next = it->next;
        mem_free(it);
    }
    for (size_t i = 0; i < FIGURE_BUCKETS; i++)
        for (struct figure_type *it = figures->types[i], *next; it; it = next) {
            next = it->next;
            mem_free(it->name);
            mem_free(it);
        }
    for (size_t i = 0; i < sizeof figures->kept / sizeof *figures->kept; i++)
        mem_free(figures->kept[i].text);
    mem_free(figures->calls);
    totals_done(&figures->totals);
    pthread_mutex_destroy(&figures->lock);
}

/* ---- noting ---------------------------------------------------------------------------------- */

uint32_t task_hash(const char *task_id)
{
    return hash_text(HASH_START, task_id);
}

cairn_code figures_note(struct batch *batch, const struct figure_note *note)
{
    struct figure_note *added = list_add(&batch->arena, &batch->figures);
    NEED(added, batch->error);
    *added = *note;
    return CAIRN_OK;
}

cairn_code figures_note_job_claimed(struct batch *batch, const struct job_row *row)
{
    struct figure_note note = {.kind = NOTE_CLAIMED,
                               .type = row->type,
                               .task = task_hash(row->id),
                               .us = batch->tx->now_us - row->run_at_us};
    return figures_note(batch, &note);
}

cairn_code figures_note_step_claimed(struct batch *batch, const struct step_row *row)
{
    const char *task_id = step_id_make(&batch->arena, row->instance_id, row->seq);
    NEED(task_id, batch->error);
    struct figure_note note = {
        .kind = NOTE_CLAIMED,
        .type = row->task_type,
        .task = task_hash(task_id),
        .us = row->next_run_at_us ? batch->tx->now_us - row->next_run_at_us : -1};
    return figures_note(batch, &note);
}

cairn_code figures_note_call(struct batch *batch, const char *type, const char *task_id,
                             bool is_retried, bool is_failed)
{
    struct figure_note note = {.kind = is_retried ? NOTE_RETRIED : NOTE_ENDED,
                               .type = type,
                               .task = task_hash(task_id),
                               .is_failed = is_failed};
    return figures_note(batch, &note);
}

cairn_code figures_note_event(struct batch *batch, const struct workset_instance *instance,
                              const char *type)
{
    static const struct {
        const char *type;
        enum note_kind kind;
    } events[] = {{"workflow_started", NOTE_STARTED},
                  {"workflow_completed", NOTE_COMPLETED},
                  {"workflow_failed", NOTE_FAILED},
                  {"workflow_cancelled", NOTE_CANCELLED},
                  {"workflow_aborted", NOTE_ABORTED}};
    if (!instance || type[0] != 'w')
        return CAIRN_OK;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if (strcmp(events[i].type, type) != 0)
            continue;
        int64_t since_us = instance->row.started_at_us;
        struct figure_note note = {.kind = events[i].kind,
                                   .workflow = instance->row.workflow,
                                   .us = since_us ? batch->tx->now_us - since_us : -1};
        return figures_note(batch, &note);
    }
    return CAIRN_OK;
}

/* ---- counting -------------------------------------------------------------------------------- */

/* NULL: memory ran out, or there are too many, which count only together with all others. */
static const char *keep_type(struct figures *figures, const char *prefix, const char *name)
{
    uint32_t hash = hash_text(hash_text(HASH_START, prefix), name);
    struct figure_type **bucket = &figures->types[hash % FIGURE_BUCKETS];
    size_t skip = strlen(prefix);
    for (struct figure_type *it = *bucket; it; it = it->next)
        if (strncmp(it->name, prefix, skip) == 0 && strcmp(it->name + skip, name) == 0)
            return it->name;
    if (figures->type_count >= FIGURE_TYPES_MAX)
        return NULL;
    struct figure_type *made = mem_zalloc(sizeof *made);
    char *text = made ? mem_alloc(skip + strlen(name) + 1) : NULL;
    if (!text) {
        mem_free(made);
        return NULL;
    }
    strcpy(stpcpy(text, prefix), name);
    *made = (struct figure_type){.name = text, .next = *bucket};
    *bucket = made;
    figures->type_count++;
    return text;
}

/* The figures of a type in this minute; NULL: memory ran out. */
static struct figure *minute_of(struct figures *figures, const char *type, int64_t now_us)
{
    int64_t at_us = now_us - now_us % US_PER_MIN;
    struct figure_minute *minute = figures->minutes;
    while (minute && (minute->at_us != at_us || minute->type != type))
        minute = minute->next;
    if (!minute && (minute = mem_zalloc(sizeof *minute))) {
        minute->type = type;
        minute->at_us = at_us;
        minute->next = figures->minutes;
        figures->minutes = minute;
    }
    if (minute)
        minute->changes++;
    return minute ? &minute->figure : NULL;
}

static void count_into(struct figure *figure, const struct figure_note *note, int64_t took_us)
{
    if (!figure)
        return;
    bool is_call_over = note->kind == NOTE_ENDED || note->kind == NOTE_RETRIED;
    figure->started += note->kind == NOTE_STARTED;
    figure->completed += note->kind == NOTE_COMPLETED;
    figure->failed += note->kind == NOTE_FAILED;
    figure->tasks += is_call_over;
    figure->retried += note->kind == NOTE_RETRIED || note->kind == NOTE_LOST;
    if (is_call_over && took_us >= 0)
        histogram_add(&figure->took, took_us);
    if (note->kind == NOTE_CLAIMED && note->us >= 0)
        histogram_add(&figure->wait, note->us);
    bool is_ended = note->kind == NOTE_COMPLETED || note->kind == NOTE_FAILED;
    if (is_ended && took_us >= 0)
        histogram_add(&figure->took, took_us);
}

/* The call that a note is about; NULL: it is not known.  Two that share a place are not both known. */
static struct call_begun *call_of(struct figures *figures, const struct figure_note *note)
{
    if (!figures->calls && note->kind == NOTE_CLAIMED)
        figures->calls = mem_zalloc(CALLS_KEPT * sizeof *figures->calls);
    struct call_begun *call = figures->calls ? &figures->calls[note->task % CALLS_KEPT] : NULL;
    bool is_known = call && call->at_us && call->task == note->task;
    return is_known || note->kind == NOTE_CLAIMED ? call : NULL;
}

/* The sums have the times of calls; how long an instance took is kept with its workflow. */
static void count_note(struct figures *figures, const struct figure_note *note, int64_t now_us)
{
    static const char all[] = "";
    struct call_begun *call = note->task ? call_of(figures, note) : NULL;
    bool is_claim = note->kind == NOTE_CLAIMED;
    int64_t took_us = call && !is_claim ? now_us - call->at_us : -1;
    const char *type = NULL;
    if (note->workflow)
        type = keep_type(figures, "@", note->workflow);
    else if (note->type)
        type = keep_type(figures, "", note->type);
    else if (call)
        type = call->type;
    if (call)
        *call = (struct call_begun){note->task, type, is_claim ? now_us : 0};
    bool is_lost = note->kind == NOTE_LOST;
    if (!is_lost)
        totals_count(&figures->totals, note, note->type ? note->type : type,
                     note->workflow ? note->us : took_us);
    if (note->kind == NOTE_CANCELLED || note->kind == NOTE_ABORTED)
        return;
    if (!is_lost)
        count_into(minute_of(figures, all, now_us), note, took_us);
    if (type)
        count_into(minute_of(figures, type, now_us), note, note->workflow ? note->us : took_us);
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool is_unwritten(const struct figure_minute *minute)
{
    return minute->changes != minute->written;
}

/* What has changed, which is being written then.  With the lock held. */
static cairn_code take_changed(struct local_engine *engine, struct arena *arena,
                               struct figure_row **ret_rows, size_t *ret_count,
                               cairn_error *reterr)
{
    struct figures *figures = &engine->figures;
    size_t count = 0;
    for (const struct figure_minute *it = figures->minutes; it; it = it->next)
        count += is_unwritten(it);
    *ret_rows = arena_array(arena, count, sizeof **ret_rows);
    NEED(*ret_rows, reterr);
    *ret_count = 0;
    for (struct figure_minute *it = figures->minutes; it; it = it->next) {
        it->writing = it->written;
        if (!is_unwritten(it))
            continue;
        it->writing = it->changes;
        TRY(figures_minute_row(engine, arena, it, &(*ret_rows)[(*ret_count)++], reterr));
    }
    return CAIRN_OK;
}

cairn_code figures_minute_row(struct local_engine *engine, struct arena *arena,
                              const struct figure_minute *minute, struct figure_row *ret_row,
                              cairn_error *reterr)
{
    *ret_row = (struct figure_row){.type = minute->type,
                                   .resolution = FIGURES_MINUTE,
                                   .at_us = minute->at_us,
                                   .process = engine->workers.process};
    return figure_to_row(arena, &minute->figure, ret_row, reterr);
}

static cairn_code take_all(struct batch *batch, struct figure_row **ret_rows, size_t *ret_count)
{
    TRY(take_changed(batch->engine, &batch->arena, ret_rows, ret_count, batch->error));
    return totals_take(batch->engine, &batch->arena, batch->tx->now_us, &batch->totals,
                       &batch->total_count, batch->error);
}

static bool is_time(const struct figures *figures, const struct batch *batch)
{
    int64_t since_us = batch->tx->now_us - figures->written_us;
    return figures->is_changed && !figures->is_writing &&
           (batch->is_figures_wanted || since_us >= WRITE_US || since_us < 0);
}

cairn_code figures_write(struct batch *batch)
{
    struct figures *figures = &batch->engine->figures;
    int64_t now_us = batch->tx->now_us;
    int64_t mono_us = clock_monotonic_us(&batch->engine->clock);
    struct figure_row *rows = NULL;
    size_t count = 0;
    pthread_mutex_lock(&figures->lock);
    if (!figures->written_us)
        figures->written_us = now_us;
    bool is_due = is_time(figures, batch);
    cairn_code code = is_due ? take_all(batch, &rows, &count) : CAIRN_OK;
    bool is_folding = !code && is_due && now_us - figures->folded_us >= FOLD_US;
    if (!code && is_due) {
        figures->is_writing = batch->has_figures = true;
        figures->is_changed = false;
        figures->written_us = now_us;
    }
    if (!code && (is_due || figures->look_us <= mono_us))
        figures->look_us = mono_us + (is_due ? WRITE_US : US_PER_SEC); /* clocks may differ */
    if (is_folding)
        figures->folded_us = now_us;
    pthread_mutex_unlock(&figures->lock);
    TRY(code);
    if (count)
        TRY(STORE(batch, put_figures, rows, count));
    if (batch->total_count)
        TRY(STORE(batch, put_totals, batch->totals, batch->total_count));
    if (is_folding)
        TRY(totals_fold(batch));
    return is_folding ? figures_fold(batch) : CAIRN_OK;
}

/* Minutes that are over and were written are no longer needed here. */
static void drop_written(struct figures *figures, int64_t now_us)
{
    struct figure_minute **at = &figures->minutes;
    while (*at) {
        struct figure_minute *minute = *at;
        if (minute->at_us + US_PER_MIN > now_us || is_unwritten(minute)) {
            at = &minute->next;
            continue;
        }
        *at = minute->next;
        mem_free(minute);
    }
}

static void settle_written(struct figures *figures, int64_t now_us, bool is_committed)
{
    for (struct figure_minute *it = figures->minutes; it && is_committed; it = it->next)
        it->written = it->writing;
    if (!is_committed) {
        figures->is_changed = true;
        figures->written_us = 1; /* soon */
    }
    figures->is_writing = false;
    drop_written(figures, now_us);
}

void figures_settle(struct batch *batch, int64_t now_us, bool is_committed)
{
    static const struct tally nothing;
    struct figures *figures = &batch->engine->figures;
    bool is_news = is_committed && (batch->figures.count ||
                                    memcmp(&batch->tally, &nothing, sizeof nothing) != 0);
    if (!batch->has_figures && !is_news)
        return;
    pthread_mutex_lock(&figures->lock);
    if (batch->has_figures) {
        settle_written(figures, now_us, is_committed);
        totals_settle(&figures->totals, batch->totals, batch->total_count, now_us,
                      is_committed);
    }
    if (is_news)
        totals_count_batch(batch);
    for (size_t i = 0; i < batch->figures.count && is_committed; i++)
        count_note(figures, &batch->figures.items[i], now_us);
    if (is_news) {
        figures->is_changed = true;
        if (!figures->look_us)
            figures->look_us = clock_monotonic_us(&batch->engine->clock) + WRITE_US;
    }
    pthread_mutex_unlock(&figures->lock);
}

/* It alone is no reason to write: to write is a commit, too. */
void figures_note_commit(struct batch *batch, int64_t took_us)
{
    struct figures *figures = &batch->engine->figures;
    pthread_mutex_lock(&figures->lock);
    totals_count_commit(&figures->totals, batch->requests->count, took_us);
    pthread_mutex_unlock(&figures->lock);
}

int64_t figures_next_us(struct local_engine *engine)
{
    struct figures *figures = &engine->figures;
    pthread_mutex_lock(&figures->lock);
    bool is_needed = figures->is_changed && !figures->is_writing && keeps_timers(engine);
    int64_t next_us = is_needed ? figures->look_us : INT64_MAX;
    pthread_mutex_unlock(&figures->lock);
    return next_us;
}

/* Only a process that others hear of: not a command that is over at once. */
void figures_leave(struct local_engine *engine)
{
    struct store_session *session = engine->committers[0].session;
    const struct store_ops *ops = engine->store->ops;
    struct arena arena = {0};
    struct store_tx *tx;
    struct figure_row *rows;
    struct total_row *totals;
    size_t count = 0, total_count = 0;
    bool is_known = engine->base.options.serves || engine->workers.is_any_written ||
                    engine->figures.totals.written_us;
    if (!is_known || !engine->figures.is_changed || !session || engine->is_in_trouble)
        return;
    engine->store->stop_fd = -1; /* what is asked now is not to be given up */
    session->deadline_us = clock_monotonic_us(&engine->clock) + US_PER_SEC;
    if (!take_changed(engine, &arena, &rows, &count, NULL) &&
        !ops->begin(session, &arena, &tx, NULL)) {
        if (ops->put_figures(tx, rows, count, NULL) ||
            totals_take(engine, &arena, tx->now_us, &totals, &total_count, NULL) ||
            ops->put_totals(tx, totals, total_count, NULL))
            ops->rollback(tx);
        else
            ops->commit(tx, 0, NULL);
    }
    arena_done(&arena);
}
