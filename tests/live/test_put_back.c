/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of all files of a store, with whatever names it and its history, are
 * put back, again and again: of a pool that believes no store but its
 * authority's (windows = "all"), and of direct partitions. Nothing repeats, and
 * nobody configured a gap.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "platform/text.h"
#include "probe_log.h"
#include "scene.h"
#include "support/server_mariadb.h"
#include "support/server_postgres.h"
#include "support/server_postgres_copies.h"
#include "support/sqlite_note.h"
#include "support/test.h"

#define PARTITIONS 4

enum partition { AUTHORITY, MARIADB, POSTGRES, SQLITE };

static struct server *mariadb;
static struct server *postgres;

static const char topology_format[] =
    "broker = { open_timeout = \"1m\"; };\n"
    "backends = ("
    "{ name = \"authority\"; engine = \"sqlite\"; path = \"authority.db\"; },"
    "{ name = \"maria\"; engine = \"mysql-row\"; host = \"127.0.0.1\";"
    "  port = %d; user = \"seqbroker\"; database = \"seqbroker\"; },"
    "{ name = \"pg\"; engine = \"postgres\";"
    "  conninfo = \"host=127.0.0.1 port=%d user=postgres dbname=postgres\"; },"
    "{ name = \"lite\"; engine = \"sqlite\"; path = \"lite.db\"; });\n"
    "pools = ({ name = \"main\"; generation = %d; timeout = \"30s\"; "
    "rescue_after = \"400ms\";"
    "  partitions = [\"authority\", \"maria\", \"pg\", \"lite\"];"
    "  authority = \"authority\"; windows = \"%s\"; failover_gap = 1; });\n"
    "sequences = ({ key = \"order\"; max_unused = 2000;"
    "  deadline = \"1m\"; });\n";

static void start_servers(void)
{
    mariadb_require();
    postgres_require();
    mariadb = server_mariadb(NULL);
    mariadb_execute(mariadb, "CREATE USER seqbroker@'%%'; "
                             "GRANT ALL ON *.* TO seqbroker@'%%'");
    postgres = server_postgres(NULL);
}

static const char *write_generation(const struct scene *scene, int generation,
                                    const char *windows)
{
    char text[SCENE_TEXT_SIZE];
    char name[32];

    (void)text_format(text, sizeof text, topology_format, server_port(mariadb),
                      server_port(postgres), generation, windows);
    (void)text_format(name, sizeof name, "put-back-%d.conf", generation);
    return scene_write(scene, name, text);
}

static const char *write_topology(const struct scene *scene,
                                  const char *windows)
{
    return write_generation(scene, 1, windows);
}

/* Servers without the tables of the test before. */
static void begin(void)
{
    if (mariadb == NULL)
        start_servers();
    mariadb_execute(mariadb, "CREATE OR REPLACE DATABASE seqbroker");
    postgres_execute(postgres, "postgres",
                     "DROP TABLE IF EXISTS seqb_counters, seqb_claims");
}

static void take_from_all(struct scene *scene)
{
    scene_take(scene, "order", 8000);
    for (int32_t i = 0; i < PARTITIONS; i++) {
        scene_take_until(scene, "order", i, SEQB_PARTITION_UP);
        while (scene_partition(scene, i).granted == 0)
            scene_take(scene, "order", 100);
    }
}

/* --- copies --- */

/* With all attributes; into the same file if there is one, so that it stays the
 * same inode. */
static void copy(const char *folder, const char *from, const char *to)
{
    char source[256];
    char target[256];
    int ended;
    pid_t child;

    (void)text_format(source, sizeof source, "%s/%s", folder, from);
    (void)text_format(target, sizeof target, "%s/%s", folder, to);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)execlp("cp", "cp", "-a", source, target, (char *)NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
}

/* What the machine's memory knows of the file. */
static int teardown(void **state)
{
    struct scene *scene = *state;
    char note[SQLITE_NOTE_SIZE];

    scene_close(scene);
    sqlite_note_path(scene_state_path(scene, "lite.db"), note);
    (void)unlink(note);
    return scene_teardown(state);
}

