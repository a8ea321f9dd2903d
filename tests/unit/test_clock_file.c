/* SPDX-License-Identifier: Apache-2.0 */
/* The clock's file: what was kept is read, nothing else is, and it is never
 * lowered. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "period/period.h"
#include "platform/checksum.h"
#include "platform/clock.h"
#include "platform/file.h"
#include "platform/text.h"
#include "queue/guarded_clock/file.h"
#include "support/folder.h"
#include "support/rig.h"
#include "support/test.h"

#define ISSUED INT64_C(1795312800000)

struct fixture {
    char folder[32];
    char path[64];
    char other[64];
    struct clock_file file;
    int64_t standing;
    struct seqb_error err;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (f == NULL)
        return -1;
    *state = f;
    if (!folder_make(f->folder, sizeof f->folder))
        return -1;
    (void)text_format(f->path, sizeof f->path, "%s/clock", f->folder);
    (void)text_format(f->other, sizeof f->other, "%s/clock.lock", f->folder);
    return clock_file_init(&f->file, f->path, "orders", &f->err) == SEQB_OK
               ? 0
               : -1;
}

#define FILED FIXTURE(struct fixture *f, setup, folder_free)

static enum seqb_status try_keep(struct fixture *f, int64_t issued_ms)
{
    return clock_file_keep(&f->file, issued_ms,
                           clock_now_ms() + RIG_PATIENCE_MS, &f->standing,
                           &f->err);
}

static void keep(struct fixture *f, int64_t issued_ms, int64_t expected_ms)
{
    assert_done(try_keep(f, issued_ms), f->err);
    assert_int_equal(f->standing, expected_ms);
}

/* As another process, or the next one, sees it. */
static int64_t kept(struct fixture *f)
{
    struct clock_file file;
    int64_t standing = -1;

    assert_ok(clock_file_init(&file, f->path, "orders", &f->err));
    assert_done(clock_file_keep(&file, 0, clock_now_ms() + RIG_PATIENCE_MS,
                                &standing, &f->err),
                f->err);
    return standing;
}

static void save(struct fixture *f, const char *bytes, size_t size)
{
    assert_done(file_save(f->path, bytes, size, &f->err), f->err);
}

static void expect_corrupt(struct fixture *f, const char *words)
{
    assert_int_equal(try_keep(f, ISSUED), SEQB_CORRUPT);
    assert_int_equal(f->err.status, SEQB_CORRUPT);
    rig_expect_words(f->err.text, words);
    rig_expect_words(f->err.text, f->path);
}

/* --- keeping --- */

TEST_WITH(FILED, absent_file_says_nothing)
{
    keep(f, 0, 0);
    assert_int_not_equal(access(f->path, F_OK), 0);
}

TEST_WITH(FILED, what_was_kept_is_read)
{
    keep(f, ISSUED, ISSUED);
    assert_int_equal(kept(f), ISSUED);
    keep(f, ISSUED + 1, ISSUED + 1);
    assert_int_equal(kept(f), ISSUED + 1);
    keep(f, PERIOD_MAX_MS, PERIOD_MAX_MS);
    assert_int_equal(kept(f), PERIOD_MAX_MS);
}

TEST_WITH(FILED, lower_value_is_never_written)
{
    keep(f, ISSUED, ISSUED);
    for (int64_t lower = ISSUED - 1; lower > 0; lower /= 2) {
        keep(f, lower, ISSUED);
        assert_int_equal(kept(f), ISSUED);
    }
}

/* Of two processes, each of which knows of its own stamps alone. */
TEST_WITH(FILED, other_process_is_never_lowered)
{
    struct clock_file other;
    int64_t standing;

    assert_ok(clock_file_init(&other, f->path, "orders", &f->err));
    for (int64_t i = 0; i < 20; i++) {
        const int64_t ours = ISSUED + i * 3;
        const int64_t theirs = ISSUED + i * 2;

        keep(f, ours, ours);
        if (clock_file_keep(&other, theirs, clock_now_ms() + RIG_PATIENCE_MS,
                            &standing, &f->err) != SEQB_OK)
            fail_msg("%s", f->err.text);
        assert_int_equal(standing, ours);
        assert_int_equal(kept(f), ours);
    }
}

TEST_WITH(FILED, file_that_is_there_is_written_once_before_it_is_relied_upon)
{
    struct clock_file next;
    struct stat was;
    struct stat is;
    int64_t standing;

    keep(f, 1, 1); /* the least there is */
    assert_int_equal(stat(f->path, &was), 0);
    keep(f, 1, 1);
    assert_int_equal(stat(f->path, &is), 0);
    assert_true(was.st_ino == is.st_ino); /* by the one who wrote it */
    assert_ok(clock_file_init(&next, f->path, "orders", &f->err));
    assert_ok(clock_file_keep(&next, 0, clock_now_ms() + RIG_PATIENCE_MS,
                              &standing, &f->err));
    assert_int_equal(stat(f->path, &is), 0);
    assert_false(was.st_ino == is.st_ino); /* another may not have synced it */
}

