/* definition/node.c - a YAML or JSON text as a tree of nodes that know their place.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * libfyaml's events are put together here rather than by its own document builder, which
 * recurses: depth is ours to limit.
 */
#include "definition/node.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"

#include <assert.h>
#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

struct building {
    struct arena *arena;
    struct flaws *flaws;
    struct node *root;
    struct node *open[NODE_DEPTH_MAX]; /* lists and maps not yet ended */
    struct node *last[NODE_DEPTH_MAX]; /* their latest child */
    size_t children[NODE_DEPTH_MAX];
    size_t depth;
    size_t documents;
    struct place at; /* of the latest event that had one */
    bool is_over;    /* the rest of the text cannot be read */
    bool is_out_of_memory;
};

static void say_nothing(struct fy_diag *diag, void *user, const char *text, size_t len)
{
    (void)diag, (void)user, (void)text, (void)len;
}

static void diag_done(struct fy_diag **diag)
{
    fy_diag_destroy(*diag);
}

static void iterator_done(struct fy_token_iter **iterator)
{
    if (*iterator)
        fy_token_iter_destroy(*iterator);
}

static void parser_done(struct fy_parser **parser)
{
    fy_parser_destroy(*parser);
}

/* Where an event begins.  libfyaml points behind the opening quote. */
static struct place event_place(struct building *b, struct fy_event *event)
{
    const struct fy_mark *mark = fy_event_start_mark(event);
    if (!mark)
        return b->at;
    struct place at = {mark->line + 1, mark->column + 1};
    if (event->type == FYET_SCALAR && event->scalar.value) {
        enum fy_scalar_style style = fy_token_scalar_style(event->scalar.value);
        if ((style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED) && at.column > 1)
            at.column--;
    }
    b->at = at;
    return at;
}

static struct node *new_node(struct building *b, enum node_kind kind, struct place at)
{
    struct node *node = arena_zalloc(b->arena, sizeof *node);
    if (!node) {
        b->is_out_of_memory = true;
        return NULL;
    }
    node->kind = kind;
    node->at = at;
    return node;
}

static bool is_key(const struct building *b)
{
    return b->depth && b->open[b->depth - 1]->kind == NODE_MAP &&
           b->children[b->depth - 1] % 2 == 0;
}

/* Adds a node to the innermost open one. */
static void attach(struct building *b, struct node *node)
{
    if (b->depth == 0) {
        if (!b->root)
            b->root = node;
        return;
    }
    size_t d = b->depth - 1;
    if (is_key(b) && node->kind != NODE_SCALAR) {
        flaw_add(b->flaws, node->at,
                 "a key must be text, not %s; an expression {{ ... }} stands in quotes",
                 node_words(node));
        b->is_over = true;
    }
    if (b->last[d])
        b->last[d]->next = node;
    else
        b->open[d]->first = node;
    b->last[d] = node;
    b->children[d]++;
    b->open[d]->count =
        b->open[d]->kind == NODE_MAP ? (b->children[d] + 1) / 2 : b->children[d];
}

static void open_node(struct building *b, enum node_kind kind, struct place at)
{
    struct node *node = new_node(b, kind, at);
    if (!node)
        return;
    attach(b, node);
    if (b->depth == NODE_DEPTH_MAX) {
        flaw_limit(b->flaws, at, "the text is nested more than %d levels deep", NODE_DEPTH_MAX);
        b->is_over = true;
        return;
    }
    b->open[b->depth] = node;
    b->last[b->depth] = NULL;
    b->children[b->depth] = 0;
    b->depth++;
}

static int compare_keys(const void *left, const void *right)
{
    const struct node *a = *(const struct node *const *)left;
    const struct node *b = *(const struct node *const *)right;
    int order = strcmp(a->text, b->text);
    if (order == 0)
        order =
            a->at.line != b->at.line ? a->at.line - b->at.line : a->at.column - b->at.column;
    return order;
}

