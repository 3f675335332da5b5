/* simulate/law.c - reads a law by recursive descent, and decides whether it holds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/law.h"

#include "base/error.h"

#include <ctype.h>
#include <string.h>

struct reader {
    struct law *law;
    const char *at;
    const char *const *steps;
    size_t step_count;
    int depth;
    cairn_error *reterr;
};

/* ---- words ------------------------------------------------------------------------------------- */

static void skip_space(struct reader *reader)
{
    while (isspace((unsigned char)*reader->at))
        reader->at++;
}

static cairn_code refuse(struct reader *reader, const char *wanted)
{
    fail(reader->reterr, CAIRN_E_BAD_INPUT, "cannot read the law \"%.200s\"",
         reader->law->text);
    if (*reader->at)
        fail_detail(reader->reterr, CAIRN_E_BAD_INPUT, "%s is expected at \"%.60s\"", wanted,
                    reader->at);
    else
        fail_detail(reader->reterr, CAIRN_E_BAD_INPUT, "%s is expected at its end", wanted);
    return fail_hint(
        reader->reterr, CAIRN_E_BAD_INPUT,
        "facts are done(STEP), undone(STEP), called(STEP) and ended(STATUS); they are joined "
        "by not, and, or, => and parentheses");
}

static size_t word_length(const char *text)
{
    size_t len = 0;
    while (isalpha((unsigned char)text[len]))
        len++;
    return len;
}

/* Takes a word or a sign if it stands here. */
static bool take(struct reader *reader, const char *token)
{
    skip_space(reader);
    size_t len = strlen(token);
    bool is_word = isalpha((unsigned char)*token);
    if (is_word ? word_length(reader->at) != len || strncmp(reader->at, token, len) != 0
                : strncmp(reader->at, token, len) != 0)
        return false;
    reader->at += len;
    return true;
}

/* ---- facts ------------------------------------------------------------------------------------- */

/* The text between parentheses, without the space around it. */
static cairn_code take_name(struct reader *reader, const char **ret_name, size_t *ret_len)
{
    if (!take(reader, "("))
        return refuse(reader, "\"(\"");
    skip_space(reader);
    bool is_quoted = *reader->at == '"';
    const char *begin = reader->at + is_quoted;
    const char *end = begin + strcspn(begin, is_quoted ? "\"" : ")");
    if (*end == '\0')
        return refuse(reader, is_quoted ? "a name that ends with a quote"
                                        : "a name that ends with \")\"");
    reader->at = end + is_quoted;
    while (!is_quoted && end > begin && isspace((unsigned char)end[-1]))
        end--;
    if (!take(reader, ")"))
        return refuse(reader, "\")\"");
    *ret_name = begin;
    *ret_len = (size_t)(end - begin);
    return CAIRN_OK;
}

static bool is_name(const char *name, const char *text, size_t len)
{
    return strlen(name) == len && memcmp(name, text, len) == 0;
}

/* WORKFLOW.STEP of a child's step that is not the only one with its name. */
static bool is_end_of(const char *step, const char *name, size_t len)
{
    size_t all = strlen(step);
    return len && all > len + 1 && step[all - len - 1] == '.' &&
           memcmp(step + all - len, name, len) == 0;
}

static cairn_code refuse_shared(struct reader *reader, const char *step, const char *name,
                                size_t len)
{
    fail(reader->reterr, CAIRN_E_BAD_INPUT,
         "the law \"%.200s\" names a step that several workflows have: %.*s", reader->law->text,
         (int)(len < 256 ? len : 256), name);
    return fail_hint(reader->reterr, CAIRN_E_BAD_INPUT, "name the workflow, too, as in %.200s",
                     step);
}

static cairn_code find_step(struct reader *reader, const char *name, size_t len, int *ret_what)
{
    for (size_t i = 0; i < reader->step_count; i++)
        if (is_name(reader->steps[i], name, len)) {
            *ret_what = (int)i;
            return CAIRN_OK;
        }
    for (size_t i = 0; i < reader->step_count; i++)
        if (is_end_of(reader->steps[i], name, len))
            return refuse_shared(reader, reader->steps[i], name, len);
    fail(reader->reterr, CAIRN_E_BAD_INPUT,
         "the law \"%.200s\" names a step that does not exist: %.*s", reader->law->text,
         (int)(len < 256 ? len : 256), name);
    return fail_hint(reader->reterr, CAIRN_E_BAD_INPUT, "the first step is called %s",
                     reader->step_count ? reader->steps[0] : "nothing");
}

