/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are to last: loaded, saved, put in place, locked. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/file.h"
#include "platform/text.h"
#include "support/folder.h"
#include "support/test.h"

#define TEXT "one\ntwo\n"

struct fixture {
    char folder[32];
    char path[64];
    char other[64];
    struct seqb_error err;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (f == NULL)
        return 1;
    *state = f;
    (void)text_copy(f->folder, sizeof f->folder, "/tmp/seqb-file.XXXXXX");
    if (mkdtemp(f->folder) == NULL)
        return 1;
    (void)text_format(f->path, sizeof f->path, "%s/file", f->folder);
    (void)text_format(f->other, sizeof f->other, "%s/other", f->folder);
    return 0;
}

#define FILE_STATE FIXTURE(struct fixture *f, setup, folder_free)

static void save(struct fixture *f, const char *path, const char *text)
{
    assert_done(file_save(path, text, strlen(text), &f->err), f->err);
}

static void expect_text(struct fixture *f, const char *path, const char *text)
{
    char *bytes;
    size_t size;

    assert_done(file_load(path, strlen(text), &bytes, &size, &f->err), f->err);
    assert_non_null(bytes);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(bytes, text, size);
    free(bytes);
}

TEST_WITH(FILE_STATE, what_was_saved_is_loaded)
{
    struct stat about;

    save(f, f->path, TEXT TEXT);
    expect_text(f, f->path, TEXT TEXT);
    save(f, f->path, TEXT); /* of what was longer, nothing stays */
    expect_text(f, f->path, TEXT);
    save(f, f->path, "");
    expect_text(f, f->path, "");
    assert_int_equal(stat(f->path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
}

TEST_WITH(FILE_STATE, file_that_is_absent_is_no_mistake)
{
    char *bytes = f->path;
    size_t size = 1;

    assert_ok(file_load(f->path, 10, &bytes, &size, &f->err));
    assert_null(bytes);
    assert_int_equal(size, 0);
}

static void expect_not_loaded(struct fixture *f, const char *path)
{
    char *bytes = f->path;
    size_t size;

    assert_int_equal(file_load(path, 7, &bytes, &size, &f->err),
                     SEQB_STATE_DIR);
    assert_null(bytes);
    assert_non_null(strstr(f->err.text, path));
}

TEST_WITH(FILE_STATE, what_is_no_file_of_that_size_is_told)
{
    save(f, f->path, TEXT);
    expect_not_loaded(f, f->path);
    expect_not_loaded(f, f->folder);
    assert_int_equal(mkfifo(f->other, 0600), 0);
    expect_not_loaded(f, f->other); /* and nobody is waited for */
}

TEST_WITH(FILE_STATE, what_cannot_be_saved_is_told)
{
    assert_int_equal(symlink(f->other, f->path), 0);
    assert_int_equal(file_save(f->path, "", 0, &f->err), SEQB_STATE_DIR);
    (void)text_format(f->path, sizeof f->path, "%s/no/file", f->folder);
    assert_int_equal(file_save(f->path, "", 0, &f->err), SEQB_STATE_DIR);
    assert_non_null(strstr(f->err.text, f->path));
}

TEST_WITH(FILE_STATE, moved_file_takes_the_place_of_another)
{
    save(f, f->path, TEXT);
    save(f, f->other, "old");
    assert_ok(file_move(f->path, f->other, &f->err));
    expect_text(f, f->other, TEXT);
    assert_int_equal(access(f->path, F_OK), -1);
    assert_int_equal(file_move(f->path, f->other, &f->err), SEQB_UNCERTAIN);
    expect_text(f, f->other, TEXT);
}

TEST_WITH(FILE_STATE, lock_keeps_others_of_the_same_process_out)
{
    int lock;
    int second;

    assert_ok(file_lock(f->path, 0, &lock, &f->err));
    assert_int_equal(file_lock(f->path, clock_now_ms() + 10, &second, &f->err),
                     SEQB_UNAVAILABLE);
    file_unlock(lock);
    assert_ok(file_lock(f->path, 0, &second, &f->err));
    file_unlock(second);
    (void)text_format(f->path, sizeof f->path, "%s/no/lock", f->folder);
    assert_int_equal(file_lock(f->path, 0, &lock, &f->err), SEQB_STATE_DIR);
}
