/* cairn.h - durable jobs and workflows in your process.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * This header is everything in libcairn that you may rely on.  These rules hold throughout:
 *
 *   Errors     A call that can fail returns a cairn_code; CAIRN_OK is zero.  Pass a
 *              cairn_error to learn the reason, or NULL if the code is enough.
 *   Ownership  A ret_ argument is written on success only.  What it points to is then yours,
 *              and you release it with the _free function of its type.  A `const char *` in it
 *              lives as long as it does.  What you pass in need only live until the call
 *              returns.
 *   Threads    Any number of threads may share a cairn_engine.  Every other object belongs to
 *              one thread at a time.
 *   Structs    A struct that you fill in begins with `size`; start from its _DEFAULTS.  In an
 *              array of such structs, all elements have the `size` of the first.  A size that
 *              no version of the library had is CAIRN_E_BAD_INPUT, and nothing is done.
 *   Lists      Every list comes as a cairn_page: see "Pages" below.
 *   Words      A status or a kind is a word, as in the tables and in HTTP answers.  Beside it
 *              is the same as an enum of cairn_words.h; its name ends in _code.
 *   Times      `_us` is microseconds since 1970 in UTC, `_ms` is a duration in milliseconds.
 *   JSON       Payloads, inputs, outputs and results are JSON texts.  The library checks them,
 *              stores them and hands them back.  It rejects duplicate keys, \u0000, and numbers
 *              that a double cannot hold; all others keep their digits.  PostgreSQL stores them
 *              as jsonb, which reorders keys, drops white space, and writes numbers in its way.
 *
 * What stays stable: within a major version, programs that were compiled against an older
 * header run with a newer library.  Calls, enumerators and codes keep their names, numbers and
 * meaning. Structs grow at their end only, which `size` makes safe for those that you fill
 * in; the others are given to you by pointer, so never depend on their size.  cairn_error,
 * cairn_enqueued, cairn_kept_stop, cairn_reported, cairn_signalled, cairn_flaw and cairn_finding are frozen:
 * they never grow.  New words, enumerators and codes may be added, so have a default for those
 * that you do not know.
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
 *     for (size_t i = 0; i < cairn_page_count(tasks); i++)
 *         cairn_task_complete(engine, "worker-1", cairn_page_task(tasks, i), "{}", &error);
 *     cairn_page_free(tasks);
 */
#ifndef CAIRN_H
#define CAIRN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cairn_codes.h"
#include "cairn_words.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CAIRN_VERSION_MAJOR 0
#define CAIRN_VERSION_MINOR 1
#define CAIRN_VERSION_PATCH 0
#define CAIRN_VERSION "0.1.0"

/* Whether this header is of the given version or a newer one. */
#define CAIRN_AT_LEAST_VERSION(major, minor, patch) \
    (CAIRN_VERSION_MAJOR > (major) ||               \
     (CAIRN_VERSION_MAJOR == (major) &&             \
      (CAIRN_VERSION_MINOR > (minor) ||             \
       (CAIRN_VERSION_MINOR == (minor) && CAIRN_VERSION_PATCH >= (patch)))))

#if defined(__GNUC__)
#define CAIRN_API __attribute__((visibility("default")))
#else
#define CAIRN_API
#endif

/* The _DEFAULTS below are initialisers in C and function calls in C++, where designated
 * initialisers exist only since C++20.  The members are listed once, as SET(member, value). */
#ifdef __cplusplus
#define CAIRN_SET_(member, value) it.member = value
#define CAIRN_DEFAULTS_(type, values)         \
    static inline type type##_defaults_(void) \
    {                                         \
        type it = type();                     \
        values(CAIRN_SET_);                   \
        return it;                            \
    }
#define CAIRN_INITIAL_(type, values) type##_defaults_()
#else
#define CAIRN_SET_(member, value) .member = value
#define CAIRN_DEFAULTS_(type, values)
#define CAIRN_INITIAL_(type, values) \
    {                                \
        values(CAIRN_SET_)           \
    }
#endif

typedef struct cairn_engine cairn_engine;     /* an open store and the threads that serve it */
typedef struct cairn_page cairn_page;         /* a list, as it was when you asked for it */
typedef struct cairn_builder cairn_builder;   /* a workflow that is being put together */
typedef struct cairn_response cairn_response; /* the answer to a cairn_call() */
typedef struct cairn_worker cairn_worker;     /* handlers and the threads that run them */
typedef struct cairn_work cairn_work;         /* a task, as its handler sees it */
typedef struct cairn_passage cairn_passage;   /* one run of a function, from the top */
typedef struct cairn_memory cairn_memory;     /* what a function remembers */

/* Why a call failed.  It holds no memory of its own, so there is nothing to free.  Frozen. */
typedef struct cairn_error {
    cairn_code code;
    char message[256]; /* what went wrong, in one line */
    char detail[512];  /* more facts, such as the message of the database; may be "" */
    char hint[256];    /* what to do about it; may be "" */
} cairn_error;

/* The version of the library that is loaded, such as "0.1.0". */
CAIRN_API const char *cairn_version(void);

/* For bindings, which describe structs in another language: whether the library that is loaded fits.
 * CAIRN_ABI rises when a program that was compiled against an older header could not run with the
 * library.  cairn_sizeof() is the size of a struct of this header in the library, such as that of
 * "cairn_task"; 0: it has none of that name. */
#define CAIRN_ABI 1
CAIRN_API int cairn_abi(void);
CAIRN_API size_t cairn_sizeof(const char *struct_name);

/* The word for a code as it stands in HTTP answers ("lease_lost"), the HTTP status that it is
 * sent with, and a sentence that explains it.  An unknown code answers as CAIRN_E_INTERNAL. */
CAIRN_API const char *cairn_code_name(cairn_code code);
CAIRN_API int cairn_code_http_status(cairn_code code);
CAIRN_API const char *cairn_code_meaning(cairn_code code);

/* Something that an operator wants to know, for the program's own log.  `level` is a
 * cairn_notice_level, `text` one line, `json` an object with "event", "level", "text" and numbers:
 *
 *     event            level    numbers          meaning
 *     store_lost       error                     the database or server does not answer
 *     store_recovered  info     after_ms         it answers again
 *     commit_failed    error    left_out         the store has refused a commit, such as a full disk; once a minute
 *     row_set_aside    error    rows             the store refuses to write a row whose time has come; once a minute
 *     slow_commit      warning  ms, requests     a commit took longer than a second
 *     leases_expired   warning  count            workers neither reported nor sent heartbeats
 *     late_reports     warning  count            reports came after their lease had ended
 *     timers_late      warning  late_ms          a timer was applied more than 5 s late
 *     migrated         info     from, to         cairn_open() has migrated the tables
 *     schedule_unreadable  warning              its time zone is not on this machine; tried each minute
 *
 * With an http: URL, only the first two are told.  The function is called by threads of the
 * engine and by cairn_open(), so it must return quickly and must not call the engine.  The
 * texts are valid during the call only. */
typedef void (*cairn_notice)(void *arg, int level, const char *text, const char *json);

typedef enum cairn_notice_level {
    CAIRN_NOTICE_INFO = 1,
    CAIRN_NOTICE_WARNING,
    CAIRN_NOTICE_ERROR
} cairn_notice_level;

/* ---- Opening ----------------------------------------------------------------------------- */

typedef struct cairn_open_options {
    size_t size;
    const char *url; /* sqlite:FILE, postgres://..., http://... or memory:, which keeps
                        * everything in this process; NULL: $CAIRN_URL, else sqlite:cairn.db */
    const char
        *token; /* bearer token for http: URLs; NULL: $CAIRN_TOKEN, else none.  Of https: URLs
                        * $CAIRN_CA_FILE names the authorities that are trusted (PEM); else the
                        * system's are */
    uint32_t retry_ms; /* how long a call waits for a store that is unreachable or locked */
    bool no_create;    /* a file that does not exist, or a database without Cairn's tables, is
                        * CAIRN_E_NOT_FOUND; otherwise it is created */
    bool no_migrate;   /* an older schema is rejected; otherwise it is migrated */
    bool no_timers;    /* due timers are applied only before a claim, not by themselves */

    size_t max_payload; /* bytes of a payload, input, output or result */
    size_t max_name;    /* bytes of a type, key, worker or runtime */
    size_t max_error;   /* bytes of an error text that are kept; the rest is cut off */
    size_t max_batch;   /* jobs in one enqueue, tasks in one claim, results in one report */

    double aging_rate; /* points of priority that a waiting step gains per second; 0: none */

    /* A worker that has no handler for a step gives it back.  The step is then held back for
     * missing_cooldown_ms, varied at random by the part missing_jitter (0 to 1), and an event
     * is written at most once in missing_throttle_ms for each type. */
    uint32_t missing_cooldown_ms; /* 0: it may be claimed again at once */
    uint32_t missing_throttle_ms; /* 0: an event is written every time */
    double missing_jitter;

    /* For tests. */
    uint64_t seed;      /* source of jitter, ids and tokens; 0: the system's random numbers */
    bool virtual_clock; /* time stands still until cairn_clock_advance() */
    int64_t start_us;   /* where a virtual clock starts; 0: now */

    cairn_notice notice; /* NULL: none */
    void *notice_arg;

    bool
        serves; /* workers of other processes call through this one, as with cairn serve: in its
                  * first minute it does not yet say that a type has no worker */
    bool solo; /* for tests: with a virtual clock, and calls of one thread alone, which executes
                * them itself, so that none can wait for tasks or an end.  Nothing is counted for
                * charts, and history is not purged by age */

    size_t
        map_elements; /* for tests: a map runs over so many elements of a longer list, or over as many as
                          * its join asks for; 0: over all */
} cairn_open_options;

#define CAIRN_OPEN_VALUES_(SET)                                                               \
    SET(size, sizeof(cairn_open_options)), SET(retry_ms, 10000), SET(max_payload, 1 << 20),   \
        SET(max_name, 256), SET(max_error, 4096), SET(max_batch, 1000), SET(aging_rate, 0.5), \
        SET(missing_cooldown_ms, 5000), SET(missing_throttle_ms, 60000),                      \
        SET(missing_jitter, 0.2)
CAIRN_DEFAULTS_(cairn_open_options, CAIRN_OPEN_VALUES_)
#define CAIRN_OPEN_DEFAULTS CAIRN_INITIAL_(cairn_open_options, CAIRN_OPEN_VALUES_)

/* Opens a store and migrates its tables to this library's version.
 *
 * CAIRN_E_SCHEMA_NEWER    a newer libcairn has migrated this store; nothing was changed.
 * CAIRN_E_NOT_A_DATABASE  the file is not a database; nothing was changed.
 * CAIRN_E_UNREACHABLE     the database or server does not answer.
 * CAIRN_E_READ_ONLY       the file or its folder cannot be written to.
 * CAIRN_E_NOT_FOUND       there is no store yet, and no_create is set. */
CAIRN_API cairn_code cairn_open(const cairn_open_options *options, cairn_engine **ret_engine,
                                cairn_error *reterr);

/* What cairn_open() would do to the tables, as JSON, without doing it: neither a file nor a table is
 * created or changed.  It fails as cairn_open() would.
 *
 *     {"url", "from", "to", "would_apply": [{"number", "name", "does", "locks"}]}
 *
 * from and to are versions as in cairn_schema; `locks` says which tables others wait for, and for how
 * long.  With an http: URL from and to are 0: its tables are the server's.  Free *ret_plan with
 * cairn_text_free(). */
CAIRN_API cairn_code cairn_migrate_plan(const cairn_open_options *options, char **ret_plan,
                                        cairn_error *reterr);

/* Ends every waiting call with CAIRN_E_CLOSED, lets the running commit finish, and releases the
 * engine.  Pages may be freed before or after.  engine may be NULL. */
CAIRN_API void cairn_close(cairn_engine *engine);

/* In a forked process, where the threads of the engine do not exist: forgets an engine that the
 * parent has opened, without touching its threads, locks or files.  It is the only call that a
 * forked process may make with such an engine; what the engine had allocated is mostly lost.  The
 * parent's engine goes on, and the forked process may open its own on the same URL.  engine may be
 * NULL. */
CAIRN_API void cairn_abandon(cairn_engine *engine);

/* The URL that was opened, without its password. */
CAIRN_API const char *cairn_url(const cairn_engine *engine);

/* What cairn_open() did to the tables. */
typedef struct cairn_schema {
    size_t size;
    int from;                   /* their version before; 0: there were none */
    int to;                     /* their version now; 0: the tables belong to a server */
    const char *const *applied; /* names of the migrations that were applied, such as
                                 * "0002_workflows"; they live as long as the engine */
    size_t applied_count;
} cairn_schema;

