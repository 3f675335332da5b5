/* tests/sim/workflows.c - random workflows, as JSON text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "sim.h"

#include <stdio.h>
#include <string.h>

enum { STEPS_KNOWN = 16, STEP_NAME = 16 };

struct writer {
    char steps[STEPS_KNOWN][STEP_NAME]; /* names that expressions may use */
    int step_count;
    struct rng *rng;
    struct buf *out;
    int names; /* given so far */
    int rows;  /* an instance will have so far */
    bool has_sagas, is_dlq;
    int children; /* one more than there are workflows to start; 0: no children at all */
    int families; /* starts and maps so far, each of which makes instances */
};

static int below(struct writer *writer, int bound)
{
    return (int)rng_below(writer->rng, (uint64_t)bound);
}

static bool chance(struct writer *writer, int percent)
{
    return below(writer, 100) < percent;
}

static const char *pick(struct writer *writer, const char *const *words, int count)
{
    return words[below(writer, count)];
}

static const char *const policies[] = {"fail_workflow", "pause_workflow", "continue",
                                       "compensate"};
static const char *const backoffs[] = {"fixed", "linear", "exponential", "quadratic"};
static const char *const durations[] = {"1ms", "500ms", "2s", "20s"};

static void add_retry(struct writer *writer)
{
    buf_printf(writer->out, ", \"retry\": {\"backoff\": \"%s\", \"base\": \"%s\"}",
               pick(writer, backoffs, 4), pick(writer, durations, 4));
}

/* What is not idempotent is called once. */
static void add_attempts(struct writer *writer, int least)
{
    if (chance(writer, 10))
        buf_printf(writer->out, ", \"max_attempts\": %d, \"idempotent\": false",
                   below(writer, 2) ? 1 : least);
    else
        buf_printf(writer->out, ", \"max_attempts\": %d", least + below(writer, 3));
}

static void add_compensation(struct writer *writer)
{
    buf_printf(writer->out, ", \"compensation\": {\"handler\": \"u%d\"", writer->names - 1);
    add_attempts(writer, 0);
    if (chance(writer, 30))
        add_retry(writer);
    if (writer->has_sagas && chance(writer, 20))
        buf_printf(writer->out, ", \"timeout\": \"%s\"", pick(writer, durations + 1, 3));
    buf_str(writer->out, "}");
}

/* What laws_data.c knows: all of what arrives, the instance's input, and the output of one step, which is
 * its own or came before it in the file.  Now and then it cannot be made. */
static void add_input(struct writer *writer, const char *own, bool may_fail)
{
    if (may_fail && chance(writer, 5)) {
        buf_str(writer->out, ", \"input\": \"{{ len .n }}\"");
        return;
    }
    const char *read =
        writer->step_count ? writer->steps[below(writer, writer->step_count)] : own;
    buf_printf(
        writer->out,
        ", \"input\": {\"of\": \"{{ . }}\", \"start\": \"{{ $.input }}\", \"n\": \"{{ .n | "
        "default 1 }}\", \"%s\": \"{{ $.steps.%s.output }}\"}",
        read, read);
}

static void add_output(struct writer *writer, bool may_fail)
{
    if (may_fail && chance(writer, 5))
        buf_str(writer->out, ", \"output\": \"{{ index .n 0 }}\"");
    else
        buf_str(writer->out, ", \"output\": {\"got\": \"{{ . }}\", \"n\": \"{{ .n }}\"}");
}

/* What fails each time that it is tried must not be tried for ever. */
static void add_data(struct writer *writer, const char *own, const char *policy)
{
    bool may_fail = !writer->is_dlq && strcmp(policy, "pause_workflow") != 0;
    if (chance(writer, 25))
        add_input(writer, own, may_fail);
    if (chance(writer, 15))
        add_output(writer, may_fail);
    if (writer->step_count < STEPS_KNOWN)
        snprintf(writer->steps[writer->step_count++], sizeof *writer->steps, "%s", own);
}

static void add_step(struct writer *writer)
{
    char own[STEP_NAME];
    snprintf(own, sizeof own, "s%d", writer->names);
    buf_printf(writer->out, "{\"step\": \"s%d\"", writer->names++);
    writer->rows++;
    add_attempts(writer, 1);
    if (chance(writer, 50))
        add_retry(writer);
    if (chance(writer, 20))
        buf_printf(writer->out, ", \"timeout\": \"%s\"", pick(writer, durations + 1, 3));
    const char *policy = chance(writer, 40) ? pick(writer, policies, 4) : "";
    if (*policy)
        buf_printf(writer->out, ", \"on_failure\": \"%s\"", policy);
    add_data(writer, own, policy);
    if (chance(writer, 20))
        buf_printf(writer->out, ", \"priority\": %d", below(writer, 101));
    if (chance(writer, writer->has_sagas ? 60 : 35))
        add_compensation(writer);
    buf_str(writer->out, "}");
}

