/* tests/sim/function_start.c - what a program starts: jobs, instances, and children that it waits for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "function.h"

#include <stdio.h>

cairn_code run_start(struct run *run, const struct program_op *op, const char *given)
{
    char key[KEY_TEXT], id[40], text[64];
    cairn_code code;
    if (op->kind == P_JOB) {
        cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
        spec.type = "fj";
        spec.max_attempts = 2;
        spec.key = op->has_name ? "shared" : NULL;
        run_next_key(run, given ? given : spec.type, key);
        code = cairn_passage_start_job(run->passage, given, &spec, id, NULL);
    } else {
        cairn_start_options options = CAIRN_START_DEFAULTS;
        options.workflow = "w0";
        options.input = "{\"n\": 1}";
        options.key = op->has_name ? "shared" : NULL;
        run_next_key(run, given ? given : options.workflow, key);
        code = cairn_passage_start_workflow(run->passage, given, &options, id, NULL);
    }
    if (code)
        return code;
    if (!op->has_name) { /* a known one's id is only told by the next passage */
        snprintf(text, sizeof text, "{\"id\":\"%s\"}", id);
        law_of_told(run->runner, key, "start", text);
    }
    return CAIRN_OK;
}

/* A child's failure is the call's; one that takes too long goes on alone. */
cairn_code run_call(struct run *run, const struct program_op *op, const char *given)
{
    char key[KEY_TEXT], end[KEY_TEXT], end_key[KEY_TEXT];
    const char *output = NULL, *name = given ? given : op->child;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    options.workflow = op->child;
    options.input = "{\"n\": 1}";
    snprintf(end, sizeof end, "%s:end", name);
    run_next_key(run, name, key);
    run_next_key(run, end, end_key);
    cairn_code code =
        cairn_passage_call(run->passage, given, &options, op->timeout_ms, &output, NULL);
    if (code == CAIRN_E_TIMED_OUT) {
        law_of_told(run->runner, end_key, "wait", NULL);
        run->value = 0;
        return CAIRN_OK;
    }
    if (code != CAIRN_OK && code != CAIRN_E_STEP_FAILED)
        return code;
    law_of_answer(run->runner, key, end_key, code ? NULL : output);
    run_value(run, code ? "failed" : output);
    return op->is_tolerant ? CAIRN_OK : code;
}
