/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a SQLite store, with all their attributes. */
#include "sqlite_parts.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/text.h"
#include "support/test.h"

#define COPY_TRIES 20

const char *sqlite_part(const char *path, int i,
                        char out[static SQLITE_PART_SIZE])
{
    static const char *const ends[SQLITE_PARTS] = {"", "-wal", "-shm"};

    (void)text_format(out, SQLITE_PART_SIZE, "%s%s", path, ends[i]);
    return out;
}

static bool attributes_try_copy(const char *from, const char *to)
{
    int ended;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        (void)execlp("cp", "cp", "-a", "--reflink=auto", from, to,
                     (char *)NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    return ended == 0;
}

/* Into the same file, if there is one. Where there is none, cp fails if a
 * broker makes it at the same moment. */
static void attributes_copy(const char *from, const char *to)
{
    int tries = 1;

    while (!attributes_try_copy(from, to))
        assert_true(tries++ < COPY_TRIES);
}

void sqlite_parts_copy(const char *from, const char *to)
{
    char source[SQLITE_PART_SIZE];
    char target[SQLITE_PART_SIZE];

    for (int i = 0; i < SQLITE_PARTS; i++) {
        if (access(sqlite_part(from, i, source), F_OK) == 0)
            attributes_copy(source, sqlite_part(to, i, target));
        else
            (void)unlink(sqlite_part(to, i, target));
    }
}

void sqlite_parts_remove(const char *path)
{
    char target[SQLITE_PART_SIZE];

    for (int i = 0; i < SQLITE_PARTS; i++)
        (void)unlink(sqlite_part(path, i, target));
}

void sqlite_parts_replace(struct chaos *chaos, const char *from, const char *to)
{
    const bool are_running = chaos->crowd.is_listening;

    if (are_running)
        crowd_signal(&chaos->crowd, SIGSTOP);
    sqlite_parts_remove(to);
    sqlite_parts_copy(from, to);
    if (are_running)
        crowd_signal(&chaos->crowd, SIGCONT);
}
