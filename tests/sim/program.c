/* tests/sim/program.c - random functions, as small programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "function.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 2 };

struct writer {
    struct rng *rng;
    struct program *program;
    bool has_started;      /* a program starts something at most once: restarts do it again */
    int number, functions; /* which one of how many; functions 0: it has no relatives */
    int calls;             /* of children, so far */
};

static int below(struct writer *writer, int bound)
{
    return (int)rng_below(writer->rng, (uint64_t)bound);
}

static bool chance(struct writer *writer, int percent)
{
    return below(writer, 100) < percent;
}

/* Few names, so that they repeat: "s1", "s1#2". */
static void name(struct writer *writer, struct program_op *op, char letter)
{
    snprintf(op->key, sizeof op->key, "%c%d", letter, below(writer, 4));
}

static int64_t duration(struct writer *writer)
{
    static const int64_t durations_ms[] = {0, 1, 500, 2000, 20000};
    return durations_ms[below(writer, 5)];
}

static void make_step(struct writer *writer, struct program_op *op)
{
    static const char *const backoffs[] = {"fixed", "linear", "exponential", "quadratic"};
    op->kind = P_STEP;
    name(writer, op, 's');
    op->retries = below(writer, 4);
    op->backoff = backoffs[below(writer, 4)];
    op->ms = duration(writer);
    op->timeout_ms = chance(writer, 15) ? 1 + duration(writer) : 0;
    op->is_tolerant = chance(writer, 40);
    if (chance(writer, 45)) {
        snprintf(op->compensation, sizeof op->compensation, "u%d", below(writer, 4));
        op->compensation_max_attempts = below(writer, 4);
    }
}

static void make_wait(struct writer *writer, struct program_op *op)
{
    op->kind = P_WAIT;
    op->event = chance(writer, 50) ? "e0" : "e1";
    if (chance(writer, 50))
        name(writer, op, 'x');
    op->timeout_ms = chance(writer, 50) ? -1 : duration(writer);
}

static void make_sleep(struct writer *writer, struct program_op *op)
{
    op->kind = chance(writer, 60) ? P_SLEEP : P_SLEEP_UNTIL;
    if (chance(writer, 50))
        name(writer, op, 'z');
    op->ms = duration(writer);
}

static void make_start(struct writer *writer, struct program_op *op)
{
    op->kind = chance(writer, 60) ? P_JOB : P_FLOW;
    if (chance(writer, 50))
        name(writer, op, 'g');
    op->has_name = chance(writer, 25);
    writer->has_started = true;
}

/* Of a workflow, or of a function that comes after this one. */
static void make_call(struct writer *writer, struct program_op *op)
{
    int later = writer->functions - writer->number - 1;
    op->kind = P_CALL;
    if (chance(writer, 70))
        name(writer, op, 'c');
    if (later > 0 && chance(writer, 65))
        snprintf(op->child, sizeof op->child, "f%d",
                 (writer->number + 1 + below(writer, later)) % 10);
    else
        snprintf(op->child, sizeof op->child, "w0");
    op->timeout_ms = chance(writer, 75) ? -1 : duration(writer);
    op->is_tolerant = chance(writer, 60);
    writer->calls++;
}

static void add_list(struct writer *writer, int count, int depth);

static struct program_op *add(struct writer *writer)
{
    struct program_op *op = &writer->program->ops[writer->program->count++];
    *op = (struct program_op){0};
    return op;
}

static int add_part(struct writer *writer, int most, int depth)
{
    int from = writer->program->count;
    add_list(writer, 1 + below(writer, most), depth + 1);
    return writer->program->count - from;
}

static void add_branch(struct writer *writer, int depth)
{
    struct program_op *op = add(writer);
    op->kind = P_BRANCH;
    op->count = add_part(writer, 2, depth);
    op->other = chance(writer, 60) ? add_part(writer, 2, depth) : 0;
}

static void add_loop(struct writer *writer, int depth)
{
    struct program_op *op = add(writer);
    op->kind = P_LOOP;
    op->count = add_part(writer, 2, depth);
    op->other = 1 + below(writer, 3);
}

static void add_group(struct writer *writer)
{
    struct program_op *op = add(writer);
    op->kind = P_GROUP;
    op->count = 2 + below(writer, 3);
    for (int i = 0; i < op->count; i++)
        make_step(writer, add(writer));
}

/* What concerns relatives; false: nothing was added. */
static bool add_relative(struct writer *writer, int depth)
{
    bool has_room = writer->program->count + 10 < PROGRAM_OPS_MAX;
    bool may_call = depth == 0 && writer->calls < (writer->number ? 1 : 2);
    int what = writer->functions ? below(writer, 100) : 100;
    if (what < 22 && may_call)
        make_call(writer, add(writer));
    else if (what >= 22 && what < 36 && has_room)
        add_group(writer);
    else
        return false;
    return true;
}

