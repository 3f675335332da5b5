/* http/digest.h - what a client of the stream wants to hear, and many events told in one message.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef HTTP_DIGEST_H
#define HTTP_DIGEST_H

#include "base/json.h"
#include "base/scan.h"
#include "cairn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIGEST_IDS_MAX = 200, WANT_TEXT = 1024 };

/* The parameters of GET /v1/stream.  Two clients that want the same have the same bytes. */
struct stream_want {
    char subject[64];      /* of this job or instance; "": of all */
    char types[WANT_TEXT]; /* patterns of types with commas between them; "": all */
    int32_t digest_ms;     /* one message for each such period; 0: every event */
};

/* Reads the query of a target whose parameters the route has accepted.  *ret_cursor: the parameter
 * cursor, of WANT_TEXT bytes; "": none. */
cairn_code want_read(const char *target, struct stream_want *ret_want, char *ret_cursor,
                     cairn_error *reterr);

/* An event as the engine has written it, and what of it counts here.  It is read where it lies: for digests, which
 * is what most clients want, a tree of each event would cost more than all else. */
struct seen_event {
    struct slice text;
    int64_t id;
    char subject[64], type[128], worker[320]; /* "": none */
};

void seen_event_read(struct slice text, struct seen_event *ret_event);
bool want_matches(const struct stream_want *want, const struct seen_event *event);

struct digest_ids {
    char ids[DIGEST_IDS_MAX][40];
    size_t count;
};

/* What has happened since the latest message.  A zeroed struct is empty. */
struct digest {
    bool has_news;
    bool is_more; /* than the ids that are named */
    struct digest_ids instances, jobs;
    uint32_t workers[DIGEST_IDS_MAX]; /* hashes of their names */
    size_t worker_count;
    int64_t started, ended, failed;
};

/* What is counted now, for all digests of one moment. */
struct digest_now {
    int64_t at_us, approvals, dead;
};

/* A heartbeat or a lease is no change. */
void digest_add(struct digest *digest, const struct seen_event *event);

/* "id", "event" and "data", each in one line; last_event is what the client may come back with. */
void digest_write(const struct digest *digest, const struct digest_now *now, int64_t last_event,
                  struct buf *text);

#endif
