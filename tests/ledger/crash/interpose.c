/* Preloaded before the C library: writes down, or makes fail, every change of a file under $TRACE_FOLDER.
 *
 * A record is: kind (1 byte), length of the name (4), offset (8), length of the data (8), name, data.
 * Kinds: C created, W written, T truncated, S synced, U unlinked; D is a sync of the folder itself.
 * With $FAIL_AT = n, the n-th change and all after it fail with $FAIL_ERRNO, as on a full or broken disk.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { MOST_FILES = 4096 };
static char *names[MOST_FILES];
static const char *folder;
static int trace = -1;
static long fail_at, fail_errno, count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void start(void) {
    folder = getenv("TRACE_FOLDER");
    const char *path = getenv("TRACE_FILE");
    if (path) trace = (int)syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_APPEND, 0600);
    fail_at = getenv("FAIL_AT") ? atol(getenv("FAIL_AT")) : 0;
    fail_errno = getenv("FAIL_ERRNO") ? atol(getenv("FAIL_ERRNO")) : 0;
}

static const char *inside(const char *path) {
    if (!folder || !path) return NULL;
    size_t length = strlen(folder);
    if (strncmp(path, folder, length)) return NULL;
    return path[length] == '/' ? path + length + 1 : path[length] ? NULL : "";
}

/* Whether this change fails; otherwise it is written down. Called with the lock held. */
static int refused(char kind, const char *name, int64_t offset, const void *data, int64_t length) {
    if (strncmp(name, "acks", 4) && fail_at && ++count >= fail_at) {
        errno = (int)fail_errno;
        return 1;
    }
    if (trace >= 0) {
        uint32_t name_length = (uint32_t)strlen(name);
        char head[21];
        head[0] = kind;
        memcpy(head + 1, &name_length, 4);
        memcpy(head + 5, &offset, 8);
        memcpy(head + 13, &length, 8);
        syscall(SYS_write, trace, head, sizeof head);
        syscall(SYS_write, trace, name, name_length);
        if (data) syscall(SYS_write, trace, data, (size_t)length);
    }
    return 0;
}

static const char *name_of(int file) {
    return file >= 0 && file < MOST_FILES ? names[file] : NULL;
}

static int opened(const char *path, int flags, mode_t mode) {
    const char *name = inside(path);
    pthread_mutex_lock(&lock);
    struct stat status;
    int is_new = name && (flags & O_CREAT) && stat(path, &status);
    int file = -1;
    if (!is_new || !refused('C', name, 0, NULL, 0)) file = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    /* What is written to a pipe never reaches a disk. */
    int is_pipe = file >= 0 && !fstat(file, &status) && S_ISFIFO(status.st_mode);
    if (name && file >= 0 && file < MOST_FILES && !is_pipe) {
        free(names[file]);
        names[file] = strdup(name);
    }
    pthread_mutex_unlock(&lock);
    return file;
}

#define OPEN(function)                                      \
    int function(const char *path, int flags, ...) {        \
        va_list rest;                                       \
        va_start(rest, flags);                              \
        mode_t mode = (mode_t)va_arg(rest, int);            \
        va_end(rest);                                       \
        return opened(path, flags, mode);                   \
    }
OPEN(open)
OPEN(open64)

int close(int file) {
    pthread_mutex_lock(&lock);
    if (name_of(file)) {
        free(names[file]);
        names[file] = NULL;
    }
    pthread_mutex_unlock(&lock);
    return (int)syscall(SYS_close, file);
}

/* One change: refused, or written down and done, in one order for all threads. */
#define CHANGE(kind, name, offset, data, length, done) \
    pthread_mutex_lock(&lock);                         \
    long result = -1;                                  \
    if (!(name) || !refused(kind, name, offset, data, length)) result = done; \
    pthread_mutex_unlock(&lock);                       \
    return result;

ssize_t pwrite64(int file, const void *data, size_t length, off64_t offset) {
    CHANGE('W', name_of(file), offset, data, (int64_t)length, syscall(SYS_pwrite64, file, data, length, offset))
}
ssize_t pwrite(int file, const void *data, size_t length, off_t offset) {
    return pwrite64(file, data, length, offset);
}
ssize_t write(int file, const void *data, size_t length) {
    const char *name = name_of(file);
    CHANGE('W', name, name ? lseek(file, 0, SEEK_CUR) : 0, data, (int64_t)length, syscall(SYS_write, file, data, length))
}
int ftruncate64(int file, off64_t length) {
    CHANGE('T', name_of(file), length, NULL, 0, syscall(SYS_ftruncate, file, length))
}
int ftruncate(int file, off_t length) { return ftruncate64(file, length); }
static int synced(int file, long number) {
    const char *name = name_of(file);
    CHANGE(name && !*name ? 'D' : 'S', name, 0, NULL, 0, syscall(number, file))
}
int fsync(int file) { return synced(file, SYS_fsync); }
int fdatasync(int file) { return synced(file, SYS_fdatasync); }
int unlink(const char *path) {
    CHANGE('U', inside(path), 0, NULL, 0, syscall(SYS_unlinkat, AT_FDCWD, path, 0))
}
