/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brokers in processes of their own that lease worker ids of one file: they
 * are stopped for longer than a lease while another one takes their id, go on,
 * are killed, and the file is put back to an older copy. No number comes twice.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <sqlite3.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "scene.h"
#include "support/test.h"

#define EPOCH INT64_C(1577836800000)
#define CROWD 3
#define TURNS (SEQB_TEST_SCALE > 1 ? 3 : 6)
#define SOME  2000

/* Longer than others hold the file's lock, shorter than a lease. */
#define STOP_PATIENCE_MS 500

/* --- topologies --- */

static const char template[] =
    "broker = { name = \"NAME\"; state_dir = \"FOLDER/NAME\"; spool = false; };"
    "backends = ("
    "  { name = \"authority\"; engine = \"sqlite\";"
    "    path = \"FOLDER/workers.db\"; } );"
    "pools = ( { name = \"main\"; partitions = [ \"authority\" ]; } );"
    "sequences = ( { key = \"order\"; deadline = \"1m\";"
    "                snowflake = { epoch = \"2020-01-01\"; worker_bits = BITS;"
    "                              counter_bits = 12; lease = \"LEASE\"; }; } "
    ");";

static void replace_all(char *text, const char *from, const char *to)
{
    while (strstr(text, from) != NULL)
        scene_replace(text, from, to);
}

static const char *topology(const struct scene *scene, const char *name,
                            const char *bits, const char *lease)
{
    char text[SCENE_TEXT_SIZE];
    char file[32];

    (void)text_copy(text, sizeof text, template);
    replace_all(text, "NAME", name);
    replace_all(text, "FOLDER", scene->folder);
    replace_all(text, "BITS", bits);
    replace_all(text, "LEASE", lease);
    (void)text_format(file, sizeof file, "%s.conf", name);
    return scene_write(scene, file, text);
}

/* The first broker waits until no id can be held from before. */
static void open_authority(struct scene *scene)
{
    scene_use(scene, topology(scene, "first", "1", "1s"), 1);
}

/* --- takers --- */

static struct taker start(const struct scene *scene, const char *name,
                          const char *bits)
{
    return taker_start(topology(scene, name, bits, "1s"), "order");
}

static int64_t time_of(const struct numbers *numbers, int bits)
{
    return (numbers->values[numbers->count - 1] >> (12 + bits)) + EPOCH;
}

/* Reads until a number comes that was made after that moment: what was made
 * before lies in the ring and in the pipe. */
static void read_past(struct taker *taker, struct scene *scene, int bits,
                      int64_t wall_ms)
{
    do
        taker_read(taker, scene, 1);
    while (time_of(&scene->numbers, bits) <= wall_ms);
    taker_read(taker, scene, SOME);
}

/* Reads what is there, if anything is. */
static void read_ready(struct taker *taker, struct scene *scene)
{
    struct pollfd ready = {.fd = taker->fd, .events = POLLIN};

    if (poll(&ready, 1, 0) > 0)
        taker_read(taker, scene, 1);
}

/* Whether nobody is writing to the authority's file. */
static bool authority_is_free(const struct scene *scene)
{
    sqlite3 *db = NULL;
    bool is_free;

    assert_int_equal(sqlite3_open(scene_path(scene, "workers.db"), &db),
                     SQLITE_OK);
    sqlite3_busy_timeout(db, STOP_PATIENCE_MS);
    is_free = sqlite3_exec(db, "BEGIN IMMEDIATE; ROLLBACK", NULL, NULL, NULL) ==
              SQLITE_OK;
    sqlite3_close(db);
    return is_free;
}

/* One that is stopped while it writes would keep all others from the file, for
 * as long as it is stopped: it goes on, and is stopped at another moment. */
static void stop(const struct scene *scene, const struct taker *taker)
{
    assert_int_equal(kill(taker->pid, SIGSTOP), 0);
    while (!authority_is_free(scene)) {
        assert_int_equal(kill(taker->pid, SIGCONT), 0);
        nanosleep(&(struct timespec){.tv_nsec = 7000000}, NULL);
        assert_int_equal(kill(taker->pid, SIGSTOP), 0);
    }
}

static void kill_all(struct taker *takers, struct scene *scene)
{
    for (int i = 0; i < CROWD; i++) {
        assert_int_equal(kill(takers[i].pid, SIGCONT), 0);
        taker_kill(&takers[i], scene);
    }
}

static void start_all(const struct scene *scene, struct taker *takers,
                      const char *bits)
{
    static const char *const names[CROWD] = {"a", "b", "c"};

    for (int i = 0; i < CROWD; i++)
        takers[i] = start(scene, names[i], bits);
}

/* There are two ids for three brokers: the one that is stopped loses his to
 * the one that has none, and is the next to wait. */