#define CAIRN_SCHEMA_VALUES_(SET) SET(size, sizeof(cairn_schema))
CAIRN_DEFAULTS_(cairn_schema, CAIRN_SCHEMA_VALUES_)
#define CAIRN_SCHEMA_DEFAULTS CAIRN_INITIAL_(cairn_schema, CAIRN_SCHEMA_VALUES_)

CAIRN_API cairn_code cairn_schema_get(const cairn_engine *engine, cairn_schema *ret_schema,
                                      cairn_error *reterr);

/* ---- Pages ---------------------------------------------------------------------------------
 *
 * A page is a part of a list, read at one moment.  If cairn_page_next() is not NULL, pass it as
 * `cursor` to get the part that follows.  A call that answers one thing gives a page of one.
 *
 * All items of a page are of one kind.  The accessors answer NULL if the index is out of range
 * or the page holds items of another kind.  Items live as long as their page.
 */

typedef struct cairn_job cairn_job;
typedef struct cairn_event cairn_event;
typedef struct cairn_registry_entry cairn_registry_entry;
typedef struct cairn_task cairn_task;
typedef struct cairn_workflow cairn_workflow;
typedef struct cairn_flaw cairn_flaw;
typedef struct cairn_instance cairn_instance;
typedef struct cairn_step cairn_step;
typedef struct cairn_log cairn_log;
typedef struct cairn_decision cairn_decision;
typedef struct cairn_dlq_record cairn_dlq_record;
typedef struct cairn_outbox_event cairn_outbox_event;
typedef struct cairn_finding cairn_finding;
typedef struct cairn_why cairn_why;
typedef struct cairn_schedule cairn_schedule;
typedef struct cairn_schedule_run cairn_schedule_run;
typedef struct cairn_schedule_time cairn_schedule_time;
typedef struct cairn_limit cairn_limit;

CAIRN_API size_t cairn_page_count(const cairn_page *page);
CAIRN_API const char *cairn_page_next(const cairn_page *page); /* NULL: this is the last part */
CAIRN_API void cairn_page_free(cairn_page *page);              /* page may be NULL */

/* A filter that no index serves ends a list early: items back to this time were looked at, and
 * cairn_page_next() looks further back.  0: the list was not cut short. */
CAIRN_API int64_t cairn_page_scanned_to(const cairn_page *page);

CAIRN_API const cairn_job *cairn_page_job(const cairn_page *page, size_t index);
CAIRN_API const cairn_event *cairn_page_event(const cairn_page *page, size_t index);
CAIRN_API const cairn_registry_entry *cairn_page_registry_entry(const cairn_page *page,
                                                                size_t index);
CAIRN_API const cairn_task *cairn_page_task(const cairn_page *page, size_t index);
CAIRN_API const cairn_workflow *cairn_page_workflow(const cairn_page *page, size_t index);
CAIRN_API const cairn_flaw *cairn_page_flaw(const cairn_page *page, size_t index);
CAIRN_API const cairn_instance *cairn_page_instance(const cairn_page *page, size_t index);
CAIRN_API const cairn_step *cairn_page_step(const cairn_page *page, size_t index);
CAIRN_API const cairn_log *cairn_page_log(const cairn_page *page, size_t index);
CAIRN_API const cairn_decision *cairn_page_decision(const cairn_page *page, size_t index);
CAIRN_API const cairn_dlq_record *cairn_page_dlq_record(const cairn_page *page, size_t index);
CAIRN_API const cairn_outbox_event *cairn_page_outbox_event(const cairn_page *page,
                                                            size_t index);
CAIRN_API const cairn_finding *cairn_page_finding(const cairn_page *page, size_t index);
CAIRN_API const cairn_why *cairn_page_why(const cairn_page *page, size_t index);
CAIRN_API const cairn_schedule *cairn_page_schedule(const cairn_page *page, size_t index);
CAIRN_API const cairn_schedule_run *cairn_page_schedule_run(const cairn_page *page,
                                                            size_t index);
CAIRN_API const cairn_schedule_time *cairn_page_schedule_time(const cairn_page *page,
                                                              size_t index);
CAIRN_API const cairn_limit *cairn_page_limit(const cairn_page *page, size_t index);

/* ---- Why ---------------------------------------------------------------------------------
 *
 * Why something has not ended, or how it ended, in one sentence, and what a person can do about it.
 */

typedef struct cairn_why_action {
    const char *action; /* a word, such as "signal" or "requeue" */
    const char *values; /* a JSON object: what the action needs, such as the event */
    const char *cli;    /* the command that does the same */
} cairn_why_action;

struct cairn_why {
    const char *code;    /* the case, a word such as "event" or "unserved" */
    const char *urgency; /* "person", "stuck", "failing", "works", "waits" or "ended" */
    cairn_urgency urgency_code;
    const char *step;     /* NULL: it is about the instance or job itself */
    int32_t seq;          /* the step's place; -1: none */
    const char *sentence; /* the text, with {name} for each value */
    const char *values;   /* a JSON object with the values; times in RFC 3339 */
    const char *text;
    int64_t since_us; /* 0: not known */
    const cairn_why_action *actions;
    size_t action_count;
};

/* ---- Time -------------------------------------------------------------------------------- */

/* The store's present time. */
CAIRN_API cairn_code cairn_clock_now(cairn_engine *engine, int64_t *ret_now_us,
                                     cairn_error *reterr);

/* Moves a virtual clock forward.  Everything that falls due on the way is applied at its own
 * time, before the call returns.  CAIRN_E_WRONG_STATE if the clock is real. */
CAIRN_API cairn_code cairn_clock_advance(cairn_engine *engine, int64_t ms, int64_t *ret_now_us,
                                         cairn_error *reterr);

/* With a virtual clock: jitter, ids and tokens follow from this seed from now on, as with the one of
 * cairn_open_options, so that what comes next can be repeated.  0 changes nothing. */
CAIRN_API cairn_code cairn_clock_reseed(cairn_engine *engine, uint64_t seed,
                                        cairn_error *reterr);

/* When the next thing becomes due: a job for later, a retry, a timer, the end of a lease; 0: nothing
 * is.  Rounded up to a millisecond, so that cairn_clock_advance() reaches it.  May be in the past,
 * if it has not been applied yet. */
CAIRN_API cairn_code cairn_clock_next(cairn_engine *engine, int64_t *ret_due_us,
                                      cairn_error *reterr);

/* ---- Trials --------------------------------------------------------------------------------
 *
 * For tests: an engine with a virtual clock that lets the calls of real handlers go wrong, as
 * cairn simulate does with invented ones.  It is used like any other engine.  What happens to a
 * call follows from the seed, the step and the number of the call, so a seed repeats a run if
 * one worker executes one task at a time.  Move the clock from cairn_clock_next() to the next
 * until everything has ended, then ask cairn_trial_check().
 *
 *     fail     the call fails, half of the time after its handler has succeeded
 *     crash    the worker is gone, half of the time after its handler has succeeded: nothing is
 *              reported, and the lease runs out
 *     timeout  the call does not end before its step's timeout; without one it fails
 *     late     the outcome arrives after the lease has run out, and is refused
 *     twice    the outcome arrives twice
 *     restart  the engine is closed and opened again before an outcome arrives
 *
 * A run of a function only crashes: before it begins, or when a step has been executed and is
 * not committed yet; so fail, timeout, late and twice do not apply to it.
 */

typedef struct cairn_trial_options {
    size_t size;
    uint64_t seed;                                     /* from 1 */
    double fail, crash, timeout, late, twice, restart; /* of a call: how often, from 0 to 1 */
    const char *fail_of; /* "STEP=RATE,...", in place of `fail`: a step, a job's type, the
                          * beginning of such names and "%", or STEP:undo; NULL: none */
} cairn_trial_options;

#define CAIRN_TRIAL_VALUES_(SET)                                                            \
    SET(size, sizeof(cairn_trial_options)), SET(seed, 1), SET(fail, 0.1), SET(crash, 0.02), \
        SET(timeout, 0.02), SET(late, 0.02), SET(twice, 0.02)
CAIRN_DEFAULTS_(cairn_trial_options, CAIRN_TRIAL_VALUES_)
#define CAIRN_TRIAL_DEFAULTS CAIRN_INITIAL_(cairn_trial_options, CAIRN_TRIAL_VALUES_)

/* As cairn_open(), but with faults.  The clock is virtual, and the seed of `trial` is also the
 * engine's.  trial may be NULL.  With a rate of restarts a store in memory is a file in the
 * folder for temporary files, which goes when the engine is closed.
 *
 * CAIRN_E_BAD_INPUT  a rate is not from 0 to 1, or the URL is that of a server. */
CAIRN_API cairn_code cairn_trial_open(const cairn_open_options *options,
                                      const cairn_trial_options *trial,
                                      cairn_engine **ret_engine, cairn_error *reterr);

/* How an instance of such an engine has ended, with its children, and which laws are broken, as
 * JSON.  A law is read as with cairn simulate --expect: "done(charge) => done(ship)".
 *
 *     {"seed", "workflow", "status", "called": [step], "done": [step], "undone": [step],
 *      "broken": [law], "story": [line]}
 *
 * Beside the given laws there are three that always count: it ends; what was done is undone if
 * it is rolled back (unless it has save points), and only then; nothing is undone twice.  The
 * story is that of the whole engine so far.  id NULL: only seed, broken and story.
 *
 * CAIRN_E_BAD_INPUT    a law cannot be read, or names a step that does not exist.
 * CAIRN_E_WRONG_STATE  the engine was not opened by cairn_trial_open(). */
CAIRN_API cairn_code cairn_trial_check(cairn_engine *engine, const char *id,
                                       const char *const *laws, size_t law_count,
                                       cairn_response **ret_verdict, cairn_error *reterr);

/* ---- Jobs -------------------------------------------------------------------------------- */

/* A job to record. */
typedef struct cairn_job_spec {
    size_t size;
    const char *type;     /* such as "billing.invoice.v1"; not empty */
    const char *payload;  /* JSON; NULL: {} */
    const char *key;      /* a second job with this key is not recorded; NULL: no key */
    int32_t priority;     /* jobs with a lower number go first; any, below 0 as well */
    int32_t max_attempts; /* handler calls in all, including the first; at least 1 */
    int64_t run_at_us;    /* not before this time; 0: now */
    const char *metadata; /* a JSON object of at most 8 KiB that goes to the handler beside the
                           * payload, such as {"traceparent": "..."}; NULL: none */
    const char *tags;     /* a JSON object of at most 16 texts that it is found by, such as
                           * {"customer": "4711"}: names of at most 64 bytes without : and =,
                           * values of at most 256 bytes; NULL: none */
    int64_t
        timeout_ms; /* how long a call may take, whatever the heartbeats: then it has failed,
                           * with the error TIMEOUT; 0: no limit */
    const char
        *retry; /* the delay before a failed call is made again: a JSON object with any of
                           * backoff (fixed, linear, exponential, quadratic), base_ms, max_ms (0: no
                           * limit) and jitter (0 to 1); what is left out, and NULL: quadratic,
                           * 60000, 0, 0.1 */

    /* If the key is known: "return" finds the earlier job and writes nothing; "fail" refuses the call
     * with CAIRN_E_CONFLICT; "restart_failed" retries the earlier job if it has failed, and finds it;
     * "new_if_ended" takes the key from the earlier job if it has ended, and records this one.  If the
     * earlier job was purged, the last two record this one.  NULL: "return". */
    const char *on_existing;

    /* Not 0: it runs this long after it was recorded last.  If the job with its key is pending, that job
     * is moved to this much time from now and gets this payload; it is found as an earlier one.
     * Needs a key, and no run_at_us. */
    int64_t debounce_ms;

    const char *group; /* at most 128 bytes, such as a tenant; groups of a type take turns, and
                           * limits can count each (cairn_limit_put()); NULL: "" */
} cairn_job_spec;

#define CAIRN_JOB_VALUES_(SET) \
    SET(size, sizeof(cairn_job_spec)), SET(priority, 100), SET(max_attempts, 3)
CAIRN_DEFAULTS_(cairn_job_spec, CAIRN_JOB_VALUES_)
#define CAIRN_JOB_DEFAULTS CAIRN_INITIAL_(cairn_job_spec, CAIRN_JOB_VALUES_)

/* Frozen. */
typedef struct cairn_enqueued {
    char id[40];   /* of the job or instance, a UUID */
    bool existing; /* the key was known: this is the earlier one */
} cairn_enqueued;

