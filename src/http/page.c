/* http/page.c - the page under /ui/: which file, with which headers.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Files have the hash of their content in their names, so a browser keeps them for ever.  Only
 * index.html changes: it names them.  It is kept plain, since the prefix of a proxy is put into its
 * <base>, from which all other addresses of the page follow.
 */
#include "http/page.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* The longest prefix of a proxy, and the largest file of a folder. */
enum { BASE_MAX = 200, FILE_MAX = 8 * 1024 * 1024 };

struct ui {
    bool is_off;
    const struct ui_files *files;
    char *folder;
    char base[BASE_MAX + 1];
    char etag[100]; /* of index.html */
    struct buf index;
};

static const char index_name[] = "index.html", base_tag[] = "<base href=\"/ui/\">";

/* ---- the start ------------------------------------------------------------------------- */

/* Path segments without anything that would have to be escaped in HTML or in a header. */
static bool is_base(const char *base)
{
    size_t len = strlen(base);
    return len <= BASE_MAX && base[0] == '/' && base[1] != '/' &&
           strspn(base,
                  "/ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~") == len;
}

static const struct ui_file *find_file(const struct ui *ui, const char *path, size_t len)
{
    for (size_t i = 0; i < ui->files->count; i++) {
        const struct ui_file *file = &ui->files->files[i];
        if (strlen(file->path) == len && memcmp(file->path, path, len) == 0)
            return file;
    }
    return NULL;
}

static void put_index(const struct ui *ui, const char *text, size_t len, struct buf *index)
{
    const char *tag = memmem(text, len, base_tag, sizeof base_tag - 1);
    const char *rest = tag ? tag + sizeof base_tag - 1 : text;
    if (tag) {
        buf_add(index, text, (size_t)(tag - text));
        buf_printf(index, "<base href=\"%s/ui/\">", ui->base);
    }
    buf_add(index, rest, len - (size_t)(rest - text));
}

/* Another prefix is another document.  FNV-1a: it need not withstand anybody. */
static void make_etag(struct ui *ui)
{
    uint32_t hash = 2166136261u;
    for (const char *it = ui->base; *it; it++)
        hash = (hash ^ (unsigned char)*it) * 16777619u;
    snprintf(ui->etag, sizeof ui->etag, "\"%.64s-%08x\"", ui->files->hash, hash);
}

cairn_code ui_new(const struct ui_config *config, struct ui **ret_ui, cairn_error *reterr)
{
    const char *base = config->base ? config->base : "";
    size_t len = strlen(base);
    *ret_ui = NULL;
    if (len && base[len - 1] == '/')
        len--;
    if (len && !is_base(base))
        return fail(reterr, CAIRN_E_BAD_INPUT,
                    "--ui-base cannot be \"%.200s\": it takes a path such as /tools/cairn",
                    base);
    struct ui *ui = mem_zalloc(sizeof *ui);
    if (!ui)
        return fail_memory(reterr);
    ui->is_off = config->is_off;
    ui->files = config->files ? config->files : &ui_built_in;
    memcpy(ui->base, base, len);
    ui->folder = config->folder ? mem_strdup(config->folder) : NULL;
    const struct ui_file *index = find_file(ui, index_name, strlen(index_name));
    if (index)
        put_index(ui, (const char *)index->bytes, index->len, &ui->index);
    if ((config->folder && !ui->folder) || buf_failed(&ui->index)) {
        ui_free(ui);
        return fail_memory(reterr);
    }
    make_etag(ui);
    *ret_ui = ui;
    return CAIRN_OK;
}

void ui_free(struct ui *ui)
{
    if (!ui)
        return;
    buf_done(&ui->index);
    mem_free(ui->folder);
    mem_free(ui);
}

const char *ui_name(const struct ui *ui)
{
    if (!ui || ui->is_off)
        return NULL;
    if (ui->folder)
        return "folder";
    return ui->files->count ? ui->files->hash : NULL;
}

/* ---- what is asked for ----------------------------------------------------------------- */

/* Proxies either take their prefix off or pass it on; both work. */
const char *ui_strip(const struct ui *ui, const char *target)
{
    size_t len = ui ? strlen(ui->base) : 0;
    bool has_base = len && strncmp(target, ui->base, len) == 0 && target[len] == '/';
    return has_base ? target + len : target;
}

