/* cli/registry.c - the commands about the registry.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/route.h"

static void cell_enabled(const struct item *item, const char *key, struct buf *text)
{
    buf_str(text, is_true(item->tree, key) ? "enabled" : "disabled");
}

static const struct column list_columns[] = {
    {"TYPE", .key = "workflow_name"},
    {"RUNTIME", .key = "runtime"},
    {"ENABLED", .key = "is_enabled", .write = cell_yes},
    {"DESCRIPTION", .key = "description"},
    {0},
};

static const struct column set_columns[] = {
    {"RUNTIME", .key = "runtime"},
    {"ENABLED", .key = "is_enabled", .write = cell_enabled},
    {0},
};

static const struct option set_options[] = {
    {"runtime", OPTION_TEXT, "RUNTIME", .field = "runtime", .is_required = true,
     .help = "the runtime that executes this type, such as go, python or c"},
    {"enable", OPTION_FLAG, .field = "is_enabled", .excludes = "disable",
     .help = "the type may be claimed (default)"},
    {"disable", OPTION_FLAG, .field = "is_enabled", .is_off = true,
     .help = "the type is not claimed until it is enabled again"},
    {"description", OPTION_TEXT, "TEXT", .field = "description", .help = "purpose of the type"},
    {0},
};

const struct command registry_commands[] = {
    {"registry list", NULL, "list types and the runtimes that own them",
     .about = TEXT_PAGES " -o ids prints the types.", .example = "cairn registry list",
     .more_options = page_options, .outputs = "table json ids",
     .route = {"GET", "/v1/registry", .answer = ANSWER_LIST, .columns = list_columns,
               .id_key = "workflow_name"}},
    {"registry set", "TYPE", "set which runtime owns a type, and whether it is enabled",
     .about = "Writes the whole entry: an option that is not given gets its default. A type "
              "without an entry can be claimed by every runtime. Workers that name another "
              "runtime are rejected.",
     .example = "cairn registry set billing.invoice.v1 --runtime go\n"
                "cairn registry set billing.invoice.v1 --runtime go --disable",
     .options = set_options, .outputs = "table json",
     .route = {"PUT", "/v1/registry/{}", .columns = set_columns}},
    {0},
};