static void add_wait(struct writer *writer)
{
    buf_printf(writer->out, "{\"wait\": \"w%d\", \"event\": \"e%d\"", writer->names++,
               below(writer, 2));
    writer->rows++;
    if (chance(writer, 50)) {
        buf_printf(writer->out, ", \"timeout\": \"%s\"", pick(writer, durations, 4));
        if (chance(writer, 40))
            buf_str(writer->out, ", \"on_timeout\": \"continue\"");
    }
    if (chance(writer, 30))
        buf_printf(writer->out, ", \"on_failure\": \"%s\"", pick(writer, policies, 4));
    buf_str(writer->out, "}");
}

/* ---- constructs -------------------------------------------------------------------------- */

enum { DEPTH_MAX = 3 };

static void add_list(struct writer *writer, int count, int depth);

/* At the end of a list a fork needs no join. */
static void add_fork(struct writer *writer, int depth, bool is_last)
{
    int branches = 1 + below(writer, 3);
    buf_printf(writer->out, "{\"fork\": \"f%d\"", writer->names++);
    writer->rows += 2;
    if (!is_last || chance(writer, 60))
        buf_printf(writer->out, ", \"join\": \"%s\"", chance(writer, 50) ? "all" : "any");
    buf_str(writer->out, ", \"branches\": [");
    for (int i = 0; i < branches; i++) {
        buf_str(writer->out, i ? ", [" : "[");
        add_list(writer, 1 + below(writer, 3), depth + 1);
        buf_str(writer->out, "]");
    }
    buf_str(writer->out, "]}");
}

static void add_parallel(struct writer *writer)
{
    int steps = 1 + below(writer, 3);
    buf_printf(writer->out, "{\"parallel\": \"l%d\", \"steps\": [", writer->names++);
    writer->rows += 2;
    for (int i = 0; i < steps; i++) {
        buf_str(writer->out, i ? ", " : "");
        add_step(writer);
    }
    buf_str(writer->out, "]}");
}

/* The instance's input or a step's output may be anything; the last of these yields no boolean. */
static const char *const expressions[] = {"gt .n 1", "eq .n 1", "not (ge .n 2)", "and .n 1"};

static void add_condition(struct writer *writer, int depth)
{
    int lists = 1 + below(writer, 3); /* then, else, or both */
    buf_printf(writer->out, "{\"condition\": \"c%d\", \"when\": \"{{ %s }}\"", writer->names++,
               expressions[chance(writer, 4) ? 3 : below(writer, 3)]);
    writer->rows++;
    for (int i = 0; i < 2; i++) {
        if (!(lists >> i & 1))
            continue;
        buf_str(writer->out, i ? ", \"else\": [" : ", \"then\": [");
        add_list(writer, 1 + below(writer, 2), depth + 1);
        buf_str(writer->out, "]");
    }
    buf_str(writer->out, "}");
}

static void add_human(struct writer *writer)
{
    buf_printf(writer->out, "{\"human\": \"h%d\"", writer->names++);
    writer->rows++;
    if (chance(writer, 50)) {
        buf_printf(writer->out, ", \"timeout\": \"%s\"", pick(writer, durations, 4));
        if (chance(writer, 40))
            buf_str(writer->out, ", \"on_timeout\": \"continue\"");
    }
    if (chance(writer, 30))
        buf_printf(writer->out, ", \"on_failure\": \"%s\"", pick(writer, policies, 4));
    buf_str(writer->out, "}");
}

/* ---- children ---------------------------------------------------------------------------- */

enum { FAMILIES_MAX = 2, ELEMENTS_MAX = 6 };

/* What laws_children.c looks for: the elements are numbered in their order. */
static void add_elements(struct writer *writer)
{
    int count = below(writer, ELEMENTS_MAX + 1);
    for (int i = 0; i < count; i++)
        buf_printf(writer->out, "%s{\"n\": %d}", i ? ", " : "", i);
}

