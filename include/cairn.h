/* cairn.h - durable work, in your process.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * This is all of libcairn that you may rely on.  Some habits hold throughout:
 *
 *   Errors     What can fail returns a cairn_code; CAIRN_OK is zero.  Pass a cairn_error to be
 *              told why, or NULL when the code says enough.
 *   Ownership  A ret_ argument is written on success only, and is then yours to release with
 *              the _free function of its type.  A `const char *` inside it lives as long as it
 *              does.  What you pass in need only live until the call returns.
 *   Threads    A cairn_engine may be shared by any number of threads.  Anything else belongs to
 *              one thread at a time.
 *   Options    Structs that you fill begin with `size`; start from the _DEFAULTS macro, so that
 *              a newer library knows how much of the struct an older caller has.  A size that no
 *              version of the library had is CAIRN_E_BAD_INPUT, and nothing is done.
 *   Times      `_us` is microseconds since 1970 in UTC, `_ms` a duration in milliseconds.
 *   JSON       Payloads, inputs, outputs and results are JSON texts.  They are checked, kept and
 *              handed back.  Integers beyond 64 bits, duplicate keys and \u0000 are refused.
 *              PostgreSQL keeps them as jsonb, which reorders keys and drops white space.
 *
 * The smallest producer and worker:
 *
 *     cairn_engine *engine;
 *     cairn_open_options open = CAIRN_OPEN_DEFAULTS;
 *     open.url = "sqlite:orders.db";
 *     if (cairn_open(&open, &engine, &error)) ...
 *
 *     cairn_job_spec job = CAIRN_JOB_DEFAULTS;
 *     job.type = "billing.invoice.v1";
 *     job.payload = "{\"order\": 17}";
 *     cairn_enqueue(engine, &job, 1, &enqueued, &error);
 *
 *     cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
 *     claim.worker = "worker-1";
 *     claim.types = (const char *[]){"billing.%"};
 *     claim.type_count = 1;
 *     cairn_claim(engine, &claim, &tasks, &error);
 */
#ifndef CAIRN_H
#define CAIRN_H

#include <stddef.h>
#include <stdint.h>

#include "cairn_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CAIRN_VERSION_MAJOR 0
#define CAIRN_VERSION_MINOR 1
#define CAIRN_VERSION_PATCH 0
#define CAIRN_VERSION "0.1.0"

#if defined(__GNUC__)
#define CAIRN_API __attribute__((visibility("default")))
#else
#define CAIRN_API
#endif

/* The _DEFAULTS below: initialisers in C, functions in C++, whose standards before 20 have no
 * designated initialisers.  Each lists its values once, as SET(member, value). */
#ifdef __cplusplus
#define CAIRN_SET_(member, value) options.member = value;
#define CAIRN_DEFAULTS_(type, values)         \
    static inline type type##_defaults_(void) \
    {                                         \
        type options = type();                \
        options.size = sizeof(type);          \
        values(CAIRN_SET_) return options;    \
    }
#define CAIRN_INITIAL_(type, values) type##_defaults_()
#else
#define CAIRN_SET_(member, value) .member = value,
#define CAIRN_DEFAULTS_(type, values)
#define CAIRN_INITIAL_(type, values)             \
    {                                            \
        .size = sizeof(type), values(CAIRN_SET_) \
    }
#endif

typedef struct cairn_engine cairn_engine;     /* an open store, and what drives it */
typedef struct cairn_page cairn_page;         /* a list, as it was when you asked */
typedef struct cairn_builder cairn_builder;   /* a workflow being put together */
typedef struct cairn_response cairn_response; /* the answer to a cairn_call */
typedef struct cairn_worker cairn_worker;     /* handlers, and the threads that run them */
typedef struct cairn_work cairn_work;         /* a task in the hands of a handler */
typedef struct cairn_passage cairn_passage;   /* one run of a function, from the top */
typedef struct cairn_memory cairn_memory;     /* what a function remembers, with its task */

/* Why a call failed.  Holds no memory of its own, so there is nothing to free. */
typedef struct cairn_error {
    cairn_code code;
    char message[256]; /* what went wrong, in one line */
    char detail[512];  /* the facts, such as the database's own words; may be "" */
    char hint[256];    /* what to do about it; may be "" */
} cairn_error;

/* The version of the library that is loaded, such as "0.1.0". */
CAIRN_API const char *cairn_version(void);

/* The word for a code as it stands in HTTP answers ("lease_lost"), the HTTP status it is sent
 * with, and what it means in a sentence.  Unknown codes answer as CAIRN_E_INTERNAL. */
CAIRN_API const char *cairn_code_name(cairn_code code);
CAIRN_API int cairn_code_http_status(cairn_code code);
CAIRN_API const char *cairn_code_meaning(cairn_code code);

/* ---- Opening --------------------------------------------------------------------------------
 */

typedef struct cairn_open_options {
    size_t size;
    const char *url;   /* sqlite:FILE, postgres://..., http://...; NULL: $CAIRN_URL, else
                        * sqlite:cairn.db.  memory: keeps everything in this process. */
    const char *token; /* bearer token for http: URLs; NULL: $CAIRN_TOKEN, else none */
    uint64_t seed;     /* where jitter, ids and tokens come from; 0: the system's randomness */
    int virtual_clock; /* 1: time stands still until cairn_clock_advance() */
    int64_t start_us;  /* where a virtual clock starts; 0: the present */
    int no_migrate;    /* 1: an older schema is refused instead of brought up to date */
    int no_timers;     /* 1: due timers are applied only before a claim, never by themselves */
    uint32_t
        retry_ms; /* how long a call waits for a store that cannot be reached or is locked */
    size_t max_payload; /* bytes of a payload, input, output or result */
    size_t max_name;    /* bytes of a type, key, worker or runtime */
    size_t max_error;   /* bytes of an error text that are kept; the rest is cut */
    size_t max_batch;   /* jobs in one enqueue, tasks in one claim, results in one report */
    double aging_rate;  /* points of priority that a waiting step gains a second; 0: none */
    int no_create;      /* 1: a file that does not exist, or a database without Cairn's tables,
                         * is refused with CAIRN_E_NOT_FOUND instead of being created */

    /* A worker that was given a step and has no handler for it gives it back for this long, give
     * or take this part of it (0 to 1); and the audit trail tells it of a type once in so long. */
    uint32_t missing_cooldown_ms; /* 0: others may claim it at once */
    uint32_t missing_throttle_ms; /* 0: it is told each time */
    double missing_jitter;
} cairn_open_options;

#define CAIRN_OPEN_VALUES_(SET)                                    \
    SET(retry_ms, 10000)                                           \
    SET(max_payload, 1 << 20)                                      \
    SET(max_name, 256)                                             \
    SET(max_error, 4096) SET(max_batch, 1000) SET(aging_rate, 0.5) \
        SET(missing_cooldown_ms, 5000) SET(missing_jitter, 0.2)    \
            SET(missing_throttle_ms, 60000)
CAIRN_DEFAULTS_(cairn_open_options, CAIRN_OPEN_VALUES_)
#define CAIRN_OPEN_DEFAULTS CAIRN_INITIAL_(cairn_open_options, CAIRN_OPEN_VALUES_)

