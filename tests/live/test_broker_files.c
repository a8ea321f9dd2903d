/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may happen to the files of the embedded default, and to its state
 * directory: moved, copied, replaced, damaged, not writable.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/text.h"
#include "scene.h"
#include "support/events.h"
#include "support/test.h"

#define NOBODY 65534

/* Paths of partition files, side by side. */
struct paths {
    char of[4][256];
    char aside[256];
};

static struct paths paths_of(const struct scene *scene)
{
    struct paths paths;
    char name[32];

    for (int i = 0; i < 4; i++) {
        (void)text_format(name, sizeof name, "partition-%d.db", i);
        (void)text_copy(paths.of[i], sizeof paths.of[i],
                        scene_state_path(scene, name));
    }
    (void)text_copy(paths.aside, sizeof paths.aside,
                    scene_path(scene, "aside.db"));
    return paths;
}

/* Opens the embedded default, takes numbers, closes: a state in use. */
static void use(struct scene *scene, size_t count)
{
    scene_use(scene, scene_write_sample(scene, SCENE_EMBEDDED), count);
}

TEST_WITH(SCENE, file_that_is_moved_away_is_rescued_when_back)
{
    const struct paths paths = paths_of(scene);

    use(scene, 5000);
    scene_open(scene, scene_write_sample(scene, SCENE_EMBEDDED));
    for (int i = 0; i < 3; i++) {
        scene_take(scene, "order", 5000);
        assert_int_equal(rename(paths.of[1], paths.aside), 0);
        scene_take_until(scene, "order", 1, SEQB_PARTITION_QUARANTINED);
        scene_take(scene, "order", 5000);
        assert_int_equal(access(paths.of[1], F_OK), -1); /* none was made */
        assert_int_equal(rename(paths.aside, paths.of[1]), 0);
        scene_await(scene, 1, SEQB_PARTITION_UP);
    }
    scene_take(scene, "order", 20000);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, later_start_goes_on_without_one_file)
{
    const struct paths paths = paths_of(scene);

    use(scene, 5000);
    assert_int_equal(rename(paths.of[3], paths.aside), 0);
    scene_open(scene, scene_write_sample(scene, SCENE_EMBEDDED));
    scene_expect_words(scene_partition(scene, 3).reason, "is not there");
    scene_take(scene, "order", 5000);
    assert_int_equal(rename(paths.aside, paths.of[3]), 0);
    scene_await(scene, 3, SEQB_PARTITION_UP);
    scene_take(scene, "order", 20000);
    scene_expect_no_repeats(scene);
}

/* A copy has another inode: it may be older than what was issued. */
TEST_WITH(SCENE, copy_put_in_the_place_of_its_original_is_raised)
{
    const struct paths paths = paths_of(scene);

    use(scene, 5000);
    scene_copy(paths.of[0], paths.aside);
    use(scene, 20000); /* which the copy knows nothing of */
    events_start();
    scene_copy(paths.aside, paths.of[0]);
    /* Again, if its partition was not asked: it may connect too late. */
    while (events_count("event=raised", "counter=main/0/order") == 0)
        use(scene, 50000);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, copy_put_in_place_while_running_is_raised)
{
    const struct paths paths = paths_of(scene);

    use(scene, 5000);
    scene_copy(paths.of[2], paths.aside);
    events_start();
    scene_open(scene, scene_write_sample(scene, SCENE_EMBEDDED));
    scene_take(scene, "order", 20000);
    scene_copy(paths.aside, paths.of[2]);
    /* Again, if the answer to the first raise was lost. */
    while (events_count("event=raised", "counter=main/2/order") == 0)
        scene_take(scene, "order", 10000);
    scene_take(scene, "order", 20000);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, copy_put_in_the_place_of_another_is_refused)
{
    const struct paths paths = paths_of(scene);

    use(scene, 5000);
    scene_copy(paths.of[1], paths.aside);
    scene_copy(paths.of[0], paths.of[1]);
    scene_expect_refused(scene, NULL, SEQB_LAYOUT, "partition 1 was store '");
    scene_copy(paths.aside, paths.of[1]);
    use(scene, 20000);
    scene_expect_no_repeats(scene);
}

/* By its claims; or, if what the old file left in its log is still to be read
 * with it, as a content that never was. */
static bool is_put_out(const struct seqb_partition_status *partition)
{
    return strstr(partition->reason, "another store stands there") != NULL ||
           strstr(partition->reason, "written over by an older one") != NULL;
}

TEST_WITH(SCENE, copy_put_in_the_place_of_another_while_running_is_out)
{
    const struct paths paths = paths_of(scene);
    struct seqb_partition_status partition;

    use(scene, 5000);
    scene_copy(paths.of[0], paths.aside);
    scene_open(scene, scene_write_sample(scene, SCENE_EMBEDDED));
    scene_take(scene, "order", 5000);
    scene_copy(paths.aside, paths.of[1]);
    do {
        scene_take(scene, "order", 1000);
        partition = scene_partition(scene, 1);
    } while (!is_put_out(&partition));
    scene_take(scene, "order", 20000);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, swapped_files_are_refused)
{
    const struct paths paths = paths_of(scene);

    use(scene, 5000);
    assert_int_equal(rename(paths.of[0], paths.aside), 0);
    assert_int_equal(rename(paths.of[3], paths.of[0]), 0);
    assert_int_equal(rename(paths.aside, paths.of[3]), 0);
    scene_expect_refused(scene, NULL, SEQB_LAYOUT, "partition 0 was store '");
}

