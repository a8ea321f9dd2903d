/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real stores that serve one key and refuse another for ever, since a right is
 * missing or somebody changed what is in them: a broker goes on with what it is
 * given, says what it is refused and why, and goes on by itself when an
 * operator has put it right.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "probe_log.h"
#include "scene.h"
#include "support/events.h"
#include "support/server_mariadb.h"
#include "support/server_postgres.h"
#include "support/server_redis.h"
#include "support/test.h"

#define TAKEN 500

static struct server *database; /* MariaDB's; each ends with the program */
static struct server *postgres;
static struct server *redis;

/* Partition 0 is a file, partition 1 the store under test. */
#define TOPOLOGY(store, pool)                                                  \
    "backends = ("                                                             \
    "  { name = \"lite\"; engine = \"sqlite\"; path = \"lite.db\"; }, " store  \
    ");"                                                                       \
    "pools = ( { name = \"main\"; timeout = \"20s\"; " pool " } );"            \
    "auto_sequences = { pattern = \"*\"; limit = 1000; pool = \"main\";"       \
    "                   memory_bits = 10; max_unused = 1024;"                  \
    "                   deadline = \"1m\"; };"

#define MYSQL(name, engine)                                                    \
    "{ name = \"" name "\"; engine = \"" engine "\"; host = \"127.0.0.1\";"    \
    "  port = 3306; database = \"seq\"; user = \"seq\"; }"

#define POSTGRES(name)                                                         \
    "{ name = \"" name "\"; engine = \"postgres\"; host = \"127.0.0.1\";"      \
    "  port = 5432; database = \"postgres\"; user = \"seq\"; tls = \"off\"; }"

#define REDIS(name)                                                            \
    "{ name = \"" name "\"; engine = \"redis\"; host = \"127.0.0.1\";"         \
    "  port = 6379; user = \"seq\"; password_file = \"redis.pass\"; }"

#define BOTH(name) "partitions = [ \"lite\", \"" name "\" ];"

/* --- setting up --- */

static const char *write_topology(const struct scene *scene, const char *text,
                                  const char *port, const struct server *server)
{
    char written[SCENE_TEXT_SIZE];

    assert_true(text_copy(written, sizeof written, text));
    if (port != NULL)
        scene_replace_port(written, port, server_port(server));
    return scene_write(scene, "rights.conf", written);
}

/* The tables are made by an administrator, with rights as sql/mysql.sql lists
 * them: no CREATE. */
static const char *prepare_mysql(const struct scene *scene, const char *text)
{
    mariadb_require();
    if (database == NULL)
        database = server_mariadb(NULL);
    mariadb_execute(database, "CREATE OR REPLACE DATABASE seq;"
                              "CREATE OR REPLACE USER seq@'%%'");
    mariadb_make_tables(database, "seq");
    mariadb_execute(
        database, "GRANT SELECT, INSERT, UPDATE, DELETE ON seq.* TO seq@'%%'");
    return write_topology(scene, text, "port = 3306", database);
}

/* --- what is expected --- */

static const char *health_of(const struct scene *scene, char *reason,
                             size_t size)
{
    enum seqb_health health = SEQB_HEALTH_UNKNOWN;

    assert_ok(seqb_get_health(scene->broker, &health, reason, size, NULL));
    return seqb_health_name(health);
}

/* Between two takes: while a busy machine lets a server wait, the file must not
 * get so far ahead that the server's counter has to be raised. A raise is a
 * write that the missing right forbids, too. */
