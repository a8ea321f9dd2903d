/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of a SQLite file with its log, the index of that, and all attributes,
 * as the snapshot of a disk has them, that are put back under one counter which
 * is counted in windows.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "contract/sqlite_files.h"
#include "platform/text.h"
#include "put_back.h"
#include "sqlite_parts.h"
#include "support/test.h"

#define TIMES 6 /* two of each moment of put_back_run */

#define BACKEND                                                                \
    "{ name = \"one\"; engine = \"sqlite\"; path = \"one.db\";"                \
    "  connect_timeout = \"10s\"; }"

static struct sqlite_files file;
static char (*notes)[64];
static size_t note_count;

static void one_file(struct chaos *chaos)
{
    (void)text_copy(file.path, sizeof file.path,
                    scene_state_path(chaos->scene, "one.db"));
    (void)text_copy(file.copy, sizeof file.copy,
                    scene_state_path(chaos->scene, "copy.db"));
    put_back_topology(chaos, BACKEND, "\"one\"", 0);
}

/* What the machine's memory knows of a file stays when the file is removed, and
 * another one may have its inode; so it is removed at the end only. */
static void note_remember(void)
{
    notes = realloc(notes, (note_count + 1) * sizeof notes[0]);
    assert_non_null(notes);
    sqlite_files_note(&file, notes[note_count++]);
}

static int teardown(void **state)
{
    note_remember();
    for (; note_count > 0; note_count--)
        (void)unlink(notes[note_count - 1]);
    free(notes);
    notes = NULL;
    return chaos_teardown(state);
}

#define CHAOS_COPIES_SQLITE FIXTURE(struct chaos *chaos, chaos_setup, teardown)

/* --- copying --- */

/* Brokers that run do nothing meanwhile. */
static void at_once(struct chaos *chaos, void (*what)(void))
{
    const bool are_running = chaos->crowd.is_listening;

    if (are_running)
        crowd_signal(&chaos->crowd, SIGSTOP);
    what();
    if (are_running)
        crowd_signal(&chaos->crowd, SIGCONT);
}

static void copy_parts(void)
{
    sqlite_parts_remove(file.copy);
    sqlite_parts_copy(file.path, file.copy);
}

static void copy(struct chaos *chaos)
{
    at_once(chaos, copy_parts);
}

/* --- one copy, again and again --- */

static void put_new_parts(void)
{
    note_remember();
    sqlite_parts_remove(file.path);
    sqlite_parts_copy(file.copy, file.path);
}

static void put_new(struct chaos *chaos)
{
    at_once(chaos, put_new_parts);
}

TEST_WITH(CHAOS_COPIES_SQLITE, copy_put_back_as_new_files)
{
    static const struct put_back way = {copy, put_new};

    one_file(chaos);
    put_back_run(chaos, __func__, &way, TIMES);
}

/* No broker runs meanwhile, and all start again. */
static void put_over(struct chaos *chaos)
{
    chaos_stop(chaos);
    sqlite_parts_copy(file.copy, file.path);
    chaos_start(chaos);
}

TEST_WITH(CHAOS_COPIES_SQLITE, copy_written_over_the_files)
{
    static const struct put_back way = {copy, put_over};

    one_file(chaos);
    put_back_run(chaos, __func__, &way, TIMES);
}

/* --- step by step, under brokers --- */

/* What they make of files half of which are there is their matter: they may
 * refuse the store until a whole copy stands there, and one that reads of the
 * index what is cut off for a moment may end by SIGBUS. */
static void step_by_step(struct chaos *chaos, void (*put)(void))
{
    for (int i = 0; i < 3; i++) {
        put();
        chaos_take_if_any(chaos);
    }
    chaos_stop(chaos);
    put_new_parts();
    chaos_start(chaos);
}

static void run_step_by_step(struct chaos *chaos, const char *name,
                             void (*fault)(struct chaos *chaos))
{
    one_file(chaos);
    chaos->crowd.expects_refusal = true;
    chaos_start(chaos);
    chaos_take_some(chaos);
    copy(chaos);
    chaos_run(chaos, name, TIMES / 2, fault);
}

static void put_over_parts(void)
{
    sqlite_parts_copy(file.copy, file.path);
}

static void put_over_in_use(struct chaos *chaos)
{
    step_by_step(chaos, put_over_parts);
}

TEST_WITH(CHAOS_COPIES_SQLITE, copy_written_over_the_files_in_use)
{
    run_step_by_step(chaos, __func__, put_over_in_use);
}

static void put_new_in_use(struct chaos *chaos)
{
    step_by_step(chaos, put_new_parts);
}

TEST_WITH(CHAOS_COPIES_SQLITE, copy_put_back_as_new_files_in_use)
{
    run_step_by_step(chaos, __func__, put_new_in_use);
}

/* Copied step by step, too, so that it may be no whole one. */
static void put_torn(struct chaos *chaos)
{
    char whole[sizeof file.copy];

    (void)text_copy(whole, sizeof whole, file.copy);
    (void)text_copy(file.copy, sizeof file.copy,
                    scene_state_path(chaos->scene, "torn.db"));
    copy_parts();
    chaos_take_some(chaos);
    chaos_stop(chaos);
    put_over_parts();
    chaos_start(chaos);
    (void)text_copy(file.copy, sizeof file.copy, whole);
    step_by_step(chaos, put_new_parts);
}

TEST_WITH(CHAOS_COPIES_SQLITE, copy_made_step_by_step)
{
    run_step_by_step(chaos, __func__, put_torn);
}

/* --- a copy in the place of its original, and this one again --- */

static void exchange_parts(void)
{
    char aside[SQLITE_PART_SIZE];
    char first[SQLITE_PART_SIZE];
    char second[SQLITE_PART_SIZE];

    (void)text_format(aside, sizeof aside, "%s.aside", file.path);
    for (int i = 0; i < SQLITE_PARTS; i++) {
        const bool is_there =
            rename(sqlite_part(file.path, i, first), aside) == 0;

        (void)rename(sqlite_part(file.copy, i, second), first);
        if (is_there)
            assert_int_equal(rename(aside, second), 0);
    }
}

static void exchange(struct chaos *chaos)
{
    at_once(chaos, exchange_parts);
}

TEST_WITH(CHAOS_COPIES_SQLITE, file_and_its_copy_in_turn)
{
    static const struct put_back way = {copy, exchange};

    one_file(chaos);
    put_back_fail_over(chaos, __func__, &way, TIMES);
    note_remember();
    exchange_parts();
}
