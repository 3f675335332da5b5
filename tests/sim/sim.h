/* tests/sim/sim.h - a world of engines, workers and people that chance plays with.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One thread, one virtual clock, one seed.  Several engines use one store in memory, each
 * through a faulty one of its own.  In every round some requests are handed in, the committers
 * run, now and then an engine dies with what it has; after each run all rows are read past the
 * faults and the laws are checked against those before.  In the end all faults stop and
 * everything must come to its end.
 *
 * Engines have a virtual clock and apply timers before claims.  With has_timers they have a real
 * clock whose source is the simulator: then each keeps the timers by itself, as in production.
 */
#ifndef SIM_H
#define SIM_H

#include "base/random.h"
#include "core/instance.h"
#include "engine/local.h"
#include "faulty/faulty.h"

enum {
    ENGINES = 3,
    STARTS_MAX = 6, /* that people ask for; functions start more */
    ENQUEUES_MAX = 6,
    RERUNS_MAX = 3,
    LIMITED_MAX = 14, /* instead, if there are limits */
    SEEN_LIMITS = 3,
    TOKENS_MAX = 8192,
    INSTANCES_MAX = 160,
    CROWD = 16, /* instances: then nobody starts more or begins anew */
    CROWD_OF_FAMILIES = 36,
    STEPS_MAX = 128,
    JOBS_MAX = 40,
    HELD_MAX = 96,
    OPS_MAX = 6,
    LEASES_MAX = 160,
    ALL_EVENTS_MAX = 2000, /* between two snapshots */
    ALL_RECORDS_MAX = 512,
    LOGS_MAX = 200,
    FUNCTIONS_MAX = 3,
    VERSIONS = 3, /* of each function, all with the same program */
    PROGRAM_OPS_MAX = 24,
    RUNNERS_MAX = 4
};

#define SIM_START_US (INT64_C(1800000000) * US_PER_SEC)

/* ---- what the store holds ---------------------------------------------------------------- */

/* Rows that snapshots share as long as they do not change. */
struct kept_rows {
    int refs;
    struct arena arena;
};

struct seen_instance {
    struct kept_rows *kept; /* what its row and steps are in */
    bool is_changed;        /* since the snapshot before */
    struct instance_row row;
    struct step_row *steps;
    size_t step_count;
    struct event_row *events; /* since the snapshot before */
    size_t event_count;
    int64_t last_event;
    struct dlq_row *records; /* open ones */
    size_t record_count;
    struct log_row *logs; /* since the snapshot before */
    size_t log_count;
    int64_t last_log;
};

struct seen_job {
    struct job_row row;
    struct event_row *events; /* since the snapshot before */
    size_t event_count;
};

struct snapshot {
    struct arena arena; /* of what is new in it */
    struct kept_rows *kept_jobs, *kept_records;
    struct dlq_row *records; /* all open ones */
    size_t record_count;
    bool has_signals; /* some were received or taken since the snapshot before */
    int64_t now_us;
    int64_t last_event;                            /* of all */
    int64_t last_seq;                              /* of all instances */
    struct seen_instance instances[INSTANCES_MAX]; /* the oldest first */
    size_t instance_count;
    struct seen_job jobs[JOBS_MAX];
    size_t job_count;
};

enum { CHANGED_MAX = 256 };

/* What was written since it was last asked, and perhaps rolled back. */
struct changes {
    bool is_all, has_jobs, has_records, has_logs, has_signals;
    int64_t instances[CHANGED_MAX]; /* their seq */
    size_t instance_count;
};

/* ---- who acts ---------------------------------------------------------------------------- */

/* A task that some worker believes to have. */
struct held {
    char worker[16], id[64], token[TOKEN_TEXT];
    bool is_reported;
    bool is_function; /* of one that is not run: the worker lacks its code */
};

/* A request that has been handed in. */
struct op {
    struct request *request; /* NULL: no op */
    int engine;
    bool is_done;
    bool is_heard;         /* what its answer says of leases is known */
    bool may_succeed;      /* reports: at some moment its token was the one that counts */
    bool must_stop;        /* looks of runs: a stop had been answered before it was asked */
    struct held held;      /* reports and heartbeats: whose */
    struct runner *runner; /* whose passage has asked, and keeps the request; NULL: nobody's */
};

struct sim_engine {
    struct local_engine *engine;
    struct store *faulty;
};

enum { SIGNALS_MAX = 256 };

/* A signal in an instance's log, in order of arrival. */
struct signal_seen {
    char id[ID_TEXT], event[48];
    int64_t at_us;
    char by[24]; /* the step that took it */
    bool is_taken;
    bool is_unsure; /* taken before a retry, which frees what the retried steps had taken */
};

