/* tests/spec/family.c - parents and children of workflows in a world of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "family.h"

static void deploy(struct flow_world *fw, const char *name, const char *elements)
{
    char text[4000];
    snprintf(text, sizeof text, "{workflow: %s, version: 1, steps: [%s]}", name, elements);
    CHECK_DONE(&fw->world, wf_deploy(fw, text));
}

void fam_begin(struct flow_world *fw, const char *elements, const char *child,
               const char *grandchild)
{
    cairn_start_options options = CAIRN_START_DEFAULTS;
    wf_open(fw);
    deploy(fw, "w", elements);
    if (child)
        deploy(fw, "child", child);
    if (grandchild)
        deploy(fw, "grandchild", grandchild);
    options.workflow = "w";
    options.input = "{\"n\": 1}";
    CHECK_DONE(&fw->world, wf_start(fw, &options, NULL));
}

void fam_settle(struct flow_world *fw)
{
    struct task task;
    CHECK_INT(wf_take_many(fw, "w", "no.such.type", 1, &task), 0);
}

/* How many there are; with an id: the number-th one's. */
static size_t walk(struct flow_world *fw, const char *parent, size_t number, char *ret_id)
{
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    cairn_page *page;
    size_t count = 0;
    filter.limit = 1000;
    filter.parent = parent;
    CHECK_DONE(&fw->world,
               cairn_instance_list(fw->world.engine, &filter, &page, &fw->world.error));
    size_t all = cairn_page_count(page);
    for (size_t i = all; i > 0; i--, count++) {
        const cairn_instance *item = cairn_page_instance(page, i - 1);
        CHECK_STR(item->parent, parent);
        if (ret_id && count == number)
            snprintf(ret_id, 40, "%s", item->id);
    }
    cairn_page_free(page);
    return count;
}

size_t fam_count(struct flow_world *fw, const char *parent)
{
    return walk(fw, parent, 0, NULL);
}

void fam_child(struct flow_world *fw, const char *parent, size_t number, char ret_id[40])
{
    CHECK(walk(fw, parent, number, ret_id) > number, "%s has no child %zu", parent, number);
}

void fam_go(struct flow_world *fw, const char *id)
{
    char copy[40];
    snprintf(copy, sizeof copy, "%s", id);
    snprintf(fw->id, sizeof fw->id, "%s", copy);
}

void fam_check(struct flow_world *fw, const char *id, const char *status, const char *steps)
{
    char before[40];
    snprintf(before, sizeof before, "%s", fw->id);
    fam_go(fw, id);
    wf_check_status(fw, status);
    wf_check_steps(fw, steps);
    fam_go(fw, before);
}
