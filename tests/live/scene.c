/* SPDX-License-Identifier: Apache-2.0 */
/* Brokers in temporary folders, and processes that take numbers. */
#include "scene.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/file.h"
#include "platform/text.h"
#include "support/events.h"
#include "support/folder.h"
#include "support/take.h"
#include "support/test.h"

#define PATH_SIZE  256
#define FILE_MAX   (64 << 20)
#define TAKER_MANY 37 /* numbers in one call of a taker: no power of two */
#define READ_MANY  4096
#define TAKE_MANY  10000 /* the stock may be large */
#define REST_MS    10 /* after them: a server that starts needs the processor */

/* All paths that a test asked for. */
static struct path {
    struct path *next;
    char text[PATH_SIZE];
} * paths;

static const char *path_keep(const char *folder, const char *name)
{
    struct path *path = calloc(1, sizeof *path);

    assert_non_null(path);
    path->next = paths;
    paths = path;
    assert_true(text_format(path->text, PATH_SIZE, "%s/%s", folder, name));
    return path->text;
}

static void paths_free(void)
{
    while (paths != NULL) {
        struct path *next = paths->next;

        free(paths);
        paths = next;
    }
}

int scene_setup(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);

    if (scene == NULL)
        return -1;
    if (!folder_make(scene->folder, sizeof scene->folder))
        return -1;
    (void)text_format(scene->state_dir, sizeof scene->state_dir, "%s/state",
                      scene->folder);
    numbers_init(&scene->numbers);
    *state = scene;
    return setenv("SEQBROKER_STATE_DIR", scene->state_dir, 1);
}

int scene_teardown(void **state)
{
    struct scene *scene = *state;

    scene_close(scene);
    events_stop();
    numbers_fini(&scene->numbers);
    folder_remove(scene->folder);
    paths_free();
    free(scene);
    return 0;
}

/* --- files --- */

const char *scene_path(const struct scene *scene, const char *name)
{
    return path_keep(scene->folder, name);
}

const char *scene_state_path(const struct scene *scene, const char *name)
{
    return path_keep(scene->state_dir, name);
}

static void write_file(const char *path, const char *bytes, size_t n,
                       mode_t mode)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    assert_int_equal(close(fd), 0);
}

/* Before each `mark` in the text stands the setting, unless some setting of
 * that name is there already. */
static void add_setting(char text[static SCENE_TEXT_SIZE], const char *name,
                        const char *value, const char *mark)
{
    char setting[64];
    size_t size;
    char *at;

    assert_true(text_format(setting, sizeof setting, " %s = ", name));
    if (strstr(text, setting) != NULL)
        return;
    assert_true(text_append(setting, sizeof setting, "\"%s\"; ", value));
    size = strlen(setting);
    for (at = strstr(text, mark); at != NULL; at = strstr(at + 1, mark)) {
        assert_true(strlen(text) + size < SCENE_TEXT_SIZE);
        memmove(at + size, at, strlen(at) + 1);
        memcpy(at, setting, size);
        at += size;
    }
}

/* Someone else's load makes a disk or a process rest for seconds. A test of
 * what happens then says itself how long it waits. */
static void be_patient(char text[static SCENE_TEXT_SIZE])
{
    add_setting(text, "connect_timeout", "1m", "engine = \"");
    add_setting(text, "timeout", "1m", "partitions = [");
    add_setting(text, "deadline", "1m", "key = \"");
    add_setting(text, "deadline", "1m", "pattern = \"");
}

const char *scene_write(const struct scene *scene, const char *name,
                        const char *text)
{
    const char *path = scene_path(scene, name);
    char patient[SCENE_TEXT_SIZE];

    assert_true(text_copy(patient, sizeof patient, text));
    be_patient(patient);
    write_file(path, patient, strlen(patient), 0600);
    return path;
}

void scene_replace(char *text, const char *from, const char *to)
{
    char rest[SCENE_TEXT_SIZE];
    char *at = strstr(text, from);

    assert_non_null(at);
    (void)text_copy(rest, sizeof rest, at + strlen(from));
    assert_true(text_format(at, SCENE_TEXT_SIZE - (size_t)(at - text), "%s%s",
                            to, rest));
}

void scene_replace_port(char *text, const char *from, int32_t port)
{
    char words[32];

    (void)text_format(words, sizeof words, "port = %d", (int)port);
    scene_replace(text, from, words);
}

void scene_sample(const char *path, char out[static SCENE_TEXT_SIZE])
{
    struct seqb_error err;
    char *sample;

    assert_done(file_read(path, SCENE_TEXT_SIZE - 1, &sample, &err), err);
    (void)text_copy(out, SCENE_TEXT_SIZE, sample);
    free(sample);
}

const char *scene_write_sample(const struct scene *scene, const char *path)
{
    char text[SCENE_TEXT_SIZE];

    scene_sample(path, text);
    return scene_write(scene, "sample.conf", text);
}