/* Opens a store, first bringing its tables up to this library's version.
 *
 * CAIRN_E_SCHEMA_NEWER    a newer libcairn has written here; nothing was touched.
 * CAIRN_E_NOT_A_DATABASE  the file is something else; nothing was touched.
 * CAIRN_E_UNREACHABLE     the database or server does not answer.
 * CAIRN_E_READ_ONLY       the file, or its folder, cannot be written to.
 * CAIRN_E_NOT_FOUND       there is no store yet, and no_create is set. */
CAIRN_API cairn_code cairn_open(const cairn_open_options *options, cairn_engine **ret_engine,
                                cairn_error *reterr);

/* Answers what waits (with CAIRN_E_CLOSED), lets the commit under way finish, and releases
 * everything.  Free what the engine gave you before or after, as you like.  NULL is welcome. */
CAIRN_API void cairn_close(cairn_engine *engine);

/* The URL that was opened, without any password. */
CAIRN_API const char *cairn_url(const cairn_engine *engine);

/* What cairn_open() did to the tables. */
typedef struct cairn_schema {
    int from;                   /* their version before; 0: there were none */
    int to;                     /* their version now; 0: a server keeps them, not this engine */
    const char *const *applied; /* names of the migrations that were applied, such as
                                 * "0002_workflows"; they live as long as the engine */
    size_t applied_count;
} cairn_schema;

CAIRN_API void cairn_schema_get(const cairn_engine *engine, cairn_schema *ret_schema);

/* ---- Time -----------------------------------------------------------------------------------
 */

/* The store's present. */
CAIRN_API cairn_code cairn_clock_now(cairn_engine *engine, int64_t *ret_now_us,
                                     cairn_error *reterr);

/* Moves a virtual clock, from due time to due time, applying at its own time everything that
 * falls due; all of it has happened when the call returns.  CAIRN_E_WRONG_STATE if the clock is
 * real. */
CAIRN_API cairn_code cairn_clock_advance(cairn_engine *engine, int64_t ms, int64_t *ret_now_us,
                                         cairn_error *reterr);

/* ---- Producing ------------------------------------------------------------------------------
 */

/* A job to be recorded. */
typedef struct cairn_job_spec {
    size_t size;
    const char *type;     /* such as "billing.invoice.v1"; not empty */
    const char *payload;  /* JSON; NULL: {} */
    const char *key;      /* enqueuing a known key again finds the first job; NULL: no key */
    int32_t priority;     /* lower goes first */
    int32_t max_attempts; /* handler calls in all, the first included; from 1 */
    int64_t run_at_us;    /* not before this; 0: now */
} cairn_job_spec;

#define CAIRN_JOB_VALUES_(SET) SET(priority, 100) SET(max_attempts, 3)
CAIRN_DEFAULTS_(cairn_job_spec, CAIRN_JOB_VALUES_)
#define CAIRN_JOB_DEFAULTS CAIRN_INITIAL_(cairn_job_spec, CAIRN_JOB_VALUES_)

typedef struct cairn_enqueued {
    char id[40];  /* the job's id, a UUID */
    int existing; /* 1: the key was known, this is the job it stands for, nothing was written */
} cairn_enqueued;

/* Records jobs, all in one commit: when it returns CAIRN_OK they will be executed, whatever
 * happens to this process.  One bad spec refuses the whole call.  ret_enqueued has room for
 * count. */
CAIRN_API cairn_code cairn_enqueue(cairn_engine *engine, const cairn_job_spec *specs,
                                   size_t count, cairn_enqueued *ret_enqueued,
                                   cairn_error *reterr);

/* ---- Looking --------------------------------------------------------------------------------
 */

/* A job as its row says.  Times that are not set are 0, texts that are not set NULL. */
typedef struct cairn_job {
    const char *id, *type, *payload;
    const char *status; /* pending, leased, succeeded, failed, cancelled */
    const char *idempotency_key;
    const char *leased_by;
    const char *last_error;
    const char *result; /* JSON */
    int32_t priority;
    int32_t attempt; /* calls that ended in an error, a retry or a lost lease */
    int32_t max_attempts;
    int64_t run_at_us, lease_until_us, created_at_us, updated_at_us, deleted_at_us;
} cairn_job;

typedef struct cairn_job_filter {
    size_t size;
    const char *status; /* NULL: any */
    const char *type;   /* an exact type, or a prefix such as "billing.%"; NULL: any */
    const char *key;    /* NULL: any */
    const char *cursor; /* where the page before ended; NULL: the beginning */
    uint32_t limit;     /* 1 to 1000 */
} cairn_job_filter;

#define CAIRN_JOB_FILTER_VALUES_(SET) SET(limit, 100)
CAIRN_DEFAULTS_(cairn_job_filter, CAIRN_JOB_FILTER_VALUES_)
#define CAIRN_JOB_FILTER_DEFAULTS CAIRN_INITIAL_(cairn_job_filter, CAIRN_JOB_FILTER_VALUES_)

/* One job; a page of one.  A deleted job is still found here, by its id.  CAIRN_E_NOT_FOUND. */
CAIRN_API cairn_code cairn_job_get(cairn_engine *engine, const char *id, cairn_page **ret_jobs,
                                   cairn_error *reterr);

/* Jobs that match, newest first, deleted ones left out. */
CAIRN_API cairn_code cairn_job_list(cairn_engine *engine, const cairn_job_filter *filter,
                                    cairn_page **ret_jobs, cairn_error *reterr);

/* Something that happened to a job. */
typedef struct cairn_event {
    int64_t id;       /* rises */
    const char *type; /* created leased started heartbeat succeeded failed retried cancelled */
    const char *step; /* NULL for jobs */
    const char *data; /* JSON */
    int64_t at_us;
} cairn_event;

/* What happened to a job, oldest first.  CAIRN_E_NOT_FOUND. */
CAIRN_API cairn_code cairn_job_events(cairn_engine *engine, const char *id, const char *cursor,
                                      uint32_t limit, cairn_page **ret_events,
                                      cairn_error *reterr);

/* ---- Controlling ----------------------------------------------------------------------------
 */

/* Cancels a job at once: no later result of its worker can change that, and the worker is told
 * at its next heartbeat.  CAIRN_E_WRONG_STATE if it has ended. */
CAIRN_API cairn_code cairn_job_cancel(cairn_engine *engine, const char *id,
                                      cairn_error *reterr);

/* Deletes a job softly: it is cancelled if it had not ended, then neither claimed nor listed.
 * Deleting twice is the same as once. */
CAIRN_API cairn_code cairn_job_delete(cairn_engine *engine, const char *id,
                                      cairn_error *reterr);

/* Makes a failed or cancelled job pending again with fresh attempts. */
CAIRN_API cairn_code cairn_job_retry(cairn_engine *engine, const char *id, cairn_error *reterr);

/* Which runtime owns a type, and whether it may be claimed at all. */
typedef struct cairn_registry_entry {
    const char *workflow_name;
    const char *intent_type; /* "workflow" */
    const char *runtime;     /* such as "go", "python", "c" */
    const char *description; /* NULL: none */
    int is_enabled;
    int64_t created_at_us, updated_at_us;
} cairn_registry_entry;

/* Writes an entry, new or in place of the one with that name. */
CAIRN_API cairn_code cairn_registry_put(cairn_engine *engine, const cairn_registry_entry *entry,
                                        cairn_error *reterr);

