/* cli/route.c - calls a route for a command, and prints the answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/route.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cli/input.h"
#include "cli/say.h"
#include "cli/short_id.h"

#include <string.h>

/* One run of a command. */
struct calling {
    const struct args *args;
    const struct route *route;
    cairn_engine *engine;
    const char *body;
    int64_t now_us; /* the store's; only if a table is printed */
    size_t count;   /* objects printed so far */
};

/* ---- the request ------------------------------------------------------------------------ */

static size_t path_operands(const struct route *route)
{
    size_t count = 0;
    for (const char *at = route->path; (at = strchr(at, '{')); at++)
        count++;
    return count;
}

static void write_path(const struct calling *calling, const char *id, struct buf *target)
{
    target_path(target, calling->route->path, id, calling->args->operands + 1);
}

bool takes_option(const struct args *args, const char *name)
{
    const struct option *option;
    for (size_t i = 0; (option = command_option(args->command, i)); i++)
        if (strcmp(option->name, name) == 0)
            return true;
    return false;
}

/* Whether the list has pages; one that has none is printed whole. */
static bool is_paged(const struct args *args)
{
    return takes_option(args, "cursor");
}

/* What an option says in a query; NULL: it was not given. */
static const char *param_of(const struct option *option, const struct given *given,
                            char time[INSTANT_TEXT])
{
    if (option->kind == OPTION_FLAG && given->text)
        return option->is_off ? "false" : "true";
    if (option->kind != OPTION_MOMENT || !given->text)
        return given->text;
    instant_format(given->number, time);
    return time;
}

void write_tags(const struct args *args, struct json_out *out)
{
    json_open(out, '{');
    for (size_t i = 0; i < args->many_count; i++) {
        cleanup(buf_donep) struct buf name = {0};
        const char *equals = strchr(args->many[i], '=');
        buf_add(&name, args->many[i], (size_t)(equals - args->many[i]));
        json_str(json_key(out, buf_text(&name)), equals + 1);
    }
    json_close(out, '}');
}

const char *tag_text(const char *given, struct buf *text)
{
    const char *equals = strchr(given, '=');
    buf_printf(text, "%.*s:%s", (int)(equals - given), given, equals + 1);
    return buf_text(text);
}

static void write_tag_params(const struct args *args, const char *field, struct buf *target)
{
    for (size_t i = 0; i < args->many_count; i++) {
        cleanup(buf_donep) struct buf text = {0};
        buf_param(target, field, tag_text(args->many[i], &text));
    }
}

void write_params(const struct args *args, const char *without, struct buf *target)
{
    const struct option *option;
    char time[INSTANT_TEXT];
    for (size_t i = 0; (option = command_option(args->command, i)); i++) {
        const struct given *given = &args->options[i];
        if (option->field && without && strcmp(option->field, without) == 0)
            continue;
        if (option->field && option->kind == OPTION_TAG)
            write_tag_params(args, option->field, target);
        else if (option->field)
            buf_param(target, option->field, param_of(option, given, time));
    }
}

/* A page of a list; `cursor` NULL: the first. */
static void write_query(const struct calling *calling, const char *cursor, struct buf *target)
{
    const struct args *args = calling->args;
    write_path(calling, args->operand_count ? args->operands[0] : NULL, target);
    write_params(args, NULL, target);
    if (takes_option(args, "limit"))
        buf_param(target, "limit",
                  is_paged(args) && args_has(args, "all") ? "1000" : args_text(args, "limit"));
    buf_param(target, "cursor", cursor);
}

/* JSON goes into the body as it is, so it must be JSON before it gets there. */
static int write_json(const char *name, const char *given, struct json_out *out)
{
    cairn_error error = {0};
    cleanup(buf_donep) struct buf text = {0};
    if (!source_read(given, &text))
        return EXIT_USAGE;
    if (json_check(buf_text(&text), text.len, name, &error)) {
        say_failure(&error);
        return EXIT_USAGE;
    }
    json_raw(out, buf_text(&text));
    return EXIT_DONE;
}

