/* SPDX-License-Identifier: Apache-2.0 */
/* What a broker notes of its grants: the files, and stores that went back while
 * no broker ran, with all that they say of themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/file.h"
#include "platform/text.h"
#include "store/granted.h"
#include "support/events.h"
#include "support/rig.h"
#include "support/test.h"
#include "unit/taker.h"

#define LINE_SIZE 64
#define DAY_MS    INT64_C(86400000)

static int setup(void **state)
{
    struct rig *rig;

    if (rig_setup_direct(state) != 0)
        return -1;
    rig = *state;
    rig->ha.granted_path = rig_file(rig, "granted");
    return 0;
}

static int setup_windowed(void **state)
{
    const int failed = setup(state);

    rig_shape(*state, RIG_WINDOWED, 1);
    return failed;
}

#define GRANTED          FIXTURE(struct rig *rig, setup, rig_teardown)
#define GRANTED_WINDOWED FIXTURE(struct rig *rig, setup_windowed, rig_teardown)

static const struct granted_counter order = {"b0", "main/0/order",
                                             GRANTED_FOREVER};
static const struct granted_counter bill = {"b1", "main/1/bill",
                                            GRANTED_FOREVER};

static struct granted *open_files(const struct rig *rig)
{
    struct granted *granted;
    struct seqb_error err;

    assert_done(granted_open(rig->path, &granted, &err), err);
    return granted;
}

static int64_t find(const struct granted *granted,
                    const struct granted_counter *counter)
{
    uint32_t line = 0;

    return granted_find(granted, counter, &line);
}

/* One note by a broker of its own. */
static void note(const struct rig *rig, const struct granted_counter *counter,
                 int64_t value)
{
    struct granted *granted = open_files(rig);
    uint32_t line = 0;

    (void)granted_find(granted, counter, &line);
    granted_note(granted, counter, value, &line);
    assert_true(line > 0);
    granted_close(granted);
}

static off_t file_size(const struct rig *rig, int n)
{
    char path[80];
    struct stat info;

    (void)text_format(path, sizeof path, "%s-%d", rig->path, n);
    return stat(path, &info) == 0 ? info.st_size : -1;
}

/* Bytes over those of the first file. */
static void spoil(const struct rig *rig, off_t at, const char *bytes)
{
    char path[80];
    FILE *file;

    (void)text_format(path, sizeof path, "%s-0", rig->path);
    file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fputs(bytes, file) < 0, 0);
    assert_int_equal(fclose(file), 0);
}

/* --- the files --- */

TEST_WITH(GRANTED, next_start_knows_what_was_noted)
{
    struct granted *granted = open_files(rig);
    uint32_t lines[2] = {0, 0};

    assert_int_equal(find(granted, &order), 0);
    granted_note(granted, &order, 1000, &lines[0]);
    granted_note(granted, &bill, INT64_MAX, &lines[1]);
    granted_note(granted, &order, 3000, &lines[0]);
    granted_close(granted);
    for (int i = 0; i < 3; i++) {
        granted = open_files(rig);
        assert_int_equal(find(granted, &order), 3000);
        assert_int_equal(find(granted, &bill), INT64_MAX);
        granted_close(granted);
    }
    note(rig, &order, 4000);
    granted = open_files(rig);
    assert_int_equal(find(granted, &order), 4000);
    granted_close(granted);
    assert_int_equal(file_size(rig, 0), 2 * LINE_SIZE);
}

TEST_WITH(GRANTED, counter_is_known_whatever_its_backend_is_called)
{
    struct granted_counter other = order;
    struct granted *granted;

    other.backend = "b1";
    note(rig, &order, 1000);
    granted = open_files(rig);
    assert_int_equal(find(granted, &other), 1000);
    granted_close(granted);
}

/* Its lines have the backend's name, too, and are used again. */
TEST_WITH(GRANTED, files_of_an_earlier_version_are_read)
{
    const struct granted_counter earlier = {"b0", "b0 main/0/order",
                                            GRANTED_FOREVER};
    struct granted *granted;

    note(rig, &earlier, 1000);
    granted = open_files(rig);
    assert_int_equal(find(granted, &order), 1000);
    assert_int_equal(find(granted, &bill), 0);
    granted_close(granted);
    note(rig, &order, 2000);
    granted = open_files(rig);
    assert_int_equal(find(granted, &order), 2000);
    granted_close(granted);
    assert_int_equal(file_size(rig, 0), LINE_SIZE);
}

TEST_WITH(GRANTED, damaged_line_is_free_and_spoils_no_other)
{
    static const char *const damages[] = {"9", "x", " ", "\n"};

    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        struct granted *granted;

        note(rig, &order, 1000);
        note(rig, &bill, 70);
        spoil(rig, 7, damages[i]);
        granted = open_files(rig);
        assert_int_equal(find(granted, &order), 0);
        assert_int_equal(find(granted, &bill), 70);
        granted_close(granted);
    }
    assert_int_equal(file_size(rig, 0), 2 * LINE_SIZE);
}