const struct node **node_sort_keys(const struct node *map)
{
    const struct node **keys = mem_alloc(map->count * sizeof *keys);
    size_t count = 0;
    for (const struct node *key = map->first; keys && key;
         key = key->next ? key->next->next : NULL)
        keys[count++] = key;
    if (keys)
        qsort(keys, count, sizeof *keys, compare_keys);
    return keys;
}

static void refuse_twice(struct building *b, const struct node *map)
{
    cleanup(mem_freep) const struct node **keys = node_sort_keys(map);
    b->is_out_of_memory |= !keys;
    for (size_t i = 1; keys && i < map->count; i++) {
        char name[QUOTED_TEXT];
        if (strcmp(keys[i - 1]->text, keys[i]->text) == 0)
            flaw_add(b->flaws, keys[i]->at, "the key %s is already given in line %d",
                     quoted(name, keys[i]->text), keys[i - 1]->at.line);
    }
}

static void close_node(struct building *b)
{
    assert(b->depth > 0 && b->open[b->depth - 1]); /* by the order of the parser's events */
    struct node *node = b->open[--b->depth];
    if (node->kind == NODE_MAP && !b->is_over)
        refuse_twice(b, node);
}

/* The text of a scalar; NULL: memory ran out.  Read piece by piece, since fy_token_get_text()
 * of libfyaml 0.7.12 leaks the list of pieces if a line has more than a few. */
static const char *scalar_text(struct building *b, struct fy_token *token, size_t *ret_len)
{
    cleanup(buf_done) struct buf text = {0};
    cleanup(iterator_done) struct fy_token_iter *iterator = fy_token_iter_create(token);
    const struct fy_iter_chunk *piece = NULL;
    int failed = 0;
    if (!iterator)
        return NULL;
    while ((piece = fy_token_iter_chunk_next(iterator, piece, &failed)))
        buf_add(&text, piece->str, piece->len);
    if (failed || buf_failed(&text))
        return NULL;
    *ret_len = text.len;
    return arena_strndup(b->arena, buf_text(&text), text.len);
}

static void add_scalar(struct building *b, struct fy_event *event, struct place at)
{
    struct node *node = new_node(b, NODE_SCALAR, at);
    if (!node)
        return;
    struct fy_token *token = event->scalar.value;
    size_t len = 0;
    node->text = token ? scalar_text(b, token, &len) : "";
    node->len = len;
    if (!node->text) {
        b->is_out_of_memory = true;
        return;
    }
    if (!utf8_is_valid(node->text, len)) {
        flaw_add(b->flaws, at, "the text contains a character that cannot be stored");
        b->is_over = true;
    }
    bool is_plain = !token || fy_token_scalar_style(token) == FYSS_PLAIN;
    node->scalar = is_plain ? scalar_kind_of(node->text) : SCALAR_TEXT;
    attach(b, node);
}

/* Rejects anchors, aliases and tags: a value is written where it is used. */
static void refuse_magic(struct building *b, struct fy_event *event, struct place at)
{
    struct fy_token *anchor = NULL, *tag = NULL;
    if (event->type == FYET_SCALAR)
        anchor = event->scalar.anchor, tag = event->scalar.tag;
    else if (event->type == FYET_MAPPING_START)
        anchor = event->mapping_start.anchor, tag = event->mapping_start.tag;
    else if (event->type == FYET_SEQUENCE_START)
        anchor = event->sequence_start.anchor, tag = event->sequence_start.tag;

    if (event->type == FYET_ALIAS)
        flaw_add(b->flaws, (struct place){at.line, at.column > 1 ? at.column - 1 : 1},
                 "aliases (*name) are not allowed in a workflow file");
    else if (anchor)
        flaw_add(b->flaws, at, "anchors (&name) are not allowed in a workflow file");
    else if (tag)
        flaw_add(b->flaws, at, "tags (!name) are not allowed in a workflow file");
    else
        return;
    b->is_over = true;
}

