/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are none of ours, and answers that are none to the question: this
 * program's etcd_link_ask changes what a server answers. No number may be made
 * of them. */
#include <stdlib.h>
#include <string.h>

#include "backends/backends.h"
#include "backends/etcd/etcd.h"
#include "contract/etcd_fixture.h"
#include "platform/error.h"
#include "platform/text.h"
#include "support/failure.h"
#include "support/server_etcd.h"
#include "support/test.h"
#include "support/wrap.h"

/* Changes the answer to a transaction that reads, or to any other call; NULL:
 * none is changed. */
static void (*falsify)(Etcd__TxnResponse *answer);
static void (*falsify_other)(ProtobufCMessage *answer);

enum seqb_status __real_etcd_link_ask(struct etcd_link *link,
                                      enum etcd_kind kind,
                                      const struct etcd_method *method,
                                      ProtobufCMessage **out,
                                      struct seqb_error *err);

WRAPPED(enum seqb_status, etcd_link_ask, struct etcd_link *link,
        enum etcd_kind kind, const struct etcd_method *method,
        ProtobufCMessage **out, struct seqb_error *err)
{
    const bool is_txn = strstr(method->path, "Txn") != NULL;
    const enum seqb_status status =
        __real_etcd_link_ask(link, kind, method, out, err);

    if (status == SEQB_OK && falsify != NULL && kind == ETCD_READ && is_txn)
        falsify((Etcd__TxnResponse *)*out);
    if (status == SEQB_OK && falsify_other != NULL &&
        (kind == ETCD_WRITE || !is_txn))
        falsify_other(*out);
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

#define ROW  "seqbroker/counter/" ETCD_TEST_COUNTER
#define NOTE "seqbroker/counter/@@" ETCD_TEST_COUNTER

/* While there is the row, it says what was granted, and a take writes the note
 * again. */
TEST_SKIPPABLE(STARTED, counter_that_is_gone_does_not_begin_without_its_note)
{
    const struct seqb_raise raise = {
        .counter = ETCD_TEST_COUNTER, .floor = 1, .limit = ETCD_TEST_LIMIT};
    int64_t first;

    assert_ok(etcd_take(f->backend, &first));
    etcd_put(f->server, NOTE, "damaged");
    assert_ok(etcd_take(f->backend, &first));
    etcd_forget(f->server, ROW);
    assert_ok(etcd_take(f->backend, &first));
    assert_int_equal(first, SQL_NOTE_VALUES + 1);
    etcd_put(f->server, NOTE, "damaged");
    etcd_forget(f->server, ROW);
    assert_status(etcd_take(f->backend, &first), SEQB_CORRUPT);
    assert_status(backend_etcd.raise(f->backend, &raise, &first, NULL),
                  SEQB_CORRUPT);
}

/* Each open binds what is of another store once, and counters go on there. */
TEST_SKIPPABLE(STARTED, base_of_another_store_is_bound_to_one_origin)
{
    static const char *const bases[] = {"5 etcd:1", "5 e"};
    struct seqb_raise raise = {
        .counter = ETCD_TEST_COUNTER, .floor = 1, .limit = ETCD_TEST_LIMIT};
    char origin[SEQB_ORIGIN_SIZE];
    int64_t value;

    for (size_t i = 0; i < COUNT_OF(bases); i++) {
        etcd_forget(f->server, "seqbroker/counter/");
        etcd_put(f->server, "seqbroker/counter/", bases[i]);
        must_open(f);
        (void)text_copy(origin, sizeof origin, f->backend->origin);
        must_open(f);
        assert_string_equal(f->backend->origin, origin);
        assert_ok(backend_etcd.raise(f->backend, &raise, &value, &failure));
        assert_int_equal(value, 5);
    }
    etcd_forget(f->server, "seqbroker/counter/");
    raise.floor = 0;
    assert_ok(backend_etcd.raise(f->backend, &raise, &value, &failure));
    assert_int_equal(value, 0);
}

/* Its rows say that it was used. */
TEST_SKIPPABLE(STARTED, store_without_its_run_is_no_new_one)
{
    int64_t first;
    int64_t next;

    assert_ok(etcd_take(f->backend, &first));
    for (int i = 0; i < 2; i++) {
        etcd_forget(f->server, "seqbroker/run");
        f->options.create = i == 0;
        must_open(f);
        assert_ok(etcd_take(f->backend, &next));
        assert_true(next > first);
        first = next;
    }
}

/* --- memory --- */

static bool has_no_memory;

WRAPPED(void *, realloc, void *memory, size_t size)
{
    return has_no_memory ? NULL : __real_realloc(memory, size);
}

WRAPPED(void *, calloc, size_t n, size_t size)
{
    return has_no_memory ? NULL : __real_calloc(n, size);
}

TEST_SKIPPABLE(KNOWN, without_memory_it_neither_opens_nor_reads_nor_recalls)
{
    struct etcd *etcd = etcd_of(f->backend);
    struct seqb_backend *other = NULL;

    assert_ok(etcd_take(f->backend, &f->last));
    assert_true(etcd->texts_size >= (size_t)ETCD_ROWS_MAX * ETCD_VALUE_SIZE);
    for (int known = 1; known >= 0; known--) {
        if (known == 0)
            etcd_known_doubt(&etcd->known, ETCD_TEST_COUNTER);
        etcd->texts_size = 0;
        has_no_memory = true;
        assert_status(etcd_take(f->backend, &f->last), SEQB_NO_MEMORY);
        has_no_memory = false;
    }
    has_no_memory = true;
    assert_fails(backend_etcd.open(&f->options, &other, &failure),
                 SEQB_NO_MEMORY, "etcd-a: out of memory");
    has_no_memory = false;
    assert_null(other);
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

static void cut_key(Etcd__TxnResponse *answer)
{
    found_in(answer)->kvs[0]->key.data[1] = '\0';
}

TEST(answer_that_is_none_to_the_question_is_distrusted)
{
    static void (*const ways[])(Etcd__TxnResponse *) = {
        refuse, count_more, name_another_key, cut_key, forget_revision};
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

/* --- ranges --- */

static void name_another_range(Etcd__TxnResponse *answer)
{
    if (answer->n_responses == 2 &&
        answer->responses[1]->response_range->n_kvs > 0)
        name_another_key(answer);
}

static void answer_no_range(Etcd__TxnResponse *answer)
{
    if (answer->n_responses == 2)
        answer->responses[1]->response_case =
            ETCD__RESPONSE_OP__RESPONSE_RESPONSE_PUT;
}

static void answer_no_removal(ProtobufCMessage *message)
{
    const Etcd__TxnResponse *answer = (const Etcd__TxnResponse *)message;

    answer->responses[0]->response_case =
        ETCD__RESPONSE_OP__RESPONSE_RESPONSE_PUT;
}

#define DAY   "main/0/day"
#define STALE "seqbroker/counter/" DAY "@20261120"

/* Only as many as were asked for. */
TEST_SKIPPABLE(STARTED, purge_ends_at_its_bound)
{
    const struct seqb_purge purge = {
        .counter = DAY, .keep = DAY "@20261121", .most = 2};
    int32_t deleted = 0;

    etcd_put(f->server, STALE, "1 a");
    etcd_put(f->server, STALE "1", "1 a");
    etcd_put(f->server, STALE "2", "1 a");
    assert_ok(backend_etcd.purge(f->backend, &purge, &deleted, &failure));
    assert_int_equal(deleted, 2);
}

TEST_SKIPPABLE(STARTED, purge_that_keeps_as_much_raises_the_mark)
{
    struct seqb_listed listed;
    struct seqb_page page = {
        .prefix = "@" DAY, .after = "", .listed = &listed, .most = 1};
    struct seqb_purge purge = {
        .counter = DAY, .keep = DAY "@20261121", .before_ms = 1, .most = 2};
    int32_t deleted = 0;

    for (; purge.before_ms <= 2; purge.before_ms++) {
        assert_ok(backend_etcd.purge(f->backend, &purge, &deleted, &failure));
        assert_ok(backend_etcd.list(f->backend, &page, &failure));
        assert_int_equal(listed.value, purge.before_ms);
    }
}

static void must_purge(struct fixture *f, const char *keep,
                       enum seqb_status status, const char *words)
{
    const struct seqb_purge purge = {.counter = DAY, .keep = keep, .most = 9};
    int32_t deleted = 0;

    assert_fails(backend_etcd.purge(f->backend, &purge, &deleted, &failure),
                 status, words);
}

TEST_SKIPPABLE(STARTED, range_that_is_none_is_distrusted)
{
    static void (*const ways[])(Etcd__TxnResponse *) = {name_another_range,
                                                        answer_no_range};
    struct seqb_listed listed[4];
    struct seqb_page page = {
        .prefix = "main/", .after = "", .listed = listed, .most = 4};

    etcd_put(f->server, STALE, "1 a");
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        falsify = ways[i];
        assert_fails(backend_etcd.list(f->backend, &page, &failure),
                     SEQB_PROTOCOL, "a range");
    }
    falsify = name_another_range;
    must_purge(f, DAY "@20261121", SEQB_PROTOCOL, "a range");
    falsify = NULL;
    falsify_other = answer_no_removal;
    must_purge(f, DAY "@20261121", SEQB_UNCERTAIN, "the answer to a removal");
    falsify_other = NULL;
    must_purge(f, DAY, SEQB_INVALID, "cannot be purged up to " DAY);
    etcd_put(f->server, "seqbroker/counter/@" DAY, "damaged");
    must_purge(f, DAY "@20261121", SEQB_CORRUPT, "periods");
}

/* --- the description --- */

#define VOTERS 5

/* Four more members, who are silent. */
static void tell_of_others(ProtobufCMessage *message)
{
    Etcd__MemberListResponse *list = (Etcd__MemberListResponse *)message;
    Etcd__StatusResponse *status = (Etcd__StatusResponse *)message;

    if (message->descriptor == &etcd__status_response__descriptor) {
        status->raft_index = 17;
        status->raft_applied_index = 12;
        return;
    }
    if (message->descriptor != &etcd__member_list_response__descriptor)
        return;
    list->members = realloc(list->members, VOTERS * sizeof(Etcd__Member *));
    while (list->n_members < VOTERS)
        list->members[list->n_members++] =
            (Etcd__Member *)protobuf_c_message_unpack(
                &etcd__member__descriptor, NULL, 0, (const uint8_t *)"");
}

/* Two endpoints are one of them. */
TEST_SKIPPABLE(STARTED, lag_is_of_those_members_that_answer)
{
    struct seqb_details details = {.node = ""};
    char address[32];
    const char *const endpoints[] = {address, address, NULL};
    struct seqb_error err;

    (void)text_format(address, sizeof address, "127.0.0.1:%d",
                      (int)server_port(f->server));
    f->options.endpoints = endpoints;
    must_open(f);

    falsify_other = tell_of_others;
    assert_done(backend_etcd.describe(f->backend, &details, &err), err);
    falsify_other = NULL;
    assert_string_equal(details.quorum, "3 of 5 members");
    assert_string_equal(details.role, "leader");
    assert_string_equal(details.replicas, "0 of 4, at most 5 entries behind");
}

/* --- names and texts --- */

TEST_SKIPPABLE(STARTED, text_that_does_not_fit_is_refused)
{
    char standing[4] = "";
    char large[SEQB_CLAIM_SIZE];
    char keep[2 * SEQB_COUNTER_SIZE] = DAY "@";
    char name[2 * SEQB_COUNTER_SIZE];
    struct seqb_guard guard = {.name = name, .text = ""};
    struct seqb_request request = {.counter = ETCD_TEST_COUNTER,
                                   .want = 1,
                                   .limit = ETCD_TEST_LIMIT,
                                   .guard = &guard};

    assert_fails(backend_etcd.claim(f->backend, "main", "abcd", standing,
                                    sizeof standing, &failure),
                 SEQB_PROTOCOL, "longer than 3 bytes");
    assert_ok(backend_etcd.claim(f->backend, "main", "abcd", large,
                                 sizeof large, &failure));
    assert_fails(backend_etcd.claim(f->backend, "main", NULL, standing,
                                    sizeof standing, &failure),
                 SEQB_PROTOCOL, "longer than 3 bytes");
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_fails(backend_etcd.claim(f->backend, name, NULL, standing,
                                    sizeof standing, &failure),
                 SEQB_INVALID, "");
    memset(keep + strlen(keep), '9', sizeof keep - 1 - strlen(keep));
    must_purge(f, keep, SEQB_INVALID, "");
    f->options.needs_incarnation = true;
    must_open(f);
    assert_fails(backend_etcd.reserve(f->backend, &request, 1, &failure),
                 SEQB_INVALID, "too long");
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
