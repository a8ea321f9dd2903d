/* SPDX-License-Identifier: Apache-2.0 */
/* What each engine needs and refuses among a backend's settings, with the
 * exact line that is told. Engines that are not built in are left out. */

#include "backends/backends.h"
#include "config/config.h"
#include "platform/text.h"
#include "support/test.h"
#include "unit/topology_expect.h"

#define LOGINS  "redis, mysql-row, mysql-autoinc, postgres, etcd"
#define SERVERS "redis, memcached, mysql-row, mysql-autoinc, postgres, etcd"
#define BOTH(a, b, advice)                                                     \
    "t.conf:2: '" a "' and '" b "' exclude each other: " advice
#define FOREIGN(engine, setting, others)                                       \
    "t.conf:2: engine " engine " does not use '" setting                       \
    "', it is for " others ": remove it"
#define DATABASE          "database=\"d\";"
#define CONNINFO(setting) BOTH("conninfo", setting, "say it all in conninfo")
#define NO_TLS                                                                 \
    "'tls' is of no use with 'socket', which stays on this machine: remove "   \
    "it, or name a host"

struct engine_case {
    const char *engine;
    const char *settings;
    const char *lines; /* all that is told; "" if it is sound */
};

/* The backend stands in line 2, with an authority if it needs one. */
static void expect(const struct engine_case *expected)
{
    const struct seqb_backend_ops *ops = backend_find(expected->engine);
    char text[2048];

    if (ops == NULL)
        return;
    assert_true(text_format(
        text, sizeof text,
        "backends=(" SQLITE("a") ",\n{name=\"r\";engine=\"%s\";%s});\n"
                                 "pools=({name=\"p\";partitions=[\"r\"];"
                                 "authority=\"a\";});\n" KEY,
        expected->engine, expected->settings));
    topology_expect(text, expected->lines);
}

static void expect_all(const struct engine_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect(&cases[i]);
}

TEST(what_an_engine_needs_is_missed)
{
    static const struct engine_case cases[] = {
        {"sqlite", "",
         "t.conf:2: the backend has no 'path': engine sqlite needs one"},
        {"mysql-row", "",
         "t.conf:2: the backend has no 'database': engine mysql-row needs one"},
        {"mysql-autoinc", "",
         "t.conf:2: the backend has no 'database': engine mysql-autoinc needs "
         "one"},
        {"mysql-row", DATABASE, ""},
        {"postgres", "", ""},
        {"memcached", "", ""},
        {"redis", "", ""},
    };

    expect_all(cases, COUNT_OF(cases));
}

TEST(what_only_others_use_is_refused)
{
    static const struct engine_case cases[] = {
        {"redis", "path=\"x\";", FOREIGN("redis", "path", "sqlite")},
        {"sqlite", "path=\"r\";host=\"h\";",
         FOREIGN("sqlite", "host", SERVERS)},
        {"sqlite", "path=\"r\";password=\"x\";",
         FOREIGN("sqlite", "password", LOGINS)},
        {"memcached", "user=\"u\";", FOREIGN("memcached", "user", LOGINS)},
        {"redis", "conninfo=\"host=h\";",
         FOREIGN("redis", "conninfo", "postgres")},
        {"redis", "keep_rows=7;",
         FOREIGN("redis", "keep_rows", "mysql-autoinc")},
        {"mysql-row", DATABASE "keep_rows=7;",
         FOREIGN("mysql-row", "keep_rows", "mysql-autoinc")},
        {"mysql-row", DATABASE "table_format=\"%s%d\";",
         FOREIGN("mysql-row", "table_format", "mysql-autoinc")},
        {"postgres", "sentinels=[\"h:1\"];",
         FOREIGN("postgres", "sentinels", "redis")},
        {"postgres", "prefix=\"x\";",
         FOREIGN("postgres", "prefix", "redis, memcached, etcd")},
        {"redis", "endpoints=[\"h:1\"];",
         FOREIGN("redis", "endpoints", "etcd")},
        {"mysql-autoinc", DATABASE "hosts=[\"h:1\"];",
         FOREIGN("mysql-autoinc", "hosts", "mysql-row")},
        {"etcd", "socket=\"/s\";",
         FOREIGN("etcd", "socket",
                 "redis, memcached, mysql-row, mysql-autoinc, postgres")},
        {"etcd", "database=\"d\";",
         FOREIGN("etcd", "database",
                 "redis, mysql-row, mysql-autoinc, postgres")},
        {"redis", "parameters=\"x\";",
         FOREIGN("redis", "parameters", "an engine of the service's own")},
    };

    expect_all(cases, COUNT_OF(cases));
}

