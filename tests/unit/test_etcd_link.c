/* SPDX-License-Identifier: Apache-2.0 */
/* What a code of gRPC says about a write, and about a read; an answer of
 * another cluster, and one that is none. */
#include <string.h>

#include "backends/etcd/etcd.pb-c.h"
#include "backends/etcd/link.h"
#include "fuzz/false_server.h"
#include "platform/text.h"
#include "support/failure.h"
#include "support/wrap.h"

#define NO_SPACE "etcdserver: mvcc: database space exceeded"
#define TOO_MANY "etcdserver: too many requests"
#define UNKNOWN  "grpc: another limit"

static const struct {
    const char *code;
    const char *words;
    enum seqb_status write;
    enum seqb_status read;
} rows[] = {
    {"8", NO_SPACE, SEQB_UNCERTAIN, SEQB_REFUSED},
    {"8", TOO_MANY, SEQB_REFUSED, SEQB_REFUSED},
    {"8", UNKNOWN, SEQB_UNCERTAIN, SEQB_REFUSED},
    {"3", "etcdserver: request is too large", SEQB_REFUSED, SEQB_REFUSED},
    {"5", "etcdserver: requested lease not found", SEQB_REFUSED, SEQB_REFUSED},
    {"7", "etcdserver: permission denied", SEQB_REFUSED, SEQB_REFUSED},
    {"9", "etcdserver: user name already exists", SEQB_REFUSED, SEQB_REFUSED},
    {"11", "etcdserver: mvcc: has been compacted", SEQB_REFUSED, SEQB_REFUSED},
    {"12", "unknown method Txn", SEQB_REFUSED, SEQB_REFUSED},
    {"16", "etcdserver: invalid auth token", SEQB_REFUSED, SEQB_REFUSED},
    {"2", "an error of another kind", SEQB_UNCERTAIN, SEQB_UNREACHABLE},
    {"13", "an error inside", SEQB_UNCERTAIN, SEQB_UNREACHABLE},
    {"14", "etcdserver: request timed out", SEQB_UNCERTAIN, SEQB_UNREACHABLE},
    {"4", "context deadline exceeded", SEQB_UNCERTAIN, SEQB_UNREACHABLE},
};

/* --- frames of HTTP/2 --- */

static void frame_add(char *out, size_t *size, const char *header,
                      const char *body, size_t length)
{
    memcpy(out + *size, header, 9);
    out[*size + 1] = (char)(length >> 8);
    out[*size + 2] = (char)length;
    memcpy(out + *size + 9, body, length);
    *size += 9 + length;
}

/* A literal header of HPACK without an index. */
static void literal_add(char *out, size_t *size, const char *name,
                        const char *value)
{
    out[(*size)++] = 0;
    for (int i = 0; i < 2; i++) {
        const char *text = i == 0 ? name : value;

        out[(*size)++] = (char)strlen(text);
        memcpy(out + *size, text, strlen(text));
        *size += strlen(text);
    }
}

/* The server answers each call with this code and these words. */
static void server_say(const char *code, const char *words)
{
    char frames[512];
    char trailer[256];
    size_t length = 0;
    size_t size = 0;

    literal_add(trailer, &length, "grpc-status", code);
    literal_add(trailer, &length, "grpc-message", words);
    frame_add(frames, &size, "\0\0\0\4\0\0\0\0\0", "", 0);
    frame_add(frames, &size, "\0\0\1\1\4\0\0\0\1", "\x88", 1);
    frame_add(frames, &size, "\0\0\0\1\5\0\0\0\1", trailer, length);
    false_server_say((const uint8_t *)frames, size);
}

/* The server answers each call with nothing but this header. */
static void server_answer(Etcd__Header header)
{
    Etcd__TxnResponse answer = ETCD__TXN_RESPONSE__INIT;
    uint8_t message[128] = {0}; /* not compressed, and its length */
    char frames[512];
    char trailer[256];
    size_t length = 0;
    size_t size = 0;

    answer.header = &header;
    literal_add(trailer, &length, "grpc-status", "0");
    message[4] = (uint8_t)etcd__txn_response__pack(&answer, message + 5);
    frame_add(frames, &size, "\0\0\0\4\0\0\0\0\0", "", 0);
    frame_add(frames, &size, "\0\0\1\1\4\0\0\0\1", "\x88", 1);
    frame_add(frames, &size, "\0\0\0\0\0\0\0\0\1", (const char *)message,
              5 + (size_t)message[4]);
    frame_add(frames, &size, "\0\0\0\1\5\0\0\0\1", trailer, length);
    false_server_say((const uint8_t *)frames, size);
}

