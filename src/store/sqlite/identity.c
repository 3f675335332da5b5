/* store/sqlite/identity.c - whether the open files are still in their places.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A file that is removed or replaced while it is open lives on without a name: SQLite writes to it
 * as before, and all of it is gone when the last process closes it.  The same holds for the log.  So
 * device and inode under each name are compared with those that were found when it was opened: before
 * a transaction begins, and after its commit, before a caller is answered.
 *
 * A file that comes back under its name is used again.  Another file is not: which one is meant is
 * for a person to say, by a restart.
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum presence { IN_PLACE, ABSENT, REPLACED };

void identity_init(struct sqlite_store *store)
{
    pthread_mutex_init(&store->identity_lock, NULL);
}

void identity_done(struct sqlite_store *store)
{
    pthread_mutex_destroy(&store->identity_lock);
    mem_free(store->log_path);
}

void identity_opened(struct sqlite_store *store)
{
    pthread_mutex_lock(&store->identity_lock);
    store->connection_count++;
    pthread_mutex_unlock(&store->identity_lock);
}

void identity_closed(struct sqlite_store *store)
{
    pthread_mutex_lock(&store->identity_lock);
    if (--store->connection_count == 0)
        store->log.is_known = false;
    pthread_mutex_unlock(&store->identity_lock);
}

static bool look_at(const char *path, struct file_identity *ret_identity)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return false;
    *ret_identity =
        (struct file_identity){.is_known = true, .device = info.st_dev, .inode = info.st_ino};
    return true;
}

static enum presence presence_of(const char *path, const struct file_identity *wanted)
{
    struct file_identity found;
    if (!wanted->is_known)
        return IN_PLACE;
    if (!look_at(path, &found))
        return ABSENT;
    return found.device == wanted->device && found.inode == wanted->inode ? IN_PLACE : REPLACED;
}

cairn_code identity_note(struct sqlite_store *store, sqlite3 *db, cairn_error *reterr)
{
    bool is_done = true;
    if (is_in_memory(store))
        return CAIRN_OK;
    pthread_mutex_lock(&store->identity_lock);
    if (!store->log_path)
        store->log_path = mem_strdup(sqlite3_filename_wal(sqlite3_db_filename(db, "main")));
    if (!store->file.is_known)
        is_done = look_at(store->path, &store->file);
    if (store->log_path && !store->log.is_known)
        look_at(store->log_path, &store->log); /* none yet: nothing was written */
    bool has_memory = store->log_path != NULL;
    pthread_mutex_unlock(&store->identity_lock);
    if (!has_memory)
        return fail_memory(reterr);
    return is_done ? CAIRN_OK
                   : fail(reterr, CAIRN_E_UNREACHABLE, "could not look at \"%s\": %s",
                          store->path, strerror(errno));
}

static cairn_code refuse_file(const struct sqlite_store *store, enum presence presence,
                              const char *what, cairn_error *reterr)
{
    fail(reterr, CAIRN_E_UNREACHABLE, "could not %s: \"%s\" was %s while it was open", what,
         store->path, presence == ABSENT ? "removed" : "replaced by another file");
    return fail_hint(reterr, CAIRN_E_UNREACHABLE,
                     "put the file back, or restart this process to use %s",
                     presence == ABSENT ? "a new one" : "the file that is there now");
}

static cairn_code refuse_log(const struct sqlite_store *store, enum presence presence,
                             const char *what, cairn_error *reterr)
{
    fail(reterr, CAIRN_E_UNREACHABLE, "could not %s: the log \"%s\" was %s while it was open",
         what, store->log_path, presence == ABSENT ? "removed" : "replaced by another file");
    return fail_hint(
        reterr, CAIRN_E_UNREACHABLE,
        "stop every process that has it open, without kill -9: the last one writes "
        "what the log held into the database");
}

cairn_code identity_check(struct sqlite_store *store, const char *what, cairn_error *reterr)
{
    pthread_mutex_lock(&store->identity_lock);
    enum presence file = presence_of(store->path, &store->file);
    enum presence log = file == IN_PLACE && store->log_path
                            ? presence_of(store->log_path, &store->log)
                            : IN_PLACE;
    pthread_mutex_unlock(&store->identity_lock);
    if (file != IN_PLACE)
        return refuse_file(store, file, what, reterr);
    return log == IN_PLACE ? CAIRN_OK : refuse_log(store, log, what, reterr);
}
