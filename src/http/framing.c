/* http/framing.c - whether a request's head says clearly where the request ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http/framing.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Headers of which there may be one. */
enum { HOST, LENGTH, ENCODING, SINGLE_COUNT };
static const char *const singles[SINGLE_COUNT] = {"Host", "Content-Length",
                                                  "Transfer-Encoding"};

struct head {
    const char *values[SINGLE_COUNT]; /* NULL: it did not come */
    const char *twice;                /* the name of one that came again; NULL: none did */
    bool is_folded;
};

/* libmicrohttpd 0.9.75 appends the second line of a folded header to the header's name, so that
 * such a Content-Length would go unseen. */
static bool is_folded(const char *name, const char *single)
{
    return strncasecmp(name, single, strlen(single)) == 0 && name[strlen(single)];
}

static enum MHD_Result look_at(void *cls, enum MHD_ValueKind kind, const char *name,
                               const char *value)
{
    (void)kind;
    struct head *head = cls;
    if (strpbrk(name, " \t:"))
        head->is_folded = true;
    for (int i = 0; i < SINGLE_COUNT; i++) {
        if (is_folded(name, singles[i]))
            head->is_folded = true;
        if (strcasecmp(name, singles[i]) != 0)
            continue;
        if (head->values[i])
            head->twice = singles[i];
        head->values[i] = value ? value : "";
    }
    return MHD_YES;
}

/* Digits only, and not so many that the number overflows. */
static bool read_length(const char *text, uint64_t *ret_length)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 18 || text[digits])
        return false;
    *ret_length = strtoull(text, NULL, 10);
    return true;
}

cairn_code framing_check(struct MHD_Connection *connection, const char *version,
                         struct framing *ret_framing, cairn_error *reterr)
{
    struct head head = {0};
    *ret_framing = (struct framing){.is_chunked = false};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, look_at, &head);
    const char *length = head.values[LENGTH], *encoding = head.values[ENCODING];
    if (head.twice)
        return fail(reterr, CAIRN_E_BAD_INPUT, "the header %s is given twice", head.twice);
    if (head.is_folded)
        return fail(reterr, CAIRN_E_BAD_INPUT,
                    "a header is folded, or its name has a space in it");
    if (!head.values[HOST] && strcmp(version, "HTTP/1.0") != 0)
        return fail(reterr, CAIRN_E_BAD_INPUT, "the header Host is missing");
    if (length && encoding)
        return fail(reterr, CAIRN_E_BAD_INPUT,
                    "Content-Length and Transfer-Encoding cannot be given together");
    if (encoding && strcasecmp(encoding, "chunked") != 0)
        return fail(reterr, CAIRN_E_BAD_INPUT,
                    "Transfer-Encoding must be chunked, not \"%.32s\"", encoding);
    if (length && !read_length(length, &ret_framing->length))
        return fail(reterr, CAIRN_E_BAD_INPUT,
                    "Content-Length must be a number of bytes, not \"%.32s\"", length);
    ret_framing->is_chunked = encoding != NULL;
    return CAIRN_OK;
}
