/* cli/files.c - cairn validate, cairn deploy, cairn graph: workflow files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/call.h"
#include "cli/input.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *name_of(const char *file)
{
    return strcmp(file, "-") == 0 ? "(standard input)" : file;
}

/* What a file's check has found: flaws at places, or one of the file as a whole. */
struct checked {
    cairn_page *flaws; /* NULL: only `whole` */
    cairn_flaw whole;
};

static void checked_done(struct checked *checked)
{
    cairn_page_free(checked->flaws);
}

static size_t flaw_count(const struct checked *checked)
{
    return checked->flaws ? cairn_page_count(checked->flaws) : 1;
}

static const cairn_flaw *flaw_at(const struct checked *checked, size_t index)
{
    return checked->flaws ? cairn_page_flaw(checked->flaws, index) : &checked->whole;
}

static int check_file(const char *file, const struct buf *text, struct checked *ret_checked)
{
    cairn_error error = {.message = "the file has a NUL byte: it is no text"};
    cairn_code code = CAIRN_E_BAD_INPUT;
    if (strlen(buf_text(text)) == text->len)
        code =
            cairn_workflow_validate(name_of(file), buf_text(text), &ret_checked->flaws, &error);
    snprintf(ret_checked->whole.message, sizeof ret_checked->whole.message, "%s",
             error.message);
    return code ? EXIT_NO : EXIT_DONE;
}

static void say_flaws(const char *file, const struct checked *checked)
{
    for (size_t i = 0; i < flaw_count(checked); i++) {
        const cairn_flaw *flaw = flaw_at(checked, i);
        cleanup(buf_donep) struct buf clean = {0};
        buf_clean(&clean, flaw->message, strlen(flaw->message));
        if (flaw->line)
            fprintf(stderr, "%s:%d:%d: %s\n", name_of(file), flaw->line, flaw->column,
                    buf_text(&clean));
        else
            fprintf(stderr, "%s: %s\n", name_of(file), buf_text(&clean));
    }
}

static void print_checked(const char *file, const struct checked *checked)
{
    json_t *flaws = json_array();
    for (size_t i = 0; i < flaw_count(checked); i++) {
        const cairn_flaw *flaw = flaw_at(checked, i);
        json_array_append_new(flaws, json_pack("{s:i, s:i, s:s}", "line", flaw->line, "column",
                                               flaw->column, "message", flaw->message));
    }
    json_t *all = json_pack("{s:s, s:o}", "file", name_of(file), "flaws", flaws);
    json_dumpf(all, stdout, JSON_COMPACT);
    json_decref(all);
}

int run_validate(const struct args *args)
{
    int whole = EXIT_DONE;
    bool is_json = args_wants(args, "json");
    fputs(is_json ? "{\"items\":[" : "", stdout);
    for (size_t i = 0; i < args->operand_count; i++) {
        cleanup(buf_donep) struct buf text = {0};
        cleanup(checked_done) struct checked checked = {0};
        const char *file = args->operands[i];
        if (!file_read(file, &text)) {
            whole = EXIT_USAGE;
            break;
        }
        int exit_code = check_file(file, &text, &checked);
        if (exit_code)
            whole = exit_code;
        fputs(is_json && i ? "," : "", stdout);
        if (is_json)
            print_checked(file, &checked);
        else if (exit_code)
            say_flaws(file, &checked);
        else
            printf("%s: ok\n", name_of(file));
    }
    fputs(is_json ? "]}\n" : "", stdout);
    return whole;
}

/* All are read and checked before the first is deployed. */
static int read_all(const struct args *args, struct buf *texts)
{
    int whole = EXIT_DONE;
    for (size_t i = 0; i < args->operand_count && whole != EXIT_USAGE; i++) {
        cleanup(checked_done) struct checked checked = {0};
        if (!file_read(args->operands[i], &texts[i])) {
            whole = EXIT_USAGE;
        } else if (check_file(args->operands[i], &texts[i], &checked)) {
            say_flaws(args->operands[i], &checked);
            whole = EXIT_NO;
        }
    }
    return whole;
}

