/* api/answer.c - answers out: JSON into a response, and one response that needs no memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"
#include "base/error.h"
#include "base/mem.h"

#include <assert.h>
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

void answer_error(struct answer *answer, const cairn_error *error)
{
    answer->status = cairn_code_http_status(error->code);
    answer->content_type = json_mime;
    json_error(&answer->out, error);
}

cairn_response *response_of_json(struct buf *body)
{
    struct cairn_response *response = mem_alloc(sizeof *response);
    size_t len = 0;
    char *text = buf_failed(body) ? NULL : buf_take(body, &len);
    if (response && text) {
        *response = (struct cairn_response){
            .status = 200, .content_type = json_mime, .body = text, .len = len};
        return response;
    }
    mem_free(response);
    mem_free(text);
    buf_done(body);
    return NULL;
}

cairn_response *answer_finish(struct answer *answer)
{
    struct cairn_response *response = response_of_json(&answer->buf);
    if (!response)
        return (cairn_response *)&no_memory;
    response->status = answer->status;
    if (answer->content_type)
        response->content_type = answer->content_type;
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

/* 200 if what was to be created was there, else 201. */
static int status_of_created(const struct object *object, const void *from)
{
    size_t offset = 0;
    const struct field *existing = field_named(object, "existing", strlen("existing"), &offset);
    assert(existing);
    return field_number(existing, (const char *)from + offset) ? 200 : 201;
}

static void write_list(const struct operation *operation, const struct request *request,
                       struct json_out *out)
{
    bool is_page = operation->form == ANSWER_PAGE;
    const struct page_output *page = &request->out.page;
    json_open(out, '{');
    list_write(out, is_page ? "items" : operation->list,
               page->is_row ? operation->row : operation->answer, page->items, page->count,
               WRITE_ANSWER);
    if (is_page)
        json_str(json_key(out, "next"), page->next);
    if (operation->is_scanned)
        json_time(json_key(out, "scanned_to"), page->scanned_to_us);
    if (operation->is_counted)
        json_int(json_key(out, "n"), page->n);
    json_close(out, '}');
}

void answer_write(const struct operation *operation, const struct request *request,
                  struct answer *answer)
{
    const void *from = (const char *)request + operation->answer_at;
    if (operation->form == ANSWER_LIST || operation->form == ANSWER_PAGE) {
        write_list(operation, request, &answer->out);
        return;
    }
    if (operation->form == ANSWER_ITEM)
        memcpy(&from, from, sizeof from); /* cppcheck-suppress pointerSize ; reads a pointer */
    if (operation->is_creating)
        answer->status = status_of_created(operation->answer, from);
    object_write(&answer->out, operation->answer, from, WRITE_ANSWER);
}
