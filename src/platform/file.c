/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files, the state directory, and durable files in it. */
#include "platform/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

/* Between two attempts. flock(2) cannot wait with a deadline, and locks are
 * held for some ms only. */
#define LOCK_LOOK_MS 2

/* For all bytes of a pipe. An order that reads a file waits for it, and with it
 * all later orders; seqctl waits 5 s for the answer. */
#define PIPE_WAIT_MS 4000

/* Whether the caller of the program passed it, as <(command) does: its writer
 * is there, and is waited for until it ends. */
static bool is_passed(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/",
                                          "/dev/stdin"};

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return true;
    return false;
}

/* Waits for more bytes, the end, or an error; false at the deadline. A regular
 * file never waits. */
static bool is_readable(int file, int64_t until_ms)
{
    const int64_t left_ms = until_ms - clock_now_ms();

    if (until_ms == INT64_MAX)
        return poll(&(struct pollfd){.fd = file, .events = POLLIN}, 1, -1) != 0;
    return poll(&(struct pollfd){.fd = file, .events = POLLIN}, 1,
                left_ms > 0 ? (int)left_ms : 0) != 0;
}

static enum seqb_status read_all(int file, const char *path, char *text,
                                 size_t max, struct seqb_error *err)
{
    const int64_t until_ms =
        is_passed(path) ? INT64_MAX : clock_now_ms() + PIPE_WAIT_MS;
    size_t length = 0;
    ssize_t n = 1;

    while (n != 0 && length <= max) {
        if (!is_readable(file, until_ms))
            return error_set(err, SEQB_INVALID,
                             "cannot read %s: it is a pipe that had no "
                             "writer, or did not end, within %d ms",
                             path, PIPE_WAIT_MS);
        n = read(file, text + length, max + 1 - length);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return error_set(err, SEQB_INVALID, "cannot read %s: %s", path,
                             strerror(errno));
        length += n > 0 ? (size_t)n : 0;
    }
    if (length > max)
        return error_set(err, SEQB_INVALID, "%s is larger than %zu bytes", path,
                         max);
    text[length] = '\0';
    return SEQB_OK;
}

enum seqb_status file_read(const char *path, size_t max, char **out,
                           struct seqb_error *err)
{
    /* Otherwise open(2) would wait for the writer of a named pipe. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text;
    enum seqb_status status;

    if (file < 0)
        return error_set(err, SEQB_INVALID, "cannot open %s: %s", path,
                         strerror(errno));
    text = malloc(max + 2);
    status = text == NULL
                 ? error_set(err, SEQB_NO_MEMORY, "%s: out of memory", path)
                 : read_all(file, path, text, max, err);
    (void)close(file);
    if (status != SEQB_OK) {
        free(text);
        return status;
    }
    *out = text;
    return SEQB_OK;
}

static enum seqb_status make_one(const char *path, struct seqb_error *err)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return SEQB_OK;
    return error_set(err, SEQB_STATE_DIR,
                     "cannot make the folder %s: %s; choose another with "
                     "state_dir or SEQBROKER_STATE_DIR",
                     path, strerror(errno));
}

enum seqb_status file_make_folder(const char *path, struct seqb_error *err)
{
    char part[PATH_MAX];
    struct stat found;

    if (!text_copy(part, sizeof part, path) || part[0] == '\0')
        return error_set(err, SEQB_STATE_DIR,
                         "the folder's name is empty or too long: %s", path);
    for (char *slash = strchr(part + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (make_one(part, err) != SEQB_OK)
            return SEQB_STATE_DIR;
        *slash = '/';
    }
    if (make_one(part, err) != SEQB_OK)
        return SEQB_STATE_DIR;
    if (stat(path, &found) != 0 || !S_ISDIR(found.st_mode))
        return error_set(err, SEQB_STATE_DIR, "%s is not a folder", path);
    if ((found.st_mode & S_IWOTH) != 0)
        return error_set(err, SEQB_STATE_DIR,
                         "everybody may write in the folder %s: chmod o-w, or "
                         "choose another with state_dir or "
                         "SEQBROKER_STATE_DIR",
                         path);
    if (access(path, W_OK | X_OK) != 0)
        return error_set(err, SEQB_STATE_DIR,
                         "cannot write in the folder %s: %s; choose another "
                         "with state_dir or SEQBROKER_STATE_DIR",
                         path, strerror(errno));
    return SEQB_OK;
}

/* An interrupted call is repeated. */
static size_t read_some(int file, char *bytes, size_t size)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t n = read(file, bytes + done, size - done);

        if (n == 0 || (n < 0 && errno != EINTR))
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    return done;
}

