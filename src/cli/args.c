/* cli/args.c - reads a command line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/args.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/word.h"
#include "cli/call.h"
#include "cli/help.h"
#include "cli/say.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Stands for the command until its name is found: it has the options that all commands share. */
static const struct command any_command = {
    .name = "", .has_url = true, .outputs = "table json ids"};

/* An argument that is an option, taken apart. */
struct word {
    const char *name;
    size_t len;
    const char *value; /* after "=", or stuck to the letter; NULL: none */
    bool is_long;
};

static bool is_option(const char *arg)
{
    return arg[0] == '-' && arg[1] != '\0';
}

static struct word take_apart(const char *arg)
{
    assert(is_option(arg));
    if (arg[1] != '-')
        return (struct word){.name = arg + 1, .len = 1, .value = arg[2] ? arg + 2 : NULL};

    const char *equals = strchr(arg, '=');
    size_t len = equals ? (size_t)(equals - arg - 2) : strlen(arg + 2);
    return (struct word){
        .name = arg + 2, .len = len, .value = equals ? equals + 1 : NULL, .is_long = true};
}

static const struct option *find_option(const struct command *command, struct word word,
                                        size_t *ret_index)
{
    const struct option *option;
    for (size_t i = 0; (option = command_option(command, i)); i++) {
        bool is_name =
            strlen(option->name) == word.len && memcmp(option->name, word.name, word.len) == 0;
        *ret_index = i;
        if (word.is_long ? is_name : option->letter == word.name[0])
            return option;
    }
    return NULL;
}

/* ---- finding the command ---------------------------------------------------------------- */

/* The index of the next argument from `at` on that is not an option known to all commands. */
static int skip_shared(int argc, char **argv, int at)
{
    while (at < argc && is_option(argv[at]) && strcmp(argv[at], "--") != 0) {
        size_t index;
        struct word word = take_apart(argv[at]);
        const struct option *option = find_option(&any_command, word, &index);
        at += option && option->kind != OPTION_FLAG && !word.value ? 2 : 1;
    }
    return at < argc ? at : argc;
}

/* Finds the command's words and blanks them out in is_word. */
static bool find_command(struct args *args, bool *is_word)
{
    int first = skip_shared(args->argc, args->argv, 1);
    if (first == args->argc || is_option(args->argv[first]))
        return true;
    is_word[first] = true;
    const char *name = args->argv[first];
    args->command = command_find(name);
    if (args->command)
        return true;
    if (!command_group(name)) {
        help_unknown(name, "");
        return false;
    }

    int second = skip_shared(args->argc, args->argv, first + 1);
    if (second == args->argc || is_option(args->argv[second])) {
        bool is_help = second < args->argc && word_in("--help -h", args->argv[second]);
        args->command = is_help ? NULL : command_alone(name);
        args->group = args->command ? NULL : name;
        return true;
    }
    is_word[second] = true;
    char both[256];
    snprintf(both, sizeof both, "%s %s", name, args->argv[second]);
    args->command = command_find(both);
    if (!args->command)
        help_unknown(both, "");
    return args->command != NULL;
}

/* ---- values ----------------------------------------------------------------------------- */

static bool read_int(const char *text, int64_t *ret_number)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        return false;
    *ret_number = number;
    return true;
}

/* A part of a text. */
static bool part_in(const char *words, const char *text, size_t len)
{
    for (const char *at = words; *at;) {
        size_t word = strcspn(at, " ");
        if (word == len && memcmp(at, text, len) == 0)
            return true;
        at += word + (at[word] == ' ');
    }
    return false;
}

bool word_in(const char *words, const char *text)
{
    return part_in(words, text, strlen(text));
}

/* Words with commas between them. */
static bool are_words_in(const char *words, const char *text)
{
    size_t len = strcspn(text, ",");
    while (part_in(words, text, len) && text[len]) {
        text += len + 1;
        len = strcspn(text, ",");
    }
    return !text[len] && part_in(words, text, len);
}

static bool refuse_value(const struct option *option, const char *text, const char *wanted)
{
    say_error("--%s cannot be \"%s\": %s", option->name, text, wanted);
    return false;
}

/* A time, or how long before now it is. */
static bool read_moment(const char *text, int64_t *ret_us)
{
    struct clock clock;
    int64_t ms;
    if (!durations_parse(text, &ms))
        return instant_parse(text, ret_us);
    clock_init_real(&clock);
    int64_t now_us = clock_now_us(&clock);
    *ret_us = ms < now_us / US_PER_MS ? now_us - ms * US_PER_MS : 1;
    return true;
}

