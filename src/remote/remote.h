/* remote/remote.h - the engine whose store is behind a `cairn serve`.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A request becomes a transfer: method, target and body, sent by one thread that drives all
 * transfers at once over connections that it keeps.  Callers hand transfers in through `queue`
 * and wake the thread; everything about curl belongs to that thread alone.
 *
 *     caller ----> queue ----> active ----> done
 *                     ^           |  no connection
 *                     '- delayed -'
 */
#ifndef REMOTE_REMOTE_H
#define REMOTE_REMOTE_H

#include "api/operation.h"
#include "base/buf.h"
#include "base/scan.h"
#include "engine/engine.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ANSWER_MAX = 64 << 20, /* bytes of an answer */
    METHOD_MAX = 16,
    HANDLES_KEPT = 16, /* of curl, for the next transfers */
    WORDS_MAX = 64,
};

struct remote_engine;

struct transfer {
    struct transfer *next;
    struct remote_engine *engine;

    /* What is sent. */
    char method[METHOD_MAX];
    struct buf url;
    struct buf body;
    bool has_body;
    bool is_wake;       /* wake.c: asks the server to end the claims of a worker */
    bool is_repeatable; /* carrying it out twice does no harm */
    uint32_t wait_ms;   /* how long the server may hold its answer back on purpose */
    uint32_t retry_ms;  /* how long a server that cannot be reached is tried again, and how long
                            one that does not answer is waited for */
    uint32_t connect_ms; /* how long one connecting may take */

    uint64_t number; /* in the order in which they were handed in */

    /* The thread's, while it is under way. */
    CURL *easy;
    size_t body_at;     /* how much of the body curl has taken */
    int64_t began_us;   /* monotonic: the first try */
    int64_t give_up_us; /* monotonic, from the first failure on; 0: none yet */
    int64_t retry_at_us;
    int64_t delay_us;
    bool is_too_large;
    char curl_error[CURL_ERROR_SIZE];

    int64_t pause_us; /* before it was sent again because what it asks for had not come */

    /* How it ended: an answer, whatever its status, if the code is CAIRN_OK. */
    cairn_code code;
    cairn_error error;
    long status;
    const char *content_type; /* constant */
    struct buf answer;

    /* Called once, from the thread; owns the transfer. */
    void (*done)(struct transfer *transfer);
    struct request *request;
    cairn_done call_done;
    void *arg;
};

struct remote_engine {
    struct cairn_engine base; /* first */
    struct curl_slist *headers;
    bool is_local; /* on this machine: no proxy */
    char *ca_file; /* the only authorities that are trusted; NULL: the system's */
    CURLM *multi;
    pthread_t thread;

    pthread_mutex_t lock; /* guards the three below */
    struct transfer *queue;
    uint64_t last_number;
    bool is_closing;

    /* The thread's. */
    struct transfer *active, *delayed;
    CURL *handles[HANDLES_KEPT];
    int handle_count;
    char *words[WORDS_MAX];
    int word_count;
    int64_t lost_us; /* monotonic: since when the server does not answer; 0: it does */
};

/* ---- transfer.c ------------------------------------------------------------------------ */

struct transfer *transfer_new(struct remote_engine *engine); /* NULL: memory ran out */
void transfer_free(struct transfer *transfer);

/* Sets the handle up to carry the transfer. */
cairn_code transfer_prepare(struct transfer *transfer, CURL *easy);

/* ---- loop.c: the thread ---------------------------------------------------------------- */

cairn_code loop_start(struct remote_engine *engine, cairn_error *reterr);
void loop_stop(struct remote_engine *engine); /* ends every transfer, joins the thread */
void loop_add(struct transfer *transfer);     /* takes it */
void loop_restart(struct transfer *transfer); /* drops the answer of one under way */
/* From its `done`: sends it again after a while, and at this time at the latest (monotonic). */
void loop_again(struct transfer *transfer, int64_t latest_us);

/* ---- wake.c ---------------------------------------------------------------------------- */

void remote_wake(cairn_engine *base, const char *worker); /* of struct engine_ops */
/* Before it is sent.  False: there is nothing to send, and it was freed. */
bool wake_begin(struct transfer *wake);

/* ---- encode.c, decode.c ---------------------------------------------------------------- */

/* Writes method, target (after the URL's own text) and body. */
cairn_code encode_request(const struct request *request, struct transfer *transfer,
                          cairn_error *reterr);

/* Reads the answer into request->out, or the server's error into code and error. */
cairn_code decode_answer(struct transfer *transfer, struct request *request);

/* The server's error; for one that is none of Cairn's, an error that says so. */
cairn_code decode_error(const struct remote_engine *engine, long status, const char *text,
                        size_t len, cairn_error *reterr);

/* A text that lives as long as the engine; for the few words that callers keep pointers to. */
const char *remote_word(struct remote_engine *engine, const char *text);

#endif