static size_t path_length(const char *target)
{
    return strcspn(target, "?");
}

static bool is_root(const struct ui_request *request)
{
    bool is_read = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    return is_read && path_length(request->target) == 1 && request->target[0] == '/' &&
           request->accept && strstr(request->accept, "text/html");
}

bool ui_owns(const struct ui *ui, const struct ui_request *request)
{
    if (!ui || ui->is_off)
        return false;
    const char *target = request->target;
    bool is_below = strncmp(target, "/ui", 3) == 0 &&
                    (target[3] == '/' || target[3] == '?' || target[3] == '\0');
    return is_below || is_root(request);
}

/* The weight of a coding in Accept-Encoding is 0: "gzip;q=0", "gzip; q=0.0". */
static bool is_refused(const char *item, size_t len)
{
    const char *weight = memmem(item, len, "q=", 2);
    if (!weight)
        return false;
    const char *digits = weight + 2;
    size_t room = len - (size_t)(digits - item), zeros = strspn(digits, "0.");
    return room && *digits == '0' && (zeros >= room || !strchr("123456789", digits[zeros]));
}

static bool is_coding(const char *item, size_t len, const char *name)
{
    size_t wanted = strlen(name);
    return len >= wanted && strncasecmp(item, name, wanted) == 0 &&
           (len == wanted || strchr(" \t;", item[wanted]));
}

/* gzip counts before "*", wherever they stand; what is not mentioned is accepted. */
static bool takes_gzip(const char *encodings)
{
    bool is_taken = true;
    for (const char *it = encodings ? encodings : ""; *it;) {
        it += strspn(it, " \t,");
        size_t len = strcspn(it, ",");
        if (is_coding(it, len, "gzip"))
            return !is_refused(it, len);
        if (is_coding(it, len, "*"))
            is_taken = !is_refused(it, len);
        it += len;
    }
    return is_taken;
}

/* ---- headers --------------------------------------------------------------------------- */

static void add_headers(struct MHD_Response *response)
{
    static const char *const headers[][2] = {
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
         "connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'; "
         "require-trusted-types-for 'script'; trusted-types 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Permissions-Policy", "clipboard-write=(self)"},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
}

/* Bytes that outlive the response, or that it copies. */
static struct MHD_Response *wrap(const void *bytes, size_t len, const char *type,
                                 enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(len, (void *)bytes, mode);
    if (!response)
        return NULL;
    if (type)
        MHD_add_response_header(response, "Content-Type", type);
    add_headers(response);
    return response;
}

static struct MHD_Response *with_header(struct MHD_Response *response, const char *name,
                                        const char *value)
{
    if (response)
        MHD_add_response_header(response, name, value);
    return response;
}

static struct MHD_Response *redirect(const struct ui *ui, unsigned *ret_status)
{
    char place[BASE_MAX + 8];
    snprintf(place, sizeof place, "%s/ui/", ui->base);
    *ret_status = 302;
    struct MHD_Response *response = wrap("", 0, NULL, MHD_RESPMEM_PERSISTENT);
    with_header(response, "Cache-Control", "no-store");
    with_header(response, "Vary", "Accept");
    return with_header(response, "Location", place);
}

/* ---- files ----------------------------------------------------------------------------- */

static const char index_type[] = "text/html; charset=utf-8";

static struct MHD_Response *answer_index(const struct ui *ui, const struct ui_request *request,
                                         unsigned *ret_status)
{
    bool is_known = request->known &&
                    (strcmp(request->known, "*") == 0 || strstr(request->known, ui->etag));
    *ret_status = is_known ? 304 : 200;
    struct MHD_Response *response =
        is_known ? wrap("", 0, NULL, MHD_RESPMEM_PERSISTENT)
                 : wrap(ui->index.text, ui->index.len, index_type, MHD_RESPMEM_MUST_COPY);
    with_header(response, "Cache-Control", "no-cache");
    return with_header(response, "ETag", ui->etag);
}

static struct MHD_Response *answer_file(const struct ui_file *file,
                                        const struct ui_request *request, unsigned *ret_status)
{
    bool is_taken = takes_gzip(request->encodings);
    *ret_status = is_taken ? 200 : 406;
    if (!is_taken)
        return with_header(wrap("", 0, NULL, MHD_RESPMEM_PERSISTENT), "Vary",
                           "Accept-Encoding");
    struct MHD_Response *response =
        wrap(file->bytes, file->len, file->type, MHD_RESPMEM_PERSISTENT);
    with_header(response, "Content-Encoding", "gzip");
    with_header(response, "Vary", "Accept-Encoding");
    return with_header(response, "Cache-Control", "public, max-age=31536000, immutable");
}

