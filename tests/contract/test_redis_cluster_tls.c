/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Redis Cluster whose nodes are asked by TLS: the node that serves a slot has
 * to prove that it is at the address that the cluster tells. Other cases of TLS
 * are in test_stream_tls.c.
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backends/backends.h"
#include "platform/text.h"
#include "support/server_redis.h"
#include "support/tls_pair.h"
#include "windowed_fixture.h"

#define NODES 2

struct node {
    struct server *server;
    struct tls_files files;
    char port[16]; /* of TLS */
    char bus[16];
    char endpoint[32];
    const char *args[20];
};

/* The first node is asked, and the second one has all slots. Each has a
 * certificate of its own. */
static struct {
    struct node nodes[NODES];
    const char *endpoints[2];
    char ca[TLS_PAIR_PATH_SIZE + 8]; /* both certificates */
} cluster;

static void file_append(FILE *to, const char *path)
{
    FILE *from = fopen(path, "r");
    int c;

    assert_non_null(from);
    while ((c = fgetc(from)) != EOF)
        (void)fputc(c, to);
    (void)fclose(from);
}

/* `names` are those of the second node. */
static void certificates_make(const char *names)
{
    FILE *ca;

    tls_files_make(&cluster.nodes[0].files, "one", "IP:127.0.0.1");
    tls_files_make(&cluster.nodes[1].files, "two", names);
    (void)text_format(cluster.ca, sizeof cluster.ca, "%s/ca.pem",
                      cluster.nodes[0].files.folder);
    ca = fopen(cluster.ca, "w");
    assert_non_null(ca);
    for (int i = 0; i < NODES; i++)
        file_append(ca, cluster.nodes[i].files.cert);
    (void)fclose(ca);
    for (int i = 0; i < NODES; i++)
        tls_files_share(&cluster.nodes[i].files);
}

static void node_start(struct node *node)
{
    const char *const args[] = {"--cluster-enabled",
                                "yes",
                                "--cluster-port",
                                node->bus,
                                "--tls-cluster",
                                "yes",
                                "--tls-port",
                                node->port,
                                "--tls-cert-file",
                                node->files.cert,
                                "--tls-key-file",
                                node->files.key,
                                "--tls-ca-cert-file",
                                cluster.ca,
                                "--tls-auth-clients",
                                "no",
                                NULL};

    (void)text_format(node->port, sizeof node->port, "%d", (int)free_port());
    (void)text_format(node->bus, sizeof node->bus, "%d", (int)free_port());
    (void)text_format(node->endpoint, sizeof node->endpoint, "127.0.0.1:%s",
                      node->port);
    memcpy(node->args, args, sizeof args);
    node->server = server_redis(node->args);
    redis_execute(node->server, "ACL SETUSER seq on >secret ~* +@all");
}

