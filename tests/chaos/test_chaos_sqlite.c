/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One SQLite file that is restored, moved, and written over while brokers
 * count in it, and the same file as the authority of another counter.
 */
#include <stdio.h>

#include "chaos.h"
#include "contract/sqlite_files.h"
#include "platform/text.h"
#include "support/test.h"

#define FAULTS 6

/* The fastest broker takes millions while the slowest takes what is waited
 * for: the gap must exceed that. */
static const char topology[] =
    "broker = { interval = \"2ms\"; };"
    "backends = ("
    "  { name = \"one\"; engine = \"sqlite\"; path = \"one.db\";"
    "    connect_timeout = \"10s\"; }" /* the machine may be busy */
    ");"
    "pools = ( { name = \"main\"; partitions = [ \"one\" ];"
    "            timeout = \"2s\"; rescue_after = \"100ms\";"
    "            failover_gap = 100000000; } );"
    "sequences = ( { key = \"order\"; max_unused = 2000;"
    "                deadline = \"1s\"; } );";

static struct sqlite_files files;

static void one_file(struct chaos *chaos)
{
    (void)text_copy(files.path, sizeof files.path,
                    scene_state_path(chaos->scene, "one.db"));
    (void)text_copy(files.log, sizeof files.log,
                    scene_state_path(chaos->scene, "one.db-wal"));
    (void)text_copy(files.copy, sizeof files.copy,
                    scene_state_path(chaos->scene, "copy.db"));
    chaos_topology(chaos, topology);
    chaos_start(chaos);
}

static void restore(struct chaos *chaos)
{
    sqlite_files_save(&files);
    chaos_take_some(chaos);
    sqlite_files_restore(&files);
}

TEST_WITH(CHAOS, old_copy_renamed_into_place)
{
    one_file(chaos);
    chaos_run(chaos, __func__, FAULTS, restore);
}

/* For a while there is none; then a copy of a copy, in another inode. */
static void restore_later(struct chaos *chaos)
{
    char aside[80];

    sqlite_files_save(&files);
    chaos_take_some(chaos);
    (void)text_format(aside, sizeof aside, "%s.aside", files.path);
    assert_int_equal(rename(files.path, aside), 0);
    scene_copy(files.copy, files.copy);
    sqlite_files_restore(&files);
}

TEST_WITH(CHAOS, old_copy_put_where_the_file_was_moved_away)
{
    one_file(chaos);
    chaos_run(chaos, __func__, FAULTS, restore_later);
}

static void write_over(struct chaos *chaos)
{
    sqlite_files_save(&files);
    chaos_take_some(chaos);
    sqlite_files_restore_inside(&files);
}

TEST_WITH(CHAOS, old_copy_written_into_the_file)
{
    one_file(chaos);
    chaos_run(chaos, __func__, FAULTS, write_over);
}

/* No broker runs meanwhile, and all begin anew. */
static void write_over_at_rest(struct chaos *chaos)
{
    sqlite_files_save(&files);
    chaos_take_some(chaos);
    chaos_stop(chaos);
    sqlite_files_restore_inside(&files);
    chaos_start(chaos);
}

TEST_WITH(CHAOS, old_copy_written_into_the_file_of_no_broker)
{
    one_file(chaos);
    chaos_run(chaos, __func__, FAULTS, write_over_at_rest);
}

static void empty_tables(struct chaos *chaos)
{
    (void)chaos;
    sqlite_files_run(&files, "DELETE FROM seqb_counters");
}

TEST_WITH(CHAOS, counters_deleted)
{
    one_file(chaos);
    chaos_run(chaos, __func__, FAULTS, empty_tables);
}

static void move_away_and_back(struct chaos *chaos)
{
    char aside[80];

    (void)chaos;
    (void)text_format(aside, sizeof aside, "%s.aside", files.path);
    assert_int_equal(rename(files.path, aside), 0);
    assert_int_equal(rename(aside, files.path), 0);
}

TEST_WITH(CHAOS, file_moved_away_and_back)
{
    one_file(chaos);
    chaos_run(chaos, __func__, FAULTS, move_away_and_back);
}

static void kill_brokers(struct chaos *chaos)
{
    chaos_stop(chaos);
    chaos_start(chaos);
}

TEST_WITH(CHAOS, brokers_killed_and_started)
{
    one_file(chaos);
    chaos_run(chaos, __func__, FAULTS, kill_brokers);
}
