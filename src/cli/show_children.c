/* cli/show_children.c - the children of steps: some of them where there are many, and theirs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a step has started is {"is_map", "note", "items": [instance...], "more"}: the note counts the
 * elements of a map, and more says how the rest is found.  An instance has in "below" what its own
 * steps have started: [{"step", "nested"}...].
 *
 * A step that begins again starts other children, so only those count that are not older than it.
 *
 * What a function calls is started by a step of its own, whose output has the child's id.
 */
#include "base/mem.h"
#include "cli/show.h"

#include <inttypes.h>
#include <string.h>

enum { DEPTH_MAX = 4, CHILDREN_MAX = 50, ELEMENTS_SHOWN = 5, SAME_WORKFLOW = 100 };

struct nesting {
    cairn_engine *engine;
    size_t left; /* how many may still be read */
};

/* ---- reading ------------------------------------------------------------------------------ */

/* NULL: it is not there, which is no failure: it may have been purged since. */
static json_t *fetch(struct nesting *nesting, const struct buf *target)
{
    cleanup(answer_done) struct answer answer = {0};
    if (call_unsaid(nesting->engine, "GET", buf_text(target), NULL, &answer) ||
        answer.status >= 400)
        return NULL;
    return json_incref(answer.tree);
}

/* The element of a start or a map with this name; NULL: of any. */
static const json_t *find_element(const json_t *list, const char *name)
{
    static const char *const inside[] = {"then", "else", "branches", "steps"};
    const json_t *found = NULL;
    size_t i;
    json_t *element;
    json_array_foreach(list, i, element)
    {
        const json_t *start = json_object_get(element, "start");
        const json_t *map = json_object_get(element, "map");
        const char *own = json_string_value(start ? start : map);
        if (own && (!name || strcmp(own, name) == 0))
            return element;
        if (json_is_array(element))
            found = find_element(element, name);
        for (size_t k = 0; !found && !map && k < sizeof inside / sizeof *inside; k++)
            found = find_element(json_object_get(element, inside[k]), name);
        if (found)
            return found;
    }
    return NULL;
}

/* A step, with what is asked about its children. */
struct question {
    const json_t *instance, *step, *element;
    const char *workflow; /* of the children */
    bool is_map;
};

static void begin_target(const struct question *q, const char *path, struct buf *target)
{
    buf_str(target, path);
    buf_param(target, "parent", text_of(q->instance, "id"));
    buf_param(target, "workflow", q->workflow);
    buf_param(target, "created_from", text_of(q->step, "started_at"));
}

/* Those with this status (NULL: any) are added, as long as there are fewer than `most`. */
static void add_children(struct nesting *nesting, const struct question *q, const char *status,
                         size_t most, json_t *items)
{
    cleanup(buf_donep) struct buf target = {0};
    char limit[24];
    size_t i, have = json_array_size(items);
    json_t *item;
    most = most < have + nesting->left ? most : have + nesting->left;
    if (have >= most)
        return;
    snprintf(limit, sizeof limit, "%zu", q->is_map ? most - have : (size_t)SAME_WORKFLOW);
    begin_target(q, "/v1/instances", &target);
    buf_param(&target, "status", status);
    buf_param(&target, "view", "row");
    buf_param(&target, "limit", limit);
    json_t *page = fetch(nesting, &target);
    json_array_foreach(json_object_get(page, "items"), i, item)
    {
        const json_t *place = json_object_get(item, "parent_seq");
        bool is_its =
            json_is_integer(place) && json_equal(place, json_object_get(q->step, "seq"));
        if (is_its && json_array_size(items) < most && json_array_append(items, item) == 0)
            nesting->left--;
    }
    json_decref(page);
}

/* ---- the elements of a map ---------------------------------------------------------------- */

struct tally {
    int64_t done, failed, cancelled, running;
    int64_t all;  /* how many there are to be; 0: that is not known any more */
    bool is_more; /* there are more than could be counted */
};

