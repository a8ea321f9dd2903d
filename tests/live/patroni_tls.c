/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL under Patroni by TLS: each host of conninfo is verified, and a
 * leader that is refused is named, though its standby answers. */
#include "patroni_fixture.h"

#include <stdio.h>
#include <string.h>

#include "backends/backends.h"
#include "platform/text.h"
#include "support/server_postgres.h"
#include "support/tls_pair.h"

#define CONNINFO_SIZE 512

static struct seqb_backend *opened;

/* The standby first. */
static enum seqb_status cluster_open(size_t leader, const char *ca,
                                     struct seqb_error *err)
{
    char conninfo[CONNINFO_SIZE];
    const struct seqb_backend_options options = {
        .name = "pg",
        .conninfo = conninfo,
        .timeout_ms = 20000,
        .connect_timeout_ms = 20000,
        .create = true,
    };

    assert_true(text_format(
        conninfo, sizeof conninfo,
        "host=127.0.0.1,127.0.0.1 port=%d,%d user=postgres dbname=main "
        "sslmode=verify-full sslrootcert=%s",
        (int)server_port(patroni->nodes[1 - leader]),
        (int)server_port(patroni->nodes[leader]), ca));
    return backend_postgres.open(&options, &opened, err);
}

static void must_open_by_tls(size_t leader, const char *ca)
{
    struct seqb_details details = {.node = ""};
    struct seqb_error err;
    char node[32];

    assert_done(cluster_open(leader, ca, &err), err);
    assert_done(backend_postgres.describe(opened, &details, &err), err);
    (void)text_format(node, sizeof node, "127.0.0.1:%d",
                      (int)server_port(patroni->nodes[leader]));
    assert_string_equal(details.node, node);
    assert_string_equal(details.role, "primary");
    assert_memory_equal(details.tls, "TLSv1.", 6);
    backend_postgres.close(opened);
}

/* The standby is well. */
static void must_refuse_the_leader(size_t leader, const char *ca,
                                   const char *words)
{
    struct seqb_error err = {SEQB_OK, "opened"};
    char place[32];

    (void)cluster_open(leader, ca, &err);
    (void)text_format(place, sizeof place, "127.0.0.1:%d): ",
                      (int)server_port(patroni->nodes[leader]));
    if (err.status != SEQB_ROLE ||
        strstr(err.text, "a standby; none") == NULL ||
        strstr(err.text, words) == NULL || strstr(err.text, place) == NULL)
        fail_msg("%s: %s", seqb_status_name(err.status), err.text);
}

static void files_make(struct tls_files *out, const char *common_name,
                       const char *names)
{
    tls_files_make(out, common_name, names);
    tls_files_share(out);
}

/* Appends a file to `out`, which has `size` bytes. */
static void file_append(char *out, size_t size, const char *path)
{
    const size_t used = strlen(out);
    FILE *file = fopen(path, "re");

    assert_non_null(file);
    out[used + fread(out + used, 1, size - used - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
}

/* They speak plainly again for the other tests. */
static void nodes_end(void)
{
    for (size_t i = 0; i < PATRONI_NODES; i++)
        patroni_alter(patroni, i, "ssl = off");
}

TEST_WITH(SCENE, leader_that_is_not_verified_is_refused_and_named)
{
    const size_t leader = cluster_require();
    struct tls_files good;
    struct tls_files other; /* another CA */
    struct tls_files named; /* another name */
    struct seqb_error err;
    char both[SCENE_TEXT_SIZE] = "";

    files_make(&good, "pg", "IP:127.0.0.1");
    files_make(&other, "pg", "IP:127.0.0.1");
    files_make(&named, "pg1.example", "DNS:pg1.example");
    for (size_t i = 0; i < PATRONI_NODES; i++)
        patroni_show(patroni, i, good.cert, good.key);
    must_open_by_tls(leader, good.cert);
    assert_status(cluster_open(leader, other.cert, &err), SEQB_UNREACHABLE);
    assert_non_null(strstr(err.text, "certificate verify failed"));
    assert_non_null(strstr(err.text, "none of the 2 hosts is a primary"));

    patroni_show(patroni, leader, other.cert, other.key);
    must_refuse_the_leader(leader, good.cert, "certificate verify failed");
    patroni_show(patroni, leader, named.cert, named.key);
    file_append(both, sizeof both, good.cert);
    file_append(both, sizeof both, named.cert);
    must_refuse_the_leader(leader, scene_write(scene, "both.pem", both),
                           "does not match host name");
    patroni_alter(patroni, leader, "ssl = off");
    must_refuse_the_leader(leader, good.cert,
                           "server does not support SSL, but SSL was required");

    patroni_show(patroni, leader, good.cert, good.key);
    patroni_switchover(patroni, leader);
    patroni_await(patroni, 1 - leader, PATRONI_PRIMARY);
    must_open_by_tls(1 - leader, good.cert);
    (void)patroni_await_streaming(patroni);
    nodes_end();
    tls_files_remove(&good);
    tls_files_remove(&other);
    tls_files_remove(&named);
}
