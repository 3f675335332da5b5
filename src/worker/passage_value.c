/* worker/passage_value.c - the time, chance and ids, the same in every passage.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "worker/passage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_TEXT = 64 };

/* A value that is made once and then remembered: how its JSON text is made, and read again. */
struct value {
    const char *name;
    cairn_code (*make)(struct cairn_passage *passage, char text[VALUE_TEXT]);
    bool (*read)(const char *text, void *ret_value);
};

static cairn_code make_now(struct cairn_passage *passage, char text[VALUE_TEXT])
{
    int64_t now_us;
    TRY(passage_clock(passage, &now_us));
    snprintf(text, VALUE_TEXT, "%lld", (long long)now_us);
    return CAIRN_OK;
}

static bool read_now(const char *text, void *ret_now_us)
{
    char *end;
    *(int64_t *)ret_now_us = strtoll(text, &end, 10);
    return !*end && end != text;
}

/* 17 digits give the very same number back. */
static cairn_code make_random(struct cairn_passage *passage, char text[VALUE_TEXT])
{
    snprintf(text, VALUE_TEXT, "%.17g", rng_unit(&passage->rng));
    return CAIRN_OK;
}

static bool read_random(const char *text, void *ret_value)
{
    char *end;
    *(double *)ret_value = strtod(text, &end);
    return !*end && end != text;
}

cairn_code passage_make_id(struct cairn_passage *passage, char ret_id[ID_TEXT])
{
    int64_t now_us = passage->clock_us;
    if (!now_us)
        TRY(passage_clock(passage, &now_us));
    id_make(&passage->rng, now_us, ret_id);
    return CAIRN_OK;
}

static cairn_code make_uuid(struct cairn_passage *passage, char text[VALUE_TEXT])
{
    char id[ID_TEXT];
    TRY(passage_make_id(passage, id));
    snprintf(text, VALUE_TEXT, "\"%s\"", id);
    return CAIRN_OK;
}

static bool read_uuid(const char *text, void *ret_id)
{
    char *id = ret_id;
    size_t len = strlen(text);
    if (len < 3 || len - 2 >= ID_TEXT || text[0] != '"')
        return false;
    memcpy(id, text + 1, len - 2);
    id[len - 2] = '\0';
    return id_is_valid(id);
}

static cairn_code remember(struct cairn_passage *passage, const struct asked *asked,
                           const char *text)
{
    const char *copy;
    TRY(passage_make_room(passage));
    TRY(passage_copy(passage, text, &copy));
    struct commit_step *step =
        buffer_step(passage, asked->key, "value", "completed", asked->seq);
    if (!step)
        return passage->over;
    step->output = copy;
    buffer_weigh(&passage->buffer, copy);
    return CAIRN_OK;
}

/* From memory, or new. */
static cairn_code find_value(struct cairn_passage *passage, const struct value *value,
                             void *ret_value)
{
    struct asked asked;
    char text[VALUE_TEXT];
    TRY(passage_enter(passage));
    TRY(memory_ask(passage, value->name, "value", &asked));
    const cairn_step *row = asked.row;
    if (!row) {
        TRY(value->make(passage, text));
        TRY(remember(passage, &asked, text));
    }
    const char *remembered = !row ? text : row->output ? row->output : "null";
    if (value->read(remembered, ret_value))
        return CAIRN_OK;
    return fail(&passage->last, CAIRN_E_BAD_JSON,
                "what is remembered as \"%.40s\" is no such value: %.80s", asked.key,
                remembered);
}

/* *ret_value is written on success only. */
static cairn_code give_value(struct cairn_passage *passage, const struct value *value,
                             void *ret_value, size_t size, cairn_error *reterr)
{
    union {
        int64_t now_us;
        double number;
        char id[ID_TEXT];
    } found;
    TRY(passage_take(passage, reterr));
    cairn_code code = find_value(passage, value, &found);
    if (!code)
        memcpy(ret_value, &found, size);
    return passage_tell(passage, code, reterr);
}

cairn_code cairn_passage_now(cairn_passage *passage, int64_t *ret_now_us, cairn_error *reterr)
{
    static const struct value now = {"now", make_now, read_now};
    return give_value(passage, &now, ret_now_us, sizeof *ret_now_us, reterr);
}

cairn_code cairn_passage_random(cairn_passage *passage, double *ret_value, cairn_error *reterr)
{
    static const struct value random = {"random", make_random, read_random};
    return give_value(passage, &random, ret_value, sizeof *ret_value, reterr);
}

cairn_code cairn_passage_uuid(cairn_passage *passage, char ret_id[40], cairn_error *reterr)
{
    static const struct value uuid = {"uuid", make_uuid, read_uuid};
    return give_value(passage, &uuid, ret_id, ID_TEXT, reterr);
}
