/* store/store.c - which back end a URL means.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/store.h"

#include "base/error.h"

#include <string.h>

static const struct {
    const char *scheme;
    const struct store_ops *ops;
} schemes[] = {
    {"sqlite:", &sqlite_store_ops},
    {"postgres://", &postgres_store_ops},
    {"postgresql://", &postgres_store_ops},
    {"memory:", &sqlite_store_ops},
};

cairn_code store_open(const struct store_config *config, struct store **ret_store,
                      cairn_error *reterr)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(config->url, schemes[i].scheme, strlen(schemes[i].scheme)) == 0)
            return schemes[i].ops->open(config, ret_store, reterr);

    fail(reterr, CAIRN_E_BAD_INPUT, "cannot open \"%s\": no store has such a URL", config->url);
    return fail_hint(reterr, CAIRN_E_BAD_INPUT,
                     "use sqlite:FILE, postgres://HOST/DATABASE or http://HOST:PORT");
}
