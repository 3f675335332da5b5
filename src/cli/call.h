/* cli/call.h - calls the engine: every command but the worker speaks JSON, as HTTP does, so
 * that -o json prints exactly what a server would answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CALL_H
#define CLI_CALL_H

#include "base/buf.h"
#include "base/json.h"
#include "cairn.h"
#include "cli/args.h"

/* An answer.  A zeroed struct is none. */
struct answer {
    cairn_response *response;
    int status;
    const char *body; /* ends with a NUL */
    size_t len;
    json_t *tree;
};

/* Opens the store that --url or the environment names.  The answer is an exit code; if it is
 * not EXIT_DONE, an error was printed. */
int store_open_for(const struct args *args, cairn_engine **ret_engine);
int store_open_as(const struct args *args, cairn_open_options *options,
                  cairn_engine **ret_engine); /* with these options beside */

/* Takes what the options of commands that run an engine for long say; false: a value is wrong, and
 * an error was printed. */
bool tuning_read(const struct args *args, cairn_open_options *options);

/* Prints why a store could not be opened.  The answer is EXIT_STORE, or EXIT_USAGE if the URL is
 * not valid. */
int say_unopened(const char *url, const cairn_error *error);
void store_closep(cairn_engine **engine);

/* Sends a request; `body` NULL: none.  The answer is an exit code; an error is printed.
 * `ret_answer` is also filled in if the request was rejected. */
int call(cairn_engine *engine, const char *method, const char *target, const char *body,
         struct answer *ret_answer);

/* The same, but a request that is rejected is no error: ret_answer->status tells, and say_rejected()
 * prints it and answers the exit code. */
int call_unsaid(cairn_engine *engine, const char *method, const char *target, const char *body,
                struct answer *ret_answer);
int say_rejected(const struct answer *answer);
void answer_done(struct answer *answer);

/* The answer's body on standard output, and a newline. */
void print_body(const struct answer *answer);

/* The answer {"id", "existing"} of a command with --key. */
void print_created(const struct args *args, const struct answer *answer, bool may_change);

/* The items of a list as they stand in the answer, so that several answers make one document. */
void print_items(const struct answer *answer, bool *is_continued);
void print_ids(const json_t *items, const char *key); /* a line for each */

/* Appends a path such as "/v1/instances/{id}", with `first`, then the others, in place of each {}. */
void target_path(struct buf *target, const char *path, const char *first,
                 const char *const *others);

/* The bytes of a member of the outermost object, as they are in the body; NULL: not there. */
const char *body_member(const struct answer *answer, const char *key, size_t *ret_len);

/* Members of a tree; "" or 0 when they are null or absent. */
const char *text_of(const json_t *object, const char *key);
int64_t int_of(const json_t *object, const char *key);
int64_t time_of(const json_t *object, const char *key); /* in us; 0: not set */
bool is_true(const json_t *object, const char *key);
bool is_word(const json_t *object, const char *key, const char *word); /* this string */

/* Whether an instance or a job with this status has ended. */
bool status_is_final(const char *status);

/* The time that --in means, by the store's clock; not touched if it was not given. */
int read_delay(const struct args *args, cairn_engine *engine, int64_t *ret_us);

void pause_ms(int ms);

void buf_donep(struct buf *buf);

#endif
