/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files and the state directory, with what a file system may refuse. */

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/text.h"
#include "support/failure.h"
#include "support/test.h"

#define NOBODY 65534 /* a user that owns nothing */

struct fixture {
    char folder[32];
    char path[256];
    struct seqb_error err;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    if (fixture == NULL)
        return 1;
    *state = fixture;
    (void)text_copy(fixture->folder, sizeof fixture->folder,
                    "/tmp/seqb-file.XXXXXX");
    /* Another user must get as far as what it is refused. */
    return mkdtemp(fixture->folder) == NULL ||
           chmod(fixture->folder, 0755) != 0;
}

/* The tests make few kinds of entries, all named here. */
static int teardown(void **state)
{
    static const char *const names[] = {"file", "link", "a/b/c", "a/b", "a"};
    struct fixture *fixture = *state;
    int failed;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)text_format(fixture->path, sizeof fixture->path, "%s/%s",
                          fixture->folder, names[i]);
        (void)remove(fixture->path);
    }
    failed = rmdir(fixture->folder);
    free(fixture);
    return failed;
}

#define SCRATCH FIXTURE(struct fixture *fixture, setup, teardown)

static const char *path_of(struct fixture *fixture, const char *name)
{
    assert_true(text_format(fixture->path, sizeof fixture->path, "%s/%s",
                            fixture->folder, name));
    return fixture->path;
}

static void file_write(const char *path, const char *text, mode_t mode)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    assert_int_equal(close(file), 0);
}

/* Whether `what` fails with `status`, as a user without privileges, and names
 * the path. The answer comes from a child: this process keeps its own. */
static bool is_refused_to_nobody(
    enum seqb_status (*what)(const char *path, struct seqb_error *err),
    const char *path, enum seqb_status status)
{
    const pid_t child = fork();
    int how;

    assert_true(child >= 0);
    if (child == 0) {
        struct seqb_error err = {0};

        if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
            _exit(2);
        _exit(what(path, &err) == status && strstr(err.text, path) != NULL &&
                      strstr(err.text, "ermission denied") != NULL
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_not_equal(WEXITSTATUS(how), 2);
    return WEXITSTATUS(how) == 0;
}

TEST_WITH(SCRATCH, a_file_is_read_whole_up_to_its_bound)
{
    static const char text[] = "one\ntwo\n";

    file_write(path_of(fixture, "file"), text, 0600);
    for (size_t max = sizeof text - 1; max < 200000; max = max * 3 + 1) {
        char *out = NULL;

        assert_ok(file_read(fixture->path, max, &out, &fixture->err));
        assert_string_equal(out, text);
        free(out);
    }
}

TEST_WITH(SCRATCH, a_file_past_its_bound_is_refused)
{
    file_write(path_of(fixture, "file"), "12345678", 0600);
    for (size_t max = 0; max < 8; max++) {
        char *out = fixture->path;

        assert_int_equal(file_read(fixture->path, max, &out, &fixture->err),
                         SEQB_INVALID);
        assert_ptr_equal(out, fixture->path);
        assert_non_null(strstr(fixture->err.text, fixture->path));
        assert_non_null(strstr(fixture->err.text, "is larger than"));
    }
}

TEST_WITH(SCRATCH, an_empty_file_is_an_empty_text)
{
    char *out = NULL;

    file_write(path_of(fixture, "file"), "", 0600);
    assert_ok(file_read(fixture->path, 0, &out, NULL));
    assert_string_equal(out, "");
    free(out);
}

TEST_WITH(SCRATCH, what_cannot_be_read_is_named_with_the_reason)
{
    static const struct {
        const char *name;
        const char *reason;
    } cases[] = {
        {"absent", "No such file"},
        {"", "Is a directory"},
        {"file/below", "Not a directory"},
    };

    file_write(path_of(fixture, "file"), "x", 0600);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *out = NULL;

        assert_int_equal(file_read(path_of(fixture, cases[i].name), 100, &out,
                                   &fixture->err),
                         SEQB_INVALID);
        assert_null(out);
        assert_int_equal(fixture->err.status, SEQB_INVALID);
        assert_non_null(strstr(fixture->err.text, fixture->path));
        assert_non_null(strstr(fixture->err.text, cases[i].reason));
    }
}

TEST_WITH(SCRATCH, a_pipe_is_read_to_its_end)
{
    char *out = NULL;
    pid_t writer;
    int how;

    assert_int_equal(mkfifo(path_of(fixture, "file"), 0600), 0);
    writer = fork();
    if (writer == 0) {
        const int end = open(fixture->path, O_WRONLY);

        _exit(write(end, "one\n", 4) == 4 && write(end, "two\n", 4) == 4 ? 0
                                                                         : 1);
    }
    assert_ok(file_read(fixture->path, 100, &out, &fixture->err));
    assert_string_equal(out, "one\ntwo\n");
    free(out);
    assert_int_equal(waitpid(writer, &how, 0), writer);
    assert_int_equal(how, 0);
}

TEST_WITH(SCRATCH, a_pipe_that_does_not_end_is_given_up)
{
    char *out = NULL;

    assert_int_equal(mkfifo(path_of(fixture, "file"), 0600), 0);
    assert_int_equal(file_read(fixture->path, 100, &out, &fixture->err),
                     SEQB_INVALID);
    assert_null(out);
    assert_non_null(strstr(fixture->err.text, "it is a pipe"));
}

static enum seqb_status read_any(const char *path, struct seqb_error *err)
{
    char *out;

    return file_read(path, 100, &out, err);
}

TEST_WITH(SCRATCH, an_unreadable_file_is_named_with_the_reason)
{
    file_write(path_of(fixture, "file"), "x", 0);
    assert_true(is_refused_to_nobody(read_any, fixture->path, SEQB_INVALID));
}

TEST_WITH(SCRATCH, a_folder_is_made_with_its_parents_for_its_owner_alone)
{
    static const char *const folders[] = {"a", "a/b", "a/b/c"};
    const mode_t mask = umask(0);
    struct stat found;

    assert_ok(file_make_folder(path_of(fixture, "a/b/c"), &fixture->err));
    (void)umask(mask);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(stat(path_of(fixture, folders[i]), &found), 0);
        assert_true(S_ISDIR(found.st_mode));
        assert_int_equal(found.st_mode & 07777, 0700);
    }
}

