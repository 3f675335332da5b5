/* base/buf.c - text that grows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Room for len more bytes and the NUL. */
static bool make_room(struct buf *buf, size_t len)
{
    if (buf->failed)
        return false;
    if (buf->room - buf->len > len)
        return true;
    size_t room = buf->room ? buf->room : 128;
    while (room - buf->len <= len) {
        if (room > SIZE_MAX / 4) {
            buf->failed = true;
            return false;
        }
        room *= 2;
    }
    char *text = mem_realloc(buf->text, room);
    if (!text) {
        buf->failed = true;
        return false;
    }
    buf->text = text;
    buf->room = room;
    return true;
}

char *buf_extend(struct buf *buf, size_t len)
{
    if (!make_room(buf, len))
        return NULL;
    char *start = buf->text + buf->len;
    buf->len += len;
    buf->text[buf->len] = '\0';
    return start;
}

void buf_add(struct buf *buf, const char *bytes, size_t len)
{
    char *start = buf_extend(buf, len);
    if (start && len)
        memcpy(start, bytes, len);
}

void buf_str(struct buf *buf, const char *text)
{
    buf_add(buf, text, strlen(text));
}

void buf_char(struct buf *buf, char c)
{
    char *start = buf_extend(buf, 1);
    if (start)
        *start = c;
}

/* As printf("%lld") has it, which costs ten times as much. */
char *int_text(int64_t value, char room[INT_TEXT])
{
    uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
    char *at = room + INT_TEXT - 1;
    *at = '\0';
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0)
        *--at = '-';
    return at;
}

void buf_int(struct buf *buf, int64_t value)
{
    char room[INT_TEXT];
    buf_str(buf, int_text(value, room));
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0 || !make_room(buf, (size_t)len)) {
        buf->failed = true;
        return;
    }
    va_start(args, format);
    vsnprintf(buf->text + buf->len, (size_t)len + 1, format, args);
    va_end(args);
    buf->len += (size_t)len;
}

void buf_url(struct buf *buf, const char *text)
{
    for (; *text; text++) {
        char c = *text;
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || strchr("-._~", c);
        if (is_plain)
            buf_char(buf, c);
        else
            buf_printf(buf, "%%%02X", (unsigned char)c);
    }
}

void buf_param(struct buf *url, const char *name, const char *value)
{
    if (!value)
        return;
    buf_printf(url, "%c%s=", strchr(buf_text(url), '?') ? '&' : '?', name);
    buf_url(url, value);
}

void buf_shell(struct buf *buf, const char *word)
{
    bool is_plain = *word != '\0' && *word != '-';
    for (const unsigned char *at = (const unsigned char *)word; *at; at++)
        is_plain = is_plain && (isalnum(*at) || strchr("_-.:/@%+", *at));
    if (is_plain) {
        buf_str(buf, word);
        return;
    }
    buf_char(buf, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            buf_str(buf, "'\\''");
        else
            buf_char(buf, *word);
    }
    buf_char(buf, '\'');
}

void buf_duration(struct buf *buf, int64_t us)
{
    long long ms = us > 0 ? us / 1000 : 0, sec = ms / 1000;
    if (sec < 1)
        buf_printf(buf, "%lldms", ms);
    else if (sec < 60)
        buf_printf(buf, "%lld.%llds", sec, ms % 1000 / 100);
    else if (sec < 3600)
        buf_printf(buf, "%lldm %llds", sec / 60, sec % 60);
    else if (sec < 86400)
        buf_printf(buf, "%lldh %lldm", sec / 3600, sec % 3600 / 60);
    else
        buf_printf(buf, "%lldd %lldh", sec / 86400, sec % 86400 / 3600);
}

bool buf_failed(const struct buf *buf)
{
    return buf->failed;
}

const char *buf_text(const struct buf *buf)
{
    return buf->text ? buf->text : "";
}

char *buf_take(struct buf *buf, size_t *ret_len)
{
    if (!make_room(buf, 0))
        return NULL;
    buf->text[buf->len] = '\0';
    char *text = buf->text;
    if (ret_len)
        *ret_len = buf->len;
    *buf = (struct buf){0};
    return text;
}

void buf_reset(struct buf *buf)
{
    buf->len = 0;
    buf->failed = false;
    if (buf->text)
        buf->text[0] = '\0';
}

void buf_done(struct buf *buf)
{
    mem_free(buf->text);
    *buf = (struct buf){0};
}

char *buf_keep(struct buf *buf, struct arena *arena)
{
    char *text = buf_failed(buf) ? NULL : arena_strndup(arena, buf_text(buf), buf->len);
    buf_done(buf);
    return text;
}
