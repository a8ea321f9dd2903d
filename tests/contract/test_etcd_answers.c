/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the etcd engine of which one request is not sent, or finds rows that
 * another broker wrote meanwhile: this program's etcd_link_ask says so. */
#include <string.h>
#include <sys/random.h>

#include "backends/backends.h"
#include "backends/etcd/etcd.pb-c.h"
#include "backends/etcd/link.h"
#include "contract/etcd_fixture.h"
#include "platform/error.h"
#include "platform/text.h"
#include "support/failure.h"
#include "support/server_etcd.h"
#include "support/wrap.h"

/* The requests since it was 0, and the one of them that is not sent. It fails,
 * or, if it is a write and that is SEQB_AGAIN, it finds other rows. */
static int asks;
static int fails_at;
static enum seqb_status fails_with;

enum seqb_status __real_etcd_link_ask(struct etcd_link *link,
                                      enum etcd_kind kind,
                                      const struct etcd_method *method,
                                      ProtobufCMessage **out,
                                      struct seqb_error *err);

static bool has_no_chance; /* there are no random bytes */

WRAPPED(ssize_t, getrandom, void *out, size_t size, unsigned flags)
{
    return has_no_chance ? -1 : __real_getrandom(out, size, flags);
}

static int64_t ahead_ms; /* of the clock */

WRAPPED(int64_t, clock_now_ms, void)
{
    return __real_clock_now_ms() + ahead_ms;
}

static enum seqb_status ask_in_vain(ProtobufCMessage **out,
                                    struct seqb_error *err)
{
    if (fails_with != SEQB_AGAIN)
        return error_set(err, fails_with, "not sent");
    *out = protobuf_c_message_unpack(&etcd__txn_response__descriptor, NULL, 0,
                                     (const uint8_t *)"");
    return SEQB_OK;
}

WRAPPED(enum seqb_status, etcd_link_ask, struct etcd_link *link,
        enum etcd_kind kind, const struct etcd_method *method,
        ProtobufCMessage **out, struct seqb_error *err)
{
    if (++asks == fails_at && (fails_with != SEQB_AGAIN || kind == ETCD_WRITE))
        return ask_in_vain(out, err);
    return __real_etcd_link_ask(link, kind, method, out, err);
}

#define DAY "main/0/day"

static struct server *asked;
static int nth; /* of all calls, for names that are new */

static enum seqb_status call_open(struct seqb_backend *backend,
                                  struct seqb_error *err)
{
    struct seqb_backend_options options = etcd_options(asked);
    struct seqb_backend *opened = NULL;
    char prefix[16];
    enum seqb_status status;

    (void)backend;
    (void)text_format(prefix, sizeof prefix, "p%d", nth);
    options.prefix = prefix;
    status = backend_etcd.open(&options, &opened, err);
    assert_int_equal(opened != NULL, status == SEQB_OK);
    backend_etcd.close(opened);
    return status;
}

#define MANY 150 /* more than one transaction serves */

static enum seqb_status reserve_many(struct seqb_backend *backend,
                                     struct seqb_request requests[static MANY],
                                     struct seqb_error *err)
{
    static char names[MANY][32];

    for (int i = 0; i < MANY; i++) {
        (void)text_format(names[i], sizeof names[i], "main/0/%d", i);
        requests[i] = (struct seqb_request){.counter = names[i],
                                            .want = 1,
                                            .limit = ETCD_TEST_LIMIT,
                                            .window = SEQB_NO_WINDOW};
    }
    return backend_etcd.reserve(backend, requests, MANY, err);
}

static enum seqb_status call_reserve(struct seqb_backend *backend,
                                     struct seqb_error *err)
{
    struct seqb_request requests[MANY];
    const enum seqb_status status = reserve_many(backend, requests, err);

    for (int i = 0; i < MANY; i++) {
        if (requests[i].status == SEQB_OK) {
            assert_int_equal(requests[i].block.count, 1);
            continue;
        }
        assert_status(requests[i].status, status);
        assert_string_equal(requests[i].error.text, "not sent");
    }
    return status;
}

static enum seqb_status call_raise(struct seqb_backend *backend,
                                   struct seqb_error *err)
{
    const struct seqb_raise raise = {
        .counter = ETCD_TEST_COUNTER, .floor = nth, .limit = ETCD_TEST_LIMIT};
    int64_t out;

    return backend_etcd.raise(backend, &raise, &out, err);
}

static enum seqb_status call_install(struct seqb_backend *backend,
                                     struct seqb_error *err)
{
    const struct seqb_window window = {
        .counter = SEQB_CELL "main/0/a", .window = nth, .size = 1};
    int64_t standing = nth;

    return backend_etcd.install(backend, &window, &standing, err);
}

static enum seqb_status call_claim(struct seqb_backend *backend,
                                   struct seqb_error *err)
{
    char name[16];
    char standing[SEQB_CLAIM_SIZE];

    (void)text_format(name, sizeof name, "one%d", nth);
    return backend_etcd.claim(backend, name, "a", standing, sizeof standing,
                              err);
}

static enum seqb_status call_claim_many(struct seqb_backend *backend,
                                        struct seqb_error *err)
{
    char name[16];
    struct seqb_claim claims[2] = {{.name = name, .text = "a"},
                                   {.name = "many", .text = "b"}};
    size_t done;

    (void)text_format(name, sizeof name, "many%d", nth);
    return backend_etcd.claim_many(backend, claims, 2, &done, err);
}

