/* cli/bulk.c - cairn bulk: one action on all that a filter matches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/input.h"
#include "cli/route.h"
#include "cli/say.h"
#include "cli/short_id.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* How often it is asked how far it is. */
enum { LOOK_MS = 200 };

/* An option and the member of the filter that carries it. */
static const struct {
    const char *option, *member;
} filters[] = {
    {"status", "status"}, {"workflow", "workflow"}, {"type", "type"},
    {"key", "key"},       {"has", "has"},           {"group", "group"},
    {"step", "step"},     {"parent", "parent"},     {"stand", "stand"},
};

static void write_filter(const struct args *args, struct json_out *out)
{
    json_open(json_key(out, "filter"), '{');
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (args_has(args, filters[i].option))
            json_str(json_key(out, filters[i].member), args_text(args, filters[i].option));
    if (args->many_count) {
        json_open(json_key(out, "tag"), '[');
        for (size_t i = 0; i < args->many_count; i++) {
            cleanup(buf_donep) struct buf text = {0};
            json_str(out, tag_text(args->many[i], &text));
        }
        json_close(out, ']');
    }
    if (args_has(args, "version"))
        json_int(json_key(out, "version"), args_number(args, "version", 0));
    if (args_has(args, "since"))
        json_time(json_key(out, "created_from"), args_number(args, "since", 0));
    if (args_has(args, "until"))
        json_time(json_key(out, "created_to"), args_number(args, "until", 0));
    json_close(out, '}');
}

/* Dead letters have numbers, which are given as they are. */
static int write_ids(const struct args *args, cairn_engine *engine, struct json_out *out)
{
    const char *on = args_has(args, "on") ? args_text(args, "on") : "instances";
    bool is_number = strcmp(on, "dlq") == 0;
    char list[24], id[ID_ROOM];
    snprintf(list, sizeof list, "/v1/%s", on);
    json_open(json_key(out, "ids"), '[');
    for (size_t i = 1; i < args->operand_count; i++) {
        if (!is_number)
            TRY(id_complete(engine, list, args->operands[i], id));
        json_str(out, is_number ? args->operands[i] : id);
    }
    json_close(out, ']');
    return EXIT_DONE;
}

/* The JSON of an option, as a member of args. */
static int write_input(const struct args *args, const char *option, const char *member,
                       struct json_out *out)
{
    cleanup(buf_donep) struct buf text = {0};
    cairn_error error = {0};
    if (!args_has(args, option))
        return EXIT_DONE;
    if (!source_read(args_text(args, option), &text))
        return EXIT_USAGE;
    if (json_check(buf_text(&text), text.len, option, &error)) {
        say_failure(&error);
        return EXIT_USAGE;
    }
    json_open(json_key(out, "args"), '{');
    json_raw(json_key(out, member), buf_text(&text));
    json_close(out, '}');
    return EXIT_DONE;
}

static bool has_filter(const struct args *args)
{
    bool has_any = args->many_count > 0 || args_has(args, "version") ||
                   args_has(args, "since") || args_has(args, "until");
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        has_any |= args_has(args, filters[i].option);
    return has_any;
}

static bool has_ids(const struct args *args)
{
    return args->operand_count > 1;
}

static int check_choice(const struct args *args)
{
    if (has_filter(args) + args_has(args, "all") + has_ids(args) == 1)
        return EXIT_DONE;
    say_error("say which: by options such as --status failed, by ids, or by --all");
    return EXIT_USAGE;
}

static int write_body(const struct args *args, cairn_engine *engine, struct json_out *out)
{
    json_open(out, '{');
    json_str(json_key(out, "on"), args_has(args, "on") ? args_text(args, "on") : "instances");
    json_str(json_key(out, "action"), args->operands[0]);
    if (has_ids(args))
        TRY(write_ids(args, engine, out));
    else
        write_filter(args, out);
    TRY(write_input(args, "input", "input", out));
    TRY(write_input(args, "input-patch", "input_patch", out));
    if (args_has(args, "by"))
        json_str(json_key(out, "by"), args_text(args, "by"));
    if (args_has(args, "reason"))
        json_str(json_key(out, "reason"), args_text(args, "reason"));
    if (args_has(args, "limit"))
        json_int(json_key(out, "limit"), args_number(args, "limit", 0));
    if (args_has(args, "per-second"))
        json_int(json_key(out, "per_second"), args_number(args, "per-second", 0));
    json_bool(json_key(out, "dry_run"), args_has(args, "dry-run"));
    json_close(out, '}');
    return EXIT_DONE;
}

