/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brokers as a service has them, through the public API alone: in a temporary
 * folder with its state directory and topology files, in this process and in
 * others that may be killed.
 *
 * What must not fail here fails the test; for its main thread alone.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include <seqbroker/admin.h>

#include "support/numbers.h"
#include "support/test.h"

#define SCENE_TEXT_SIZE   8192
#define SCENE_PATIENCE_MS 60000 /* what is waited for comes, or never will */

struct scene {
    char folder[32]; /* absolute */
    char state_dir[64];
    struct numbers numbers;
    struct seqb_broker *broker; /* NULL: not open; closed by the teardown */
};

/* For cmocka: *state is a scene whose state directory, not yet made, is in
 * SEQBROKER_STATE_DIR. */
int scene_setup(void **state);
int scene_teardown(void **state);

#define SCENE FIXTURE(struct scene *scene, scene_setup, scene_teardown)

/* The path of a file in the folder, or in the state directory. Each is good
 * until the next call. */
const char *scene_path(const struct scene *scene, const char *name);
const char *scene_state_path(const struct scene *scene, const char *name);

/* Writes a file in the folder; returns its path as scene_path does. A topology
 * that sets no deadline, timeout or connect_timeout gets long ones. */
const char *scene_write(const struct scene *scene, const char *name,
                        const char *text);

/* The topology in a file of config/; the second one writes it as scene_write
 * does. */
void scene_sample(const char *path, char out[static SCENE_TEXT_SIZE]);
const char *scene_write_sample(const struct scene *scene, const char *path);

/* What is there without a topology, written as scene_write does. */
#define SCENE_EMBEDDED "config/embedded.conf"

/* Puts `to` in the place of `from`, which must be in a text of at most
 * SCENE_TEXT_SIZE; the second one puts "port = ..." there. */
void scene_replace(char *text, const char *from, const char *to);
void scene_replace_port(char *text, const char *from, int32_t port);

/* Copies bytes and mode into a new file; moves it over what stands there. */
void scene_copy(const char *from, const char *to);

/* Opens scene->broker; `topology` may be NULL. */
void scene_open(struct scene *scene, const char *topology);
void scene_close(struct scene *scene);

/* It must fail; the text must contain the words. */
void scene_expect_refused(struct scene *scene, const char *topology,
                          enum seqb_status expected, const char *words);

/* Takes numbers of a sequence into scene->numbers; all must come. */
void scene_take(struct scene *scene, const char *key, size_t count);

/* Wait until a partition (-1: the authority) is in a state that lasts, the
 * second one taking numbers of `key` meanwhile, so that it is asked. */
void scene_await(struct scene *scene, int32_t partition,
                 enum seqb_partition_state state);
void scene_take_until(struct scene *scene, const char *key, int32_t partition,
                      enum seqb_partition_state state);

/* Takes numbers of `key` until the reason of a partition holds `words`. */
void scene_take_until_says(struct scene *scene, const char *key,
                           int32_t partition, const char *words);

struct seqb_partition_status scene_partition(const struct scene *scene,
                                             int32_t partition);

/* Fails, and shows the text, unless it contains the words. */
void scene_expect_words(const char *text, const char *words);

/* No number of scene->numbers came twice. */
void scene_expect_no_repeats(struct scene *scene);

/* --- other processes --- */

/* Opens a broker of its own and takes numbers for ever, each of which it
 * writes into the pipe `fd` once it has it. */
struct taker {
    pid_t pid;
    int fd;
};

/* No broker may be open in this process. */
struct taker taker_start(const char *topology, const char *key);

/* Reads at least `count` of its numbers into scene->numbers. */
void taker_read(struct taker *taker, struct scene *scene, size_t count);

/* SIGKILL in mid-run, then reads what it had still written. */
void taker_kill(struct taker *taker, struct scene *scene);
