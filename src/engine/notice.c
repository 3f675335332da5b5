/* engine/notice.c - tells the program that has opened an engine what an operator wants to know.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/notice.h"

#include "base/json.h"
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

static void write_json(struct buf *buf, const char *event, const struct notice_fact *facts,
                       const char *text)
{
    struct json_out out = {.buf = buf};
    json_open(&out, '{');
    json_key(&out, "event");
    json_str(&out, event);
    for (const struct notice_fact *fact = facts; fact->name; fact++) {
        json_key(&out, fact->name);
        json_int(&out, fact->value);
    }
    json_key(&out, "text");
    json_str(&out, text);
    json_close(&out, '}');
}

void notice_tell(const struct cairn_engine *engine, cairn_notice_level level, const char *event,
                 const struct notice_fact *facts, const char *format, ...)
{
    const cairn_open_options *options = &engine->options;
    if (!options->notice)
        return;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cleanup(buf_done) struct buf json = {0};
    write_json(&json, event, facts, text);
    options->notice(options->notice_arg, level, text, json.failed ? "{}" : buf_text(&json));
}