static cairn_code find_status(struct reader *reader, const char *name, size_t len,
                              int *ret_what)
{
    static const struct {
        const char *word;
        cairn_instance_status status;
    } ends[] = {{"completed", CAIRN_INSTANCE_COMPLETED},
                {"failed", CAIRN_INSTANCE_FAILED},
                {"cancelled", CAIRN_INSTANCE_CANCELLED},
                {"aborted", CAIRN_INSTANCE_ABORTED}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (is_name(ends[i].word, name, len)) {
            *ret_what = ends[i].status;
            return CAIRN_OK;
        }
    fail(reader->reterr, CAIRN_E_BAD_INPUT,
         "the law \"%.200s\" names an end that does not exist: %.*s", reader->law->text,
         (int)(len < 256 ? len : 256), name);
    return fail_hint(reader->reterr, CAIRN_E_BAD_INPUT,
                     "an instance ends as completed, failed, cancelled or aborted");
}

/* ---- the tree ---------------------------------------------------------------------------------- */

static cairn_code add(struct reader *reader, struct law_node node, int *ret_index)
{
    struct law *law = reader->law;
    if (law->count == LAW_NODES_MAX)
        return fail(reader->reterr, CAIRN_E_TOO_LARGE,
                    "the law \"%.60s...\" is too large: more than %d parts", law->text,
                    LAW_NODES_MAX);
    *ret_index = law->count;
    law->nodes[law->count++] = node;
    return CAIRN_OK;
}

static cairn_code read_implies(struct reader *reader, int *ret_index);

static cairn_code read_fact(struct reader *reader, int *ret_index)
{
    static const char *const words[] = {[LAW_DONE] = "done",
                                        [LAW_UNDONE] = "undone",
                                        [LAW_CALLED] = "called",
                                        [LAW_ENDED] = "ended"};
    for (int op = LAW_DONE; op <= LAW_ENDED; op++) {
        struct law_node node = {.op = (enum law_op)op};
        const char *name = "";
        size_t len = 0;
        if (!take(reader, words[op]))
            continue;
        TRY(take_name(reader, &name, &len));
        TRY(op == LAW_ENDED ? find_status(reader, name, len, &node.what)
                            : find_step(reader, name, len, &node.what));
        return add(reader, node, ret_index);
    }
    return refuse(reader, "a fact");
}

static cairn_code read_not(struct reader *reader, int *ret_index)
{
    struct law_node node = {.op = LAW_NOT};
    if (++reader->depth > LAW_DEPTH_MAX)
        return fail(reader->reterr, CAIRN_E_TOO_LARGE,
                    "the law \"%.60s...\" is nested too deep", reader->law->text);
    if (take(reader, "not")) {
        TRY(read_not(reader, &node.left));
        TRY(add(reader, node, ret_index));
    } else if (take(reader, "(")) {
        TRY(read_implies(reader, ret_index));
        if (!take(reader, ")"))
            return refuse(reader, "\")\"");
    } else {
        TRY(read_fact(reader, ret_index));
    }
    reader->depth--;
    return CAIRN_OK;
}

static cairn_code read_and(struct reader *reader, int *ret_index)
{
    TRY(read_not(reader, ret_index));
    while (take(reader, "and")) {
        struct law_node node = {.op = LAW_AND, .left = *ret_index};
        TRY(read_not(reader, &node.right));
        TRY(add(reader, node, ret_index));
    }
    return CAIRN_OK;
}

static cairn_code read_or(struct reader *reader, int *ret_index)
{
    TRY(read_and(reader, ret_index));
    while (take(reader, "or")) {
        struct law_node node = {.op = LAW_OR, .left = *ret_index};
        TRY(read_and(reader, &node.right));
        TRY(add(reader, node, ret_index));
    }
    return CAIRN_OK;
}

/* "a => b => c" is "a => (b => c)". */
static cairn_code read_implies(struct reader *reader, int *ret_index)
{
    TRY(read_or(reader, ret_index));
    if (!take(reader, "=>"))
        return CAIRN_OK;
    struct law_node node = {.op = LAW_IMPLIES, .left = *ret_index};
    if (++reader->depth > LAW_DEPTH_MAX)
        return fail(reader->reterr, CAIRN_E_TOO_LARGE,
                    "the law \"%.60s...\" is nested too deep", reader->law->text);
    TRY(read_implies(reader, &node.right));
    reader->depth--;
    return add(reader, node, ret_index);
}

cairn_code law_read(const char *text, const char *const *steps, size_t step_count,
                    struct law *ret_law, cairn_error *reterr)
{
    *ret_law = (struct law){.text = text};
    struct reader reader = {
        .law = ret_law, .at = text, .steps = steps, .step_count = step_count, .reterr = reterr};
    if (strlen(text) > LAW_TEXT_MAX)
        return fail(reterr, CAIRN_E_TOO_LARGE, "the law \"%.60s...\" has more than %d bytes",
                    text, LAW_TEXT_MAX);
    TRY(read_implies(&reader, &ret_law->root));
    skip_space(&reader);
    return *reader.at ? refuse(&reader, "\"and\", \"or\", \"=>\" or the end") : CAIRN_OK;
}

/* ---- whether it holds -------------------------------------------------------------------------- */

static bool node_holds(const struct law *law, int index, const struct law_step *steps,
                       cairn_instance_status status)
{
    const struct law_node *node = &law->nodes[index];
    switch (node->op) {
    case LAW_DONE:
        return steps[node->what].is_done;
    case LAW_UNDONE:
        return steps[node->what].is_undone;
    case LAW_CALLED:
        return steps[node->what].is_called;
    case LAW_ENDED:
        return (int)status == node->what;
    case LAW_NOT:
        return !node_holds(law, node->left, steps, status);
    case LAW_AND:
        return node_holds(law, node->left, steps, status) &&
               node_holds(law, node->right, steps, status);
    case LAW_OR:
        return node_holds(law, node->left, steps, status) ||
               node_holds(law, node->right, steps, status);
    case LAW_IMPLIES:
        return !node_holds(law, node->left, steps, status) ||
               node_holds(law, node->right, steps, status);
    }
    return false;
}

bool law_holds(const struct law *law, const struct law_step *steps,
               cairn_instance_status status)
{
    return node_holds(law, law->root, steps, status);
}
