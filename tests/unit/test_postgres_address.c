/* SPDX-License-Identifier: Apache-2.0 */
/* A backend's options and a conninfo as libpq's parameters, host by host. */
#include "backends/postgres/address.h"

#include <stdlib.h>
#include <string.h>

#include "net/net.h"
#include "platform/text.h"
#include "support/failure.h"
#include "support/test.h"
#include "support/wrap.h"

#define END " application_name=seqbroker target_session_attrs=any "

/* All parameters, in the order in which libpq gets them, with a space behind
 * each. */
static const char *text_of(const struct postgres_address *address)
{
    static char text[1024];

    text[0] = '\0';
    for (size_t i = 0; address->keywords[i] != NULL; i++)
        (void)text_append(text, sizeof text, "%s=%s ", address->keywords[i],
                          address->values[i]);
    return text;
}

TEST(options_are_parameters)
{
    static const struct {
        struct seqb_backend_options options;
        const char *text;
    } rows[] = {
        {{.host = "h"},
         "host=h port=5432 sslmode=disable gssencmode=disable" END},
        {{.host = "h", .socket_path = "/a,b", .port = 7},
         "host=/a,b port=7 sslmode=disable gssencmode=disable" END},
        {{.host = "h",
          .user = "u",
          .database = "d",
          .password = "p",
          .tls = SEQB_TLS_VERIFY,
          .tls_ca = "ca",
          .tls_cert = "cert",
          .tls_key = "key"},
         "host=h port=5432 user=u dbname=d sslmode=verify-full sslrootcert=ca "
         "sslcert=cert sslkey=key gssencmode=disable password=p" END},
        {{.host = "h", .tls = SEQB_TLS_REQUIRE},
         "host=h port=5432 sslmode=require gssencmode=disable" END},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct postgres_address address;

        assert_ok(postgres_address_init(&address, &rows[i].options, NULL));
        assert_string_equal(text_of(&address), rows[i].text);
        assert_int_equal(address.hosts, 1);
        postgres_address_fini(&address);
    }
}

/* Each word of `parts` is one of the parameters. */
static void expect_parts(const struct postgres_address *address,
                         const char *parts)
{
    while (*parts != '\0') {
        const size_t length = strcspn(parts, " ");
        char part[64];

        (void)text_format(part, sizeof part, "%.*s ", (int)length, parts);
        if (strstr(text_of(address), part) == NULL)
            fail_msg("no %s in %s", part, text_of(address));
        parts += length + (parts[length] == ' ');
    }
}

