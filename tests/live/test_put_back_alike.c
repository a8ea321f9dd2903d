/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Older states of a server under which it names itself as before, though it was
 * not put back as a copy of its files: a timeline that came twice, and a table
 * whose date came twice.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "platform/text.h"
#include "scene.h"
#include "support/server_mariadb.h"
#include "support/server_postgres.h"
#include "support/test.h"

#define MANY ((size_t)8000)

static void write_topology(const struct scene *scene, const char *backend,
                           const char *more)
{
    char text[SCENE_TEXT_SIZE];

    (void)text_format(text, sizeof text,
                      "backends = ({ name = \"one\"; %s });"
                      "pools = ({ name = \"main\"; partitions = [\"one\"];"
                      "  timeout = \"5s\"; authority = \"none\"; });"
                      "sequences = ({ key = \"order\"; max_unused = 2000;"
                      "  deadline = \"1m\"; %s });",
                      backend, more);
    (void)scene_write(scene, "alike.conf", text);
}

static void take(struct scene *scene, size_t count)
{
    scene_use(scene, scene_path(scene, "alike.conf"), count);
}

/* What brokers of another machine do not know. */
static void forget(const struct scene *scene)
{
    (void)unlink(scene_state_path(scene, "granted-0"));
    (void)unlink(scene_state_path(scene, "raised"));
}

static void tell_repeats(struct scene *scene, const char *what)
{
    print_message("%s: %zu of %zu\n", what, numbers_repeats(&scene->numbers),
                  numbers_count(&scene->numbers));
}

/* --- a timeline --- */

struct twins {
    const char *more; /* settings of the sequence */
    bool has_notes;
    struct server *primary;
    struct server *first;
    struct server *second;
};

static void take_from(struct scene *scene, const struct twins *twins,
                      struct server *server, size_t count)
{
    char backend[256];

    (void)text_format(backend, sizeof backend,
                      "engine = \"postgres\"; conninfo = \"host=127.0.0.1 "
                      "port=%d user=postgres dbname=postgres\";",
                      (int)server_port(server));
    write_topology(scene, backend, twins->more);
    take(scene, count);
    if (!twins->has_notes)
        forget(scene);
}

/* Two standbys know the same of their primary; each is promoted, and so begins
 * the same timeline; then the first one is back. */
static void promote_twice(struct scene *scene, struct twins *twins)
{
    postgres_require();
    twins->primary = server_postgres(NULL);
    take_from(scene, twins, twins->primary, MANY);
    twins->first = server_postgres_standby(twins->primary);
    twins->second = server_postgres_standby(twins->primary);
    postgres_catch_up(twins->primary, twins->first);
    postgres_catch_up(twins->primary, twins->second);
    postgres_kill(twins->primary);

    postgres_promote(twins->first);
    take_from(scene, twins, twins->first, MANY);
    postgres_promote(twins->second);
    take_from(scene, twins, twins->second, 3 * MANY);
    for (int i = 0; i < 2; i++) {
        take_from(scene, twins, twins->first, 2 * MANY);
        take_from(scene, twins, twins->second, 2 * MANY);
    }
    postgres_kill(twins->first);
    postgres_kill(twins->second);
    server_free(twins->first);
    server_free(twins->second);
    server_free(twins->primary);
}

TEST_WITH(SCENE, postgres_promoted_twice_repeats_nothing)
{
    struct twins twins = {.more = "", .has_notes = true};

    promote_twice(scene, &twins);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, postgres_promoted_twice_repeats_nothing_where_chance_has_room)
{
    struct twins twins = {.more = "", .has_notes = false};

    promote_twice(scene, &twins);
    tell_repeats(scene, "postgres, long numbers");
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, short_numbers_of_a_postgres_promoted_twice_repeat_unless_noted)
{
    struct twins twins = {.more = "template = \"@{seq, width=8}\";",
                          .has_notes = false};

    promote_twice(scene, &twins);
    tell_repeats(scene, "postgres, short numbers");
    assert_true(numbers_repeats(&scene->numbers) > 0);
}

