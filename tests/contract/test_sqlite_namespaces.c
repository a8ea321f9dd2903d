/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SQLite file that brokers of several mount namespaces share, as in
 * containers: each namespace has a /dev/shm, and so a note, of its own. What
 * one of them commits must not hide from another one that the file went back.
 * Also notes that do not fit their file.
 */
#include "contract/sqlite_cell.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "backends/backends.h"
#include "platform/file.h"
#include "platform/text.h"
#include "support/sqlite_note.h"
#include "support/test.h"

#define TURNS     5
#define NOTE_SIZE 128
#define MANY      70 /* more incarnations than a file keeps */
#define MARK      "user.seqbroker.commits"

/* --- namespaces --- */

enum space { MINE, OTHER, THIRD, SPACES };

/* Where the note of a namespace is put away. */
static void note_away(const struct sqlite_files *files, enum space space,
                      char out[96])
{
    char note[SQLITE_NOTE_SIZE];

    sqlite_files_note(files, note);
    (void)text_format(out, 96, "%s.%d", note, (int)space);
}

/* Plays that this process goes from one namespace to another one: puts the note
 * away, and takes the other one out, if there is one. Notes keep their inodes,
 * since a broker that stays has its note open. */
static void go(const struct sqlite_files *files, enum space from, enum space to)
{
    char note[SQLITE_NOTE_SIZE];
    char away[96];

    sqlite_files_note(files, note);
    note_away(files, from, away);
    (void)rename(note, away);
    note_away(files, to, away);
    (void)rename(away, note);
}

static int teardown(void **state)
{
    for (enum space space = MINE; space < SPACES; space++) {
        char away[96];

        note_away(*state, space, away);
        (void)unlink(away);
    }
    return sqlite_case_teardown(state);
}

#define CASE FIXTURE(struct sqlite_files *files, sqlite_case_setup, teardown)

/* Grants more than take_some takes, by direct counters. */
static void count_on(struct seqb_backend *backend)
{
    struct seqb_request request;

    for (int i = 0; i < 2 * TURNS; i++)
        assert_ok(sqlite_case_reserve(backend, ORDER, 1, &request));
    sqlite_case_close(backend);
}

/* In a child, which has no use for assertions. */
static bool count_elsewhere(const struct sqlite_files *files)
{
    struct seqb_backend *backend = NULL;
    enum seqb_status status = SEQB_OK;

    if (unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "/dev/shm", "tmpfs", 0, NULL) != 0 ||
        backend_sqlite.open(&files->options, &backend, NULL) != SEQB_OK)
        return false;
    for (int i = 0; i < 2 * TURNS && status == SEQB_OK; i++) {
        struct seqb_request request;

        status = sqlite_case_reserve(backend, ORDER, 1, &request);
    }
    backend_sqlite.close(backend);
    return status == SEQB_OK;
}

/* As count_on, in a mount namespace that has a /dev/shm of its own. */
static void count_on_elsewhere(const struct sqlite_files *files)
{
    int ended;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0)
        _exit(count_elsewhere(files) ? 0 : 1);
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
}

/* Takes the next offsets of the cell, from 1 on. */
static void take_some(struct seqb_backend *backend)
{
    for (int64_t i = 1; i <= TURNS; i++)
        sqlite_cell_expect(backend, SEQB_OK, i);
}

static void expect_fenced(const struct sqlite_files *files)
{
    struct seqb_backend *backend = sqlite_case_open(files);

    sqlite_cell_expect(backend, SEQB_FENCED, 0);
    sqlite_case_close(backend);
}

TEST_WITH(CASE, file_that_another_namespace_counts_on_went_back)
{
    struct seqb_backend *backend;

    if (geteuid() != 0)
        skip(); /* only root makes mounts */
    sqlite_cell_use(files);
    test_copy_file(files->path, files->copy);
    backend = sqlite_case_open(files);
    take_some(backend);
    sqlite_case_close(backend);
    test_copy_file(files->copy, files->path);
    count_on_elsewhere(files);
    expect_fenced(files);
}

/* The other namespace has a note that fits the copy. */
TEST_WITH(CASE, file_that_another_note_follows_went_back)
{
    struct seqb_backend *backend;

    count_on(sqlite_cell_open_known(files));
    go(files, OTHER, MINE);
    sqlite_cell_use(files);
    test_copy_file(files->path, files->copy);
    backend = sqlite_case_open(files);
    take_some(backend);
    sqlite_case_close(backend);
    test_copy_file(files->copy, files->path);
    go(files, MINE, OTHER);
    count_on(sqlite_cell_open_known(files));
    go(files, OTHER, MINE);
    expect_fenced(files);
}

/* It keeps the file open. The copy brings its mark, and others pass what the
 * idle broker has seen. A direct counter must not make its name fit again. */