static bool read_value(const struct option *option, const char *text, struct given *given)
{
    char wanted[320];
    bool is_fine = true;
    given->text = text;

    switch (option->kind) {
    case OPTION_INT:
        is_fine = read_int(text, &given->number);
        snprintf(wanted, sizeof wanted, "it takes an integer from %lld to %lld",
                 (long long)option->min, (long long)option->max);
        break;
    case OPTION_DURATION:
        is_fine = durations_parse(text, &given->number);
        snprintf(wanted, sizeof wanted,
                 "it takes a duration: integers with d, h, m, s or ms, such as 90s or 1h30m");
        break;
    case OPTION_INSTANT:
        is_fine = instant_parse(text, &given->number);
        snprintf(wanted, sizeof wanted,
                 "it takes a time in RFC 3339, such as 2030-01-31T06:30:00Z");
        break;
    case OPTION_MOMENT:
        is_fine = read_moment(text, &given->number);
        snprintf(
            wanted, sizeof wanted,
            "it takes a time in RFC 3339, such as 2030-01-31T06:30:00Z, or a duration before "
            "now, such as 90s or 1h30m");
        break;
    case OPTION_CHOICE:
        snprintf(wanted, sizeof wanted, "it takes one of: %s", option->choices);
        return word_in(option->choices, text) || refuse_value(option, text, wanted);
    case OPTION_TAG:
        return (strchr(text, '=') && *text != '=') ||
               refuse_value(option, text, "it takes NAME=VALUE");
    case OPTION_RATE: {
        int32_t n;
        return rate_parse(text, &n, &given->number) ||
               refuse_value(option, text, "it takes a number and a duration, such as 100/1m");
    }
    case OPTION_TEXT:
        snprintf(wanted, sizeof wanted, "it takes one or several of: %s",
                 option->choices ? option->choices : "");
        return !option->choices || are_words_in(option->choices, text) ||
               refuse_value(option, text, wanted);
    default:
        return true;
    }
    if (option->max && (given->number < option->min || given->number > option->max))
        is_fine = false;
    return is_fine || refuse_value(option, text, wanted);
}

/* ---- the whole line --------------------------------------------------------------------- */

/* What other tools call an option. */
static const struct {
    const char *theirs, *ours;
} synonyms[] = {
    {"delay", "in"},     {"after", "in"}, {"run-at", "at"}, {"retries", "max-attempts"},
    {"data", "payload"}, {"name", "key"},
};

static bool is_synonym(const char *theirs, const char *ours)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(synonyms[i].theirs, theirs) == 0 && strcmp(synonyms[i].ours, ours) == 0)
            return true;
    return false;
}

/* How far an option is from what was asked for: another word for it, a beginning of it, its spelling, a part of it. */
static size_t option_distance(const char *asked, const char *name)
{
    size_t limit = strlen(asked) / 3 + 2, distance = word_distance(asked, name);
    if (is_synonym(asked, name))
        return 0;
    if (strlen(asked) >= 2 && strncmp(name, asked, strlen(asked)) == 0)
        return 1;
    if (distance < limit)
        return 1 + distance;
    return strlen(asked) >= 4 && strstr(name, asked) ? limit + 1 : SIZE_MAX;
}

static bool refuse_option(const struct command *command, struct word word)
{
    const char *dashes = word.is_long ? "--" : "-";
    const char *space = *command->name ? " " : "";
    say_error("%s%.*s is not an option of cairn%s%s", dashes, (int)word.len, word.name, space,
              command->name);

    char name[128];
    size_t best = SIZE_MAX;
    const char *near = NULL;
    snprintf(name, sizeof name, "%.*s", (int)word.len, word.name);
    const struct option *option;
    for (size_t i = 0; word.is_long && (option = command_option(command, i)); i++) {
        size_t distance = option_distance(name, option->name);
        if (distance < best) {
            best = distance;
            near = option->name;
        }
    }
    if (near)
        say_more("Did you mean: --%s", near);
    say_more("All options: cairn%s%s --help", space, command->name);
    return false;
}

/* A tag that is to be set has one value; a list may ask for several. */
static bool is_set_twice(const struct args *args, const struct option *option, const char *text)
{
    size_t len = strcspn(text, "=") + 1;
    if (option->kind != OPTION_TAG || !option->field || strcmp(option->field, "tags") != 0)
        return false;
    for (size_t i = 0; i < args->many_count; i++)
        if (strncmp(args->many[i], text, len) == 0)
            return true;
    return false;
}