#define PUT_BACK FIXTURE(struct scene *scene, scene_setup, teardown)

static void save(const struct scene *scene, enum partition which)
{
    if (which == MARIADB)
        mariadb_copy_cold(mariadb, "saved");
    else if (which == POSTGRES)
        postgres_copy_cold(postgres, "saved");
    else
        copy(scene->state_dir, "lite.db", "lite.copy");
}

static void put_back(const struct scene *scene, enum partition which)
{
    if (which == MARIADB)
        mariadb_put_back(mariadb, "saved");
    else if (which == POSTGRES)
        postgres_put_back(postgres, "saved");
    else
        copy(scene->state_dir, "lite.copy", "lite.db");
}

/* Brokers that remember nothing of the store. */
static void put_back_between_brokers(struct scene *scene, enum partition which)
{
    const char *topology;

    begin();
    topology = write_topology(scene, "all");
    scene_open(scene, topology);
    take_from_all(scene);
    scene_close(scene);
    save(scene, which);
    for (int i = 0; i < 3; i++) {
        scene_open(scene, topology);
        take_from_all(scene);
        scene_close(scene);
        put_back(scene, which);
    }
    scene_open(scene, topology);
    take_from_all(scene);
    scene_expect_no_repeats(scene);
}

TEST_WITH(PUT_BACK, copy_of_a_mariadb_that_is_put_back_repeats_nothing)
{
    put_back_between_brokers(scene, MARIADB);
}

TEST_WITH(PUT_BACK, copy_of_a_postgres_that_is_put_back_repeats_nothing)
{
    put_back_between_brokers(scene, POSTGRES);
}

TEST_WITH(PUT_BACK, copy_of_a_file_that_is_put_back_repeats_nothing)
{
    put_back_between_brokers(scene, SQLITE);
}

/* --- direct counters --- */

/* A pool of that store alone, which no other one's level leads on. */
static void write_alone(const struct scene *scene, enum partition which)
{
    char backend[256];
    char text[SCENE_TEXT_SIZE];

    if (which == MARIADB)
        (void)text_format(backend, sizeof backend,
                          "engine = \"mysql-row\"; host = \"127.0.0.1\";"
                          " port = %d; user = \"seqbroker\";"
                          " database = \"seqbroker\";",
                          server_port(mariadb));
    else if (which == POSTGRES)
        (void)text_format(backend, sizeof backend,
                          "engine = \"postgres\"; conninfo = \"host=127.0.0.1"
                          " port=%d user=postgres dbname=postgres\";",
                          server_port(postgres));
    else
        (void)text_format(backend, sizeof backend,
                          "engine = \"sqlite\"; path = \"lite.db\";");
    (void)text_format(text, sizeof text,
                      "backends = ({ name = \"one\"; %s });"
                      "pools = ({ name = \"main\"; partitions = [\"one\"];"
                      "  timeout = \"30s\"; authority = \"none\"; });"
                      "sequences = ({ key = \"order\"; max_unused = 2000;"
                      "  deadline = \"1m\"; });",
                      backend);
    (void)scene_write(scene, "alone.conf", text);
}

static void take_by_one_broker(struct scene *scene)
{
    scene_use(scene, scene_path(scene, "alone.conf"), 8000);
}

/* The store says of itself what it said then, and a broker that is started
 * finds out by its own notes. */
static void revert_between_brokers(struct scene *scene, enum partition which)
{
    begin();
    write_alone(scene, which);
    for (int i = 0; i < 3; i++) {
        take_by_one_broker(scene);
        if (which == MARIADB)
            mariadb_copy_snapshot(mariadb, "saved");
        else
            save(scene, which);
        take_by_one_broker(scene);
        if (which == MARIADB)
            mariadb_revert(mariadb, "saved");
        else
            put_back(scene, which);
    }
    take_by_one_broker(scene);
    scene_expect_no_repeats(scene);
}

