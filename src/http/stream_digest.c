/* http/stream_digest.c - the stream's digests: who wants the same, and what they are given.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "http/stream_client.h"

#include <string.h>

/* With the lock held.  NULL: memory ran out. */
static struct digest_group *find_group(struct stream *stream, const struct stream_want *want)
{
    struct digest_group *group = stream->groups;
    while (group && memcmp(&group->want, want, sizeof *want) != 0)
        group = group->next;
    if (!group && (group = mem_zalloc(sizeof *group))) {
        group->want = *want;
        group->next = stream->groups;
        stream->groups = group;
    }
    return group;
}

void stream_leave_group(struct stream *stream, struct digest_group *group)
{
    struct digest_group **at = &stream->groups;
    if (!group || --group->count > 0)
        return;
    while (*at != group)
        at = &(*at)->next;
    *at = group->next;
    mem_free(group);
}

void client_join_group(struct stream *stream, struct stream_client *client)
{
    client->has_missed = client->after != FROM_THE_PRESENT && client->after < stream->after;
    client->after = stream->after;
    client->group = find_group(stream, &client->want);
    if (client->group)
        client->group->count++;
    else
        client->is_over = true;
}

static bool is_digest_due(const struct digest_group *group, int64_t now_us)
{
    return group->digest.has_news && now_us >= group->due_us;
}

static bool is_any_due(struct stream *stream, int64_t now_us)
{
    bool is_due = false;
    pthread_mutex_lock(&stream->lock);
    for (const struct digest_group *at = stream->groups; at && !is_due; at = at->next)
        is_due = is_digest_due(at, now_us);
    for (const struct stream_client *at = stream->clients; at && !is_due; at = at->next)
        is_due = at->has_missed;
    pthread_mutex_unlock(&stream->lock);
    return is_due;
}

/* False: no answer, it is tried again later. */
static bool look_now(struct stream *stream, struct digest_now *ret_now)
{
    json_t *answer = stream_ask(stream, "/v1/needs");
    const json_t *approvals = json_object_get(answer, "approvals");
    const char *at = json_string_value(json_object_get(answer, "at"));
    bool is_there = json_is_integer(approvals) && at && instant_parse(at, &ret_now->at_us);
    ret_now->approvals = json_integer_value(approvals);
    ret_now->dead = json_integer_value(json_object_get(answer, "dead"));
    json_decref(answer);
    return is_there;
}

static void give_group(struct stream *stream, const struct digest_group *group,
                       const struct buf *text)
{
    for (struct stream_client *at = stream->clients; at; at = at->next)
        if (at->group == group)
            client_give(at, buf_text(text), text->len);
}

/* Each digest is written once, for all clients of its group. */
void stream_give_digests(struct stream *stream)
{
    static const struct digest missed = {.is_more = true};
    struct digest_now now = {0};
    struct buf text = {0};
    int64_t now_us = monotonic_us();
    if (!is_any_due(stream, now_us) || !look_now(stream, &now))
        return;
    pthread_mutex_lock(&stream->lock);
    digest_write(&missed, &now, stream->after, &text);
    for (struct stream_client *at = stream->clients; at; at = at->next) {
        if (at->has_missed)
            client_give(at, buf_text(&text), text.len);
        at->has_missed = false;
    }
    for (struct digest_group *at = stream->groups; at; at = at->next) {
        if (!is_digest_due(at, now_us))
            continue;
        digest_write(&at->digest, &now, stream->after, &text);
        give_group(stream, at, &text);
        memset(&at->digest, 0, sizeof at->digest);
        at->due_us = now_us + at->want.digest_ms * US_PER_MS;
    }
    pthread_mutex_unlock(&stream->lock);
    buf_done(&text);
}
