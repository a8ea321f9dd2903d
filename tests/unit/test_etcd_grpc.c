/* SPDX-License-Identifier: Apache-2.0 */
/* How a call of gRPC ends, by the frames of HTTP/2 that a server sends. */
#include <string.h>

#include "backends/etcd/grpc.h"
#include "fuzz/false_server.h"
#include "support/test.h"
#include "support/wrap.h"

#define SETTINGS   "\0\0\0\4\0\0\0\0\0"
/* HEADERS of stream 1 with ":status: 200", from HPACK's static table. */
#define STATUS_200 "\0\0\1\1\4\0\0\0\1\x88"
#define STATUS_500 "\0\0\1\1\5\0\0\0\1\x8e" /* and its end */
#define TRAILER(code)                                                          \
    "\0\0\17\1\5\0\0\0\1"                                                      \
    "\0\13grpc-status\1" code
/* DATA of two bytes behind their prefix of five. */
#define DATA(compressed, length)                                               \
    "\0\0\7\0\0\0\0\0\1" compressed "\0\0\0" length "ok"
#define END_OF_DATA       "\0\0\0\0\1\0\0\0\1"
#define RESET(code)       "\0\0\4\3\0\0\0\0\1\0\0\0" code
#define GOAWAY(last)      "\0\0\x08\7\0\0\0\0\0\0\0\0" last "\0\0\0\0"
#define SAYS(literal)     literal, sizeof(literal) - 1
#define REFUSED_STREAM    "\7"
#define INTERNAL_ERROR    "\2"
#define ENHANCE_YOUR_CALM "\13"

static const struct {
    const char *frames;
    size_t size;
    enum etcd_outcome outcome;
    int code;
    const char *message; /* NULL: none */
    const char *words;
} rows[] = {
    {SAYS(SETTINGS STATUS_200 DATA("\0", "\2") TRAILER("0")), ETCD_ANSWERED, 0,
     "ok", ""},
    {SAYS(SETTINGS STATUS_200 DATA("\0", "\2") TRAILER("8")), ETCD_ANSWERED, 8,
     "ok", ""},
    {SAYS(SETTINGS STATUS_200 DATA("\1", "\2") TRAILER("0")), ETCD_ANSWERED, 0,
     NULL, ""},
    {SAYS(SETTINGS STATUS_200 DATA("\0", "\3") TRAILER("0")), ETCD_ANSWERED, 0,
     NULL, ""},
    {SAYS(SETTINGS STATUS_500), ETCD_ANSWERED, ETCD_GRPC_NO_CODE, NULL,
     "HTTP status 500"},
    {SAYS(SETTINGS STATUS_200 DATA("\0", "\2") END_OF_DATA), ETCD_LOST,
     ETCD_GRPC_NO_CODE, NULL, "without a status"},
    {SAYS(SETTINGS STATUS_200 DATA("\0", "\2") TRAILER("x")), ETCD_LOST,
     ETCD_GRPC_NO_CODE, NULL, "without a status"},
    {SAYS(SETTINGS STATUS_200 DATA("\0", "\2")), ETCD_LOST, ETCD_GRPC_NO_CODE,
     NULL, "the server closed it"},
    {SAYS(SETTINGS RESET(REFUSED_STREAM)), ETCD_NOT_SENT, ETCD_GRPC_NO_CODE,
     NULL, "REFUSED_STREAM"},
    {SAYS(SETTINGS STATUS_200 RESET(REFUSED_STREAM)), ETCD_LOST,
     ETCD_GRPC_NO_CODE, NULL, "REFUSED_STREAM"},
    {SAYS(SETTINGS RESET(INTERNAL_ERROR)), ETCD_LOST, ETCD_GRPC_NO_CODE, NULL,
     "INTERNAL_ERROR"},
    {SAYS(SETTINGS RESET(ENHANCE_YOUR_CALM)), ETCD_LOST, ETCD_GRPC_NO_CODE,
     NULL, "ENHANCE_YOUR_CALM"},
    {SAYS(SETTINGS GOAWAY("\0")), ETCD_NOT_SENT, ETCD_GRPC_NO_CODE, NULL,
     "REFUSED_STREAM"},
    {SAYS(SETTINGS GOAWAY("\1")), ETCD_LOST, ETCD_GRPC_NO_CODE, NULL,
     "the server closed it"},
    {SAYS(SETTINGS GOAWAY("\1") STATUS_200 DATA("\0", "\2") TRAILER("0")),
     ETCD_ANSWERED, 0, "ok", ""},
    {SAYS("HTTP/1.1 400 Bad Request\r\n\r\n"), ETCD_LOST, ETCD_GRPC_NO_CODE,
     NULL, "does not speak HTTP/2"},
    {SAYS(""), ETCD_LOST, ETCD_GRPC_NO_CODE, NULL, "demand TLS"},
};

