/* cli/source.c - text from the command line, a file or standard input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/source.h"

#include "base/mem.h"
#include "cli/say.h"

#include <errno.h>
#include <string.h>

/* More than any store accepts by default; a guard against reading a device without end. */
enum { SOURCE_MAX = 64 << 20 };

FILE *source_open(const char *file)
{
    if (strcmp(file, "-") == 0)
        return stdin;
    FILE *source = fopen(file, "re");
    if (!source)
        say_error("could not read \"%s\": %s", file, strerror(errno));
    return source;
}

void source_close(FILE **source)
{
    if (*source && *source != stdin)
        fclose(*source);
}

static bool read_all(FILE *source, const char *name, struct buf *text)
{
    char chunk[16384];
    size_t len;
    while ((len = fread(chunk, 1, sizeof chunk, source)) > 0) {
        if (text->len + len > SOURCE_MAX) {
            say_error("\"%s\" is larger than %d bytes", name, SOURCE_MAX);
            return false;
        }
        buf_add(text, chunk, len);
    }
    if (ferror(source)) {
        say_error("could not read \"%s\": %s", name, strerror(errno));
        return false;
    }
    return true;
}

bool source_read(const char *given, struct buf *ret_text)
{
    bool is_file = given[0] == '@', is_input = strcmp(given, "-") == 0;
    if (is_file || is_input) {
        cleanup(source_close) FILE *source = source_open(is_file ? given + 1 : "-");
        if (!source || !read_all(source, is_file ? given + 1 : "standard input", ret_text))
            return false;
    } else {
        buf_str(ret_text, given);
    }
    if (buf_failed(ret_text)) {
        say_error("memory ran out");
        return false;
    }
    return true;
}