static bool write_whole(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t n = write(file, bytes, size);

        if (n < 0 && errno != EINTR)
            return false;
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static enum seqb_status state_fails(const char *what, const char *path,
                                    struct seqb_error *err)
{
    return error_set(err, SEQB_STATE_DIR, "cannot %s %s: %s", what, path,
                     strerror(errno));
}

static enum seqb_status load_open(int file, const char *path, size_t max,
                                  char **out, size_t *size,
                                  struct seqb_error *err)
{
    struct stat about;
    size_t expected;

    if (fstat(file, &about) != 0)
        return state_fails("look at", path, err);
    if (!S_ISREG(about.st_mode) || about.st_size > (off_t)max)
        return error_set(err, SEQB_STATE_DIR,
                         "%s is no file of at most %zu bytes", path, max);
    expected = (size_t)about.st_size;
    *out = malloc(expected + 1);
    if (*out == NULL)
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory", path);
    *size = read_some(file, *out, expected);
    if (*size == expected)
        return SEQB_OK;
    free(*out);
    *out = NULL;
    return state_fails("read", path, err);
}

enum seqb_status file_load(const char *path, size_t max, char **out,
                           size_t *size, struct seqb_error *err)
{
    /* O_NONBLOCK: if it is a pipe, the open does not wait for a writer. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    enum seqb_status status;

    *out = NULL;
    *size = 0;
    if (file < 0)
        return errno == ENOENT ? SEQB_OK : state_fails("open", path, err);
    status = load_open(file, path, max, out, size, err);
    (void)close(file);
    return status;
}

enum seqb_status file_save(const char *path, const char *bytes, size_t size,
                           struct seqb_error *err)
{
    const int file =
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    enum seqb_status status = SEQB_OK;

    if (file < 0)
        return state_fails("make", path, err);
    if (!write_whole(file, bytes, size) || fsync(file) != 0)
        status = state_fails("write", path, err);
    (void)close(file);
    if (status != SEQB_OK)
        (void)unlink(path);
    return status;
}

static bool sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    bool is_synced;
    int file;

    if (slash == NULL || !text_format(folder, sizeof folder, "%.*s",
                                      (int)(slash - path + 1), path))
        return false;
    file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return false;
    is_synced = fsync(file) == 0;
    (void)close(file);
    return is_synced;
}

enum seqb_status file_append(const char *path, const char *bytes, size_t size,
                             struct seqb_error *err)
{
    const int file = open(
        path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct stat about;
    enum seqb_status status = SEQB_OK;

    if (file < 0)
        return state_fails("make", path, err);
    if (fstat(file, &about) != 0) {
        status = state_fails("read", path, err);
    } else if (!write_whole(file, bytes, size) || fsync(file) != 0 ||
               (about.st_size == 0 && !sync_folder_of(path))) {
        status = state_fails("write", path, err);
        (void)!ftruncate(file, about.st_size);
    }
    (void)close(file);
    return status;
}

static bool is_old(int folder, const char *name, int64_t age_s)
{
    struct stat about;

    return fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
           about.st_mtime + age_s < clock_wall_ms() / 1000;
}

void file_remove_old(const char *prefix, int64_t age_s)
{
    const char *slash = strrchr(prefix, '/');
    const char *name = slash == NULL ? prefix : slash + 1;
    char folder[PATH_MAX];
    const struct dirent *entry;
    DIR *open;

    if (slash == NULL || !text_format(folder, sizeof folder, "%.*s",
                                      (int)(name - prefix), prefix))
        return;
    open = opendir(folder);
    while (open != NULL && (entry = readdir(open)) != NULL) {
        if (strncmp(entry->d_name, name, strlen(name)) == 0 &&
            is_old(dirfd(open), entry->d_name, age_s))
            (void)unlinkat(dirfd(open), entry->d_name, 0);
    }
    if (open != NULL)
        (void)closedir(open);
}

enum seqb_status file_move(const char *from, const char *to,
                           struct seqb_error *err)
{
    if (rename(from, to) == 0 && sync_folder_of(to))
        return SEQB_OK;
    return error_set(err, SEQB_UNCERTAIN, "cannot move %s to %s: %s", from, to,
                     strerror(errno));
}

static bool lock_take(int file, int64_t until_ms)
{
    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
        if ((errno != EWOULDBLOCK && errno != EINTR) ||
            clock_now_ms() >= until_ms)
            return false;
        (void)nanosleep(&(struct timespec){0, LOCK_LOOK_MS * 1000000L}, NULL);
    }
    return true;
}

enum seqb_status file_lock(const char *path, int64_t until_ms, int *out,
                           struct seqb_error *err)
{
    const int file =
        open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    enum seqb_status status;

    if (file < 0)
        return state_fails("make", path, err);
    if (lock_take(file, until_ms)) {
        *out = file;
        return SEQB_OK;
    }
    status = errno == EWOULDBLOCK || errno == EINTR
                 ? error_set(err, SEQB_UNAVAILABLE,
                             "another broker has %s locked", path)
                 : state_fails("lock", path, err);
    (void)close(file);
    return status;
}

/* Unlocks explicitly and does not rely on close(2): a child that was forked in
 * the meantime has the file open as well, and would keep it locked. */
void file_unlock(int file)
{
    (void)flock(file, LOCK_UN);
    (void)close(file);
}
