/* tests/fuzz/replay.c - runs a fuzz target on files, as a test program that speaks TAP.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   fuzz_NAME FOLDER       every file of a corpus
 *   fuzz_NAME FILE...      only these
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

enum { INPUT_MAX = 32 << 20 };

static int replayed, failed;

static void replay(const char *path, const char *name)
{
    FILE *file = fopen(path, "re");
    struct stat info = {0};
    /* No byte more than the input has, so that ASan sees a read behind its end. */
    uint8_t *bytes = NULL;
    size_t len = 0;
    if (file && fstat(fileno(file), &info) == 0 && info.st_size <= INPUT_MAX)
        bytes = malloc((size_t)info.st_size + (info.st_size == 0));
    if (bytes)
        len = fread(bytes, 1, (size_t)info.st_size, file);
    bool is_read = bytes && len == (size_t)info.st_size;
    if (is_read)
        LLVMFuzzerTestOneInput(bytes, len);
    else
        failed++;
    printf("%sok %d - %s\n", is_read ? "" : "not ", ++replayed, name);
    fflush(stdout);
    free(bytes);
    if (file)
        fclose(file);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void replay_folder(const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_visible, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        replay(path, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct stat info = {0};
        if (stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode))
            replay_folder(argv[i]);
        else
            replay(argv[i], argv[i]);
    }
    printf("1..%d\n", replayed);
    return replayed == 0 || failed > 0;
}
