/* definition/task.c - the keys of a step: attempts, retry, compensation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "definition/mapping.h"

#include <stdio.h>
#include <string.h>

static const char *const policies[] = {"fail_workflow", "pause_workflow", "continue",
                                       "compensate", NULL};
static const char *const backoffs[] = {
    [BACKOFF_FIXED] = "fixed",
    [BACKOFF_LINEAR] = "linear",
    [BACKOFF_EXPONENTIAL] = "exponential",
    [BACKOFF_QUADRATIC] = "quadratic",
    NULL,
};

const char *policy_name(enum failure_policy policy)
{
    return policy == POLICY_DEFAULT ? NULL : policies[policy - POLICY_FAIL];
}

bool backoff_is_default(const struct backoff *backoff)
{
    const struct backoff *usual = &backoff_for_steps;
    return backoff->kind == usual->kind && backoff->base_us == usual->base_us &&
           backoff->max_us == usual->max_us && backoff->jitter == usual->jitter;
}

int32_t compensation_attempts_default(const struct compensation_config *compensation)
{
    return compensation->is_idempotent ? ATTEMPTS_DEFAULT : 1;
}

void policy_parse(const struct mapping *mapping, struct element *element)
{
    size_t policy;
    if (mapping_word(mapping, "on_failure", policies, &policy))
        element->config.on_failure = POLICY_FAIL + policy;
}

static struct mapping inner_mapping(const struct mapping *mapping, const char *key,
                                    const struct node *map)
{
    struct mapping inner = {.reading = mapping->reading, .map = map};
    snprintf(inner.subject, sizeof inner.subject, "%.130s: %.20s", mapping->subject, key);
    return inner;
}

/* The default of max is five minutes, or the base if that is longer. */
static void parse_retry(const struct mapping *mapping, struct backoff *retry)
{
    static const char *const known[] = {"backoff", "base", "max", "jitter", NULL};
    const struct node *map = mapping_map(mapping, "retry");
    if (!map)
        return;
    struct mapping inner = inner_mapping(mapping, "retry", map);
    mapping_check_keys(&inner, known);
    size_t kind;
    if (mapping_word(&inner, "backoff", backoffs, &kind))
        retry->kind = (enum backoff_kind)kind;
    mapping_duration(&inner, "base", true, &retry->base_us);
    if (!mapping_duration(&inner, "max", false, &retry->max_us) &&
        retry->base_us > retry->max_us)
        retry->max_us = retry->base_us;
    mapping_fraction(&inner, "jitter", &retry->jitter);
}

/* Without idempotent at most one call is allowed. */
static void parse_attempts(const struct mapping *mapping, int32_t min, bool *is_idempotent,
                           int32_t *max_attempts)
{
    mapping_bool(mapping, "idempotent", is_idempotent);
    *max_attempts = *is_idempotent ? ATTEMPTS_DEFAULT : 1;
    if (!mapping_int(mapping, "max_attempts", min, INT32_MAX, max_attempts) || *is_idempotent)
        return;
    if (*max_attempts > 1) {
        mapping_flaw(mapping, node_find(mapping->map, "max_attempts")->at,
                     "max_attempts must be 1, since idempotent: false allows one call");
        *max_attempts = 1;
    }
}

void compensation_parse(const struct mapping *mapping, struct compensation_config *compensation)
{
    static const char *const known[] = {"handler",    "max_attempts", "retry", "timeout",
                                        "idempotent", "metadata",     NULL};
    const struct node *node = node_find(mapping->map, "compensation");
    char name[QUOTED_TEXT];
    if (node && node->kind == NODE_SCALAR && node->len) {
        mapping_flaw(mapping, node->at, "compensation must be a mapping: {handler: %s}",
                     quoted(name, node->text));
        return;
    }
    const struct node *map = mapping_map(mapping, "compensation");
    if (!map)
        return;
    struct mapping inner = inner_mapping(mapping, "compensation", map);
    mapping_check_keys(&inner, known);
    if (mapping_require(&inner, "handler"))
        mapping_name(&inner, "handler", &compensation->handler);
    parse_attempts(&inner, 0, &compensation->is_idempotent, &compensation->max_attempts);
    parse_retry(&inner, &compensation->retry);
    mapping_duration(&inner, "timeout", false, &compensation->timeout_us);
    mapping_metadata(&inner, &compensation->metadata);
}

void task_parse(const struct mapping *mapping, struct element *element)
{
    struct step_config *config = &element->config;
    element->handler = element->name;
    mapping_name(mapping, "handler", &element->handler);
    parse_attempts(mapping, 1, &config->is_idempotent, &element->max_attempts);
    mapping_int(mapping, "priority", 0, PRIORITY_MAX, &element->priority);
    parse_retry(mapping, &config->retry);
    mapping_duration(mapping, "timeout", false, &config->timeout_us);
    policy_parse(mapping, element);
    compensation_parse(mapping, &config->compensation);
    data_parse_template(mapping, "input", &config->input, &element->reads);
    data_parse_template(mapping, "output", &config->output, &element->output_reads);
    data_parse_group(mapping, element);
}