/* Records jobs in one commit.  After CAIRN_OK they will be executed even if this process
 * dies.  One bad spec rejects the whole call.  ret_enqueued has room for `count` results, or is
 * NULL. */
CAIRN_API cairn_code cairn_enqueue(cairn_engine *engine, const cairn_job_spec *specs,
                                   size_t count, cairn_enqueued *ret_enqueued,
                                   cairn_error *reterr);

/* A job.  Times that are not set are 0, texts that are not set are NULL. */
struct cairn_job {
    const char *id, *type, *payload;
    const char *status;
    cairn_job_status status_code;
    const char *idempotency_key;
    const char *leased_by;
    const char *last_error;
    const char *result; /* JSON */
    int32_t priority;
    int32_t attempt; /* calls that ended in an error, a retry or a lost lease */
    int32_t max_attempts;
    int64_t run_at_us, lease_until_us, created_at_us, updated_at_us, deleted_at_us;
    const char *metadata; /* JSON */
    const cairn_why *why; /* of cairn_job_get(); else NULL */
    const char *schedule; /* that has recorded it; NULL: none */
    const char *tags;     /* JSON */
    int64_t timeout_ms;   /* 0: no limit */
    const char *retry;    /* JSON; NULL: the default */
    const char *group;    /* "": none */
    const char
        *error_group; /* of its error: filters and GET /v1/errors know it; NULL: no error */
};

typedef struct cairn_job_filter {
    size_t size;
    const char
        *status; /* one or several, such as "failed,cancelled"; "active": not ended, "ended";
                         * NULL: any */
    const char *type;   /* an exact type, or a prefix such as "billing.%"; NULL: any */
    const char *key;    /* a key, or a prefix such as "order-%"; NULL: any */
    const char *cursor; /* of cairn_page_next(); NULL: the first page */
    uint32_t limit;     /* 1 to 1000 */
    const char *q;      /* an id, a key, or the beginning of one; NULL: any */
    const char *ids;    /* only these, at most 100, separated by commas; NULL: any */
    const char *has;    /* a text in the payload or the last error; NULL: any */
    const char *due;    /* of pending jobs: "true" or "false"; NULL: any */
    int64_t created_from_us, created_to_us; /* both included; 0: any time */
    const char *const *tags; /* only those with all of these, each "name:value" */
    size_t tag_count;
} cairn_job_filter;

#define CAIRN_JOB_FILTER_VALUES_(SET) SET(size, sizeof(cairn_job_filter)), SET(limit, 100)
CAIRN_DEFAULTS_(cairn_job_filter, CAIRN_JOB_FILTER_VALUES_)
#define CAIRN_JOB_FILTER_DEFAULTS CAIRN_INITIAL_(cairn_job_filter, CAIRN_JOB_FILTER_VALUES_)

/* One job.  A deleted job can still be read by its id.  CAIRN_E_NOT_FOUND. */
CAIRN_API cairn_code cairn_job_get(cairn_engine *engine, const char *id, cairn_page **ret_jobs,
                                   cairn_error *reterr);

/* Jobs that match, newest first, without deleted ones.  filter may be NULL. */
CAIRN_API cairn_code cairn_job_list(cairn_engine *engine, const cairn_job_filter *filter,
                                    cairn_page **ret_jobs, cairn_error *reterr);

/* Waits until a job has ended, whichever process ends it, and answers it.  timeout_ms -1:
 * without limit.  Another process's end is noticed within a second.
 *
 * CAIRN_E_TIMED_OUT  it has not ended yet.
 * CAIRN_E_CLOSED     the engine was closed. */
CAIRN_API cairn_code cairn_job_wait(cairn_engine *engine, const char *id, int64_t timeout_ms,
                                    cairn_page **ret_jobs, cairn_error *reterr);

/* Something that happened to a job, an instance or a step; spec/events.txt lists the types. */
struct cairn_event {
    int64_t id; /* increases */
    const char *type;
    const char *step; /* NULL for jobs, and if it is about the instance as a whole */
    const char *data; /* JSON */
    int64_t at_us;
};

/* The history of a job, oldest first.  CAIRN_E_NOT_FOUND. */
CAIRN_API cairn_code cairn_job_events(cairn_engine *engine, const char *id, const char *cursor,
                                      uint32_t limit, cairn_page **ret_events,
                                      cairn_error *reterr);

/* Cancels a job at once.  No later result of its worker changes that; the worker learns of it
 * at its next heartbeat.  CAIRN_E_WRONG_STATE if the job has ended. */
CAIRN_API cairn_code cairn_job_cancel(cairn_engine *engine, const char *id,
                                      cairn_error *reterr);

/* Marks a job as deleted: it is cancelled if it had not ended, and is neither claimed nor
 * listed from then on.  Deleting it again changes nothing. */
CAIRN_API cairn_code cairn_job_delete(cairn_engine *engine, const char *id,
                                      cairn_error *reterr);

/* Makes a failed or cancelled job pending again, with all its attempts. */
CAIRN_API cairn_code cairn_job_retry(cairn_engine *engine, const char *id, cairn_error *reterr);

/* ---- Registry: which runtime executes a type, and whether it may be claimed -------------- */

struct cairn_registry_entry {
    const char *workflow_name; /* the type */
    const char *intent_type;   /* "workflow" */
    const char *runtime;       /* such as "go", "python", "c" */
    const char *description;   /* NULL: none */
    bool is_enabled;
    int64_t created_at_us, updated_at_us;
};

/* An entry to write. */
typedef struct cairn_registry_spec {
    size_t size;
    const char *workflow_name; /* not empty */
    const char *runtime;       /* 1 to 64 of a-z, 0-9, _, . and -, a letter first */
    const char *description;   /* NULL: none */
    bool is_enabled;           /* false: the type is not claimed */
} cairn_registry_spec;

#define CAIRN_REGISTRY_VALUES_(SET) \
    SET(size, sizeof(cairn_registry_spec)), SET(is_enabled, true)
CAIRN_DEFAULTS_(cairn_registry_spec, CAIRN_REGISTRY_VALUES_)
#define CAIRN_REGISTRY_DEFAULTS CAIRN_INITIAL_(cairn_registry_spec, CAIRN_REGISTRY_VALUES_)

/* Writes an entry, which replaces the one with the same name. */
CAIRN_API cairn_code cairn_registry_put(cairn_engine *engine, const cairn_registry_spec *spec,
                                        cairn_error *reterr);
CAIRN_API cairn_code cairn_registry_list(cairn_engine *engine, const char *cursor,
                                         uint32_t limit, cairn_page **ret_entries,
                                         cairn_error *reterr);

/* ---- Schedules: what starts by itself ----------------------------------------------------
 *
 * A schedule starts an instance, or records a job, at its times.  Every engine that keeps timers applies
 * those of the store; each time is applied once, and the key of its run is "schedule:NAME:TIME".
 *
 * A local time counts at the first instant at which the clock shows it or a later one: all times that
 * one clock change skips are one run, right after it, and of two equal times the first counts.  If the
 * hour field is *, every instant counts whose local time matches.  If day of month and day of week are
 * both restricted, either is enough.
 *
 * A time is missed if no engine has applied it within a second; times that come while the schedule is
 * paused count as missed when it is resumed.
 */

/* A schedule to write. */
typedef struct cairn_schedule_spec {
    size_t size;
    const char *name;     /* not empty, at most 128 bytes */
    const char *cron;     /* such as "30 2 * * MON-FRI" or "@daily"; NULL: every_ms */
    int64_t every_ms;     /* at least 1000, counted from this call; 0: cron */
    const char *timezone; /* an IANA name, such as "Europe/Berlin"; NULL: UTC */
    const char *workflow; /* starts an instance of it; NULL: task */
    const char *task;     /* records a job of this type; NULL: workflow */
    int32_t version;      /* of the workflow; 0: the highest at the time */
    const char *input;    /* JSON; NULL: {} */
    const char
        *overlap; /* if an earlier run has not ended: "skip" this one, "allow" both, "queue"
                           * one until it has ended, or "cancel" it and start when it has ended;
                           * NULL: skip */
    const char
        *catch_up; /* which missed times are made up for: "none", "last" or "all"; NULL: last */
    int32_t paused; /* 1: it is, 0: it is not, -1: as it is, and a new one is not */
} cairn_schedule_spec;

#define CAIRN_SCHEDULE_VALUES_(SET) SET(size, sizeof(cairn_schedule_spec)), SET(paused, -1)
CAIRN_DEFAULTS_(cairn_schedule_spec, CAIRN_SCHEDULE_VALUES_)
#define CAIRN_SCHEDULE_DEFAULTS CAIRN_INITIAL_(cairn_schedule_spec, CAIRN_SCHEDULE_VALUES_)

/* What became of a time. */
struct cairn_schedule_run {
    const char *id;   /* of the job or instance; NULL: nothing was started */
    const char *kind; /* "job" or "instance" */
    const char
        *status; /* of the job or instance; "skipped", "failed": nothing was started; "gone":
                         * it was purged */
    const char *error; /* why nothing was started; NULL: it was */
    int64_t at_us;     /* the time of the schedule, or of the trigger */
};

struct cairn_schedule {
    const char *name;
    const char *cron;     /* NULL: every_ms */
    int64_t every_ms;     /* 0: cron */
    const char *timezone; /* "UTC" */
    const char *workflow; /* NULL: task */
    const char *task;
    int32_t version;   /* 0: the highest at the time */
    const char *input; /* NULL: {} */
    const char *overlap;
    const char *catch_up;
    bool paused;
    int64_t next_at_us;    /* 0: it is paused, or no time is left */
    int64_t waiting_at_us; /* of a run that waits for the end of an earlier one; 0: none */
    int64_t last_at_us;    /* of the latest run; 0: none */
    int64_t created_at_us, updated_at_us;
    const cairn_schedule_run *runs; /* the latest, newest first: 20, in lists 5 */
    size_t run_count;
};

struct cairn_schedule_time {
    int64_t at_us;
    const char *local; /* in the zone of the schedule: "2026-11-17T02:00:00+01:00" */
};

/* Makes a schedule, or changes the one of this name.  Its times go on as they were unless cron, every_ms
 * or timezone change.
 *
 * CAIRN_E_BAD_INPUT  such as a cron expression that cannot be read; reterr names the field. */
CAIRN_API cairn_code cairn_schedule_put(cairn_engine *engine, const cairn_schedule_spec *spec,
                                        cairn_error *reterr);
CAIRN_API cairn_code cairn_schedule_get(cairn_engine *engine, const char *name,
                                        cairn_page **ret_schedules, cairn_error *reterr);
CAIRN_API cairn_code cairn_schedule_list(cairn_engine *engine, const char *cursor,
                                         uint32_t limit, cairn_page **ret_schedules,
                                         cairn_error *reterr);
CAIRN_API cairn_code cairn_schedule_pause(cairn_engine *engine, const char *name,
                                          cairn_error *reterr);
CAIRN_API cairn_code cairn_schedule_resume(cairn_engine *engine, const char *name,
                                           cairn_error *reterr);

/* Removes it; what it has started goes on. */
CAIRN_API cairn_code cairn_schedule_delete(cairn_engine *engine, const char *name,
                                           cairn_error *reterr);

/* Starts a run now, paused or not, whatever else runs; answers a page of one cairn_schedule_run. */
CAIRN_API cairn_code cairn_schedule_trigger(cairn_engine *engine, const char *name,
                                            cairn_page **ret_runs, cairn_error *reterr);

/* The next times, at most 1000, paused or not; answers a page of cairn_schedule_time. */
CAIRN_API cairn_code cairn_schedule_next(cairn_engine *engine, const char *name, int32_t count,
                                         cairn_page **ret_times, cairn_error *reterr);

/* ---- Limits ------------------------------------------------------------------------------
 *
 * A limit says how many tasks of some types may be leased at one time, or begin in a time, in the whole
 * store or for each group.  It counts what all processes have leased; a lease that ends in any way gives its
 * place back.  If several limits match a type, all must allow a task.  Claims that are refused wait like those
 * that find nothing, and are woken when there is a place or a token.
 *
 * Groups of a type take turns, whether or not there is a limit; within a group priority and age decide.
 */

/* A limit to write. */
typedef struct cairn_limit_spec {
    size_t size;
    const char *name;    /* not empty, at most 128 bytes */
    const char *types;   /* a type, or a prefix such as "mail.%" */
    int32_t concurrency; /* so many may be leased at one time; 0: any number */
    int32_t rate_n; /* so many may begin in rate_per_ms: a bucket of this many tokens, which is
                          * filled evenly; a retry takes one, a release gives one back; 0: any number */
    int64_t rate_per_ms;
    bool per_group; /* for each group, not in the whole store */
} cairn_limit_spec;

