/* definition/mapping.h - reads the values of a mapping, and adds a flaw for each wrong one.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A getter returns false and does not change the value if the key is missing or wrong.  Null is
 * wrong: an optional key is left out.
 */
#ifndef DEFINITION_MAPPING_H
#define DEFINITION_MAPPING_H

#include "definition/element.h"

/* A mapping, and its name in messages: step "ship". */
struct mapping {
    struct reading *reading;
    const struct node *map;
    char subject[2 * QUOTED_TEXT];
};

/* Adds "SUBJECT: ..." to the flaws. */
void mapping_flaw(const struct mapping *mapping, struct place at, const char *format, ...)
    format_like(3, 4);

/* Adds a flaw for each unknown key, with the nearest known one.  `known` ends with NULL. */
void mapping_check_keys(const struct mapping *mapping, const char *const *known);

/* The most similar known word; NULL: none is similar. */
const char *nearest_word(const char *word, const char *const *known);

/* False, with a flaw: the key is missing. */
bool mapping_require(const struct mapping *mapping, const char *key);

bool mapping_text(const struct mapping *mapping, const char *key, const char **ret_text);

/* The same, at most NAME_BYTES_MAX long. */
bool mapping_name(const struct mapping *mapping, const char *key, const char **ret_name);
bool mapping_bool(const struct mapping *mapping, const char *key, bool *ret_value);
bool mapping_int(const struct mapping *mapping, const char *key, int32_t min, int32_t max,
                 int32_t *ret_value);
bool mapping_fraction(const struct mapping *mapping, const char *key, double *ret_value);
bool mapping_duration(const struct mapping *mapping, const char *key, bool is_zero_allowed,
                      int64_t *ret_us);

/* One of the words, which end with NULL; returns its index. */
bool mapping_word(const struct mapping *mapping, const char *key, const char *const *words,
                  size_t *ret_index);

/* A value as canonical JSON with sorted keys; `what` names it in flaws.  NULL: it has one. */
const char *mapping_json(const struct mapping *mapping, const char *what,
                         const struct node *node);

/* The key `metadata` as canonical JSON.  False if it is empty. */
bool mapping_metadata(const struct mapping *mapping, const char **ret_json);

/* A list or mapping; NULL, with a flaw if it is something else. */
const struct node *mapping_list(const struct mapping *mapping, const char *key);
const struct node *mapping_map(const struct mapping *mapping, const char *key);

/* task.c: the keys of a step (attempts, retry, compensation); on_failure, of any element that can fail. */
void task_parse(const struct mapping *mapping, struct element *element);
void policy_parse(const struct mapping *mapping, struct element *element);

/* data.c: where the data of an element comes from.  `input` and `output` are templates, `when` is a condition. */
void data_parse_group(const struct mapping *mapping, struct element *element);
void data_parse_template(const struct mapping *mapping, const char *key, const char **ret_json,
                         struct named_steps *ret_steps);
void data_parse_when(const struct mapping *mapping, struct element *element);

void compensation_parse(const struct mapping *mapping,
                        struct compensation_config *compensation);

/* child.c: the keys of `start`, and of `map` but for its steps. */
void map_parse(const struct mapping *mapping, struct element *element);
void start_parse(const struct mapping *mapping, struct element *element);

/* input.c: what the file says about the input of an instance. */
void input_parse(const struct mapping *mapping, struct workflow *workflow);

#endif
