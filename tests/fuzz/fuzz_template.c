/* tests/fuzz/fuzz_template.c - templates: checked, and made from data.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The input is the JSON of a template, a line end, and the JSON that it is made from.  What
 * template_check() refuses must not be made; what is made is JSON that can be stored, within its
 * limit, and the same a second time.
 */
#include "base/json.h"
#include "base/mem.h"
#include "core/template.h"
#include "fuzz.h"

#include <stdbool.h>
#include <string.h>

enum { ROOM = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *template = malloc(len + 1);
    MUST(template);
    memcpy(template, bytes, len);
    template[len] = '\0';
    char *data = strchr(template, '\n');
    if (data)
        *data++ = '\0';

    const struct expression_output outputs[] = {{"one", data}, {"two", NULL}};
    const struct expression_scope scope = {.data = data,
                                           .input = data,
                                           .instance_id = "id",
                                           .key = "key",
                                           .tags = "{\"a\":\"b\"}",
                                           .outputs = outputs,
                                           .output_count = 2};
    struct arena arena = {0};
    struct expression_steps steps = {0};
    cairn_error error, again;
    const char *first = NULL, *second = NULL;
    cairn_code checked = template_check(template, &error);
    MUST(template_steps(template, &arena, &steps, &error) == checked);
    cairn_code code = template_make(template, &scope, ROOM, &arena, &first, &error);
    MUST(!checked || code);
    MUST(!code || error.message[0]);
    MUST(template_make(template, &scope, ROOM, &arena, &second, &again) == code);
    MUST(code || strcmp(first, second) == 0);
    MUST(code || strlen(first) <= ROOM);
    /* A number that only plain SQL can have stored is handed on as it is. */
    bool is_storable = !json_check(template, strlen(template), "template", &again) &&
                       (!data || !json_check(data, strlen(data), "data", &again));
    MUST(code || !is_storable || !json_check(first, strlen(first), "the result", &error));
    arena_done(&arena);
    free(template);
    return 0;
}
