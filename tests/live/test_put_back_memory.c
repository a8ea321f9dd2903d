/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine of a store is resumed from a snapshot with its memory, while no
 * broker runs: whatever the store says of itself, its incarnation too, is what
 * it was. What a server keeps in memory alone is put back as its memory; of the
 * others the files are, and the little that they keep in memory beside them.
 * Brokers that are started since know it by what they noted.
 */
#include <string.h>
#include <unistd.h>

#include "platform/text.h"
#include "scene.h"
#include "support/server_mariadb.h"
#include "support/server_memcached.h"
#include "support/server_memory.h"
#include "support/server_postgres.h"
#include "support/server_postgres_copies.h"
#include "support/server_redis.h"
#include "support/test.h"

#define MANY  8000
#define TIMES 3

static struct server *redis;
static struct server *memcached;
static struct server *mariadb;
static struct server *postgres;

/* --- what is put back --- */

/* A store and what is saved of it. */
struct machine {
    const struct scene *scene;
    struct server *server;
    struct server_memory *memory;
    char nonce[MARIADB_ASK_SIZE];
    char started[POSTGRES_ASK_SIZE]; /* in us since 2000 */
};

struct way {
    void (*start)(struct machine *machine);
    void (*backend)(const struct machine *machine, char *out, size_t size);
    void (*save)(struct machine *machine);
    void (*resume)(struct machine *machine);
};

static void memory_save(struct machine *machine)
{
    server_memory_free(machine->memory);
    machine->memory = server_memory_save(machine->server);
}

static void memory_resume(struct machine *machine)
{
    server_memory_put_back(machine->server, machine->memory);
}

/* With no connection but the test's own. */
static void redis_await_rest(void)
{
    bool rests = false;

    while (!rests) {
        redisReply *reply = server_ask(redis, "INFO clients");

        rests = strstr(reply->str, "connected_clients:1\r") != NULL;
        freeReplyObject(reply);
    }
}

static void redis_save(struct machine *machine)
{
    redis_await_rest();
    memory_save(machine);
}

static void redis_resume(struct machine *machine)
{
    redis_await_rest();
    memory_resume(machine);
}

static void redis_begin(struct machine *machine)
{
    if (redis == NULL)
        redis = server_redis(NULL);
    redis_execute(redis, "FLUSHALL");
    machine->server = redis;
}

static void redis_backend(const struct machine *machine, char *out, size_t size)
{
    (void)text_format(out, size, "engine = \"redis\"; port = %d;",
                      server_port(machine->server));
}

static const struct way of_redis = {redis_begin, redis_backend, redis_save,
                                    redis_resume};

/* Of a window one grant is no more than the share of one connection, which the
 * default makes a single value of a small one. */
static void memcached_begin(struct machine *machine)
{
    static const char *const args[] = {"--conn-limit=64", NULL};
    char ignored[64];

    if (memcached == NULL)
        memcached = server_memcached(args);
    memcached_execute(memcached, "flush_all", ignored, sizeof ignored);
    machine->server = memcached;
}

static void memcached_backend(const struct machine *machine, char *out,
                              size_t size)
{
    (void)text_format(out, size, "engine = \"memcached\"; port = %d;",
                      server_port(machine->server));
}

static const struct way of_memcached = {memcached_begin, memcached_backend,
                                        memory_save, memory_resume};

static void mariadb_begin(struct machine *machine)
{
    if (mariadb == NULL) {
        mariadb_require();
        mariadb = server_mariadb(NULL);
        mariadb_execute(mariadb, "CREATE USER seqbroker@'%%'; "
                                 "GRANT ALL ON *.* TO seqbroker@'%%'");
    }
    mariadb_execute(mariadb, "CREATE OR REPLACE DATABASE seqbroker");
    machine->server = mariadb;
}

static void mariadb_backend(const struct machine *machine, char *out,
                            size_t size)
{
    (void)text_format(out, size,
                      "engine = \"mysql-row\"; host = \"127.0.0.1\"; port = "
                      "%d; user = \"seqbroker\"; database = \"seqbroker\";",
                      server_port(machine->server));
}

