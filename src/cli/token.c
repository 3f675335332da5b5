/* cli/token.c - cairn token: the file of tokens, edited line by line.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The file is replaced as a whole, so that a server never reads half of it; who edits holds a lock on
 * its folder.  Lines that are not concerned stay as they are, comments included.
 */
#include "base/json.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/cells.h"
#include "cli/input.h"
#include "cli/say.h"
#include "http/token_line.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    RANDOM_BYTES = 32,
    SECRET_TEXT = 6 + 2 * RANDOM_BYTES + 1,
    FILE_MODE = 0600,
    LINE_TEXT = 1024
};

struct token_file {
    const char *path;
    int folder;  /* locked until the process ends; -1: not opened */
    bool exists; /* and these are its owner and mode */
    struct stat info;
    struct buf text; /* without what it had after a last line without an end */
};

static int fail_file(const char *what, const char *path)
{
    say_error("could not %s token file \"%s\": %s", what, path, strerror(errno));
    return EXIT_NO;
}

static void token_file_done(struct token_file *file)
{
    if (file->folder >= 0)
        close(file->folder);
    if (file->text.text)
        explicit_bzero(file->text.text, file->text.len);
    buf_done(&file->text);
}

static int lock_folder(struct token_file *file)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", file->path);
    file->folder = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file->folder < 0 || flock(file->folder, LOCK_EX))
        return fail_file("lock the folder of", file->path);
    return EXIT_DONE;
}

/* A file that does not exist is an empty one. */
static int open_file(const struct args *args, struct token_file *file)
{
    file->path = args_text(args, "token-file");
    file->folder = -1;
    TRY(lock_folder(file));
    file->exists = stat(file->path, &file->info) == 0;
    if (!file->exists)
        return errno == ENOENT ? EXIT_DONE : fail_file("open", file->path);
    if (!file_read(file->path, &file->text))
        return EXIT_NO;
    if (file->text.len && file->text.text[file->text.len - 1] != '\n')
        buf_char(&file->text, '\n');
    return file->text.failed ? fail_file("read", file->path) : EXIT_DONE;
}

static int must_exist(const struct token_file *file)
{
    if (file->exists)
        return EXIT_DONE;
    say_error("there is no token file \"%s\"", file->path);
    return EXIT_NO;
}

static int write_whole(int fd, const struct buf *text)
{
    for (size_t done = 0; done < text->len;) {
        ssize_t some = write(fd, text->text + done, text->len - done);
        if (some < 0 && errno != EINTR)
            return -1;
        done += some > 0 ? (size_t)some : 0;
    }
    return fsync(fd);
}

