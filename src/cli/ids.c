/* cli/ids.c - ids from operands and from standard input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/ids.h"

#include "cli/say.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool ids_are_many(const struct args *args)
{
    return args->operand_count > 1 || strcmp(args->operands[0], "-") == 0;
}

/* What one id's end does to the whole: a refusal of one is a no to the whole. */
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