TEST_WITH(SCRATCH, a_folder_that_is_there_is_taken)
{
    static const char *const spellings[] = {"", "a", "a/", "a//b", "./a/b//"};
    struct stat found;

    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
            assert_ok(file_make_folder(path_of(fixture, spellings[i]),
                                       &fixture->err));
    }
    assert_int_equal(stat(path_of(fixture, "a/b"), &found), 0);
    /* The mode of what was there is its owner's affair. */
    assert_int_equal(stat(fixture->folder, &found), 0);
    assert_int_equal(found.st_mode & 07777, 0755);
}

TEST_WITH(SCRATCH, a_file_in_the_place_of_a_folder_is_refused)
{
    static const struct {
        const char *name;
        const char *reason;
    } cases[] = {
        {"file", "is not a folder"},
        {"file/b", "Not a directory"},
        {"file/b/c", "Not a directory"},
        {"link", "is not a folder"},
    };

    file_write(path_of(fixture, "file"), "x", 0600);
    assert_int_equal(symlink("nowhere", path_of(fixture, "link")), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(
            file_make_folder(path_of(fixture, cases[i].name), &fixture->err),
            SEQB_STATE_DIR);
        assert_int_equal(fixture->err.status, SEQB_STATE_DIR);
        assert_non_null(strstr(fixture->err.text, fixture->folder));
        assert_non_null(strstr(fixture->err.text, cases[i].reason));
    }
}

TEST_WITH(SCRATCH, a_folder_without_a_fit_name_is_refused)
{
    char path[PATH_MAX + 8];

    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    assert_fails(file_make_folder(path, &failure), SEQB_STATE_DIR, "too long");
    assert_fails(file_make_folder("", &failure), SEQB_STATE_DIR, "is empty");
    assert_int_equal(file_make_folder("", NULL), SEQB_STATE_DIR);
}

TEST_WITH(SCRATCH, a_folder_that_is_not_writable_is_refused_with_a_way_out)
{
    assert_int_equal(chmod(fixture->folder, 0555), 0);
    /* There, and one to be made in it. */
    assert_true(is_refused_to_nobody(file_make_folder, fixture->folder,
                                     SEQB_STATE_DIR));
    assert_true(is_refused_to_nobody(file_make_folder, path_of(fixture, "a"),
                                     SEQB_STATE_DIR));
    assert_int_equal(chmod(fixture->folder, 0755), 0);
    assert_int_equal(file_make_folder("/proc/seqb", &fixture->err),
                     SEQB_STATE_DIR);
    assert_non_null(strstr(fixture->err.text, "state_dir"));
    assert_non_null(strstr(fixture->err.text, "SEQBROKER_STATE_DIR"));
}

/* The sticky bit helps nothing: a file may be there before ours. */
TEST_WITH(SCRATCH, a_folder_where_everybody_may_write_is_refused)
{
    static const mode_t modes[] = {0777, 01777, 0707};

    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        assert_int_equal(chmod(fixture->folder, modes[i]), 0);
        assert_int_equal(file_make_folder(fixture->folder, &fixture->err),
                         SEQB_STATE_DIR);
        assert_non_null(strstr(fixture->err.text, "chmod o-w"));
    }
    assert_int_equal(chmod(fixture->folder, 0775), 0);
    assert_ok(file_make_folder(fixture->folder, &fixture->err));
}

TEST_WITH(SCRATCH, a_lock_follows_no_symbolic_link)
{
    int lock = -1;

    assert_int_equal(symlink("elsewhere", path_of(fixture, "link")), 0);
    assert_int_equal(
        file_lock(path_of(fixture, "link"), 0, &lock, &fixture->err),
        SEQB_STATE_DIR);
    assert_int_equal(lock, -1);
    assert_int_not_equal(access(path_of(fixture, "elsewhere"), F_OK), 0);
}
