/* cli/short_id.c - ids of jobs and instances that are given in part.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/short_id.h"

#include "base/mem.h"
#include "cli/say.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
    ID_LEN = 36,
    BEGIN_LEAST = 4, /* of an id; what is shorter fits too many */
    END_LEN = 8,
    SHOWN_MAX = 3 /* ids in an error */
};

static const struct {
    const char *list, *noun;
} kinds[] = {{"/v1/instances", "instance"}, {"/v1/jobs", "job"}};

/* The latest one: a command asks several things about the same id. */
static struct {
    size_t kind;
    char given[ID_ROOM], id[ID_ROOM];
} known;

/* A text that may be a part of an id. */
static bool is_part(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] != '-' && !isxdigit((unsigned char)text[i]))
            return false;
    return len >= BEGIN_LEAST && len < ID_LEN;
}

static bool fits(const char *id, const char *part)
{
    size_t len = strlen(part);
    return strncasecmp(id, part, len) == 0 ||
           (len == END_LEN && strlen(id) == ID_LEN && strcasecmp(id + ID_LEN - len, part) == 0);
}

/* An answer as a server would give it. */
static void reject(struct answer *ret_answer, int status, const char *code,
                   const struct buf *message, const char *hint)
{
    *ret_answer = (struct answer){.status = status,
                                  .tree = json_pack("{s:s, s:s, s:s}", "code", code, "message",
                                                    buf_text(message), "hint", hint)};
}

static void reject_unknown(size_t kind, const char *part, struct answer *ret_answer)
{
    cleanup(buf_donep) struct buf message = {0};
    bool is_end = strlen(part) == END_LEN;
    buf_printf(&message, "%s \"%s\" does not exist: no id begins with it%s", kinds[kind].noun,
               part, is_end ? ", and none of the newest 20,000 ends with it" : "");
    reject(ret_answer, 404, "not_found", &message,
           "give the id, 4 or more characters of its beginning, or, of the newest 20,000, its "
           "last 8");
}

static void reject_several(size_t kind, const char *part, const json_t *ids,
                           struct answer *ret_answer)
{
    cleanup(buf_donep) struct buf message = {0};
    size_t i, count = json_array_size(ids);
    json_t *id;
    buf_printf(&message, "\"%s\" may be %zu %ss: ", part, count, kinds[kind].noun);
    json_array_foreach(ids, i, id)
    {
        if (i < SHOWN_MAX)
            buf_printf(&message, "%s%s", i ? ", " : "", json_string_value(id));
    }
    buf_str(&message, count > SHOWN_MAX ? ", ..." : "");
    reject(ret_answer, 409, "conflict", &message, "give more of the id");
}

/* The ids that a part fits, of the ids and keys that the server finds. */
static json_t *fitting(const json_t *items, const char *part)
{
    json_t *ids = json_array(), *item;
    size_t i;
    json_array_foreach(items, i, item)
    {
        if (fits(text_of(item, "id"), part))
            json_array_append(ids, json_object_get(item, "id"));
    }
    return ids;
}

static void decide(size_t kind, const char *part, const json_t *ids, struct answer *ret_answer)
{
    if (json_array_size(ids) == 0) {
        reject_unknown(kind, part, ret_answer);
    } else if (json_array_size(ids) > 1) {
        reject_several(kind, part, ids, ret_answer);
    } else {
        known.kind = kind;
        snprintf(known.given, sizeof known.given, "%s", part);
        snprintf(known.id, sizeof known.id, "%s", json_string_value(json_array_get(ids, 0)));
    }
}

/* Leaves the answer in `known`, or in *ret_answer if there is none. */
static int look_up(cairn_engine *engine, size_t kind, const char *part,
                   struct answer *ret_answer)
{
    cleanup(buf_donep) struct buf target = {0};
    cleanup(answer_done) struct answer found = {0};
    if (known.kind == kind && strcmp(known.given, part) == 0)
        return EXIT_DONE;
    buf_str(&target, kinds[kind].list);
    buf_param(&target, "q", part);
    buf_param(&target, "view", "row");
    buf_param(&target, "limit", "1000");
    TRY(call_unsaid(engine, "GET", buf_text(&target), NULL, &found));
    if (found.status >= 400) { /* such as 403 */
        *ret_answer = found;
        found = (struct answer){0};
        return EXIT_DONE;
    }
    json_t *ids = fitting(json_object_get(found.tree, "items"), part);
    decide(kind, part, ids, ret_answer);
    json_decref(ids);
    return EXIT_DONE;
}

int target_complete(cairn_engine *engine, const char *target, struct buf *full,
                    struct answer *ret_answer)
{
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        size_t base = strlen(kinds[kind].list);
        if (strncmp(target, kinds[kind].list, base) != 0 || target[base] != '/')
            continue;
        const char *id = target + base + 1;
        size_t len = strcspn(id, "/?");
        char part[ID_ROOM] = "";
        if (!is_part(id, len))
            return EXIT_DONE;
        memcpy(part, id, len);
        TRY(look_up(engine, kind, part, ret_answer));
        if (!ret_answer->status)
            buf_printf(full, "%s/%s%s", kinds[kind].list, known.id, id + len);
    }
    return EXIT_DONE;
}

void target_hint(cairn_engine *engine, const char *target, struct answer *answer)
{
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        cleanup(buf_donep) struct buf other = {0}, hint = {0};
        cleanup(answer_done) struct answer found = {0};
        size_t base = strlen(kinds[kind].list);
        if (strncmp(target, kinds[kind].list, base) != 0 || target[base] != '/')
            continue;
        int len = (int)strcspn(target + base + 1, "/?");
        cairn_request request = CAIRN_REQUEST_DEFAULTS;
        buf_printf(&other, "%s/%.*s", kinds[!kind].list, len, target + base + 1);
        request.target = buf_text(&other);
        if (cairn_call(engine, &request, &found.response, NULL) ||
            cairn_response_status(found.response) != 200)
            continue;
        buf_printf(&hint, "it is %s: cairn %s %.*s", kind == 0 ? "a job" : "an instance",
                   kind == 0 ? "job show" : "show", len, target + base + 1);
        json_object_set_new(answer->tree, "hint", json_string(buf_text(&hint)));
    }
}

int id_complete(cairn_engine *engine, const char *list, const char *given, char ret_id[ID_ROOM])
{
    cleanup(answer_done) struct answer answer = {0};
    size_t kind = strcmp(list, kinds[0].list) == 0 ? 0 : 1;
    snprintf(ret_id, ID_ROOM, "%s", given);
    if (!is_part(given, strlen(given)))
        return EXIT_DONE;
    TRY(look_up(engine, kind, given, &answer));
    if (answer.status)
        return say_rejected(&answer);
    snprintf(ret_id, ID_ROOM, "%s", known.id);
    return EXIT_DONE;
}

const char *id_shown(const char *given)
{
    return known.given[0] && strcmp(known.given, given) == 0 ? known.id : given;
}
