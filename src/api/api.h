/* api/api.h - the JSON face of a local engine: what its files share.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A call is read into a request, submitted, and its outcome written as JSON:
 *
 *     api_call()  ->  route  ->  read()  ->  submit  ->  write()  ->  done
 *
 * Nothing of the caller's is kept beyond read(); the call itself lives in the request's arena.
 */
#ifndef API_API_H
#define API_API_H

#include "api/body.h"
#include "api/target.h"
#include "base/json.h"
#include "engine/engine.h"

/* A claim never waits longer: a client that has silently gone is not waited for for ever. */
enum { WAIT_MS_MAX = 60000, TYPES_MAX = 100 };

/* Durations are bounded so that no sum of them and a time overflows: a hundred years. */
#define DURATION_MS_MAX INT64_C(3155760000000)

struct call {
    cairn_engine *engine;
    const struct route *route;
    struct target target;
    struct fields body; /* while read() runs */
    const char *text;   /* POST /v1/workflows: the body as it came */
    size_t text_len;
    bool is_many; /* POST /v1/jobs with `jobs` */

    cairn_done done;
    int (*wanted)(void *arg);
    void *arg;
};

/* An answer being written. */
struct answer {
    int status;
    const char *content_type; /* constant */
    struct buf buf;
    struct json_out out; /* writes into buf */
};

struct route {
    const char *method;
    const char *path;         /* {name} stands for one segment that is not empty */
    enum request_op op;       /* OP_COUNT: answered at once, without the engine */
    const char *const *query; /* the parameters it takes; NULL: none */

    /* Fills in request->in; mistakes go into request->code and request->error.  NULL: there is
     * nothing to read, and a body must be empty or an object without fields. */
    void (*read)(struct call *call, struct request *request);

    /* Writes what the request brought; not called if it failed. */
    void (*write)(const struct call *call, const struct request *request,
                  struct answer *answer);

    int failed_status; /* instead of 500 and above; 0: the status of the code */
};

/* Each resource's routes. */
struct route_list {
    const struct route *routes;
    size_t count;
};
extern const struct route_list job_routes, task_routes, registry_routes, system_routes;
extern const struct route_list workflow_routes, instance_routes, outbox_routes, event_routes;
extern const struct route_list dlq_routes, commit_routes;

/* Every route, for the test that compares them with the OpenAPI description; NULL: past the
 * end. */
const struct route *route_at(size_t index);

/* The route, or NULL with CAIRN_E_NOT_FOUND or CAIRN_E_METHOD_NOT_ALLOWED in the request. */
const struct route *route_find(const char *method, const struct target *target,
                               struct request *request);

/* The segment that a route's first {name} stands for. */
const char *route_param(const struct call *call);

extern const char *const page_params[]; /* limit, cursor */

/* answer.c */
void answer_error(struct answer *answer, const cairn_error *error);

/* A text of an error; it may come from a database, in whatever encoding that speaks. */
void write_error_text(struct json_out *out, const char *key, const char *text);

cairn_response *answer_finish(struct answer *answer); /* never NULL */

/* The response of a call that ended before there was a request to speak of. */
cairn_response *response_of_error(const cairn_error *error);

/* The tasks of a claim: {"tasks": [...]} without the outer brackets. */
void write_tasks(struct json_out *out, const struct page_output *page);

/* tasks.c: a claim in the body's field `claim`, by this worker; false: there is none. */
bool read_claim_beside(struct call *call, const char *worker, cairn_claim_options *ret_claim);

/* tasks.c: the events of a field `outbound`; NULL: memory ran out. */
const cairn_outbound *read_outbound(const struct call *call, struct fields *fields,
                                    size_t *ret_count);

/* What a job and an instance to be started say. */
void read_job_spec(struct fields *fields, cairn_job_spec *ret_spec);
void read_start_spec(struct fields *fields, cairn_start_options *ret_start);

/* commit.c: what a function's task remembers, without the outer brackets. */
void write_memory(struct json_out *out, const cairn_memory *memory);

/* {"id", "existing"}: what creating answers. */
void write_created(struct json_out *out, const cairn_enqueued *created);

/* events.c: a page of the events of what the route's {id} names. */
void read_events(struct call *call, struct request *request);
void write_events(const struct call *call, const struct request *request,
                  struct answer *answer);

/* logs.c: a page of what an instance has logged. */
void write_logs(const struct call *call, const struct request *request, struct answer *answer);

/* instances.c: the instance as it is now, and a step. */
void write_instance_now(const struct call *call, const struct request *request,
                        struct answer *answer);
void write_step(struct json_out *out, const cairn_step *step);

/* Lists end with their cursor: "next": "..." or null. */
void write_next(struct json_out *out, const char *next);

#endif
