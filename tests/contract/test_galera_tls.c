/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Galera cluster whose nodes let the broker's user in by TLS alone: each node
 * that an open connects to is verified, also one that it only asks for the
 * cluster's history.
 */
#include <stdio.h>
#include <string.h>

#include "contract/galera_fixture.h"
#include "platform/text.h"
#include "support/tls_pair.h"

#define WORD_SIZE (TLS_PAIR_PATH_SIZE + 16)

static struct tls_files files;  /* of all nodes */
static struct tls_files others; /* of nobody */

static int nodes_secure(void **state)
{
    static char cert[WORD_SIZE];
    static char key[WORD_SIZE];
    static const char *const args[] = {cert, key, NULL};

    (void)state;
    tls_files_make(&files, "node", "IP:127.0.0.1");
    tls_files_share(&files);
    tls_files_make(&others, "node", "IP:127.0.0.1");
    (void)text_format(cert, sizeof cert, "--ssl-cert=%s", files.cert);
    (void)text_format(key, sizeof key, "--ssl-key=%s", files.key);
    galera_args = args;
    return 0;
}

static int files_end(void **state)
{
    (void)state;
    tls_files_remove(&files);
    tls_files_remove(&others);
    return 0;
}

static struct fixture *secure_prepare(void **state)
{
    struct fixture *f = cluster_prepare(state);

    mariadb_execute(galera_nodes[0], "ALTER USER seq REQUIRE SSL");
    f->options.tls = SEQB_TLS_VERIFY;
    f->options.tls_ca = files.cert;
    return f;
}

#define SECURED FIXTURE(struct fixture *f, secure_prepare, fixture_stop)

TEST_SKIPPABLE(SECURED, each_node_is_used_by_tls)
{
    int64_t last = 0;

    for (size_t i = 0; i < GALERA_NODES; i++) {
        struct seqb_details details = {.node = ""};
        struct hosts hosts;

        hosts_set(&hosts, i, GALERA_NODES);
        must_open_at(f, &hosts);
        assert_ok(f->ops->describe(f->backend, &details, &f->err));
        assert_non_null(strstr(details.tls, "TLSv1."));
        must_take(f, 10, last);
        last += 10;
    }
}

TEST_SKIPPABLE(SECURED, nodes_of_another_ca_are_refused)
{
    f->options.tls_ca = others.cert;
    must_not_open(f, SEQB_UNREACHABLE, "self-signed certificate");
    f->options.tls_ca = NULL; /* the system's, of which it is none */
    must_not_open(f, SEQB_UNREACHABLE, "self-signed certificate");
}

/* The nodes are localhost as well, which the certificate does not say. */
TEST_SKIPPABLE(SECURED, nodes_of_another_name_are_refused)
{
    char address[ADDRESS_SIZE];
    const char *const list[] = {address, NULL};

    (void)text_format(address, sizeof address, "localhost:%d",
                      (int)server_port(galera_nodes[0]));
    f->options.endpoints = list;
    must_not_open(f, SEQB_UNREACHABLE,
                  "Validation of SSL server certificate failed");
    f->options.tls = SEQB_TLS_REQUIRE; /* whoever it is */
    must_open(f);
    must_take(f, 10, 0);
}

TEST_SKIPPABLE(SECURED, nodes_are_not_spoken_to_in_clear)
{
    f->options.tls = SEQB_TLS_OFF;
    f->options.tls_ca = NULL;
    must_not_open(f, SEQB_REFUSED, "Access denied");
}

/* A node that was started learns the history from another one, by TLS too. */
TEST_SKIPPABLE(SECURED, node_that_was_restarted_is_the_same_store)
{
    char origin[SEQB_ORIGIN_SIZE];

    must_open(f);
    must_take(f, 10, 0);
    (void)text_copy(origin, sizeof origin, f->backend->origin);
    server_kill(galera_nodes[0]);
    server_start(galera_nodes[0]);
    cluster_await();
    must_open(f);
    assert_string_equal(f->backend->origin, origin);
    must_take(f, 1, 10);
}

/* The nodes read their files again. */
static void nodes_show(const struct tls_files *shown)
{
    assert_int_equal(rename(shown->cert, files.cert), 0);
    assert_int_equal(rename(shown->key, files.key), 0);
    for (size_t i = 0; i < GALERA_NODES; i++)
        mariadb_execute(galera_nodes[i], "FLUSH SSL");
}

/* It is the last test: the nodes have no other certificate from here on. */
TEST_SKIPPABLE(SECURED, nodes_whose_certificate_expired_are_refused)
{
    struct tls_files expired;
    char address[ADDRESS_SIZE];

    must_open(f);
    tls_files_make_expired(&expired, "node", "IP:127.0.0.1");
    tls_files_share(&expired);
    nodes_show(&expired);
    must_not_open(f, SEQB_UNREACHABLE, "certificate has expired");
    (void)text_format(address, sizeof address, "127.0.0.1:%d",
                      (int)server_port(galera_nodes[0]));
    must_not_open(f, SEQB_UNREACHABLE, address);
    f->options.tls = SEQB_TLS_REQUIRE; /* whoever it is */
    f->options.tls_ca = NULL;
    must_open(f);
    tls_files_remove(&expired);
}

TEST_BEFORE_ALL(nodes_secure);
TEST_AFTER_ALL(files_end);
