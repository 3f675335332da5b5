/* base/random.h - random numbers that can be repeated: each comes from a seed.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * For jitter, ids and lease tokens.  Not for two threads at a time.
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

struct rng {
    uint64_t state[4];
};

void rng_init(struct rng *rng, uint64_t seed); /* 0: from the system */
uint64_t rng_next(struct rng *rng);
double rng_unit(struct rng *rng);                    /* in [0, 1) */
uint64_t rng_below(struct rng *rng, uint64_t bound); /* in [0, bound), bound > 0 */

/* A UUID version 7: ids made later sort later, which keeps indexes compact. */
enum { ID_TEXT = 40, TOKEN_TEXT = 24 };
void id_make(struct rng *rng, int64_t now_us, char id[ID_TEXT]);

/* Whether the text has the form of an id (8-4-4-4-12 hexadecimal digits, lower case). */
int id_is_valid(const char *text);

/* 16 hexadecimal digits that no other claim has. */
void token_make(struct rng *rng, char token[TOKEN_TEXT]);

#endif