#define CAIRN_LIMIT_VALUES_(SET) SET(size, sizeof(cairn_limit_spec))
CAIRN_DEFAULTS_(cairn_limit_spec, CAIRN_LIMIT_VALUES_)
#define CAIRN_LIMIT_DEFAULTS CAIRN_INITIAL_(cairn_limit_spec, CAIRN_LIMIT_VALUES_)

typedef struct cairn_limit_rate {
    int32_t n;
    int64_t per_ms;
} cairn_limit_rate;

struct cairn_limit {
    const char *name, *types;
    int32_t concurrency;          /* 0: any number */
    const cairn_limit_rate *rate; /* NULL: none */
    bool per_group;
    int64_t created_at_us, updated_at_us;
    int32_t taken; /* tasks that match and are leased */
    int32_t
        waiting; /* tasks that match and could be claimed, as far as they are counted (10000 of a type) */
};

/* Makes a limit, or replaces the one of this name.  What is leased already counts, and stays. */
CAIRN_API cairn_code cairn_limit_put(cairn_engine *engine, const cairn_limit_spec *spec,
                                     cairn_error *reterr);
CAIRN_API cairn_code cairn_limit_get(cairn_engine *engine, const char *name,
                                     cairn_page **ret_limits, cairn_error *reterr);
CAIRN_API cairn_code cairn_limit_list(cairn_engine *engine, const char *cursor, uint32_t limit,
                                      cairn_page **ret_limits, cairn_error *reterr);
CAIRN_API cairn_code cairn_limit_delete(cairn_engine *engine, const char *name,
                                        cairn_error *reterr);

/* ---- Tasks: claim, report and heartbeat -------------------------------------------------- */

/* One unit of work, leased to the worker that claimed it. */
struct cairn_task {
    const char *id;
    const char *token; /* proves the lease; pass it with every report */
    const char *kind;
    cairn_task_kind kind_code;
    const char *type;
    const char *input; /* JSON; of a compensation {"input", "output"} */
    const char *key; /* of a job: its key, or NULL.  Otherwise the name of the effect: the same
                      * for every call until the step is undone or restarted */
    int32_t attempt; /* the number of this call, from 1 */
    int32_t max_attempts;
    int64_t lease_until_us;

    /* NULL for jobs, except metadata. */
    const char *instance_id;
    const char *step;     /* its name */
    const char *metadata; /* JSON; NULL: none.  Of a step its instance's, with the
                           * members of its own, or its compensation's, over it */
    const char *reason;   /* "WAITING_TIMEOUT" if the wait of the call before has timed out */
    const char *signal;   /* JSON {id, event, payload}: the signal that ended that wait */

    const cairn_memory *memory; /* of functions; otherwise NULL */
    int64_t deadline_us;        /* when this call times out; 0: never */
};

/* Code of a function that a worker has, and the versions that it can continue. */
typedef struct cairn_function_code {
    size_t size;
    const char *name;
    int32_t version;      /* from 1; instances of a higher version are not claimed */
    int32_t from_version; /* nor instances of a lower version than this; 0: only `version` */
} cairn_function_code;

#define CAIRN_FUNCTION_CODE_VALUES_(SET) SET(size, sizeof(cairn_function_code))
CAIRN_DEFAULTS_(cairn_function_code, CAIRN_FUNCTION_CODE_VALUES_)
#define CAIRN_FUNCTION_CODE_DEFAULTS \
    CAIRN_INITIAL_(cairn_function_code, CAIRN_FUNCTION_CODE_VALUES_)

/* What a caller still has of a function's memory: the steps before a place, all of which have ended.  A
 * claim that brings this instance then leaves them out; see cairn_memory.steps_from. */
typedef struct cairn_known {
    size_t size;
    const char *instance_id;
    int64_t revision; /* of the memory that they are from */
    int32_t before;   /* the place; from 1 */
} cairn_known;

#define CAIRN_KNOWN_VALUES_(SET) SET(size, sizeof(cairn_known)), SET(before, 1)
CAIRN_DEFAULTS_(cairn_known, CAIRN_KNOWN_VALUES_)
#define CAIRN_KNOWN_DEFAULTS CAIRN_INITIAL_(cairn_known, CAIRN_KNOWN_VALUES_)

typedef struct cairn_claim_options {
    size_t size;
    const char *worker;       /* the name of the worker; not empty */
    const char *const *types; /* exact types, and prefixes that end in %; "%" is everything.  A
                               * function that matches is claimed in every version */
    size_t type_count;
    const char *runtime; /* types that the registry gives to another runtime are rejected if
                          * named and otherwise not claimed; NULL: any */
    uint32_t max;        /* the largest number of tasks */
    uint32_t lease_ms;   /* at least 1 */
    uint32_t wait_ms;    /* real time to wait for a task if there is none; 0: do not wait */
    const cairn_function_code *functions; /* beside `types`, which may then be empty */
    size_t function_count;
    const cairn_known *known; /* for bindings that keep memories by themselves.  Without it the
                               * library does so, and every memory that comes is whole */
    size_t known_count;
} cairn_claim_options;

#define CAIRN_CLAIM_VALUES_(SET) \
    SET(size, sizeof(cairn_claim_options)), SET(max, 1), SET(lease_ms, 30000)
CAIRN_DEFAULTS_(cairn_claim_options, CAIRN_CLAIM_VALUES_)
#define CAIRN_CLAIM_DEFAULTS CAIRN_INITIAL_(cairn_claim_options, CAIRN_CLAIM_VALUES_)

/* Claims tasks that are due and match: of jobs those with the lowest priority number first,
 * then those that were recorded first; of steps those with the highest priority first, then those that
 * have waited longest, though one that becomes ready in the same commit may go before its equals.  If
 * there are none, the answer is CAIRN_OK and an empty page.
 *
 * CAIRN_E_WRONG_RUNTIME  `types` or `functions` names a type that the registry gives to another
 *                        runtime. */
CAIRN_API cairn_code cairn_claim(cairn_engine *engine, const cairn_claim_options *options,
                                 cairn_page **ret_tasks, cairn_error *reterr);

/* Whether nothing is left to do for a worker that claims `types`; ask it when a claim has brought
 * nothing.  It is not idle while something of these types can be claimed, while a job of these
 * types is leased, since it may fail, or while any step is leased, since the next step may be of
 * these types.  What is planned for later does not count.  *ret_is_idle is 1 or 0. */
CAIRN_API cairn_code cairn_idle(cairn_engine *engine, const char *const *types, size_t count,
                                int *ret_is_idle, cairn_error *reterr);

/* The same for a claim with these types, functions and runtime: whether cairn_claim() with them brings
 * nothing, and nothing is leased that can lead to something which it would bring.  A type that the registry gives
 * to another runtime, and a function in a version that `functions` does not name, is no work for it, due or
 * leased as a job; any step that is leased may lead to work.  The other members do not count; `worker` may be NULL. */
CAIRN_API cairn_code cairn_idle_for(cairn_engine *engine, const cairn_claim_options *options,
                                    int *ret_is_idle, cairn_error *reterr);

/* Ends the waiting claims of a worker: those under way in this engine answer at once, with what
 * they have, which may be nothing.  worker NULL: every waiting call of this engine; a call that
 * waits for the end of a job or an instance answers as if its time were over.  A call that is
 * made later waits as usual.  May be called from any thread, and does not wait itself. */
CAIRN_API void cairn_wake(cairn_engine *engine, const char *worker);

typedef enum cairn_outcome {
    CAIRN_COMPLETE = 1, /* done; `output` is the result */
    CAIRN_FAIL,         /* failed; called again after the backoff while attempts are left */
    CAIRN_RETRY,        /* the same, but called again after delay_ms */
    CAIRN_DEAD,         /* failed; not called again even if attempts are left */
    CAIRN_RELEASE,      /* given back without using an attempt; claimable after delay_ms */
    CAIRN_WAIT          /* steps only: called again when `event` arrives or after timeout_ms */
} cairn_outcome;

/* An event for other systems, committed with the outcome; see cairn_outbox_claim(). */
typedef struct cairn_outbound {
    size_t size;
    const char *event;   /* not empty */
    const char *payload; /* JSON; NULL: null */
} cairn_outbound;

#define CAIRN_OUTBOUND_VALUES_(SET) SET(size, sizeof(cairn_outbound))
CAIRN_DEFAULTS_(cairn_outbound, CAIRN_OUTBOUND_VALUES_)
#define CAIRN_OUTBOUND_DEFAULTS CAIRN_INITIAL_(cairn_outbound, CAIRN_OUTBOUND_VALUES_)

/* How a task ended. */
typedef struct cairn_report {
    size_t size;
    const char *task_id;
    const char *token;
    cairn_outcome outcome;
    const char *output; /* with COMPLETE: JSON; NULL: null */
    const char *error;  /* with FAIL, RETRY and DEAD */
    int64_t delay_ms;   /* with RETRY and RELEASE; -1: the task's own backoff with RETRY, at
                         * once with RELEASE (missing_cooldown_ms if is_missing_handler) */

    /* Steps only. */
    const char *event;              /* with WAIT: the event to wait for */
    int64_t timeout_ms;             /* with WAIT: how long; -1: without limit */
    const cairn_outbound *outbound; /* with COMPLETE and WAIT */
    size_t outbound_count;
    bool is_missing_handler; /* with RELEASE: this worker has no handler for it */
} cairn_report;

#define CAIRN_REPORT_VALUES_(SET)                                                     \
    SET(size, sizeof(cairn_report)), SET(outcome, CAIRN_COMPLETE), SET(delay_ms, -1), \
        SET(timeout_ms, -1)
CAIRN_DEFAULTS_(cairn_report, CAIRN_REPORT_VALUES_)
#define CAIRN_REPORT_DEFAULTS CAIRN_INITIAL_(cairn_report, CAIRN_REPORT_VALUES_)

/* The result of one report.  Frozen. */
typedef struct cairn_reported {
    cairn_code code; /* CAIRN_OK, CAIRN_E_LEASE_LOST, ...; the other reports are not affected */
    char status[24]; /* of the job or step now, such as "succeeded"; "" if the code is not OK */
    cairn_error error;
} cairn_reported;

/* Reports outcomes in one commit and, if `claim` is not NULL, claims in the same commit.  Such a
 * claim takes what is quickly found: that it was given nothing does not mean that nothing waits, as
 * it does with cairn_claim().
 *
 * A report that was accepted may be repeated with the same token and outcome: it is accepted
 * again and changes nothing.  Another outcome is CAIRN_E_LEASE_LOST.  ret_reported has room for
 * `count` results.  ret_reported and ret_tasks may be NULL; with one report and without
 * ret_reported, the call returns the code of the report. */
CAIRN_API cairn_code cairn_report_many(cairn_engine *engine, const char *worker,
                                       const cairn_report *reports, size_t count,
                                       cairn_reported *ret_reported,
                                       const cairn_claim_options *claim, cairn_page **ret_tasks,
                                       cairn_error *reterr);

/* The same for one task. */
CAIRN_API cairn_code cairn_task_complete(cairn_engine *engine, const char *worker,
                                         const cairn_task *task, const char *output,
                                         cairn_error *reterr);
CAIRN_API cairn_code cairn_task_fail(cairn_engine *engine, const char *worker,
                                     const cairn_task *task, const char *error,
                                     cairn_error *reterr);

/* Extends a lease: it now ends extend_ms from now.  *ret_stop is NULL, or a constant text such
 * as "cancelled" if the work is no longer wanted; the lease is then not extended.  Each ret_
 * argument may be NULL. */
CAIRN_API cairn_code cairn_heartbeat(cairn_engine *engine, const char *worker,
                                     const char *task_id, const char *token, uint32_t extend_ms,
                                     int64_t *ret_lease_until_us, const char **ret_stop,
                                     cairn_error *reterr);

/* A heartbeat of one task, among many. */
typedef struct cairn_beat {
    size_t size;
    const char *task_id;
    const char *token;
    uint32_t extend_ms; /* the lease now ends this long from now; 0: it stays as it is */

    /* Written by the call. */
    cairn_code ret_code; /* CAIRN_OK or CAIRN_E_LEASE_LOST; the others are not affected */
    int64_t ret_lease_until_us;
    const char *ret_stop; /* as that of cairn_heartbeat() */
} cairn_beat;

#define CAIRN_BEAT_VALUES_(SET) SET(size, sizeof(cairn_beat)), SET(extend_ms, 30000)
CAIRN_DEFAULTS_(cairn_beat, CAIRN_BEAT_VALUES_)
#define CAIRN_BEAT_DEFAULTS CAIRN_INITIAL_(cairn_beat, CAIRN_BEAT_VALUES_)

