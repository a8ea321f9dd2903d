/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brokers in a realistic setting, through the public API alone: a temporary
 * folder has the state directory and the topology files; brokers run in this
 * process, and in others that may be killed.
 *
 * A failure of these functions fails the test. Call them from the main thread
 * only.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include <seqbroker/admin.h>

#include "support/numbers.h"
#include "support/test.h"

#define SCENE_TEXT_SIZE   8192
#define SCENE_PATIENCE_MS 60000 /* what has not happened by then never will */

struct scene {
    char folder[32]; /* absolute */
    char state_dir[64];
    struct numbers numbers;
    struct seqb_broker *broker; /* NULL: not open; the teardown closes it */
};

/* For cmocka: *state becomes a scene. SEQBROKER_STATE_DIR is set to its state
 * directory, which does not exist yet. */
int scene_setup(void **state);
int scene_teardown(void **state);

#define SCENE FIXTURE(struct scene *scene, scene_setup, scene_teardown)

/* The path of a file in the folder, or in the state directory. Valid until the
 * teardown. */
const char *scene_path(const struct scene *scene, const char *name);
const char *scene_state_path(const struct scene *scene, const char *name);

/* Writes a file in the folder; returns its path like scene_path. If a topology
 * sets no deadline, timeout or connect_timeout, long ones are added. */
const char *scene_write(const struct scene *scene, const char *name,
                        const char *text);

/* scene_sample reads the topology in a file of config/. scene_write_sample
 * writes it like scene_write. */
void scene_sample(const char *path, char out[static SCENE_TEXT_SIZE]);
const char *scene_write_sample(const struct scene *scene, const char *path);

/* The default topology, which scene_write_sample can write, too. */
#define SCENE_EMBEDDED "config/embedded.conf"

/* Replace `from` by `to`, or by "port = ...". `from` must be in the text, which
 * has at most SCENE_TEXT_SIZE bytes. */
void scene_replace(char *text, const char *from, const char *to);
void scene_replace_port(char *text, const char *from, int32_t port);

/* Copies content and mode into a new file, and renames it to `to`, replacing
 * what is there. */
void scene_copy(const char *from, const char *to);

/* Renames a file of the state directory. */
void scene_move(const struct scene *scene, const char *from, const char *to);

/* The topologies of a pool before and after its migration. */
struct topologies {
    const char *was;
    const char *is;
};

/* What a migration or the like reports: a `report` whose context is such a
 * text, to which it appends the line. */
void scene_hear(void *told, const char *line);

/* Opens scene->broker; `topology` may be NULL. */
void scene_open(struct scene *scene, const char *topology);
void scene_close(struct scene *scene);

/* Opens a broker, takes `count` numbers of "order" or of a key, and closes
 * it. */
void scene_use(struct scene *scene, const char *topology, size_t count);
void scene_use_key(struct scene *scene, const char *topology, const char *key,
                   size_t count);

/* Opening must fail with `expected`, and the error must contain `words`. */
void scene_expect_refused(struct scene *scene, const char *topology,
                          enum seqb_status expected, const char *words);

/* A sequence of scene->broker, which must have it. */
struct seqb_sequence *scene_sequence(const struct scene *scene,
                                     const char *key);

/* Looks for a sequence of scene->broker. Waits while the stores are asked about
 * a key beyond the limit. */
enum seqb_status scene_find(const struct scene *scene, const char *key,
                            struct seqb_error *err);

/* Expects that a store knows the key with other settings, and that the error
 * contains `words`. An automatic sequence says so only to who takes a
 * number. */
void scene_expect_no_numbers(struct scene *scene, const char *key,
                             const char *words);

/* Takes numbers of a sequence into scene->numbers, and fails if any is
 * missing. */
void scene_take(struct scene *scene, const char *key, size_t count);

/* Both wait until a partition (-1: the authority) is in `state`, which must be
 * a lasting state. scene_take_until takes numbers of `key` meanwhile, so that
 * the partition is asked. */
void scene_await(struct scene *scene, int32_t partition,
                 enum seqb_partition_state state);
void scene_take_until(struct scene *scene, const char *key, int32_t partition,
                      enum seqb_partition_state state);

/* Takes numbers of `key` until the reason of a partition contains `words`. */
void scene_take_until_says(struct scene *scene, const char *key,
                           int32_t partition, const char *words);

struct seqb_partition_status scene_partition(const struct scene *scene,
                                             int32_t partition);

/* Fails, and shows the text, unless it contains `words`. */
void scene_expect_words(const char *text, const char *words);

/* Checks that no number of scene->numbers was taken twice. */
void scene_expect_no_repeats(struct scene *scene);

/* --- other processes --- */

/* A process with its own broker that takes numbers continuously, and writes
 * each of them to the pipe `fd` when it has it. */
struct taker {
    pid_t pid;
    int fd;
};

/* Starts such a process. No broker may be open in this process. */
struct taker taker_start(const char *topology, const char *key);

/* Reads at least `count` of its numbers into scene->numbers. */
void taker_read(struct taker *taker, struct scene *scene, size_t count);

/* Sends SIGKILL while it runs, then reads what it has written. */
void taker_kill(struct taker *taker, struct scene *scene);
