/* cli/deliver.h - what the parts of cairn deliver share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_DELIVER_H
#define CLI_DELIVER_H

#include "cairn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- deliver_post.c: one event as an HTTP request --------------------------------------------- */

enum { SECRET_MAX = 1024, POST_REASON = 400 };

struct post_options {
    const char *url;
    const char *secret;             /* NULL: requests are not signed */
    int64_t timeout_ms;             /* of a whole request */
    bool (*is_unwanted)(void *arg); /* asked while a request runs: end it? */
    void *arg;
};

struct poster; /* keeps its connection */

/* NULL: memory ran out. */
struct poster *poster_new(const struct post_options *options);
void poster_freep(struct poster **poster);

enum post_end { POST_DELIVERED, POST_FAILED, POST_STOPPED /* is_unwanted() was true */ };

/* Whether the receiver has it: any status from 200 to 299.  reason: why not. */
enum post_end poster_send(struct poster *poster, const cairn_outbox_event *event,
                          char reason[POST_REASON]);

/* False: `why` says what is wrong with it. */
bool post_url_check(const char *url, const char **why);

/* HMAC-SHA256 of "TIME.BODY" in hexadecimal digits. */
enum { SIGNATURE_TEXT = 65 };
void post_sign(const char *secret, int64_t time_s, const char *body, size_t len,
               char ret_text[SIGNATURE_TEXT]);

#endif
