/* cli/command.h - a command is an entry of a table, by which its command line is read.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The table is made from spec/commands.txt, as are the help, the manual, docs/cli.md and the words
 * of the completion.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a command ends.  Scripts rely on these. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_NO = 1,    /* the answer is no: no such job, a rejected change, a failed check */
    EXIT_USAGE = 2, /* the command line, or a value on it, is wrong */
    EXIT_STORE = 3, /* the store or server could not be reached, or reported an error */
    EXIT_LATE = 4   /* the timeout passed */
};

enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_FILE,     /* text; completed as a file name */
    OPTION_JSON,     /* JSON, @FILE, or "-" for standard input */
    OPTION_INT,      /* within min and max */
    OPTION_DURATION, /* "90s"; min and max in milliseconds */
    OPTION_INSTANT,  /* RFC 3339; in microseconds */
    OPTION_MOMENT,   /* the same, or a duration before now */
    OPTION_CHOICE,   /* one of `choices` */
    OPTION_MANY,     /* text, may be repeated; at most one such option in a command */
    OPTION_TAG,      /* the same, of NAME=VALUE */
    OPTION_RATE      /* "100/1m": a number in a duration */
};

struct option {
    const char *name; /* without the dashes; NULL ends a table */
    enum option_kind kind;
    const char *value;   /* how help calls it, such as "N" */
    const char *choices; /* separated by spaces */
    int64_t min, max;
    const char *excludes; /* another option that cannot be given with it */
    const char *needs;    /* another option that must be given with it */

    /* Of a command that calls a route: the field of the query or of the body that carries it; NULL:
     * none.  A flag sets its field to true, or to false if `is_off`. */
    const char *field;
    bool is_off;
    bool is_required;
    char letter; /* 0: none */
};

struct args;
struct column;

/* What is printed of an answer; with -o json it is printed as it came. */
enum printing {
    PRINT_LINE,   /* an object, on a line: the first operand, then the columns */
    PRINT_OBJECT, /* an object, a line for each column */
    PRINT_LIST,   /* pages of items, as a table; the command has page_options */
    PRINT_FEED    /* pages of entries, a line for each, that may be followed; feed_options */
};

/* A route of the HTTP interface, and where the operands go; an option names its own field. */
struct route {
    const char *method; /* NULL: the command has no route */
    const char *path;   /* "/v1/instances/{id}/events": each {} takes an operand */
    enum printing prints;
    const struct column *columns; /* NULL: the status */
    const char *other_if;         /* with this option there are others; NULL: never */
    const struct column *other_columns;
    const char *field;  /* of the body, for the operand after those of the path; NULL: none */
    const char *fixed;  /* a member of the body that is always the same, as JSON; NULL: none */
    const char *id_key; /* of an item, for -o ids; NULL: "id" */
};

struct command {
    const char *name;     /* "job add"; NULL ends the table */
    const char *operands; /* "ID EVENT"; "ID...": one or more; "[COMMAND...]": any number */
    const char *aliases;  /* words of other tools for it, to suggest it; not accepted */
    const struct option *options, *more_options; /* without those that all commands share */
    const char *outputs; /* choices of -o: "table json ids", "table json"; NULL: no -o */
    bool has_url;        /* takes --url */
    bool creates_store;  /* if there is none yet; other commands report that it is missing */
    struct route route;
};

extern const struct command commands[]; /* in the order of the overview */

/* The first word of several commands ("job"), and their summary and help. */
struct command_group {
    const char *name, *summary, *help;
};
extern const struct command_group command_groups[];

/* Commands that do more than call a route. */
int run_backup(const struct args *args);
int run_bench(const struct args *args);
int run_bulk(const struct args *args);
int run_completion(const struct args *args);
int run_deliver(const struct args *args);
int run_deploy(const struct args *args);
int run_doctor(const struct args *args);
int run_graph(const struct args *args);
int run_help(const struct args *args);
int run_job_add(const struct args *args);
int run_listing(const struct args *args);
int run_migrate(const struct args *args);
int run_purge(const struct args *args);
int run_retention_set(const struct args *args);
int run_retention_show(const struct args *args);
int run_serve(const struct args *args);
int run_show(const struct args *args);
int run_simulate(const struct args *args);
int run_rerun(const struct args *args);
int run_start(const struct args *args);
int run_token_add(const struct args *args);
int run_token_list(const struct args *args);
int run_token_remove(const struct args *args);
int run_validate(const struct args *args);
int run_version(const struct args *args);
int run_wait_for(const struct args *args);
int run_why(const struct args *args);
int run_work(const struct args *args);

/* The option at this index: the command's own first, then those that it shares; NULL: no more. */
const struct option *command_option(const struct command *command, size_t index);

/* How many operands the command takes; max -1: any number. */
void command_operands(const struct command *command, int *ret_min, int *ret_max);
bool command_takes_many(const struct command *command);

const struct command *command_find(const char *name); /* "job add"; or NULL */
const struct command_group *command_group(const char *name);

/* The command that a group means if none is named; NULL: one must be. */
const struct command *command_alone(const char *group); /* or NULL */
bool command_is_in(const struct command *command, const char *group);

/* The command that may be meant by an unknown name: by the words of other tools, or by spelling.
 * After the name of a group the last word counts: "job ls" is "job list".  False: none is similar. */
bool command_suggest(const char *name, char *text, size_t room);

#endif