/* A body with such a text is no JSON; here its name is known. */
static int write_text(const char *dashes, const char *name, const char *text,
                      struct json_out *out)
{
    if (!utf8_is_valid(text, strlen(text))) {
        say_error("%s%s is not UTF-8", dashes, name);
        return EXIT_USAGE;
    }
    json_str(out, text);
    return EXIT_DONE;
}

static int write_value(const struct option *option, const struct given *given,
                       struct json_out *out)
{
    switch (option->kind) {
    case OPTION_FLAG:
        json_bool(out, !option->is_off);
        return EXIT_DONE;
    case OPTION_INT:
    case OPTION_DURATION:
        json_int(out, given->number);
        return EXIT_DONE;
    case OPTION_INSTANT:
        json_time(out, given->number);
        return EXIT_DONE;
    case OPTION_JSON:
        return write_json(option->name, given->text, out);
    case OPTION_RATE:
        write_rate(given->text, out);
        return EXIT_DONE;
    default:
        return write_text("--", option->name, given->text, out);
    }
}

int write_members(const struct args *args, struct json_out *out)
{
    const struct route *route = &args->command->route;
    const struct option *option;
    int exit_code = EXIT_DONE;
    if (route->field)
        exit_code = write_text("the ", route->field, args->operands[path_operands(route)],
                               json_key(out, route->field));
    for (size_t i = 0; !exit_code && (option = command_option(args->command, i)); i++) {
        if (!option->field || !args->options[i].text)
            continue;
        json_key(out, option->field);
        if (option->kind == OPTION_TAG)
            write_tags(args, out);
        else
            exit_code = write_value(option, &args->options[i], out);
    }
    return exit_code;
}

static int write_body(const struct args *args, struct buf *body)
{
    const char *fixed = args->command->route.fixed;
    struct json_out out = {.buf = body};
    json_open(&out, '{');
    if (fixed)
        json_raw(&out, fixed);
    int exit_code = write_members(args, &out);
    json_close(&out, '}');
    return exit_code;
}

/* ---- objects ---------------------------------------------------------------------------- */

void print_rejected(const char *id, const json_t *error)
{
    json_t *rejected = json_pack("{s:s, s:s, s:s}", "id", id, "code", text_of(error, "code"),
                                 "message", text_of(error, "message"));
    json_dumpf(rejected, stdout, JSON_COMPACT);
    json_decref(rejected);
}

/* Objects that are only read are left out if they are not found. */
static void print_json(struct calling *calling, const char *id, const struct answer *answer,
                       bool is_done)
{
    bool is_read = strcmp(calling->route->method, "GET") == 0;
    bool is_many = command_takes_many(calling->args->command) && ids_are_many(calling->args);
    if (!is_done && (!is_many || is_read || !answer->tree))
        return;
    fputs(calling->count++ ? "," : "", stdout);
    if (is_done)
        fwrite(answer->body, 1, answer->len, stdout);
    else
        print_rejected(id, answer->tree);
}

static const struct column status_columns[] = {{"STATUS", .key = "status"}, {0}};

static void print_answer(struct calling *calling, const char *id, const struct answer *answer)
{
    const struct route *route = calling->route;
    struct item item = {.tree = answer->tree, .answer = answer, .now_us = calling->now_us};
    bool is_object = route->prints == PRINT_OBJECT;
    bool is_next = calling->count++ > 0;
    if (args_wants(calling->args, "ids")) {
        puts(is_object ? text_of(answer->tree, "id") : id_shown(id));
    } else if (is_object) {
        fputs(is_next ? "\n" : "", stdout);
        print_object(route->columns, &item);
    } else {
        print_parts(route->columns ? route->columns : status_columns, &item, id_shown(id));
    }
}