static void take_event(struct building *b, struct fy_event *event)
{
    struct place at = event_place(b, event);
    refuse_magic(b, event, at);
    if (b->is_over)
        return;
    switch (event->type) {
    case FYET_DOCUMENT_START:
        if (++b->documents > 1) {
            flaw_add(b->flaws, at, "the file holds a second document; one workflow per file");
            b->is_over = true;
        }
        break;
    case FYET_MAPPING_START:
        open_node(b, NODE_MAP, at);
        break;
    case FYET_SEQUENCE_START:
        open_node(b, NODE_LIST, at);
        break;
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
        close_node(b);
        break;
    case FYET_SCALAR:
        add_scalar(b, event, at);
        break;
    default:
        break;
    }
}

/* libfyaml names what its parser expected; for the usual mistakes these say what to look at. */
static const char *plain_words(const char *said)
{
    static const struct {
        const char *said, *plain;
    } known[] = {
        {"invalid multiline plain key",
         "this value goes on in the next line, which is indented "
         "too far or should be part of it"},
        {"did not find expected '-' indicator",
         "the indentation of this line fits no line above"},
        {"wrong indendation in sequence", "the indentation of this line fits no line above"},
        {"wrongly indented flow sequence", "a \"]\" is missing before this line"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(said, known[i].said, strlen(known[i].said)) == 0)
            return known[i].plain;
    return said;
}

static void tell_syntax(struct building *b, struct fy_diag *diag)
{
    void *before = NULL;
    struct fy_diag_error *error = fy_diag_errors_iterate(diag, &before);
    b->is_over = true;
    if (error)
        flaw_add(b->flaws, (struct place){error->line, error->column}, "%s",
                 plain_words(error->msg));
    else
        flaw_add(b->flaws, b->at, "the text is neither YAML nor JSON");
}

static void build(struct building *b, struct fy_parser *parser, struct fy_diag *diag)
{
    struct fy_event *event;
    while (!b->is_over && !b->is_out_of_memory && (event = fy_parser_parse(parser))) {
        take_event(b, event);
        fy_parser_event_free(parser, event);
    }
    if (!b->is_over && !b->is_out_of_memory && fy_parser_get_stream_error(parser))
        tell_syntax(b, diag);
}

/* A line that begins with % is a directive.  libfyaml's time grows with the square of their
 * number, and we have no use for any. */
static bool has_directive(const char *text, size_t len, struct place *ret_at)
{
    const char *end = text + len;
    int line = 1;
    for (const char *at = text; at && at < end; line++) {
        if (*at == '%') {
            *ret_at = (struct place){line, 1};
            return true;
        }
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    return false;
}

cairn_code node_read(struct arena *arena, const char *text, size_t len, struct flaws *flaws,
                     struct node **ret_root, cairn_error *reterr)
{
    *ret_root = NULL;
    struct place at;
    if (has_directive(text, len, &at)) {
        flaw_add(flaws, at, "directives (%%NAME) are not allowed in a workflow file");
        return CAIRN_OK;
    }

    struct fy_diag_cfg quiet;
    fy_diag_cfg_default(&quiet);
    quiet.fp = NULL;
    quiet.output_fn = say_nothing;
    quiet.colorize = false;
    cleanup(diag_done) struct fy_diag *diag = fy_diag_create(&quiet);
    if (!diag)
        return fail_memory(reterr);
    fy_diag_set_collect_errors(diag, true);

    struct fy_parse_cfg config = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG |
                                           FYPCF_DISABLE_DEPTH_LIMIT | FYPCF_JSON_NONE,
                                  .diag = diag};
    cleanup(parser_done) struct fy_parser *parser = fy_parser_create(&config);
    if (!parser || fy_parser_set_string(parser, text, len))
        return fail_memory(reterr);

    struct building b = {.arena = arena, .flaws = flaws, .at = {1, 1}};
    build(&b, parser, diag);
    if (b.is_out_of_memory)
        return fail_memory(reterr);
    if (!b.is_over && !b.root)
        flaw_add(flaws, (struct place){0}, "the file is empty");
    if (!b.is_over)
        *ret_root = b.root;
    return CAIRN_OK;
}

const struct node *node_find(const struct node *map, const char *key)
{
    for (const struct node *at = map->first; at && at->next; at = at->next->next)
        if (strcmp(at->text, key) == 0)
            return at->next;
    return NULL;
}