/* --- what is no store --- */

static void write_over(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

TEST_WITH(SCENE, file_that_is_no_database_is_quarantined)
{
    const struct paths paths = paths_of(scene);

    use(scene, 5000);
    write_over(paths.of[2], "This is a letter to my aunt, no database.\n");
    scene_open(scene, scene_write_sample(scene, SCENE_EMBEDDED));
    scene_expect_words(scene_partition(scene, 2).reason, "not a database");
    scene_take(scene, "order", 20000);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, empty_file_in_the_place_of_a_store_is_not_made_one)
{
    const struct paths paths = paths_of(scene);
    struct stat about;

    use(scene, 5000);
    write_over(paths.of[2], "");
    scene_open(scene, scene_write_sample(scene, SCENE_EMBEDDED));
    scene_expect_words(scene_partition(scene, 2).reason, "is none of ours");
    scene_take(scene, "order", 20000);
    assert_int_equal(stat(paths.of[2], &about), 0);
    assert_int_equal(about.st_size, 0);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, first_start_over_no_database_is_refused)
{
    const struct paths paths = paths_of(scene);

    assert_int_equal(mkdir(scene->state_dir, 0700), 0);
    write_over(paths.of[2], "This is a letter to my aunt, no database.\n");
    scene_expect_refused(scene, NULL, SEQB_CORRUPT, "sqlite-2");
    assert_int_equal(unlink(paths.of[2]), 0);
    use(scene, 1000);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, state_directory_that_is_a_file_is_refused)
{
    (void)scene_write(scene, "state", "no folder");
    scene_expect_refused(scene, NULL, SEQB_STATE_DIR, scene->state_dir);
}

TEST_WITH(SCENE, state_directory_below_a_file_is_refused)
{
    (void)scene_write(scene, "file", "no folder");
    assert_int_equal(
        setenv("SEQBROKER_STATE_DIR", scene_path(scene, "file/state"), 1), 0);
    scene_expect_refused(scene, NULL, SEQB_STATE_DIR, "file");
}

/* --- as somebody who may not write --- */

/* What a start without privileges answers; sent through a pipe. */
struct answer {
    enum seqb_status status;
    char text[1024];
    char reason[256]; /* of partition 1, if it opened */
};

static void open_as_nobody(struct answer *answer)
{
    struct seqb_broker *broker = NULL;
    struct seqb_partition_status all[4];
    struct seqb_error err = {SEQB_OK, ""};
    size_t count;

    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        _exit(1);
    answer->status = seqb_open(NULL, &broker, &err);
    (void)text_copy(answer->text, sizeof answer->text, err.text);
    if (answer->status != SEQB_OK)
        return;
    if (seqb_partitions(broker, all, sizeof all[0], 4, &count, NULL) == SEQB_OK)
        (void)text_copy(answer->reason, sizeof answer->reason, all[1].reason);
    seqb_close(broker);
}

static struct answer answer_to_nobody(void)
{
    struct answer answer = {.status = SEQB_OK};
    int fds[2];
    pid_t child;

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    child = fork();
    if (child == 0) {
        open_as_nobody(&answer);
        _exit(write(fds[1], &answer, sizeof answer) != sizeof answer);
    }
    assert_int_equal(close(fds[1]), 0);
    assert_int_equal(read(fds[0], &answer, sizeof answer), sizeof answer);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(close(fds[0]), 0);
    return answer;
}

static void skip_unless_root(void)
{
    if (geteuid() == 0)
        return;
    print_message("needs root, to become somebody with fewer rights\n");
    skip();
}

TEST_WITH(SCENE, state_directory_that_is_not_writable_is_refused)
{
    struct answer answer;

    skip_unless_root();
    use(scene, 100);
    assert_int_equal(chmod(scene->folder, 0755), 0);
    assert_int_equal(chmod(scene->state_dir, 0755), 0);
    answer = answer_to_nobody();
    assert_int_equal(answer.status, SEQB_STATE_DIR);
    scene_expect_words(answer.text, scene->state_dir);
}

TEST_WITH(SCENE, file_that_is_read_only_is_quarantined)
{
    const struct paths paths = paths_of(scene);
    struct answer answer;

    skip_unless_root();
    use(scene, 100);
    assert_int_equal(chmod(scene->folder, 0755), 0);
    assert_int_equal(chown(scene->state_dir, NOBODY, NOBODY), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(chmod(paths.of[i], i == 1 ? 0444 : 0666), 0);
    answer = answer_to_nobody();
    if (answer.status != SEQB_OK)
        fail_msg("%s", answer.text);
    scene_expect_words(answer.reason, "read-only");
}

TEST_WITH(SCENE, first_start_over_a_read_only_file_is_refused)
{
    const struct paths paths = paths_of(scene);
    struct answer answer;

    skip_unless_root();
    assert_int_equal(mkdir(scene->state_dir, 0700), 0);
    assert_int_equal(chmod(scene->folder, 0755), 0);
    assert_int_equal(chown(scene->state_dir, NOBODY, NOBODY), 0);
    write_over(paths.of[1], "");
    assert_int_equal(chmod(paths.of[1], 0444), 0);
    answer = answer_to_nobody();
    assert_int_equal(answer.status, SEQB_UNAVAILABLE);
    scene_expect_words(answer.text, "sqlite-1");
}