CAIRN_API cairn_code cairn_registry_list(cairn_engine *engine, const char *cursor,
                                         uint32_t limit, cairn_page **ret_registry,
                                         cairn_error *reterr);

/* ---- Working: claim and report --------------------------------------------------------------
 */

/* One unit of work, leased to the worker that claimed it. */
typedef struct cairn_task {
    const char *id;
    const char *token; /* say it with every report: it proves that the lease is yours */
    const char *kind;  /* "job", "step", "compensation", "function" */
    const char *type;
    const char *input; /* JSON */
    const char
        *key; /* the job's key, NULL: none; of all others the name of the effect: the same
                        * for every call until it is undone or the instance is restarted */
    int32_t attempt; /* the number of this call, from 1 */
    int32_t max_attempts;
    int64_t lease_until_us;

    /* Of steps and compensations; NULL for jobs.  A compensation's input is {"input", "output"}. */
    const char *instance_id;
    const char *step;     /* its name */
    const char *metadata; /* JSON; NULL: none */
    const char *reason;   /* "WAITING_TIMEOUT": the handler's own wait ran out */
    const char *signal;   /* JSON {id, event, payload}: what ended the wait before this call */

    const cairn_memory *memory; /* of functions; NULL for all others */
} cairn_task;

/* Code of a function that a worker has, and which instances it can go on with. */
typedef struct cairn_function_code {
    size_t size;
    const char *name;
    int32_t version;      /* from 1; instances of a higher version are not brought */
    int32_t from_version; /* nor those of a lower version than this; 0: `version` alone */
} cairn_function_code;

#define CAIRN_FUNCTION_CODE_VALUES_(SET)
CAIRN_DEFAULTS_(cairn_function_code, CAIRN_FUNCTION_CODE_VALUES_)
#define CAIRN_FUNCTION_CODE_DEFAULTS \
    CAIRN_INITIAL_(cairn_function_code, CAIRN_FUNCTION_CODE_VALUES_)

typedef struct cairn_claim_options {
    size_t size;
    const char *worker; /* who asks; not empty */
    const char *const *
        types; /* exact types, and prefixes ending in %; "%" alone is everything; a function that
                 * one of them matches is brought in every version */
    size_t type_count;
    const char
        *runtime; /* refuse, and never bring, what the registry gives to another; NULL: any */
    uint32_t max; /* tasks at most */
    uint32_t lease_ms; /* from 1 */
    uint32_t wait_ms;  /* real time to wait for a task if there is none; 0: do not wait */
    const cairn_function_code *functions; /* beside `types`, which may then be empty */
    size_t function_count;
} cairn_claim_options;

#define CAIRN_CLAIM_VALUES_(SET) SET(max, 1) SET(lease_ms, 30000)
CAIRN_DEFAULTS_(cairn_claim_options, CAIRN_CLAIM_VALUES_)
#define CAIRN_CLAIM_DEFAULTS CAIRN_INITIAL_(cairn_claim_options, CAIRN_CLAIM_VALUES_)

/* Claims what is due and matches: lower priority number first, then the one inserted first.
 * An empty answer is CAIRN_OK with no tasks.
 *
 * CAIRN_E_WRONG_RUNTIME  `types` or `functions` names a type that the registry gives to another
 *                        runtime. */
CAIRN_API cairn_code cairn_claim(cairn_engine *engine, const cairn_claim_options *options,
                                 cairn_page **ret_tasks, cairn_error *reterr);

typedef enum cairn_outcome {
    CAIRN_COMPLETE = 1, /* done; `output` is the result */
    CAIRN_FAIL,         /* a failed attempt: tried again after the backoff, while any is left */
    CAIRN_RETRY,        /* the same, after delay_ms */
    CAIRN_DEAD,         /* failed for good, whatever attempts are left */
    CAIRN_RELEASE,      /* given back at no cost of an attempt; claimable after delay_ms */
    CAIRN_WAIT          /* steps only: called again when `event` arrives or after timeout_ms */
} cairn_outcome;

/* An event that others shall hear of, committed with the outcome; see cairn_outbox_claim(). */
typedef struct cairn_outbound {
    size_t size;
    const char *event;   /* not empty */
    const char *payload; /* JSON; NULL: null */
} cairn_outbound;

#define CAIRN_OUTBOUND_VALUES_(SET)
CAIRN_DEFAULTS_(cairn_outbound, CAIRN_OUTBOUND_VALUES_)
#define CAIRN_OUTBOUND_DEFAULTS CAIRN_INITIAL_(cairn_outbound, CAIRN_OUTBOUND_VALUES_)

/* How a task ended. */
typedef struct cairn_report {
    size_t size;
    const char *task_id;
    const char *token;
    cairn_outcome outcome;
    const char *output; /* JSON, with COMPLETE; NULL: null */
    const char *error;  /* with FAIL, RETRY, DEAD */
    int64_t
        delay_ms; /* with RETRY and RELEASE; -1: the task's own backoff (RELEASE: at once) */

    /* Of steps only. */
    const char *event;              /* with WAIT: what is waited for */
    int64_t timeout_ms;             /* with WAIT: for how long; -1: without end */
    const cairn_outbound *outbound; /* with COMPLETE and WAIT */
    size_t outbound_count;
    int is_missing_handler; /* with RELEASE: this worker cannot execute it; is told to all.
                             * delay_ms -1 is then the engine's cooldown */
} cairn_report;

#define CAIRN_REPORT_VALUES_(SET) \
    SET(outcome, CAIRN_COMPLETE) SET(delay_ms, -1) SET(timeout_ms, -1)
CAIRN_DEFAULTS_(cairn_report, CAIRN_REPORT_VALUES_)
#define CAIRN_REPORT_DEFAULTS CAIRN_INITIAL_(cairn_report, CAIRN_REPORT_VALUES_)

/* What became of one report. */
typedef struct cairn_reported {
    cairn_code code; /* CAIRN_OK, or CAIRN_E_LEASE_LOST, ...: one may fail, the others stand */
    char status[24]; /* the job's status now, such as "succeeded"; "" if the code is not OK */
    cairn_error error;
} cairn_reported;

/* Reports outcomes, all in one commit, and claims in the same commit if `claim` is given.
 * Repeating a report that was accepted, with the same token and outcome, is accepted again and
 * changes nothing; another outcome is CAIRN_E_LEASE_LOST. ret_reported (count of them) and ret_tasks may be NULL; with one report and
 * no ret_reported its code is the call's. */
CAIRN_API cairn_code cairn_report_many(cairn_engine *engine, const char *worker,
                                       const cairn_report *reports, size_t count,
                                       cairn_reported *ret_reported,
                                       const cairn_claim_options *claim, cairn_page **ret_tasks,
                                       cairn_error *reterr);

/* The same for one task and one outcome. */
CAIRN_API cairn_code cairn_task_complete(cairn_engine *engine, const char *worker,
                                         const cairn_task *task, const char *output,
                                         cairn_error *reterr);
CAIRN_API cairn_code cairn_task_fail(cairn_engine *engine, const char *worker,
                                     const cairn_task *task, const char *error,
                                     cairn_error *reterr);

/* Keeps a lease: it now ends extend_ms from now.  *ret_stop says whether the work is still
 * wanted: NULL, or a constant text ("cancelled"); then the lease was not extended.  ret_ may be
 * NULL. */