static enum seqb_status call_swap(struct seqb_backend *backend,
                                  struct seqb_error *err)
{
    char name[16];
    const struct seqb_swap swap = {.name = name, .expected = "", .text = "a"};
    char standing[SEQB_CLAIM_SIZE];

    (void)text_format(name, sizeof name, "swap%d", nth);
    return backend_etcd.swap(backend, &swap, standing, sizeof standing, err);
}

static enum seqb_status call_purge(struct seqb_backend *backend,
                                   struct seqb_error *err)
{
    const struct seqb_purge purge = {
        .counter = DAY, .keep = DAY "@20261121", .before_ms = nth, .most = 9};
    int32_t deleted = 0;
    enum seqb_status status;

    etcd_put(asked, "seqbroker/counter/" DAY "@20261120", "1 a");
    status = backend_etcd.purge(backend, &purge, &deleted, err);
    if (status == SEQB_OK)
        assert_int_equal(deleted, 1);
    return status;
}

static enum seqb_status call_list(struct seqb_backend *backend,
                                  struct seqb_error *err)
{
    struct seqb_listed listed[4];
    struct seqb_page page = {
        .prefix = "main/0/1", .after = "", .listed = listed, .most = 4};

    return backend_etcd.list(backend, &page, err);
}

static enum seqb_status (*const calls[])(struct seqb_backend *,
                                         struct seqb_error *) = {
    call_reserve, call_reserve, call_reserve, call_raise,
    call_install, call_claim,   call_swap,    call_claim_many,
    call_purge,   call_list,    call_open,
};

/* Makes the call again and again; each time another ask fails. Between two
 * calls the time of the first one is over. */
static void must_answer(struct seqb_backend *backend, size_t call,
                        enum seqb_status expected)
{
    enum seqb_status status = expected;

    for (fails_at = 1;; fails_at++) {
        struct seqb_error err;

        asks = 0;
        nth++;
        ahead_ms += 1000000;
        status = calls[call](backend, &err);
        if (asks < fails_at)
            break;
        if (status != expected)
            fail_msg("call %zu, ask %d: %s", call, fails_at,
                     seqb_status_name(status));
        if (status != SEQB_OK)
            assert_string_equal(err.text, "not sent");
    }
    assert_ok(status);
    fails_at = 0;
}

TEST(ask_that_fails_is_the_answer_of_the_call)
{
    struct seqb_backend_options options;
    struct seqb_backend *backend;

    asked = server_etcd(NULL);
    fails_with = SEQB_PROTOCOL;
    fails_at = 5; /* the second one of the entries that a new store needs */
    assert_fails(call_open(NULL, &failure), SEQB_PROTOCOL, "not sent");
    options = etcd_options(asked);
    options.needs_incarnation = true;
    backend = etcd_open(&options);
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        fails_with = SEQB_PROTOCOL;
        must_answer(backend, i, SEQB_PROTOCOL);
        fails_with = SEQB_AGAIN;
        must_answer(backend, i, SEQB_OK);
    }
    backend_etcd.close(backend);
    server_free(asked);
}

/* The second of its two asks is the first part's write. */
TEST_SKIPPABLE(STARTED, only_the_part_that_was_sent_is_uncertain)
{
    struct seqb_request requests[MANY];
    struct seqb_error err;
    int counts[2] = {0};

    asks = 0;
    fails_at = 2;
    fails_with = SEQB_UNCERTAIN;
    assert_status(reserve_many(f->backend, requests, &err), SEQB_UNCERTAIN);
    fails_at = 0;
    for (int i = 0; i < MANY; i++) {
        counts[0] += requests[i].status == SEQB_UNCERTAIN;
        counts[1] += requests[i].status == SEQB_UNREACHABLE;
    }
    assert_true(counts[0] > 0 && counts[1] > 0);
    assert_int_equal(counts[0] + counts[1], MANY);
}

/* For its run, and for the epoch of what was bound to another store. */
TEST_SKIPPABLE(STARTED, store_without_random_bytes_is_not_opened)
{
    asked = f->server;
    has_no_chance = true;
    assert_fails(call_open(NULL, &failure), SEQB_UNREACHABLE,
                 "no random bytes");
    etcd_put(f->server, "seqbroker/counter/", "5 etcd:1");
    assert_fails(backend_etcd.open(&f->options, &f->backend, &failure),
                 SEQB_UNREACHABLE, "no random bytes");
    has_no_chance = false;
}

/* A user who may count may not ask for members. */
TEST_SKIPPABLE(STARTED, description_leaves_out_what_is_refused)
{
    for (fails_at = 1; fails_at <= 3; fails_at++) {
        struct seqb_details details = {.node = ""};

        asks = 0;
        fails_with = SEQB_REFUSED;
        assert_ok(backend_etcd.describe(f->backend, &details, &failure));
        assert_int_equal(details.quorum[0] == '\0', fails_at == 1);
        assert_int_equal(details.role[0] == '\0', fails_at == 2);
        assert_string_equal(details.replicas, fails_at == 1 ? "" : "none");
        asks = 0;
        fails_with = SEQB_PROTOCOL;
        if (fails_at <= 2)
            assert_fails(backend_etcd.describe(f->backend, &details, &failure),
                         SEQB_PROTOCOL, "not sent");
    }
    fails_at = 0;
}

TEST_BEFORE_ALL(without_sigpipe);
