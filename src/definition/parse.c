/* definition/parse.c - the elements of a workflow file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "definition/element.h"
#include "definition/mapping.h"

#include <stdio.h>
#include <string.h>

/* The elements of lists. */
static const char *const kinds[ELEMENT_IN_LIST_COUNT + 1] = {
    [ELEMENT_STEP] = "step",           [ELEMENT_SAVE_POINT] = "save_point",
    [ELEMENT_CONDITION] = "condition", [ELEMENT_FORK] = "fork",
    [ELEMENT_PARALLEL] = "parallel",   [ELEMENT_HUMAN] = "human",
    [ELEMENT_WAIT] = "wait",           [ELEMENT_SLEEP] = "sleep",
    [ELEMENT_START] = "start",         [ELEMENT_MAP] = "map",
};

static const char *const joins[] = {"all", "any", NULL};

/* The keys of an element; the first is its kind, whose value is its name. */
static const char *const known_keys[ELEMENT_IN_LIST_COUNT][16] = {
    [ELEMENT_STEP] = {"step", "handler", "max_attempts", "retry", "timeout", "on_failure",
                      "idempotent", "priority", "compensation", "input", "output", "group",
                      "metadata"},
    [ELEMENT_SAVE_POINT] = {"save_point", "metadata"},
    [ELEMENT_CONDITION] = {"condition", "when", "then", "else", "metadata"},
    [ELEMENT_FORK] = {"fork", "join", "branches", "metadata"},
    [ELEMENT_PARALLEL] = {"parallel", "steps", "metadata"},
    [ELEMENT_HUMAN] = {"human", "timeout", "on_timeout", "on_failure", "input", "metadata"},
    [ELEMENT_WAIT] = {"wait", "event", "timeout", "on_timeout", "on_failure", "input",
                      "metadata"},
    [ELEMENT_SLEEP] = {"sleep", "for", "metadata"},
    [ELEMENT_MAP] = {"map", "input", "over", "steps", "max_parallel", "join", "collect",
                     "on_failure", "compensation", "group", "metadata"},
    [ELEMENT_START] = {"start", "workflow", "version", "input", "key", "tags", "wait",
                       "on_failure", "compensation", "group", "metadata"},
};

const char *element_kind_name(enum element_kind kind)
{
    return kind == ELEMENT_FUNCTION ? "function" : kinds[kind];
}

bool element_is_fork(const struct element *element)
{
    return element->kind == ELEMENT_FORK || element->kind == ELEMENT_PARALLEL;
}

const char *join_name(enum join_kind join)
{
    return joins[join == JOIN_ANY];
}

void *reading_got(struct reading *reading, void *memory)
{
    if (!memory)
        reading->is_out_of_memory = true;
    return memory;
}

static void parse_list(struct reading *reading, const struct node *list, int nesting,
                       struct element_list *ret_list);

/* The kind of an element is the one of its keys that names a kind. */
static bool find_kind(struct reading *reading, const struct node *map,
                      enum element_kind *ret_kind)
{
    size_t found = 0;
    enum element_kind last = 0;
    for (enum element_kind kind = 0; kind < ELEMENT_IN_LIST_COUNT; kind++)
        if (node_find(map, kinds[kind])) {
            *ret_kind = found++ ? *ret_kind : kind;
            last = kind;
        }
    if (node_find(map, "start") && node_find(map, "wait")) { /* a key of start */
        *ret_kind = ELEMENT_START;
        found--;
    }
    if (found == 1)
        return true;

    const char *meant = found || !map->first ? NULL : nearest_word(map->first->text, kinds);
    char name[QUOTED_TEXT];
    if (found)
        flaw_add(reading->flaws, map->at,
                 "an element is of one kind, but this one has the keys %s and %s",
                 kinds[*ret_kind], kinds[last]);
    else if (meant)
        flaw_add(reading->flaws, map->first->at,
                 "unknown kind of element %s; did you mean \"%s\"?",
                 quoted(name, map->first->text), meant);
    else
        flaw_add(
            reading->flaws, map->at,
            "an element needs one of the keys step, save_point, condition, fork, parallel, "
            "human, wait, sleep, start, map");
    return false;
}

static void name_subject(struct mapping *mapping, const char *kind, const struct node *name)
{
    char text[QUOTED_TEXT];
    if (name && name->kind == NODE_SCALAR && name->len)
        snprintf(mapping->subject, sizeof mapping->subject, "%s %s", kind,
                 quoted(text, name->text));
    else
        snprintf(mapping->subject, sizeof mapping->subject, "%s", kind);
}

