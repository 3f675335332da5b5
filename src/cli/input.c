/* cli/input.c - texts and ids from the command line, files and standard input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/input.h"

#include "base/mem.h"
#include "cli/say.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More than any store accepts by default; protects from a device without end. */
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

bool file_read(const char *file, struct buf *ret_text)
{
    const char *name = strcmp(file, "-") == 0 ? "standard input" : file;
    cleanup(source_close) FILE *source = source_open(file);
    if (!source || !read_all(source, name, ret_text))
        return false;
    if (buf_failed(ret_text))
        say_error("memory ran out");
    return !buf_failed(ret_text);
}

bool source_read(const char *given, struct buf *ret_text)
{
    if (given[0] == '@' || strcmp(given, "-") == 0)
        return file_read(given + (given[0] == '@'), ret_text);
    buf_str(ret_text, given);
    return !buf_failed(ret_text);
}

bool ids_are_many(const struct args *args)
{
    return args->operand_count > 1 || strcmp(args->operands[0], "-") == 0;
}

/* What the result for one id means for all; false: stop. */
static bool goes_on(int one, int *whole)
{
    if (one == EXIT_STORE) {
        *whole = EXIT_STORE;
        return false;
    }
    if (one != EXIT_DONE)
        *whole = EXIT_NO;
    return true;
}

static char *trim(char *line)
{
    while (isspace((unsigned char)*line))
        line++;
    char *end = line + strlen(line);
    while (end > line && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return line;
}

static bool each_line(id_action action, void *arg, int *whole)
{
    char *line = NULL;
    size_t room = 0;
    bool is_going = true;
    while (is_going && getline(&line, &room, stdin) >= 0) {
        char *id = trim(line);
        if (*id)
            is_going = goes_on(action(id, arg), whole);
    }
    if (ferror(stdin)) {
        say_error("could not read ids from standard input");
        *whole = EXIT_NO;
    }
    free(line);
    return is_going;
}

int ids_each(const struct args *args, id_action action, void *arg)
{
    int whole = EXIT_DONE;
    bool is_going = true;
    if (!ids_are_many(args))
        return action(args->operands[0], arg);
    for (size_t i = 0; is_going && i < args->operand_count; i++) {
        if (strcmp(args->operands[i], "-") == 0)
            is_going = each_line(action, arg, &whole);
        else
            is_going = goes_on(action(args->operands[i], arg), &whole);
    }
    return whole;
}
