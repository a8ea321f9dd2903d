/* SPDX-License-Identifier: Apache-2.0 */
/* A session is of one run of the store. An open whose rows and whose status
 * come from two members or terms, or by two connections, begins again: this
 * program's etcd_link_ask says so of an open's first try. */
#include <stdlib.h>
#include <string.h>

#include "backends/backends.h"
#include "backends/etcd/etcd.h"
#include "contract/etcd_fixture.h"
#include "platform/text.h"
#include "support/server_etcd.h"
#include "support/test.h"
#include "support/wrap.h"

static int asked;        /* for a member's status */
static bool moves;       /* the first status comes from the other endpoint */
static bool reconnects;  /* the first status comes by another connection */
static bool goes_on;     /* so does each later one */
static int64_t is_later; /* terms that the rows before it come too late */

enum seqb_status __real_etcd_link_ask(struct etcd_link *link,
                                      enum etcd_kind kind,
                                      const struct etcd_method *method,
                                      ProtobufCMessage **out,
                                      struct seqb_error *err);

WRAPPED(enum seqb_status, etcd_link_ask, struct etcd_link *link,
        enum etcd_kind kind, const struct etcd_method *method,
        ProtobufCMessage **out, struct seqb_error *err)
{
    const bool is_status = strstr(method->path, "Status") != NULL;
    enum seqb_status status;

    if ((asked == 0 || goes_on) && is_status && reconnects)
        etcd_grpc_close(&link->grpc);
    status = __real_etcd_link_ask(link, kind, method, out, err);
    asked += is_status;
    if (asked == 0)
        link->term += is_later;
    if (asked == 1 && is_status && moves)
        link->current = 1 - link->current;
    return status;
}

/* How often an open asks for a status. */
static int statuses_of_open(const struct seqb_backend_options *options)
{
    asked = 0;
    backend_etcd.close(etcd_open(options));
    return asked;
}

TEST(rows_and_status_of_two_members_or_terms_are_read_again)
{
    struct server *server = server_etcd(NULL);
    struct seqb_backend_options options = etcd_options(server);
    char address[64];
    const char *const endpoints[] = {address, address, NULL};

    (void)text_format(address, sizeof address, "127.0.0.1:%d",
                      (int)server_port(server));
    options.endpoints = endpoints;
    (void)statuses_of_open(&options); /* makes the run */
    assert_int_equal(statuses_of_open(&options), 1);
    moves = true;
    assert_int_equal(statuses_of_open(&options), 2);
    moves = false;
    reconnects = true;
    assert_int_equal(statuses_of_open(&options), 2);
    reconnects = false;
    is_later = 1;
    assert_int_equal(statuses_of_open(&options), 2);
    server_free(server);
}

TEST_SKIPPABLE(STARTED, store_that_is_never_bound_is_not_opened)
{
    struct seqb_backend *other = NULL;
    struct seqb_error err;

    reconnects = true;
    goes_on = true;
    asked = 0;
    assert_status(backend_etcd.open(&f->options, &other, &err),
                  SEQB_UNREACHABLE);
    assert_non_null(strstr(err.text, "it cannot be bound while"));
    assert_int_equal(asked, 8);
    assert_null(other);
    reconnects = false;
    goes_on = false;
}

/* Its log is younger than those of most snapshots: see INDEX_LEAST. */
TEST_SKIPPABLE(STARTED, run_of_a_young_store_has_an_index_that_may_be_lost)
{
    const char *index = strchr(etcd_of(f->backend)->run, '.');

    assert_non_null(index);
    assert_true(strtol(index + 1, NULL, 10) >= 64);
}

/* A broker that opened the store after a leader was elected, or after data was
 * put back, has written another run. */
TEST_SKIPPABLE(STARTED, many_claims_in_another_run_change_nothing)
{
    struct seqb_claim claim = {.name = "main", .text = "a"};
    char standing[SEQB_CLAIM_SIZE];
    struct seqb_error err;
    size_t done;

    etcd_put(f->server, "seqbroker/run", "2.1");
    assert_status(backend_etcd.claim_many(f->backend, &claim, 1, &done, &err),
                  SEQB_UNREACHABLE);
    must_open(f);
    assert_done(backend_etcd.claim(f->backend, "main", NULL, standing,
                                   sizeof standing, &err),
                err);
    assert_string_equal(standing, "");
}

/* Whatever their order: two pools may list the members of one cluster in two.
 */
TEST(cluster_is_named_after_the_least_of_its_endpoints)
{
    struct server *server = server_etcd(NULL);
    struct seqb_backend_options options = etcd_options(server);
    char names[2][64];
    char at[80];

    (void)text_format(names[0], sizeof names[0], "127.0.0.1:%d",
                      (int)server_port(server));
    (void)text_format(names[1], sizeof names[1], "localhost:%d",
                      (int)server_port(server));
    (void)text_format(at, sizeof at, " at %s", names[0]);
    for (int least = 0; least < 3; least++) {
        const char *endpoints[] = {names[1], names[1], names[1], NULL};
        struct seqb_backend *backend;

        endpoints[least] = names[0];
        options.endpoints = endpoints;
        backend = etcd_open(&options);
        assert_non_null(strstr(backend->domain, at));
        backend_etcd.close(backend);
    }
    server_free(server);
}

TEST_BEFORE_ALL(without_sigpipe);