/* ---- how far it is ------------------------------------------------------------------------- */

static int64_t count_skipped(const json_t *tree)
{
    int64_t total = 0;
    const char *code;
    json_t *n;
    json_object_foreach(json_object_get(tree, "skipped"), code, n)
    {
        total += json_integer_value(n);
    }
    return total;
}

static void print_end(const json_t *tree)
{
    const char *code;
    json_t *n;
    printf("%s: %" PRId64 " done, %" PRId64 " skipped", text_of(tree, "status"),
           int_of(tree, "done"), count_skipped(tree));
    json_object_foreach(json_object_get(tree, "skipped"), code, n)
    {
        printf(", %s %" JSON_INTEGER_FORMAT, code, json_integer_value(n));
    }
    fputs("\n", stdout);
}

static void print_matched(const json_t *tree)
{
    const json_t *matched = json_object_get(tree, "matched");
    size_t i;
    json_t *id;
    printf("%" PRId64 "%s match\n", int_of(matched, "n"),
           json_is_true(json_object_get(matched, "is_more")) ? " or more" : "");
    json_array_foreach(json_object_get(tree, "sample"), i, id)
    {
        printf("%s\n", json_string_value(id));
    }
}

/* "[=====     ] 1200 of about 5000, 3 skipped" */
static void show_progress(const json_t *tree)
{
    char bar[BAR_TEXT];
    int64_t done = int_of(tree, "done"), of = int_of(tree, "expected");
    int64_t skipped = count_skipped(tree);
    say_progress("[%s] %" PRId64 " of about %" PRId64 ", %" PRId64 " skipped",
                 progress_bar(bar, done + skipped, of), done, of, skipped);
}

/* "running: 1200 done, 3 skipped, wrong_state 3" */
static void print_it(const struct args *args, const struct answer *answer)
{
    if (args_wants(args, "json"))
        print_body(answer);
    else
        print_end(answer->tree);
}

static int follow(const struct args *args, cairn_engine *engine, const char *id)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
    char target[96];
    snprintf(target, sizeof target, "/v1/bulk/%.64s", id);
    for (;;) {
        cleanup(answer_done) struct answer answer = {0};
        TRY(call(engine, "GET", target, NULL, &answer));
        bool is_running = strcmp(text_of(answer.tree, "status"), "running") == 0;
        show_progress(answer.tree);
        if (!is_running) {
            end_progress();
            print_it(args, &answer);
            return EXIT_DONE;
        }
        nanosleep(&pause, NULL);
    }
}

/* cairn bulk show ID, cairn bulk stop ID: one that was begun before. */
static int run_known(const struct args *args, const char *method, const char *path)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    cleanup(answer_done) struct answer answer = {0};
    cleanup(buf_donep) struct buf target = {0};
    if (args->operand_count != 2 || has_filter(args) || args_has(args, "all")) {
        say_error("%s takes the id of one bulk action", args->operands[0]);
        return EXIT_USAGE;
    }
    TRY(store_open_for(args, &engine));
    target_path(&target, path, args->operands[1], NULL);
    TRY(call(engine, method, buf_text(&target), NULL, &answer));
    print_it(args, &answer);
    return EXIT_DONE;
}

int run_bulk(const struct args *args)
{
    if (strcmp(args->operands[0], "show") == 0)
        return run_known(args, "GET", "/v1/bulk/{}");
    if (strcmp(args->operands[0], "stop") == 0)
        return run_known(args, "POST", "/v1/bulk/{}/stop");
    cleanup(buf_donep) struct buf body = {0};
    cleanup(store_closep) cairn_engine *engine = NULL;
    cleanup(answer_done) struct answer answer = {0};
    struct json_out out = {.buf = &body};
    TRY(check_choice(args));
    TRY(store_open_for(args, &engine));
    TRY(write_body(args, engine, &out));
    TRY(call(engine, "POST", "/v1/bulk", buf_text(&body), &answer));
    bool is_over = args_has(args, "dry-run") || args_has(args, "no-wait");
    if (!is_over)
        return follow(args, engine, text_of(answer.tree, "id"));
    if (args_wants(args, "json"))
        print_body(&answer);
    else if (args_has(args, "dry-run"))
        print_matched(answer.tree);
    else
        puts(text_of(answer.tree, "id"));
    return EXIT_DONE;
}