TEST(addresses_exclude_each_other)
{
    static const struct engine_case cases[] = {
        {"redis", "host=\"h\";socket=\"/s\";",
         BOTH("socket", "host", "remove one")},
        {"redis", "port=1;socket=\"/s\";",
         BOTH("socket", "port", "remove one")},
        {"memcached", "port=1;socket=\"/s\";",
         BOTH("socket", "port", "remove one")},
        {"redis", "sentinels=[\"h:1\"];master_name=\"m\";host=\"h\";",
         BOTH("sentinels", "host", "remove one")},
        {"redis", "sentinels=[\"h:1\"];master_name=\"m\";port=1;",
         BOTH("sentinels", "port", "remove one")},
        {"redis", "sentinels=[\"h:1\"];master_name=\"m\";socket=\"/s\";",
         BOTH("sentinels", "socket", "remove one")},
        {"etcd", "endpoints=[\"h:1\"];host=\"h\";",
         BOTH("endpoints", "host", "remove one")},
        {"etcd", "endpoints=[\"h:1\"];port=1;",
         BOTH("endpoints", "port", "remove one")},
        {"mysql-row", DATABASE "hosts=[\"h:1\"];host=\"h\";",
         BOTH("hosts", "host", "remove one")},
        {"mysql-row", DATABASE "hosts=[\"h:1\"];port=1;",
         BOTH("hosts", "port", "remove one")},
        {"mysql-row", DATABASE "hosts=[\"h:1\"];socket=\"/s\";",
         BOTH("hosts", "socket", "remove one")},
        {"redis", "socket=\"s\";",
         "t.conf:2: 'socket' is \"s\", but must be an absolute path"},
        {"postgres", "conninfo=\"\";host=\"h\";",
         "t.conf:2: 'conninfo' must not be empty\n" CONNINFO("host")},
        {"postgres", "conninfo=\"x\";port=1;", CONNINFO("port")},
        {"postgres", "conninfo=\"x\";socket=\"/s\";", CONNINFO("socket")},
        {"postgres", "conninfo=\"x\";user=\"u\";", CONNINFO("user")},
        {"postgres", "conninfo=\"x\";database=\"d\";", CONNINFO("database")},
        {"postgres", "conninfo=\"x\";tls=\"off\";", CONNINFO("tls")},
        {"postgres", "conninfo=\"x\";tls_ca=\"f\";", CONNINFO("tls_ca")},
        {"postgres", "conninfo=\"x\";tls_cert=\"f\";", CONNINFO("tls_cert")},
        {"postgres", "conninfo=\"x\";tls_key=\"f\";", CONNINFO("tls_key")},
        {"postgres", "conninfo=\"x\";connect_timeout=\"2s\";", ""},
    };

    expect_all(cases, COUNT_OF(cases));
}

TEST(sentinels_and_the_masters_name_go_together)
{
    static const struct engine_case cases[] = {
        {"redis", "sentinels=[\"h:1\"];",
         "t.conf:2: 'sentinels' needs 'master_name' beside it"},
        {"redis", "master_name=\"m\";",
         "t.conf:2: 'master_name' needs 'sentinels' beside it"},
        {"redis", "sentinels=[\"h\"];master_name=\"m\";",
         "t.conf:2: 'sentinels' is \"h\", but must be host:port"},
        {"redis", "sentinels=[\"h:65536\"];master_name=\"m\";",
         "t.conf:2: 'sentinels' is \"h:65536\", but must be host:port"},
        {"redis", "sentinels=[\"h:1\",\"::1:2\"];master_name=\"m\";", ""},
    };

    expect_all(cases, COUNT_OF(cases));
}

