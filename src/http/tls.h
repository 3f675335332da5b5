/* http/tls.h - the certificate that the server shows, and its private key.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * libmicrohttpd asks for the certificate by a function without an argument, so there is one for
 * the whole process.
 */
#ifndef HTTP_TLS_H
#define HTTP_TLS_H

#include "cairn.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <time.h>

/* What the server offers: TLS 1.2 and 1.3. */
#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

/* Reads both files (PEM; the certificate first, then those between it and a root) and shows them
 * to everyone who connects from then on.  If they cannot be used, those of before stay. */
cairn_code tls_load(const char *cert_path, const char *key_path, cairn_error *reterr);
void tls_unload(void); /* after the server has stopped */

/* When those that are shown are valid, in seconds since 1970. */
struct tls_life {
    time_t begins_at; /* all of them */
    time_t warns_at;  /* when the first of them has little time left */
    time_t ends_at;   /* when that one ends */
};
struct tls_life tls_life(void);

/* GnuTLS asks for the certificate (gnutls_certificate_retrieve_function3). */
int tls_show(gnutls_session_t session, const struct gnutls_cert_retr_st *info,
             gnutls_pcert_st **ret_chain, unsigned *ret_count, gnutls_ocsp_data_st **ret_ocsp,
             unsigned *ret_ocsp_count, gnutls_privkey_t *ret_key, unsigned *ret_flags);

#endif