static void read_counts(struct nesting *nesting, const struct question *q, struct tally *tally)
{
    cleanup(buf_donep) struct buf target = {0};
    const char *status;
    json_t *count;
    begin_target(q, "/v1/instances/counts", &target);
    json_t *answer = fetch(nesting, &target);
    json_object_foreach(json_object_get(answer, "counts"), status, count)
    {
        int64_t *sum = strcmp(status, "completed") == 0   ? &tally->done
                       : strcmp(status, "cancelled") == 0 ? &tally->cancelled
                       : status_is_final(status)          ? &tally->failed
                                                          : &tally->running;
        *sum += int_of(count, "n");
        tally->is_more |= is_true(count, "is_more");
    }
    json_decref(answer);
}

/* While it goes on the engine knows how many there are to be, and exactly what became of them. */
static void read_size(struct nesting *nesting, const struct question *q, struct tally *tally)
{
    cleanup(buf_donep) struct buf target = {0};
    size_t i;
    json_t *why;
    const json_t *output = json_object_get(q->step, "output");
    if (json_is_array(output))
        tally->all = (int64_t)json_array_size(output);
    else if (json_is_object(output) && is_word(q->step, "status", "completed"))
        tally->all = int_of(output, "count");
    if (!is_word(q->step, "status", "waiting"))
        return;
    target_path(&target, "/v1/instances/{}/why", text_of(q->instance, "id"), NULL);
    json_t *answer = fetch(nesting, &target);
    json_array_foreach(json_object_get(answer, "items"), i, why)
    {
        const json_t *values = json_object_get(why, "values");
        if (!is_word(why, "code", "mapping") || int_of(why, "seq") != int_of(q->step, "seq"))
            continue;
        tally->done = int_of(values, "done");
        tally->failed = int_of(values, "failed") - tally->cancelled;
        tally->all = int_of(values, "n");
        tally->is_more = false;
    }
    json_decref(answer);
}

static void add_count(struct buf *note, const struct tally *tally, int64_t count,
                      const char *word)
{
    if (count > 0)
        buf_printf(note, "%s%" PRId64 "%s %s", note->len ? ", " : "", count,
                   tally->is_more ? " or more" : "", word);
}

/* "7 done, 1 failed, 2 running of 20" */
static void write_tally(const struct tally *tally, struct buf *note)
{
    add_count(note, tally, tally->done, "done");
    add_count(note, tally, tally->failed, "failed");
    add_count(note, tally, tally->cancelled, "cancelled");
    add_count(note, tally, tally->running, "running");
    if (tally->all)
        buf_printf(note, "%s of %" PRId64, note->len ? "" : "none", tally->all);
    else if (!note->len)
        buf_str(note, "no elements");
}

static void write_more(const struct question *q, const struct tally *tally, size_t shown,
                       struct buf *more)
{
    int64_t begun = tally->done + tally->failed + tally->cancelled + tally->running;
    if (begun <= (int64_t)shown)
        return;
    buf_printf(more, "and %" PRId64 "%s more: cairn list --parent %s --workflow ",
               begun - (int64_t)shown, tally->is_more ? " or" : "", text_of(q->instance, "id"));
    buf_shell(more, q->workflow);
}

/* ---- one step after the other -------------------------------------------------------------- */

static json_t *read_below(struct nesting *nesting, const json_t *instance, const json_t *steps,
                          const json_t *list, int depth);

static json_t *read_calls(struct nesting *nesting, const json_t *instance, const json_t *steps,
                          int depth);