CAIRN_API cairn_code cairn_heartbeat(cairn_engine *engine, const char *worker,
                                     const char *task_id, const char *token, uint32_t extend_ms,
                                     int64_t *ret_lease_until_us, const char **ret_stop,
                                     cairn_error *reterr);

/* ---- Working: callbacks ---------------------------------------------------------------------
 */

typedef struct cairn_worker_options {
    size_t size;
    const char *name;     /* NULL: host, process and a random suffix */
    const char *runtime;  /* NULL: any */
    uint32_t concurrency; /* threads that run handlers */
    uint32_t lease_ms;    /* kept alive by itself while a handler runs */
    uint32_t wait_ms;     /* how long one claim waits; shorter only makes more requests */
    int until_idle; /* 1: cairn_worker_run() returns when nothing is claimable or leased: no job
                     * that it handles, and no step at all, since the next may be its own */
} cairn_worker_options;

#define CAIRN_WORKER_VALUES_(SET) SET(concurrency, 4) SET(lease_ms, 30000) SET(wait_ms, 20000)
CAIRN_DEFAULTS_(cairn_worker_options, CAIRN_WORKER_VALUES_)
#define CAIRN_WORKER_DEFAULTS CAIRN_INITIAL_(cairn_worker_options, CAIRN_WORKER_VALUES_)

/* Executes one task and says how it ended; use the cairn_work_ calls to read it and to add an
 * output, an error or a delay.  Runs in one of the worker's threads. */
typedef cairn_outcome (*cairn_handler)(cairn_work *work, void *arg);

CAIRN_API cairn_code cairn_worker_new(cairn_engine *engine, const cairn_worker_options *options,
                                      cairn_worker **ret_worker, cairn_error *reterr);

/* Has `handler` called for tasks of this type, or of this prefix ("billing.%").  The exact type
 * wins over a prefix, the longer prefix over the shorter.  Before cairn_worker_run(). */
CAIRN_API cairn_code cairn_worker_handle(cairn_worker *worker, const char *type,
                                         cairn_handler handler, void *arg, cairn_error *reterr);

/* Claims, calls handlers, reports, until cairn_worker_stop() or, with until_idle, until there
 * is nothing left to do.  A store that goes away is waited for. */
CAIRN_API cairn_code cairn_worker_run(cairn_worker *worker, cairn_error *reterr);

/* Asks cairn_worker_run() to return: nothing more is claimed, handlers finish, their outcomes
 * are reported.  Safe from any thread and from a signal handler. */
CAIRN_API void cairn_worker_stop(cairn_worker *worker);
CAIRN_API void cairn_worker_free(cairn_worker *worker); /* NULL is welcome */

CAIRN_API const cairn_task *cairn_work_task(const cairn_work *work);

/* Why the handler should stop early ("cancelled", "lease_lost"), or NULL.  Cheap: ask often. */
CAIRN_API const char *cairn_work_stop(const cairn_work *work);

/* Of steps and compensations: the instance's input, and the output of a finished step, as JSON.
 * They ask the engine, and hold while the work does.
 *
 * CAIRN_E_NOT_FOUND   there is no such step, or it has not finished.
 * CAIRN_E_LEASE_LOST  the task is not this worker's any more: stop.
 * CAIRN_E_BAD_INPUT   the task is a job: it has no instance. */
CAIRN_API cairn_code cairn_work_instance_input(cairn_work *work, const char **ret_input,
                                               cairn_error *reterr);
CAIRN_API cairn_code cairn_work_output_of(cairn_work *work, const char *step,
                                          const char **ret_output, cairn_error *reterr);

/* Copied.  The output must be JSON, or the attempt fails. */
CAIRN_API cairn_code cairn_work_set_output(cairn_work *work, const char *json);
CAIRN_API cairn_code cairn_work_set_error(cairn_work *work, const char *text);
CAIRN_API void cairn_work_set_delay(cairn_work *work, int64_t delay_ms);

/* Of steps only.  For a handler that returns CAIRN_WAIT: it is called again when the event
 * arrives (cairn_task.signal) or after timeout_ms (cairn_task.reason); -1: without end. */
CAIRN_API cairn_code cairn_work_wait(cairn_work *work, const char *event, int64_t timeout_ms);

/* Emits an event with an outcome of CAIRN_COMPLETE or CAIRN_WAIT.  payload is JSON; NULL: null.
 * CAIRN_E_BAD_JSON, and then nothing is emitted. */
CAIRN_API cairn_code cairn_work_emit(cairn_work *work, const char *event, const char *payload);

/* ---- Workflows ------------------------------------------------------------------------------ */

/* A deployed workflow. */
typedef struct cairn_workflow {
    const char *name;
    int32_t version;
    const char *hash;    /* of its content */
    const char *content; /* canonical JSON */
    int64_t created_at_us;
} cairn_workflow;

/* What is wrong with a workflow file, and where. */
typedef struct cairn_flaw {
    int line, column; /* from 1; 0: the file as a whole */
    char message[256];
} cairn_flaw;

/* Checks a workflow file's text, YAML or JSON; needs no engine.  `file` is its name, for errors.
 * CAIRN_E_BAD_INPUT if it has flaws, or CAIRN_E_TOO_LARGE if the first one is a limit that is
 * exceeded; *ret_flaws (which may be NULL) is then written, too: the flaws in the order of the
 * file, at most 100. */
CAIRN_API cairn_code cairn_workflow_validate(const char *file, const char *text,
                                             cairn_page **ret_flaws, cairn_error *reterr);

/* Draws a workflow file's text: "dot", "mermaid" or "terminal".  *ret_text is freed with
 * cairn_text_free(). */
CAIRN_API cairn_code cairn_workflow_draw(const char *file, const char *text, const char *form,
                                         char **ret_text, cairn_error *reterr);
CAIRN_API void cairn_text_free(char *text); /* NULL is welcome */

/* Deploys a workflow.  The same content again is the same as once (*ret_existing 1, may be NULL);
 * other content under a known name and version is CAIRN_E_CONFLICT: raise the version. */
CAIRN_API cairn_code cairn_workflow_deploy(cairn_engine *engine, const char *file,
                                           const char *text, int *ret_existing,
                                           cairn_error *reterr);

CAIRN_API cairn_code cairn_workflow_get(cairn_engine *engine, const char *name, int32_t version,
                                        cairn_page **ret_definitions, cairn_error *reterr);
CAIRN_API cairn_code cairn_workflow_list(cairn_engine *engine, const char *cursor,
                                         uint32_t limit, cairn_page **ret_definitions,
                                         cairn_error *reterr);

/* A workflow put together in code: elements are added in order; what a file's keys say goes into
 * `options`, a JSON object such as {"max_attempts": 5, "timeout": "30s"} (NULL: none).  Errors are
 * remembered and told by cairn_builder_text(), which gives the JSON that cairn_workflow_deploy() takes. */
CAIRN_API cairn_builder *cairn_builder_new(const char *workflow, int32_t version); /* or NULL */
CAIRN_API void cairn_builder_dlq(cairn_builder *builder, int is_on);
CAIRN_API void cairn_builder_step(cairn_builder *builder, const char *name, const char *handler,
                                  const char *options);