/* A name in the folder and nothing above, below or hidden. */
static bool is_plain_name(const char *name)
{
    return name[0] && name[0] != '.' &&
           name[strspn(name,
                       "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")] ==
               '\0';
}

static bool read_file(const struct ui *ui, const char *name, struct buf *ret_content)
{
    struct stat stat;
    char path[4096];
    if (!is_plain_name(name) ||
        snprintf(path, sizeof path, "%s/%s", ui->folder, name) >= (int)sizeof path)
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool is_read = fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size <= FILE_MAX;
    char piece[16384];
    for (ssize_t got; is_read && (got = read(fd, piece, sizeof piece)) != 0;) {
        is_read = got > 0 && ret_content->len <= FILE_MAX;
        if (got > 0)
            buf_add(ret_content, piece, (size_t)got);
    }
    close(fd);
    return is_read && !buf_failed(ret_content);
}

static const char *type_of(const char *name)
{
    static const char *const types[][2] = {
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".svg", "image/svg+xml"},
        {".html", index_type},
        {".map", "application/json"},
        {".txt", "text/plain; charset=utf-8"},
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (strcmp(dot, types[i][0]) == 0)
            return types[i][1];
    return "application/octet-stream";
}

static struct MHD_Response *answer_from_folder(const struct ui *ui, const char *name)
{
    struct buf content = {0}, index = {0};
    struct MHD_Response *response = NULL;
    if (read_file(ui, name, &content)) {
        if (strcmp(name, index_name) == 0)
            put_index(ui, buf_text(&content), content.len, &index);
        const struct buf *text = index.len ? &index : &content;
        if (!buf_failed(text))
            response = wrap(buf_text(text), text->len, type_of(name), MHD_RESPMEM_MUST_COPY);
        with_header(response, "Cache-Control", "no-store");
    }
    buf_done(&content);
    buf_done(&index);
    return response;
}

/* ---- the answer ------------------------------------------------------------------------ */

/* Files have a dot in the last segment; everything else is a screen, which the page draws. */
static bool is_screen(const char *path, size_t len)
{
    const char *slash = memrchr(path, '/', len), *last = slash ? slash + 1 : path;
    return !memchr(last, '.', len - (size_t)(last - path));
}

static struct MHD_Response *find(const struct ui *ui, const struct ui_request *request,
                                 unsigned *ret_status)
{
    const char *path = request->target + strlen("/ui/");
    size_t len = path_length(path);
    char name[200];
    bool is_index = is_screen(path, len);
    if (ui->folder) {
        if (len >= sizeof name && !is_index) /* screens are named as people name workflows */
            return NULL;
        snprintf(name, sizeof name, "%.*s", (int)len, path);
        *ret_status = 200;
        return answer_from_folder(ui, is_index ? index_name : name);
    }
    if (is_index)
        return ui->index.len ? answer_index(ui, request, ret_status) : NULL;
    const struct ui_file *file = find_file(ui, path, len);
    return file && strcmp(file->path, index_name) != 0 ? answer_file(file, request, ret_status)
                                                       : NULL;
}

struct MHD_Response *ui_answer(const struct ui *ui, const struct ui_request *request,
                               unsigned *ret_status, cairn_error *reterr)
{
    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
        *ret_status = 405;
        struct MHD_Response *response = wrap("", 0, NULL, MHD_RESPMEM_PERSISTENT);
        return with_header(response, "Allow", "GET, HEAD");
    }
    if (is_root(request) || path_length(request->target) == strlen("/ui"))
        return redirect(ui, ret_status);
    struct MHD_Response *response = find(ui, request, ret_status);
    if (!response) {
        bool is_missing = ui->files->missing && !ui->folder;
        fail(reterr, CAIRN_E_NOT_FOUND,
             is_missing ? "the page is not part of this program" : "the page has no such file");
        if (is_missing)
            fail_hint(reterr, CAIRN_E_NOT_FOUND, "%s", ui->files->missing);
    }
    return response;
}
