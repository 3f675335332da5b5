/* engine/figures.h - how much happens, and how long it takes: what this process counts of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A batch notes what it does; once it is committed, the notes are counted, by minute and by type.  Every 10 s
 * what was counted is written to the store, in a batch that commits anyway, or alone.  A row is written by its
 * own process alone, so that no process waits for another.  Minutes become rows of ten minutes after 3 hours,
 * and these become hours after 3 days; hours are kept for 90 days.  A crash may lose 10 s of figures.
 */
#ifndef ENGINE_FIGURES_H
#define ENGINE_FIGURES_H

#include "cairn.h"
#include "core/histogram.h"
#include "engine/totals.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { FIGURE_BUCKETS = 128, FIGURE_TYPES_MAX = 500, CALLS_KEPT = 4096 };

/* The widths of rows, in seconds. */
enum { FIGURES_MINUTE = 60, FIGURES_TEN_MINUTES = 600, FIGURES_HOUR = 3600 };

#define FIGURES_KEPT_MINUTES (180 * US_PER_MIN)
#define FIGURES_KEPT_TENS (3 * 24 * 60 * US_PER_MIN)
#define FIGURES_KEPT_HOURS (90 * 24 * 60 * US_PER_MIN)

/* Of one type in one time.  Jobs and instances: started, completed, failed; tasks: the others. */
struct figure {
    int64_t started, completed, failed;
    int64_t tasks, retried; /* calls that have ended; those of them that are made again.  Of a
                               workflow: none; calls whose lease nobody has renewed */
    struct histogram took,
        wait; /* calls (of a workflow: instances); from being ready to the claim */
};

enum note_kind {
    NOTE_STARTED,
    NOTE_COMPLETED,
    NOTE_FAILED,
    NOTE_CANCELLED, /* counted in the totals alone, as those that were aborted */
    NOTE_ABORTED,
    NOTE_CLAIMED,
    NOTE_ENDED,
    NOTE_RETRIED,
    NOTE_LOST /* counted with its workflow alone */
};

/* What a batch has done. */
struct figure_note {
    enum note_kind kind;
    const char *type; /* of a job or task; NULL: that of the claim */
    const char *workflow;
    uint32_t task;  /* task_hash() */
    int64_t us;     /* how long it waited, or an instance took; -1: not known */
    bool is_failed; /* NOTE_ENDED: the call has failed */
};

/* A type or workflow: the name stays where it is. */
struct figure_type {
    char *name; /* of a workflow "@name"; mem_free */
    struct figure_type *next;
};

struct figure_minute {
    const char *type; /* "": all together */
    int64_t at_us;
    struct figure figure;
    uint64_t changes, written, writing; /* how often it has changed; when it was written */
    struct figure_minute *next;
};

/* When a task was claimed, to know how long it takes. */
struct call_begun {
    uint32_t task;
    const char *type;
    int64_t at_us; /* 0: there is none */
};

struct kept_overview {
    char *text; /* mem_free; NULL: none */
    int64_t until_us;
};

struct figures {
    pthread_mutex_t lock;
    struct figure_type *types[FIGURE_BUCKETS];
    size_t type_count;
    struct figure_minute *minutes; /* this one, and what is not written yet */
    struct call_begun *calls;      /* CALLS_KEPT, by hash; NULL: none yet */
    bool is_changed, is_writing;
    int64_t written_us, folded_us; /* by the store's clock */
    int64_t look_us;               /* monotonic: when to write next without a batch; 0: never */
    struct kept_overview kept[8];  /* by range */
    struct totals totals;
};

struct arena;
struct batch;
struct local_engine;
struct question;
struct figure_row;
struct workset_instance;
struct job_row;
struct step_row;

void figures_init(struct figures *figures, const char *process);
void figures_done(struct figures *figures);

uint32_t task_hash(const char *task_id);

/* In a batch: notes what happens. */
cairn_code figures_note(struct batch *batch, const struct figure_note *note);
cairn_code figures_note_job_claimed(struct batch *batch, const struct job_row *row);
cairn_code figures_note_step_claimed(struct batch *batch, const struct step_row *row);
/* A call has ended.  type: NULL: as its claim says. */
cairn_code figures_note_call(struct batch *batch, const char *type, const char *task_id,
                             bool is_retried, bool is_failed);
cairn_code figures_note_event(struct batch *batch, const struct workset_instance *instance,
                              const char *type);

/* In a batch, at its end: writes what was counted so far, if it is time. */
cairn_code figures_write(struct batch *batch);
/* After the batch: its notes count if it was committed. */
void figures_settle(struct batch *batch, int64_t now_us, bool is_committed);
/* After that, if it was committed. */
void figures_note_commit(struct batch *batch, int64_t took_us);

/* As workers_next_us() and workers_leave(). */
int64_t figures_next_us(struct local_engine *engine);
void figures_leave(struct local_engine *engine);

/* A minute as the store keeps it; its texts are the engine's. */
cairn_code figures_minute_row(struct local_engine *engine, struct arena *arena,
                              const struct figure_minute *minute, struct figure_row *ret_row,
                              cairn_error *reterr);

/* figures_fold.c: old rows become rows of longer times, a portion at a time. */
cairn_code figures_fold(struct batch *batch);
void figure_of_row(const struct figure_row *row, struct figure *ret_figure);
cairn_code figure_to_row(struct arena *arena, const struct figure *figure,
                         struct figure_row *row, cairn_error *reterr);
void figure_add(struct figure *to, const struct figure *from);

/* figures_read.c: what is known of a type ("": all; "@name": a workflow) from a time on, the store's rows and
 * what is not written yet; in any order. */
cairn_code figures_list(struct question *q, const char *type, int64_t from_us,
                        struct figure_row **ret_rows, size_t *ret_count);
/* The same, added up, in rows that figures_room() has made; they serve several calls. */
cairn_code figures_room(struct question *q, struct figure_row **ret_rows);
cairn_code figures_sum(struct question *q, struct figure_row *rows, const char *type,
                       int64_t from_us, struct figure *ret_sum);

#endif
