/* engine/notice.c - tells the program that has opened an engine what an operator wants to know.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/engine.h"

#include "base/json.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

/* Of the notices of all engines: they are few. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void write_json(struct buf *buf, cairn_notice_level level, const char *event,
                       const struct notice_fact *facts, const char *text)
{
    static const char *const levels[] = {[CAIRN_NOTICE_INFO] = "info",
                                         [CAIRN_NOTICE_WARNING] = "warning",
                                         [CAIRN_NOTICE_ERROR] = "error"};
    struct json_out out = {.buf = buf};
    json_open(&out, '{');
    json_str(json_key(&out, "event"), event);
    json_str(json_key(&out, "level"), levels[level]);
    for (const struct notice_fact *fact = facts; fact && fact->name; fact++)
        json_int(json_key(&out, fact->name), fact->value);
    json_str(json_key(&out, "text"), text);
    json_close(&out, '}');
}

static void keep(struct notices *notices, const char *json)
{
    char *copy = mem_strdup(json);
    pthread_mutex_lock(&lock);
    char **place = &notices->json[(notices->first + notices->count) % NOTICES_KEPT];
    if (copy && notices->count == NOTICES_KEPT) {
        mem_free(*place);
        notices->first = (notices->first + 1) % NOTICES_KEPT;
        notices->count--;
        notices->dropped++;
    }
    if (copy) {
        *place = copy;
        notices->count++;
    }
    pthread_mutex_unlock(&lock);
}

void notice_tell(struct cairn_engine *engine, cairn_notice_level level, const char *event,
                 const struct notice_fact *facts, const char *format, ...)
{
    const cairn_open_options *options = &engine->options;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cleanup(buf_done) struct buf json = {0};
    write_json(&json, level, event, facts, text);
    const char *told = json.failed ? "{}" : buf_text(&json);
    keep(&engine->notices, told);
    if (options->notice)
        options->notice(options->notice_arg, level, text, told);
}

static void forget(struct notices *notices)
{
    for (size_t i = 0; i < notices->count; i++)
        mem_free(notices->json[(notices->first + i) % NOTICES_KEPT]);
    *notices = (struct notices){0};
}

void notices_done(struct cairn_engine *engine)
{
    forget(&engine->notices);
}

static cairn_response *write_notices(const struct notices *notices)
{
    struct buf body = {0};
    buf_str(&body, "{\"notices\":[");
    for (size_t i = 0; i < notices->count; i++)
        buf_printf(&body, "%s%s", i ? "," : "",
                   notices->json[(notices->first + i) % NOTICES_KEPT]);
    buf_printf(&body, "],\"dropped\":%zu}", notices->dropped);
    return response_of_json(&body);
}

int cairn_notices(cairn_engine *engine, cairn_response **ret_response)
{
    *ret_response = NULL;
    pthread_mutex_lock(&lock);
    struct notices *notices = &engine->notices;
    int count = (int)notices->count;
    if (count)
        *ret_response = write_notices(notices);
    if (*ret_response)
        forget(notices);
    pthread_mutex_unlock(&lock);
    return count && !*ret_response ? -1 : count;
}