static void refuse_control_characters(const struct mapping *mapping, struct place at,
                                      const char *name)
{
    while (*name && (unsigned char)*name >= 0x20 && *name != 0x7F)
        name++;
    if (*name)
        mapping_flaw(mapping, at, "the name contains a control character");
}

static void parse_name(const struct mapping *mapping, struct element *element)
{
    struct reading *reading = mapping->reading;
    if (!mapping_name(mapping, kinds[element->kind], &element->name))
        return;
    if (strncmp(element->name, CONDITION_PREFIX, strlen(CONDITION_PREFIX)) == 0)
        mapping_flaw(mapping, element->at, "names that begin with %s are reserved",
                     CONDITION_PREFIX);
    refuse_control_characters(mapping, element->at, element->name);
    if (!element_is_fork(element))
        return;
    if (strlen(element->name) + strlen(JOIN_SUFFIX) > NAME_BYTES_MAX)
        flaw_limit(reading->flaws, element->at,
                   "%s: the name of its join, NAME%s, would be longer than %d bytes",
                   mapping->subject, JOIN_SUFFIX, NAME_BYTES_MAX);
    element->join_name =
        reading_got(reading, arena_printf(reading->arena, "%s%s", element->name, JOIN_SUFFIX));
}

static void parse_timeout(const struct mapping *mapping, struct element *element)
{
    static const char *const words[] = {"fail", "continue", NULL};
    size_t word = 0;
    mapping_duration(mapping, "timeout", false, &element->config.timeout_us);
    if (!mapping_word(mapping, "on_timeout", words, &word))
        return;
    element->config.is_timeout_continue = word == 1;
    if (!node_find(mapping->map, "timeout"))
        mapping_flaw(mapping, node_find(mapping->map, "on_timeout")->at,
                     "on_timeout needs a timeout");
}

static struct element_list *new_lists(struct reading *reading, struct element *element,
                                      size_t count)
{
    element->lists =
        reading_got(reading, arena_array(reading->arena, count, sizeof *element->lists));
    element->list_count = element->lists ? count : 0;
    return element->lists;
}

static void parse_condition(const struct mapping *mapping, struct element *element, int nesting)
{
    static const char *const sides[] = {"then", "else"};
    struct reading *reading = mapping->reading;
    data_parse_when(mapping, element);
    struct element_list *lists = new_lists(reading, element, 2);
    size_t given = 0;
    for (size_t i = 0; lists && i < 2; i++) {
        const struct node *list = mapping_list(mapping, sides[i]);
        given += list ? list->count : node_find(mapping->map, sides[i]) != NULL;
        if (list)
            parse_list(reading, list, nesting, &lists[i]);
    }
    if (lists && given == 0)
        mapping_flaw(mapping, element->at, "neither then nor else has an element");
}

/* A required list, which must not be empty; NULL: it is missing. */
static const struct node *find_items(const struct mapping *mapping, const char *key)
{
    const struct node *list = mapping_require(mapping, key) ? mapping_list(mapping, key) : NULL;
    if (list && list->count == 0)
        mapping_flaw(mapping, list->at, "%s is empty", key);
    return list;
}

static void parse_fork(const struct mapping *mapping, struct element *element, int nesting)
{
    size_t join;
    if (mapping_word(mapping, "join", joins, &join))
        element->join = join == 1 ? JOIN_ANY : JOIN_ALL;
    const struct node *branches = find_items(mapping, "branches");
    if (!branches)
        return;
    struct element_list *lists = new_lists(mapping->reading, element, branches->count);
    const struct node *branch = branches->first;
    for (size_t i = 0; lists && branch; i++, branch = branch->next) {
        if (branch->kind != NODE_LIST)
            mapping_flaw(mapping, branch->at, "branch %zu must be a list of elements, not %s",
                         i + 1, node_words(branch));
        else if (branch->count == 0)
            mapping_flaw(mapping, branch->at, "branch %zu is empty", i + 1);
        else
            parse_list(mapping->reading, branch, nesting, &lists[i]);
    }
}

/* A fork of single steps: each becomes a branch of its own. */
static void parse_parallel(const struct mapping *mapping, struct element *element, int nesting)
{
    struct reading *reading = mapping->reading;
    const struct node *steps = find_items(mapping, "steps");
    element->join = JOIN_ALL;
    if (!steps)
        return;
    struct element_list all = {0};
    parse_list(reading, steps, nesting, &all);
    struct element_list *lists = new_lists(reading, element, all.count);
    if (!lists)
        return;
    for (struct element *step = all.first; step; lists++) {
        struct element *next = step->next;
        if (step->kind != ELEMENT_STEP)
            mapping_flaw(mapping, step->at,
                         "only steps may stand in parallel, not a %s; use a fork",
                         kinds[step->kind]);
        step->next = NULL;
        *lists = (struct element_list){step, step, 1};
        step = next;
    }
}

