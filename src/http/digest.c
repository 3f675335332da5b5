/* http/digest.c - what a client of the stream wants to hear, and many events told in one message.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http/digest.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/word.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- what is wanted ---------------------------------------------------------------------------- */

/* The text of a parameter, decoded; false: it does not fit.  The route has looked at its encoding. */
static bool decode(const char *from, size_t len, char *to, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < len && used + 1 < room; i++) {
        char c = from[i] == '+' ? ' ' : from[i];
        if (c == '%' && i + 2 < len) {
            const char digits[] = {from[i + 1], from[i + 2], '\0'};
            c = (char)strtol(digits, NULL, 16);
            i += 2;
        }
        to[used++] = c;
        to[used] = '\0';
        if (i + 1 == len)
            return true;
    }
    to[used] = '\0';
    return len == 0;
}

static bool is_name(const char *param, size_t len, const char *name)
{
    return strlen(name) == len && memcmp(param, name, len) == 0;
}

cairn_code want_read(const char *target, struct stream_want *ret_want, char *ret_cursor,
                     cairn_error *reterr)
{
    char digest_ms[24] = "";
    bool has_fitted = true;
    const char *at = strchr(target, '?');
    memset(ret_want, 0, sizeof *ret_want);
    ret_cursor[0] = '\0';
    for (; at; at = strchr(at, '&')) {
        at++;
        size_t len = strcspn(at, "&"), name = strcspn(at, "=&");
        const char *value = at + name + (at[name] == '=');
        size_t value_len = (size_t)(at + len - value);
        if (is_name(at, name, "subject"))
            has_fitted &= decode(value, value_len, ret_want->subject, sizeof ret_want->subject);
        else if (is_name(at, name, "types"))
            has_fitted &= decode(value, value_len, ret_want->types, sizeof ret_want->types);
        else if (is_name(at, name, "digest_ms"))
            has_fitted &= decode(value, value_len, digest_ms, sizeof digest_ms);
        else if (is_name(at, name, "cursor"))
            has_fitted &= decode(value, value_len, ret_cursor, WANT_TEXT);
    }
    if (!has_fitted)
        return fail(reterr, CAIRN_E_BAD_INPUT, "a query parameter is too long");
    if (!words_are_patterns(ret_want->types))
        return fail(reterr, CAIRN_E_BAD_INPUT,
                    "query parameter \"types\": a %% may stand only at the end of a pattern");
    ret_want->digest_ms = (int32_t)strtol(digest_ms, NULL, 10);
    return CAIRN_OK;
}

/* The text of a member; "" if there is none. */
static void read_text(struct slice object, const char *key, char *to, size_t room)
{
    to[0] = '\0';
    slice_unescape(scan_find(object, key), to, room);
}

void seen_event_read(struct slice text, struct seen_event *ret_event)
{
    char id[24];
    read_text(text, "id", id, sizeof id);
    ret_event->text = text;
    ret_event->id = strtoll(id, NULL, 10);
    read_text(text, "subject", ret_event->subject, sizeof ret_event->subject);
    read_text(text, "type", ret_event->type, sizeof ret_event->type);
    read_text(scan_find(text, "data"), "worker", ret_event->worker, sizeof ret_event->worker);
}

bool want_matches(const struct stream_want *want, const struct seen_event *event)
{
    return (!want->subject[0] || strcasecmp(want->subject, event->subject) == 0) &&
           (!want->types[0] || words_match(want->types, event->type));
}

/* ---- what happened ------------------------------------------------------------------------------ */

/* The events that mean more than a change, and those of jobs; the others are of instances. */
static const struct meaning {
    const char *type;
    bool is_job, is_no_change, is_start, is_end, is_failure;
    bool is_nameless; /* it is of neither jobs nor instances */
} meanings[] = {
    {"created", .is_job = true, .is_start = true},
    {"leased", .is_job = true, .is_no_change = true},
    {"started", .is_job = true, .is_no_change = true},
    {"heartbeat", .is_job = true, .is_no_change = true},
    {"succeeded", .is_job = true, .is_end = true},
    {"failed", .is_job = true, .is_end = true, .is_failure = true},
    {"retried", .is_job = true},
    {"cancelled", .is_job = true, .is_end = true},
    {"step_started", .is_no_change = true},
    {"bulk_started", .is_nameless = true},
    {"bulk_finished", .is_nameless = true},
    {"schedule_set", .is_nameless = true},
    {"schedule_paused", .is_nameless = true},
    {"schedule_resumed", .is_nameless = true},
    {"schedule_triggered", .is_nameless = true},
    {"schedule_removed", .is_nameless = true},
    {"workflow_started", .is_start = true},
    {"workflow_completed", .is_end = true},
    {"workflow_failed", .is_end = true, .is_failure = true},
    {"workflow_cancelled", .is_end = true},
    {"workflow_aborted", .is_end = true},
};

static struct meaning meaning_of(const char *type)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strcmp(meanings[i].type, type) == 0)
            return meanings[i];
    return (struct meaning){.type = type};
}

/* False: there is no room for it. */
static bool add_id(struct digest_ids *ids, const char *id)
{
    for (size_t i = ids->count; i > 0; i--) /* mostly it is one of the latest */
        if (strcmp(ids->ids[i - 1], id) == 0)
            return true;
    if (ids->count == DIGEST_IDS_MAX || strlen(id) >= sizeof ids->ids[0])
        return false;
    strcpy(ids->ids[ids->count++], id);
    return true;
}

static void add_worker(struct digest *digest, const char *worker)
{
    uint32_t hash = hash_text(HASH_START, worker);
    for (size_t i = 0; i < digest->worker_count; i++)
        if (digest->workers[i] == hash)
            return;
    if (worker[0] && digest->worker_count < DIGEST_IDS_MAX)
        digest->workers[digest->worker_count++] = hash;
}

void digest_add(struct digest *digest, const struct seen_event *event)
{
    struct meaning meaning = meaning_of(event->type);
    add_worker(digest, event->worker);
    if (meaning.is_no_change)
        return;
    digest->has_news = true;
    if (meaning.is_nameless)
        return;
    digest->is_more |=
        !add_id(meaning.is_job ? &digest->jobs : &digest->instances, event->subject);
    digest->started += meaning.is_start;
    digest->ended += meaning.is_end;
    digest->failed += meaning.is_failure;
}

/* ---- the message -------------------------------------------------------------------------------- */

static void write_ids(struct json_out *out, const char *key, const struct digest_ids *ids)
{
    json_open(json_key(out, key), '[');
    for (size_t i = 0; i < ids->count; i++)
        json_str(out, ids->ids[i]);
    json_close(out, ']');
}

void digest_write(const struct digest *digest, const struct digest_now *now, int64_t last_event,
                  struct buf *text)
{
    struct json_out out = {.buf = text};
    buf_reset(text);
    buf_printf(text, "id: %" PRId64 "\nevent: digest\ndata: ", last_event);
    json_open(&out, '{');
    json_time(json_key(&out, "at"), now->at_us);
    write_ids(&out, "instances", &digest->instances);
    write_ids(&out, "jobs", &digest->jobs);
    json_bool(json_key(&out, "is_more"), digest->is_more);
    json_int(json_key(&out, "started"), digest->started);
    json_int(json_key(&out, "ended"), digest->ended);
    json_int(json_key(&out, "failed"), digest->failed);
    json_int(json_key(&out, "approvals"), now->approvals);
    json_int(json_key(&out, "dead"), now->dead);
    json_int(json_key(&out, "workers"), (int64_t)digest->worker_count);
    json_close(&out, '}');
    buf_str(text, "\n\n");
}
