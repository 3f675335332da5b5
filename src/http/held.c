/* http/held.c - requests that are under way, and end with their token.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http/held.h"

#include "base/mem.h"
#include "http/exchange.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* A commit that is under way is waited for, so that what it hands out is handed out before the tokens
 * count; but not for a store that does not answer. */
enum { SETTLE_S = 5 };

bool held_keep(struct held *held, const char *secret, unsigned roles, unsigned needed)
{
    held->secret = mem_strdup(secret);
    held->roles = roles;
    held->needed = needed;
    return held->secret;
}

void held_done(struct held *held)
{
    if (held->secret)
        explicit_bzero(held->secret, strlen(held->secret));
    mem_free(held->secret);
    held->secret = NULL;
}

/* With the lock held. */
static bool is_allowed(const struct tokens *tokens, struct held *held)
{
    const char *name;
    if (!held->secret)
        return true;
    held->roles = tokens_roles(tokens, held->secret, &name);
    return held->roles & held->needed;
}

bool held_may_go_on(struct http *http, struct held *held)
{
    pthread_mutex_lock(&http->lock);
    bool may = is_allowed(http->tokens, held);
    pthread_mutex_unlock(&http->lock);
    return may;
}

bool held_begin(struct http *http, struct held *held)
{
    if (!held->secret)
        return true;
    pthread_mutex_lock(&http->lock);
    bool may_begin = is_allowed(http->tokens, held);
    if (may_begin) {
        held->next = http->held;
        held->at = &http->held;
        if (held->next)
            held->next->at = &held->next;
        http->held = held;
    }
    pthread_mutex_unlock(&http->lock);
    return may_begin;
}

void held_end(struct http *http, struct held *held)
{
    if (!held->secret)
        return;
    pthread_mutex_lock(&http->lock);
    if (held->at) {
        *held->at = held->next;
        if (held->next)
            held->next->at = held->at;
        held->at = NULL;
        http->revoked -= held->is_revoked;
        if (held->is_revoked && !http->revoked)
            pthread_cond_broadcast(&http->settled);
    }
    pthread_mutex_unlock(&http->lock);
}

void held_revoke(struct http *http, const struct tokens *tokens)
{
    for (struct held *at = http->held; at; at = at->next) {
        if (at->is_revoked || is_allowed(tokens, at))
            continue;
        at->is_revoked = true;
        http->revoked++;
    }
}

void held_settle(struct http *http)
{
    struct timespec until;
    http_end_unwanted(http);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SETTLE_S;
    pthread_mutex_lock(&http->lock);
    while (http->revoked &&
           pthread_cond_timedwait(&http->settled, &http->lock, &until) != ETIMEDOUT) {
    }
    pthread_mutex_unlock(&http->lock);
}