/* A lease that a worker was told of. */
struct lease_seen {
    char id[64], token[TOKEN_TEXT];
    int64_t until_us;   /* until then it holds */
    int32_t generation; /* of the instance */
    bool is_over;       /* the worker has handed in what ends it */
    bool is_fresh;      /* since the latest run */
    int beat_round;     /* in which its worker asked for less with a heartbeat, */
    uint32_t beat_ms;   /* and for how much */
};

/* What has happened to an instance since it was begun, restarted or retried. */
struct saga_seen {
    uint8_t completed[STEPS_MAX]; /* how often a step did */
    uint8_t undone[STEPS_MAX];    /* how often its undo has begun */
    uint8_t requeued[STEPS_MAX];  /* of these, how often somebody asked for it */
    bool has_run[STEPS_MAX];      /* it was called */
    bool is_undoing;              /* something has been undone */
    int64_t undone_no;            /* the commit number of what was undone last */
    bool is_over;                 /* the instance is terminal */
};

enum { EFFECTS_MAX = 2 * STEPS_MAX };

/* Which effect the next call of a step is for, by what the events say. */
struct effect_seen {
    char name[32];
    int32_t past; /* undone, or left behind by a restart; not known of what functions call */
    int32_t past_seen; /* of those: what the key counted; -1: it was not seen yet */
    bool is_new;       /* and must count more than that */
    bool is_called;    /* for the present one */
    bool is_undone;    /* and not planned again yet */
};

struct effects_seen {
    struct effect_seen steps[EFFECTS_MAX];
    size_t count;
};

/* What has happened to a function since it was begun or restarted. */
struct function_seen {
    bool is_waiting[STEPS_MAX]; /* what its remembered steps have told */
    bool has_unseen;            /* a wait or sleep has ended since the latest passage began */
};

enum { END_TEXT = 96 };

/* How an instance has ended. */
struct end_seen {
    bool is_there, is_sure; /* not sure: it was reopened before anybody could look */
    enum instance_status status;
    char output[END_TEXT]; /* empty: none */
};

/* An instance among its relatives. */
struct family_seen {
    struct end_seen end;      /* the latest one */
    struct end_seen told;     /* the one that its parent was told of */
    bool is_reopened;         /* somebody has restarted it, so that it is on its own */
    bool must_stop, must_end; /* its parent was cancelled, or aborted */
    bool is_ordered;          /* before the latest run, so that a claim must see it done */
    bool is_untold; /* it had ended before the latest run, and its parent was not told */
};

/* A limit of the store. */
struct limit_seen {
    char name[8], types[8];
    int concurrency, rate_n; /* 0: any number */
    int64_t rate_per_ms, updated_at_us;
    bool is_per_group;
};

/* A token of a rate that was taken, or came back. */
struct token_seen {
    char limit[8], group[8];
    int64_t at_us;
    bool is_back;
    bool is_sure; /* it was a token of the limit as it is now */
};

/* tests/sim/function.h */
struct program;
struct runner;

struct sim {
    uint64_t seed;
    struct rng rng, flush_rng;
    bool is_tracing;
    bool has_sagas, has_functions;
    bool has_families; /* functions call children, and execute steps side by side */
    bool has_children; /* sagas start others, and have maps */
    bool has_limits;   /* jobs have groups, and people set limits */
    bool has_reruns;   /* people run instances again, from a step on */
    bool has_timers;   /* engines keep the timers by themselves */
    bool
        has_retention; /* behind the rounds engines purge, instead of bringing all to its end */
    struct clock clock;
    struct store *store;
    struct store_session *session;
    struct sim_engine engines[ENGINES];
    double fault_chance;
    bool is_calm; /* no more faults, crashes or commands */
    int round;

    char instances[INSTANCES_MAX][ID_TEXT]; /* that somebody was told of */
    size_t instance_count;
    size_t started, enqueued, rerun; /* asked for */
    int workflow_count;
    unsigned full; /* a bit for each workflow that starts others, has maps and makes its data */
    bool was_full; /* one of them was executed below a limit of its steps */
    struct held held[HELD_MAX];
    size_t held_count;
    struct op ops[OPS_MAX];
    int giver; /* the engine whose answer is being taken */
    int asked; /* requests other than claims that the engine of the latest run had in hand */
    struct op parked[ENGINES]; /* a claim that waits for a task, at most one at each engine */
    int signals_sent;
    int rounds;
    struct signal_seen signals[INSTANCES_MAX][SIGNALS_MAX];
    size_t signal_counts[INSTANCES_MAX];
    struct lease_seen leases[LEASES_MAX];
    size_t lease_count;
    struct saga_seen sagas[INSTANCES_MAX];
    struct function_seen functions[INSTANCES_MAX];
    struct effects_seen effects[INSTANCES_MAX];
    struct family_seen families[INSTANCES_MAX];
    struct program *programs; /* FUNCTIONS_MAX of them */
    int program_count;
    bool is_code_changing;    /* some workers have other code */
    bool has_released;        /* a worker has given a passage back, for later */
    struct memories memories; /* of all workers; some of their claims name what is kept */
    struct runner *runners;   /* RUNNERS_MAX of them */
    int outputs, logs;        /* numbers that make them differ */