TEST_WITH(PUT_BACK, snapshot_of_a_direct_mariadb_repeats_nothing)
{
    revert_between_brokers(scene, MARIADB);
}

TEST_WITH(PUT_BACK, copy_of_a_direct_postgres_repeats_nothing)
{
    revert_between_brokers(scene, POSTGRES);
}

TEST_WITH(PUT_BACK, copy_of_a_direct_file_repeats_nothing)
{
    revert_between_brokers(scene, SQLITE);
}

/* --- under a broker --- */

/* One that goes on over it. */
TEST_WITH(PUT_BACK, servers_are_put_back_under_a_broker)
{
    begin();
    scene_open(scene, write_topology(scene, "all"));
    take_from_all(scene);
    save(scene, MARIADB);
    save(scene, POSTGRES);
    for (int i = 0; i < 3; i++) {
        take_from_all(scene);
        put_back(scene, MARIADB);
        scene_take(scene, "order", 8000);
        put_back(scene, POSTGRES);
        for (int32_t j = 0; j < PARTITIONS; j++)
            scene_take_until(scene, "order", j, SEQB_PARTITION_UP);
        scene_take(scene, "order", 8000);
    }
    scene_expect_no_repeats(scene);
}

TEST_WITH(PUT_BACK, status_and_probe_tell_the_class_of_each_partition)
{
    const struct probe_log *told;

    begin();
    scene_open(scene, write_topology(scene, "all"));
    take_from_all(scene);
    for (int32_t i = 0; i < PARTITIONS; i++)
        assert_int_equal(scene_partition(scene, i).is_windowed, i != AUTHORITY);
    scene_close(scene);
    told = probe_log_of(scene_path(scene, "put-back-1.conf"), NULL);
    probe_log_expect(told, SEQB_OK);
    for (int32_t i = 0; i < PARTITIONS; i++)
        assert_int_equal(told->found[i].is_windowed, i != AUTHORITY);
}

TEST_WITH(PUT_BACK, pool_in_use_keeps_its_windows)
{
    begin();
    scene_open(scene, write_topology(scene, "needed"));
    take_from_all(scene);
    scene_close(scene);
    scene_expect_refused(scene, write_topology(scene, "all"), SEQB_LAYOUT,
                         "windows was needed and is all");
    scene_open(scene, write_topology(scene, "needed"));
    take_from_all(scene);
    scene_expect_no_repeats(scene);
}

/* What a broker still holds, until it is told that its pool was retired. */
static void take_what_is_left(struct scene *scene)
{
    struct seqb_sequence *sequence = scene_sequence(scene, "order");
    struct seqb_error err;
    int64_t number;

    while (seqb_next(sequence, &number, &err) == SEQB_OK)
        numbers_add(&scene->numbers, &number, 1);
}

/* Under the broker of the layout before, which then ends. */
static void migrate_under_broker(struct scene *scene, const char *was,
                                 const char *is)
{
    const struct seqb_migrate_options options = {0};
    struct seqb_error err;

    assert_done(seqb_migrate(was, is, &options, &err), err);
    take_what_is_left(scene);
    scene_close(scene);
}

TEST_WITH(PUT_BACK, pool_moves_to_windows_and_back)
{
    static const char *const windows[] = {"needed", "all", "needed"};
    char was[256] = "";
    char is[256];

    begin();
    for (int i = 0; i < 3; i++) {
        const int64_t highest = numbers_highest(&scene->numbers);
        size_t before;

        (void)text_copy(is, sizeof is,
                        write_generation(scene, i + 1, windows[i]));
        if (i > 0)
            migrate_under_broker(scene, was, is);
        before = numbers_count(&scene->numbers);
        scene_open(scene, is);
        take_from_all(scene);
        for (; before < numbers_count(&scene->numbers); before++)
            assert_true(scene->numbers.values[before] > highest);
        (void)text_copy(was, sizeof was, is);
    }
    scene_expect_no_repeats(scene);
}

TEST_BEFORE_ALL(without_sigpipe);