static void add_policy(struct writer *writer)
{
    if (chance(writer, 60))
        buf_printf(writer->out, ", \"on_failure\": \"%s\"", pick(writer, policies, 4));
    if (chance(writer, 20))
        add_compensation(writer);
    buf_str(writer->out, "}");
}

/* Workflows start those before them alone, so that they come to an end. */
static void add_start(struct writer *writer)
{
    buf_printf(writer->out, "{\"start\": \"b%d\", \"workflow\": \"w%d\"", writer->names++,
               below(writer, writer->children - 1));
    writer->rows++;
    if (chance(writer, 70)) {
        buf_str(writer->out, ", \"input\": {\"n\": 2, \"list\": [");
        add_elements(writer);
        buf_str(writer->out, "]}");
    }
    if (chance(writer, 20)) {
        buf_str(writer->out, ", \"wait\": false}");
        return;
    }
    add_policy(writer);
}

/* Its steps are another instance's, so they cannot read those of this one. */
static void add_map(struct writer *writer)
{
    struct writer inner = {.rng = writer->rng,
                           .out = writer->out,
                           .has_sagas = writer->has_sagas,
                           .is_dlq = writer->is_dlq,
                           .rows = 12};
    buf_printf(writer->out, "{\"map\": \"m%d\", %s", writer->names++,
               chance(writer, 30)
                   ? "\"input\": {\"list\": \"{{ $.input.list }}\"}, \"over\": \"{{ .list }}\""
                   : "\"over\": \"{{ $.input.list }}\"");
    writer->rows++;
    if (chance(writer, 50))
        buf_printf(writer->out, ", \"max_parallel\": %d", 1 + below(writer, 3));
    if (chance(writer, 25))
        buf_str(writer->out, ", \"join\": \"any\"");
    else if (chance(writer, 35))
        buf_printf(writer->out, ", \"join\": {\"at_least\": %d}", 1 + below(writer, 3));
    if (chance(writer, 15))
        buf_str(writer->out, ", \"collect\": false");
    buf_str(writer->out, ", \"steps\": [");
    inner.names = writer->names;
    add_list(&inner, 1 + below(writer, 2), 1);
    writer->names = inner.names;
    buf_str(writer->out, "]");
    add_policy(writer);
}

static bool add_family(struct writer *writer)
{
    if (!writer->children || writer->families == FAMILIES_MAX || !chance(writer, 30))
        return false;
    writer->families++;
    if (writer->children > 1 && chance(writer, 60))
        add_start(writer);
    else
        add_map(writer);
    return true;
}

static void add_construct(struct writer *writer, int depth, bool is_last)
{
    int what = below(writer, 100);
    if (what < 50)
        add_fork(writer, depth, is_last);
    else if (what < 65)
        add_parallel(writer);
    else
        add_condition(writer, depth);
}

static void add_element(struct writer *writer, int depth, bool is_last)
{
    bool has_room = depth < DEPTH_MAX && writer->rows < 14;
    if (add_family(writer))
        return;
    if (writer->has_sagas && has_room && chance(writer, 35)) {
        add_construct(writer, depth, is_last);
    } else if (writer->has_sagas && chance(writer, 8)) {
        add_human(writer);
    } else if (chance(writer, 10)) {
        writer->rows++;
        buf_printf(writer->out, "{\"sleep\": \"z%d\", \"for\": \"%s\"}", writer->names++,
                   pick(writer, durations, 4));
    } else if (chance(writer, 12)) {
        add_wait(writer);
    } else if (chance(writer, writer->has_sagas ? 14 : 8)) {
        writer->rows++;
        buf_printf(writer->out, "{\"save_point\": \"p%d\"}", writer->names++);
    } else {
        add_step(writer);
    }
}

static void add_list(struct writer *writer, int count, int depth)
{
    for (int i = 0; i < count; i++) {
        buf_str(writer->out, i ? ", " : "");
        add_element(writer, depth, i == count - 1);
    }
}

void workflow_make(struct rng *rng, const char *name, bool has_sagas, int children,
                   struct buf *out)
{
    struct writer writer = {
        .rng = rng, .out = out, .has_sagas = has_sagas, .children = children};
    writer.is_dlq = has_sagas && chance(&writer, 25);
    buf_printf(out, "{\"workflow\": \"%s\", \"version\": 1, \"dlq\": %s, \"steps\": [", name,
               writer.is_dlq ? "true" : "false");
    add_list(&writer, 1 + below(&writer, 4), 0);
    buf_str(out, "]}");
}