TEST_WITH(SCENE, stopped_holder_comes_back_without_his_id)
{
    struct taker takers[CROWD];
    int64_t now_ms;

    open_authority(scene);
    takers[0] = start(scene, "a", "1");
    taker_read(&takers[0], scene, SOME);
    takers[1] = start(scene, "b", "1");
    taker_read(&takers[1], scene, SOME);
    takers[2] = start(scene, "c", "1");
    for (int turn = 0; turn < TURNS; turn++) {
        struct taker *stopped = &takers[turn % CROWD];
        struct taker *holder = &takers[(turn + 1) % CROWD];
        struct taker *taker = &takers[(turn + 2) % CROWD];

        taker_read(stopped, scene, SOME);
        stop(scene, stopped);
        now_ms = clock_wall_ms();
        read_past(taker, scene, 1, now_ms);
        assert_int_equal(kill(stopped->pid, SIGCONT), 0);
        /* Side by side, while the one that comes back finds out. */
        for (int i = 0; i < 40; i++) {
            taker_read(taker, scene, SOME);
            taker_read(holder, scene, SOME);
            read_ready(stopped, scene);
        }
    }
    kill_all(takers, scene);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, killed_holder_leaves_his_id_to_another)
{
    struct taker takers[CROWD];
    int64_t now_ms;

    open_authority(scene);
    start_all(scene, takers, "1");
    for (int turn = 0; turn < TURNS / 2; turn++) {
        char name[8];

        /* Whoever of them has an id by now: two have. */
        now_ms = clock_wall_ms();
        taker_kill(&takers[turn], scene);
        for (int i = 0; i < CROWD; i++) {
            if (i != turn)
                read_past(&takers[i], scene, 1, now_ms);
        }
        (void)text_format(name, sizeof name, "again%d", turn);
        takers[turn] = start(scene, name, "1");
    }
    kill_all(takers, scene);
    scene_expect_no_repeats(scene);
}

/* An hour's lease would be waited for, if it were not given back. */
TEST_WITH(SCENE, clean_stop_gives_the_id_back_at_once)
{
    struct taker taker;

    open_authority(scene);
    for (int i = 0; i < 3; i++) {
        scene_use(scene, topology(scene, "long", "1", "1h"), SOME);
    }
    taker = taker_start(topology(scene, "next", "1", "1h"), "order");
    taker_read(&taker, scene, SOME);
    taker_kill(&taker, scene);
    scene_expect_no_repeats(scene);
}

static void await_health(const struct scene *scene, enum seqb_health wanted,
                         const char *words)
{
    const int64_t end_ms = clock_now_ms() + 30000;
    enum seqb_health health = SEQB_HEALTH_UNKNOWN;
    char reason[SEQB_ERROR_TEXT_SIZE] = "";
    struct seqb_error err;

    while (clock_now_ms() < end_ms &&
           (health != wanted || strstr(reason, words) == NULL)) {
        assert_ok(seqb_get_health(scene->broker, &health, reason, sizeof reason,
                                  &err));
        nanosleep(&(struct timespec){.tv_nsec = 7000000}, NULL);
    }
    assert_int_equal(health, wanted);
    scene_expect_words(reason, words);
}

TEST_WITH(SCENE, lease_ends_without_the_authority)
{
    const char *path = scene_path(scene, "workers.db");
    const char *aside = scene_path(scene, "aside.db");

    open_authority(scene);
    scene_open(scene, topology(scene, "a", "1", "1s"));
    scene_take(scene, "order", SOME);
    assert_int_equal(rename(path, aside), 0);
    await_health(scene, SEQB_HEALTH_NOT_SERVING, "the lease of worker id 0");
    assert_int_equal(rename(aside, path), 0);
    scene_take(scene, "order", SOME * (size_t)10); /* it is back by itself */
    await_health(scene, SEQB_HEALTH_SERVING, "");
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, copy_put_back_leases_no_id_twice)
{
    struct taker takers[CROWD];
    const char *path = scene_path(scene, "workers.db");
    const char *aside = scene_path(scene, "aside.db");
    int64_t now_ms;

    scene_use(scene, topology(scene, "first", "2", "1s"), 1);
    scene_copy(path, aside); /* where no id is held */
    takers[0] = start(scene, "a", "2");
    taker_read(&takers[0], scene, SOME);
    takers[1] = start(scene, "b", "2");
    taker_read(&takers[1], scene, SOME);
    scene_copy(aside, path);
    takers[2] = start(scene, "c", "2");
    now_ms = clock_wall_ms();
    for (int i = 0; i < 40; i++) {
        for (int j = 0; j < CROWD; j++)
            taker_read(&takers[j], scene, SOME);
    }
    for (int j = 0; j < CROWD; j++)
        read_past(&takers[j], scene, 2, now_ms);
    kill_all(takers, scene);
    scene_expect_no_repeats(scene);
}