    struct limit_seen limits[SEEN_LIMITS];
    size_t limit_count;
    struct token_seen tokens[TOKENS_MAX]; /* in order of time */
    size_t token_count;

    struct snapshot *snapshots;    /* two */
    struct snapshot *before, *now; /* the same one if nothing was written in between */
    int64_t changes;               /* sim_changes() when `now` was taken */
    int64_t chained_event;         /* up to it chains were looked at */
    int unchained;                 /* snapshots since then */
};

/* Says what is wrong and how to see it again, and ends the program. */
void sim_broken(const struct sim *sim, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

/* A line of the trace, if one is wanted. */
void sim_trace(const struct sim *sim, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool sim_chance(struct sim *sim, int percent);
int sim_below(struct sim *sim, int bound);

/* engines.c */
void sim_open(struct sim *sim);
void sim_close(struct sim *sim);
void engine_open(struct sim *sim, int index);
void engine_crash(struct sim *sim, int index); /* what it has is answered with CAIRN_E_CLOSED */
void sim_set_clock(struct sim *sim, int64_t now_us);
bool sim_run_engine(struct sim *sim, int index); /* one round of its committer */
int64_t sim_changes(void);                       /* how many rows were ever written */
void sim_take_changes(struct changes *ret);      /* and which */
/* Past what the session keeps in memory. */
cairn_code sim_read_instance(struct store_tx *tx, const char *id, struct instance_row *ret_row,
                             cairn_error *reterr);
int64_t sim_count(const struct sim *sim, const char *rows); /* SELECT count(*) FROM rows */
void sim_ask(const struct sim *sim, const char *sql,
             int (*note)(void *arg, int columns, char **values, char **names), void *arg);
int64_t sim_engine_wakes(struct sim *sim,
                         int index); /* when its committer would; INT64_MAX: never */

/* snapshot.c: reads the rows that have changed; the one before is kept. */
void snapshot_take(struct sim *sim);
void snapshots_done(struct sim *sim);
/* The chains of events since the last look; snapshot_take() does it now and then. */
void snapshot_check_chains(struct sim *sim);
const struct seen_instance *snapshot_find(const struct snapshot *snapshot, const char *id);
const struct step_row *snapshot_step(const struct snapshot *snapshot, const char *task_id);
const struct step_row *seen_step(const struct seen_instance *instance, int32_t place);
const struct step_row *seen_key(const struct seen_instance *instance, const char *name);
const struct seen_job *snapshot_job(const struct snapshot *snapshot, const char *id);
int64_t sim_next_due(struct sim *sim); /* 0: nothing */

/* What the signal of an id carries. */
void sim_payload(const char *id, char ret_payload[40]);

/* How often an instance has logged something that is this, or with ":" at its end, begins so. */
int sim_count_logs(struct sim *sim, const char *instance_id, const char *message);

/* Whether a signal of this event, received in time, is there and not taken. */
bool sim_has_signal(struct sim *sim, const char *instance_id, const char *event,
                    int64_t until_us);

/* Between two snapshots; what they say must never be broken. */
void laws_check(struct sim *sim, bool has_claimed); /* laws.c; a claim was answered just now */
void laws_of_step(struct sim *sim, const struct seen_instance *instance, /* laws_step.c */
                  const struct step_row *before, const struct step_row *now, bool is_reopened);
/* laws_data.c: what expressions have made is a function of what they name. */
void law_of_data(struct sim *sim, const struct seen_instance *instance,
                 const struct step_row *before, const struct step_row *now);
void laws_of_events(struct sim *sim, size_t index, const struct seen_instance *before,
                    bool is_reopened); /* laws_events.c */
void laws_of_jobs(struct sim *sim);    /* laws_job.c */
void law_of_replay(struct sim *sim, const struct seen_instance *before,
                   const struct seen_instance *now); /* laws_replay.c */

/* laws_join.c */
void laws_of_joins(struct sim *sim, const struct seen_instance *before,
                   const struct seen_instance *now);

/* laws_rerun.c: a step that was copied stays as it is; nothing happens to it. */
void laws_of_rerun(struct sim *sim, const struct seen_instance *before,
                   const struct seen_instance *now);

/* laws_limit.c */
void laws_of_limits(struct sim *sim);
bool step_is_held_back(struct sim *sim, const struct step_row *row); /* by a limit */
int64_t law_of_places(struct sim *sim); /* a claim of everything found nothing; in how long a
                                           rate lets a task begin, 0: none waits for one */

/* laws_rate.c: a token is taken or comes back; what was noted may be of a bucket that is gone; not too many have begun;
 * in how long there is a token (0: there is one). */
void rate_note(struct sim *sim, const struct limit_seen *limit, const char *group, bool is_back,
               bool is_sure);
void rate_doubt(struct sim *sim, const char *limit);
void law_of_rate(struct sim *sim, const struct limit_seen *limit, const char *group);
int64_t rate_wait_us(struct sim *sim, const struct limit_seen *limit, const char *group);

/* laws_effect.c; the keys of tasks, and of what a passage executes. */
void law_of_effects(struct sim *sim, size_t index);
void law_of_key(struct sim *sim, const cairn_task *task);
void law_of_called_key(struct sim *sim, const char *instance_id, const char *step,
                       const char *key);
void laws_of_saga(struct sim *sim, size_t index,
                  const struct seen_instance *before); /* laws_saga.c */
void law_of_ends(struct sim *sim, size_t index);       /* laws_end.c */
void laws_of_function(struct sim *sim, size_t index,
                      const struct seen_instance *before);  /* laws_function.c */
void laws_of_starts(struct sim *sim);                       /* laws_start.c */
void laws_of_families(struct sim *sim, bool has_claimed);   /* laws_family.c */
void law_of_answered_stop(struct sim *sim, const char *id); /* descendants are stopped, too */
bool is_end_of_call(const struct step_row *row);
/* laws_children.c: of sagas' steps that start others. */
void laws_of_children(struct sim *sim, size_t index);
bool is_parent_step(const struct seen_instance *instance, const struct step_row *row);
bool is_call_step(const struct seen_instance *instance, const struct step_row *row);
const struct step_row *call_of(const struct seen_instance *parent, const char *id);
bool is_rolled_back_child(const struct seen_instance *child);
bool is_being_undone(const struct sim *sim, const struct seen_instance *child);
void law_of_due(struct sim *sim);   /* laws_timer.c: nothing is overdue */
void law_of_quiet(struct sim *sim); /* engines restart, nobody asks them anything */

/* Which steps this claim could be given (NULL: any claim), a bit each; are_held_too: also what limits hold back.
 * And that a claim which waits at an engine has been given what became claimable there. */
void list_ready(struct sim *sim, const cairn_claim_options *claim, bool are_held_too,
                uint64_t ret_ready[INSTANCES_MAX]);
void law_of_wakes(struct sim *sim, int engine, const uint64_t before[INSTANCES_MAX]);

void laws_of_leases(struct sim *sim); /* laws_lease.c */
bool has_event(const struct seen_instance *instance, const char *type, const char *step);

/* laws_lease.c: what a request may do to leases once it is handed in, and what its answer says. */
void lease_asked(struct sim *sim, const struct request *request);
void lease_answered(struct sim *sim, const struct request *request);

/* act.c */
void act_deploy(struct sim *sim);
void act_round(struct sim *sim); /* hands in some requests */
void act_submit(struct sim *sim, int engine, struct request *request, const struct held *held);
void act_settle(struct sim *sim); /* takes the answers */
void act_claim(struct sim *sim, int engine);
void act_report(struct sim *sim, int engine, struct held *held, cairn_outcome outcome);
void act_heartbeat(struct sim *sim, int engine, const struct held *held);
void act_signal(struct sim *sim, int engine, const char *id, const char *event);
void act_control(struct sim *sim, int engine, enum request_op op, const char *id);
void act_decide(struct sim *sim, int engine, const char *id, const char *step,
                bool is_confirmed);
void act_requeue(struct sim *sim, int engine, const struct dlq_row *record);
void act_run(struct sim *sim); /* runs the engines until all requests are answered */
bool act_run_one(struct sim *sim,
                 int engine); /* one round, and the laws; false: nothing to do */
cairn_claim_options act_claim_options(struct sim *sim, struct request *request,
                                      const char *worker);

/* act_limit.c */
void act_limit(struct sim *sim, int engine); /* sets one, or removes one */
const char *act_group_name(struct sim *sim); /* NULL: none */
void act_group(struct sim *sim, cairn_job_spec *spec);

/* act_function.c */
void act_deploy_function(struct sim *sim, int functions); /* the next one of so many */
void act_passage(struct sim *sim, int engine); /* some passage goes on, or ends badly */

/* retention.c */
void retention_play(struct sim *sim);

/* workflows.c: a random workflow as JSON text. */
struct buf;
/* children: one more than there are workflows that it may start, w0 and on; 0: it has no children. */
void workflow_make(struct rng *rng, const char *name, bool has_sagas, int children,
                   struct buf *out);

#endif
