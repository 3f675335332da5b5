/* tests/unit/file_rig.h - a workflow file's text, read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_FILE_RIG_H
#define TESTS_FILE_RIG_H

#include "base/error.h"
#include "definition/definition.h"
#include "test.h"

enum { ROOM = 20 };

struct read {
    struct arena arena;
    struct definition definition;
    cairn_flaw errors[ROOM];
    size_t count;
    cairn_error error;
    cairn_code code;
};

static inline void read_done(struct read *read)
{
    arena_done(&read->arena);
}

static inline struct read read_text(const char *text)
{
    struct read read = {0};
    read.code = definition_read(&read.arena, "f.yaml", text, strlen(text), &read.definition,
                                read.errors, ROOM, &read.count, &read.error);
    return read;
}

#endif