static void node_await(const struct node *node)
{
    bool is_ok = false;

    while (!is_ok) {
        redisReply *reply = server_ask(node->server, "CLUSTER INFO");

        is_ok = strstr(reply->str, "cluster_state:ok") != NULL &&
                strstr(reply->str, "cluster_known_nodes:2") != NULL &&
                strstr(reply->str, "cluster_slots_ok:16384") != NULL;
        freeReplyObject(reply);
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
}

static struct fixture *begin(void **state, const char *names)
{
    struct fixture *f;

    certificates_make(names);
    for (int i = 0; i < NODES; i++)
        node_start(&cluster.nodes[i]);
    redis_execute(cluster.nodes[0].server, "CLUSTER MEET 127.0.0.1 %s %s",
                  cluster.nodes[1].port, cluster.nodes[1].bus);
    redis_execute(cluster.nodes[1].server, "CLUSTER ADDSLOTSRANGE 0 16383");
    for (int i = 0; i < NODES; i++)
        node_await(&cluster.nodes[i]);
    f = fixture_prepare(state, "cluster", &backend_redis,
                        cluster.nodes[0].server);
    cluster.endpoints[0] = cluster.nodes[0].endpoint;
    f->options.host = NULL;
    f->options.port = 0;
    f->options.endpoints = cluster.endpoints;
    f->options.user = "seq";
    f->options.password = "secret";
    f->options.tls = SEQB_TLS_VERIFY;
    f->options.tls_ca = cluster.ca;
    return f;
}

static int end(void **state)
{
    const int result = fixture_stop(state);

    server_free(cluster.nodes[1].server);
    (void)remove(cluster.ca);
    for (int i = 0; i < NODES; i++)
        tls_files_remove(&cluster.nodes[i].files);
    memset(&cluster, 0, sizeof cluster);
    return result;
}

#define WITH_TLS FIXTURE(void **state, NULL, end)

/* The first call that needs a slot fails. */
static void must_not_serve(struct fixture *f, enum seqb_status expected,
                           const char *words)
{
    enum seqb_status status = fixture_open(f);

    if (status == SEQB_OK)
        status = install(f, 3, SIZE, &(int64_t){0});
    assert_status(status, expected);
    if (strstr(f->err.text, words) == NULL)
        fail_msg("'%s' does not say '%s'", f->err.text, words);
}

TEST_STATE(WITH_TLS, node_that_has_the_slot_is_asked_by_tls)
{
    struct fixture *f = begin(state, "IP:127.0.0.1");
    struct seqb_details details = {.node = ""};

    assert_done(fixture_open(f), f->err);
    assert_ok(f->ops->describe(f->backend, &details, &f->err));
    assert_string_equal(details.tls, "TLSv1.3");
    must_install(f, 3);
    assert_int_equal(must_take(f, 3, 0, 10), 10);
    (void)must_take_many(f);
}

/* Only the first node proved who it is. */
TEST_STATE(WITH_TLS, node_with_another_name_is_refused)
{
    struct fixture *f = begin(state, "DNS:other.example");

    must_not_serve(f, SEQB_UNREACHABLE, "IP address mismatch");
    f->options.tls = SEQB_TLS_REQUIRE;
    assert_done(fixture_open(f), f->err);
    must_install(f, 3);
}

TEST_STATE(WITH_TLS, node_of_another_authority_is_refused)
{
    struct fixture *f = begin(state, "IP:127.0.0.1");

    f->options.tls_ca = cluster.nodes[0].files.cert;
    must_not_serve(f, SEQB_UNREACHABLE, "self-signed certificate");
}

/* It shows the certificate to clients; the bus keeps its connections. */
TEST_STATE(WITH_TLS, node_whose_certificate_expired_is_refused)
{
    struct fixture *f = begin(state, "IP:127.0.0.1");
    struct tls_files expired;
    FILE *ca = fopen(cluster.ca, "a");

    tls_files_make_expired(&expired, "late", "IP:127.0.0.1");
    tls_files_share(&expired);
    assert_non_null(ca);
    file_append(ca, expired.cert);
    (void)fclose(ca);
    redis_execute(cluster.nodes[1].server,
                  "CONFIG SET tls-cert-file %s tls-key-file %s", expired.cert,
                  expired.key);
    must_not_serve(f, SEQB_UNREACHABLE, "certificate has expired");
    tls_files_remove(&expired);
}

TEST_STATE(WITH_TLS, wrong_password_is_refused)
{
    struct fixture *f = begin(state, "IP:127.0.0.1");

    f->options.password = "wrong";
    must_not_serve(f, SEQB_REFUSED, "the password was refused");
}

TEST_STATE(WITH_TLS, node_without_tls_is_not_spoken_to)
{
    struct fixture *f = begin(state, "IP:127.0.0.1");
    char plain[32];

    (void)text_format(plain, sizeof plain, "127.0.0.1:%d",
                      (int)server_port(cluster.nodes[0].server));
    cluster.endpoints[0] = plain;
    must_not_serve(f, SEQB_UNREACHABLE, "TLS: ");
}