static void mariadb_save(struct machine *machine)
{
    mariadb_ask(mariadb, machine->nonce,
                "SELECT nonce FROM seqbroker.seqb_incarnation WHERE id = 1");
    assert_string_not_equal(machine->nonce, "");
    mariadb_copy_snapshot(mariadb, "saved");
}

/* The nonce is in a table of memory. */
static void mariadb_resume(struct machine *machine)
{
    mariadb_revert(mariadb, "saved");
    mariadb_execute(mariadb,
                    "REPLACE INTO seqbroker.seqb_incarnation (id, nonce) "
                    "VALUES (1, '%s')",
                    machine->nonce);
}

static const struct way of_mariadb = {mariadb_begin, mariadb_backend,
                                      mariadb_save, mariadb_resume};

static void postgres_begin(struct machine *machine)
{
    if (postgres == NULL)
        postgres = server_postgres(NULL);
    postgres_execute(postgres, "postgres",
                     "DROP TABLE IF EXISTS seqb_counters, seqb_claims");
    machine->server = postgres;
}

static void postgres_backend(const struct machine *machine, char *out,
                             size_t size)
{
    (void)text_format(out, size,
                      "engine = \"postgres\"; conninfo = \"host=127.0.0.1 "
                      "port=%d user=postgres dbname=postgres\";",
                      server_port(machine->server));
}

static void postgres_started(char out[static POSTGRES_ASK_SIZE])
{
    postgres_ask(postgres, "postgres", out,
                 "SELECT (extract(epoch FROM pg_postmaster_start_time() - "
                 "'2000-01-01 00:00:00+00') * 1000000)::bigint");
}

static void postgres_save(struct machine *machine)
{
    postgres_started(machine->started);
    postgres_copy_snapshot(postgres, "saved");
}

/* Each session inherits from the first process when the server was started. */
static void postgres_resume_machine(struct machine *machine)
{
    char started[POSTGRES_ASK_SIZE];

    postgres_put_back(postgres, "saved");
    postgres_started(started);
    server_memory_replace(postgres, atoll(started), atoll(machine->started));
    postgres_started(started);
    assert_string_equal(started, machine->started);
}

static const struct way of_postgres = {postgres_begin, postgres_backend,
                                       postgres_save, postgres_resume_machine};

/* --- three brokers --- */

/* One store, which counts in windows of a file's. */
static const char *write_leased(const struct scene *scene,
                                const struct way *way,
                                const struct machine *machine, int bits)
{
    char backend[256];
    char text[SCENE_TEXT_SIZE];

    way->backend(machine, backend, sizeof backend);
    (void)text_format(
        text, sizeof text,
        "backends = ({ name = \"one\"; %s },"
        "  { name = \"authority\"; engine = \"sqlite\"; path = \"a.db\"; });"
        "pools = ({ name = \"main\"; partitions = [\"one\"]; timeout = \"5s\";"
        "  authority = \"authority\"; windows = \"all\"; window_bits = %d; });"
        "sequences = ({ key = \"order\"; max_unused = 2000; memory_bits = 0;"
        "  deadline = \"1m\"; });",
        backend, bits);
    return scene_write(scene, "memory.conf", text);
}

static void take_by_one_broker(struct scene *scene, const char *topology)
{
    scene_use(scene, topology, MANY);
}

/* What brokers of another machine do not know. */
static void forget_notes(const struct scene *scene)
{
    (void)unlink(scene_state_path(scene, "granted-0"));
}

static void resume_between_brokers(struct scene *scene, const struct way *way,
                                   int bits, bool has_notes)
{
    struct machine machine = {.scene = scene};
    char topology[256];

    way->start(&machine);
    (void)text_copy(topology, sizeof topology,
                    write_leased(scene, way, &machine, bits));
    for (int i = 0; i < TIMES; i++) {
        take_by_one_broker(scene, topology);
        way->save(&machine);
        take_by_one_broker(scene, topology);
        way->resume(&machine);
        if (!has_notes)
            forget_notes(scene);
    }
    take_by_one_broker(scene, topology);
    server_memory_free(machine.memory);
}

