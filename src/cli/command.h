/* cli/command.h - what a command is: a table from which its parsing, its help, its page in the
 * manual and its completion are made.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a command ends.  Scripts rely on these. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_NO = 1,    /* the answer is no: no such job, a refused change, a failed check */
    EXIT_USAGE = 2, /* the command line, or what it gave, is wrong */
    EXIT_STORE = 3, /* the store or server could not be reached, or said no itself */
    EXIT_LATE = 4   /* the timeout passed before what was awaited */
};

enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_FILE,     /* text; completed as a file name */
    OPTION_INT,      /* within min and max */
    OPTION_DURATION, /* "90s"; min and max in milliseconds */
    OPTION_INSTANT,  /* RFC 3339; in microseconds */
    OPTION_CHOICE,   /* one of `choices` */
    OPTION_MANY      /* text, may be given again and again; one such option in a command */
};

struct option {
    const char *name; /* without the dashes; NULL ends a table */
    enum option_kind kind;
    const char *value; /* how help calls it, such as "N" */
    const char *help;
    char letter;         /* 0: none */
    const char *choices; /* separated by spaces */
    int64_t min, max;
};

struct args;

struct command {
    const char *name; /* "job add" */
    const char *operands;
    int min_operands, max_operands;    /* max -1: any number */
    const char *summary;               /* one line, lower case, no full stop */
    const char *about;                 /* paragraphs; NULL: the summary says it */
    const char *example;               /* lines of shell */
    const struct option *options;      /* its own; NULL: none */
    const struct option *more_options; /* that it shares with others, listed after them */
    const char *outputs; /* choices of -o: "table json ids", "table json"; NULL: no -o */
    bool has_url;
    bool creates_store; /* if there is none yet; other commands say so */
    int (*run)(const struct args *args);
};

/* All commands of the program, in the order of the overview; NULL ends the list.  Each program
 * that reads its command line with these tables has its own list. */
extern const struct command *const commands[];

extern const struct command command_deploy, command_validate, command_workflows, command_graph,
    command_start, command_list, command_show, command_events, command_logs, command_signal,
    command_pause, command_resume, command_restart, command_retry, command_cancel,
    command_abort, command_approve, command_reject, command_dlq_list, command_dlq_show,
    command_dlq_requeue;

extern const struct command command_serve, command_work, command_job_add, command_job_list,
    command_job_show, command_job_events, command_job_cancel, command_job_delete,
    command_job_retry, command_registry_list, command_registry_set, command_migrate,
    command_doctor, command_bench_jobs, command_bench_workflows, command_bench_functions,
    command_version, command_completion, command_help;

/* A word that only introduces others ("job"), and what it is about. */
struct command_group {
    const char *name, *summary;
};
extern const struct command_group command_groups[];

/* The n-th option of a command, its own first, then those that many share; NULL: no more. */
const struct option *command_option(const struct command *command, size_t index);

const struct command *command_find(const char *name);        /* "job add"; or NULL */
const struct command_group *command_group(const char *name); /* or NULL */
bool command_is_in(const struct command *command, const char *group);

/* The command that may be meant by a name that is none.  False: nothing is like it. */
bool command_suggest(const char *name, char *text, size_t room);

#endif