static Etcd__Header header_of_cluster(uint64_t cluster)
{
    Etcd__Header header = ETCD__HEADER__INIT;

    header.cluster_id = cluster;
    header.member_id = 1;
    header.revision = 1;
    header.raft_term = 1;
    return header;
}

/* --- calls --- */

static const struct false_server *server;

static int server_begin(void **state)
{
    (void)state;
    server = false_server_start();
    return 0;
}

static void link_make(struct etcd_link *link)
{
    *link = (struct etcd_link){.count = 1, .where = "a", .password = ""};
    link->endpoints[0].target.host = server->path;
    (void)text_copy(link->endpoints[0].name, sizeof link->endpoints[0].name,
                    "a:1");
    etcd_link_begin(link, 60000);
}

static const struct etcd_method txn = {"/etcdserverpb.KV/Txn",
                                       &etcd__txn_response__descriptor};

static void ask(enum etcd_kind kind, struct seqb_error *err)
{
    struct etcd_link link;
    ProtobufCMessage *answer = NULL;

    link_make(&link);
    etcd_link_ask(&link, kind, &txn, &answer, err);
    assert_null(answer);
    etcd_link_close(&link);
}

/* "No space" may follow a write that was carried out; "too many requests" comes
 * before it. */
TEST(refusal_says_that_nothing_was_written_only_if_that_is_certain)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct seqb_error write;
        struct seqb_error read;

        server_say(rows[i].code, rows[i].words);
        ask(ETCD_WRITE, &write);
        ask(ETCD_READ, &read);
        if (write.status != rows[i].write || read.status != rows[i].read)
            fail_msg("%s: a write is %s, a read %s", rows[i].words,
                     seqb_status_text(write.status),
                     seqb_status_text(read.status));
        assert_non_null(strstr(write.text, rows[i].words));
    }
}

static void ask_another_cluster(enum etcd_kind kind, enum seqb_status expected)
{
    struct etcd_link link;
    ProtobufCMessage *answer = NULL;
    struct seqb_error err;

    link_make(&link);
    server_answer(header_of_cluster(7));
    assert_done(etcd_link_ask(&link, kind, &txn, &answer, &err), err);
    etcd_answer_free(answer);
    answer = NULL;
    /* The server ends each connection, which the link may not know yet. */
    etcd_grpc_close(&link.grpc);
    server_answer(header_of_cluster(8));
    assert_status(etcd_link_ask(&link, kind, &txn, &answer, &err), expected);
    assert_null(answer);
    assert_non_null(strstr(err.text, "answers for cluster 8, not for 7"));
    etcd_link_close(&link);
}

/* An endpoint may be given to another cluster while connections live on. What
 * it answers to a write was written there. */
TEST(answer_of_another_cluster_is_no_answer)
{
    ask_another_cluster(ETCD_READ, SEQB_UNREACHABLE);
    ask_another_cluster(ETCD_WRITE, SEQB_UNCERTAIN);
}

static void must_distrust(void)
{
    struct seqb_error write;
    struct seqb_error read;

    ask(ETCD_WRITE, &write);
    ask(ETCD_READ, &read);
    assert_status(write.status, SEQB_UNCERTAIN);
    assert_status(read.status, SEQB_PROTOCOL);
}

/* What a write did is not known then. */
TEST(answer_without_a_message_or_a_sound_header_makes_no_sense)
{
    Etcd__Header header = header_of_cluster(7);

    server_say("0", "");
    must_distrust();
    server_answer(header_of_cluster(0));
    must_distrust();
    header.member_id = 0;
    server_answer(header);
    must_distrust();
    header = header_of_cluster(7);
    header.raft_term = 0;
    server_answer(header);
    must_distrust();
    header.raft_term = (uint64_t)INT64_MAX + 1;
    server_answer(header);
    must_distrust();
    header = header_of_cluster(7);
    header.revision = -1;
    server_answer(header);
    must_distrust();
}

/* --- calls that are answered here --- */

static bool is_answered;          /* not by the server, but with these */
static enum etcd_outcome outcome; /* ... */
static uint8_t said[2000];        /* ... */
static size_t said_size;
static int refusal; /* gRPC's code, but of a login */
static const char *refusal_words = "";
static char tokens[64]; /* of the calls */
static int calls;
static char asked[64];    /* the endpoints of the calls */
static int32_t budget_ms; /* of the first call ... */
static int32_t rest_ms;   /* ... and of the last one */
static size_t fails_size; /* no memory of that many bytes is given */
static int64_t late_ms;   /* that the clock is ahead */
static int64_t login_ms;  /* that a login takes */

#define SECRET "correct horse battery staple"