void scene_copy(const char *from, const char *to)
{
    char aside[PATH_SIZE];
    struct stat about;
    struct seqb_error err;
    char *bytes;

    assert_int_equal(stat(from, &about), 0);
    assert_done(file_read(from, FILE_MAX, &bytes, &err), err);
    (void)text_format(aside, sizeof aside, "%s.new", to);
    write_file(aside, bytes, (size_t)about.st_size, about.st_mode & 0777);
    assert_int_equal(rename(aside, to), 0);
    free(bytes);
}

void scene_move(const struct scene *scene, const char *from, const char *to)
{
    assert_int_equal(
        rename(scene_state_path(scene, from), scene_state_path(scene, to)), 0);
}

void scene_hear(void *told, const char *line)
{
    assert_true(text_append(told, SCENE_TEXT_SIZE, "%s\n", line));
}

/* --- the broker --- */

void scene_open(struct scene *scene, const char *topology)
{
    struct seqb_error err;

    assert_null(scene->broker);
    if (seqb_open(topology, &scene->broker, &err) != SEQB_OK)
        fail_msg("cannot open: %s", err.text);
}

void scene_close(struct scene *scene)
{
    seqb_close(scene->broker);
    scene->broker = NULL;
}

void scene_use(struct scene *scene, const char *topology, size_t count)
{
    scene_use_key(scene, topology, "order", count);
}

void scene_use_key(struct scene *scene, const char *topology, const char *key,
                   size_t count)
{
    scene_open(scene, topology);
    scene_take(scene, key, count);
    scene_close(scene);
}

void scene_expect_words(const char *text, const char *words)
{
    if (strstr(text, words) == NULL)
        fail_msg("'%s' does not say '%s'", text, words);
}

void scene_expect_refused(struct scene *scene, const char *topology,
                          enum seqb_status expected, const char *words)
{
    struct seqb_error err = {SEQB_OK, ""};
    const enum seqb_status status = seqb_open(topology, &scene->broker, &err);

    if (status != expected)
        fail_msg("open answered %s: %s", seqb_status_name(status), err.text);
    assert_int_equal(err.status, expected);
    scene_expect_words(err.text, words);
    assert_null(scene->broker);
}

/* However short the sequence's own deadline is: that of a busy machine is none
 * of the test. */
static enum seqb_status take_patiently(struct seqb_sequence *sequence,
                                       size_t count, int64_t *out,
                                       struct seqb_error *err)
{
    const struct seqb_take_options options = {.size = sizeof options,
                                              .count = count,
                                              .flags = SEQB_ANY_STAMP,
                                              .deadline_ms = SCENE_PATIENCE_MS};

    return seqb_take(sequence, &options, out, NULL, err);
}

struct seqb_sequence *scene_sequence(const struct scene *scene, const char *key)
{
    struct seqb_sequence *sequence = NULL;
    struct seqb_error err;

    if (seqb_get_sequence(scene->broker, key, &sequence, &err) != SEQB_OK)
        fail_msg("no sequence: %s", err.text);
    return sequence;
}

enum seqb_status scene_find(const struct scene *scene, const char *key,
                            struct seqb_error *err)
{
    struct seqb_sequence *sequence;
    enum seqb_status status;

    do
        status = seqb_get_sequence(scene->broker, key, &sequence, err);
    while (status == SEQB_UNAVAILABLE);
    return status;
}

void scene_expect_no_numbers(struct scene *scene, const char *key,
                             const char *words)
{
    struct seqb_sequence *sequence;
    struct seqb_error err;
    int64_t number;
    enum seqb_status status =
        seqb_get_sequence(scene->broker, key, &sequence, &err);

    if (status == SEQB_OK)
        status = seqb_next(sequence, &number, &err);
    assert_int_equal(status, SEQB_LAYOUT);
    scene_expect_words(err.text, words);
}

void scene_take(struct scene *scene, const char *key, size_t count)
{
    struct seqb_sequence *sequence = scene_sequence(scene, key);
    struct seqb_error err;
    int64_t many[1000];

    while (count > 0) {
        const size_t n = count < 1000 ? count : 1000;

        if (take_patiently(sequence, n, many, &err) != SEQB_OK)
            fail_msg("no numbers: %s", err.text);
        numbers_add(&scene->numbers, many, n);
        count -= n;
    }
}

struct seqb_partition_status scene_partition(const struct scene *scene,
                                             int32_t partition)
{
    struct seqb_partition_status all[16];
    size_t count = 0;

    assert_ok(
        seqb_partitions(scene->broker, all, sizeof all[0], 16, &count, NULL));
    for (size_t i = 0; i < count; i++) {
        if (all[i].partition == partition)
            return all[i];
    }
    fail_msg("no partition %d", (int)partition);
    return all[0];
}

