/* worker/passage_value.c - the time, chance and ids, the same in every passage.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "worker/passage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_TEXT = 64 };

/* Answers what is remembered, or NULL and where the new value goes. */
static cairn_code recall(struct cairn_passage *passage, const char *name, const char **ret_key,
                         int32_t *ret_seq, const char **ret_value)
{
    const cairn_step *row;
    cairn_code code = passage_enter(passage);
    if (!code)
        code = memory_ask(passage, name, "value", ret_key, &row, ret_seq);
    if (!code && row)
        *ret_value = row->output ? row->output : "null";
    else if (!code)
        *ret_value = NULL;
    return code;
}

static cairn_code remember(struct cairn_passage *passage, const char *key, int32_t seq,
                           const char *value)
{
    const char *copy;
    cairn_code code = passage_make_room(passage);
    if (code)
        return code;
    if (!passage_copy(passage, value, &copy))
        return passage->over;
    struct commit_step *step = buffer_step(passage, key, "value", "completed", seq);
    if (!step)
        return passage->over;
    step->output = copy;
    buffer_weigh(&passage->buffer, copy);
    return CAIRN_OK;
}

static cairn_code refuse(struct cairn_passage *passage, const char *key, const char *value)
{
    return fail(&passage->last, CAIRN_E_BAD_JSON,
                "what is remembered as \"%.40s\" is no such value: %.80s", key, value);
}

static cairn_code tell_now(struct cairn_passage *passage, int64_t *ret_now_us)
{
    const char *key, *value;
    int32_t seq;
    char text[VALUE_TEXT], *end;
    cairn_code code = recall(passage, "now", &key, &seq, &value);
    if (code)
        return code;
    if (value) {
        *ret_now_us = strtoll(value, &end, 10);
        return *end || end == value ? refuse(passage, key, value) : CAIRN_OK;
    }
    code = passage_clock(passage, ret_now_us);
    if (code)
        return code;
    snprintf(text, sizeof text, "%lld", (long long)*ret_now_us);
    return remember(passage, key, seq, text);
}

/* 17 digits give the very same number back. */
static cairn_code tell_random(struct cairn_passage *passage, double *ret_value)
{
    const char *key, *value;
    int32_t seq;
    char text[VALUE_TEXT], *end;
    cairn_code code = recall(passage, "random", &key, &seq, &value);
    if (code)
        return code;
    if (value) {
        *ret_value = strtod(value, &end);
        return *end || end == value ? refuse(passage, key, value) : CAIRN_OK;
    }
    *ret_value = rng_unit(&passage->rng);
    snprintf(text, sizeof text, "%.17g", *ret_value);
    return remember(passage, key, seq, text);
}

static cairn_code tell_uuid(struct cairn_passage *passage, char ret_id[ID_TEXT])
{
    const char *key, *value;
    int32_t seq;
    char text[VALUE_TEXT];
    cairn_code code = recall(passage, "uuid", &key, &seq, &value);
    if (code)
        return code;
    if (value) {
        size_t len = strlen(value);
        if (len < 3 || len - 2 >= ID_TEXT || value[0] != '"')
            return refuse(passage, key, value);
        memcpy(ret_id, value + 1, len - 2);
        ret_id[len - 2] = '\0';
        return id_is_valid(ret_id) ? CAIRN_OK : refuse(passage, key, value);
    }
    code = passage_make_id(passage, ret_id);
    if (code)
        return code;
    snprintf(text, sizeof text, "\"%s\"", ret_id);
    return remember(passage, key, seq, text);
}

cairn_code passage_make_id(struct cairn_passage *passage, char ret_id[ID_TEXT])
{
    int64_t now_us = passage->clock_us;
    cairn_code code = now_us ? CAIRN_OK : passage_clock(passage, &now_us);
    if (!code)
        id_make(&passage->rng, now_us, ret_id);
    return code;
}

cairn_code cairn_passage_now(cairn_passage *passage, int64_t *ret_now_us, cairn_error *reterr)
{
    int64_t now_us;
    cairn_code code = tell_now(passage, &now_us);
    if (!code)
        *ret_now_us = now_us;
    return passage_tell(passage, code, reterr);
}

cairn_code cairn_passage_random(cairn_passage *passage, double *ret_value, cairn_error *reterr)
{
    double value;
    cairn_code code = tell_random(passage, &value);
    if (!code)
        *ret_value = value;
    return passage_tell(passage, code, reterr);
}

cairn_code cairn_passage_uuid(cairn_passage *passage, char ret_id[40], cairn_error *reterr)
{
    char id[ID_TEXT];
    cairn_code code = tell_uuid(passage, id);
    if (!code)
        memcpy(ret_id, id, sizeof id);
    return passage_tell(passage, code, reterr);
}