static const struct etcd_buffer no_message = {.data = NULL};
static const struct etcd_call call = {.path = "/a/b",
                                      .authority = "a:1",
                                      .token = "",
                                      .request = &no_message,
                                      .budget_ms = 60000};

static const struct false_server *server;

static int server_begin(void **state)
{
    (void)state;
    server = false_server_start();
    return 0;
}

/* A call that may have been carried out never counts as not sent. */
TEST(end_of_a_call_says_whether_it_may_have_been_made)
{
    const struct stream_target target = {.host = server->path};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct etcd_grpc grpc = {.session = NULL};
        enum etcd_outcome outcome;

        false_server_say((const uint8_t *)rows[i].frames, rows[i].size);
        outcome = etcd_grpc_call(&grpc, &target, &call);
        if (outcome != rows[i].outcome || grpc.code != rows[i].code ||
            strstr(grpc.words, rows[i].words) == NULL)
            fail_msg("row %zu: outcome %d, code %d: %s", i, (int)outcome,
                     grpc.code, grpc.words);
        if (rows[i].message == NULL)
            assert_null(grpc.message);
        else
            assert_memory_equal(grpc.message, rows[i].message, grpc.length);
        etcd_grpc_close(&grpc);
    }
}

/* A message that is none is not taken for the one before it. */
TEST(message_is_of_its_call)
{
    const struct stream_target target = {.host = server->path};
    struct etcd_grpc grpc = {.session = NULL};

    for (size_t i = 0; i <= 2; i += 2) {
        false_server_say((const uint8_t *)rows[i].frames, rows[i].size);
        assert_int_equal(etcd_grpc_call(&grpc, &target, &call), ETCD_ANSWERED);
        assert_int_equal(grpc.message != NULL, rows[i].message != NULL);
    }
    etcd_grpc_close(&grpc);
}

/* --- a server that never stops to send --- */

static const uint8_t large_bytes[40000];
static bool is_flood;
static bool is_mute;   /* nothing arrives ... */
static size_t heard;   /* ... or only once so much was sent */
static bool has_begun; /* the server's SETTINGS were read */
static int late_reads; /* after the deadline */

/* In a flood, frames of a type that nobody knows, which HTTP/2 ignores, are
 * always there. */
WRAPPED(ssize_t, stream_read, struct stream *stream, char *to, size_t size)
{
    /* The frame's type is its fourth byte: 4 is SETTINGS, 0xfa no known one. */
    const char frame[9] = {[3] = (char)(has_begun ? 0xfa : 4)};

    if (is_mute && heard < sizeof large_bytes)
        return 0;
    if (!is_flood)
        return __real_stream_read(stream, to, size);
    if (stream_is_late(stream) && ++late_reads > 100)
        fail_msg("the server is read after the deadline");
    memcpy(to, frame, sizeof(frame));
    has_begun = true;
    return sizeof(frame);
}

TEST(call_ends_though_the_server_never_stops_to_send)
{
    const struct stream_target target = {.host = server->path};
    struct etcd_grpc grpc = {.session = NULL};
    struct etcd_call brief = call;

    brief.budget_ms = 1000;
    is_flood = true;
    assert_int_equal(etcd_grpc_call(&grpc, &target, &brief), ETCD_LOST);
    is_flood = false;
    assert_non_null(strstr(grpc.words, "no answer within 1000 ms"));
    etcd_grpc_close(&grpc);
}

static int opens; /* connections that were begun */

WRAPPED(enum seqb_status, stream_open, struct stream *stream,
        const struct stream_target *target, int32_t budget_ms,
        struct seqb_error *err)
{
    opens++;
    return __real_stream_open(stream, target, budget_ms, err);
}

/* A connection that is open uses up the call's time: a new one would need the
 * same time again. */
TEST(call_that_is_late_does_not_connect_again)
{
    const struct stream_target target = {.host = server->path};
    struct etcd_grpc grpc = {.session = NULL};
    struct etcd_call brief = call;

    false_server_say((const uint8_t *)rows[0].frames, rows[0].size);
    assert_int_equal(etcd_grpc_call(&grpc, &target, &call), ETCD_ANSWERED);
    brief.budget_ms = 200;
    opens = 0;
    is_flood = true;
    has_begun = true;
    late_reads = 0;
    assert_int_equal(etcd_grpc_call(&grpc, &target, &brief), ETCD_NOT_SENT);
    is_flood = false;
    assert_int_equal(opens, 0);
    assert_non_null(strstr(grpc.words, "no answer within 200 ms"));
    etcd_grpc_close(&grpc);
}

/* --- passwords --- */

#define SECRET "correct horse battery staple"

static bool is_cut;   /* nothing can be sent */
static bool is_stuck; /* the server reads no more than the first half */
static const void *watched;
static bool is_freed;
static bool is_wiped;