/* Extends many leases of a worker in one commit.  Unless it returns CAIRN_OK, no ret_ member is
 * written. */
CAIRN_API cairn_code cairn_heartbeat_many(cairn_engine *engine, const char *worker,
                                          cairn_beat *beats, size_t count, cairn_error *reterr);

/* Keeps the leases of a worker's tasks, by a thread of the library, for programs that claim tasks themselves and
 * may be too busy to call cairn_heartbeat() in time, such as an interpreter whose handler does not let others run.
 * The thread extends each lease by lease_ms at a third of it, asks every look_ms whether the task is still wanted,
 * and calls no code of the program.  Free it before the engine is closed.  All but cairn_keeper_free() may be called from
 * any thread.  In a forked child it does not exist: leave it alone there. */
typedef struct cairn_keeper cairn_keeper;

CAIRN_API cairn_code cairn_keeper_start(cairn_engine *engine, const char *worker,
                                        uint32_t lease_ms, uint32_t look_ms,
                                        cairn_keeper **ret_keeper, cairn_error *reterr);

/* Keeps a task that was just claimed; *ret_task names it here. */
CAIRN_API cairn_code cairn_keeper_add(cairn_keeper *keeper, const char *task_id,
                                      const char *token, uint64_t *ret_task,
                                      cairn_error *reterr);

/* Keeps it no longer, since its handler has returned.  Returns how many ms of its lease are left; 0: none, or it
 * was not kept. */
CAIRN_API int64_t cairn_keeper_remove(cairn_keeper *keeper, uint64_t task);

/* A task that is not wanted any more.  Its lease is not extended.  Frozen. */
typedef struct cairn_kept_stop {
    uint64_t task;
    const char *stop; /* a constant text, as that of cairn_heartbeat(), or "lease_lost" */
    cairn_code code;  /* of a lost lease: why it could not be extended; else CAIRN_OK */
} cairn_kept_stop;

/* Takes stops, at most `room`, each once; waits so long for the first.  Returns how many. */
CAIRN_API size_t cairn_keeper_take(cairn_keeper *keeper, uint32_t wait_ms,
                                   cairn_kept_stop *ret_stops, size_t room);

/* Ends its thread and the waits of cairn_keeper_take(). */
CAIRN_API void cairn_keeper_stop(cairn_keeper *keeper);
CAIRN_API void cairn_keeper_free(cairn_keeper *keeper); /* may be NULL */

/* ---- Workers: handlers that are called --------------------------------------------------- */

typedef struct cairn_worker_options {
    size_t size;
    const char *name;     /* NULL: host, process and a random suffix */
    const char *runtime;  /* NULL: any */
    uint32_t concurrency; /* the number of threads that run handlers */
    uint32_t lease_ms;    /* extended automatically while a handler runs */
    uint32_t wait_ms;     /* how long one claim waits; a lower value only makes more requests */
    bool until_idle; /* cairn_worker_run() returns when nothing is left to do for its handlers
                           * and functions; see cairn_idle_for() */
} cairn_worker_options;

#define CAIRN_WORKER_VALUES_(SET)                                                       \
    SET(size, sizeof(cairn_worker_options)), SET(concurrency, 4), SET(lease_ms, 30000), \
        SET(wait_ms, 20000)
CAIRN_DEFAULTS_(cairn_worker_options, CAIRN_WORKER_VALUES_)
#define CAIRN_WORKER_DEFAULTS CAIRN_INITIAL_(cairn_worker_options, CAIRN_WORKER_VALUES_)

/* Executes one task and returns its outcome.  It runs in one of the worker's threads.  The
 * cairn_work_ calls read the task and add an output, an error or a delay. */
typedef cairn_outcome (*cairn_handler)(cairn_work *work, void *arg);

CAIRN_API cairn_code cairn_worker_new(cairn_engine *engine, const cairn_worker_options *options,
                                      cairn_worker **ret_worker, cairn_error *reterr);

/* Registers a handler for a type, or for a prefix ("billing.%").  An exact type takes
 * precedence over a prefix, and a longer prefix over a shorter one.  Call it before
 * cairn_worker_run(). */
CAIRN_API cairn_code cairn_worker_handle(cairn_worker *worker, const char *type,
                                         cairn_handler handler, void *arg, cairn_error *reterr);

/* Claims tasks, calls handlers and reports, until cairn_worker_stop() or, with until_idle,
 * until nothing is left to do.  If the store becomes unreachable, it waits for it. */
CAIRN_API cairn_code cairn_worker_run(cairn_worker *worker, cairn_error *reterr);

/* Makes cairn_worker_run() return: it claims no more, lets the running handlers finish, and
 * reports their outcomes.  May be called from any thread and from a signal handler. */
CAIRN_API void cairn_worker_stop(cairn_worker *worker);
CAIRN_API void cairn_worker_free(cairn_worker *worker); /* worker may be NULL */

CAIRN_API const cairn_task *cairn_work_task(const cairn_work *work);

/* Why the handler should stop early ("cancelled", "lease_lost"), or NULL.  It makes no
 * request, so call it often. */
CAIRN_API const char *cairn_work_stop(const cairn_work *work);

/* For steps and compensations: the input of the instance, and the output of a completed step,
 * as JSON.  They ask the engine; the texts live as long as the work.
 *
 * CAIRN_E_NOT_FOUND   there is no such step, or it has not completed.
 * CAIRN_E_LEASE_LOST  the task no longer belongs to this worker: stop.
 * CAIRN_E_BAD_INPUT   the task is a job, which has no instance. */
CAIRN_API cairn_code cairn_work_instance_input(cairn_work *work, const char **ret_input,
                                               cairn_error *reterr);
CAIRN_API cairn_code cairn_work_output_of(cairn_work *work, const char *step,
                                          const char **ret_output, cairn_error *reterr);

/* All of it at once: {"input": ..., "outputs": {step: output}} of the completed steps.
 * CAIRN_E_TOO_LARGE if it is more than 16 MiB; then ask for each output. */
CAIRN_API cairn_code cairn_work_context(cairn_work *work, const char **ret_context,
                                        cairn_error *reterr);

/* The text is copied.  The output must be JSON; otherwise the attempt fails. */
CAIRN_API cairn_code cairn_work_set_output(cairn_work *work, const char *json);
CAIRN_API cairn_code cairn_work_set_error(cairn_work *work, const char *text);
CAIRN_API void cairn_work_set_delay(cairn_work *work, int64_t delay_ms);

/* For steps, before returning CAIRN_WAIT: the handler is called again when the event arrives
 * (see cairn_task.signal) or after timeout_ms (see cairn_task.reason); -1: without limit. */
CAIRN_API cairn_code cairn_work_wait(cairn_work *work, const char *event, int64_t timeout_ms);

/* Emits an event with CAIRN_COMPLETE or CAIRN_WAIT.  payload is JSON; NULL:
 * null.  CAIRN_E_BAD_JSON: nothing is emitted. */
CAIRN_API cairn_code cairn_work_emit(cairn_work *work, const char *event, const char *payload);

/* ---- Workflows --------------------------------------------------------------------------- */

/* A deployed workflow. */
struct cairn_workflow {
    const char *name;
    int32_t version;
    const char *hash;    /* of its content */
    const char *content; /* canonical JSON */
    int64_t created_at_us;
};

/* A mistake in a workflow file, and where it is.  Frozen. */
struct cairn_flaw {
    int line, column; /* from 1; 0: the file as a whole */
    char message[256];
};

/* Checks the text of a workflow file, YAML or JSON, without an engine.  `file` is its name, for
 * error messages.
 *
 * CAIRN_E_BAD_INPUT or CAIRN_E_TOO_LARGE: the file has flaws.  *ret_flaws is written in this
 * case, too: all of them in the order of the file, at most 100.  ret_flaws may be NULL. */
CAIRN_API cairn_code cairn_workflow_validate(const char *file, const char *text,
                                             cairn_page **ret_flaws, cairn_error *reterr);

/* Draws the text of a workflow file as "dot", "mermaid" or "terminal".  Free *ret_text with
 * cairn_text_free(). */
CAIRN_API cairn_code cairn_workflow_draw(const char *file, const char *text, const char *form,
                                         char **ret_text, cairn_error *reterr);
CAIRN_API void cairn_text_free(char *text); /* text may be NULL */

/* Deploys a workflow.  Deploying the same content again changes nothing and sets
 * *ret_existing, which may be NULL.  CAIRN_E_CONFLICT: this version is already deployed with
 * different content. */
CAIRN_API cairn_code cairn_workflow_deploy(cairn_engine *engine, const char *file,
                                           const char *text, bool *ret_existing,
                                           cairn_error *reterr);

/* One workflow; version 0 is the highest. */
CAIRN_API cairn_code cairn_workflow_get(cairn_engine *engine, const char *name, int32_t version,
                                        cairn_page **ret_workflows, cairn_error *reterr);
CAIRN_API cairn_code cairn_workflow_list(cairn_engine *engine, const char *cursor,
                                         uint32_t limit, cairn_page **ret_workflows,
                                         cairn_error *reterr);

/* A workflow that is put together in code.  Elements are added in order.  `options` is a JSON
 * object with the keys of the file, such as {"max_attempts": 5, "timeout": "30s"}; NULL:
 * none.  Errors are kept and returned by cairn_builder_text(), whose text is for
 * cairn_workflow_deploy(). */
CAIRN_API cairn_builder *cairn_builder_new(const char *workflow,
                                           int32_t version); /* NULL: no memory */
CAIRN_API void cairn_builder_dlq(cairn_builder *builder, bool is_on);
/* What instances are started with, for forms and for people: a JSON Schema and an example, both
 * JSON; NULL: none.  The latest call counts. */
CAIRN_API void cairn_builder_input(cairn_builder *builder, const char *schema,
                                   const char *example);
CAIRN_API void cairn_builder_step(cairn_builder *builder, const char *name, const char *handler,
                                  const char *options);
CAIRN_API void cairn_builder_compensation(cairn_builder *builder, const char *handler,
                                          const char *options); /* of the step before */
/* options: version, input, key, tags, wait, on_failure, group, metadata. */
CAIRN_API void cairn_builder_start(cairn_builder *builder, const char *name,
                                   const char *workflow, const char *options);
CAIRN_API void cairn_builder_sleep(cairn_builder *builder, const char *name, int64_t for_ms);
CAIRN_API void cairn_builder_wait(cairn_builder *builder, const char *name, const char *event,
                                  const char *options);
CAIRN_API void cairn_builder_save_point(cairn_builder *builder, const char *name);
CAIRN_API void cairn_builder_human(cairn_builder *builder, const char *name,
                                   const char *options);
/* The elements that follow are the `then` list; cairn_builder_end() closes the condition. */
CAIRN_API void cairn_builder_condition(cairn_builder *builder, const char *name,
                                       const char *when);
CAIRN_API void cairn_builder_else(cairn_builder *builder);
/* join: "all", "any" or NULL, which is no join.  cairn_builder_branch() begins each branch. */
CAIRN_API void cairn_builder_fork(cairn_builder *builder, const char *name, const char *join);
CAIRN_API void cairn_builder_branch(cairn_builder *builder);
CAIRN_API void cairn_builder_parallel(cairn_builder *builder, const char *name);
/* The elements that follow are done for each element of the list `over`, up to cairn_builder_end().
 * options: input, max_parallel, join, collect, on_failure, compensation, group, metadata. */
CAIRN_API void cairn_builder_map(cairn_builder *builder, const char *name, const char *over,
                                 const char *options);
CAIRN_API void cairn_builder_end(cairn_builder *builder); /* of a condition, fork or parallel */
CAIRN_API cairn_code cairn_builder_text(cairn_builder *builder, const char **ret_text,
                                        cairn_error *reterr);
CAIRN_API void cairn_builder_free(cairn_builder *builder); /* builder may be NULL */

/* ---- Instances --------------------------------------------------------------------------- */

