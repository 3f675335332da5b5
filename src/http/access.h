/* http/access.h - who may do what: routes and their roles, tokens and their file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef HTTP_ACCESS_H
#define HTTP_ACCESS_H

#include "api/operation.h"
#include "http/token_line.h"

#include <stdbool.h>
#include <stddef.h>

/* The roles (of enum role) that may call a route; 0: it needs no token.  An unknown one is the
 * operator's.  `target` is as it came, with or without a query. */
unsigned access_roles(const char *method, const char *target);

/* Whether a browser is to keep the answer, and not to show it. */
bool access_is_download(const char *target);

/* The methods of a path, as in an Allow header ("GET, HEAD, OPTIONS"); "" if it is no route. */
enum { ALLOW_TEXT = 64 };
void access_methods(const char *target, char ret_methods[ALLOW_TEXT]);

/* Tokens, one a line: ROLE TOKEN [NAME].  Empty lines and lines that begin with # are skipped.
 */
struct tokens;
/* A role by its word; 0: there is none. */
unsigned access_role_find(const char *name);

/* A file that others can read or change is refused. */
cairn_code tokens_read(const char *path, struct tokens **ret_tokens, cairn_error *reterr);
size_t tokens_count(const struct tokens *tokens);
void tokens_free(struct tokens *tokens);
void tokens_freep(struct tokens **tokens);

/* The roles of a token; 0: it is unknown.  *ret_name: its name, as long as the tokens live; NULL: none.
 * Takes the same time for every text. */
unsigned tokens_roles(const struct tokens *tokens, const char *secret, const char **ret_name);

/* The word of the greatest of some roles. */
const char *access_role_name(unsigned roles);

/* All their words, as "produce or operate". */
enum { ROLES_TEXT = 64 };
void access_role_names(unsigned roles, const char *between, char ret_names[ROLES_TEXT]);

/* Without tokens only this machine is trusted, and a browser on it can be made to send requests
 * by any page it shows.  Whether the headers (NULL: not sent) could not have come from such a
 * page: the host is named as a loopback address, and the page is our own. */
bool access_is_local(const char *host, const char *origin);

/* Whether a browser says that another site's page caused this request, and it is one that may change something.  Sites
 * are told by the header Sec-Fetch-Site (NULL: not sent), which comes without an Origin, too.  A link to our page from
 * elsewhere is a GET. */
bool access_is_cross_site(const char *method, const char *site);

#endif
