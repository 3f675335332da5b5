/* http/tls.c - reads a certificate and its key, and shows them to GnuTLS.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http/tls.h"

#include "base/error.h"
#include "base/mem.h"
#include "http/secret.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

enum { PEM_MAX = 256 * 1024, CHAIN_MAX = 16, WARN_S = 21 * 86400 };

/* Two files as they were read. */
struct pair {
    gnutls_datum_t cert, key;
    struct tls_life life;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pair shown; /* guarded by the lock */

static void datum_done(gnutls_datum_t *datum)
{
    if (datum->data)
        explicit_bzero(datum->data, datum->size);
    mem_free(datum->data);
    *datum = (gnutls_datum_t){0};
}

static void pair_done(struct pair *pair)
{
    datum_done(&pair->cert);
    datum_done(&pair->key);
}

static cairn_code read_file(FILE *file, const char *path, gnutls_datum_t *ret_pem,
                            cairn_error *reterr)
{
    ret_pem->data = mem_alloc(PEM_MAX);
    if (!ret_pem->data)
        return fail_memory(reterr);
    ret_pem->size = (unsigned)fread(ret_pem->data, 1, PEM_MAX, file);
    if (ferror(file))
        return fail(reterr, CAIRN_E_BAD_INPUT, "could not read \"%s\": %s", path,
                    strerror(errno));
    if (ret_pem->size == PEM_MAX)
        return fail(reterr, CAIRN_E_BAD_INPUT, "\"%s\" is longer than %d bytes", path,
                    PEM_MAX - 1);
    return CAIRN_OK;
}

/* Everybody may read a certificate, but not its key. */
static cairn_code read_pair(const char *cert_path, const char *key_path, struct pair *ret_pair,
                            cairn_error *reterr)
{
    cleanup(secret_closep) FILE *cert = fopen(cert_path, "re");
    cleanup(secret_closep) FILE *key = NULL;
    if (!cert)
        return fail(reterr, CAIRN_E_BAD_INPUT, "could not open certificate \"%s\": %s",
                    cert_path, strerror(errno));
    TRY(read_file(cert, cert_path, &ret_pair->cert, reterr));
    TRY(secret_open("private key", key_path, &key, reterr));
    return read_file(key, key_path, &ret_pair->key, reterr);
}

/* GnuTLS looks at both, and whether they belong together. */
static cairn_code check_pair(const struct pair *pair, const char *cert_path,
                             const char *key_path, cairn_error *reterr)
{
    gnutls_certificate_credentials_t trial;
    if (gnutls_certificate_allocate_credentials(&trial))
        return fail_memory(reterr);
    int why = gnutls_certificate_set_x509_key_mem2(trial, &pair->cert, &pair->key,
                                                   GNUTLS_X509_FMT_PEM, NULL, 0);
    gnutls_certificate_free_credentials(trial);
    if (why >= 0)
        return CAIRN_OK;
    return fail(reterr, CAIRN_E_BAD_INPUT,
                "certificate \"%s\" and private key \"%s\" cannot be used: %s", cert_path,
                key_path, gnutls_strerror(why));
}

/* Of the certificate and of those behind it: a client refuses all of them for one that has ended.
 * Who renews does so when a third of the time is left, or 30 days. */
static cairn_code find_life(struct pair *pair, cairn_error *reterr)
{
    gnutls_x509_crt_t *chain = NULL;
    unsigned count = 0;
    struct tls_life *life = &pair->life;
    if (gnutls_x509_crt_list_import2(&chain, &count, &pair->cert, GNUTLS_X509_FMT_PEM, 0) < 0)
        return fail_memory(reterr); /* check_pair() has read it */
    for (unsigned i = 0; i < count; i++) {
        time_t begins_at = gnutls_x509_crt_get_activation_time(chain[i]);
        time_t ends_at = gnutls_x509_crt_get_expiration_time(chain[i]);
        if (i == 0 || begins_at > life->begins_at)
            life->begins_at = begins_at;
        time_t little = (ends_at - begins_at) / 4;
        time_t warns_at = ends_at - (little < WARN_S ? little : WARN_S);
        if (i == 0 || warns_at < life->warns_at) {
            life->warns_at = warns_at;
            life->ends_at = ends_at;
        }
        gnutls_x509_crt_deinit(chain[i]);
    }
    gnutls_free(chain);
    return CAIRN_OK;
}

cairn_code tls_load(const char *cert_path, const char *key_path, cairn_error *reterr)
{
    cleanup(pair_done) struct pair pair = {0};
    TRY(read_pair(cert_path, key_path, &pair, reterr));
    TRY(check_pair(&pair, cert_path, key_path, reterr));
    TRY(find_life(&pair, reterr));
    pthread_mutex_lock(&lock);
    struct pair before = shown;
    shown = pair;
    pthread_mutex_unlock(&lock);
    pair = before;
    return CAIRN_OK;
}

struct tls_life tls_life(void)
{
    pthread_mutex_lock(&lock);
    struct tls_life life = shown.life;
    pthread_mutex_unlock(&lock);
    return life;
}

void tls_unload(void)
{
    pthread_mutex_lock(&lock);
    pair_done(&shown);
    pthread_mutex_unlock(&lock);
}

static int import_chain(gnutls_pcert_st **ret_chain, unsigned *ret_count)
{
    gnutls_pcert_st *chain = gnutls_malloc(CHAIN_MAX * sizeof *chain);
    unsigned count = CHAIN_MAX;
    if (!chain)
        return GNUTLS_E_MEMORY_ERROR;
    int why =
        gnutls_pcert_list_import_x509_raw(chain, &count, &shown.cert, GNUTLS_X509_FMT_PEM, 0);
    if (why < 0) {
        gnutls_free(chain);
        return why;
    }
    *ret_chain = chain;
    *ret_count = count;
    return 0;
}

static int import_key(gnutls_privkey_t *ret_key)
{
    gnutls_privkey_t key;
    int why = gnutls_privkey_init(&key);
    if (why < 0)
        return why;
    why = gnutls_privkey_import_x509_raw(key, &shown.key, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (why < 0)
        gnutls_privkey_deinit(key);
    else
        *ret_key = key;
    return why;
}

/* Every handshake gets a copy of its own, which GnuTLS releases: so the pair can be replaced at any
 * time. */
int tls_show(gnutls_session_t session, const struct gnutls_cert_retr_st *info,
             gnutls_pcert_st **ret_chain, unsigned *ret_count, gnutls_ocsp_data_st **ret_ocsp,
             unsigned *ret_ocsp_count, gnutls_privkey_t *ret_key, unsigned *ret_flags)
{
    (void)session, (void)info;
    gnutls_privkey_t key = NULL;
    pthread_mutex_lock(&lock);
    int why = import_key(&key);
    if (why >= 0 && (why = import_chain(ret_chain, ret_count)) < 0)
        gnutls_privkey_deinit(key);
    pthread_mutex_unlock(&lock);
    if (why < 0)
        return -1;
    *ret_key = key;
    *ret_ocsp = NULL;
    *ret_ocsp_count = 0;
    *ret_flags = GNUTLS_CERT_RETR_DEINIT_ALL;
    return 0;
}
