/* engine/engine.h - what a cairn_engine is, inside: the local engine and the remote one look
 * alike.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/buf.h"
#include "base/error.h"
#include "cairn.h"
#include "engine/memories.h"
#include "engine/request.h"

/* The answer to a cairn_call; made by api/ here, and by remote/ from what the server sent. */
struct cairn_response {
    int status;
    const char *content_type; /* constant */
    char *body;               /* mem_free */
    size_t len;
};

struct engine_ops {
    /* Takes the request and ends it by request->done(), now or later. */
    void (*submit)(cairn_engine *engine, struct request *request);

    /* Carries out a read in the caller's own thread, if that can be done now; false: submit it.
     * May be NULL. */
    bool (*run_here)(cairn_engine *engine, struct request *request);

    /* The JSON face: copies what it needs of the request, then calls done once, now or later.
     */
    void (*call)(cairn_engine *engine, const cairn_request *request, cairn_done done);

    /* cairn_wake(); does not wait. */
    void (*wake)(cairn_engine *engine, const char *worker);

    /* cairn_end_unwanted(); NULL: there is nothing to be done. */
    void (*end_unwanted)(cairn_engine *engine);

    void (*close)(cairn_engine *engine);

    /* cairn_abandon() */
    void (*abandon)(cairn_engine *engine);
};

/* Notices that wait for cairn_notices(), in a ring; notice.c. */
enum { NOTICES_KEPT = 64 };
struct notices {
    char *json[NOTICES_KEPT]; /* mem_free */
    size_t first, count, dropped;
};

/* Each kind's own struct begins with this. */
struct cairn_engine {
    const struct engine_ops *ops;
    char *url;                         /* without password */
    const struct store_schema *schema; /* NULL: a server's */
    cairn_open_options options;        /* limits; texts in it are not kept */
    struct notices notices;
    struct memories memories; /* of functions that were claimed through it */
};

/* A number of a notice; a list of them ends with one that has no name, and may be NULL. */
struct notice_fact {
    const char *name;
    int64_t value;
};

/* notice.c: calls the program's notice function, if it has one, and keeps the notice for
 * cairn_notices().  `event` is a word of the list in cairn.h.  Call it without holding a lock. */
void notice_tell(struct cairn_engine *engine, cairn_notice_level level, const char *event,
                 const struct notice_fact *facts, const char *format, ...) format_like(5, 6);
void notices_done(struct cairn_engine *engine); /* when it closes */

/* For how long a task is given back whose handler is missing; `unit` is a random number below 1. */
static inline int64_t missing_rest_ms(const cairn_open_options *options, double unit)
{
    return (int64_t)(options->missing_cooldown_ms *
                     (1 + options->missing_jitter * (2 * unit - 1)));
}

/* Submits and waits until it is done; request->code says how it ended. */
void engine_wait(cairn_engine *engine, struct request *request);

/* The same, with the memories of functions that the engine keeps, or in the caller's own thread. */
cairn_code engine_run(cairn_engine *engine, struct request *request);

/* "postgres://me:secret@host/db" without the secret; mem_free() it.  NULL: no memory. */
char *url_without_password(const char *url);

/* The two kinds.  `url` is the one to open, never NULL. */
cairn_code local_engine_open(const cairn_open_options *options, const char *url,
                             cairn_engine **ret_engine, cairn_error *reterr);
cairn_code remote_engine_open(const cairn_open_options *options, const char *url,
                              cairn_engine **ret_engine, cairn_error *reterr);

/* The JSON face of a local engine (api/): finds the route, reads the body into a request,
 * submits it, writes the answer. */
void api_call(cairn_engine *engine, const cairn_request *request, cairn_done done);

/* The answer with this body, which is emptied; NULL: memory ran out. */
cairn_response *response_of_json(struct buf *body);

#endif
