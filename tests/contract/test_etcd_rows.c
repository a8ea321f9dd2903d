/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are none of ours, and answers that are none to the question: this
 * program's etcd_link_ask changes what a server answers. No number may be made
 * of them. */
#include <string.h>

#include "backends/backends.h"
#include "backends/etcd/etcd.pb-c.h"
#include "backends/etcd/link.h"
#include "contract/etcd_fixture.h"
#include "support/server_etcd.h"
#include "support/test.h"
#include "support/wrap.h"

/* Changes the answer to a transaction that reads; NULL: none is changed. */
static void (*falsify)(Etcd__TxnResponse *answer);

enum seqb_status __real_etcd_link_ask(struct etcd_link *link,
                                      enum etcd_kind kind,
                                      const struct etcd_method *method,
                                      ProtobufCMessage **out,
                                      struct seqb_error *err);

WRAPPED(enum seqb_status, etcd_link_ask, struct etcd_link *link,
        enum etcd_kind kind, const struct etcd_method *method,
        ProtobufCMessage **out, struct seqb_error *err)
{
    const enum seqb_status status =
        __real_etcd_link_ask(link, kind, method, out, err);

    if (status == SEQB_OK && falsify != NULL && kind == ETCD_READ &&
        strstr(method->path, "Txn") != NULL)
        falsify((Etcd__TxnResponse *)*out);
    return status;
}

/* --- rows --- */

/* The server stores no value, so that the answer has none. */
TEST(row_without_a_value_is_damaged)
{
    struct server *server = server_etcd(NULL);
    const struct seqb_backend_options options = etcd_options(server);
    struct seqb_backend *backend = etcd_open(&options);
    struct seqb_listed listed[4];
    struct seqb_page page = {
        .prefix = "main/", .after = "", .listed = listed, .most = 4};
    struct seqb_claim claim = {.name = "main"};
    char standing[SEQB_CLAIM_SIZE];
    int64_t first;
    size_t done;

    assert_ok(etcd_take_many(backend, 1000, &first));
    etcd_put(server, "seqbroker/counter/" ETCD_TEST_COUNTER, "");
    etcd_put(server, "seqbroker/claim/main", "");
    assert_status(etcd_take(backend, &first), SEQB_CORRUPT);
    assert_status(backend_etcd.list(backend, &page, NULL), SEQB_CORRUPT);
    assert_status(backend_etcd.claim(backend, "main", "a", standing,
                                     sizeof standing, NULL),
                  SEQB_CORRUPT);
    assert_status(backend_etcd.claim_many(backend, &claim, 1, &done, NULL),
                  SEQB_CORRUPT);
    backend_etcd.close(backend);
    server_free(server);
}

/* --- answers --- */

/* The last row that was found. */
static Etcd__RangeResponse *found_in(const Etcd__TxnResponse *answer)
{
    for (size_t i = answer->n_responses; i-- > 0;) {
        Etcd__RangeResponse *range = answer->responses[i]->response_range;

        if (range->n_kvs > 0)
            return range;
    }
    fail_msg("no row was found");
    return NULL;
}

static void refuse(Etcd__TxnResponse *answer)
{
    answer->succeeded = false;
}

static void count_more(Etcd__TxnResponse *answer)
{
    found_in(answer)->count++;
}

static void name_another_key(Etcd__TxnResponse *answer)
{
    found_in(answer)->kvs[0]->key.data[0]++;
}

static void forget_revision(Etcd__TxnResponse *answer)
{
    found_in(answer)->kvs[0]->mod_revision = 0;
}

TEST(answer_that_is_none_to_the_question_is_distrusted)
{
    static void (*const ways[])(Etcd__TxnResponse *) = {
        refuse, count_more, name_another_key, forget_revision};
    struct server *server = server_etcd(NULL);
    const struct seqb_backend_options options = etcd_options(server);
    struct seqb_backend *backend = etcd_open(&options);
    struct seqb_error err;
    int64_t first;

    assert_ok(etcd_take(backend, &first));
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct seqb_backend *other = NULL;

        backend_etcd.close(backend);
        backend = etcd_open(&options);
        falsify = ways[i];
        assert_status(etcd_take(backend, &first), SEQB_PROTOCOL);
        assert_status(backend_etcd.open(&options, &other, &err), SEQB_PROTOCOL);
        falsify = NULL;
    }
    backend_etcd.close(backend);
    server_free(server);
}

/* --- options --- */

TEST(options_that_it_cannot_serve_are_refused)
{
    const struct seqb_backend_options valid = {.name = "etcd-a",
                                               .host = "127.0.0.1",
                                               .port = 1,
                                               .connect_timeout_ms = 1000};
    struct seqb_backend_options options = valid;
    const char *const without_port[] = {"127.0.0.1:1", "127.0.0.1", NULL};
    const char *const none[] = {NULL};
    struct seqb_backend *backend = NULL;
    struct seqb_error err;
    char prefix[256];

    memset(prefix, 'p', sizeof prefix - 1);
    prefix[sizeof prefix - 1] = '\0';
    options.prefix = prefix;
    assert_status(backend_etcd.open(&options, &backend, &err), SEQB_INVALID);
    assert_non_null(strstr(err.text, "at most 64 bytes"));
    options = valid;
    options.host = NULL;
    assert_status(backend_etcd.open(&options, &backend, &err), SEQB_INVALID);
    options.endpoints = none;
    assert_status(backend_etcd.open(&options, &backend, &err), SEQB_INVALID);
    options.endpoints = without_port;
    assert_status(backend_etcd.open(&options, &backend, &err), SEQB_INVALID);
    assert_null(backend);
}

TEST_BEFORE_ALL(without_sigpipe);