static const void *login; /* the last request that has the password */
static bool holds_secret; /* that one, when it was freed */

WRAPPED(void, free, void *memory)
{
    if (memory != NULL && memory == login) {
        holds_secret =
            memmem(memory, 2 * sizeof SECRET, SECRET, strlen(SECRET)) != NULL;
        login = NULL;
    }
    __real_free(memory);
}

WRAPPED(enum etcd_outcome, etcd_grpc_call, struct etcd_grpc *grpc,
        const struct stream_target *target, const struct etcd_call *call)
{
    if (!is_answered)
        return __real_etcd_grpc_call(grpc, target, call);
    (void)text_append(asked, sizeof asked, "%s ", call->authority);
    (void)text_append(tokens, sizeof tokens, "%s ", call->token);
    if (strstr(call->path, "Authenticate") != NULL)
        login = call->request->data;
    if (calls++ == 0)
        budget_ms = call->budget_ms;
    rest_ms = call->budget_ms;
    grpc->code = strstr(call->path, "Authenticate") != NULL ? 0 : refusal;
    (void)text_copy(grpc->words, sizeof grpc->words, refusal_words);
    grpc->message = said;
    grpc->length = said_size;
    return outcome;
}

WRAPPED(void, etcd_grpc_wipe, struct etcd_grpc *grpc)
{
    late_ms = login_ms;
    __real_etcd_grpc_wipe(grpc);
}

WRAPPED(int64_t, clock_now_ms, void)
{
    return __real_clock_now_ms() + late_ms;
}

WRAPPED(void *, malloc, size_t size)
{
    return size == fails_size ? NULL : __real_malloc(size);
}

/* What a call of a link with three endpoints says. */
static enum seqb_status ask_three(enum etcd_kind kind, const char *user,
                                  struct seqb_error *err)
{
    struct etcd_link link;
    ProtobufCMessage *answer = NULL;
    enum seqb_status status;

    link_make(&link);
    link.count = 3;
    (void)text_copy(link.endpoints[1].name, sizeof link.endpoints[1].name,
                    "b:1");
    (void)text_copy(link.endpoints[2].name, sizeof link.endpoints[2].name,
                    "c:1");
    link.user = user;
    is_answered = true;
    calls = 0;
    asked[0] = '\0';
    status = etcd_link_ask(&link, kind, &txn, &answer, err);
    is_answered = false;
    late_ms = 0;
    assert_string_equal(link.token, "");
    etcd_link_close(&link);
    etcd_answer_free(answer);
    return status;
}

/* The other endpoints would not have more memory, nor another certificate or
 * other rights. */
TEST(failure_of_our_own_ends_the_call)
{
    outcome = ETCD_NO_MEMORY;
    assert_fails(ask_three(ETCD_READ, NULL, &failure), SEQB_NO_MEMORY,
                 "out of memory");
    assert_string_equal(asked, "a:1 ");
    outcome = ETCD_INVALID;
    assert_fails(ask_three(ETCD_WRITE, NULL, &failure), SEQB_INVALID, "a: ");
    assert_string_equal(asked, "a:1 ");
    outcome = ETCD_ANSWERED;
    refusal = 7;
    assert_fails(ask_three(ETCD_READ, NULL, &failure), SEQB_REFUSED,
                 "refused: ");
    refusal = 0;
    assert_string_equal(asked, "a:1 ");
}

/* One third of the time is for each endpoint that may be read from. */
TEST(endpoints_are_asked_in_turn_unless_a_write_was_lost)
{
    outcome = ETCD_NOT_SENT;
    assert_fails(ask_three(ETCD_WRITE, NULL, &failure), SEQB_UNREACHABLE,
                 "a: c:1: ");
    assert_string_equal(asked, "a:1 b:1 c:1 ");
    assert_true(budget_ms > 30000 && budget_ms <= 60000);
    outcome = ETCD_LOST;
    assert_fails(ask_three(ETCD_READ, NULL, &failure), SEQB_UNREACHABLE,
                 "a: c:1: ");
    assert_string_equal(asked, "a:1 b:1 c:1 ");
    assert_true(budget_ms > 10000 && budget_ms <= 20000);
    assert_fails(ask_three(ETCD_WRITE, NULL, &failure), SEQB_UNCERTAIN,
                 "a: a:1: the answer was lost");
    assert_string_equal(asked, "a:1 ");
    outcome = ETCD_ANSWERED;
    refusal = 14;
    assert_fails(ask_three(ETCD_READ, NULL, &failure), SEQB_UNREACHABLE, "");
    refusal = 0;
    assert_string_equal(asked, "a:1 b:1 c:1 ");
}