/* One that is probed is still in quarantine: a probe of a server that hangs
 * takes as long as connect_timeout. One that ramps is up: it has given numbers,
 * and would be taken from for seconds more until it has its full share. */
static bool is_in(enum seqb_partition_state state,
                  enum seqb_partition_state wanted)
{
    return state == wanted ||
           (wanted == SEQB_PARTITION_QUARANTINED &&
            state == SEQB_PARTITION_PROBING) ||
           (wanted == SEQB_PARTITION_UP && state == SEQB_PARTITION_RAMPING);
}

static void rest(long ms)
{
    nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
}

/* NULL: takes no numbers meanwhile. */
static void await_state(struct scene *scene, const char *key, int32_t partition,
                        enum seqb_partition_state state)
{
    const int64_t until_ms = clock_now_ms() + SCENE_PATIENCE_MS;

    while (!is_in(scene_partition(scene, partition).state, state)) {
        if (clock_now_ms() > until_ms)
            fail_msg("partition %d does not get %s: %s", (int)partition,
                     seqb_partition_state_name(state),
                     scene_partition(scene, partition).reason);
        if (key != NULL)
            scene_take(scene, key, TAKE_MANY);
        rest(key != NULL ? REST_MS : 1);
    }
}

void scene_await(struct scene *scene, int32_t partition,
                 enum seqb_partition_state state)
{
    await_state(scene, NULL, partition, state);
}

void scene_take_until(struct scene *scene, const char *key, int32_t partition,
                      enum seqb_partition_state state)
{
    await_state(scene, key, partition, state);
}

void scene_take_until_says(struct scene *scene, const char *key,
                           int32_t partition, const char *words)
{
    const int64_t until_ms = clock_now_ms() + SCENE_PATIENCE_MS;

    while (strstr(scene_partition(scene, partition).reason, words) == NULL) {
        if (clock_now_ms() > until_ms)
            fail_msg("partition %d does not say '%s' but '%s'", (int)partition,
                     words, scene_partition(scene, partition).reason);
        scene_take(scene, key, TAKE_MANY);
        rest(REST_MS);
    }
}

void scene_expect_no_repeats(struct scene *scene)
{
    assert_true(numbers_count(&scene->numbers) > 0);
    assert_int_equal(numbers_repeats(&scene->numbers), 0);
}

/* --- other processes --- */

/* In the child. A pipe that is full makes it wait; one that is closed ends
 * it. */
static void taker_run(const char *topology, const char *key, int fd)
{
    struct seqb_broker *broker;
    struct seqb_sequence *sequence;
    struct seqb_error err = {SEQB_OK, ""};
    int64_t many[TAKER_MANY];

    if (seqb_open(topology, &broker, &err) != SEQB_OK ||
        seqb_get_sequence(broker, key, &sequence, &err) != SEQB_OK) {
        print_error("taker: %s\n", err.text);
        _exit(1);
    }
    for (;;) {
        if (take_numbers(sequence, TAKER_MANY, many, &err) != SEQB_OK)
            rest(1); /* of a pool that was retired, each call fails at once */
        else if (write(fd, many, sizeof many) < 0)
            _exit(0);
    }
}

struct taker taker_start(const char *topology, const char *key)
{
    struct taker taker;
    int fds[2];

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    taker.fd = fds[0];
    taker.pid = fork();
    assert_true(taker.pid >= 0);
    if (taker.pid == 0) {
        /* So that it ends with the test program, however that ends. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(fds[0]);
        taker_run(topology, key, fds[1]);
    }
    close(fds[1]);
    return taker;
}

/* Some of its numbers; 0 at the end of the pipe. A number cut by the kill is
 * none. */
static size_t taker_read_some(struct taker *taker, struct scene *scene)
{
    static int64_t many[READ_MANY];
    size_t have = 0;
    ssize_t n;

    do {
        n = read(taker->fd, (char *)many + have, sizeof many - have);
        if (n > 0)
            have += (size_t)n;
    } while ((n < 0 && errno == EINTR) ||
             (n > 0 && have % sizeof many[0] != 0 && have < sizeof many));
    numbers_add(&scene->numbers, many, have / sizeof many[0]);
    return have / sizeof many[0];
}

void taker_read(struct taker *taker, struct scene *scene, size_t count)
{
    while (count > 0) {
        const size_t n = taker_read_some(taker, scene);

        if (n == 0)
            fail_msg("the taker ended by itself");
        count -= n < count ? n : count;
    }
}

void taker_kill(struct taker *taker, struct scene *scene)
{
    assert_int_equal(kill(taker->pid, SIGKILL), 0);
    assert_int_equal(waitpid(taker->pid, NULL, 0), taker->pid);
    while (taker_read_some(taker, scene) > 0)
        continue;
    close(taker->fd);
}
