/* SPDX-License-Identifier: Apache-2.0 */
/* config/segments.conf over a real server: a row a key, a range at a time. */
#include <string.h>

#include "platform/text.h"
#include "scene.h"
#include "support/server_mariadb.h"
#include "support/test.h"

static struct server *database;

TEST(prepare)
{
    mariadb_require();
    database = server_mariadb(NULL);
    mariadb_execute(database, "CREATE USER seqbroker@'%%'; "
                              "GRANT ALL ON seqbroker.* TO seqbroker@'%%'");
}

/* The sample on an empty database, with its port; a loaded machine is not to be
 * taken for a slow store. */
static const char *write_sample(const struct scene *scene)
{
    char text[SCENE_TEXT_SIZE];

    mariadb_execute(database, "CREATE OR REPLACE DATABASE seqbroker");
    scene_sample("config/segments.conf", text);
    scene_replace_port(text, "port = 3306", server_port(database));
    scene_replace(text, "\"mysql-a\" ];",
                  "\"mysql-a\" ]; timeout = \"5s\"; "
                  "rescue_after = \"400ms\";");
    return scene_write(scene, "segments.conf", text);
}

static int64_t ask_number(const char *question)
{
    char answer[MARIADB_ASK_SIZE];
    int64_t number;

    mariadb_ask(database, answer, "%s", question);
    assert_true(text_to_int64(answer, strlen(answer), &number));
    return number;
}

static int64_t updates(void)
{
    return ask_number("SELECT VARIABLE_VALUE "
                      "FROM information_schema.GLOBAL_STATUS "
                      "WHERE VARIABLE_NAME = 'COM_UPDATE'");
}

static int64_t row_of(const char *key)
{
    char question[256];

    assert_true(text_format(question, sizeof question,
                            "SELECT value FROM seqbroker.seqb_counters "
                            "WHERE name = 'main/0/%s'",
                            key));
    return ask_number(question);
}

TEST_WITH(SCENE, a_row_a_key_gives_dense_numbers_by_ranges)
{
    enum { TAKEN = 100000 };
    const char *topology = write_sample(scene);
    const int64_t before = updates();
    int64_t bits;
    int64_t number;
    struct seqb_sequence *waybill;
    struct seqb_error err;

    scene_open(scene, topology);
    for (int i = 0; i < 10; i++)
        scene_take(scene, "order", TAKEN / 10);
    /* What was taken is all that there is, from 1 on. */
    scene_expect_no_repeats(scene);
    assert_int_equal(numbers_highest(&scene->numbers), TAKEN);
    assert_in_range(row_of("order"), TAKEN, 2 * TAKEN);
    assert_in_range(updates() - before, 1, TAKEN / 100);

    waybill = scene_sequence(scene, "waybill");
    for (bits = 0; bits < 1024; bits++) {
        assert_ok(seqb_next(waybill, &number, &err));
        assert_int_equal(number, 1024 + bits); /* the row's 1, and ten bits */
    }
    assert_in_range(row_of("waybill"), 1, 1024);
    scene_close(scene);
}

TEST_WITH(SCENE, brokers_count_in_ranges_of_their_own)
{
    const char *topology = write_sample(scene);
    struct taker first = taker_start(topology, "order");
    struct taker second = taker_start(topology, "order");

    for (int i = 0; i < 5; i++) {
        taker_read(&first, scene, 2000);
        taker_read(&second, scene, 2000);
    }
    taker_kill(&first, scene); /* what it held is a gap */
    taker_read(&second, scene, 2000);
    taker_kill(&second, scene);
    scene_open(scene, topology);
    scene_take(scene, "order", 1000);
    scene_expect_no_repeats(scene);
}

/* Numbers at hand of a sequence. */
static int64_t stock_of(struct scene *scene, const char *key)
{
    struct seqb_sequence_status all[4];
    struct seqb_error err;
    size_t count;

    assert_ok(
        seqb_sequences(scene->broker, all, sizeof all[0], 4, &count, &err));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(all[i].key, key) == 0)
            return all[i].stock;
    }
    return 0;
}

TEST_WITH(SCENE, numbers_at_hand_outlast_the_database)
{
    const char *topology = write_sample(scene);
    int64_t at_hand;

    scene_open(scene, topology);
    scene_take(scene, "order", 20000);
    at_hand = stock_of(scene, "order");
    assert_true(at_hand > 0);
    server_kill(database);
    scene_take(scene, "order", (size_t)at_hand);
    server_start(database);
    scene_take(scene, "order", 20000);
    scene_expect_no_repeats(scene);
}

TEST_BEFORE_ALL(without_sigpipe);
