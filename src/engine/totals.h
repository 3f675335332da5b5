/* engine/totals.h - running totals for /metrics: what processes have counted since they began.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each process has its own rows in the store, for all together and for each task type and workflow that it has
 * met.  They are written together with the figures (figures.h), under the same lock.  A process that is gone
 * writes no more; after GONE_US its rows are added to those of the process "".  A process that has not written
 * for REST_US may be taken for gone, so it goes on under another name, with what it has counted since.
 *
 * Names that come after the first TOTAL_NAMES_MAX of their kind count as "other".  First is who was written first,
 * so that a name never changes sides.
 */
#ifndef ENGINE_TOTALS_H
#define ENGINE_TOTALS_H

#include "cairn.h"
#include "core/histogram.h"

#include <stdbool.h>
#include <stdint.h>

enum { TOTAL_NAMES_MAX = 100, TOTAL_BUCKETS = 64, TOTAL_PROCESS_TEXT = 160 };

enum total_kind { TOTAL_ALL, TOTAL_TYPE, TOTAL_WORKFLOW, TOTAL_KINDS };

/* The numbers are in the store: new ones come at the end, and none is used again. */
enum total_count {
    /* all together, as in struct counters */
    TOTAL_enqueued,
    TOTAL_claimed,
    TOTAL_completed,
    TOTAL_failed,
    TOTAL_retried,
    TOTAL_cancelled,
    TOTAL_released,
    TOTAL_heartbeats,
    TOTAL_lease_expiries,
    TOTAL_late_reports,
    TOTAL_started,
    TOTAL_passages,
    TOTAL_passage_commits,
    TOTAL_passage_conflicts,
    TOTAL_commits,
    TOTAL_commit_requests,
    TOTAL_commit_us_max, /* the one that is no sum; of a process that is gone it does not count */
    /* of a type or workflow: jobs or instances */
    TOTAL_BEGUN,
    TOTAL_ENDED_WELL,
    TOTAL_ENDED_FAILED,
    TOTAL_ENDED_CANCELLED,
    TOTAL_ENDED_ABORTED,
    /* of a type: calls */
    TOTAL_CALLS_WELL,
    TOTAL_CALLS_FAILED,
    TOTAL_CALLS_RETRIED,
    TOTAL_COUNTS = HISTOGRAM_BUCKETS /* what a later release has added is kept */
};

struct total {
    int64_t n[TOTAL_COUNTS];
    struct histogram took, waited;
    int64_t took_us, waited_us;
};

/* What this process has counted under a name. */
struct total_kept {
    enum total_kind kind;
    char *name; /* mem_free */
    struct total now,
        stored;       /* stored: what the store has under the present name of the process */
    int64_t first_us; /* when it was first written, by the store's clock */
    bool is_changed, is_stored;
    struct total_kept *next;
};

struct totals {
    char process[TOTAL_PROCESS_TEXT];
    struct total_kept *buckets[TOTAL_BUCKETS];
    size_t counts[TOTAL_KINDS];
    int life;           /* part of the name of the process */
    int64_t written_us; /* when it was written last, by the store's clock; 0: never */
};

struct arena;
struct batch;
struct figure_note;
struct local_engine;
struct question;
struct total_row;

void totals_init(struct totals *totals, const char *process);
void totals_done(struct totals *totals);

/* All of these: with the lock of the figures held. */

/* type: NULL: it is not known.  took_us: of a call or an instance; -1: not known. */
void totals_count(struct totals *totals, const struct figure_note *note, const char *type,
                  int64_t took_us);
void totals_count_batch(struct batch *batch); /* its tally */
void totals_count_commit(struct totals *totals, size_t requests, int64_t took_us);

/* What has changed, as rows. */
cairn_code totals_take(struct local_engine *engine, struct arena *arena, int64_t now_us,
                       struct total_row **ret_rows, size_t *ret_count, cairn_error *reterr);
/* They were written, or they were not. */
void totals_settle(struct totals *totals, const struct total_row *rows, size_t count,
                   int64_t now_us, bool is_committed);

/* In a batch, without the lock: the rows of processes that are gone become those of the process "". */
cairn_code totals_fold(struct batch *batch);

void total_add(struct total *to, const struct total *from);
void total_of_row(const struct total_row *row, struct total *ret_total);

/* Names that are labels of their own. */
struct total_names {
    const char *names[TOTAL_KINDS][TOTAL_NAMES_MAX];
    size_t counts[TOTAL_KINDS];
};

/* From rows in the order of list_totals(); texts stay the rows'. */
void total_names_of(const struct total_row *rows, size_t count, struct total_names *ret_names);
const char *total_label(const struct total_names *names, enum total_kind kind,
                        const char *name); /* "other" if it is none */

/* The sum for the store, by kind and name; the first one is that of all. */
struct total_sum {
    enum total_kind kind;
    const char *name;
    struct total total;
};

struct total_sums {
    struct total_sum *items;
    size_t count;
    struct total_names names;
};

/* totals_read.c.  The longest commit is that of the processes that live. */
cairn_code totals_sum(struct question *q, struct total_sums *ret_sums);

#endif