/* Windows that hold all that is taken, and some that are used up. */
#define MACHINE(engine)                                                        \
    TEST_WITH(SCENE, resumed_##engine##_repeats_nothing)                       \
    {                                                                          \
        resume_between_brokers(scene, &of_##engine, 20, true);                 \
        scene_expect_no_repeats(scene);                                        \
    }                                                                          \
    TEST_WITH(SCENE, resumed_##engine##_of_small_windows_repeats_nothing)      \
    {                                                                          \
        resume_between_brokers(scene, &of_##engine, 10, true);                 \
        scene_expect_no_repeats(scene);                                        \
    }                                                                          \
    TEST_WITH(SCENE, resumed_##engine##_repeats_where_nothing_was_noted)       \
    {                                                                          \
        resume_between_brokers(scene, &of_##engine, 20, false);                \
        print_message(#engine ": %zu of %zu\n",                                \
                      numbers_repeats(&scene->numbers),                        \
                      numbers_count(&scene->numbers));                         \
        assert_true(numbers_repeats(&scene->numbers) > 0);                     \
    }

MACHINE(redis)
MACHINE(memcached)
MACHINE(mariadb)
MACHINE(postgres)

/* --- neighbours --- */

#define NEIGHBOURS 4

static const struct way *const neighbours[NEIGHBOURS] = {
    &of_mariadb, &of_postgres, &of_redis, &of_memcached};

static void write_neighbours(struct scene *scene, struct machine *machines)
{
    char text[SCENE_TEXT_SIZE] = "backends = (";

    for (int i = 0; i < NEIGHBOURS; i++) {
        char backend[256];

        neighbours[i]->backend(&machines[i], backend, sizeof backend);
        (void)text_append(text, sizeof text, "%s{ name = \"p%d\"; %s }",
                          i > 0 ? "," : "", i, backend);
    }
    assert_true(
        text_append(text, sizeof text,
                    ");"
                    "pools = ({ name = \"main\"; timeout = \"5s\";"
                    "  partitions = [\"p0\", \"p1\", \"p2\", \"p3\"];"
                    "  authority = \"neighbours\"; window_bits = 20; });"
                    "sequences = ({ key = \"order\"; max_unused = 2000;"
                    "  memory_bits = 0; deadline = \"1m\"; });"));
    (void)scene_write(scene, "memory.conf", text);
}

static void take_of_neighbours(struct scene *scene)
{
    scene_open(scene, scene_path(scene, "memory.conf"));
    scene_take(scene, "order", MANY);
    for (int32_t i = 0; i < NEIGHBOURS; i++)
        scene_take_until(scene, "order", i, SEQB_PARTITION_UP);
    scene_close(scene);
}

/* One at a time: all are level when the next one is saved. */
static void resume_neighbours(struct scene *scene, bool has_notes)
{
    struct machine machines[NEIGHBOURS];

    for (int i = 0; i < NEIGHBOURS; i++) {
        machines[i] = (struct machine){.scene = scene};
        neighbours[i]->start(&machines[i]);
    }
    write_neighbours(scene, machines);
    for (int i = 0; i < 2 * NEIGHBOURS; i++) {
        struct machine *machine = &machines[i % NEIGHBOURS];

        take_of_neighbours(scene);
        neighbours[i % NEIGHBOURS]->save(machine);
        take_of_neighbours(scene);
        neighbours[i % NEIGHBOURS]->resume(machine);
        if (!has_notes)
            forget_notes(scene);
    }
    take_of_neighbours(scene);
    for (int i = 0; i < NEIGHBOURS; i++)
        server_memory_free(machines[i].memory);
}

TEST_WITH(SCENE, resumed_neighbours_repeat_nothing)
{
    resume_neighbours(scene, true);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, resumed_neighbours_repeat_where_nothing_was_noted)
{
    resume_neighbours(scene, false);
    print_message("neighbours: %zu of %zu\n", numbers_repeats(&scene->numbers),
                  numbers_count(&scene->numbers));
    assert_true(numbers_repeats(&scene->numbers) > 0);
}

TEST_BEFORE_ALL(without_sigpipe);