TEST_WITH(FILED, file_that_is_removed_is_made_anew)
{
    keep(f, ISSUED, ISSUED);
    assert_int_equal(unlink(f->path), 0);
    keep(f, ISSUED + 1, ISSUED + 1);
    assert_int_equal(kept(f), ISSUED + 1);
}

TEST_WITH(FILED, what_a_killed_process_left_beside_it_is_in_nobodys_way)
{
    char fresh[80];

    (void)text_format(fresh, sizeof fresh, "%s.new", f->path);
    assert_ok(file_save(fresh, "half a li", 9, &f->err));
    keep(f, ISSUED, ISSUED);
    assert_int_equal(kept(f), ISSUED);
    assert_int_not_equal(access(fresh, F_OK), 0);
}

TEST_WITH(FILED, times_that_no_stamp_has_are_not_kept)
{
    static const int64_t times[] = {PERIOD_MAX_MS + 1, INT64_MAX};

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        assert_int_equal(try_keep(f, times[i]), SEQB_INVALID);
        assert_int_equal(kept(f), 0);
    }
    keep(f, -1, 0);
}

TEST_WITH(FILED, locked_file_is_waited_for)
{
    int lock;

    assert_ok(file_lock(f->other, clock_now_ms(), &lock, &f->err));
    assert_int_equal(clock_file_keep(&f->file, ISSUED, clock_now_ms() + 20,
                                     &f->standing, &f->err),
                     SEQB_UNAVAILABLE);
    file_unlock(lock);
    keep(f, ISSUED, ISSUED);
}

TEST_WITH(FILED, folder_that_is_gone_is_an_error)
{
    folder_remove(f->folder);
    assert_int_equal(try_keep(f, ISSUED), SEQB_STATE_DIR);
    rig_expect_words(f->err.text, f->path);
}

TEST_WITH(FILED, what_cannot_be_written_is_not_kept)
{
    char fresh[80];

    (void)text_format(fresh, sizeof fresh, "%s.new", f->path);
    assert_int_equal(mkdir(fresh, 0700), 0);
    assert_int_equal(try_keep(f, ISSUED), SEQB_STATE_DIR);
    assert_int_equal(f->standing, 0);
    assert_int_equal(rmdir(fresh), 0);
    keep(f, ISSUED, ISSUED);
}

TEST_WITH(FILED, path_that_is_too_long_is_refused)
{
    static char path[PATH_MAX];

    memset(path, 'x', sizeof path - 2); /* there is no room for a suffix */
    path[0] = '/';
    assert_int_equal(clock_file_init(&f->file, path, "orders", &f->err),
                     SEQB_INVALID);
}

/* --- damage --- */

static size_t sample(char *out, size_t size)
{
    const struct clock_note note = {"orders", ISSUED};

    assert_true(clock_note_write(&note, out, size));
    return strlen(out);
}

/* In memory of just its size, so that no byte after it is looked at. */
static enum seqb_status read_copy(const char *bytes, size_t size,
                                  struct seqb_error *err)
{
    char *copy = malloc(size == 0 ? 1 : size);
    struct clock_note note;
    enum seqb_status status;

    assert_non_null(copy);
    memcpy(copy, bytes, size);
    status = clock_note_read(copy, size, &note, err);
    free(copy);
    return status;
}

static void expect_byte_is_noticed(char *text, size_t size, size_t i)
{
    const char was = text[i];
    struct seqb_error err;

    for (int byte = 0; byte < 256; byte++) {
        text[i] = (char)byte;
        if (text[i] != was && read_copy(text, size, &err) != SEQB_CORRUPT)
            fail_msg("byte %zu as %d", i, byte);
    }
    text[i] = was;
}

TEST(every_byte_that_is_changed_is_noticed)
{
    char text[CLOCK_TEXT_SIZE];
    const size_t size = sample(text, sizeof text);
    struct seqb_error err;

    assert_ok(read_copy(text, size, &err));
    for (size_t i = 0; i < size; i++)
        expect_byte_is_noticed(text, size, i);
}

TEST(every_cut_is_noticed)
{
    char text[CLOCK_TEXT_SIZE];
    const size_t size = sample(text, sizeof text);
    struct seqb_error err;

    for (size_t i = 0; i < size; i++) {
        if (read_copy(text, i, &err) != SEQB_CORRUPT)
            fail_msg("cut after %zu bytes", i);
        if (i > 0 && read_copy(text + i, size - i, &err) != SEQB_CORRUPT)
            fail_msg("%zu bytes are missing before it", i);
    }
}