/* list: of a workflow; NULL: it is a function. */
static void read_steps(struct nesting *nesting, const json_t *list, json_t *child, int depth)
{
    cleanup(buf_donep) struct buf target = {0};
    target_path(&target, "/v1/instances/{}/steps", text_of(child, "id"), NULL);
    buf_param(&target, "limit", "1000");
    json_t *page = fetch(nesting, &target);
    const json_t *steps = json_object_get(page, "items");
    json_object_set_new(child, "below",
                        list ? read_below(nesting, child, steps, list, depth + 1)
                             : read_calls(nesting, child, steps, depth + 1));
    json_decref(page);
}

/* The steps of a child are read only if they may have started something. */
static void go_down(struct nesting *nesting, const json_t *list, json_t *child, int depth)
{
    if (depth < DEPTH_MAX && find_element(list, NULL))
        read_steps(nesting, list, child, depth);
}

static void go_down_of_start(struct nesting *nesting, json_t *child, int depth)
{
    cairn_page *found = NULL;
    if (cairn_workflow_get(nesting->engine, text_of(child, "workflow"),
                           (int32_t)int_of(child, "version"), &found, NULL))
        return;
    json_t *contents = json_loads(cairn_page_workflow(found, 0)->content, 0, NULL);
    cairn_page_free(found);
    if (!json_object_get(contents, "function"))
        go_down(nesting, json_object_get(contents, "steps"), child, depth);
    else if (depth < DEPTH_MAX)
        read_steps(nesting, NULL, child, depth);
    json_decref(contents);
}

/* What failed comes first, then what goes on. */
static json_t *read_map(struct nesting *nesting, const struct question *q, int depth)
{
    static const char *const order[] = {"failed,aborted,dlq,paused",
                                        "pending,running,waiting_signal,compensating",
                                        "completed,cancelled"};
    cleanup(buf_donep) struct buf note = {0}, more = {0};
    struct tally tally = {0};
    json_t *items = json_array(), *item;
    size_t i;
    for (i = 0; i < sizeof order / sizeof *order; i++)
        add_children(nesting, q, order[i], ELEMENTS_SHOWN, items);
    read_counts(nesting, q, &tally);
    read_size(nesting, q, &tally);
    write_tally(&tally, &note);
    write_more(q, &tally, json_array_size(items), &more);
    json_array_foreach(items, i, item)
    {
        go_down(nesting, json_object_get(q->element, "steps"), item, depth);
    }
    return json_pack("{s:b, s:s, s:o, s:s}", "is_map", 1, "note", buf_text(&note), "items",
                     items, "more", buf_text(&more));
}

static json_t *read_start(struct nesting *nesting, const struct question *q, int depth)
{
    json_t *items = json_array();
    add_children(nesting, q, NULL, 1, items);
    if (json_array_size(items))
        go_down_of_start(nesting, json_array_get(items, 0), depth);
    return json_pack("{s:o}", "items", items);
}

/* NULL: nothing was started, or it is not waited for. */
static json_t *read_step(struct nesting *nesting, const json_t *instance, const json_t *step,
                         const json_t *list, int depth)
{
    cleanup(buf_donep) struct buf elements = {0};
    struct question q = {.instance = instance, .step = step};
    bool is_begun = is_word(step, "kind", "start") && time_of(step, "started_at");
    q.element = is_begun ? find_element(list, text_of(step, "name")) : NULL;
    if (!q.element || json_is_false(json_object_get(q.element, "wait")))
        return NULL;
    q.is_map = json_object_get(q.element, "map") != NULL;
    buf_printf(&elements, "%s:%s", text_of(instance, "workflow"), text_of(step, "name"));
    q.workflow = q.is_map ? buf_text(&elements) : text_of(q.element, "workflow");
    return q.is_map ? read_map(nesting, &q, depth) : read_start(nesting, &q, depth);
}

static json_t *read_below(struct nesting *nesting, const json_t *instance, const json_t *steps,
                          const json_t *list, int depth)
{
    json_t *below = json_array(), *step;
    size_t i;
    json_array_foreach(steps, i, step)
    {
        json_t *nested = read_step(nesting, instance, step, list, depth);
        if (nested)
            json_array_append_new(below,
                                  json_pack("{s:O, s:o}", "step", step, "nested", nested));
    }
    return below;
}