static int call_one(const char *id, void *arg)
{
    struct calling *calling = arg;
    cleanup(buf_donep) struct buf target = {0};
    cleanup(answer_done) struct answer answer = {0};
    write_path(calling, id, &target);
    if (strcmp(calling->route->method, "GET") == 0)
        write_params(calling->args, NULL, &target);
    int exit_code = call(calling->engine, calling->route->method, buf_text(&target),
                         calling->body, &answer);
    if (args_wants(calling->args, "json"))
        print_json(calling, id, &answer, exit_code == EXIT_DONE);
    else if (!exit_code)
        print_answer(calling, id, &answer);
    return exit_code;
}

static int run_objects(struct calling *calling)
{
    const struct args *args = calling->args;
    bool is_json = args_wants(args, "json"), is_many = command_takes_many(args->command);
    bool is_list = is_json && is_many && ids_are_many(args);
    fputs(is_list ? "{\"items\":[" : "", stdout);
    int exit_code =
        is_many ? ids_each(args, call_one, calling) : call_one(args->operands[0], calling);
    fputs(is_list ? "],\"next\":null}" : "", stdout);
    fputs(is_list || (is_json && calling->count) ? "\n" : "", stdout);
    return exit_code;
}

/* ---- lists ------------------------------------------------------------------------------ */

static const struct column *columns_of(const struct calling *calling)
{
    const struct route *route = calling->route;
    bool is_other = route->other_if && args_has(calling->args, route->other_if);
    return is_other ? route->other_columns : route->columns;
}

static void print_lines(const struct calling *calling, const json_t *items)
{
    const char *id_key = calling->route->id_key ? calling->route->id_key : "id";
    size_t i;
    json_t *tree;
    if (args_wants(calling->args, "ids")) {
        print_ids(items, id_key);
        return;
    }
    json_array_foreach(items, i, tree)
    {
        struct item item = {.tree = tree, .now_us = calling->now_us};
        print_parts(calling->route->columns, &item, NULL);
    }
    fflush(stdout);
}

static void print_page(const struct calling *calling, const struct answer *answer,
                       bool is_first, bool *is_continued)
{
    const json_t *items = json_object_get(answer->tree, "items");
    if (args_wants(calling->args, "json"))
        print_items(answer, is_continued);
    else if (args_wants(calling->args, "ids") || calling->route->prints == PRINT_FEED)
        print_lines(calling, items);
    else
        print_rows(columns_of(calling), items, calling->now_us, is_first);
}

/* What follows the last page that was printed. */
static void print_end(const struct args *args, const char *next)
{
    if (args_wants(args, "json")) {
        json_t *cursor = *next ? json_string(next) : json_null();
        fputs("],\"next\":", stdout);
        json_dumpf(cursor, stdout, JSON_ENCODE_ANY);
        puts("}");
        json_decref(cursor);
    } else if (*next) {
        fprintf(stderr, "There are more: add --cursor %s or --all\n", next);
    }
}

/* A search that was cut short may have found nothing yet: an empty page that has a next one is followed. */
static int run_list(struct calling *calling)
{
    char cursor[512];
    const char *given = is_paged(calling->args) ? args_text(calling->args, "cursor") : NULL;
    bool is_continued = false, has_head = true, is_json = args_wants(calling->args, "json");
    for (bool is_first = true;; is_first = false) {
        cleanup(buf_donep) struct buf target = {0};
        cleanup(answer_done) struct answer answer = {0};
        write_query(calling, is_first ? given : cursor, &target);
        TRY(call(calling->engine, "GET", buf_text(&target), NULL, &answer));
        if (is_first && is_json)
            fputs("{\"items\":[", stdout);
        snprintf(cursor, sizeof cursor, "%s", text_of(answer.tree, "next"));
        bool is_empty = json_array_size(json_object_get(answer.tree, "items")) == 0;
        if (is_empty && *cursor)
            continue;
        print_page(calling, &answer, has_head, &is_continued);
        has_head = false;
        if (!*cursor || !args_has(calling->args, "all"))
            break;
    }
    print_end(calling->args, cursor);
    return EXIT_DONE;
}

/* ---- following -------------------------------------------------------------------------- */

/* Whether the job or instance of the feed has ended: its own path is that of the feed without the
 * last part. */