CAIRN_API void cairn_builder_compensation(cairn_builder *builder, const char *handler,
                                          const char *options); /* of the step just added */
CAIRN_API void cairn_builder_sleep(cairn_builder *builder, const char *name, int64_t for_ms);
CAIRN_API void cairn_builder_wait(cairn_builder *builder, const char *name, const char *event,
                                  const char *options);
CAIRN_API void cairn_builder_save_point(cairn_builder *builder, const char *name);
CAIRN_API void cairn_builder_human(cairn_builder *builder, const char *name,
                                   const char *options);
CAIRN_API void cairn_builder_condition(cairn_builder *builder, const char *name,
                                       const char *when);
CAIRN_API void
cairn_builder_else(cairn_builder *builder); /* then comes first; end closes both */
CAIRN_API void cairn_builder_fork(cairn_builder *builder, const char *name,
                                  const char *join);         /* "all", "any", NULL: no join */
CAIRN_API void cairn_builder_branch(cairn_builder *builder); /* begins each branch of a fork */
CAIRN_API void cairn_builder_parallel(cairn_builder *builder, const char *name);
CAIRN_API void cairn_builder_end(cairn_builder *builder); /* of a condition, fork or parallel */
CAIRN_API cairn_code cairn_builder_text(cairn_builder *builder, const char **ret_text,
                                        cairn_error *reterr);
CAIRN_API void cairn_builder_free(cairn_builder *builder); /* NULL is welcome */

/* ---- Instances ------------------------------------------------------------------------------ */

typedef struct cairn_start_options {
    size_t size;
    const char *workflow;
    int32_t version;     /* 0: the highest */
    const char *input;   /* JSON; NULL: {} */
    const char *key;     /* one instance per workflow and key; NULL: no key */
    int64_t start_at_us; /* pending until then; 0: now */
} cairn_start_options;

#define CAIRN_START_VALUES_(SET)
CAIRN_DEFAULTS_(cairn_start_options, CAIRN_START_VALUES_)
#define CAIRN_START_DEFAULTS CAIRN_INITIAL_(cairn_start_options, CAIRN_START_VALUES_)

/* Starts an instance, or finds the one already started under this key.  CAIRN_E_NOT_FOUND: no such
 * workflow or version. */
CAIRN_API cairn_code cairn_instance_start(cairn_engine *engine,
                                          const cairn_start_options *options,
                                          cairn_enqueued *ret_started, cairn_error *reterr);

/* An instance as its row says.  Times that are not set are 0, texts that are not set NULL. */
typedef struct cairn_instance {
    const char *id, *workflow, *key, *input, *output;
    int32_t version;
    const char
        *status; /* pending, running, waiting_signal, paused, compensating, dlq, completed,
                         * failed, cancelled, aborted */
    const char *const *current_steps; /* names of what is ready, running, waiting, ... */
    size_t current_step_count;
    const char
        *last_error; /* JSON {step, message, attempt, at}; NULL once that step succeeds */
    int32_t generation;
    int64_t created_at_us, started_at_us, finished_at_us, start_at_us;
    const char *undo_error; /* the same of the latest compensation that failed */
} cairn_instance;

typedef struct cairn_instance_filter {
    size_t size;
    const char *status, *workflow, *key; /* NULL: any */
    const char *cursor;
    uint32_t limit; /* 1 to 1000 */
} cairn_instance_filter;

#define CAIRN_INSTANCE_FILTER_VALUES_(SET) SET(limit, 100)
CAIRN_DEFAULTS_(cairn_instance_filter, CAIRN_INSTANCE_FILTER_VALUES_)
#define CAIRN_INSTANCE_FILTER_DEFAULTS \
    CAIRN_INITIAL_(cairn_instance_filter, CAIRN_INSTANCE_FILTER_VALUES_)

CAIRN_API cairn_code cairn_instance_get(cairn_engine *engine, const char *id,
                                        cairn_page **ret_instances, cairn_error *reterr);
CAIRN_API cairn_code cairn_instance_list(cairn_engine *engine,
                                         const cairn_instance_filter *filter,
                                         cairn_page **ret_instances, cairn_error *reterr);

typedef struct cairn_step {
    const char *id; /* of its task: instance and place */
    const char *name, *kind, *handler, *status;
    const char *input, *output, *error, *metadata, *waiting_event, *locked_by;
    int32_t seq, attempts, max_attempts, compensation_attempts, priority;
    int64_t commit_no;
    int64_t next_run_at_us, started_at_us, finished_at_us, deadline_at_us, locked_until_us;
    const char *undo_error; /* why its compensation failed; error says why the step did */
} cairn_step;

/* The steps of an instance, in order of the file. */
CAIRN_API cairn_code cairn_instance_steps(cairn_engine *engine, const char *instance_id,
                                          const char *cursor, uint32_t limit,
                                          cairn_page **ret_steps, cairn_error *reterr);

/* What happened to an instance, oldest first. */
CAIRN_API cairn_code cairn_instance_events(cairn_engine *engine, const char *id,
                                           const char *cursor, uint32_t limit,
                                           cairn_page **ret_events, cairn_error *reterr);

typedef struct cairn_signal_options {
    size_t size;
    const char *instance_id, *event;
    const char *payload; /* JSON; NULL: null */
    const char *id;      /* sending a known id again changes nothing; NULL: a new one */
    int no_latch;        /* 1: not kept when nobody waits for it */
} cairn_signal_options;

#define CAIRN_SIGNAL_VALUES_(SET)
CAIRN_DEFAULTS_(cairn_signal_options, CAIRN_SIGNAL_VALUES_)
#define CAIRN_SIGNAL_DEFAULTS CAIRN_INITIAL_(cairn_signal_options, CAIRN_SIGNAL_VALUES_)

typedef struct cairn_signalled {
    int existing; /* 1: the id was known; taken and kept are as the first time */
    int taken;    /* 1: somebody waited for it, and goes on */
    int kept;     /* 0: nobody waited, and it was not to be kept */
} cairn_signalled;

/* Sends a signal.  CAIRN_E_WRONG_STATE if the instance has ended. */
CAIRN_API cairn_code cairn_instance_signal(cairn_engine *engine,
                                           const cairn_signal_options *options,
                                           cairn_signalled *ret_signalled, cairn_error *reterr);

/* Each answers what became of it in the instance's status; CAIRN_E_WRONG_STATE where the state
 * does not allow it.  docs/guides/workflows.md says what each does. */
CAIRN_API cairn_code cairn_instance_pause(cairn_engine *engine, const char *id,
                                          cairn_error *reterr);
CAIRN_API cairn_code cairn_instance_resume(cairn_engine *engine, const char *id, int is_forced,
                                           cairn_error *reterr);
CAIRN_API cairn_code cairn_instance_restart(cairn_engine *engine, const char *id,
                                            cairn_error *reterr);
CAIRN_API cairn_code cairn_instance_retry(cairn_engine *engine, const char *id,
                                          cairn_error *reterr);
CAIRN_API cairn_code cairn_instance_cancel(cairn_engine *engine, const char *id, const char *by,
                                           const char *reason, cairn_error *reterr);
CAIRN_API cairn_code cairn_instance_abort(cairn_engine *engine, const char *id, const char *by,
                                          const char *reason, cairn_error *reterr);

