/* tests/api/test_page.c - the page: which file, with which headers, and who may see it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http/http.h"
#include "http/listen.h"
#include "socket.h"

#include <stdlib.h>
#include <unistd.h>

static const unsigned char index_html[] = "<html><base href=\"/ui/\"><p>index</p></html>";
static const unsigned char script[] = "packed";
static const struct ui_file files[] = {
    {"index.html", "text/html; charset=utf-8", index_html, sizeof index_html - 1},
    {"start-1a2b.js", "text/javascript; charset=utf-8", script, sizeof script - 1},
};
static const struct ui_files few = {.files = files, .count = 2, .hash = "0123456789abcdef"};
static const struct ui_files none = {.hash = "0",
                                     .missing = "built without the page: a reason"};

struct site {
    cairn_engine *engine;
    struct http *http;
    struct server server;
};

static struct site site_open(struct ui_config ui, struct tokens *tokens)
{
    struct site site = {0};
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cairn_error error;
    char where[LISTEN_TEXT];
    int fd;
    open.url = "memory:";
    CHECK_INT(cairn_open(&open, &site.engine, &error), CAIRN_OK);
    CHECK_INT(listen_open("127.0.0.1:0", true, &fd, where, &error), CAIRN_OK);
    struct http_config config = {.engine = site.engine,
                                 .listen_fd = fd,
                                 .max_connections = 20,
                                 .idle_s = 60,
                                 .tokens = tokens,
                                 .page = ui};
    CHECK_INT(http_start(&config, &site.http, &error), CAIRN_OK);
    site.server.port = atoi(strrchr(where, ':') + 1);
    return site;
}

static void site_close(struct site *site)
{
    http_quiesce(site->http);
    cairn_close(site->engine);
    http_stop(site->http);
}

static struct site site_few(const char *base)
{
    return site_open((struct ui_config){.files = &few, .base = base}, NULL);
}

static struct reply get(struct site *site, const char *target, const char *headers)
{
    return request(&site->server, "GET", target, headers, NULL);
}

static void check_has(const struct reply *reply, const char *text)
{
    CHECK(strcasestr(reply->head, text), "\"%s\" is not in %s", text, reply->head);
}

static void check_lacks(const struct reply *reply, const char *text)
{
    CHECK(!strcasestr(reply->head, text), "\"%s\" is in %s", text, reply->head);
}

TEST(every_screen_is_answered_with_the_page)
{
    static const char *const paths[] = {"/ui/", "/ui/instances", "/ui/instances/abc?tab=events",
                                        "/ui/workflows/a.b/1"};
    struct site site = site_few(NULL);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct reply reply = get(&site, paths[i], "");
        CHECK_INT(reply.status, 200);
        CHECK_STR(reply.body, (const char *)index_html);
        check_has(&reply, "Cache-Control: no-cache");
        check_has(&reply, "default-src 'none'; script-src 'self'");
        check_has(&reply, "trusted-types 'none'");
        check_has(&reply, "X-Content-Type-Options: nosniff");
        check_has(&reply, "Referrer-Policy: no-referrer");
        check_has(&reply, "Cross-Origin-Opener-Policy: same-origin");
        check_has(&reply, "Cross-Origin-Resource-Policy: same-origin");
        check_has(&reply, "Permissions-Policy: clipboard-write=(self)");
    }
    site_close(&site);
}

TEST(a_file_is_kept_for_ever_and_a_missing_one_is_not_found)
{
    struct site site = site_few(NULL);
    struct reply reply = get(&site, "/ui/start-1a2b.js", "");
    CHECK_INT(reply.status, 200);
    CHECK_STR(reply.body, "packed");
    check_has(&reply, "Content-Type: text/javascript");
    check_has(&reply, "Content-Encoding: gzip");
    check_has(&reply, "Vary: Accept-Encoding");
    check_has(&reply, "public, max-age=31536000, immutable");
    CHECK_INT(get(&site, "/ui/start-1a2b.js?x=1", "").status, 200);
    CHECK_INT(get(&site, "/ui/other.js", "").status, 404);
    CHECK_INT(get(&site, "/ui/index.html", "").status, 404);
    CHECK_INT(get(&site, "/ui/a/start-1a2b.js", "").status, 404);
    CHECK_INT(get(&site, "/ui/start-1a2b.j", "").status, 404);
    CHECK_INT(get(&site, "/uix", "").status, 404);
    site_close(&site);
}

TEST(who_has_the_page_is_told_so)
{
    struct site site = site_few(NULL), other = site_few("/a");
    struct reply reply = get(&site, "/ui/", "");
    char etag[60], headers[200];
    const char *found = strcasestr(reply.head, "ETag: ");
    assert_non_null(found);
    snprintf(etag, sizeof etag, "%.*s", (int)strcspn(found + 6, "\r"), found + 6);
    snprintf(headers, sizeof headers, "If-None-Match: W/%s, \"x\"\r\n", etag);
    reply = get(&site, "/ui/jobs", headers);
    CHECK_INT(reply.status, 304);
    CHECK_INT(reply.len, 0);
    check_has(&reply, etag);
    CHECK_INT(get(&other, "/ui/jobs", headers).status, 200); /* another base, another page */
    CHECK_INT(get(&site, "/ui/jobs", "If-None-Match: \"x\"\r\n").status, 200);
    CHECK_INT(get(&site, "/ui/jobs", "If-None-Match: *\r\n").status, 304);
    site_close(&site);
    site_close(&other);
}