static bool holds_secret(const void *memory, size_t size)
{
    return memmem(memory, size, SECRET, sizeof SECRET - 1) != NULL;
}

WRAPPED(ssize_t, stream_write, struct stream *stream, const char *from,
        size_t size)
{
    if (is_cut)
        return -1;
    heard += size;
    if (is_stuck && !holds_secret(from, size))
        return 0;
    return __real_stream_write(stream, from, is_stuck ? size / 2 : size);
}

WRAPPED(void, free, void *memory)
{
    if (watched != NULL && memory == watched) {
        is_freed = true;
        is_wiped = !holds_secret(memory, sizeof SECRET);
        watched = NULL;
    }
    __real_free(memory);
}

TEST(request_is_overwritten_though_a_part_of_it_was_not_sent)
{
    const struct stream_target target = {.host = server->path};
    struct etcd_grpc grpc = {.session = NULL};
    struct etcd_buffer request = {.data = NULL};
    struct etcd_call login = call;

    etcd_buffer_add(&request, (const uint8_t *)SECRET, sizeof SECRET);
    login.request = &request;
    false_server_say((const uint8_t *)rows[0].frames, rows[0].size);
    is_stuck = true;
    assert_int_equal(etcd_grpc_call(&grpc, &target, &login), ETCD_ANSWERED);
    is_stuck = false;
    assert_true(grpc.frames_sent < grpc.frames.length);
    assert_true(holds_secret(grpc.frames.data, grpc.frames.size));
    etcd_grpc_wipe(&grpc);
    assert_null(grpc.target); /* the other half would be none of the request */
    assert_false(holds_secret(grpc.frames.data, grpc.frames.size));
    etcd_buffer_fini(&request);
    etcd_grpc_close(&grpc);
}

TEST(buffer_that_grows_leaves_no_copy_behind)
{
    static const uint8_t more[1 << 14];
    struct etcd_buffer buffer = {.data = NULL};

    etcd_buffer_add(&buffer, (const uint8_t *)SECRET, sizeof SECRET);
    watched = buffer.data;
    etcd_buffer_add(&buffer, more, sizeof more);
    watched = NULL;
    assert_true(is_freed && is_wiped);
    assert_true(holds_secret(buffer.data, buffer.length));
    etcd_buffer_fini(&buffer);
}

/* --- failures of our own --- */

enum step { MAKE_CALLBACKS, MAKE_SESSION, SUBMIT, COLLECT, RECEIVE, NOTHING };

static enum step fails = NOTHING;
static bool has_no_memory;

WRAPPED(void *, malloc, size_t size)
{
    return has_no_memory ? NULL : __real_malloc(size);
}

WRAPPED(int, nghttp2_session_callbacks_new, nghttp2_session_callbacks **out)
{
    return fails == MAKE_CALLBACKS ? NGHTTP2_ERR_NOMEM
                                   : __real_nghttp2_session_callbacks_new(out);
}

WRAPPED(int, nghttp2_session_client_new, nghttp2_session **out,
        const nghttp2_session_callbacks *callbacks, void *context)
{
    if (fails != MAKE_SESSION)
        return __real_nghttp2_session_client_new(out, callbacks, context);
    *out = (nghttp2_session *)out; /* of no use */
    return NGHTTP2_ERR_NOMEM;
}

static nghttp2_nv last_header; /* of the last call */

WRAPPED(int32_t, nghttp2_submit_request, nghttp2_session *session,
        const nghttp2_priority_spec *priority, const nghttp2_nv *headers,
        size_t n, const nghttp2_data_provider *request, void *context)
{
    last_header = headers[n - 1];
    return fails == SUBMIT
               ? NGHTTP2_ERR_NOMEM
               : __real_nghttp2_submit_request(session, priority, headers, n,
                                               request, context);
}

WRAPPED(ssize_t, nghttp2_session_mem_send, nghttp2_session *session,
        const uint8_t **frame)
{
    return fails == COLLECT ? NGHTTP2_ERR_CALLBACK_FAILURE
                            : __real_nghttp2_session_mem_send(session, frame);
}

WRAPPED(ssize_t, nghttp2_session_mem_recv, nghttp2_session *session,
        const uint8_t *bytes, size_t size)
{
    return fails == RECEIVE
               ? NGHTTP2_ERR_FLOODED
               : __real_nghttp2_session_mem_recv(session, bytes, size);
}

static void call_ends(const struct etcd_call *made, enum etcd_outcome expected,
                      const char *words)
{
    const struct stream_target target = {.host = server->path};
    struct etcd_grpc grpc = {.session = NULL};

    assert_int_equal(etcd_grpc_call(&grpc, &target, made), expected);
    if (strstr(grpc.words, words) == NULL)
        fail_msg("'%s' does not say '%s'", grpc.words, words);
    assert_true(expected == ETCD_ANSWERED || grpc.target == NULL);
    etcd_grpc_close(&grpc);
}