typedef struct cairn_start_options {
    size_t size;
    const char *workflow;
    int32_t version;      /* 0: the highest */
    const char *input;    /* JSON; NULL: {} */
    const char *key;      /* a second instance with this key is not started; NULL: no key */
    int64_t start_at_us;  /* pending until this time; 0: now */
    const char *metadata; /* a JSON object of at most 8 KiB that goes to the handlers of its
                           * steps and compensations; NULL: none */

    /* Makes it a child of another instance, which must not have ended.  When the child ends, a
     * signal of the event goes to its parent, with the payload {id, status, output,
     * last_error}; the signal's id is the child's.  It is sent in the commit that ends the child
     * or in one right after it, and once: not again if the child is restarted.  Cancelling the
     * parent cancels the child and waits for its undo, aborting the parent aborts it; pausing
     * does not concern it.  Not if the key was known.  NULL: no parent. */
    const char *tell_instance, *tell_event;

    const char *tags; /* as in cairn_job_spec */

    const char
        *on_existing; /* as in cairn_job_spec; "restart_failed" restarts a failed instance,
                              * from its own input */
    const char *
        group; /* of its tasks, as in cairn_job_spec, unless their steps name another; NULL: none, and
                        * of a function's child the function's */
} cairn_start_options;

#define CAIRN_START_VALUES_(SET) SET(size, sizeof(cairn_start_options))
CAIRN_DEFAULTS_(cairn_start_options, CAIRN_START_VALUES_)
#define CAIRN_START_DEFAULTS CAIRN_INITIAL_(cairn_start_options, CAIRN_START_VALUES_)

/* Starts an instance of a workflow.  If the key is known, it finds the earlier one.
 * CAIRN_E_NOT_FOUND: there is no such workflow or version. */
CAIRN_API cairn_code cairn_instance_start(cairn_engine *engine,
                                          const cairn_start_options *options,
                                          cairn_enqueued *ret_started, cairn_error *reterr);

/* An instance.  Times that are not set are 0, texts that are not set are NULL. */
struct cairn_instance {
    const char *id, *workflow, *key, *input, *output;
    int32_t version;
    const char *status;
    cairn_instance_status status_code;
    const char *const *current_steps; /* names of steps that are ready, running, waiting, ... */
    size_t current_step_count;
    const char *last_error; /* JSON {step, message, attempt, at}; NULL once it succeeds */
    int32_t generation;     /* increases with each restart */
    int64_t created_at_us, started_at_us, finished_at_us, start_at_us;
    const char *undo_error; /* the same as last_error, of the last compensation that failed */
    const char *metadata;   /* JSON */
    const char *parent;     /* the instance that is told of its end; NULL: none */
    const char *paused_by, *paused_reason; /* while it is paused; may be NULL */
    int64_t paused_at_us;
    const cairn_why *why; /* of cairn_instance_get(): the most urgent reason; else NULL */
    const char *schedule; /* that has started it; NULL: none */
    const char *tags;     /* JSON */
    const char *source;   /* the instance that it runs again; NULL: none */
    const char *group;    /* "": none */
    const char
        *error_group; /* of its error: filters and GET /v1/errors know it; NULL: no error */
};

typedef struct cairn_instance_filter {
    size_t size;
    const char *status;   /* one or several, such as "failed,dlq"; "active": not ended, "ended";
                           * NULL: any */
    const char *workflow; /* NULL: any */
    const char *key;      /* a key, or a prefix such as "order-%"; NULL: any */
    const char *cursor;   /* of cairn_page_next(); NULL: the first page */
    uint32_t limit;       /* 1 to 1000 */
    const char *q;        /* an id, a key, or the beginning of one; NULL: any */
    const char *ids;      /* only these, at most 100, separated by commas; NULL: any */
    const char *has;      /* a text in the input or the last error; NULL: any */
    int64_t created_from_us, created_to_us; /* both included; 0: any time */
    int32_t version;                        /* 0: any */
    const char *const *tags; /* only those with all of these, each "name:value" */
    size_t tag_count;
    const char *parent; /* only its children; "none": only those without a parent; NULL: any */
    const char *stand; /* only those that are running or wait for a signal and stand so: "lost",
                         * "running", "retrying", "sleeping", "waiting"; NULL: any */
} cairn_instance_filter;

#define CAIRN_INSTANCE_FILTER_VALUES_(SET) \
    SET(size, sizeof(cairn_instance_filter)), SET(limit, 100)
CAIRN_DEFAULTS_(cairn_instance_filter, CAIRN_INSTANCE_FILTER_VALUES_)
#define CAIRN_INSTANCE_FILTER_DEFAULTS \
    CAIRN_INITIAL_(cairn_instance_filter, CAIRN_INSTANCE_FILTER_VALUES_)

/* One instance.  CAIRN_E_NOT_FOUND. */
CAIRN_API cairn_code cairn_instance_get(cairn_engine *engine, const char *id,
                                        cairn_page **ret_instances, cairn_error *reterr);

/* Why an instance has not ended, or how it ended: one for the instance and one for each step that it is
 * at, the most urgent first. */
CAIRN_API cairn_code cairn_instance_why(cairn_engine *engine, const char *id,
                                        cairn_page **ret_whys, cairn_error *reterr);

/* Instances that match, newest first.  filter may be NULL. */
CAIRN_API cairn_code cairn_instance_list(cairn_engine *engine,
                                         const cairn_instance_filter *filter,
                                         cairn_page **ret_instances, cairn_error *reterr);

/* Waits until an instance has ended, as cairn_job_wait() does.  An instance that is paused or
 * in the dead letter queue has not ended. */
CAIRN_API cairn_code cairn_instance_wait(cairn_engine *engine, const char *id,
                                         int64_t timeout_ms, cairn_page **ret_instances,
                                         cairn_error *reterr);

struct cairn_step {
    const char *id; /* the id of its task */
    const char *name;
    const char *kind;
    cairn_step_kind kind_code;
    const char *handler;
    const char *status;
    cairn_step_status status_code;
    const char *input, *output, *error, *metadata, *waiting_event, *locked_by;
    int32_t seq, attempts, max_attempts, compensation_attempts, priority;
    int64_t commit_no; /* the order in which steps ended; 0: it has not */
    int64_t next_run_at_us, started_at_us, finished_at_us, deadline_at_us, locked_until_us;
    const char *undo_error; /* why its compensation failed */
    /* Of a join the names that it waits for, or waited for, a branch each: the element that ends the branch,
     * "cond#X" while that is for the condition X to decide, the step that failed if the branch was lost.
     * NULL: it is no join. */
    const char *const *wait_for;
    size_t wait_for_count;
};

/* The steps of an instance, in the order of the file. */
CAIRN_API cairn_code cairn_instance_steps(cairn_engine *engine, const char *id,
                                          const char *cursor, uint32_t limit,
                                          cairn_page **ret_steps, cairn_error *reterr);

/* The history of an instance, oldest first. */
CAIRN_API cairn_code cairn_instance_events(cairn_engine *engine, const char *id,
                                           const char *cursor, uint32_t limit,
                                           cairn_page **ret_events, cairn_error *reterr);

/* A line that a function has logged. */
struct cairn_log {
    int64_t id; /* increases */
    const char *level, *message;
    const char *data; /* JSON; NULL: none */
    const char *step; /* the key of the step that logged it; NULL: the function itself */
    int32_t attempt;  /* of that step, from 1; 0: the function itself */
    int64_t at_us;
};

/* The log of an instance, oldest first.  CAIRN_E_NOT_FOUND. */
CAIRN_API cairn_code cairn_instance_logs(cairn_engine *engine, const char *id,
                                         const char *cursor, uint32_t limit,
                                         cairn_page **ret_logs, cairn_error *reterr);

typedef struct cairn_signal_options {
    size_t size;
    const char *instance_id, *event;
    const char *payload; /* JSON; NULL: null */
    const char *id;      /* a second signal with this id changes nothing; NULL: a new id */
    bool no_latch;       /* it is not kept if no step waits for it */
} cairn_signal_options;

#define CAIRN_SIGNAL_VALUES_(SET) SET(size, sizeof(cairn_signal_options))
CAIRN_DEFAULTS_(cairn_signal_options, CAIRN_SIGNAL_VALUES_)
#define CAIRN_SIGNAL_DEFAULTS CAIRN_INITIAL_(cairn_signal_options, CAIRN_SIGNAL_VALUES_)

/* Frozen. */
typedef struct cairn_signalled {
    bool existing; /* the id was known; taken and kept are those of the first time */
    bool taken;    /* a step waited for it and continues */
    bool kept;     /* it was taken, or is kept for a later wait */
} cairn_signalled;

/* Sends a signal.  CAIRN_E_WRONG_STATE if the instance has ended. */
CAIRN_API cairn_code cairn_instance_signal(cairn_engine *engine,
                                           const cairn_signal_options *options,
                                           cairn_signalled *ret_signalled, cairn_error *reterr);

/* docs/guides/workflows.md explains each of these.  CAIRN_E_WRONG_STATE if the status of the
 * instance does not allow it. */
CAIRN_API cairn_code cairn_instance_pause(cairn_engine *engine, const char *id,
                                          cairn_error *reterr);
CAIRN_API cairn_code cairn_instance_resume(cairn_engine *engine, const char *id, bool is_forced,
                                           cairn_error *reterr);
CAIRN_API cairn_code cairn_instance_restart(cairn_engine *engine, const char *id,
                                            cairn_error *reterr);
CAIRN_API cairn_code cairn_instance_retry(cairn_engine *engine, const char *id,
                                          cairn_error *reterr);

/* Starts a new instance of the same workflow and version, with the tags and the metadata of this one and without
 * a key.  From a step on (`from`, a name): steps that come before it and have ended are copied as they ended, with
 * their outputs, and are never undone by the new instance; what comes before it and had not ended is skipped;
 * steps of other branches are executed.  NULL: from the beginning, the only way for a function.  input is JSON:
 * the input of that step, which is then not made by its file, or of the instance; NULL: as it was. */
CAIRN_API cairn_code cairn_instance_rerun(cairn_engine *engine, const char *id,
                                          const char *from, const char *input,
                                          cairn_enqueued *ret_started, cairn_error *reterr);
CAIRN_API cairn_code cairn_instance_cancel(cairn_engine *engine, const char *id, const char *by,
                                           const char *reason, cairn_error *reterr);
CAIRN_API cairn_code cairn_instance_abort(cairn_engine *engine, const char *id, const char *by,
                                          const char *reason, cairn_error *reterr);

/* Decides about a human step: if confirmed, the instance continues; if rejected, it is aborted.
 * CAIRN_E_WRONG_STATE if the step does not wait for a decision. */
CAIRN_API cairn_code cairn_instance_decide(cairn_engine *engine, const char *id,
                                           const char *step, bool is_confirmed, const char *by,
                                           const char *comment, cairn_error *reterr);

/* A decision about a human step. */
struct cairn_decision {
    int64_t id;           /* increases within the instance */
    const char *step;     /* its name */
    const char *decision; /* confirmed, rejected */
    const char *by;
    const char *comment; /* NULL: none */
    int64_t at_us;
};

/* The decisions in an instance, oldest first.  A step that is executed again may have several.
 * CAIRN_E_NOT_FOUND. */
CAIRN_API cairn_code cairn_instance_decisions(cairn_engine *engine, const char *id,
                                              const char *cursor, uint32_t limit,
                                              cairn_page **ret_decisions, cairn_error *reterr);

/* ---- Dead letter queue ------------------------------------------------------------------- */

/* A failed step or compensation that needs a person's attention. */
struct cairn_dlq_record {
    const char *id, *instance_id, *workflow_id; /* workflow_id: name and version, "order/1" */
    const char *step_id, *step_name, *step_type;
    const char *input, *error, *reason;
    bool is_open; /* false: requeued, or closed by cancel, abort, restart or retry */
    int64_t created_at_us;
};

/* Open records, newest first. */
CAIRN_API cairn_code cairn_dlq_list(cairn_engine *engine, const char *cursor, uint32_t limit,
                                    cairn_page **ret_records, cairn_error *reterr);
CAIRN_API cairn_code cairn_dlq_get(cairn_engine *engine, const char *id,
                                   cairn_page **ret_records, cairn_error *reterr);

/* Executes the step or compensation again, with new input (JSON) unless it is NULL.  The
 * instance continues. */
CAIRN_API cairn_code cairn_dlq_requeue(cairn_engine *engine, const char *id, const char *input,
                                       cairn_error *reterr);

/* ---- Outbox ------------------------------------------------------------------------------ */

/* An event that a handler has emitted. */
struct cairn_outbox_event {
    const char *id, *instance_id, *step, *event, *payload;
    int64_t created_at_us;
};

/* Claims events to deliver, in order within each instance.  Acknowledge each within
 * lease_ms.  Until then, no worker gets later events of the same instance. */
CAIRN_API cairn_code cairn_outbox_claim(cairn_engine *engine, const char *worker, uint32_t max,
                                        uint32_t lease_ms, cairn_page **ret_events,
                                        cairn_error *reterr);

/* Acknowledges that the event was delivered.  Doing so again changes
 * nothing.  CAIRN_E_WRONG_STATE: an earlier event of the instance has not been acknowledged. */
