/* http/secret.c - files with secrets in them are for their owner alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http/secret.h"

#include "base/error.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static cairn_code check_mode(FILE *file, const char *what, const char *path,
                             cairn_error *reterr)
{
    struct stat info;
    if (fstat(fileno(file), &info))
        return fail(reterr, CAIRN_E_BAD_INPUT, "could not look at %s \"%s\": %s", what, path,
                    strerror(errno));
    if (!(info.st_mode & (S_IROTH | S_IWOTH)))
        return CAIRN_OK;
    fail(reterr, CAIRN_E_BAD_INPUT, "%s \"%s\" can be %s by every user", what, path,
         info.st_mode & S_IROTH ? "read" : "written");
    return fail_hint(reterr, CAIRN_E_BAD_INPUT, "chmod 600 %s", path);
}

cairn_code secret_open(const char *what, const char *path, FILE **ret_file, cairn_error *reterr)
{
    cleanup(secret_closep) FILE *file = fopen(path, "re");
    if (!file)
        return fail(reterr, CAIRN_E_BAD_INPUT, "could not open %s \"%s\": %s", what, path,
                    strerror(errno));
    TRY(check_mode(file, what, path, reterr));
    *ret_file = file;
    file = NULL;
    return CAIRN_OK;
}

void secret_closep(FILE **file)
{
    if (*file)
        fclose(*file);
}