TEST(failure_of_our_own_is_none_of_the_server)
{
    static const struct {
        enum step step;
        enum etcd_outcome outcome;
        const char *words;
    } steps[] = {
        {MAKE_CALLBACKS, ETCD_NO_MEMORY, ""},
        {MAKE_SESSION, ETCD_NO_MEMORY, ""},
        {SUBMIT, ETCD_NO_MEMORY, ""},
        {COLLECT, ETCD_NOT_SENT, "HTTP/2: The user callback"},
        {RECEIVE, ETCD_LOST, "HTTP/2: Flooding was detected"},
    };

    false_server_say((const uint8_t *)rows[0].frames, rows[0].size);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        is_mute = steps[i].step == COLLECT;
        fails = steps[i].step;
        call_ends(&call, steps[i].outcome, steps[i].words);
        fails = NOTHING;
        is_mute = false;
    }
}

/* nghttp2 keeps it in no table, and asks the server to keep it in none. */
TEST(token_is_the_last_header)
{
    struct etcd_call with_token = call;

    false_server_say((const uint8_t *)rows[0].frames, rows[0].size);
    call_ends(&call, ETCD_ANSWERED, "");
    assert_string_equal((const char *)last_header.name, "content-type");
    with_token.token = SECRET;
    call_ends(&with_token, ETCD_ANSWERED, "");
    assert_string_equal((const char *)last_header.name, "token");
    assert_string_equal((const char *)last_header.value, SECRET);
    assert_int_equal(last_header.flags, NGHTTP2_NV_FLAG_NO_INDEX);
}

static nghttp2_on_header_callback header_take;

WRAPPED(void, nghttp2_session_callbacks_set_on_header_callback,
        nghttp2_session_callbacks *callbacks, nghttp2_on_header_callback take)
{
    header_take = take;
    __real_nghttp2_session_callbacks_set_on_header_callback(callbacks, take);
}

/* It ends neither that call nor the connection. */
TEST(header_of_another_stream_is_ignored)
{
    static const uint8_t name[] = "grpc-status";
    static const uint8_t value[] = "7";
    const nghttp2_frame frame = {.hd = {.stream_id = 3}};
    struct etcd_grpc grpc = {.stream_id = 1, .code = ETCD_GRPC_NO_CODE};

    call_ends(&call, ETCD_ANSWERED, "");
    assert_int_equal(header_take(NULL, &frame, name, sizeof name - 1, value,
                                 sizeof value - 1, 0, &grpc),
                     0);
    assert_int_equal(grpc.code, ETCD_GRPC_NO_CODE);
}

static bool is_gone; /* the server, once there is nothing to read */

WRAPPED(bool, stream_wait, struct stream *stream, bool reads, bool writes)
{
    return !is_gone && __real_stream_wait(stream, reads, writes);
}

TEST(call_whose_connection_is_lost_may_have_been_made)
{
    is_mute = true;
    heard = 0;
    is_gone = true;
    call_ends(&call, ETCD_LOST, "connection lost");
    is_gone = false;
    is_mute = false;
    assert_memory_equal(etcd_grpc_library(), "nghttp2 ", 8);
}

TEST(frames_without_memory_are_not_sent)
{
    is_mute = true;
    heard = 0;
    has_no_memory = true;
    call_ends(&call, ETCD_NOT_SENT, "HTTP/2: Out of memory");
    has_no_memory = false;
    is_mute = false;
}

/* The connection is not waited for. */
TEST(call_that_cannot_be_written_is_not_sent)
{
    is_mute = true;
    heard = 0;
    is_cut = true;
    call_ends(&call, ETCD_NOT_SENT, "");
    is_cut = false;
    is_mute = false;
}

/* One frame has 16384 bytes at most. */
TEST(request_of_several_frames_is_sent)
{
    struct etcd_buffer request = {.data = NULL};
    struct etcd_call large = call;

    etcd_buffer_add(&request, large_bytes, sizeof large_bytes);
    large.request = &request;
    false_server_say((const uint8_t *)rows[0].frames, rows[0].size);
    is_mute = true;
    heard = 0;
    call_ends(&large, ETCD_ANSWERED, "");
    is_mute = false;
    etcd_buffer_fini(&request);
}

TEST(nothing_is_sent_to_a_server_that_is_not_there)
{
    const struct stream_target target = {.host = "/nonexistent/socket"};
    struct etcd_grpc grpc = {.session = NULL};

    assert_int_equal(etcd_grpc_call(&grpc, &target, &call), ETCD_NOT_SENT);
    assert_non_null(strstr(grpc.words, "No such file"));
    etcd_grpc_close(&grpc);
}

TEST_BEFORE_ALL(server_begin);
