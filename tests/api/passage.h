/* tests/api/passage.h - passages of a function by hand, over JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef API_PASSAGE_H
#define API_PASSAGE_H

#include "calling.h"

/* A passage in our hands. */
struct passage {
    char id[64], token[64], instance[64];
    long long revision; /* of the latest answer */
};

/* Opens, deploys the function "order" version 2, starts an instance with {"n":1}, claims. */
struct passage begin_passage(struct caller *caller);

/* The next passage, which must be there; or must not. */
struct passage claim_passage(struct caller *caller);
void check_none_due(struct caller *caller);

/* The first task of the latest answer. */
void copy_passage(struct caller *caller, struct passage *ret_passage);

/* Commits; `more` begins with a comma or is empty. */
void commit_for(struct caller *caller, int status, struct passage *passage, const char *outcome,
                const char *more);
const char *commit_target(const struct passage *passage);
const char *about(const struct passage *passage, const char *rest); /* its instance */

#define STEP(seq, key, kind, status, more)                                            \
    "{\"seq\":" seq ",\"key\":\"" key "\",\"kind\":\"" kind "\",\"status\":\"" status \
    "\"" more "}"

#endif