static int deploy_one(const struct args *args, cairn_engine *engine, size_t index,
                      const struct buf *text)
{
    cleanup(buf_donep) struct buf target = {0};
    cleanup(answer_done) struct answer answer = {0};
    buf_str(&target, "/v1/workflows");
    buf_param(&target, "file", name_of(args->operands[index]));
    TRY(call(engine, "POST", buf_text(&target), buf_text(text), &answer));
    if (args_wants(args, "json")) {
        fputs(index ? "," : "", stdout);
        fwrite(answer.body, 1, answer.len, stdout);
        return EXIT_DONE;
    }
    bool is_existing = is_true(answer.tree, "existing");
    printf("%s version %lld  %s\n", text_of(answer.tree, "name"),
           (long long)int_of(answer.tree, "version"), is_existing ? "existing" : "deployed");
    return EXIT_DONE;
}

static int deploy_all(const struct args *args, const struct buf *texts)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    TRY(store_open_for(args, &engine));
    int exit_code = EXIT_DONE;
    bool is_list = args_wants(args, "json") && args->operand_count > 1;
    fputs(is_list ? "{\"items\":[" : "", stdout);
    for (size_t i = 0; i < args->operand_count && !exit_code; i++)
        exit_code = deploy_one(args, engine, i, &texts[i]);
    fputs(is_list ? "],\"next\":null}" : "", stdout);
    fputs(args_wants(args, "json") && (is_list || !exit_code) ? "\n" : "", stdout);
    return exit_code;
}

int run_deploy(const struct args *args)
{
    struct buf *texts = mem_zalloc(args->operand_count * sizeof *texts);
    if (!texts) {
        say_error("memory ran out");
        return EXIT_NO;
    }
    int exit_code = read_all(args, texts);
    if (!exit_code)
        exit_code = deploy_all(args, texts);
    for (size_t i = 0; i < args->operand_count; i++)
        buf_done(&texts[i]);
    mem_free(texts);
    return exit_code;
}

/* The text of a deployed workflow. */
static int read_deployed(const struct args *args, struct buf *ret_text)
{
    cairn_error error = {0};
    cairn_page *found = NULL;
    cleanup(store_closep) cairn_engine *engine = NULL;
    TRY(store_open_for(args, &engine));
    int32_t version = (int32_t)args_number(args, "version", 0);
    if (cairn_workflow_get(engine, args->operands[0], version, &found, &error))
        return say_failure(&error);
    buf_str(ret_text, cairn_page_workflow(found, 0)->content);
    cairn_page_free(found);
    return EXIT_DONE;
}

/* The operand is a file if there is such a file, unless --version is given. */
static int read_workflow(const struct args *args, struct buf *ret_text)
{
    const char *operand = args->operands[0];
    bool is_file =
        strcmp(operand, "-") == 0 || (!args_has(args, "version") && access(operand, F_OK) == 0);
    if (!is_file) {
        int code = read_deployed(args, ret_text);
        if (code == EXIT_NO && !args_has(args, "version"))
            say_more("nor is there a file of this name");
        return code;
    }
    return file_read(operand, ret_text) ? EXIT_DONE : EXIT_USAGE;
}

int run_graph(const struct args *args)
{
    cairn_error error = {0};
    char *drawing = NULL;
    cleanup(buf_donep) struct buf text = {0};
    TRY(read_workflow(args, &text));
    const char *form = args_text(args, "form");
    if (cairn_workflow_draw(args->operands[0], buf_text(&text), form ? form : "terminal",
                            &drawing, &error)) {
        say_failure(&error);
        return EXIT_NO;
    }
    fputs(drawing, stdout);
    cairn_text_free(drawing);
    return EXIT_DONE;
}