static void parse_each(const struct mapping *mapping, struct element *element, int nesting)
{
    const struct node *steps = find_items(mapping, "steps");
    if (mapping->reading->is_in_map)
        mapping_flaw(mapping, element->at,
                     "a map cannot stand inside of a map; start a workflow that has one");
    mapping->reading->is_in_map = true;
    if (steps)
        parse_list(mapping->reading, steps, nesting, &element->each);
    mapping->reading->is_in_map = false;
}

static void parse_inside(const struct mapping *mapping, struct element *element, int nesting)
{
    switch (element->kind) {
    case ELEMENT_STEP:
        task_parse(mapping, element);
        break;
    case ELEMENT_CONDITION:
        parse_condition(mapping, element, nesting + 1);
        break;
    case ELEMENT_FORK:
        parse_fork(mapping, element, nesting + 1);
        break;
    case ELEMENT_PARALLEL:
        parse_parallel(mapping, element, nesting + 1);
        break;
    case ELEMENT_WAIT:
    case ELEMENT_HUMAN:
        if (element->kind == ELEMENT_WAIT && mapping_require(mapping, "event"))
            mapping_name(mapping, "event", &element->config.event);
        parse_timeout(mapping, element);
        policy_parse(mapping, element);
        data_parse_template(mapping, "input", &element->config.input, &element->reads);
        break;
    case ELEMENT_SLEEP:
        if (mapping_require(mapping, "for"))
            mapping_duration(mapping, "for", true, &element->config.for_us);
        break;
    case ELEMENT_START:
        start_parse(mapping, element);
        break;
    case ELEMENT_MAP:
        map_parse(mapping, element);
        parse_each(mapping, element, nesting + 1);
        break;
    default:
        break;
    }
    mapping_metadata(mapping, &element->metadata);
}

static struct element *new_element(struct reading *reading, enum element_kind kind)
{
    struct element *element =
        reading_got(reading, arena_alloc(reading->arena, sizeof *element));
    bool is_called = kind == ELEMENT_STEP || kind == ELEMENT_FUNCTION;
    if (element)
        *element = (struct element){.kind = kind,
                                    .max_attempts = is_called ? ATTEMPTS_DEFAULT : 1,
                                    .priority = PRIORITY_DEFAULT,
                                    .config = config_default()};
    return element;
}

/* The first row beyond the limit is the flaw; the rest of the file is not read. */
static bool is_within_limits(struct reading *reading, const struct element *element,
                             int nesting)
{
    int32_t rows = element_is_fork(element) ? 2 : 1;
    bool is_deeper = element_is_fork(element) || element->kind == ELEMENT_CONDITION ||
                     element->kind == ELEMENT_MAP;
    if (is_deeper && nesting >= NESTING_MAX) {
        flaw_limit(reading->flaws, element->at,
                   "conditions, forks and parallels are nested more than %d deep", NESTING_MAX);
        return false;
    }
    if (reading->rows <= STEPS_MAX && reading->rows + rows > STEPS_MAX) {
        flaw_limit(reading->flaws, element->at,
                   "the workflow has more than %d steps (a fork counts twice, for its join)",
                   STEPS_MAX);
        reading->rows = STEPS_MAX + 1;
    }
    if (reading->rows > STEPS_MAX)
        return false;
    reading->rows += rows;
    return true;
}

static struct element *parse_element(struct reading *reading, const struct node *map,
                                     int nesting)
{
    enum element_kind kind = ELEMENT_STEP;
    if (map->kind != NODE_MAP) {
        flaw_add(reading->flaws, map->at,
                 "an element must be a mapping such as {step: NAME}, not %s", node_words(map));
        return NULL;
    }
    if (!find_kind(reading, map, &kind))
        return NULL;
    struct element *element = new_element(reading, kind);
    if (!element)
        return NULL;
    const struct node *name = node_find(map, kinds[kind]);
    element->at = name->at;
    if (!is_within_limits(reading, element, nesting))
        return NULL;

    struct mapping mapping = {.reading = reading, .map = map};
    name_subject(&mapping, kinds[kind], name);
    mapping_check_keys(&mapping, known_keys[kind]);
    parse_name(&mapping, element);
    parse_inside(&mapping, element, nesting);
    return element;
}

