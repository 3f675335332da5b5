/* cli/log.c - lines of a log, as text or as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/log.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/say.h"

#include <stdarg.h>
#include <string.h>

/* How long a line waits for a reader that is slow. */
enum { ERROR_WAIT_MS = 1000, LINE_MAX_BYTES = 4096 };

static const char *const levels[] = {
    [LEVEL_ERROR] = "error",
    [LEVEL_WARNING] = "warning",
    [LEVEL_INFO] = "info",
    [LEVEL_DEBUG] = "debug",
};

struct log log_of(const struct args *args)
{
    const char *format = args_text(args, "log-format"), *level = args_text(args, "log-level");
    struct log log = {.is_json = format && strcmp(format, "json") == 0, .least = LEVEL_INFO};
    for (enum log_level i = LEVEL_ERROR; level && i <= LEVEL_DEBUG; i++)
        if (strcmp(levels[i], level) == 0)
            log.least = i;
    if (args_has(args, "quiet"))
        log.least = LEVEL_ERROR;
    return log;
}

static void now_text(char text[INSTANT_TEXT])
{
    struct clock clock;
    clock_init_real(&clock);
    instant_format(clock_now_us(&clock), text);
}

static void write_line(enum log_level level, struct buf *line)
{
    buf_char(line, '\n');
    if (!line->failed && line->len <= LINE_MAX_BYTES)
        say_line(buf_text(line), line->len, level == LEVEL_ERROR ? ERROR_WAIT_MS : 0);
}

/* A command does not wait for whoever reads it. */
static void write_text(const struct log *log, enum log_level level, const char *text)
{
    cleanup(buf_donep) struct buf line = {0};
    char at[INSTANT_TEXT];
    now_text(at);
    if (log->is_bare)
        buf_str(&line, "cairn: ");
    else
        buf_printf(&line, "%s %s ", at, levels[level]);
    buf_clean(&line, text, strlen(text));
    write_line(log->is_bare ? LEVEL_INFO : level, &line);
}

static void write_json(enum log_level level, const char *event, const struct log_fact *facts,
                       const char *text)
{
    cleanup(buf_donep) struct buf line = {0};
    struct json_out out = {.buf = &line};
    char at[INSTANT_TEXT];
    now_text(at);
    json_open(&out, '{');
    json_str(json_key(&out, "at"), at);
    json_str(json_key(&out, "level"), levels[level]);
    json_str(json_key(&out, "event"), event);
    for (const struct log_fact *fact = facts; fact && fact->name; fact++) {
        if (fact->text)
            json_error_text(&out, fact->name, fact->text);
        else
            json_int(json_key(&out, fact->name), fact->number);
    }
    json_error_text(&out, "text", text);
    json_close(&out, '}');
    write_line(level, &line);
}

void log_tell(const struct log *log, enum log_level level, const char *event,
              const struct log_fact *facts, const char *format, ...)
{
    char text[2048];
    va_list list;
    if (level > log->least)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (log->is_json)
        write_json(level, event, facts, text);
    else
        write_text(log, level, text);
}

static enum log_level level_of(int notice)
{
    if (notice == CAIRN_NOTICE_ERROR)
        return LEVEL_ERROR;
    return notice == CAIRN_NOTICE_WARNING ? LEVEL_WARNING : LEVEL_INFO;
}

/* That a new store has got its tables is no news. */
static bool is_new_store(const char *json)
{
    return strstr(json, "\"event\":\"migrated\"") && strstr(json, "\"from\":0,");
}

/* The engine's object has all but the time. */
void log_notice(const struct log *log, int level, const char *text, const char *json)
{
    cleanup(buf_donep) struct buf line = {0};
    char at[INSTANT_TEXT];
    enum log_level told = level_of(level);
    if (told > log->least || is_new_store(json))
        return;
    if (!log->is_json) {
        write_text(log, told, text);
        return;
    }
    now_text(at);
    buf_printf(&line, "{\"at\":\"%s\",%s", at, *json == '{' ? json + 1 : json);
    write_line(told, &line);
}