TEST(link_that_is_closed_keeps_no_token)
{
    struct etcd_link link;

    link_make(&link);
    (void)text_copy(link.token, sizeof link.token, "secret");
    etcd_link_close(&link);
    assert_string_equal(link.token + 1, "");
}

/* A write whose answer has no room was carried out. */
TEST(memory_that_runs_out_for_an_answer_leaves_a_write_uncertain)
{
    outcome = ETCD_ANSWERED;
    said_size = 0;
    fails_size = sizeof(Etcd__TxnResponse);
    assert_fails(ask_three(ETCD_WRITE, NULL, &failure), SEQB_UNCERTAIN,
                 "out of memory for an answer");
    assert_fails(ask_three(ETCD_READ, NULL, &failure), SEQB_NO_MEMORY,
                 "out of memory for an answer");
    fails_size = 0;
}

TEST(request_without_memory_is_not_sent)
{
    struct etcd_link link;
    ProtobufCMessage *answer = NULL;

    link_make(&link);
    link.body.has_failed = true;
    assert_fails(etcd_link_ask(&link, ETCD_WRITE, &txn, &answer, &failure),
                 SEQB_NO_MEMORY, "a: out of memory");
    etcd_link_close(&link);
}

/* --- logins --- */

static void server_give(const char *token)
{
    Etcd__AuthenticateResponse answer = ETCD__AUTHENTICATE_RESPONSE__INIT;
    Etcd__Header header = header_of_cluster(7);

    answer.header = &header;
    answer.token = (char *)(uintptr_t)token;
    outcome = ETCD_ANSWERED;
    said_size = etcd__authenticate_response__pack(&answer, said);
}

static void must_not_be_sent(const char *token)
{
    server_give(token);
    assert_fails(ask_three(ETCD_WRITE, "user", &failure), SEQB_PROTOCOL,
                 "a token makes no sense");
    assert_int_equal(calls, 1);
}

TEST(token_that_cannot_be_sent_is_none)
{
    char token[ETCD_TOKEN_SIZE + 1];

    memset(token, 't', ETCD_TOKEN_SIZE);
    token[ETCD_TOKEN_SIZE] = '\0';
    must_not_be_sent("");
    must_not_be_sent("a\nb");
    must_not_be_sent("a\rb");
    must_not_be_sent(token);
}

/* Each call is refused; `expected` are the tokens sent. */
static void must_send(const char *user, int code, const char *words,
                      const char *expected)
{
    struct etcd_link link;
    ProtobufCMessage *answer = NULL;

    link_make(&link);
    link.count = 2;
    link.user = user;
    link.password = SECRET;
    (void)text_copy(link.token, sizeof link.token, "a");
    refusal = code;
    refusal_words = words;
    tokens[0] = '\0';
    is_answered = true;
    assert_fails(etcd_link_ask(&link, ETCD_WRITE, &txn, &answer, &failure),
                 SEQB_REFUSED, words);
    is_answered = false;
    late_ms = 0;
    refusal = 0;
    assert_string_equal(tokens, expected);
    assert_int_equal(rest_ms <= 50000, strcmp(tokens, "a ") != 0);
    assert_false(holds_secret);
    etcd_link_close(&link);
}

/* It expired, or users were changed. No other endpoint is asked. */
TEST(login_is_repeated_once_if_the_token_is_refused)
{
    server_give("b");
    login_ms = 10000;
    must_send("user", 16, "invalid auth token", "a  b ");
    must_send("user", 3, "revision of auth store is old", "a  b ");
    must_send("user", 3, "user name is empty", "a  b ");
    must_send("user", 3, "request is too large", "a ");
    must_send("user", 7, "user name is empty", "a ");
    must_send(NULL, 16, "invalid auth token", "a ");
    login_ms = 0;
}

TEST(login_without_time_or_memory_left_ends_the_call)
{
    struct etcd_link link;
    ProtobufCMessage *answer = NULL;

    fails_size = 4096; /* a buffer's first bytes */
    assert_fails(ask_three(ETCD_READ, "user", &failure), SEQB_NO_MEMORY,
                 "out of memory");
    fails_size = 0;
    assert_int_equal(calls, 0);
    server_give("token");
    link_make(&link);
    link.user = "user";
    is_answered = true;
    login_ms = 100000;
    calls = 0;
    assert_fails(etcd_link_ask(&link, ETCD_READ, &txn, &answer, &failure),
                 SEQB_UNREACHABLE, "no time is left after the login");
    assert_int_equal(calls, 1);
    is_answered = false;
    login_ms = 0;
    late_ms = 0;
    etcd_link_close(&link);
}

TEST_BEFORE_ALL(server_begin);
