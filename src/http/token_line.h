/* http/token_line.h - a line of a token file: ROLE TOKEN [NAME].
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef HTTP_TOKEN_LINE_H
#define HTTP_TOKEN_LINE_H

enum { SECRET_MAX = 256, TOKEN_NAME_MAX = 128 }; /* bytes, a NUL included */

/* A line of the file, taken apart in place. */
struct token_line {
    const char *role, *secret,
        *name; /* role NULL: it has no token; secret NULL: that is missing */
};
struct token_line token_line_split(char *line);

#endif
