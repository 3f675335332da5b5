/* core/template.c - JSON whose strings hold expressions.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One walk over the template does everything: checking and finding the steps need no values, making
 * does.
 */
#include "core/template.h"

#include "base/error.h"
#include "base/mem.h"
#include "core/condition_inside.h"

#include <stdio.h>
#include <string.h>

enum { PLACE_ROOM = 100 };

/* Where in the template: "items[2].name". */
struct place {
    char text[PLACE_ROOM];
    size_t len;
};

struct walk {
    struct evaluation evaluation;
    struct buf *buf;                /* NULL: nothing is made */
    size_t max;                     /* bytes of what is made */
    struct expression_steps *steps; /* NULL: not wanted */
    struct arena *steps_arena;
    struct place place;
};

/* ---- strings -------------------------------------------------------------------------------- */

/* A text, cut into what lies between actions, and actions. */
struct piece {
    const char *text; /* NULL: an action */
    size_t len;
    struct node *tree;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static cairn_code parse_action(struct walk *walk, struct scanner *scanner, size_t begin,
                               struct piece *ret_piece, bool *ret_is_trimming)
{
    TRY(action_parse(scanner, &ret_piece->tree, ret_is_trimming));
    if (scanner->at - begin > CONDITION_BYTES_MAX)
        return fail(scanner->reterr, CAIRN_E_BAD_INPUT,
                    "the expression is longer than %d bytes", CONDITION_BYTES_MAX);
    if (walk->steps)
        TRY(node_steps(ret_piece->tree, walk->steps_arena, walk->steps, scanner->reterr));
    return CAIRN_OK;
}

/* The text up to the next action, without the white space that trim markers drop. */
static void cut_text(struct scanner *scanner, bool is_trimmed, struct piece *ret_piece)
{
    size_t begin = scanner->at;
    while (is_trimmed && begin < scanner->len && is_space(scanner->text[begin]))
        begin++;
    scanner->at = begin;
    while (scanner->at < scanner->len &&
           !(scanner->text[scanner->at] == '{' && scanner->at + 1 < scanner->len &&
             scanner->text[scanner->at + 1] == '{'))
        scanner->at++;
    *ret_piece = (struct piece){.text = scanner->text + begin, .len = scanner->at - begin};
}

typedef LIST(struct piece) piece_list;

static cairn_code cut(struct walk *walk, const char *text, size_t len, piece_list *pieces)
{
    struct evaluation *evaluation = &walk->evaluation;
    struct scanner scanner = {
        .is_amid_text = true, .arena = evaluation->arena, .reterr = evaluation->reterr};
    bool is_trimmed = false, is_trimming;
    TRY(scan_open(&scanner, text, len));
    while (scanner.at < len) {
        struct piece before, action = {0};
        cut_text(&scanner, is_trimmed, &before);
        is_trimmed = false;
        size_t begin = scanner.at;
        bool has_action = scan_action(&scanner, &is_trimming);
        while (has_action && is_trimming && before.len > 0 &&
               is_space(before.text[before.len - 1]))
            before.len--;
        struct piece *piece = before.len ? list_add(evaluation->arena, pieces) : &before;
        NEED(piece, evaluation->reterr);
        *piece = before;
        if (!has_action)
            continue;
        TRY(parse_action(walk, &scanner, begin, &action, &is_trimmed));
        piece = list_add(evaluation->arena, pieces);
        NEED(piece, evaluation->reterr);
        *piece = action;
    }
    return CAIRN_OK;
}

/* Several pieces, or text: a string. */
static cairn_code make_string(struct walk *walk, const piece_list *pieces)
{
    cleanup(buf_done) struct buf text = {0};
    struct printing printing = {
        .evaluation = &walk->evaluation, .buf = &text, .max = walk->max, .is_sorted = true};
    for (size_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->items[i];
        struct value value = {.kind = VALUE_TEXT, .text = piece->text, .len = piece->len};
        if (piece->tree)
            TRY(evaluate(&walk->evaluation, piece->tree, &value));
        TRY(print_text(&printing, &value));
    }
    TRY(evaluation_charge(&walk->evaluation, text.len));
    json_strn(&(struct json_out){.buf = walk->buf}, buf_text(&text), text.len);
    return CAIRN_OK;
}

static cairn_code walk_string(struct walk *walk, const char *text, size_t len, int depth)
{
    piece_list pieces = {0};
    struct printing printing = {
        .evaluation = &walk->evaluation, .buf = walk->buf, .max = walk->max};
    walk->evaluation.text = text;
    TRY(cut(walk, text, len, &pieces));
    if (!walk->buf)
        return CAIRN_OK;
    if (pieces.count == 1 && pieces.items[0].tree) {
        struct value value;
        size_t before = walk->buf->len;
        TRY(evaluate(&walk->evaluation, pieces.items[0].tree, &value));
        TRY(print_json(&printing, &value, depth));
        return evaluation_charge(&walk->evaluation, walk->buf->len - before);
    }
    TRY(make_string(walk, &pieces));
    return print_check(&printing);
}

/* ---- the tree ------------------------------------------------------------------------------- */

static cairn_code walk_value(struct walk *walk, const json_t *json, int depth);

static size_t enter_place(struct place *place, const char *format, const char *key,
                          size_t index)
{
    size_t before = place->len;
    char part[PLACE_ROOM];
    int len = key ? snprintf(part, sizeof part, format, key)
                  : snprintf(part, sizeof part, format, index);
    if (len > 0 && place->len + (size_t)len < sizeof place->text) {
        memcpy(place->text + place->len, part, (size_t)len + 1);
        place->len += (size_t)len;
    }
    return before;
}

static void leave_place(struct place *place, size_t before)
{
    place->len = before;
    place->text[before] = '\0';
}

static void put(struct walk *walk, const char *text)
{
    if (walk->buf)
        buf_str(walk->buf, text);
}

static cairn_code walk_object(struct walk *walk, const json_t *object, int depth)
{
    const char *key, *comma = "";
    json_t *member;
    put(walk, "{");
    json_object_foreach((json_t *)object, key, member)
    {
        size_t before = enter_place(&walk->place, walk->place.len ? ".%s" : "%s", key, 0);
        put(walk, comma);
        comma = ",";
        if (walk->buf)
            json_key(&(struct json_out){.buf = walk->buf}, key);
        TRY(walk_value(walk, member, depth + 1));
        leave_place(&walk->place, before);
    }
    put(walk, "}");
    return CAIRN_OK;
}

static cairn_code walk_array(struct walk *walk, const json_t *array, int depth)
{
    put(walk, "[");
    for (size_t i = 0; i < json_array_size(array); i++) {
        size_t before = enter_place(&walk->place, "[%zu]", NULL, i);
        if (i > 0)
            put(walk, ",");
        TRY(walk_value(walk, json_array_get(array, i), depth + 1));
        leave_place(&walk->place, before);
    }
    put(walk, "]");
    return CAIRN_OK;
}

/* Recursion is as deep as the template, which json_read() limits. */
static cairn_code walk_value(struct walk *walk, const json_t *json, int depth)
{
    if (json_is_object(json))
        return walk_object(walk, json, depth);
    if (json_is_array(json))
        return walk_array(walk, json, depth);
    if (json_is_text(json))
        return walk_string(walk, json_string_value(json), json_string_length(json), depth);
    if (!walk->buf)
        return CAIRN_OK;
    struct value value = value_of_json(json);
    struct printing printing = {
        .evaluation = &walk->evaluation, .buf = walk->buf, .max = walk->max};
    return print_json(&printing, &value, depth);
}

/* ---- the interface -------------------------------------------------------------------------- */

static void release_json(json_t **tree)
{
    json_decref(*tree);
}

/* The message of an expression begins with its place. */
static cairn_code name_place(const struct place *place, cairn_code code, cairn_error *reterr)
{
    char message[sizeof reterr->message];
    if (code != CAIRN_E_BAD_INPUT || !reterr || !place->len)
        return code;
    memcpy(message, reterr->message, sizeof message);
    return fail(reterr, code, "%s: %s", place->text, message);
}

static cairn_code walk_template(struct walk *walk, const char *json)
{
    static const struct expression_scope nothing;
    cleanup(arena_done) struct arena arena = {0};
    cleanup(release_json) json_t *tree = NULL;
    struct evaluation *evaluation = &walk->evaluation;
    TRY(json_read(json, strlen(json), "the template", &tree, evaluation->reterr));
    evaluation->arena = &arena;
    if (!evaluation->scope)
        evaluation->scope = &nothing;
    cairn_code code = walk_value(walk, tree, 1);
    evaluation_done(evaluation);
    return name_place(&walk->place, code, evaluation->reterr);
}

cairn_code template_check(const char *json, cairn_error *reterr)
{
    struct walk walk = {.evaluation = {.reterr = reterr}};
    return walk_template(&walk, json);
}

cairn_code template_steps(const char *json, struct arena *arena, struct expression_steps *steps,
                          cairn_error *reterr)
{
    struct walk walk = {.evaluation = {.reterr = reterr}, .steps = steps, .steps_arena = arena};
    return walk_template(&walk, json);
}

cairn_code template_make(const char *json, const struct expression_scope *scope, size_t max,
                         struct arena *arena, const char **ret_json, cairn_error *reterr)
{
    struct buf buf = {0};
    struct walk walk = {
        .evaluation = {.scope = scope, .reterr = reterr}, .buf = &buf, .max = max};
    struct printing printing = {.evaluation = &walk.evaluation, .buf = &buf, .max = max};
    cairn_code code = walk_template(&walk, json);
    if (!code)
        code = print_check(&printing); /* what holds no expression counts, too */
    if (code) {
        buf_done(&buf);
        return code;
    }
    *ret_json = buf_keep(&buf, arena);
    return *ret_json ? CAIRN_OK : fail_memory(reterr);
}