/* ---- functions ----------------------------------------------------------------------------- */

static json_t *find_child(const json_t *page, const char *id)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(page, "items"), i, item)
    {
        if (strcmp(text_of(item, "id"), id) == 0)
            return item;
    }
    return NULL;
}

static json_t *read_calls(struct nesting *nesting, const json_t *instance, const json_t *steps,
                          int depth)
{
    cleanup(buf_donep) struct buf target = {0};
    json_t *below = json_array(), *step, *page = NULL;
    char limit[24];
    size_t i;
    snprintf(limit, sizeof limit, "%zu", nesting->left);
    buf_str(&target, "/v1/instances");
    buf_param(&target, "parent", text_of(instance, "id"));
    buf_param(&target, "view", "row");
    buf_param(&target, "limit", limit);
    json_array_foreach(steps, i, step)
    {
        const char *id = text_of(json_object_get(step, "output"), "id");
        if (!is_word(step, "kind", "start") || !*id || !nesting->left)
            continue;
        if (!page && !(page = fetch(nesting, &target)))
            break;
        json_t *child = find_child(page, id); /* what nobody waits for has no parent */
        if (!child)
            continue;
        nesting->left--;
        go_down_of_start(nesting, child, depth);
        json_array_append_new(
            below, json_pack("{s:O, s:{s:[O]}}", "step", step, "nested", "items", child));
    }
    json_decref(page);
    return below;
}

void show_children_read(cairn_engine *engine, struct show_state *state)
{
    struct nesting nesting = {.engine = engine, .left = CHILDREN_MAX};
    const json_t *list = json_object_get(state->contents, "steps");
    if (json_object_get(state->contents, "function"))
        state->children = read_calls(&nesting, state->instance.tree, state->steps, 1);
    else if (find_element(list, NULL))
        state->children = read_below(&nesting, state->instance.tree, state->steps, list, 1);
}

/* ---- the tree ------------------------------------------------------------------------------ */

static bool add_below(struct arena *arena, const json_t *below, struct show_node *parent);

static bool add_nested(struct arena *arena, const json_t *nested, struct show_node *node)
{
    size_t i;
    json_t *item;
    const char *more = text_of(nested, "more");
    node->nested = nested;
    json_array_foreach(json_object_get(nested, "items"), i, item)
    {
        struct show_node *child = show_node_add(arena, node);
        if (!child)
            return false;
        child->child = item;
        if (!add_below(arena, json_object_get(item, "below"), child))
            return false;
    }
    struct show_node *label = *more ? show_node_add(arena, node) : NULL;
    if (label)
        label->label = more;
    return label || !*more;
}

static bool add_below(struct arena *arena, const json_t *below, struct show_node *parent)
{
    size_t i;
    json_t *item;
    json_array_foreach(below, i, item)
    {
        struct show_node *node = show_node_add(arena, parent);
        if (!node)
            return false;
        node->step = json_object_get(item, "step");
        if (!add_nested(arena, json_object_get(item, "nested"), node))
            return false;
    }
    return true;
}

static const json_t *nested_of(const json_t *children, const json_t *step)
{
    size_t i;
    json_t *item;
    json_array_foreach(children, i, item)
    {
        if (int_of(json_object_get(item, "step"), "seq") == int_of(step, "seq"))
            return json_object_get(item, "nested");
    }
    return NULL;
}

bool show_children_add(struct arena *arena, const struct show_state *state,
                       struct show_node *root)
{
    for (struct show_node *node = root->first; node; node = node->next) {
        const json_t *nested = node->step ? nested_of(state->children, node->step) : NULL;
        bool is_added =
            nested ? add_nested(arena, nested, node) : show_children_add(arena, state, node);
        if (!is_added)
            return false;
    }
    return true;
}
