/* SPDX-License-Identifier: Apache-2.0 */
/* What a power cut leaves of a file that is put in place: the order in which
 * its bytes and its name reach the disk. The calls that say so are recorded. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/text.h"
#include "support/folder.h"
#include "support/test.h"
#include "support/wrap.h"

#define TEXT "one\ntwo\n"

/* --- in place of the real ones --- */

/* A letter for each call: w a write, s a sync of a file, r a rename, f a sync
 * of a folder. */
static char calls[32];
static char failing; /* the letter of a call that fails; 0: none does */

static bool note(char call)
{
    char letter[2] = {call, '\0'};

    assert_true(text_append(calls, sizeof calls, "%s", letter));
    errno = EIO;
    return call != failing;
}

WRAPPED(ssize_t, write, int file, const void *bytes, size_t size)
{
    return note('w') ? __real_write(file, bytes, size) : -1;
}

WRAPPED(int, fsync, int file)
{
    struct stat about;

    assert_int_equal(fstat(file, &about), 0);
    return note(S_ISDIR(about.st_mode) ? 'f' : 's') ? __real_fsync(file) : -1;
}

WRAPPED(int, rename, const char *from, const char *to)
{
    return note('r') ? __real_rename(from, to) : -1;
}

/* --- the cases --- */

struct fixture {
    char folder[32];
    char fresh[64];
    char path[64];
    struct seqb_error err;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    *state = f;
    if (f == NULL || !folder_make(f->folder, sizeof f->folder))
        return -1;
    (void)text_format(f->fresh, sizeof f->fresh, "%s/file.new", f->folder);
    (void)text_format(f->path, sizeof f->path, "%s/file", f->folder);
    calls[0] = '\0';
    failing = '\0';
    return 0;
}

#define FILE_SYNC FIXTURE(struct fixture *f, setup, folder_free)

static enum seqb_status save(struct fixture *f)
{
    return file_save(f->fresh, TEXT, strlen(TEXT), &f->err);
}

static enum seqb_status move(struct fixture *f)
{
    return file_move(f->fresh, f->path, &f->err);
}

/* Else the name may stand for a file without its bytes. */
TEST_WITH(FILE_SYNC, bytes_are_synced_before_the_file_is_moved)
{
    assert_ok(save(f));
    assert_string_equal(calls, "ws");
}

/* Else the old file may be back. */
TEST_WITH(FILE_SYNC, folder_is_synced_after_the_move)
{
    assert_ok(save(f));
    calls[0] = '\0';
    assert_ok(move(f));
    assert_string_equal(calls, "rf");
}

TEST_WITH(FILE_SYNC, file_that_cannot_be_written_or_synced_is_removed)
{
    static const char letters[] = {'w', 's'};

    for (size_t i = 0; i < sizeof letters; i++) {
        failing = letters[i];
        assert_int_equal(save(f), SEQB_STATE_DIR);
        assert_non_null(strstr(f->err.text, strerror(EIO)));
        assert_int_equal(access(f->fresh, F_OK), -1);
    }
}

/* It may be in its place or not. */
TEST_WITH(FILE_SYNC, move_that_is_not_synced_is_uncertain)
{
    static const char letters[] = {'r', 'f'};

    for (size_t i = 0; i < sizeof letters; i++) {
        failing = '\0';
        assert_ok(save(f));
        failing = letters[i];
        assert_int_equal(move(f), SEQB_UNCERTAIN);
    }
}
