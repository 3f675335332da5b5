/* tests/api/passage.c - passages of a function by hand, over JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "passage.h"

#include <string.h>

void copy_passage(struct caller *caller, struct passage *ret_passage)
{
    snprintf(ret_passage->id, sizeof ret_passage->id, "%s", text_at(caller, "tasks.0.id"));
    snprintf(ret_passage->token, sizeof ret_passage->token, "%s",
             text_at(caller, "tasks.0.token"));
    snprintf(ret_passage->instance, sizeof ret_passage->instance, "%s",
             text_at(caller, "tasks.0.instance_id"));
    ret_passage->revision = int_at(caller, "tasks.0.revision");
}

/* Claims the next passage, which must be there. */
struct passage claim_passage(struct caller *caller)
{
    struct passage passage;
    call_for(caller, 200, "POST", "/v1/tasks/claim",
             "{\"worker\":\"w\",\"types\":[\"order\"]}");
    CHECK(json_array_size(part(caller, "tasks")) == 1, "no passage: %s", caller->text);
    copy_passage(caller, &passage);
    return passage;
}

void check_none_due(struct caller *caller)
{
    call_for(caller, 200, "POST", "/v1/tasks/claim",
             "{\"worker\":\"w\",\"types\":[\"order\"]}");
    CHECK(json_array_size(part(caller, "tasks")) == 0, "%s", caller->text);
}

/* Deploys the function "order", starts an instance and claims its first passage. */
struct passage begin_passage(struct caller *caller)
{
    caller_open(caller);
    call_for(caller, 201, "POST", "/v1/workflows", "{\"function\":\"order\",\"version\":2}");
    call_for(caller, 201, "POST", "/v1/instances",
             "{\"workflow\":\"order\",\"input\":{\"n\":1}}");
    return claim_passage(caller);
}

const char *commit_target(const struct passage *passage)
{
    static char target[120];
    snprintf(target, sizeof target, "/v1/tasks/%s/commit", passage->id);
    return target;
}

/* `more` begins with a comma. */
void commit_for(struct caller *caller, int status, struct passage *passage, const char *outcome,
                const char *more)
{
    call_for(caller, status, "POST", commit_target(passage),
             "{\"worker\":\"w\",\"token\":\"%s\",\"revision\":%lld,\"outcome\":\"%s\"%s}",
             passage->token, passage->revision, outcome, more);
    if (status == 200)
        passage->revision = int_at(caller, "revision");
}

const char *about(const struct passage *passage, const char *rest)
{
    static char targets[4][800];
    static unsigned turn;
    char *target = targets[turn++ % 4];
    snprintf(target, sizeof targets[0], "/v1/instances/%s%s", passage->instance, rest);
    return target;
}
