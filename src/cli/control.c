/* cli/control.c - one change to each of the ids that a command names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/control.h"

#include "base/mem.h"
#include "cli/ids.h"

#include <stdio.h>

/* A refusal among several, in the form that a batch of reports has. */
static void print_refused(const char *id, const struct answer *answer)
{
    cleanup(buf_donep) struct buf text = {0};
    struct json_out out = {.buf = &text};
    json_open(&out, '{');
    json_key(&out, "id");
    json_str(&out, id);
    json_key(&out, "code");
    json_str(&out, text_of(answer->tree, "code"));
    json_key(&out, "message");
    json_str(&out, text_of(answer->tree, "message"));
    json_close(&out, '}');
    fputs(buf_text(&text), stdout);
}

static void print_one(struct control *control, const char *id, const struct answer *answer,
                      bool is_done)
{
    if (args_wants(control->args, "json")) {
        if (!is_done && (!ids_are_many(control->args) || !answer->tree))
            return;
        fputs(control->count++ ? "," : "", stdout);
        if (is_done)
            fwrite(answer->body, 1, answer->len, stdout);
        else
            print_refused(id, answer);
    } else if (is_done && args_wants(control->args, "ids")) {
        puts(id);
    } else if (is_done) {
        printf("%s  %s\n", id, control->done ? control->done : text_of(answer->tree, "status"));
    }
}

static int control_one(const char *id, void *arg)
{
    struct control *control = arg;
    cleanup(buf_donep) struct buf target = {0};
    cleanup(answer_done) struct answer answer = {0};
    buf_str(&target, control->path);
    target_path(&target, id);
    buf_str(&target, control->suffix);
    int exit_code =
        call(control->engine, control->method, buf_text(&target), control->body, &answer);
    print_one(control, id, &answer, exit_code == EXIT_DONE);
    return exit_code;
}

int control_run(const struct args *args, struct control *control)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;

    control->args = args;
    control->engine = engine;
    bool is_json = args_wants(args, "json");
    bool is_list = is_json && ids_are_many(args);
    fputs(is_list ? "{\"items\":[" : "", stdout);
    exit_code = ids_each(args, control_one, control);
    fputs(is_list ? "],\"next\":null}" : "", stdout);
    fputs(is_list || (is_json && control->count) ? "\n" : "", stdout);
    return exit_code;
}