#define ENDPOINTS_16                                                           \
    "\"h:1\",\"h:2\",\"h:3\",\"h:4\",\"h:5\",\"h:6\",\"h:7\",\"h:8\",\"h:9\"," \
    "\"h:10\",\"h:11\",\"h:12\",\"h:13\",\"h:14\",\"h:15\",\"h:16\""

TEST(nodes_of_a_galera_cluster_are_sixteen_at_most)
{
    static const struct engine_case cases[] = {
        {"mysql-row", DATABASE "hosts=[" ENDPOINTS_16 "];", ""},
        {"mysql-row", DATABASE "hosts=[" ENDPOINTS_16 ",\"h:17\"];",
         "t.conf:2: 'hosts' has 17 members, but a cluster needs no more than "
         "16"},
    };

    expect_all(cases, COUNT_OF(cases));
}

TEST(members_of_an_etcd_are_sixteen_at_most)
{
    static const struct engine_case cases[] = {
        {"etcd", "", ""},
        {"etcd", "endpoints=[" ENDPOINTS_16 "];", ""},
        {"etcd", "endpoints=[" ENDPOINTS_16 ",\"h:17\"];",
         "t.conf:2: 'endpoints' has 17 members, but an etcd needs no more than "
         "16"},
        {"etcd", "endpoints=[\"http://h:1\"];",
         "t.conf:2: 'endpoints' is \"http://h:1\", but must be host:port: "
         "'tls' says whether it is https"},
        {"etcd", "user=\"u\";",
         "t.conf:2: 'user' needs a password beside it, such as a "
         "'password_file'"},
        {"etcd", "tls=\"verify\";tls_ca=\"f\";", ""},
    };

    expect_all(cases, COUNT_OF(cases));
}

TEST(database_of_redis_is_a_number)
{
    static const char not_one[] = ", but redis has numbers, 0 ... 65535";
    static const char *const wrong[] = {"\"x\"", "65536", "-1", "\"1 \"",
                                        "99999999999"};
    static const char *const right[] = {"0", "65535", "\"7\""};

    for (size_t i = 0; i < COUNT_OF(right); i++) {
        char setting[64];

        assert_true(
            text_format(setting, sizeof setting, "database=%s;", right[i]));
        expect(&(struct engine_case){"redis", setting, ""});
    }
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        const bool has_quotes = *wrong[i] == '"';
        char setting[64];
        char line[128];

        assert_true(
            text_format(setting, sizeof setting, "database=%s;", wrong[i]));
        assert_true(text_format(
            line, sizeof line, "t.conf:2: 'database' is %s%s%s%s",
            has_quotes ? "" : "\"", wrong[i], has_quotes ? "" : "\"", not_one));
        expect(&(struct engine_case){"redis", setting, line});
    }
}

TEST(tls_is_for_a_server_that_is_reached_by_its_host)
{
    static const struct engine_case cases[] = {
        {"redis", "tls=\"require\";", ""},
        {"memcached", "tls=\"verify\";", ""},
        {"redis", "tls=\"off\"; socket=\"/s\";", ""},
        {"redis", "tls=\"verify\"; socket=\"/s\";", "t.conf:2: " NO_TLS},
        {"memcached", "tls=\"require\"; socket=\"/s\";", "t.conf:2: " NO_TLS},
        {"redis", "tls=\"on\";",
         "t.conf:2: 'tls' is \"on\", but must be one of off, require, verify"},
    };

    expect_all(cases, COUNT_OF(cases));
}