static void refuse_endless_fork(struct reading *reading, const struct element *element)
{
    char name[QUOTED_TEXT];
    if (element->kind == ELEMENT_FORK && element->join == JOIN_NONE && element->next)
        flaw_add(reading->flaws, element->at,
                 "fork %s: without join it must be the last element of its list; add join: all "
                 "or join: any",
                 quoted(name, element->name ? element->name : ""));
}

static void parse_list(struct reading *reading, const struct node *list, int nesting,
                       struct element_list *ret_list)
{
    for (const struct node *item = list->first; item && !reading->is_out_of_memory;
         item = item->next) {
        if (reading->rows > STEPS_MAX)
            break;
        struct element *element = parse_element(reading, item, nesting);
        if (!element)
            continue;
        if (ret_list->last)
            ret_list->last->next = element;
        else
            ret_list->first = element;
        ret_list->last = element;
        ret_list->count++;
    }
    for (const struct element *element = ret_list->first; element; element = element->next)
        refuse_endless_fork(reading, element);
}

/* The keys that both kinds of file have; `kind` is also the key that holds the name. */
static void parse_head(const struct mapping *mapping, const char *kind,
                       struct workflow *ret_workflow)
{
    if (mapping_require(mapping, kind) && mapping_name(mapping, kind, &ret_workflow->name))
        refuse_control_characters(mapping, node_find(mapping->map, kind)->at,
                                  ret_workflow->name);
    if (mapping_require(mapping, "version"))
        mapping_int(mapping, "version", 1, INT32_MAX, &ret_workflow->version);
    mapping_bool(mapping, "dlq", &ret_workflow->is_dlq);
    input_parse(mapping, ret_workflow);
}

/* A function has no list of steps: they are in its code. */
static void refuse_workflow_keys(const struct mapping *mapping)
{
    for (const struct node *key = mapping->map->first; key; key = key->next->next)
        if (strcmp(key->text, "workflow") == 0 || strcmp(key->text, "steps") == 0)
            mapping_flaw(mapping, key->at,
                         "%s cannot stand beside function; a function's steps are code",
                         key->text);
}

static void parse_function(const struct mapping *mapping, struct workflow *ret_workflow)
{
    static const char *const known[] = {"function",     "version",  "dlq",   "input",
                                        "max_attempts", "workflow", "steps", NULL};
    struct reading *reading = mapping->reading;
    struct element *element = new_element(reading, ELEMENT_FUNCTION);
    if (!element)
        return;
    mapping_check_keys(mapping, known);
    refuse_workflow_keys(mapping);
    parse_head(mapping, "function", ret_workflow);
    mapping_int(mapping, "max_attempts", 1, INT32_MAX, &element->max_attempts);
    element->at = node_find(mapping->map, "function")->at;
    element->name = element->handler = ret_workflow->name;
    ret_workflow->is_function = true;
    ret_workflow->elements = (struct element_list){element, element, 1};
    ret_workflow->rows = reading->rows = 1;
}

static void parse_workflow(const struct mapping *mapping, struct workflow *ret_workflow)
{
    static const char *const known[] = {"workflow", "version",  "dlq", "input",
                                        "steps",    "function", NULL};
    struct reading *reading = mapping->reading;
    mapping_check_keys(mapping, known);
    parse_head(mapping, "workflow", ret_workflow);
    if (ret_workflow->name)
        refuse_reserved(reading, node_find(mapping->map, "workflow")->at, "workflow",
                        ret_workflow->name);
    const struct node *steps = find_items(mapping, "steps");
    if (steps)
        parse_list(reading, steps, 0, &ret_workflow->elements);
    ret_workflow->rows = reading->rows;
}

void workflow_parse(struct reading *reading, const struct node *root,
                    struct workflow *ret_workflow)
{
    *ret_workflow = (struct workflow){0};
    if (root->kind != NODE_MAP) {
        flaw_add(reading->flaws, root->at,
                 "a workflow file must be a mapping with workflow, version and steps, not %s",
                 node_words(root));
        return;
    }
    struct mapping mapping = {.reading = reading, .map = root};
    const struct node *function = node_find(root, "function");
    if (function) {
        name_subject(&mapping, "function", function);
        parse_function(&mapping, ret_workflow);
    } else {
        name_subject(&mapping, "workflow", node_find(root, "workflow"));
        parse_workflow(&mapping, ret_workflow);
    }
}