/* As a machine that fails leaves it. */
TEST_WITH(GRANTED, torn_end_is_written_over)
{
    struct granted *granted;

    note(rig, &order, 1000);
    spoil(rig, LINE_SIZE, "00000000000000000070 98");
    note(rig, &bill, 70);
    granted = open_files(rig);
    assert_int_equal(find(granted, &order), 1000);
    assert_int_equal(find(granted, &bill), 70);
    granted_close(granted);
    assert_int_equal(file_size(rig, 0), 2 * LINE_SIZE);
}

TEST_WITH(GRANTED, line_of_a_period_that_is_over_is_free)
{
    struct granted_counter day = order;
    struct granted *granted;

    day.name = "main/0/order@20260101";
    day.last_day = 1;
    note(rig, &day, 1000);
    note(rig, &bill, 70);
    assert_int_equal(file_size(rig, 0), LINE_SIZE);
    granted = open_files(rig);
    assert_int_equal(find(granted, &day), 0);
    assert_int_equal(find(granted, &bill), 70);
    granted_close(granted);
}

TEST_WITH(GRANTED, brokers_of_one_folder_have_a_file_each)
{
    struct granted *first = open_files(rig);
    struct granted *second = open_files(rig);
    uint32_t lines[3] = {0, 0, 0};

    granted_note(first, &order, 1000, &lines[0]);
    granted_note(second, &order, 2000, &lines[1]);
    granted_note(second, &bill, 70, &lines[2]);
    granted_close(first);
    granted_close(second);
    assert_int_equal(file_size(rig, 0), LINE_SIZE);
    assert_int_equal(file_size(rig, 1), 2 * LINE_SIZE);

    /* Of the next one, too, which has the first file. */
    first = open_files(rig);
    assert_int_equal(find(first, &order), 2000);
    assert_int_equal(find(first, &bill), 70);
    lines[0] = 0;
    (void)granted_find(first, &order, &lines[0]);
    assert_int_equal(lines[0], 1);
    granted_close(first);
}

/* A folder stands where the file should be. */
TEST_WITH(GRANTED, file_that_cannot_be_used_stops_nobody)
{
    char path[80];
    struct granted *granted;
    uint32_t line = 0;

    (void)text_format(path, sizeof path, "%s-0", rig->path);
    assert_int_equal(mkdir(path, 0700), 0);
    events_start();
    granted = open_files(rig);
    assert_int_equal(events_count("warn event=grants_unread", ""), 1);
    granted_note(granted, &order, 1000, &line);
    assert_int_equal(find(granted, &order), 0);
    granted_close(granted);
    events_stop();
}

TEST(without_a_path_nothing_is_noted)
{
    struct granted *granted;

    assert_ok(granted_open(NULL, &granted, NULL));
    assert_null(granted);
    granted_close(granted);
}

/* --- stores that went back --- */

/* All of them, while no broker runs. */
static void put_all_back(struct rig *rig)
{
    for (int i = 0; i < 2; i++)
        fake_put_back(rig->stores[i]);
}

TEST_WITH(GRANTED, copies_with_their_origin_repeat_nothing)
{
    rig_use(rig, 1000);
    for (int i = 0; i < 2; i++)
        fake_save(rig->stores[i]);
    for (int i = 0; i < 4; i++) {
        rig_use(rig, 5000);
        put_all_back(rig);
    }
    rig_use(rig, 5000);
}

/* As on another machine, whose name the backend then has. */
TEST_WITH(GRANTED, copies_under_another_name_repeat_nothing)
{
    rig_use(rig, 1000);
    for (int i = 0; i < 2; i++)
        fake_save(rig->stores[i]);
    rig_use(rig, 5000);
    put_all_back(rig);
    rig->backends[0].options.name = "new-0";
    rig->backends[1].options.name = "new-1";
    rig_use(rig, 5000);
}

/* A, its copy B, and A as it was left. */
TEST_WITH(GRANTED, store_that_comes_back_repeats_nothing)
{
    rig_use(rig, 1000);
    fake_save(rig->stores[0]);
    for (int i = 0; i < 4; i++) {
        rig_use(rig, 5000);
        fake_exchange(rig->stores[0]);
    }
    rig_use(rig, 5000);
}

/* Of which the one that comes first knows nothing: they are below its own and
 * the gap. It was granted some of each store since the copy. */
TEST_WITH(GRANTED, what_others_were_granted_is_not_repeated)
{
    struct rig_broker *broker;

    rig->pool.layout.failover_gap = 1000000;
    rig_use(rig, 1000);
    fake_save(rig->stores[0]);
    fake_save(rig->stores[1]);
    broker = rig_open(rig);
    for (int32_t i = 0; i < 2; i++)
        rig_take_from(broker, i, 1);
    rig_close(broker);
    rig->ha.granted_path = NULL;
    rig_use(rig, 5000);
    rig->ha.granted_path = rig->path;
    put_all_back(rig);
    rig_use(rig, 20000);
}