CAIRN_API cairn_code cairn_outbox_ack(cairn_engine *engine, const char *id,
                                      cairn_error *reterr);

/* ---- Functions -----------------------------------------------------------------------------
 *
 * A function is a workflow that is written as code.  Its steps have keys, and their outputs
 * are stored.  Each run of the code (a *passage*) starts from the top: a completed step returns
 * its stored output, and the first one that is not completed is executed.  A sleep, a wait or a
 * retry suspends: the call returns CAIRN_E_SUSPENDED, the code returns that, and the next run
 * starts when the function can continue.  So the code outside of steps must do the same in each
 * run: it gets the time, random numbers and data from outside through the calls below.
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
 *             code = cairn_passage_wait_event(passage, "paid", "paid", -1, NULL, NULL);
 *         return code;
 *     }
 *
 * A key that is used again, as in a loop, is stored as "key#2", then "key#3".  Texts that these
 * calls return live as long as the passage.
 *
 * A run ends when its function returns, and with it everything that the function has started.  A
 * thread of its own that asks for something later is told CAIRN_E_CLOSED.  Calls of several threads are
 * made one after the other.  If the function returns while another thread executes one of its steps, the
 * run waits for that code, at most as long as its lease; what the code did is not stored, and the run has
 * failed with an error that names the step.  A worker frees a passage once the function has returned and
 * no code of a step runs: no thread may use it later than that.
 */

/* The code of a function.  CAIRN_OK: it has completed, with the output of
 * cairn_passage_set_output().  CAIRN_E_SUSPENDED, as returned by a call: it continues
 * later.  Any other code: it has failed, with the text of cairn_passage_set_error(), or else
 * with the error of the call that returned the code. */
typedef cairn_code (*cairn_function)(cairn_passage *passage, void *arg);

/* How much a crash repeats. */
typedef enum cairn_commit_mode {
    CAIRN_COMMIT_STEP = 1, /* each completed step is committed before the next one begins, so
                            * at most one step is executed again */
    CAIRN_COMMIT_PASSAGE   /* all steps of a run are committed at its end, so the whole run may
                            * be repeated; it needs far fewer commits */
} cairn_commit_mode;

typedef struct cairn_function_options {
    size_t size;
    const char *name; /* of the workflow, and the type of its tasks */
    int32_t version;  /* from 1 */
    cairn_function run;
    void *arg;
    cairn_commit_mode commit;
    int32_t max_attempts; /* it fails after this many lost leases in a row without a commit */
    bool dlq;             /* if it fails, it is put in the dead letter queue */
    int32_t from_version; /* the oldest version whose instances it accepts; 0: only its own */
} cairn_function_options;

#define CAIRN_FUNCTION_VALUES_(SET)                             \
    SET(size, sizeof(cairn_function_options)), SET(version, 1), \
        SET(commit, CAIRN_COMMIT_STEP), SET(max_attempts, 3)
CAIRN_DEFAULTS_(cairn_function_options, CAIRN_FUNCTION_VALUES_)
#define CAIRN_FUNCTION_DEFAULTS CAIRN_INITIAL_(cairn_function_options, CAIRN_FUNCTION_VALUES_)

/* Makes a worker execute a function.  The function is deployed under its name and version, as
 * the workflow file {"function": NAME, "version": N}, so that cairn_instance_start() finds
 * it.  The worker claims instances whose version is from `from_version` to `version`.  Several
 * versions of a name may be registered: an instance is given to its own version, or else to
 * the highest one that accepts it.  Call it before cairn_worker_run(). */
CAIRN_API cairn_code cairn_worker_function(cairn_worker *worker,
                                           const cairn_function_options *options,
                                           cairn_error *reterr);

/* A step of a function.  Its code is a handler: it reads cairn_work_task(), whose type and
 * step are the key, and returns the outcome.  CAIRN_COMPLETE: the output is stored.  CAIRN_FAIL
 * and CAIRN_RETRY: it is called again after the backoff while calls are left.  CAIRN_DEAD: it
 * is not called again. */
typedef struct cairn_step_options {
    size_t size;
    const char *key; /* not empty, without '#' */
    cairn_handler run;
    void *arg;
    const char *input;       /* JSON, for its code and its compensation; NULL: null */
    int32_t retries;         /* calls after the first */
    const char *backoff;     /* fixed, linear, exponential, quadratic */
    int64_t base_ms, max_ms; /* the delay before the second call; the longest delay */
    double jitter;           /* the part of a delay that is added at random, 0 to 1 */
    int64_t timeout_ms;      /* a call that takes longer has failed with TIMEOUT; 0: no limit */

    /* The type of the task that undoes the step if the function fails or is cancelled
     * later.  Its input is {"input", "output"}; any worker that handles the type executes
     * it.  NULL: none. */
    const char *compensation;
    int32_t compensation_max_attempts; /* calls; 0: straight to the dead letter queue */
    int64_t compensation_timeout_ms;   /* 0: no limit */

    /* How a compensation that failed is called again, as above for the step. */
    const char *compensation_backoff;
    int64_t compensation_base_ms, compensation_max_ms;
    double compensation_jitter;
    bool
        compensation_once; /* it is not idempotent: one call at most, even if its lease is lost */
    const char *compensation_metadata; /* a JSON object of at most 8 KiB, whose members go over
                                        * those of the instance; NULL: none */
} cairn_step_options;

#define CAIRN_STEP_VALUES_(SET)                                                          \
    SET(size, sizeof(cairn_step_options)), SET(retries, 2), SET(backoff, "exponential"), \
        SET(base_ms, 1000), SET(max_ms, 300000), SET(compensation_max_attempts, 3),      \
        SET(compensation_backoff, "exponential"), SET(compensation_base_ms, 1000),       \
        SET(compensation_max_ms, 300000)
CAIRN_DEFAULTS_(cairn_step_options, CAIRN_STEP_VALUES_)
#define CAIRN_STEP_DEFAULTS CAIRN_INITIAL_(cairn_step_options, CAIRN_STEP_VALUES_)

/* Executes a step, or returns its stored output.
 *
 *     CAIRN_E_SUSPENDED         return it
 *     CAIRN_E_STEP_FAILED       no call is left, or it returned CAIRN_DEAD; the function may
 *                               go on
 *     CAIRN_E_VERSION_MISMATCH  the code asks for another step than the stored one: return
 *                               it.  The instance pauses; `cairn resume --force` accepts the
 *                               new code
 *     CAIRN_E_LEASE_LOST, CAIRN_E_UNREACHABLE, ...  this run is over: return it */
CAIRN_API cairn_code cairn_passage_step(cairn_passage *passage,
                                        const cairn_step_options *options,
                                        const char **ret_output, cairn_error *reterr);

/* The same in two halves, for callers that cannot be called back; options->run is not
 * used.  If *ret_work is NULL, the answer is that of cairn_passage_step().  Otherwise execute
 * the step now and call cairn_passage_end_step() once.
 *
 * Several steps may have begun before they end, and so are executed side by side.  They are
 * stored in the order in which they began, so begin them in the same order in each run.  A step
 * is committed when all that began before it have ended.  Until all have ended, no other call
 * of the passage is possible, except for logs and cairn_passage_end(). */
CAIRN_API cairn_code cairn_passage_begin_step(cairn_passage *passage,
                                              const cairn_step_options *options,
                                              cairn_work **ret_work, const char **ret_output,
                                              cairn_error *reterr);
CAIRN_API cairn_code cairn_passage_end_step(cairn_passage *passage, cairn_work *work,
                                            cairn_outcome outcome, const char **ret_output,
                                            cairn_error *reterr);

/* Instead of cairn_passage_end_step(): the code of the step was given up by its caller, such as
 * one that has waited long enough.  Nothing is remembered of this call, neither an attempt nor a
 * failure, and the key may be asked for again; the next run may execute the step. */
CAIRN_API cairn_code cairn_passage_drop_step(cairn_passage *passage, cairn_work *work,
                                             cairn_error *reterr);

/* Suspends until the time has come.  key NULL: "sleep". */
CAIRN_API cairn_code cairn_passage_sleep(cairn_passage *passage, const char *key, int64_t ms,
                                         cairn_error *reterr);
CAIRN_API cairn_code cairn_passage_sleep_until(cairn_passage *passage, const char *key,
                                               int64_t at_us, cairn_error *reterr);

/* Suspends until a signal of this event has come.  Each signal is taken once, the oldest
 * first.  key NULL: the event.  timeout_ms -1: without limit.  CAIRN_E_TIMED_OUT: none came in
 * time. */
CAIRN_API cairn_code cairn_passage_wait_event(cairn_passage *passage, const char *key,
                                              const char *event, int64_t timeout_ms,
                                              const char **ret_payload, cairn_error *reterr);

/* The store's time, a random number from 0 up to but not including 1, and a UUID.  Stored, so
 * the same in every run. */
CAIRN_API cairn_code cairn_passage_now(cairn_passage *passage, int64_t *ret_now_us,
                                       cairn_error *reterr);
CAIRN_API cairn_code cairn_passage_random(cairn_passage *passage, double *ret_value,
                                          cairn_error *reterr);
CAIRN_API cairn_code cairn_passage_uuid(cairn_passage *passage, char ret_id[40],
                                        cairn_error *reterr);

/* Record a job or start an instance, in the commit that stores the step: exactly once.  The
 * key of the spec or options may be NULL; if it is known, nothing new is recorded.  key NULL:
 * the type, or the workflow. */
CAIRN_API cairn_code cairn_passage_start_job(cairn_passage *passage, const char *key,
                                             const cairn_job_spec *spec, char ret_id[40],
                                             cairn_error *reterr);
CAIRN_API cairn_code cairn_passage_start_workflow(cairn_passage *passage, const char *key,
                                                  const cairn_start_options *options,
                                                  char ret_id[40], cairn_error *reterr);

/* Starts an instance as a child of this one and suspends until it has ended: exactly once, however
 * often the function is run again.  The options have no key.  timeout_ms -1: without limit.  The child is
 * undone with this function, at the place of the call: rolled back if it has completed, else cancelled.
 *
 * CAIRN_OK             it completed; *ret_output is its output.
 * CAIRN_E_STEP_FAILED  it failed, with its error, or was "cancelled" or "aborted".
 * CAIRN_E_TIMED_OUT    it has not ended in time; it goes on. */
CAIRN_API cairn_code cairn_passage_call(cairn_passage *passage, const char *key,
                                        const cairn_start_options *options, int64_t timeout_ms,
                                        const char **ret_output, cairn_error *reterr);

/* Whether the code has not yet passed what earlier runs have done, so that its logs are not kept. */
CAIRN_API int cairn_passage_is_replaying(const cairn_passage *passage);

/* Logs a line, which is stored with the next commit.  Not repeated during a replay.  level:
 * debug, info, warn, error.  data is JSON; NULL: none. */
CAIRN_API cairn_code cairn_passage_log(cairn_passage *passage, const char *level,
                                       const char *message, const char *data,
                                       cairn_error *reterr);

/* The task of this run, with the function's input. */
CAIRN_API const cairn_task *cairn_passage_task(const cairn_passage *passage);

/* Why the function should end ("cancelled", "paused", ...), or NULL.  The calls above check it
 * themselves. */
CAIRN_API const char *cairn_passage_stop(const cairn_passage *passage);

/* The text is copied.  The output must be JSON. */
CAIRN_API cairn_code cairn_passage_set_output(cairn_passage *passage, const char *json,
                                              cairn_error *reterr);
CAIRN_API cairn_code cairn_passage_set_error(cairn_passage *passage, const char *text);

/* For programs that claim tasks themselves, such as bindings: a run of a task of the kind
 * "function", and its end with the code that the function returned.  During long steps, extend
 * the lease with cairn_heartbeat().
 *
 * cairn_passage_end() commits what is left and closes the passage, whatever it returns: every
 * call from then on, of any thread, is CAIRN_E_CLOSED, except for cairn_passage_task(), cairn_passage_stop()
 * and cairn_passage_costs_get().  It is an error of the function to end with CAIRN_OK while a step is being
 * executed.  The handle is valid until cairn_passage_free(), which every passage needs, may be called without an
 * end (the lease then ends by itself), and takes effect when the last call under way has returned.  ret_status, which may be NULL, is the status of the function's own step:
 * "completed", "failed" ("rolled_back" if steps had to be undone), "waiting", "ready",
 * "paused" (in the dead letter queue) or "skipped" (cancelled). */
CAIRN_API cairn_code cairn_passage_open(cairn_engine *engine, const char *worker,
                                        const cairn_task *task, cairn_commit_mode commit,
                                        uint32_t lease_ms, cairn_passage **ret_passage,
                                        cairn_error *reterr);