static void add_one(struct writer *writer, int depth)
{
    static const enum program_op_kind values[] = {P_NOW, P_RANDOM, P_UUID};
    bool has_room = depth < DEPTH_MAX && writer->program->count + 10 < PROGRAM_OPS_MAX;
    if (add_relative(writer, depth))
        return;
    int what = below(writer, 100);
    if (what < 12 && has_room)
        add_branch(writer, depth);
    else if (what < 22 && has_room)
        add_loop(writer, depth);
    else if (what < 28 && depth == 0 && !writer->has_started)
        make_start(writer, add(writer));
    else if (what < 38)
        add(writer)->kind = values[below(writer, 3)];
    else if (what < 46)
        add(writer)->kind = P_LOG;
    else if (what < 55)
        make_sleep(writer, add(writer));
    else if (what < 65)
        make_wait(writer, add(writer));
    else if (what < 68 && depth)
        add(writer)->kind = chance(writer, 50) ? P_FAIL : P_COMPLETE;
    else
        make_step(writer, add(writer));
}

static void add_list(struct writer *writer, int count, int depth)
{
    for (int i = 0; i < count && writer->program->count + 2 < PROGRAM_OPS_MAX; i++)
        add_one(writer, depth);
}

/* Everything at once, each under a key of its own. */
static void add_strands(struct writer *writer)
{
    int count = 2 + below(writer, 3);
    for (int i = 0; i < count; i++) {
        struct program_op *op = add(writer);
        if (chance(writer, 45))
            make_wait(writer, op);
        else if (chance(writer, 40))
            make_sleep(writer, op);
        else
            make_step(writer, op);
        snprintf(op->key, sizeof op->key, "p%d", i);
    }
}

void program_make(struct rng *rng, int number, int functions, struct program *ret_program)
{
    struct writer writer = {
        .rng = rng, .program = ret_program, .number = number, .functions = functions};
    *ret_program = (struct program){0};
    snprintf(ret_program->name, sizeof ret_program->name, "f%d", number);
    ret_program->is_dlq = chance(&writer, 20);
    ret_program->max_attempts = 1 + below(&writer, 4);
    ret_program->is_fanout = chance(&writer, 25);
    ret_program->is_passage_mode = chance(&writer, 40);
    if (ret_program->is_fanout)
        add_strands(&writer);
    else
        add_list(&writer, 2 + below(&writer, 5), 0);
    if (chance(&writer, 15))
        add(&writer)->kind = P_FAIL;
}

void program_print(const struct program *program, struct buf *out)
{
    static const char *const words[] = {
        "step", "sleep", "sleep_until", "wait",  "log", "now",  "random", "uuid",
        "job",  "flow",  "call",        "group", "if",  "loop", "fail",   "complete"};
    buf_printf(out, "%s, %s:", program->name,
               program->is_fanout         ? "fan-out"
               : program->is_passage_mode ? "a commit for each passage"
                                          : "a commit for each step");
    for (int i = 0; i < program->count; i++) {
        const struct program_op *op = &program->ops[i];
        buf_printf(out, "\n    %d %s %s", i, words[op->kind], op->key);
        if (op->kind == P_BRANCH || op->kind == P_LOOP)
            buf_printf(out, "%d, %d", op->count, op->other);
        if (op->kind == P_STEP)
            buf_printf(out, " retries %d after %lld ms%s%s%s", op->retries, (long long)op->ms,
                       op->timeout_ms ? ", limited" : "", op->is_tolerant ? ", tolerant" : "",
                       op->compensation[0] ? ", undone" : "");
        if (op->kind == P_CALL)
            buf_printf(out, " of %s, %lld ms%s", op->child, (long long)op->timeout_ms,
                       op->is_tolerant ? ", tolerant" : "");
        if (op->kind == P_GROUP)
            buf_printf(out, "of %d", op->count);
        if (op->kind == P_SLEEP || op->kind == P_SLEEP_UNTIL)
            buf_printf(out, " %lld ms", (long long)op->ms);
        if (op->kind == P_WAIT)
            buf_printf(out, " for %s, %lld ms", op->event, (long long)op->timeout_ms);
    }
}

const struct program *program_find(const struct sim *sim, const char *name)
{
    for (int i = 0; i < sim->program_count; i++)
        if (strcmp(sim->programs[i].name, name) == 0)
            return &sim->programs[i];
    return NULL;
}