/* Those of the i-th host, which is then named for people. */
TEST(each_host_of_a_conninfo_has_its_parameters)
{
    static const struct {
        const char *conninfo;
        int hosts;
        int i;
        const char *text;
        const char *where;
    } rows[] = {
        {"dbname=d", 1, 0, "dbname=d hostaddr=", "by default"},
        {"host=a", 1, 0, "host=a hostaddr=", "a"},
        {"host=a,b port=1,65535", 2, 0, "host=a port=1 hostaddr=", "a:1"},
        {"host=a,b port=1,65535", 2, 1,
         "host=b port=65535 hostaddr=", "b:65535"},
        {"host=a,b,c port=5", 3, 2, "host=c port=5 hostaddr=", "c:5"},
        {"host=a,b,c port=5,6", 3, 2, "host=c port= hostaddr=", "c:"},
        {"host=a,b hostaddr=1.1.1.1,", 2, 0, "host=a hostaddr=1.1.1.1", "a"},
        {"host=a,b hostaddr=1.1.1.1,", 2, 1, "host=b hostaddr=", "b"},
        {"hostaddr=1.1.1.1,2.2.2.2", 2, 1, "hostaddr=2.2.2.2", "2.2.2.2"},
        {"host=/a@b", 1, 0, "host=/a@b hostaddr=", "/a@b"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct seqb_backend_options options = {
            .name = "pg", .conninfo = rows[i].conninfo};
        struct postgres_address address;
        char where[64];
        char expected[64];

        assert_ok(postgres_address_init(&address, &options, NULL));
        assert_int_equal(address.hosts, rows[i].hosts);
        assert_ok(postgres_address_choose(&address, rows[i].i, where,
                                          sizeof where, NULL));
        (void)text_format(expected, sizeof expected, "pg (postgres %s)",
                          rows[i].where);
        assert_string_equal(where, expected);
        expect_parts(&address, rows[i].text);
        postgres_address_fini(&address);
    }
}

TEST(conninfo_names_the_program_if_it_likes)
{
    const struct seqb_backend_options options = {
        .conninfo = "host=h application_name=mine "
                    "target_session_attrs=read-write password=no",
        .password = "p"};
    struct postgres_address address;

    assert_ok(postgres_address_init(&address, &options, NULL));
    assert_non_null(strstr(text_of(&address), "application_name=mine"));
    assert_non_null(strstr(text_of(&address), "target_session_attrs=any"));
    assert_non_null(strstr(text_of(&address), "password=p"));
    postgres_address_fini(&address);
}

static void refuse_host(const char *conninfo)
{
    const struct seqb_backend_options options = {.name = "pg",
                                                 .conninfo = conninfo};
    struct postgres_address address;
    char where[64];

    assert_ok(postgres_address_init(&address, &options, NULL));
    assert_fails(
        postgres_address_choose(&address, 0, where, sizeof where, &failure),
        SEQB_INVALID, "pg: host 1 of conninfo");
    postgres_address_fini(&address);
}

TEST(host_that_cannot_be_is_refused)
{
    char host[5 + POSTGRES_HOST_SIZE + 1] = "host=";

    refuse_host("host=a@b");
    refuse_host("host=b@/a");
    refuse_host("host=h port=0");
    refuse_host("host=h port=65536");
    refuse_host("host=h port=x");
    memset(host + 5, 'h', POSTGRES_HOST_SIZE);
    refuse_host(host);
}

static void refuse_options(const struct seqb_backend_options *options,
                           const char *words)
{
    const struct seqb_backend_options named = {.conninfo = "hostaddr=1.1.1.1"};
    struct postgres_address address;

    assert_fails(postgres_address_init(&address, options, &failure),
                 SEQB_INVALID, words);
    postgres_address_fini(&address);
    assert_ok(postgres_address_init(&address, &named, NULL));
    postgres_address_fini(&address);
}

TEST(options_without_a_host_are_refused)
{
    static const char *const variables[][2] = {
        {"PGHOST", "$PGHOST is set"},
        {"PGHOSTADDR", "$PGHOSTADDR is set"},
        {"PGSERVICE", "$PGSERVICE is set"},
    };
    struct seqb_backend_options options = {.name = "pg"};

    refuse_options(&options, "pg: no host, no socket and no conninfo");
    options.conninfo = "host='";
    refuse_options(&options, "that libpq can read");
    options.conninfo = "service=s host=h";
    refuse_options(&options, "a service");
    options.conninfo = "";
    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        assert_int_equal(setenv(variables[i][0], "x", 1), 0);
        refuse_options(&options, variables[i][1]);
        assert_int_equal(unsetenv(variables[i][0]), 0);
    }
}

/* --- names --- */

WRAPPED(const char *, lookup_host, const char *host, int port,
        int64_t deadline_ms, struct addrinfo **out)
{
    assert_int_equal(port, 0); /* libpq has its own */
    if (strcmp(host, "nowhere") == 0)
        return "scripted";
    return __real_lookup_host(host, port, deadline_ms, out);
}

TEST(only_a_name_is_looked_up)
{
    static const struct {
        const char *conninfo;
        const char *text; /* NULL: it is not found */
    } rows[] = {
        {"host=127.0.0.1", "127.0.0.1"},
        {"host=/nowhere", ""},
        {"host=@nowhere", ""},
        {"hostaddr=127.0.0.1", ""},
        {"host=nowhere hostaddr=127.0.0.1", ""},
        {"dbname=d", ""},
        {"host=nowhere", NULL},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct seqb_backend_options options = {.conninfo =
                                                         rows[i].conninfo};
        struct postgres_address address;
        struct addrinfo *found;
        struct seqb_error err;
        char text[64];
        enum seqb_status status;

        assert_ok(postgres_address_init(&address, &options, NULL));
        status =
            postgres_address_resolve(&address, INT64_MAX, "pg", &found, &err);
        if (rows[i].text == NULL) {
            assert_status(status, SEQB_UNREACHABLE);
            assert_string_equal(err.text,
                                "pg: cannot connect: host not found: scripted");
        } else {
            assert_ok(status);
            postgres_address_text(found, text, sizeof text);
            assert_string_equal(text, rows[i].text);
            if (found != NULL)
                freeaddrinfo(found);
        }
        postgres_address_pin(&address, "");
        assert_null(strstr(text_of(&address), "hostaddr= "));
        postgres_address_pin(&address, "2.2.2.2");
        assert_non_null(strstr(text_of(&address), "hostaddr=2.2.2.2"));
        postgres_address_fini(&address);
    }
}