static void rest(void)
{
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static void await_health(struct scene *scene, const char *expected,
                         const char *key)
{
    const int64_t until_ms = clock_now_ms() + SCENE_PATIENCE_MS;
    char reason[512];

    while (strcmp(health_of(scene, reason, sizeof reason), expected) != 0) {
        if (clock_now_ms() > until_ms)
            fail_msg("health does not get %s: %s", expected, reason);
        if (key != NULL)
            scene_take(scene, key, 16);
        rest();
    }
}

/* Only those of "bill" are compared. */
static void take(struct scene *scene, const char *key)
{
    struct numbers order = scene->numbers;

    if (strcmp(key, "bill") != 0)
        numbers_init(&scene->numbers);
    scene_take(scene, key, 16);
    if (strcmp(key, "bill") == 0)
        return;
    numbers_fini(&scene->numbers);
    scene->numbers = order;
}

/* The partition is asked for the key, and gives. */
static void await_granted(struct scene *scene, const char *key)
{
    const int64_t granted = scene_partition(scene, 1).granted;
    const int64_t until_ms = clock_now_ms() + SCENE_PATIENCE_MS;

    while (scene_partition(scene, 1).granted == granted) {
        if (clock_now_ms() > until_ms)
            fail_msg("partition 1 grants no %s: %s", key,
                     scene_partition(scene, 1).reason);
        take(scene, key);
        rest();
    }
}

/* "bill" is refused by partition 1, for a reason with these words, and "order"
 * is not. */
static void expect_bill_refused(struct scene *scene, const char *words)
{
    char reason[512];

    await_health(scene, "degraded", "bill");
    (void)health_of(scene, reason, sizeof reason);
    scene_expect_words(reason, "pool main: partition 1 (");
    scene_expect_words(reason, ") refuses counter bill: ");
    scene_expect_words(reason, words);
    scene_expect_words(scene_partition(scene, 1).reason,
                       "refuses counter bill: ");
    assert_true(scene_partition(scene, 1).errors > 0);
    await_granted(scene, "order");
    scene_take(scene, "bill", TAKEN);
    assert_int_equal(scene_partition(scene, 1).state, SEQB_PARTITION_UP);
    events_expect("event=counter_refused pool=main partition=1", "key=bill", 1);
    events_expect("event=quarantined", "", 0);
}

/* Nobody has to start anything, nor to ask for a number. */
static void expect_bill_recovered(struct scene *scene)
{
    await_health(scene, "serving", NULL);
    assert_string_equal(scene_partition(scene, 1).reason, "");
    events_expect("event=counter_recovered pool=main partition=1", "key=bill",
                  1);
    await_granted(scene, "bill");
    events_expect("event=counter_refused", "", 1);
    scene_expect_no_repeats(scene);
}

/* --- MySQL --- */

static int end(void **state)
{
    events_stop();
    return scene_teardown(state);
}

#define RIGHTS FIXTURE(struct scene *scene, scene_setup, end)

/* Each counter of mysql-autoinc needs a table. */
TEST_WITH(RIGHTS, a_table_that_may_not_be_made_is_told)
{
    const char *topology = prepare_mysql(
        scene, TOPOLOGY(MYSQL("mysql-a", "mysql-autoinc"), BOTH("mysql-a")));

    mariadb_execute(
        database, "CREATE TABLE seq.order_code_1 (id BIGINT NOT NULL "
                  "AUTO_INCREMENT PRIMARY KEY, generate_time DATETIME NOT NULL "
                  "DEFAULT CURRENT_TIMESTAMP) ENGINE = InnoDB");
    events_start();
    scene_open(scene, topology);
    await_granted(scene, "order");
    expect_bill_refused(scene, "CREATE command denied");
    mariadb_execute(database, "GRANT CREATE ON seq.* TO seq@'%%'");
    expect_bill_recovered(scene);
}

/* Two listed keys, of which "bill" has no table yet. */
#define LISTED                                                                 \
    "sequences = ( { key = \"order\"; deadline = \"1m\"; },"                   \
    "              { key = \"bill\"; deadline = \"1m\"; } );"

static const char *prepare_listed(const struct scene *scene, const char *engine)
{
    char text[SCENE_TEXT_SIZE];
    char *automatic = NULL;

    (void)text_copy(
        text, sizeof text,
        strcmp(engine, "mysql-row") == 0
            ? TOPOLOGY(MYSQL("mysql-a", "mysql-row"), BOTH("mysql-a"))
            : TOPOLOGY(MYSQL("mysql-a", "mysql-autoinc"), BOTH("mysql-a")));
    automatic = strstr(text, "auto_sequences");
    assert_non_null(automatic);
    *automatic = '\0';
    assert_true(text_append(text, sizeof text, LISTED));
    return prepare_mysql(scene, text);
}

static void expect_probed(const struct scene *scene, enum seqb_status expected,
                          const char *words)
{
    const struct probe_log *told =
        probe_log_of(scene_path(scene, "rights.conf"), NULL);

    probe_log_expect_found(told, 1, expected, words);
}

/* A probe asks for what each key needs, and makes nothing. */
TEST_WITH(RIGHTS, a_probe_tells_of_a_table_that_may_not_be_made)
{
    const char *topology = prepare_listed(scene, "mysql-autoinc");

    mariadb_execute(
        database, "CREATE TABLE seq.order_code_1 (id BIGINT NOT NULL "
                  "AUTO_INCREMENT PRIMARY KEY, generate_time DATETIME NOT NULL "
                  "DEFAULT CURRENT_TIMESTAMP) ENGINE = InnoDB");
    scene_open(scene, topology);
    scene_close(scene);
    expect_probed(scene, SEQB_REFUSED, "counter main/1/bill has no table: ");
    expect_probed(scene, SEQB_REFUSED, "CREATE command denied");
    mariadb_execute(database, "GRANT CREATE ON seq.* TO seq@'%%'");
    expect_probed(scene, SEQB_OK, "");
    mariadb_execute(database, "REVOKE CREATE ON seq.* FROM seq@'%%'");
    expect_probed(scene, SEQB_REFUSED, "counter main/1/bill has no table: ");
}

TEST_WITH(RIGHTS, a_probe_tells_of_automatic_keys_that_may_not_be_made)
{
    scene_open(scene,
               prepare_mysql(scene, TOPOLOGY(MYSQL("mysql-a", "mysql-autoinc"),
                                             BOTH("mysql-a"))));
    scene_close(scene);
    expect_probed(scene, SEQB_REFUSED, "CREATE command denied");
    mariadb_execute(database, "GRANT CREATE ON seq.* TO seq@'%%'");
    expect_probed(scene, SEQB_OK, "");
}

/* The probe asks whether the user may insert rows. */
static void expect_insert_is_probed(struct scene *scene, const char *topology)
{
    scene_open(scene, topology);
    scene_close(scene);
    expect_probed(scene, SEQB_OK, "");
    mariadb_execute(database, "CREATE OR REPLACE USER seq@'%%';"
                              "GRANT SELECT, UPDATE ON seq.* TO seq@'%%'");
    expect_probed(scene, SEQB_REFUSED, "INSERT command denied");
    mariadb_execute(database, "GRANT INSERT ON seq.* TO seq@'%%'");
    expect_probed(scene, SEQB_OK, "");
}

TEST_WITH(RIGHTS, a_probe_tells_of_rows_that_may_not_be_made)
{
    expect_insert_is_probed(scene, prepare_listed(scene, "mysql-row"));
}

/* No listed key is counted in an authority. */
TEST_WITH(RIGHTS, a_probe_tells_of_windows_that_may_not_be_leased)
{
    expect_insert_is_probed(
        scene, prepare_mysql(scene, TOPOLOGY(MYSQL("mysql-a", "mysql-row"),
                                             "partitions = [ \"lite\" ];"
                                             "windows = \"all\";"
                                             "authority = \"mysql-a\";")));
}

/* A key that is known asks for no more than UPDATE; a new one has to be put
 * into that table. */
static void expect_insert_is_missed(struct scene *scene, const char *table)
{
    const char *topology = prepare_mysql(
        scene, TOPOLOGY(MYSQL("mysql-a", "mysql-row"), BOTH("mysql-a")));

    mariadb_execute(
        database,
        "CREATE OR REPLACE USER seq@'%%';"
        "GRANT SELECT, INSERT, UPDATE, DELETE ON seq.seqb_counters "
        "TO seq@'%%';"
        "GRANT SELECT, INSERT, UPDATE ON seq.seqb_claims TO seq@'%%'");
    events_start();
    scene_open(scene, topology);
    await_granted(scene, "order");
    mariadb_execute(database, "REVOKE INSERT ON seq.%s FROM seq@'%%'", table);
    expect_bill_refused(scene, "INSERT command denied");
    mariadb_execute(database, "GRANT INSERT ON seq.%s TO seq@'%%'", table);
    expect_bill_recovered(scene);
}

TEST_WITH(RIGHTS, a_row_that_may_not_be_made_is_told)
{
    expect_insert_is_missed(scene, "seqb_counters");
}

TEST_WITH(RIGHTS, a_claim_that_may_not_be_made_is_told)
{
    expect_insert_is_missed(scene, "seqb_claims");
}

/* --- others --- */

/* With a user that may make tables. */
static const char *prepare_postgres(const struct scene *scene)
{
    postgres_require();
    if (postgres == NULL) {
        postgres = server_postgres(NULL);
        postgres_execute(postgres, "postgres", "CREATE USER seq");
    }
    postgres_execute(postgres, "postgres",
                     "DROP TABLE IF EXISTS seqb_counters, seqb_claims;"
                     "GRANT CREATE ON SCHEMA public TO seq");
    return write_topology(scene, TOPOLOGY(POSTGRES("pg-a"), BOTH("pg-a")),
                          "port = 5432", postgres);
}

TEST_WITH(RIGHTS, a_probe_tells_of_rows_that_may_not_be_changed_in_postgres)
{
    scene_open(scene, prepare_postgres(scene));
    scene_close(scene);
    expect_probed(scene, SEQB_OK, "");
    postgres_execute(postgres, "postgres",
                     "ALTER TABLE seqb_claims OWNER TO CURRENT_USER;"
                     "REVOKE ALL ON seqb_claims FROM seq;"
                     "GRANT SELECT, INSERT ON seqb_claims TO seq");
    expect_probed(scene, SEQB_REFUSED,
                  "permission denied for table seqb_claims");
    postgres_execute(postgres, "postgres",
                     "GRANT UPDATE ON seqb_claims TO seq");
    expect_probed(scene, SEQB_OK, "");
}

TEST_WITH(RIGHTS, a_row_that_may_not_be_made_in_postgres_is_told)
{
    const char *topology = prepare_postgres(scene);

    events_start();
    scene_open(scene, topology);
    await_granted(scene, "order");
    postgres_execute(postgres, "postgres",
                     "ALTER TABLE seqb_counters OWNER TO CURRENT_USER;"
                     "REVOKE ALL ON seqb_counters FROM seq;"
                     "GRANT SELECT, UPDATE ON seqb_counters TO seq");
    expect_bill_refused(scene, "permission denied for table seqb_counters");
    postgres_execute(postgres, "postgres",
                     "GRANT INSERT ON seqb_counters TO seq");
    expect_bill_recovered(scene);
}

static void set_keys(const char *first, const char *second)
{
    redis_execute(redis,
                  "ACL SETUSER seq on >secret resetkeys %s %s allcommands",
                  first, second);
}

/* A user of Redis has patterns of keys. */
TEST_WITH(RIGHTS, a_key_that_may_not_be_touched_is_told)
{
    const char *topology;

    redis = server_redis(NULL);
    set_keys("~*order*", "~seqbroker:claim:*");
    (void)scene_write(scene, "redis.pass", "secret");
    topology = write_topology(
        scene,
        TOPOLOGY(REDIS("redis-a"), BOTH("redis-a") "authority = \"lite\";"),
        "port = 6379", redis);
    events_start();
    scene_open(scene, topology);
    await_granted(scene, "order");
    expect_bill_refused(scene, "NOPERM");
    set_keys("~*", "~*");
    expect_bill_recovered(scene);
}

/* The server takes both passwords, then the file has the new one, then the
 * server takes that alone: no number is missed, and nothing is started again.
 */
TEST_WITH(RIGHTS, a_new_password_of_the_file_is_used_at_the_next_connect)
{
    int64_t errors;

    redis = server_redis(NULL);
    set_keys("~*", "~*");
    (void)scene_write(scene, "redis.pass", "secret");
    scene_open(scene,
               write_topology(scene,
                              TOPOLOGY(REDIS("redis-a"),
                                       BOTH("redis-a") "authority = \"lite\";"),
                              "port = 6379", redis));
    await_granted(scene, "order");
    errors = scene_partition(scene, 1).errors;
    redis_execute(redis, "ACL SETUSER seq >fresh");
    (void)scene_write(scene, "redis.pass", "fresh");
    redis_execute(redis, "ACL SETUSER seq <secret");
    redis_execute(redis, "CLIENT KILL USER seq");
    while (scene_partition(scene, 1).errors == errors)
        scene_take(scene, "order", TAKEN);
    scene_await(scene, 1, SEQB_PARTITION_UP);
    scene_expect_no_repeats(scene);
}