TEST_WITH(SCENE, short_numbers_of_a_postgres_promoted_twice_repeat_nothing)
{
    struct twins twins = {.more = "template = \"@{seq, width=8}\";",
                          .has_notes = true};

    promote_twice(scene, &twins);
    scene_expect_no_repeats(scene);
}

/* --- a date --- */

static struct server *mariadb;

static void date_of(const char *table, char out[static MARIADB_ASK_SIZE])
{
    mariadb_ask(mariadb, out,
                "SELECT UNIX_TIMESTAMP(CREATE_TIME) FROM "
                "information_schema.TABLES WHERE TABLE_SCHEMA = 'seqbroker' "
                "AND TABLE_NAME = '%s'",
                table);
}

/* The clock of the server is so many seconds behind. */
static void mariadb_start(int64_t behind_s)
{
    char text[32];

    (void)text_format(text, sizeof text, "%lld", (long long)behind_s);
    (void)setenv("LD_PRELOAD", SEQB_BEHIND, 1);
    (void)setenv("SEQB_BEHIND_S", text, 1);
    if (mariadb == NULL)
        mariadb = server_mariadb(NULL);
    else
        server_start(mariadb);
    (void)unsetenv("LD_PRELOAD");
}

static void await_second(int64_t second)
{
    mariadb_execute(mariadb,
                    "DO SLEEP(GREATEST(0, %lld - UNIX_TIMESTAMP(NOW(6))))",
                    (long long)second);
}

/* Puts the dump back in the very second that the tables had as their date; a
 * busy machine may need more than one go. */
static void restore_in_second(const char *second)
{
    char dates[2][MARIADB_ASK_SIZE] = {"", ""};

    while (strcmp(dates[0], second) != 0 || strcmp(dates[1], second) != 0) {
        server_shut_down(mariadb, SIGTERM);
        mariadb_start(time(NULL) - atoll(second) + 5);
        await_second(atoll(second));
        mariadb_restore_database(mariadb, "seqbroker", "dump");
        date_of("seqb_counters", dates[0]);
        date_of("seqb_claims", dates[1]);
    }
    await_second(atoll(second) + 2); /* where the engine would let it sleep, by
                                        a clock that is not behind */
}

/* Both tables have one date. */
static void make_tables(struct scene *scene, char second[MARIADB_ASK_SIZE])
{
    char other[MARIADB_ASK_SIZE] = "";

    second[0] = '\0';
    while (second[0] == '\0' || strcmp(second, other) != 0) {
        mariadb_execute(mariadb, "CREATE OR REPLACE DATABASE seqbroker");
        take(scene, 1);
        date_of("seqb_counters", second);
        date_of("seqb_claims", other);
    }
}

static void restore_at_date(struct scene *scene, bool has_notes)
{
    char second[MARIADB_ASK_SIZE];
    char backend[256];

    mariadb_require();
    if (mariadb != NULL)
        server_shut_down(mariadb, SIGTERM);
    mariadb_start(0);
    mariadb_execute(mariadb, "CREATE USER IF NOT EXISTS seqbroker@'%%'; "
                             "GRANT ALL ON *.* TO seqbroker@'%%'");
    (void)text_format(backend, sizeof backend,
                      "engine = \"mysql-row\"; host = \"127.0.0.1\"; port = "
                      "%d; user = \"seqbroker\"; database = \"seqbroker\";",
                      (int)server_port(mariadb));
    write_topology(scene, backend, "");
    make_tables(scene, second);
    forget(scene);
    numbers_fini(&scene->numbers);
    numbers_init(&scene->numbers);
    take(scene, MANY);
    mariadb_dump_database(mariadb, "seqbroker", "dump");
    take(scene, MANY);
    restore_in_second(second);
    if (!has_notes)
        forget(scene);
    take(scene, MANY);
    tell_repeats(scene, "mariadb");
}

TEST_WITH(SCENE, dump_at_the_date_of_its_tables_repeats_nothing)
{
    restore_at_date(scene, true);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, dump_at_the_date_of_its_tables_repeats_where_nothing_was_noted)
{
    restore_at_date(scene, false);
    assert_true(numbers_repeats(&scene->numbers) > 0);
}

TEST_BEFORE_ALL(without_sigpipe);