TEST(who_refuses_gzip_gets_none)
{
    static const struct {
        const char *accepts;
        int status;
    } cases[] = {
        {"gzip", 200},
        {"br, gzip;q=0.5", 200},
        {"identity", 200},
        {"", 200},
        {"*", 200},
        {"gzip;q=0", 406},
        {"br, gzip; q=0", 406},
        {"gzip;q=0.000", 406},
        {"gzip;q=0.001", 200},
        {"*;q=0", 406},
        {"*;q=0, gzip", 200},
        {"gzip;q=0, *", 406},
        {"GZIP;q=0", 406},
        {"gzip-not;q=0", 200},
        {"br;q=0, gzip;q=1", 200},
        {"gzip;q=", 200},
        {"gzip;q=0,br;q=1", 406},
    };
    struct site site = site_few(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char headers[100];
        snprintf(headers, sizeof headers, "Accept-Encoding: %s\r\n", cases[i].accepts);
        struct reply reply = get(&site, "/ui/start-1a2b.js", headers);
        CHECK(reply.status == cases[i].status, "%s: %d", cases[i].accepts, reply.status);
        CHECK_INT(get(&site, "/ui/", headers).status, 200); /* is plain */
    }
    site_close(&site);
}

TEST(a_browser_is_led_to_the_page_and_others_are_not)
{
    struct site site = site_few(NULL);
    struct reply reply = get(&site, "/", "Accept: text/html,*/*\r\n");
    CHECK_INT(reply.status, 302);
    check_has(&reply, "Location: /ui/\r\n");
    CHECK_INT(get(&site, "/", "Accept: */*\r\n").status, 404);
    CHECK_INT(get(&site, "/", "").status, 404);
    reply = get(&site, "/ui", "");
    CHECK_INT(reply.status, 302);
    check_has(&reply, "Location: /ui/\r\n");
    CHECK_INT(request(&site.server, "POST", "/", "Accept: text/html\r\n", "{}").status, 404);
    reply = request(&site.server, "POST", "/ui/jobs", "", "{}");
    CHECK_INT(reply.status, 405);
    check_has(&reply, "Allow: GET, HEAD");
    site_close(&site);
}

TEST(the_prefix_of_a_proxy_is_in_the_base_and_may_be_passed_on)
{
    static const char *const bases[] = {"/tools/cairn", "/tools/cairn/"};
    for (size_t i = 0; i < 2; i++) {
        struct site site = site_few(bases[i]);
        struct reply reply = get(&site, "/ui/", "");
        CHECK_STR(reply.body, "<html><base href=\"/tools/cairn/ui/\"><p>index</p></html>");
        CHECK_STR(get(&site, "/tools/cairn/ui/jobs", "").body,
                  "<html><base href=\"/tools/cairn/ui/\"><p>index</p></html>");
        CHECK_INT(get(&site, "/tools/cairn/v1/jobs", "").status, 200);
        CHECK_INT(get(&site, "/v1/jobs", "").status, 200);
        CHECK_INT(get(&site, "/tools/cairnx/v1/jobs", "").status, 404);
        reply = get(&site, "/tools/cairn/", "Accept: text/html\r\n");
        CHECK_INT(reply.status, 302);
        check_has(&reply, "Location: /tools/cairn/ui/\r\n");
        site_close(&site);
    }
}

TEST(a_prefix_that_would_need_escaping_is_refused)
{
    static const char *const bases[] = {"tools", "//x", "/a\"b", "/a b", "/<", "/a%22"};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        struct ui *ui;
        struct ui_config config = {.base = bases[i], .files = &few};
        CHECK_INT(ui_new(&config, &ui, NULL), CAIRN_E_BAD_INPUT);
    }
}

