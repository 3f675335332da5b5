/* http/page.h - the page under /ui/: files that are compiled in, or those of a folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef HTTP_PAGE_H
#define HTTP_PAGE_H

#include "cairn.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

struct ui_file {
    const char *path; /* below /ui/ */
    const char *type;
    const unsigned char *bytes; /* compressed with gzip, but index.html */
    size_t len;
};

/* What scripts/embed_page.py makes.  Without files, `missing` says why. */
struct ui_files {
    const struct ui_file *files;
    size_t count;
    const char *hash;
    const char *missing;
};
extern const struct ui_files ui_built_in;

struct ui_config {
    bool is_off;
    const char *base;   /* the prefix of a proxy, such as /tools/cairn; NULL: none */
    const char *folder; /* files are read from here instead; NULL: those compiled in */
    const struct ui_files *files; /* NULL: ui_built_in */
};

struct ui;

cairn_code ui_new(const struct ui_config *config, struct ui **ret_ui, cairn_error *reterr);
void ui_free(struct ui *ui);

/* The target without the prefix of the proxy, in case it was not taken off.  ui may be NULL. */
const char *ui_strip(const struct ui *ui, const char *target);

/* Which page it is: the hash of its files, or "folder"; NULL: none is served. */
const char *ui_name(const struct ui *ui);

/* What a browser sends that matters here; each may be NULL. */
struct ui_request {
    const char *method;
    const char *target;
    const char *accept;
    const char *encodings;
    const char *known; /* If-None-Match */
};

/* Whether the page answers this: a path below /ui/, or / for a browser.  ui may be NULL. */
bool ui_owns(const struct ui *ui, const struct ui_request *request);

/* The response with its status and all its headers.  NULL: there is no such file, or memory ran
 * out. */
struct MHD_Response *ui_answer(const struct ui *ui, const struct ui_request *request,
                               unsigned *ret_status, cairn_error *reterr);

#endif