TEST(certificates_are_whole_and_of_use)
{
    static const struct engine_case cases[] = {
        {"postgres", "tls_ca=\"f\";",
         "t.conf:2: 'tls_ca' is of no use while tls is \"off\": add tls = "
         "\"verify\" or remove it"},
        {"mysql-row", DATABASE "tls=\"off\";tls_cert=\"f\";tls_key=\"g\";",
         "t.conf:2: 'tls_cert' is of no use while tls is \"off\": add tls = "
         "\"verify\" or remove it\n"
         "t.conf:2: 'tls_key' is of no use while tls is \"off\": add tls = "
         "\"verify\" or remove it"},
        {"postgres", "tls=\"verify\";tls_cert=\"f\";",
         "t.conf:2: 'tls_cert' needs 'tls_key' beside it"},
        {"mysql-autoinc", DATABASE "tls=\"require\";tls_key=\"f\";",
         "t.conf:2: 'tls_key' needs 'tls_cert' beside it"},
        {"postgres",
         "tls=\"verify\";tls_ca=\"e\";tls_cert=\"f\";tls_key=\"g\";", ""},
    };

    expect_all(cases, COUNT_OF(cases));
}

TEST(there_is_one_password)
{
    static const struct engine_case cases[] = {
        {"redis", "password=\"x\";password_file=\"f\";",
         BOTH("password", "password_file", "keep one")},
        {"redis", "password=\"x\";password_env=\"E\";",
         BOTH("password", "password_env", "keep one")},
        {"postgres", "password_file=\"f\";password_env=\"E\";",
         BOTH("password_file", "password_env", "keep one")},
        {"redis", "user=\"u\";",
         "t.conf:2: 'user' needs a password beside it, such as a "
         "'password_file'"},
        {"redis", "user=\"u\";password=\"x\";", ""},
        {"postgres", "user=\"u\";", ""},
    };

    expect_all(cases, COUNT_OF(cases));
}

TEST(table_format_is_a_name_with_key_and_partition)
{
    static const char *const wrong[] = {
        "x",        "%s",     "%d_1",  "%s_%s_%d", "%s%d%d",
        "%s_%d_%x", "%s_%d%", "%s %d", "%s`%d",    "%s.%d",
        "%s%5d",    "%%s%d",  "%s%%d", "a-%s%d",   "%s;%d;",
    };
    static const char *const right[] = {"%s_code_%d", "%d%s", "Ids_%s_9_%d"};

    for (size_t i = 0; i < COUNT_OF(right); i++) {
        char settings[128];

        assert_true(text_format(settings, sizeof settings,
                                DATABASE "table_format=\"%s\";", right[i]));
        expect(&(struct engine_case){"mysql-autoinc", settings, ""});
    }
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        char settings[128];
        char line[256];

        assert_true(text_format(settings, sizeof settings,
                                DATABASE "table_format=\"%s\";", wrong[i]));
        assert_true(text_format(line, sizeof line,
                                "t.conf:2: 'table_format' is \"%s\", but must "
                                "hold %%s and %%d once each, and else only A-Z "
                                "a-z 0-9 _",
                                wrong[i]));
        expect(&(struct engine_case){"mysql-autoinc", settings, line});
    }
}

TEST(store_that_may_forget_is_no_authority)
{
    static const char *const engines[] = {"redis", "memcached"};

    for (size_t i = 0; i < COUNT_OF(engines); i++) {
        char text[512];
        char line[256];

        if (backend_find(engines[i]) == NULL)
            continue;
        assert_true(text_format(text, sizeof text,
                                "backends=({name=\"r\";engine=\"%s\";});\n"
                                "pools=({name=\"p\";partitions=[\"r\"];"
                                "authority=\"r\";});\n" KEY,
                                engines[i]));
        assert_true(text_format(line, sizeof line,
                                "t.conf:2: backend 'r' cannot be an authority: "
                                "engine %s may forget; name one that is "
                                "direct, such as sqlite",
                                engines[i]));
        topology_expect(text, line);
    }
}

TEST_BEFORE_ALL(topology_setup);