CAIRN_API cairn_code cairn_passage_end(cairn_passage *passage, cairn_code code,
                                       char ret_status[24], cairn_error *reterr);
CAIRN_API void cairn_passage_free(cairn_passage *passage); /* may be NULL */

/* The same, and claims the next tasks in the commit that ends it, which saves a round
 * trip.  Free *ret_tasks.  It is NULL if there was no such commit or the claim was rejected;
 * then call cairn_claim(). */
CAIRN_API cairn_code cairn_passage_end_claim(cairn_passage *passage, cairn_code code,
                                             const cairn_claim_options *claim,
                                             char ret_status[24], cairn_page **ret_tasks,
                                             cairn_error *reterr);

/* The requests to the engine that a passage has made so far. */
typedef struct cairn_passage_costs {
    size_t size;
    uint32_t commits, heartbeats;
} cairn_passage_costs;

#define CAIRN_PASSAGE_COSTS_VALUES_(SET) SET(size, sizeof(cairn_passage_costs))
CAIRN_DEFAULTS_(cairn_passage_costs, CAIRN_PASSAGE_COSTS_VALUES_)
#define CAIRN_PASSAGE_COSTS_DEFAULTS \
    CAIRN_INITIAL_(cairn_passage_costs, CAIRN_PASSAGE_COSTS_VALUES_)

CAIRN_API cairn_code cairn_passage_costs_get(const cairn_passage *passage,
                                             cairn_passage_costs *ret_costs,
                                             cairn_error *reterr);

/* A signal that has arrived and was not taken yet. */
typedef struct cairn_received {
    const char *id, *event, *payload;
    int64_t received_at_us;
} cairn_received;

/* The number in the key of a step's calls: from 2 on, the key is "ID:step~2". */
typedef struct cairn_effect {
    const char *step;
    int32_t effect;
} cairn_effect;

/* What the task of a function brings: everything that is stored about it.  For bindings; a
 * cairn_passage reads it by itself. */
struct cairn_memory {
    int32_t version;  /* of the function, with which the instance was started */
    int64_t revision; /* of the instance; passed with every commit */
    int32_t places;   /* the place of the next new step */
    bool is_forced;   /* resumed with force: steps that do not match are executed anew */
    const cairn_step *const *steps; /* by place, from 1; place 0 is the function itself */
    size_t step_count;
    const cairn_received *const *events; /* signals that were not taken yet, oldest first */
    size_t event_count;
    int32_t effect; /* the number in the keys of steps, from 1, except for those in `effects` */
    const cairn_effect *const *effects; /* of steps that were undone */
    size_t effect_count;
    int32_t
        steps_from; /* 1: `steps` has all; else those from this place on, since the claim has named
                         * the others in `known` */
};

/* ---- Everything, as JSON ----------------------------------------------------------------- */

/* The HTTP interface of `cairn serve` without HTTP, on any URL: the same methods, paths, bodies
 * and answers, which spec/openapi.json describes.  For bindings and tools. */
typedef struct cairn_request {
    size_t size;
    const char *method; /* such as "POST" */
    const char *target; /* such as "/v1/jobs?status=failed", percent-encoded where needed */
    const char *body;   /* JSON; NULL: none */
    size_t body_len;

    /* Only with cairn_call_async(): called in a thread of the engine right before a claim is
     * given tasks, and by cairn_end_unwanted() of a call that waits.  If it answers false, the claim gets
     * none, and the call ends.  It must not wait.  NULL: always wanted. */
    bool (*wanted)(void *arg);
    void *arg; /* for `wanted` and `done` */

    /* For a program that lets others call.  The caller's name is in the events of what the request
     * changes, and who asks for it where the body does not say so.  With an http: URL the server knows
     * them by its tokens. */
    const char *caller; /* NULL: none */
    const char
        *role; /* what GET /v1/me says: "view", "produce", "work" or "operate"; NULL: there
                         * are no roles, and everything is allowed */
    const char *page; /* which page the program serves, for GET /v1/about; NULL: none */
} cairn_request;

#define CAIRN_REQUEST_VALUES_(SET) SET(size, sizeof(cairn_request)), SET(method, "GET")
CAIRN_DEFAULTS_(cairn_request, CAIRN_REQUEST_VALUES_)
#define CAIRN_REQUEST_DEFAULTS CAIRN_INITIAL_(cairn_request, CAIRN_REQUEST_VALUES_)

/* Errors of the request itself (status 400 and above) are answers: the call returns CAIRN_OK,
 * and the response has that status and the error as JSON.  Any other code means that there is
 * no response. */
CAIRN_API cairn_code cairn_call(cairn_engine *engine, const cairn_request *request,
                                cairn_response **ret_response, cairn_error *reterr);

/* The same without waiting.  `done` is called exactly once, by a thread of the engine or
 * before this call returns, and must free the response.  It must not block, nor call cairn
 * functions that wait. */
typedef void (*cairn_done)(void *arg, cairn_response *response);
CAIRN_API void cairn_call_async(cairn_engine *engine, const cairn_request *request,
                                cairn_done done);

/* Asks `wanted` of each call of cairn_call_async() that waits in this engine: for a task, for the end of a
 * job or an instance, or for descendants to be told of a stop.  Those that are not wanted any more end at once, with
 * CAIRN_E_CLOSED; what they had committed stays.  One that a commit has in hand is asked when it would begin to wait.
 * Calls of an http: URL are left to their server.  May be called from any thread, and does not wait itself. */
CAIRN_API void cairn_end_unwanted(cairn_engine *engine);

CAIRN_API int cairn_response_status(const cairn_response *response);
CAIRN_API const char *cairn_response_content_type(const cairn_response *response);
CAIRN_API const char *cairn_response_body(const cairn_response *response, size_t *ret_len);
CAIRN_API void cairn_response_free(cairn_response *response); /* response may be NULL */

/* The same as the notice function of cairn_open_options, for programs that cannot be called back.
 * Answers how many notices have gathered since the last call, and forgets them.  The body of the
 * response is {"notices": [...], "dropped": N}, oldest first: the objects that the notice function
 * gets as `json`.  Only the newest 64 are kept, N is the number of older ones.  0: there is none,
 * and *ret_response is NULL.  -1: memory ran out, and none is forgotten. */
CAIRN_API int cairn_notices(cairn_engine *engine, cairn_response **ret_response);

/* ---- Statistics -------------------------------------------------------------------------- */

/* Counted since this engine was opened, or since the server was if the URL is http:. */
typedef struct cairn_stats {
    size_t size;
    uint64_t enqueued, claimed, completed, failed, retried, cancelled, released, heartbeats;
    uint64_t lease_expiries, late_reports; /* leases that expired; reports that came too late */
    uint64_t commits, commit_requests;     /* commits, and requests that they answered */
    uint64_t commit_us, commit_us_max;     /* time spent in commits, in all and the longest */
    uint64_t pending, ready, leased;       /* jobs now: waiting, of which due, being executed */
    uint64_t oldest_waiting_us;            /* how long the oldest due job has waited; 0: none */
    uint64_t steps_ready, steps_leased;    /* steps now: claimable, being executed */
    /* Instances now, by status, without those that have ended. */
    uint64_t instances_pending, instances_running, instances_waiting_signal, instances_paused,
        instances_compensating, instances_dlq;
    uint64_t started;                   /* instances */
    uint64_t passages, passage_commits; /* runs of functions, and the commits that they made */
    uint64_t passage_conflicts; /* commits that met another revision than they had read */
} cairn_stats;

#define CAIRN_STATS_VALUES_(SET) SET(size, sizeof(cairn_stats))
CAIRN_DEFAULTS_(cairn_stats, CAIRN_STATS_VALUES_)
#define CAIRN_STATS_DEFAULTS CAIRN_INITIAL_(cairn_stats, CAIRN_STATS_VALUES_)

CAIRN_API cairn_code cairn_stats_get(cairn_engine *engine, cairn_stats *ret_stats,
                                     cairn_error *reterr);

/* How long ended jobs and instances are kept, in milliseconds after their end.  There is one policy in a store; every
 * engine that keeps timers applies it, in small portions. */
typedef enum cairn_retention_age {
    CAIRN_RETENTION_NEVER = -1, /* they are never removed */
    CAIRN_RETENTION_SAME = -2   /* cairn_retention_set(): it stays as it is */
} cairn_retention_age;

typedef struct cairn_retention {
    size_t size;
    int64_t jobs_succeeded_ms, jobs_failed_ms;
    int64_t jobs_cancelled_ms; /* deleted ones, too */
    int64_t instances_completed_ms, instances_failed_ms, instances_cancelled_ms,
        instances_aborted_ms;
    int64_t keys_ms; /* how long a key is known after its owner's end */
} cairn_retention;

/* All of it stays as it is. */
#define CAIRN_RETENTION_VALUES_(SET)                                                  \
    SET(size, sizeof(cairn_retention)), SET(jobs_succeeded_ms, CAIRN_RETENTION_SAME), \
        SET(jobs_failed_ms, CAIRN_RETENTION_SAME),                                    \
        SET(jobs_cancelled_ms, CAIRN_RETENTION_SAME),                                 \
        SET(instances_completed_ms, CAIRN_RETENTION_SAME),                            \
        SET(instances_failed_ms, CAIRN_RETENTION_SAME),                               \
        SET(instances_cancelled_ms, CAIRN_RETENTION_SAME),                            \
        SET(instances_aborted_ms, CAIRN_RETENTION_SAME), SET(keys_ms, CAIRN_RETENTION_SAME)
CAIRN_DEFAULTS_(cairn_retention, CAIRN_RETENTION_VALUES_)
#define CAIRN_RETENTION_DEFAULTS CAIRN_INITIAL_(cairn_retention, CAIRN_RETENTION_VALUES_)

/* Begin with CAIRN_RETENTION_DEFAULTS in both calls, so that `size` is set. */
CAIRN_API cairn_code cairn_retention_get(cairn_engine *engine, cairn_retention *ret_policy,
                                         cairn_error *reterr);
CAIRN_API cairn_code cairn_retention_set(cairn_engine *engine, const cairn_retention *policy,
                                         cairn_error *reterr);

/* Which ended jobs and instances are removed.  At least one of the first four must be given. */
typedef struct cairn_purge_options {
    size_t size;
    int64_t older_than_ms; /* only what ended at least so long ago; -1: any */
    const char *status;   /* such as "failed", or several with commas between them; NULL: any */
    const char *workflow; /* only instances of it; NULL: any */
    const char *type;     /* only jobs of it, or of a prefix such as "billing.%"; NULL: any */
    bool is_dry_run;      /* removes nothing, and says how many it would be */
    const char *cursor;   /* `next` of the call before; NULL: from the beginning */
} cairn_purge_options;

#define CAIRN_PURGE_VALUES_(SET) SET(size, sizeof(cairn_purge_options)), SET(older_than_ms, -1)
CAIRN_DEFAULTS_(cairn_purge_options, CAIRN_PURGE_VALUES_)
#define CAIRN_PURGE_DEFAULTS CAIRN_INITIAL_(cairn_purge_options, CAIRN_PURGE_VALUES_)

/* What one call has removed.  Frozen. */
typedef struct cairn_purged {
    int64_t jobs, instances;
    char next[32]; /* the cursor to go on with; "": there is no more */
} cairn_purged;

/* Removes a portion, in one commit: call it again with `next` until that is "".  Everything that belongs to a job or an
 * instance goes with it; its key is kept as long as the policy says.  What has not ended stays, as does an instance with
 * an open dead letter, with an outbox event that was not acknowledged, or with a parent that waited for it. */
CAIRN_API cairn_code cairn_purge(cairn_engine *engine, const cairn_purge_options *options,
                                 cairn_purged *ret_purged, cairn_error *reterr);

/* Removes one ended instance, with its children.
 *
 * CAIRN_E_WRONG_STATE  it must stay; the message says why. */
CAIRN_API cairn_code cairn_instance_delete(cairn_engine *engine, const char *id,
                                           cairn_error *reterr);

/* The result of one check of `cairn doctor`.  Frozen. */
struct cairn_finding {
    const char *check;  /* store, schema, clock, leases, registry, types, ... */
    const char *result; /* ok, warning, error */
    cairn_finding_result result_code;
    char text[384];
};

/* Examines the store; answers a page of findings. */
CAIRN_API cairn_code cairn_doctor(cairn_engine *engine, cairn_page **ret_findings,
                                  cairn_error *reterr);

#ifdef __cplusplus
}
#endif

#endif
