/* tests/sim/workflows.c - random workflows, as JSON text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "sim.h"

struct writer {
    struct rng *rng;
    struct buf *out;
    int names; /* given so far */
    bool has_forks;
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

static void add_step(struct writer *writer)
{
    buf_printf(writer->out, "{\"step\": \"s%d\", \"max_attempts\": %d", writer->names++,
               1 + below(writer, 3));
    if (chance(writer, 50))
        add_retry(writer);
    if (chance(writer, 20))
        buf_printf(writer->out, ", \"timeout\": \"%s\"", pick(writer, durations + 1, 3));
    if (chance(writer, 40))
        buf_printf(writer->out, ", \"on_failure\": \"%s\"", pick(writer, policies, 4));
    if (chance(writer, 10))
        buf_str(writer->out, ", \"idempotent\": false");
    if (chance(writer, 20))
        buf_printf(writer->out, ", \"priority\": %d", below(writer, 101));
    if (chance(writer, 35)) {
        buf_printf(writer->out,
                   ", \"compensation\": {\"handler\": \"u%d\", \"max_attempts\": %d",
                   writer->names - 1, below(writer, 4));
        if (chance(writer, 30))
            add_retry(writer);
        if (chance(writer, 10))
            buf_str(writer->out, ", \"idempotent\": false");
        buf_str(writer->out, "}");
    }
    buf_str(writer->out, "}");
}

static void add_wait(struct writer *writer)
{
    buf_printf(writer->out, "{\"wait\": \"w%d\", \"event\": \"e%d\"", writer->names++,
               below(writer, 2));
    if (chance(writer, 50)) {
        buf_printf(writer->out, ", \"timeout\": \"%s\"", pick(writer, durations, 4));
        if (chance(writer, 40))
            buf_str(writer->out, ", \"on_timeout\": \"continue\"");
    }
    if (chance(writer, 30))
        buf_printf(writer->out, ", \"on_failure\": \"%s\"", pick(writer, policies, 4));
    buf_str(writer->out, "}");
}

static void add_list(struct writer *writer, int count, int depth);

static void add_fork(struct writer *writer, int depth)
{
    int branches = 1 + below(writer, 3);
    buf_printf(writer->out, "{\"fork\": \"f%d\", \"join\": \"%s\", \"branches\": [",
               writer->names++, chance(writer, 50) ? "all" : "any");
    for (int i = 0; i < branches; i++) {
        buf_str(writer->out, i ? ", [" : "[");
        add_list(writer, 1 + below(writer, 2), depth + 1);
        buf_str(writer->out, "]");
    }
    buf_str(writer->out, "]}");
}

static void add_condition(struct writer *writer, int depth)
{
    buf_printf(writer->out, "{\"condition\": \"c%d\", \"when\": \"{{ %s .n 1 }}\", \"then\": [",
               writer->names++, chance(writer, 50) ? "gt" : "eq");
    add_list(writer, 1, depth + 1);
    buf_str(writer->out, "]");
    if (chance(writer, 50)) {
        buf_str(writer->out, ", \"else\": [");
        add_list(writer, 1, depth + 1);
        buf_str(writer->out, "]");
    }
    buf_str(writer->out, "}");
}

static void add_human(struct writer *writer)
{
    buf_printf(writer->out, "{\"human\": \"h%d\"", writer->names++);
    if (chance(writer, 40))
        buf_printf(writer->out, ", \"timeout\": \"%s\"", pick(writer, durations, 4));
    buf_str(writer->out, "}");
}

static void add_element(struct writer *writer, int depth)
{
    if (writer->has_forks && depth < 2 && writer->names < 8 && chance(writer, 30)) {
        if (chance(writer, 70))
            add_fork(writer, depth);
        else
            add_condition(writer, depth);
    } else if (writer->has_forks && chance(writer, 8)) {
        add_human(writer);
    } else if (chance(writer, 10)) {
        buf_printf(writer->out, "{\"sleep\": \"z%d\", \"for\": \"%s\"}", writer->names++,
                   pick(writer, durations, 4));
    } else if (chance(writer, 12)) {
        add_wait(writer);
    } else if (chance(writer, 8)) {
        buf_printf(writer->out, "{\"save_point\": \"p%d\"}", writer->names++);
    } else {
        add_step(writer);
    }
}

static void add_list(struct writer *writer, int count, int depth)
{
    for (int i = 0; i < count; i++) {
        buf_str(writer->out, i ? ", " : "");
        add_element(writer, depth);
    }
}

void workflow_make(struct rng *rng, const char *name, bool has_forks, struct buf *out)
{
    struct writer writer = {.rng = rng, .out = out, .has_forks = has_forks};
    buf_printf(out, "{\"workflow\": \"%s\", \"version\": 1, \"dlq\": %s, \"steps\": [", name,
               has_forks && chance(&writer, 20) ? "true" : "false");
    add_list(&writer, 1 + below(&writer, 4), 0);
    buf_str(out, "]}");
}