/* Decides about a human step, once: confirmed lets the flow go on, rejected aborts the instance.
 * CAIRN_E_WRONG_STATE if nobody is asked (any more). */
CAIRN_API cairn_code cairn_instance_decide(cairn_engine *engine, const char *instance_id,
                                           const char *step, int is_confirmed, const char *by,
                                           const char *comment, cairn_error *reterr);

/* What was decided about a human step. */
typedef struct cairn_decision {
    int64_t id;           /* rises within the instance */
    const char *step;     /* its name */
    const char *decision; /* confirmed, rejected */
    const char *by;
    const char *comment; /* NULL: none */
    int64_t at_us;
} cairn_decision;

/* What was decided in an instance, oldest first; a step that was called again may have several.
 * CAIRN_E_NOT_FOUND. */
CAIRN_API cairn_code cairn_instance_decisions(cairn_engine *engine, const char *instance_id,
                                              const char *cursor, uint32_t limit,
                                              cairn_page **ret_decisions, cairn_error *reterr);

/* A step, or a compensation, that a person must look at. */
typedef struct cairn_dlq_record {
    const char *id, *instance_id, *workflow_id; /* workflow_id: name and version, "order/1" */
    const char *step_id, *step_name, *step_type;
    const char *input, *error, *reason;
    int is_open; /* 0: requeued, or closed by cancel, abort, restart or retry */
    int64_t created_at_us;
} cairn_dlq_record;

/* Open records, newest first. */
CAIRN_API cairn_code cairn_dlq_list(cairn_engine *engine, const char *cursor, uint32_t limit,
                                    cairn_page **ret_dlq, cairn_error *reterr);
CAIRN_API cairn_code cairn_dlq_get(cairn_engine *engine, const char *id, cairn_page **ret_dlq,
                                   cairn_error *reterr);

/* Tries it again, with new input (JSON) if given; everything that was held back goes on. */
CAIRN_API cairn_code cairn_dlq_requeue(cairn_engine *engine, const char *id, const char *input,
                                       cairn_error *reterr);

/* An event that a handler has emitted. */
typedef struct cairn_outbox_event {
    const char *id, *instance_id, *step, *event, *payload;
    int64_t created_at_us;
} cairn_outbox_event;

/* Events to deliver, in order per instance, to be acknowledged within lease_ms.  Until they are,
 * later events of their instances are given to nobody, this worker included. */
CAIRN_API cairn_code cairn_outbox_claim(cairn_engine *engine, const char *worker, uint32_t max,
                                        uint32_t lease_ms, cairn_page **ret_outbox,
                                        cairn_error *reterr);
/* The event has been delivered.  Twice is the same as once.  CAIRN_E_WRONG_STATE: an earlier event
 * of the instance is not acknowledged yet. */
CAIRN_API cairn_code cairn_outbox_ack(cairn_engine *engine, const char *id,
                                      cairn_error *reterr);

/* ---- Functions ------------------------------------------------------------------------------
 *
 * A function is a workflow that is written as code.  Its steps have keys; what a step gave is
 * remembered.  The code runs from the top at each *passage*: steps that have finished answer from
 * memory, the first one that has not is executed.  A sleep, a wait or a retry suspends: the
 * passage ends with CAIRN_E_SUSPENDED, which the code passes on, and the next one begins when
 * there is something to do.  So code outside of steps must do the same each time: it asks for
 * the time, for chance and for the outside world through the calls below.
 *
 *     static cairn_code order(cairn_passage *passage, void *arg)
 *     {
 *         cairn_step_options charge = CAIRN_STEP_DEFAULTS;
 *         charge.key = "charge";
 *         charge.run = charge_card;
 *         charge.compensation = "order.refund.v1";
 *         cairn_code code = cairn_passage_step(passage, &charge, NULL, NULL);
 *         if (!code)
 *             code = cairn_passage_sleep(passage, "cool_off", 3600 * 1000, NULL);
 *         if (!code)
 *             code = cairn_passage_wait_event(passage, "paid", "payment.settled", -1, NULL, NULL);
 *         return code;
 *     }
 *
 * In a loop a key repeats: its second use is remembered as "key#2", and so on.  Texts that a call
 * hands out live as long as the passage.
 */

/* The code of a function.  CAIRN_OK: it has completed, see cairn_passage_set_output().
 * CAIRN_E_SUSPENDED, passed on from a call: it goes on later.  Any other code: it has failed, with
 * the text of cairn_passage_set_error(), else with the error of the call that returned it. */
typedef cairn_code (*cairn_function)(cairn_passage *passage, void *arg);

/* What a crash repeats. */
typedef enum cairn_commit_mode {
    CAIRN_COMMIT_STEP =
        1,               /* each finished step is committed before the next begins: at most one
                            * is called again, the one that was being executed or had just ended */
    CAIRN_COMMIT_PASSAGE /* all steps of a passage are committed at its end: the whole passage
                            * may be repeated, for a fraction of the commits */
} cairn_commit_mode;

typedef struct cairn_function_options {
    size_t size;
    const char *name; /* what instances are started as, and the type of its tasks */
    int32_t version;  /* from 1 */
    cairn_function run;
    void *arg;
    cairn_commit_mode commit;
    int32_t max_attempts; /* leases lost in a row, without any commit, until it has failed */
    int dlq;              /* 1: when it fails, it is parked in the DLQ */
    int32_t from_version; /* the oldest version whose instances it accepts; 0: its own alone */
} cairn_function_options;

#define CAIRN_FUNCTION_VALUES_(SET) \
    SET(version, 1) SET(commit, CAIRN_COMMIT_STEP) SET(max_attempts, 3)
CAIRN_DEFAULTS_(cairn_function_options, CAIRN_FUNCTION_VALUES_)
#define CAIRN_FUNCTION_DEFAULTS CAIRN_INITIAL_(cairn_function_options, CAIRN_FUNCTION_VALUES_)

/* Has a worker execute a function: it is deployed under its name and version (as the workflow file
 * {"function": NAME, "version": N}), so that cairn_instance_start() finds it, and its passages are claimed
 * like other tasks, if their instance's version is from `from_version` to `version`.  Several
 * versions of one name may be registered: an instance is given to its own version, or else to the
 * highest that accepts it.  Before cairn_worker_run(). */
CAIRN_API cairn_code cairn_worker_function(cairn_worker *worker,
                                           const cairn_function_options *options,
                                           cairn_error *reterr);

/* A step of a function.  Its code is a handler like any other: it reads cairn_work_task() (type and
 * step are the key) and says how the call ended.  CAIRN_COMPLETE with an output; CAIRN_FAIL or
 * CAIRN_RETRY: called again after the backoff, while calls are left; CAIRN_DEAD: never again. */
typedef struct cairn_step_options {
    size_t size;
    const char *key; /* not empty, without '#' */
    cairn_handler run;
    void *arg;
    const char *input;       /* JSON, for its code and its compensation; NULL: null */
    int32_t retries;         /* calls after the first */
    const char *backoff;     /* fixed, linear, exponential, quadratic */
    int64_t base_ms, max_ms; /* before the second call; the longest */
    double jitter;
    int64_t timeout_ms; /* a call that took longer has failed (TIMEOUT); 0: no limit */

    /* The type of the task that undoes it, with {"input", "output"}, should the function fail or be
     * cancelled later; any worker that handles the type executes it.  NULL: nothing to undo. */
    const char *compensation;
    int32_t compensation_max_attempts; /* calls; 0: straight to the DLQ */
    int64_t compensation_timeout_ms;   /* 0: no limit */
} cairn_step_options;