/* Puts a new file in place of the old one; owner and mode stay, as far as we may give them. */
static int replace_file(const struct token_file *file, const struct buf *text)
{
    char path[PATH_MAX];
    if (text->failed ||
        (size_t)snprintf(path, sizeof path, "%s.new", file->path) >= sizeof path)
        return fail_file("write", file->path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    bool is_written = fd >= 0 && write_whole(fd, text) == 0;
    if (is_written && file->exists) {
        is_written = fchmod(fd, file->info.st_mode & 0770) == 0;
        if (fchown(fd, file->info.st_uid, file->info.st_gid))
            errno =
                0; /* only root may; the file is ours then, as it would be after an editor */
    }
    if (fd >= 0)
        close(fd);
    if (is_written && rename(path, file->path) == 0)
        return EXIT_DONE;
    fail_file("write", file->path);
    unlink(path);
    return EXIT_NO;
}

/* ---- its lines ---------------------------------------------------------------------------- */

/* Called with a line, its end included, and its parts; false ends the walk. */
typedef bool (*line_visit)(void *arg, const char *line, size_t len,
                           const struct token_line *parts);

static void each_line(const struct token_file *file, line_visit visit, void *arg)
{
    const char *line = buf_text(&file->text), *end;
    for (; (end = strchr(line, '\n')); line = end + 1) {
        char copy[LINE_TEXT];
        size_t len = (size_t)(end - line);
        struct token_line parts = {0};
        if (len < sizeof copy) {
            memcpy(copy, line, len);
            copy[len] = '\0';
            parts = token_line_split(copy);
        }
        bool is_wanted = visit(arg, line, len + 1, &parts);
        explicit_bzero(copy, sizeof copy);
        if (!is_wanted)
            return;
    }
}

struct search {
    const char *name;
    bool is_found;
};

static bool compare_name(void *arg, const char *line, size_t len,
                         const struct token_line *parts)
{
    (void)line, (void)len;
    struct search *search = arg;
    search->is_found = parts->secret && strcmp(parts->name, search->name) == 0;
    return !search->is_found;
}

static bool has_name(const struct token_file *file, const char *name)
{
    struct search search = {.name = name};
    each_line(file, compare_name, &search);
    return search.is_found;
}

/* ---- add ---------------------------------------------------------------------------------- */

static bool is_name(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
            return false;
    return len > 0 && len < TOKEN_NAME_MAX && name[0] != ' ' && name[len - 1] != ' ' &&
           name[0] != '#' && utf8_is_valid(name, len);
}

static bool make_secret(char secret[SECRET_TEXT])
{
    unsigned char bytes[RANDOM_BYTES];
    if (getentropy(bytes, sizeof bytes))
        return false;
    size_t used = (size_t)snprintf(secret, SECRET_TEXT, "cairn_");
    for (size_t i = 0; i < sizeof bytes; i++)
        used += (size_t)snprintf(secret + used, SECRET_TEXT - used, "%02x", bytes[i]);
    explicit_bzero(bytes, sizeof bytes);
    return true;
}

static void print_added(const struct args *args, const char *secret)
{
    if (!args_wants(args, "json")) {
        puts(secret);
        return;
    }
    json_t *added = json_pack("{s:s, s:s, s:s}", "name", args->operands[0], "role",
                              args_text(args, "role"), "token", secret);
    json_dumpf(added, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(added);
}

int run_token_add(const struct args *args)
{
    cleanup(token_file_done) struct token_file file = {.folder = -1};
    const char *name = args->operands[0];
    char secret[SECRET_TEXT];
    if (!is_name(name)) {
        say_error("\"%s\" cannot be the name of a token", name);
        say_more(
            "1 to %d bytes of UTF-8 without control characters, spaces at the ends, or # first",
            TOKEN_NAME_MAX - 1);
        return EXIT_USAGE;
    }
    TRY(open_file(args, &file));
    if (has_name(&file, name)) {
        say_error("token file \"%s\" has a token with the name \"%s\"", file.path, name);
        say_more("cairn token remove '%s' --token-file %s", name, file.path);
        return EXIT_NO;
    }
    if (!make_secret(secret))
        return fail_file("make a token for", file.path);
    buf_printf(&file.text, "%s %s %s\n", args_text(args, "role"), secret, name);
    int exit_code = replace_file(&file, &file.text);
    if (!exit_code)
        print_added(args, secret);
    explicit_bzero(secret, sizeof secret);
    return exit_code;
}

/* ---- list --------------------------------------------------------------------------------- */

static bool list_line(void *arg, const char *line, size_t len, const struct token_line *parts)
{
    (void)line, (void)len;
    if (parts->secret)
        json_array_append_new(
            arg, json_pack("{s:s, s:s}", "name", parts->name, "role", parts->role));
    return true;
}

int run_token_list(const struct args *args)
{
    cleanup(token_file_done) struct token_file file = {.folder = -1};
    TRY(open_file(args, &file));
    TRY(must_exist(&file));
    json_t *items = json_array();
    each_line(&file, list_line, items);
    if (args_wants(args, "json")) {
        json_t *all = json_pack("{s:O, s:n}", "items", items, "next");
        json_dumpf(all, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(all);
    } else {
        print_rows(columns_tokens, items, 0, true);
    }
    json_decref(items);
    return EXIT_DONE;
}

/* ---- remove ------------------------------------------------------------------------------- */

struct removal {
    const char *name;
    struct buf left;
};

static bool keep_line(void *arg, const char *line, size_t len, const struct token_line *parts)
{
    struct removal *removal = arg;
    if (!parts->secret || strcmp(parts->name, removal->name) != 0)
        buf_add(&removal->left, line, len);
    return true;
}

static int remove_name(struct token_file *file, const char *name)
{
    struct removal removal = {.name = name};
    if (!has_name(file, name)) {
        say_error("token file \"%s\" has no token with the name \"%s\"", file->path, name);
        return EXIT_NO;
    }
    each_line(file, keep_line, &removal);
    if (removal.left.failed) {
        buf_done(&removal.left);
        return fail_file("write", file->path);
    }
    buf_done(&file->text);
    file->text = removal.left;
    return EXIT_DONE;
}

int run_token_remove(const struct args *args)
{
    cleanup(token_file_done) struct token_file file = {.folder = -1};
    TRY(open_file(args, &file));
    TRY(must_exist(&file));
    for (size_t i = 0; i < args->operand_count; i++)
        TRY(remove_name(&file, args->operands[i]));
    return replace_file(&file, &file.text);
}
