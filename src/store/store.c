/* store/store.c - which back end a URL means.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/store.h"

#include "base/error.h"

#include <string.h>

struct scheme {
    const char *prefix;
    const struct store_ops *ops;
    cairn_code (*plan)(const struct store_config *config, struct store_plan *ret_plan,
                       cairn_error *reterr);
};

static const struct scheme schemes[] = {
    {"sqlite:", &sqlite_store_ops, sqlite_plan},
    {"postgres://", &postgres_store_ops, postgres_plan},
    {"postgresql://", &postgres_store_ops, postgres_plan},
    {"memory:", &sqlite_store_ops, sqlite_plan},
};

static cairn_code find_scheme(const char *url, const struct scheme **ret_scheme,
                              cairn_error *reterr)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        *ret_scheme = &schemes[i];
        if (strncmp(url, schemes[i].prefix, strlen(schemes[i].prefix)) == 0)
            return CAIRN_OK;
    }
    fail(reterr, CAIRN_E_BAD_INPUT, "cannot open \"%s\": no store has such a URL", url);
    return fail_hint(reterr, CAIRN_E_BAD_INPUT,
                     "use sqlite:FILE, postgres://HOST/DATABASE or http://HOST:PORT");
}

cairn_code store_open(const struct store_config *config, struct store **ret_store,
                      cairn_error *reterr)
{
    const struct scheme *scheme;
    TRY(find_scheme(config->url, &scheme, reterr));
    return scheme->ops->open(config, ret_store, reterr);
}

cairn_code store_plan(const struct store_config *config, struct store_plan *ret_plan,
                      cairn_error *reterr)
{
    const struct scheme *scheme;
    TRY(find_scheme(config->url, &scheme, reterr));
    return scheme->plan(config, ret_plan, reterr);
}

cairn_code store_check_later(const char *where, int version, int newest, int oldest,
                             cairn_error *reterr)
{
    if (oldest <= newest)
        return CAIRN_OK;
    fail(reterr, CAIRN_E_SCHEMA_NEWER,
         "cannot use %s: its tables have version %d, this program knows version %d, and they "
         "need one that knows version %d",
         where, version, newest, oldest);
    return fail_hint(reterr, CAIRN_E_SCHEMA_NEWER, "use a newer Cairn; nothing was touched");
}

struct store_plan store_plan_from(int version, const struct store_migration *all, size_t count)
{
    size_t first = 0;
    while (first < count && all[first].number <= version)
        first++;
    return (struct store_plan){.from = version,
                               .to = all[count - 1].number,
                               .migrations = all + first,
                               .count = count - first};
}