#define CAIRN_STEP_VALUES_(SET) \
    SET(retries, 2)             \
    SET(backoff, "exponential") \
    SET(base_ms, 1000) SET(max_ms, 300000) SET(compensation_max_attempts, 3)
CAIRN_DEFAULTS_(cairn_step_options, CAIRN_STEP_VALUES_)
#define CAIRN_STEP_DEFAULTS CAIRN_INITIAL_(cairn_step_options, CAIRN_STEP_VALUES_)

/* Executes a step, or answers from memory.
 *
 * CAIRN_E_SUSPENDED         pass it on.
 * CAIRN_E_STEP_FAILED       no call is left, or it said CAIRN_DEAD.  The function may go on.
 * CAIRN_E_VERSION_MISMATCH  the code asks for another step than is remembered: pass it on; the
 *                           instance pauses, and `resume --force` accepts the new code.
 * CAIRN_E_LEASE_LOST, CAIRN_E_UNREACHABLE, ...  this passage is over: pass it on. */
CAIRN_API cairn_code cairn_passage_step(cairn_passage *passage,
                                        const cairn_step_options *options,
                                        const char **ret_output, cairn_error *reterr);

/* The same in two halves, for callers that cannot be called back (options->run is not used).
 * *ret_work NULL: it was remembered, as cairn_passage_step() would tell.  Else it is to be executed
 * now; then end it, once. */
CAIRN_API cairn_code cairn_passage_begin_step(cairn_passage *passage,
                                              const cairn_step_options *options,
                                              cairn_work **ret_work, const char **ret_output,
                                              cairn_error *reterr);
CAIRN_API cairn_code cairn_passage_end_step(cairn_passage *passage, cairn_work *work,
                                            cairn_outcome outcome, const char **ret_output,
                                            cairn_error *reterr);

/* Suspends, unless the time has come.  key NULL: "sleep". */
CAIRN_API cairn_code cairn_passage_sleep(cairn_passage *passage, const char *key, int64_t ms,
                                         cairn_error *reterr);
CAIRN_API cairn_code cairn_passage_sleep_until(cairn_passage *passage, const char *key,
                                               int64_t at_us, cairn_error *reterr);

/* Suspends until a signal of this event has come; each is taken once, the oldest first.  key NULL:
 * the event.  timeout_ms -1: without end.  CAIRN_E_TIMED_OUT: none came in time. */
CAIRN_API cairn_code cairn_passage_wait_event(cairn_passage *passage, const char *key,
                                              const char *event, int64_t timeout_ms,
                                              const char **ret_payload, cairn_error *reterr);

/* Remembered: the same in every passage.  The store's time; 0 <= random < 1; a UUID. */
CAIRN_API cairn_code cairn_passage_now(cairn_passage *passage, int64_t *ret_now_us,
                                       cairn_error *reterr);
CAIRN_API cairn_code cairn_passage_random(cairn_passage *passage, double *ret_value,
                                          cairn_error *reterr);
CAIRN_API cairn_code cairn_passage_uuid(cairn_passage *passage, char ret_id[40],
                                        cairn_error *reterr);

/* Recorded in the commit that remembers it: once, or not at all.  A spec's key may be NULL; if it is
 * known, nothing new is recorded.  key NULL: the type, the workflow. */
CAIRN_API cairn_code cairn_passage_start_job(cairn_passage *passage, const char *key,
                                             const cairn_job_spec *spec, char ret_id[40],
                                             cairn_error *reterr);
CAIRN_API cairn_code cairn_passage_start_workflow(cairn_passage *passage, const char *key,
                                                  const cairn_start_options *options,
                                                  char ret_id[40], cairn_error *reterr);

/* Kept with the next commit; not repeated while the code goes through what is remembered.  level:
 * debug, info, warn, error.  data is JSON; NULL: none. */
CAIRN_API cairn_code cairn_passage_log(cairn_passage *passage, const char *level,
                                       const char *message, const char *data,
                                       cairn_error *reterr);

CAIRN_API const cairn_task *
cairn_passage_task(const cairn_passage *passage); /* with its input */

/* Why the function should come to its end ("cancelled", "paused", ...), or NULL.  Every call above
 * looks by itself. */
CAIRN_API const char *cairn_passage_stop(const cairn_passage *passage);

/* Copied.  The output must be JSON. */
CAIRN_API cairn_code cairn_passage_set_output(cairn_passage *passage, const char *json,
                                              cairn_error *reterr);
CAIRN_API cairn_code cairn_passage_set_error(cairn_passage *passage, const char *text);

/* For those who claim tasks themselves (bindings): a passage of a task of the kind "function", and
 * its end with the code that the function returned.  Who executes long steps keeps the lease alive
 * with cairn_heartbeat().  cairn_passage_end() commits what is left and releases the passage,
 * whatever it returns; ret_status (or NULL) is the status of the function's own
 * step: "completed", "failed" ("rolled_back" if something had to be undone), "waiting", "ready",
 * "paused" (in the DLQ) or "skipped" (cancelled). */
CAIRN_API cairn_code cairn_passage_open(cairn_engine *engine, const char *worker,
                                        const cairn_task *task, cairn_commit_mode commit,
                                        uint32_t lease_ms, cairn_passage **ret_passage,
                                        cairn_error *reterr);
CAIRN_API cairn_code cairn_passage_end(cairn_passage *passage, cairn_code code,
                                       char ret_status[24], cairn_error *reterr);

/* The same, and in the commit that ends it claims the next tasks, as cairn_report_many() does: one
 * round trip instead of two.  *ret_tasks is then to be freed; NULL: there was no such commit, or
 * the claim was refused, so claim by yourself. */
CAIRN_API cairn_code cairn_passage_end_claim(cairn_passage *passage, cairn_code code,
                                             const cairn_claim_options *claim,
                                             char ret_status[24], cairn_page **ret_tasks,
                                             cairn_error *reterr);

/* What a passage has cost so far: requests to the engine since it was opened, and their kinds. */
typedef struct cairn_passage_costs {
    size_t size;
    uint32_t commits, heartbeats;
} cairn_passage_costs;

#define CAIRN_PASSAGE_COSTS_VALUES_(SET)
CAIRN_DEFAULTS_(cairn_passage_costs, CAIRN_PASSAGE_COSTS_VALUES_)
#define CAIRN_PASSAGE_COSTS_DEFAULTS \
    CAIRN_INITIAL_(cairn_passage_costs, CAIRN_PASSAGE_COSTS_VALUES_)

/* CAIRN_E_BAD_INPUT: ret_costs->size is not known. */
CAIRN_API cairn_code cairn_passage_costs_get(const cairn_passage *passage,
                                             cairn_passage_costs *ret_costs);

/* Something that a function has logged. */
typedef struct cairn_log {
    int64_t id; /* rises */
    const char *level, *message;
    const char *data; /* JSON; NULL: none */
    const char *step; /* the key of the step that logged it; NULL: the function itself */
    int32_t attempt;  /* of that step, from 1; 0: the function itself */
    int64_t at_us;
} cairn_log;

