/* tests/api/schema.h - whether a JSON value is what a schema of our OpenAPI description says.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Knows the words that spec/openapi.json uses; one that it does not know fails the check, so that
 * nothing is taken on trust.
 */
#ifndef SCHEMA_H
#define SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Follows "$ref" within the document. */
const json_t *schema_resolve(const json_t *document, const json_t *schema);

/* False, with the place and reason in why (room for 300), if the value does not fit. */
bool schema_fits(const json_t *document, const json_t *schema, const json_t *value, char *why);

/* A small value that fits: only what is required.  json_decref() it. */
json_t *schema_sample(const json_t *document, const json_t *schema);

/* Any value that fits, of a field of this name ("": of none): the same for the same seed, which it moves on.  Texts
 * come from text_of(), since a schema does not say what a cron expression is.  json_decref() it. */
json_t *schema_draw(const json_t *document, const json_t *schema, const char *name,
                    const char *(*text_of)(const char *name, unsigned turn), unsigned *seed);

#endif
