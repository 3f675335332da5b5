/* api/answer.c - answers out: JSON into a response, and one response that needs no memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"
#include "base/error.h"
#include "base/mem.h"

#include <string.h>

static const char json_mime[] = "application/json";

static const char no_memory_body[] =
    "{\"code\":\"out_of_memory\",\"message\":\"memory ran out\",\"detail\":\"\",\"hint\":\"\"}";

/* Given out when there is no memory for any other; never written to, never freed. */
static const struct cairn_response no_memory = {
    .status = 503,
    .content_type = json_mime,
    .body = (char *)no_memory_body,
    .len = sizeof no_memory_body - 1,
};

void write_error_text(struct json_out *out, const char *key, const char *text)
{
    char copy[sizeof((cairn_error *)NULL)->detail];
    size_t len = strlen(text);
    json_key(out, key);
    if (utf8_is_valid(text, len)) {
        json_strn(out, text, len);
        return;
    }
    len = len < sizeof copy ? len : sizeof copy;
    for (size_t i = 0; i < len; i++)
        copy[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    json_strn(out, copy, len);
}

void answer_error(struct answer *answer, const cairn_error *error)
{
    answer->status = cairn_code_http_status(error->code);
    answer->content_type = json_mime;
    json_open(&answer->out, '{');
    json_key(&answer->out, "code");
    json_str(&answer->out, cairn_code_name(error->code));
    write_error_text(&answer->out, "message", error->message);
    write_error_text(&answer->out, "detail", error->detail);
    write_error_text(&answer->out, "hint", error->hint);
    json_close(&answer->out, '}');
}

cairn_response *answer_finish(struct answer *answer)
{
    struct cairn_response *response = mem_alloc(sizeof *response);
    size_t len = 0;
    char *body = buf_failed(&answer->buf) ? NULL : buf_take(&answer->buf, &len);
    if (!response || !body) {
        mem_free(response);
        mem_free(body);
        buf_done(&answer->buf);
        return (cairn_response *)&no_memory;
    }
    *response = (struct cairn_response){
        .status = answer->status,
        .content_type = answer->content_type ? answer->content_type : json_mime,
        .body = body,
        .len = len,
    };
    return response;
}

cairn_response *response_of_error(const cairn_error *error)
{
    struct answer answer = {.out = {.buf = &answer.buf}};
    answer_error(&answer, error);
    return answer_finish(&answer);
}

void cairn_response_free(cairn_response *response)
{
    if (!response || response == &no_memory)
        return;
    mem_free(response->body);
    mem_free(response);
}

int cairn_response_status(const cairn_response *response)
{
    return response->status;
}

const char *cairn_response_content_type(const cairn_response *response)
{
    return response->content_type;
}

const char *cairn_response_body(const cairn_response *response, size_t *ret_len)
{
    if (ret_len)
        *ret_len = response->len;
    return response->body;
}

void write_created(struct json_out *out, const cairn_enqueued *created)
{
    json_open(out, '{');
    json_key(out, "id");
    json_str(out, created->id);
    json_key(out, "existing");
    json_bool(out, created->existing);
    json_close(out, '}');
}

void write_next(struct json_out *out, const char *next)
{
    json_key(out, "next");
    json_str(out, next);
}