TEST(a_program_without_the_page_says_why)
{
    struct site site = site_open((struct ui_config){.files = &none}, NULL);
    struct reply reply = get(&site, "/ui/", "");
    CHECK_INT(reply.status, 404);
    CHECK(strstr(reply.body, "\"code\":\"not_found\""), "it has another code");
    CHECK(strstr(reply.body, "built without the page: a reason"), "it does not say why");
    site_close(&site);
}

TEST(the_page_can_be_turned_off)
{
    struct site site = site_open((struct ui_config){.files = &few, .is_off = true}, NULL);
    struct reply reply = get(&site, "/ui/", "");
    CHECK_INT(reply.status, 404);
    check_lacks(&reply, "Content-Security-Policy");
    CHECK_INT(get(&site, "/", "Accept: text/html\r\n").status, 404);
    site_close(&site);
}

TEST(about_names_the_page)
{
    static const struct {
        struct ui_config ui;
        const char *page;
    } cases[] = {
        {{.files = &few}, "\"page\":\"0123456789abcdef\""},
        {{.files = &few, .folder = "/tmp"}, "\"page\":\"folder\""},
        {{.files = &few, .is_off = true}, "\"page\":null"},
        {{.files = &none}, "\"page\":null"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct site site = site_open(cases[i].ui, NULL);
        struct reply reply = get(&site, "/v1/about", "");
        CHECK(strstr(reply.body, cases[i].page), "%s is not in %s", cases[i].page, reply.body);
        site_close(&site);
    }
}

TEST(the_page_needs_no_token_and_everything_else_does)
{
    char path[] = "/tmp/cairn-page-XXXXXX";
    int fd = mkstemp(path);
    static const char line[] = "operate secret-secret-secret-secret-1\n";
    assert_true(fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line));
    close(fd);
    struct tokens *tokens;
    cairn_error error;
    CHECK_INT(tokens_read(path, &tokens, &error), CAIRN_OK);
    unlink(path);
    struct site site = site_open((struct ui_config){.files = &few}, tokens);
    CHECK_INT(get(&site, "/ui/instances", "").status, 200);
    CHECK_INT(get(&site, "/ui/start-1a2b.js", "").status, 200);
    CHECK_INT(get(&site, "/", "Accept: text/html\r\n").status, 302);
    CHECK_INT(get(&site, "/v1/jobs", "").status, 401);
    CHECK_INT(get(&site, "/uix", "").status, 401);
    site_close(&site);
}

TEST(without_tokens_no_other_site_gets_the_page)
{
    struct site site = site_few(NULL);
    int client = client_open(&site.server);
    client_say(client, "GET /ui/ HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    CHECK_INT(client_hear(client).status, 403);
    close(client);
    site_close(&site);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

TEST(a_folder_is_served_instead_and_nothing_outside_it)
{
    char folder[] = "/tmp/cairn-page-XXXXXX", command[100], screen[400];
    assert_non_null(mkdtemp(folder));
    write_file(folder, "index.html", "a<base href=\"/ui/\">b");
    write_file(folder, "x.js", "let x");
    write_file(folder, ".hidden.js", "no");
    char link[200];
    snprintf(link, sizeof link, "%s/link.js", folder);
    CHECK_INT(symlink("/etc/passwd", link), 0);
    struct site site = site_open((struct ui_config){.folder = folder, .base = "/b"}, NULL);
    CHECK_STR(get(&site, "/ui/jobs", "").body, "a<base href=\"/b/ui/\">b");
    snprintf(screen, sizeof screen, "/ui/workflows/%0300d/1", 0); /* however long a name is */
    CHECK_STR(get(&site, screen, "").body, "a<base href=\"/b/ui/\">b");
    struct reply reply = get(&site, "/ui/x.js", "");
    CHECK_STR(reply.body, "let x");
    check_has(&reply, "Cache-Control: no-store");
    check_has(&reply, "Content-Type: text/javascript");
    check_lacks(&reply, "Content-Encoding");
    CHECK_INT(get(&site, "/ui/.hidden.js", "").status, 404);
    CHECK_INT(get(&site, "/ui/link.js", "").status, 404);
    CHECK_INT(get(&site, "/ui/../x.js", "").status, 404);
    CHECK_INT(get(&site, "/ui/%2e%2e/x.js", "").status, 404);
    CHECK_INT(get(&site, "/ui/none.js", "").status, 404);
    site_close(&site);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK_INT(system(command), 0);
}
