/* A file system that fails: the n-th call that writes below a folder returns an error, or writes less than asked.
 *
 * Loaded before the C library (LD_PRELOAD); `faulty_arm` says which call fails and how, `faulty_calls` how many there
 * were. Every process counts for itself; a forked one begins with its parent's count.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;
static long first, last;
static int error_number;
static char folder[PATH_MAX];

/* From the `from`-th to the `to`-th call below `below` fails with `error`; 0 stands for a short write. */
void faulty_arm(const char *below, long from, long to, int error) {
    snprintf(folder, sizeof folder, "%s", below);
    atomic_store(&calls, 0);
    first = from;
    last = to;
    error_number = error;
}

long faulty_calls(void) { return atomic_load(&calls); }

static int is_below(const char *path) { return folder[0] && strncmp(path, folder, strlen(folder)) == 0; }

/* Does this call fail? Calls elsewhere are not counted. */
static int fails_at(const char *path) {
    if (!is_below(path)) return 0;
    long number = atomic_fetch_add(&calls, 1) + 1;
    return number >= first && number <= last;
}

static int fails(int file) {
    char link[64], path[PATH_MAX];
    if (!folder[0]) return 0;
    int kept = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = kept;
    if (length < 0) return 0;
    path[length] = 0;
    return fails_at(path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAIL return errno = error_number, -1

ssize_t write(int file, const void *content, size_t count) {
    if (fails(file)) {
        if (error_number) FAIL;
        count = count > 1 ? count / 2 : count;
    }
    return REAL(write)(file, content, count);
}

ssize_t pwrite64(int file, const void *content, size_t count, off64_t at) {
    if (fails(file)) {
        if (error_number) FAIL;
        count = count > 1 ? count / 2 : count;
    }
    return REAL(pwrite64)(file, content, count, at);
}

ssize_t pwrite(int file, const void *content, size_t count, off_t at) { return pwrite64(file, content, count, at); }

int ftruncate64(int file, off64_t length) {
    if (fails(file) && error_number) FAIL;
    return REAL(ftruncate64)(file, length);
}

int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

/* These do not know EINTR's likes from callers that ask again, so it is left out of them. */
#define SYNC(name)                                                              \
    int name(int file) {                                                        \
        if (fails(file) && error_number && error_number != EINTR) FAIL;         \
        return REAL(name)(file);                                                \
    }
SYNC(fsync)
SYNC(fdatasync)

int rename(const char *from, const char *to) {
    if (fails_at(to) && error_number && error_number != EINTR) FAIL;
    return REAL(rename)(from, to);
}

int mkdir(const char *path, mode_t mode) {
    int (*real)(const char *, mode_t) = dlsym(RTLD_NEXT, "mkdir");
    if (fails_at(path) && error_number && error_number != EINTR) FAIL;
    return real(path, mode);
}
