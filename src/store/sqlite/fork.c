/* store/sqlite/fork.c - opening a file in a forked process, while the parent has it open, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * SQLite keeps one list of the locks that this process has on files, by device and inode, for all
 * of its connections.  A forked process inherits the list but not the locks, so a connection that it
 * opens would believe to hold locks that it does not have.  Therefore SQLite is told another device
 * after each fork, and so begins a new entry.  The connections of the parent, and their entries, are
 * never used again.
 *
 * A thread of the parent that holds one of SQLite's static mutexes would never release it in the
 * child.  So a fork waits until they are free.
 */
#include "store/sqlite/sqlite.h"

#include <sys/stat.h>
#include <unistd.h>

static dev_t generation;

/* SQLite asks for the identity of a file with this call, and for its size, mode and links. */
static int fstat_anew(int file, struct stat *info)
{
    int result = fstat(file, info);
    if (result == 0)
        info->st_dev ^= generation;
    return result;
}

/* Each may be taken while those before it are held. */
static const int mutexes[] = {
    SQLITE_MUTEX_STATIC_PRNG, SQLITE_MUTEX_STATIC_MASTER, SQLITE_MUTEX_STATIC_OPEN,
    SQLITE_MUTEX_STATIC_VFS1, SQLITE_MUTEX_STATIC_VFS2,   SQLITE_MUTEX_STATIC_VFS3,
    SQLITE_MUTEX_STATIC_LRU,  SQLITE_MUTEX_STATIC_PMEM,   SQLITE_MUTEX_STATIC_MEM};

static void before_fork(void)
{
    for (size_t i = 0; i < sizeof mutexes / sizeof *mutexes; i++)
        sqlite3_mutex_enter(sqlite3_mutex_alloc(mutexes[i]));
}

static void after_fork(void)
{
    for (size_t i = sizeof mutexes / sizeof *mutexes; i-- > 0;)
        sqlite3_mutex_leave(sqlite3_mutex_alloc(mutexes[i]));
}

static void after_fork_in_child(void)
{
    generation = (dev_t)getpid() << 32;
    after_fork();
}

static void prepare(void)
{
    /* SQLite would count its memory under a lock at each allocation, a tenth of what a statement costs.  It refuses
     * if this process uses it already. */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_vfs *vfs = sqlite3_initialize() ? NULL : sqlite3_vfs_find(NULL);
    if (vfs && vfs->iVersion >= 3)
        vfs->xSetSystemCall(vfs, "fstat", (sqlite3_syscall_ptr)fstat_anew);
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

void sqlite_survive_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
}
