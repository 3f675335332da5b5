/* core/template.h - JSON whose strings hold expressions: where the input of a step comes from.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     {"order": "{{ $.input.order_id }}", "text": "Dear {{ .name }}", "tries": 3}
 *
 * A string that is one action and nothing else stands for the action's value, of whatever type;
 * what is missing is null.  With text around it, or with several actions, it is a string: strings
 * stand in it as they are, what is missing as nothing, anything else as JSON.  "{{-" and "-}}" drop
 * the white space before and behind an action.  {{ "{{" }} writes braces.  Keys are taken as they are.
 *
 * core/expression.h has the language.
 */
#ifndef CORE_TEMPLATE_H
#define CORE_TEMPLATE_H

#include "core/expression.h"

/* A template's own JSON has at most so many bytes (who reads one in checks that). */
enum { TEMPLATE_BYTES_MAX = 64 * 1024 };

/* Whether all its expressions are well-formed.  CAIRN_E_BAD_INPUT if not: the message begins with the
 * place within the JSON if that is not the whole: "items[2].name: unknown function ..." */
cairn_code template_check(const char *json, cairn_error *reterr);

/* Adds the steps whose output a well-formed template asks for. */
cairn_code template_steps(const char *json, struct arena *arena, struct expression_steps *steps,
                          cairn_error *reterr);

/* The JSON that it makes, in the arena, of at most `max` bytes.
 *
 * CAIRN_E_BAD_INPUT  an expression is not well-formed or fails, or the result is too large, too
 *                    deep or no UTF-8.
 * CAIRN_E_BAD_JSON, CAIRN_E_TOO_LARGE
 *                    a text of the scope that it asks for, or the template, cannot be read. */
cairn_code template_make(const char *json, const struct expression_scope *scope, size_t max,
                         struct arena *arena, const char **ret_json, cairn_error *reterr);

#endif