static int has_ended(const struct calling *calling, bool *ret_ended)
{
    cleanup(buf_donep) struct buf target = {0};
    cleanup(answer_done) struct answer answer = {0};
    const char *path = calling->route->path;
    buf_add(&target, path, (size_t)(strchr(path, '{') - path));
    buf_url(&target, calling->args->operands[0]);
    int exit_code = call(calling->engine, "GET", buf_text(&target), NULL, &answer);
    *ret_ended = status_is_final(text_of(answer.tree, "status"));
    return exit_code;
}

/* Prints all entries after the cursor, and moves it.  The answer of the last page names no cursor,
 * but the id of the last entry is one.  A page of a search that was cut short may be empty. */
static int print_new(const struct calling *calling, char *cursor, size_t room)
{
    for (bool is_more = true; is_more;) {
        cleanup(buf_donep) struct buf target = {0};
        cleanup(answer_done) struct answer answer = {0};
        write_query(calling, *cursor ? cursor : NULL, &target);
        TRY(call(calling->engine, "GET", buf_text(&target), NULL, &answer));
        const json_t *items = json_object_get(answer.tree, "items");
        const char *next = text_of(answer.tree, "next");
        size_t count = json_array_size(items);
        print_lines(calling, items);
        is_more = *next != '\0';
        if (is_more || count)
            snprintf(cursor, room, "%s",
                     is_more ? next : text_of(json_array_get(items, count - 1), "id"));
    }
    return EXIT_DONE;
}

/* Prints entries until the job or instance has ended.  Its status is read before its entries, so
 * that the last entry is not missed. */
static int follow(const struct calling *calling)
{
    const char *given = args_text(calling->args, "cursor");
    char cursor[64] = "";
    snprintf(cursor, sizeof cursor, "%s", given ? given : "");
    for (bool is_ended = false;;) {
        int exit_code = has_ended(calling, &is_ended);
        if (!exit_code)
            exit_code = print_new(calling, cursor, sizeof cursor);
        if (exit_code || is_ended)
            return exit_code;
        pause_ms(1000);
    }
}

/* ---- the command ------------------------------------------------------------------------ */

/* Standard input can be read only once. */
static bool is_input_free(const struct args *args)
{
    const struct option *option;
    bool has_ids = false;
    for (size_t i = 0; i < args->operand_count; i++)
        has_ids |= command_takes_many(args->command) && strcmp(args->operands[i], "-") == 0;
    for (size_t i = 0; has_ids && (option = command_option(args->command, i)); i++) {
        const char *given = args->options[i].text;
        if (option->kind == OPTION_JSON && given && strcmp(given, "-") == 0) {
            say_error("standard input cannot be both the ids and the %s", option->name);
            return false;
        }
    }
    return true;
}

static int run_calling(struct calling *calling)
{
    const struct args *args = calling->args;
    enum printing prints = calling->route->prints;
    if ((prints == PRINT_OBJECT || prints == PRINT_LIST) && args_wants(args, "table"))
        cairn_clock_now(calling->engine, &calling->now_us, NULL);
    if (prints == PRINT_FEED && args_has(args, "follow"))
        return follow(calling);
    return prints == PRINT_LIST || prints == PRINT_FEED ? run_list(calling)
                                                        : run_objects(calling);
}

int route_run(const struct args *args)
{
    const struct route *route = &args->command->route;
    cleanup(buf_donep) struct buf body = {0};
    if (route->prints == PRINT_FEED && args_has(args, "follow") && args_wants(args, "json")) {
        say_error("--follow cannot print one JSON document: leave one of them out");
        return EXIT_USAGE;
    }
    if (!is_input_free(args))
        return EXIT_USAGE;
    TRY(strcmp(route->method, "GET") ? write_body(args, &body) : EXIT_DONE);
    cleanup(store_closep) cairn_engine *engine = NULL;
    TRY(store_open_for(args, &engine));
    struct calling calling = {.args = args,
                              .route = route,
                              .engine = engine,
                              .body = body.len > strlen("{}") ? buf_text(&body) : NULL};
    return run_calling(&calling);
}