TEST_WITH(CASE, broker_that_was_idle_sees_that_the_file_went_back)
{
    struct seqb_backend *idle = sqlite_case_open(files);
    struct seqb_request request;
    char mark[24];
    ssize_t length;

    sqlite_cell_install(idle, 1);
    sqlite_cell_expect(idle, SEQB_OK, 0);
    sqlite_files_save(files);
    length = getxattr(files->path, MARK, mark, sizeof mark);
    assert_true(length > 0);
    take_some(idle);
    sqlite_files_restore_inside(files);
    assert_int_equal(setxattr(files->path, MARK, mark, (size_t)length, 0), 0);
    go(files, MINE, OTHER);
    count_on(sqlite_case_open(files));
    go(files, OTHER, MINE);
    assert_ok(sqlite_case_reserve(idle, ORDER, 1, &request));
    sqlite_cell_expect(idle, SEQB_FENCED, 0);
}

/* What one of them commits is no reason for the other one to begin again. */
TEST_WITH(CASE, namespaces_that_take_turns_keep_their_incarnations)
{
    char mine[SEQB_INCARNATION_SIZE] = "";
    char other[SEQB_INCARNATION_SIZE] = "";

    for (int i = 0; i < TURNS; i++) {
        struct seqb_backend *backend = sqlite_cell_open_known(files);

        if (i > 0)
            assert_string_equal(backend->incarnation, mine);
        (void)text_copy(mine, sizeof mine, backend->incarnation);
        count_on(backend);
        go(files, MINE, OTHER);
        backend = sqlite_cell_open_known(files);
        if (i > 0)
            assert_string_equal(backend->incarnation, other);
        (void)text_copy(other, sizeof other, backend->incarnation);
        count_on(backend);
        go(files, OTHER, MINE);
    }
    assert_string_not_equal(mine, other);
}

/* --- notes --- */

/* Begins another incarnation, which stays. */
static void expect_another(const struct sqlite_files *files,
                           char incarnation[SEQB_INCARNATION_SIZE])
{
    for (int i = 0; i < 2; i++) {
        struct seqb_backend *backend = sqlite_cell_open_known(files);

        assert_true((i == 0) !=
                    (strcmp(backend->incarnation, incarnation) == 0));
        (void)text_copy(incarnation, SEQB_INCARNATION_SIZE,
                        backend->incarnation);
        sqlite_case_close(backend);
    }
}

/* The text of the note, to be freed. */
static char *note_read(const struct sqlite_files *files)
{
    char note[SQLITE_NOTE_SIZE];
    char *text;
    struct seqb_error err;

    sqlite_files_note(files, note);
    assert_ok(file_read(note, 1024, &text, &err));
    return text;
}

static void note_write(const struct sqlite_files *files, const char *text,
                       size_t size)
{
    char note[SQLITE_NOTE_SIZE];

    sqlite_files_note(files, note);
    sqlite_files_write(note, text, size);
}

/* A broker that was killed between its note and its commit has left the first
 * one. The last one is of an earlier version, which counts commits. */
TEST_WITH(CASE, note_that_does_not_fit_the_file_costs_one_incarnation)
{
    static const char *const names[] = {
        "00000000000000000000000000000000",
        "0000000000000000",
        "",
        "9",
        "1000000000",
    };
    char incarnation[SEQB_INCARNATION_SIZE] = "";

    expect_another(files, incarnation);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[NOTE_SIZE] = "";
        char *whole = note_read(files);

        (void)text_format(text, sizeof text, "%.70s%s", whole, names[i]);
        free(whole);
        note_write(files, text, sizeof text);
        expect_another(files, incarnation);
    }
}

TEST_WITH(CASE, torn_note_costs_one_incarnation)
{
    char incarnation[SEQB_INCARNATION_SIZE] = "";

    expect_another(files, incarnation);
    for (size_t size = 0; size < NOTE_SIZE; size += 30) {
        char *whole = note_read(files);

        note_write(files, whole, size);
        free(whole);
        expect_another(files, incarnation);
    }
}

/* As by containers that come and go. */
TEST_WITH(CASE, file_keeps_the_newest_of_many_incarnations)
{
    char first[SEQB_INCARNATION_SIZE] = "";
    char last[SEQB_INCARNATION_SIZE];
    struct seqb_backend *backend;
    int64_t names;

    expect_another(files, first);
    go(files, MINE, THIRD);
    for (int i = 0; i < MANY; i++) {
        backend = sqlite_cell_open_known(files);
        (void)text_copy(last, sizeof last, backend->incarnation);
        sqlite_case_close(backend);
        go(files, OTHER, THIRD);
    }
    names = sqlite_files_ask(files, "SELECT count(*) FROM seqb_counters "
                                    "WHERE name LIKE 'incarnation:%'");
    assert_in_range(names, 2, MANY - 1);
    go(files, THIRD, MINE);
    expect_another(files, first);
    go(files, MINE, OTHER);
    backend = sqlite_cell_open_known(files);
    assert_string_equal(backend->incarnation, last);
}
