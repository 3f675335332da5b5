/* http/secret.h - files with secrets in them: tokens, private keys.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef HTTP_SECRET_H
#define HTTP_SECRET_H

#include "cairn.h"

#include <stdio.h>

/* Opens a file for reading; one that every user can read or write is refused.  `what` names it in
 * the error: "token file". */
cairn_code secret_open(const char *what, const char *path, FILE **ret_file,
                       cairn_error *reterr);
void secret_closep(FILE **file);

#endif