TEST(text_that_is_too_long_is_noticed)
{
    static char text[100 * CLOCK_TEXT_SIZE];
    struct seqb_error err;

    memset(text + sample(text, CLOCK_TEXT_SIZE), '\n', 50);
    assert_int_equal(read_copy(text, sizeof text, &err), SEQB_CORRUPT);
}

TEST_WITH(FILED, damaged_file_is_refused_and_stays)
{
    char text[CLOCK_TEXT_SIZE];
    char *after;
    size_t size = sample(text, sizeof text);

    text[size - 3] ^= 1;
    save(f, text, size);
    expect_corrupt(f, "remove the file");
    assert_ok(file_load(f->path, CLOCK_TEXT_SIZE, &after, &size, &f->err));
    assert_memory_equal(after, text, size);
    free(after);
}

TEST_WITH(FILED, file_that_is_too_long_is_refused)
{
    static const char bytes[CLOCK_TEXT_SIZE + 1];

    save(f, bytes, sizeof bytes);
    assert_int_equal(try_keep(f, ISSUED), SEQB_STATE_DIR);
}

TEST_WITH(FILED, empty_file_is_refused)
{
    save(f, "", 0);
    expect_corrupt(f, "no file of a clock");
}

TEST_WITH(FILED, other_brokers_file_is_refused_and_both_are_named)
{
    struct clock_file other;
    int64_t standing;

    keep(f, ISSUED, ISSUED);
    assert_ok(clock_file_init(&other, f->path, "bills", &f->err));
    assert_int_equal(clock_file_keep(&other, ISSUED + 1,
                                     clock_now_ms() + RIG_PATIENCE_MS,
                                     &standing, &f->err),
                     SEQB_CORRUPT);
    rig_expect_words(f->err.text, "orders");
    rig_expect_words(f->err.text, "bills");
    assert_int_equal(kept(f), ISSUED);
}

/* Texts whose checksum is right, and which nobody wrote. */
static const struct {
    const char *name;
    const char *body;
    const char *words;
} forgeries[] = {
    {"another version", "seqbroker clock 2\nbroker=orders\nissued=7\n",
     "version"},
    {"version 10", "seqbroker clock 10\nbroker=orders\nissued=7\n", "version"},
    {"something else", "seqbroker-spool 1\nbroker=orders\nissued=7\n",
     "no file of a clock"},
    {"no broker", "seqbroker clock 1\nissued=7\n", "line"},
    {"no name", "seqbroker clock 1\nbroker=\nissued=7\n", "line"},
    {"a name that is none", "seqbroker clock 1\nbroker=or/ders\nissued=7\n",
     "line"},
    {"a name that is too long",
     "seqbroker clock 1\nbroker=123456789012345678901234567890123\nissued=7\n",
     "line"},
    {"no time", "seqbroker clock 1\nbroker=orders\n", "line"},
    {"an empty time", "seqbroker clock 1\nbroker=orders\nissued=\n", "line"},
    {"time 0", "seqbroker clock 1\nbroker=orders\nissued=0\n", "line"},
    {"a negative time", "seqbroker clock 1\nbroker=orders\nissued=-7\n",
     "line"},
    {"a time beyond all stamps",
     "seqbroker clock 1\nbroker=orders\nissued=253402214400001\n", "line"},
    {"a time beyond all numbers",
     "seqbroker clock 1\nbroker=orders\nissued=9223372036854775808\n", "line"},
    {"a zero before the time", "seqbroker clock 1\nbroker=orders\nissued=07\n",
     "checksum"},
    {"a line more", "seqbroker clock 1\nbroker=orders\nissued=7\nx=1\n",
     "checksum"},
    {"other ends of lines", "seqbroker clock 1\nbroker=orders\nissued=7\r\n",
     "line"},
};

static enum seqb_status read_forged(const char *body, struct seqb_error *err)
{
    char text[CLOCK_TEXT_SIZE];

    (void)text_copy(text, sizeof text, body);
    (void)text_append(text, sizeof text, "checksum=%016" PRIx64 "\n",
                      checksum_of(body, strlen(body)));
    return read_copy(text, strlen(text), err);
}

TEST(right_checksum_is_not_enough)
{
    struct seqb_error err;

    assert_ok(read_forged("seqbroker clock 1\nbroker=orders\nissued=7\n",
                          &err)); /* so that it is forged well */
    for (size_t i = 0; i < sizeof forgeries / sizeof forgeries[0]; i++) {
        print_message("  %s\n", forgeries[i].name);
        assert_int_equal(read_forged(forgeries[i].body, &err), SEQB_CORRUPT);
        rig_expect_words(err.text, forgeries[i].words);
    }
}
