/* api/api.h - the JSON interface of a local engine: what its files share.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A call is read into a request, submitted, and its outcome written as JSON:
 *
 *     api_call()  ->  operation  ->  read  ->  submit  ->  write  ->  done
 *
 * Reading and writing follow the tables of api/operation.h; the functions below are for what is
 * irregular.  Nothing of the caller's is kept beyond reading.
 */
#ifndef API_API_H
#define API_API_H

#include "api/body.h"
#include "api/operation.h"
#include "api/target.h"
#include "engine/engine.h"

/* A claim never waits longer: a client that has silently gone is not waited for without end. */
enum { WAIT_MS_MAX = 60000, TYPES_MAX = 100 };

/* request->arg is its call. */
struct call {
    cairn_engine *engine;
    const struct operation *operation;
    struct target target;
    struct fields body; /* while it is read */
    const char *text;   /* POST /v1/workflows: the body as it came */
    size_t text_len;
    bool is_many; /* POST /v1/jobs with `jobs` */

    cairn_done done;
    bool (*wanted)(void *arg);
    void *arg;
};

/* An answer being written. */
struct answer {
    int status;
    const char *content_type; /* constant */
    struct buf buf;
    struct json_out out; /* writes into buf */
};

/* The operation, or NULL with CAIRN_E_NOT_FOUND or CAIRN_E_METHOD_NOT_ALLOWED in the request. */
const struct operation *route_find(const char *method, const struct target *target,
                                   struct request *request);

/* Puts the segments that {name} stands for where the operation wants them. */
void route_read_params(const struct operation *operation, const struct target *target,
                       struct request *request);

/* ---- answer.c ----------------------------------------------------------------------------- */

void answer_error(struct answer *answer, const cairn_error *error);

/* Writes what the request brought, by the operation's table. */
void answer_write(const struct operation *operation, const struct request *request,
                  struct answer *answer);

cairn_response *answer_finish(struct answer *answer); /* never NULL */

/* ---- by hand: readers and writers of single operations ------------------------------------ */

void read_enqueue(struct call *call, struct request *request);
void read_claim(struct call *call, struct request *request);
void read_report_one(struct call *call, struct request *request);
void read_report_many(struct call *call, struct request *request);
void read_commit(struct call *call, struct request *request);
void read_deploy(struct call *call, struct request *request);
void read_definition(struct call *call, struct request *request);
void read_signal(struct call *call, struct request *request);
void read_clock(struct call *call, struct request *request);
void read_ready(struct call *call, struct request *request);

#define WRITER(name) void name(const struct request *request, struct answer *answer)
WRITER(write_enqueued);
WRITER(write_claimed);
WRITER(write_woken);
WRITER(write_heartbeats);
WRITER(write_report_one);
WRITER(write_report_many);
WRITER(write_committed);
WRITER(write_context);
WRITER(write_deployed);
WRITER(write_counts);
WRITER(write_errors);
WRITER(write_overview);
WRITER(write_payload);
WRITER(write_result);
WRITER(write_input);
WRITER(write_output);
WRITER(write_step_input);
WRITER(write_step_output);
WRITER(write_record_input);
WRITER(write_bulk);
WRITER(write_stream);
WRITER(write_metrics);
WRITER(write_health);
WRITER(write_me);
WRITER(write_about);
WRITER(write_openapi);

#endif
