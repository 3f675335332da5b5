/* cli/why.c - cairn why: why instances and jobs have not ended, and the commands that help.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/why.h"

#include "base/mem.h"
#include "cli/input.h"
#include "cli/say.h"

#include <string.h>

/* {"items": [...]} of an instance. */
static int read_instance(cairn_engine *engine, const char *id, struct answer *ret_answer)
{
    cleanup(buf_donep) struct buf target = {0};
    target_path(&target, "/v1/instances/{}/why", id, NULL);
    return call_unsaid(engine, "GET", buf_text(&target), NULL, ret_answer);
}

static int read_job(cairn_engine *engine, const char *id, struct answer *ret_answer)
{
    cleanup(buf_donep) struct buf target = {0};
    target_path(&target, "/v1/jobs/{}", id, NULL);
    return call_unsaid(engine, "GET", buf_text(&target), NULL, ret_answer);
}

void why_done(struct why *why)
{
    answer_done(&why->answer);
    json_decref(why->items);
    buf_done(&why->json);
}

static int take(struct why *why, bool is_job)
{
    const char *member = is_job ? "why" : "items";
    size_t len = 0;
    const char *text = body_member(&why->answer, member, &len);
    buf_printf(&why->json, "{\"items\":%s%.*s%s}", is_job ? "[" : "", (int)len,
               text ? text : "", is_job ? "]" : "");
    json_t *found = json_object_get(why->answer.tree, member);
    why->items = is_job ? json_pack("[O]", found) : json_incref(found);
    return EXIT_DONE;
}

int why_read(cairn_engine *engine, const char *id, struct why *ret_why)
{
    struct answer *answer = &ret_why->answer;
    TRY(read_instance(engine, id, answer));
    bool is_job = answer->status == 404;
    if (is_job) {
        answer_done(answer);
        *answer = (struct answer){0};
        TRY(read_job(engine, id, answer));
    }
    if (answer->status == 404) {
        say_error("there is no instance or job %s", id);
        if (*text_of(answer->tree, "hint"))
            say_more("%s", text_of(answer->tree, "hint"));
        return EXIT_NO;
    }
    return answer->status >= 400 ? say_rejected(answer) : take(ret_why, is_job);
}

void why_write(const struct why *why, const char *indent, struct buf *text)
{
    size_t i;
    json_t *item;
    json_array_foreach(why->items, i, item)
    {
        cleanup(buf_donep) struct buf hint = {0};
        const char *step = text_of(item, "step");
        struct item shown = {.tree = json_pack("{s:O}", "why", item)};
        buf_printf(text, "%s%s", step, *step ? ": " : "");
        buf_clean(text, text_of(item, "text"), strlen(text_of(item, "text")));
        buf_char(text, '\n');
        cell_hint(&shown, "why", &hint);
        if (hint.len) {
            buf_str(text, indent);
            buf_clean(text, buf_text(&hint), hint.len);
            buf_char(text, '\n');
        }
        json_decref((json_t *)shown.tree);
    }
}

void why_fill(const json_t *why, struct buf *text)
{
    const json_t *values = json_object_get(why, "values");
    for (const char *at = text_of(why, "template"); *at;) {
        size_t plain = strcspn(at, "{"), len = strcspn(at + plain, "}");
        cleanup(buf_donep) struct buf name = {0};
        buf_add(text, at, plain);
        at += plain;
        if (len < 2 || !at[len])
            return;
        buf_add(&name, at + 1, len - 1);
        const json_t *value = json_object_get(values, buf_text(&name));
        if (json_is_integer(value))
            buf_printf(text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        else
            buf_str(text, text_of(values, buf_text(&name)));
        at += len + 1;
    }
}

struct explaining {
    const struct args *args;
    cairn_engine *engine;
    size_t count;
};

static int explain(const char *id, void *arg)
{
    struct explaining *explaining = arg;
    cleanup(why_done) struct why why = {0};
    cleanup(buf_donep) struct buf text = {0};
    TRY(why_read(explaining->engine, id, &why));
    if (args_wants(explaining->args, "json")) {
        puts(buf_text(&why.json));
        return EXIT_DONE;
    }
    if (ids_are_many(explaining->args))
        printf("%s%s\n", explaining->count++ ? "\n" : "", id);
    why_write(&why, "    ", &text);
    fputs(buf_text(&text), stdout);
    return EXIT_DONE;
}

int run_why(const struct args *args)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    TRY(store_open_for(args, &engine));
    struct explaining explaining = {.args = args, .engine = engine};
    return ids_each(args, explain, &explaining);
}
