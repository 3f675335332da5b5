/* cli/help.c - cairn help.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/help.h"

#include "base/mem.h"
#include "cli/args.h"
#include "cli/call.h"
#include "cli/say.h"

const struct command_text *text_of_command(const struct command *command)
{
    return &command_texts[command - commands];
}

void help_unknown(const char *name, const char *before)
{
    char near[64];
    say_error("\"%s\" is not a command", name);
    if (command_suggest(name, near, sizeof near))
        say_more("Did you mean: cairn %s%s", before, near);
    say_more("All commands: cairn help");
}

static void print_manual(void)
{
    fputs(manual_begin, stdout);
    for (size_t i = 0; commands[i].name; i++)
        fputs(command_texts[i].manual, stdout);
    fputs(manual_end, stdout);
}

static void print_markdown(void)
{
    for (size_t i = 0; commands[i].name; i++)
        fputs(command_texts[i].markdown, stdout);
}

/* NULL: there is no such command. */
static const char *find_text(const char *name)
{
    const struct command *command = command_find(name);
    const struct command_group *group = command_group(name);
    if (!*name)
        return overview_text;
    return command ? text_of_command(command)->help : group ? group->help : NULL;
}

int run_help(const struct args *args)
{
    cleanup(buf_donep) struct buf name = {0};
    for (size_t i = 0; i < args->operand_count; i++)
        buf_printf(&name, "%s%s", i ? " " : "", args->operands[i]);
    const char *text = find_text(buf_text(&name));
    if (args_has(args, "man"))
        print_manual();
    else if (args_has(args, "markdown"))
        print_markdown();
    else if (text)
        fputs(text, stdout);
    else
        help_unknown(buf_text(&name), "help ");
    return text ? EXIT_DONE : EXIT_USAGE;
}
