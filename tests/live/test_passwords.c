/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store gets another password while its partition serves, as
 * docs/operations.md describes it for servers where a user has one password: of
 * the same user, and of a second user, whom a reload takes.
 */
#include <seqbroker/reload.h>

#include "platform/text.h"
#include "scene.h"
#include "support/server_mariadb.h"
#include "support/server_postgres.h"
#include "support/test.h"

#define TAKEN 500

#define SQLITE "{ name = \"lite\"; engine = \"sqlite\"; path = \"lite.db\"; }"
#define TOPOLOGY                                                               \
    "backends = (" SQLITE ", { name = \"server\"; engine = \"%s\"; "           \
    "host = \"127.0.0.1\"; port = %d; database = \"guarded\"; user = \"%s\"; " \
    "password_file = \"%s.pass\"; tls = \"off\"; });\n"                        \
    "pools = ({ name = \"main\"; partitions = [ \"lite\", \"server\" ]; "      \
    "timeout = \"20s\"; });\n"                                                 \
    "sequences = ({ key = \"order\"; deadline = \"40s\"; });\n"

/* What differs between the servers. */
struct kind {
    const char *engine;
    const char *change; /* the password of "first" becomes "fresh" */
    const char *remove; /* "first" may not log in any more */
    const char *cut;    /* ends the connections of "first" */
    void (*execute)(const char *statement);
};

static struct server *mariadb;
static struct server *postgres;

static void in_mariadb(const char *statement)
{
    mariadb_execute(mariadb, "%s", statement);
}

static void in_postgres(const char *statement)
{
    postgres_execute(postgres, "postgres", "%s", statement);
}

static const struct kind of_mariadb = {
    .engine = "mysql-row",
    .change = "ALTER USER first@'%' IDENTIFIED BY 'fresh'",
    .remove = "DROP USER first@'%'",
    .cut = "KILL USER first",
    .execute = in_mariadb,
};

static const struct kind of_postgres = {
    .engine = "postgres",
    .change = "ALTER ROLE first PASSWORD 'fresh'",
    .remove = "ALTER ROLE first NOLOGIN",
    .cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
           "WHERE usename = 'first'",
    .execute = in_postgres,
};

static int32_t port_of(const struct kind *kind)
{
    return server_port(kind == &of_mariadb ? mariadb : postgres);
}

static const char *write_topology(const struct scene *scene,
                                  const struct kind *kind, const char *user)
{
    char text[SCENE_TEXT_SIZE];

    assert_true(text_format(text, sizeof text, TOPOLOGY, kind->engine,
                            (int)port_of(kind), user, user));
    return scene_write(scene, "passwords.conf", text);
}

static void open_with(struct scene *scene, const struct kind *kind)
{
    (void)scene_write(scene, "first.pass", "secret");
    scene_open(scene, write_topology(scene, kind, "first"));
    scene_await(scene, 1, SEQB_PARTITION_UP);
    scene_take(scene, "order", TAKEN);
}

/* Ends the first user's connections, and the partition has to connect again. */
static void cut(struct scene *scene, const struct kind *kind)
{
    const int64_t errors = scene_partition(scene, 1).errors;

    kind->execute(kind->cut);
    while (scene_partition(scene, 1).errors == errors)
        scene_take(scene, "order", TAKEN);
}

static void expect_granted(struct scene *scene)
{
    const int64_t granted = scene_partition(scene, 1).granted;

    scene_take_until(scene, "order", 1, SEQB_PARTITION_UP);
    while (scene_partition(scene, 1).granted == granted)
        scene_take(scene, "order", TAKEN);
    scene_expect_no_repeats(scene);
}

static void change_of_the_same_user(struct scene *scene,
                                    const struct kind *kind)
{
    open_with(scene, kind);
    kind->execute(kind->change);
    (void)scene_write(scene, "first.pass", "fresh");
    cut(scene, kind);
    expect_granted(scene);
}

static void change_to_a_second_user(struct scene *scene,
                                    const struct kind *kind)
{
    struct seqb_error err = {.text = ""};

    open_with(scene, kind);
    (void)scene_write(scene, "second.pass", "other");
    assert_done(seqb_reload(scene->broker,
                            write_topology(scene, kind, "second"), NULL, &err),
                err);
    kind->execute(kind->remove);
    kind->execute(kind->cut);
    expect_granted(scene);
}

static void prepare_mariadb(void)
{
    mariadb_require();
    if (mariadb == NULL)
        mariadb = server_mariadb(NULL);
    in_mariadb("CREATE OR REPLACE DATABASE guarded;"
               "CREATE OR REPLACE USER first@'%' IDENTIFIED BY 'secret';"
               "CREATE OR REPLACE USER second@'%' IDENTIFIED BY 'other';"
               "GRANT ALL ON guarded.* TO first@'%';"
               "GRANT ALL ON guarded.* TO second@'%'");
}

TEST_WITH(SCENE, mariadb_user_gets_another_password)
{
    prepare_mariadb();
    change_of_the_same_user(scene, &of_mariadb);
}

TEST_WITH(SCENE, mariadb_partition_gets_another_user)
{
    prepare_mariadb();
    change_to_a_second_user(scene, &of_mariadb);
}

/* The database in which this server asks for passwords. */
static void prepare_postgres(void)
{
    postgres_require();
    if (postgres == NULL) {
        postgres = server_postgres(NULL);
        in_postgres("CREATE DATABASE guarded");
        in_postgres("CREATE ROLE first; CREATE ROLE second;"
                    "GRANT first TO second");
        postgres_execute(postgres, "guarded",
                         "GRANT CREATE ON SCHEMA public TO first");
    }
    postgres_execute(postgres, "guarded",
                     "DROP TABLE IF EXISTS seqb_counters, seqb_claims");
    in_postgres("ALTER ROLE first LOGIN PASSWORD 'secret';"
                "ALTER ROLE second LOGIN PASSWORD 'other'");
}

TEST_WITH(SCENE, postgres_role_gets_another_password)
{
    prepare_postgres();
    change_of_the_same_user(scene, &of_postgres);
}

TEST_WITH(SCENE, postgres_partition_gets_another_role)
{
    prepare_postgres();
    change_to_a_second_user(scene, &of_postgres);
}