#define RAISED "before its last start"

TEST_WITH(GRANTED, store_that_went_back_is_told)
{
    rig_shape(rig, RIG_DIRECT, 0);
    events_start();
    rig_use(rig, 1000);
    fake_save(rig->stores[0]);
    rig_use(rig, 1000);
    rig_use(rig, 1000);
    events_expect("event=raised", "", 0);
    fake_put_back(rig->stores[0]);
    rig_use(rig, 5000);
    events_expect("warn event=raised", RAISED, 1);
    rig_use(rig, 5000);
    events_expect("event=raised", "", 1);
    events_stop();
}

/* That was before the start: now it is surgery. */
TEST_WITH(GRANTED, counter_that_goes_back_after_the_start_is_poisoned)
{
    struct rig_broker *broker;

    rig_use(rig, 1000);
    broker = rig_open(rig);
    rig_take_from(broker, 0, 2000);
    fake_go_back(rig->stores[0], 100);
    rig_take_until(broker, 0, SEQB_PARTITION_POISONED);
}

/* Nothing is skipped where nothing went back, and one line is noted. */
TEST_WITH(GRANTED, restart_leaves_no_gap)
{
    rig_shape(rig, RIG_DIRECT, 0);
    rig->pool.layout.failover_gap = 1000000;
    for (int i = 0; i < 20; i++)
        rig_use(rig, i == 0 ? 5000 : 100);
    assert_true(fake_value(rig->stores[0], order.name) < 1000000);
    assert_int_equal(file_size(rig, 0), LINE_SIZE);
}

/* --- stamps --- */

static void take_stamp(struct taker *taker, int64_t digits, int64_t *last)
{
    const int64_t today = clock_wall_ms() / DAY_MS;
    const struct ha_stamp stamp = {digits, today * DAY_MS,
                                   (today + 3) * DAY_MS};
    struct ha_grant grant;

    assert_true(ha_counter_restamp(taker->counter, &stamp));
    do {
        grant = taker_ask(taker, 10);
        assert_int_not_equal(rig_partition(taker->broker, 0).state,
                             SEQB_PARTITION_POISONED);
    } while (grant.count == 0);
    assert_true(grant.first > *last);
    *last = grant.first;
}

static const struct ha_counter_attributes kept_for_a_day = {
    .claim = "", .value_bits = 63, .keep_ms = DAY_MS};

/* With a broker of its own. */
static void use_stamps(struct rig *rig, int64_t last[2])
{
    struct taker taker;

    taker_begin(&taker, rig);
    ha_counter_set_attributes(taker.counter, &kept_for_a_day);
    for (int i = 0; i < 2; i++)
        take_stamp(&taker, i + 7, &last[i]);
    taker_end(&taker);
}

/* One for all, each of which follows the last. Free once it may be purged. */
static void expect_line_of_a_stamp(const struct rig *rig)
{
    char text[80];
    char *line;

    (void)text_format(text, sizeof text, "%s-0", rig->path);
    assert_ok(file_read(text, LINE_SIZE, &line, NULL));
    (void)text_format(text, sizeof text, " %010d ",
                      (int)(clock_wall_ms() / DAY_MS) + 5);
    rig_expect_words(line, text);
    free(line);
}

TEST_WITH(GRANTED, stamps_that_went_back_repeat_nothing)
{
    int64_t last[2] = {-1, -1};

    use_stamps(rig, last);
    expect_line_of_a_stamp(rig);
    fake_save(rig->stores[0]);
    use_stamps(rig, last);
    fake_put_back(rig->stores[0]);
    use_stamps(rig, last);
}

/* What an authority leases is direct. */
TEST_WITH(GRANTED_WINDOWED, authority_that_went_back_leases_nothing_twice)
{
    rig_use(rig, 1000);
    fake_save(rig->authority);
    for (int i = 0; i < 4; i++) {
        rig_use(rig, 5000);
        fake_put_back(rig->authority);
        for (int j = 0; j < 2; j++)
            fake_flush(rig->stores[j]);
    }
    rig_use(rig, 5000);
}

/* As a machine does that is resumed from a snapshot with its memory. Once in
 * the window that was noted, once in one before it. */
static void put_cells_back(struct rig *rig, size_t count)
{
    rig_use(rig, count);
    for (int i = 0; i < 2; i++)
        fake_save(rig->stores[i]);
    for (int i = 0; i < 4; i++) {
        rig_use(rig, count);
        put_all_back(rig);
    }
    rig_use(rig, count);
}

TEST_WITH(GRANTED_WINDOWED, cells_that_went_back_repeat_nothing)
{
    rig->pool.layout.window_bits = 20;
    put_cells_back(rig, 1000);
}

TEST_WITH(GRANTED_WINDOWED, cells_in_an_earlier_window_repeat_nothing)
{
    put_cells_back(rig, 20000);
}