/* What an instance has logged, oldest first.  CAIRN_E_NOT_FOUND. */
CAIRN_API cairn_code cairn_instance_logs(cairn_engine *engine, const char *instance_id,
                                         const char *cursor, uint32_t limit,
                                         cairn_page **ret_logs, cairn_error *reterr);

/* A signal that has come and that nobody has taken. */
typedef struct cairn_received {
    const char *id, *event, *payload;
    int64_t received_at_us;
} cairn_received;

/* The number in the key of a step's calls: from 2 on it is "ID:step~2". */
typedef struct cairn_effect {
    const char *step;
    int32_t effect;
} cairn_effect;

/* What a function's task brings: everything that it remembers.  Made for bindings; a
 * cairn_passage reads it by itself. */
struct cairn_memory {
    int32_t version;         /* of the function, as the instance was started */
    int64_t revision;        /* of the instance, said again with every commit */
    int32_t places;          /* the place of the next new step */
    int is_forced;           /* resumed with force: what does not match is executed anew */
    const cairn_step *steps; /* by place, from 1: place 0 is the function itself */
    size_t step_count;
    const cairn_received *events; /* untaken, oldest first */
    size_t event_count;
    int32_t effect; /* the number in the keys of steps, from 1, unless in effects */
    const cairn_effect *effects; /* of those that were undone */
    size_t effect_count;
};

/* ---- Everything, as JSON --------------------------------------------------------------------
 */

/* The HTTP interface of `cairn serve` without HTTP, on any URL: the same methods, paths, bodies
 * and answers (spec/openapi.json describes them).  Made for bindings and tools. */
typedef struct cairn_request {
    size_t size;
    const char *method; /* "POST" */
    const char *target; /* "/v1/jobs?status=failed", percent-encoded where needed */
    const char *body;   /* JSON; NULL: none */
    size_t body_len;

    /* With cairn_call_async() only: asked right before a claim is given tasks, in the
     * engine's thread.  0: the caller has gone, answer nothing to it.  NULL: always wanted. */
    int (*wanted)(void *arg);
    void *arg; /* for wanted and done */
} cairn_request;

#define CAIRN_REQUEST_VALUES_(SET) SET(method, "GET")
CAIRN_DEFAULTS_(cairn_request, CAIRN_REQUEST_VALUES_)
#define CAIRN_REQUEST_DEFAULTS CAIRN_INITIAL_(cairn_request, CAIRN_REQUEST_VALUES_)

/* Errors of the request itself (status 400 and above) are answers: CAIRN_OK with that status
 * and the error as JSON.  Other codes mean that there is no answer. */
CAIRN_API cairn_code cairn_call(cairn_engine *engine, const cairn_request *request,
                                cairn_response **ret_response, cairn_error *reterr);

/* The same without waiting.  `done` is called exactly once, from a thread of the engine's or
 * before this returns, and owns the response; it must not block nor call a waiting cairn_
 * function. */
typedef void (*cairn_done)(void *arg, cairn_response *response);
CAIRN_API void cairn_call_async(cairn_engine *engine, const cairn_request *request,
                                cairn_done done);

CAIRN_API int cairn_response_status(const cairn_response *response);
CAIRN_API const char *cairn_response_content_type(const cairn_response *response);
CAIRN_API const char *cairn_response_body(const cairn_response *response, size_t *ret_len);
CAIRN_API void cairn_response_free(cairn_response *response);

/* ---- Figures --------------------------------------------------------------------------------
 */

/* Counted since this engine was opened (of an http: URL: since the server was). */
typedef struct cairn_stats {
    size_t size;
    uint64_t enqueued, claimed, completed, failed, retried, cancelled, released, heartbeats;
    uint64_t lease_expiries, late_reports; /* leases that ran out; reports that were refused */
    uint64_t commits, commit_requests;     /* commits, and requests answered by them */
    uint64_t commit_us, commit_us_max;     /* time spent in them, from begin to answer */
    uint64_t pending, ready, leased; /* jobs now: waiting, of which due, and being worked on */
    uint64_t oldest_waiting_us;      /* how long the oldest due job has waited; 0: none */
    uint64_t steps_ready, steps_leased; /* steps now: claimable, and being worked on */
    /* Instances now, by status; those that have ended are not counted. */
    uint64_t instances_pending, instances_running, instances_waiting_signal, instances_paused,
        instances_compensating, instances_dlq;
    uint64_t started;                   /* instances */
    uint64_t passages, passage_commits; /* of functions: begun, and commits that they made */
    uint64_t passage_conflicts; /* commits that met another version than they had read */
} cairn_stats;

#define CAIRN_STATS_VALUES_(SET)
CAIRN_DEFAULTS_(cairn_stats, CAIRN_STATS_VALUES_)
#define CAIRN_STATS_DEFAULTS CAIRN_INITIAL_(cairn_stats, CAIRN_STATS_VALUES_)

CAIRN_API cairn_code cairn_stats_get(cairn_engine *engine, cairn_stats *ret_stats,
                                     cairn_error *reterr);

/* Something `cairn doctor` looked at. */
typedef struct cairn_finding {
    const char *check;  /* store, schema, clock, leases, registry, types, ... */
    const char *result; /* ok, warning, error */
    char text[384];
} cairn_finding;

/* Examines the store and answers a page of findings. */
CAIRN_API cairn_code cairn_doctor(cairn_engine *engine, cairn_page **ret_findings,
                                  cairn_error *reterr);

/* ---- Pages ----------------------------------------------------------------------------------
 *
 * Every list comes as a page.  A page has items of one kind; its accessor answers NULL for an index
 * that is out of range and for items of another kind.  Items live as long as their page. */

CAIRN_API size_t cairn_page_count(const cairn_page *page);
CAIRN_API const char *cairn_page_next(const cairn_page *page); /* cursor; NULL: the last page */
CAIRN_API void cairn_page_free(cairn_page *page);              /* may be NULL */

CAIRN_API const cairn_job *cairn_page_job(const cairn_page *page, size_t index);
CAIRN_API const cairn_instance *cairn_page_instance(const cairn_page *page, size_t index);
CAIRN_API const cairn_step *cairn_page_step(const cairn_page *page, size_t index);
CAIRN_API const cairn_event *cairn_page_event(const cairn_page *page, size_t index);
CAIRN_API const cairn_log *cairn_page_log(const cairn_page *page, size_t index);
CAIRN_API const cairn_decision *cairn_page_decision(const cairn_page *page, size_t index);
CAIRN_API const cairn_dlq_record *cairn_page_dlq_record(const cairn_page *page, size_t index);
CAIRN_API const cairn_outbox_event *cairn_page_outbox_event(const cairn_page *page,
                                                            size_t index);
CAIRN_API const cairn_workflow *cairn_page_workflow(const cairn_page *page, size_t index);
CAIRN_API const cairn_registry_entry *cairn_page_registry_entry(const cairn_page *page,
                                                                size_t index);
CAIRN_API const cairn_task *cairn_page_task(const cairn_page *page, size_t index);
CAIRN_API const cairn_finding *cairn_page_finding(const cairn_page *page, size_t index);
CAIRN_API const cairn_flaw *cairn_page_flaw(const cairn_page *page, size_t index);

#ifdef __cplusplus
}
#endif

#endif