/* Reads argv[*at], an option, and its value; moves *at to the last argument it used. */
static bool read_option(struct args *args, const struct command *command, int *at)
{
    size_t index = 0;
    struct word word = take_apart(args->argv[*at]);
    const struct option *option = find_option(command, word, &index);
    if (!option)
        return refuse_option(command, word);
    assert(index < OPTIONS_MAX);

    if (option->kind == OPTION_FLAG) {
        if (word.value) {
            say_error("--%s takes no value", option->name);
            return false;
        }
        args->options[index].text = "";
        args->wants_help |= strcmp(option->name, "help") == 0;
        return true;
    }
    if (!word.value) {
        if (*at + 1 >= args->argc) {
            say_error("--%s needs a value: --%s %s", option->name, option->name, option->value);
            return false;
        }
        word.value = args->argv[++*at];
    }
    if (is_set_twice(args, option, word.value))
        return refuse_value(option, word.value, "the tag has a value already");
    if (option->kind == OPTION_MANY || option->kind == OPTION_TAG)
        args->many[args->many_count++] = word.value;
    return read_value(option, word.value, &args->options[index]);
}

static bool check_operands(const struct args *args)
{
    const struct command *command = args->command;
    int min, max, count = (int)args->operand_count;
    command_operands(command, &min, &max);
    if (count < min)
        say_error("%s needs %s", command->name, command->operands);
    else if (max >= 0 && count > max)
        say_error("%s cannot take \"%s\"", command->name, args->operands[max]);
    else
        return true;
    say_more("Usage: cairn %s%s%s [options]", command->name, command->operands ? " " : "",
             command->operands ? command->operands : "");
    return false;
}

/* "cancel needs --by WHO and --reason TEXT"; of two that exclude each other one is enough. */
static bool check_required(const struct args *args)
{
    const struct option *option;
    cleanup(buf_donep) struct buf needed = {0};
    bool is_missing = false;
    for (size_t i = 0; (option = command_option(args->command, i)); i++) {
        const char *other = option->excludes;
        if (!option->is_required)
            continue;
        is_missing |= !args->options[i].text && !(other && args_has(args, other));
        buf_printf(&needed, "%s%s--%s %s%s%s", needed.len && other ? "," : "",
                   needed.len ? " and " : "", option->name, option->value,
                   other ? " or --" : "", other ? other : "");
    }
    if (is_missing)
        say_error("%s needs %s", args->command->name, buf_text(&needed));
    return !is_missing;
}

static bool check_pairs(const struct args *args)
{
    const struct option *option;
    for (size_t i = 0; (option = command_option(args->command, i)); i++) {
        if (!args->options[i].text)
            continue;
        if (option->excludes && args_has(args, option->excludes)) {
            say_error("--%s and --%s exclude each other", option->name, option->excludes);
            return false;
        }
        if (option->needs && !args_has(args, option->needs)) {
            say_error("--%s needs --%s", option->name, option->needs);
            return false;
        }
    }
    return true;
}

static bool read_rest(struct args *args, const bool *is_word)
{
    const struct command *command = args->command ? args->command : &any_command;
    bool is_ended = false;
    for (int i = 1; i < args->argc; i++) {
        const char *arg = args->argv[i];
        if (is_word[i])
            continue;
        if (!is_ended && strcmp(arg, "--") == 0)
            is_ended = true;
        else if (!is_ended && !args->command &&
                 (strcmp(arg, "--version") == 0 || strcmp(arg, "-V") == 0))
            args->wants_version = true;
        else if (is_ended || !is_option(arg))
            args->operands[args->operand_count++] = arg;
        else if (!read_option(args, command, &i))
            return false;
    }
    return args->wants_help || !args->command ||
           (check_operands(args) && check_required(args) && check_pairs(args));
}

bool args_read(struct args *args, int argc, char **argv)
{
    *args = (struct args){.argc = argc, .argv = argv};
    size_t room = (size_t)argc + 1;
    cleanup(mem_freep) bool *is_word = mem_zalloc(room * sizeof *is_word);
    args->operands = mem_zalloc(room * sizeof *args->operands);
    args->many = mem_zalloc(room * sizeof *args->many);
    if (!is_word || !args->operands || !args->many) {
        say_error("memory ran out");
        return false;
    }
    return find_command(args, is_word) && read_rest(args, is_word);
}

void args_done(struct args *args)
{
    mem_free(args->operands);
    mem_free(args->many);
}

static const struct given *find_given(const struct args *args, const char *name)
{
    size_t index = OPTIONS_MAX;
    struct word word = {.name = name, .len = strlen(name), .is_long = true};
    bool is_known = find_option(args->command, word, &index) != NULL;
    assert(is_known && index < OPTIONS_MAX);
    return &args->options[index];
}

bool args_has(const struct args *args, const char *name)
{
    return find_given(args, name)->text != NULL;
}

const char *args_text(const struct args *args, const char *name)
{
    return find_given(args, name)->text;
}

int64_t args_number(const struct args *args, const char *name, int64_t otherwise)
{
    const struct given *given = find_given(args, name);
    return given->text ? given->number : otherwise;
}

bool args_wants(const struct args *args, const char *output)
{
    const char *given = args_text(args, "output");
    return strcmp(given ? given : "table", output) == 0;
}
