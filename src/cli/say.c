/* cli/say.c - messages for a person.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/say.h"

#include "base/json.h"
#include "base/mem.h"
#include "cli/call.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static void make_line(struct buf *line, const char *before, const char *format, va_list list)
{
    char text[2048];
    vsnprintf(text, sizeof text, format, list);
    buf_str(line, before);
    buf_clean(line, text, strlen(text));
    buf_char(line, '\n');
}

/* One write per line, so that lines of several threads do not mix. */
static void say(const char *before, const char *format, va_list list)
{
    cleanup(buf_donep) struct buf line = {0};
    make_line(&line, before, format, list);
    fputs(buf_text(&line), stderr);
}

void say_error(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say("cairn: ", format, list);
    va_end(list);
}

void say_more(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say("    ", format, list);
    va_end(list);
}

/* Held from poll() to write(), so that no other thread fills the room between the two. */
static pthread_mutex_t line_lock = PTHREAD_MUTEX_INITIALIZER;

static void write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t done = write(fd, text, len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return;
        text += done;
        len -= (size_t)done;
    }
}

bool say_line(const char *line, size_t len, int wait_ms)
{
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (wait_ms > 0)
        poll(&room, 1, wait_ms);
    pthread_mutex_lock(&line_lock);
    bool is_ready = poll(&room, 1, 0) != 0;
    if (is_ready)
        write_all(STDERR_FILENO, line, len);
    pthread_mutex_unlock(&line_lock);
    return is_ready;
}

int say_rejection(int http_status, const char *message, const char *detail, const char *hint)
{
    say_error("%s", message);
    if (*detail)
        say_more("%s", detail);
    if (*hint)
        say_more("%s", hint);
    if (http_status < 400)
        return 0;
    if (http_status == 400 || http_status == 413)
        return 2;
    return http_status == 429 || http_status >= 500 ? 3 : 1;
}

int say_failure(const cairn_error *error)
{
    return say_rejection(cairn_code_http_status(error->code),
                         error->message[0] ? error->message : cairn_code_meaning(error->code),
                         error->detail, error->hint);
}

int flush_output(int exit_code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_code;
    say_error("could not write to standard output");
    return exit_code ? exit_code : 1;
}

void say_progress(const char *format, ...)
{
    if (!isatty(STDERR_FILENO))
        return;
    va_list list;
    va_start(list, format);
    fputs("\r\033[K", stderr);
    vfprintf(stderr, format, list);
    fflush(stderr);
    va_end(list);
}

const char *progress_bar(char bar[BAR_TEXT], int64_t done, int64_t of)
{
    enum { WIDTH = BAR_TEXT - 1 };
    int64_t filled = of > 0 ? (done < of ? done * WIDTH / of : WIDTH) : 0;
    memset(bar, ' ', WIDTH);
    memset(bar, '=', (size_t)filled);
    bar[WIDTH] = '\0';
    return bar;
}

void end_progress(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

/* The bytes of the character at text, or 0 if it is no UTF-8. */
static size_t character_len(const char *text, size_t len)
{
    unsigned char first = (unsigned char)text[0];
    size_t need = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    return need <= len && utf8_is_valid(text, need) ? need : 0;
}

/* C0, DEL and C1 (which UTF-8 writes as 0xC2 0x80 to 0xC2 0x9F). */
static bool is_control(const char *text, size_t len)
{
    unsigned char first = (unsigned char)text[0];
    return first < 0x20 || first == 0x7f ||
           (len == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0);
}

void buf_clean(struct buf *buf, const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t bytes = character_len(text + i, len - i);
        if (!bytes || is_control(text + i, bytes))
            buf_char(buf, text[i] == '\n' || text[i] == '\t' ? ' ' : '?');
        else
            buf_add(buf, text + i, bytes);
        i += bytes ? bytes : 1;
    }
}

void buf_utf8(struct buf *buf, const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t bytes = character_len(text + i, len - i);
        if (bytes)
            buf_add(buf, text + i, bytes);
        else
            buf_str(buf, "\xef\xbf\xbd");
        i += bytes ? bytes : 1;
    }
}
