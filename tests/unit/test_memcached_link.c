/* SPDX-License-Identifier: Apache-2.0 */
/* What the memcached engine does while a server takes only a part of what is
 * sent, or nothing: this program's stream is a script. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/backends.h"
#include "backends/memcached/item.h"
#include "platform/error.h"
#include "platform/text.h"
#include "support/failure.h"
#include "support/wrap.h"

#define ALL     ((size_t)1 << 30)
#define LONG    (MEMCACHED_OUT_SIZE + 100)
#define REPLIES "HD\r\nHD\r\n"

/* How a server behaves. */
static struct script {
    size_t takes[4];  /* bytes of each write; none from then on */
    size_t writes;    /* so many of those are there */
    int fails_wait;   /* the number of the wait that fails; 0: none */
    const char *says; /* of which each read gives four bytes */
    int idle;         /* as many reads give none before */
    bool hangs_up;    /* when it has said all */
    /* What it saw. */
    char heard[2 * LONG];
    size_t length;
    int waits;
    bool awaits_input;
} script;

static struct memcached mc;

WRAPPED(ssize_t, stream_write, struct stream *stream, const char *from,
        size_t size)
{
    size_t count = script.writes > 0 ? script.takes[0] : 0;

    (void)stream;
    if (script.writes == 0)
        return -1;
    memmove(script.takes, script.takes + 1,
            sizeof script.takes - sizeof script.takes[0]);
    script.writes--;
    count = count < size ? count : size;
    assert_true(script.length + count <= sizeof script.heard);
    memcpy(script.heard + script.length, from, count);
    script.length += count;
    return (ssize_t)count;
}

WRAPPED(ssize_t, stream_read, struct stream *stream, char *to, size_t size)
{
    const size_t rest = strlen(script.says);
    const size_t count = rest < 4 ? rest : 4;

    assert_true(size >= count);
    assert_ptr_equal(to + size, mc.link.in + sizeof mc.link.in);
    if (script.idle > 0) {
        script.idle--;
        return 0;
    }
    if (rest == 0) {
        stream->has_ended = script.hangs_up;
        return -1;
    }
    memcpy(to, script.says, count);
    script.says += count;
    return (ssize_t)count;
}

WRAPPED(bool, stream_wait, struct stream *stream, bool in, bool out)
{
    (void)stream;
    (void)out;
    script.awaits_input = in;
    return ++script.waits != script.fails_wait;
}

static bool is_deaf; /* nobody can connect */
static const char *path_of_target;

WRAPPED(enum seqb_status, stream_open, struct stream *stream,
        const struct stream_target *target, int32_t budget_ms,
        struct seqb_error *err)
{
    (void)stream;
    (void)budget_ms;
    path_of_target = target->port == 0 ? target->host : NULL;
    return is_deaf ? error_set(err, SEQB_UNREACHABLE, "deaf") : SEQB_OK;
}

/* A connection to a server that takes `takes[0]` bytes, then `takes[1]`. */
static struct memcached_link *begin(size_t n, const size_t *takes,
                                    const char *says)
{
    memset(&mc, 0, sizeof mc);
    memset(&script, 0, sizeof script);
    memcpy(script.takes, takes, n * sizeof takes[0]);
    script.writes = n;
    script.says = says;
    mc.link.stream.fd = -1;
    return &mc.link;
}

#define BEGIN(says, ...)                                                       \
    begin(sizeof(size_t[]){__VA_ARGS__} / sizeof(size_t),                      \
          (size_t[]){__VA_ARGS__}, says)

/* --- sending --- */

/* A server that cannot send its answers stops reading. */
TEST(answers_are_read_while_the_server_takes_nothing)
{
    struct memcached_link *link = BEGIN(REPLIES, 3, 0, ALL);

    assert_true(memcached_link_add(link, "%s", "abcdef"));
    assert_true(memcached_link_flush(link));
    assert_int_equal(script.waits, 1);
    assert_true(script.awaits_input);
    assert_int_equal(link->in_to, 4);
    assert_int_equal(link->out_length, 0);
    assert_string_equal(script.heard, "abcdef");
    assert_int_equal(script.length, 6);
}

/* Its answer, which may be why, is read later. */
TEST(server_that_hung_up_may_still_be_told)
{
    struct memcached_link *link = BEGIN("", 0, 0, ALL);

    script.hangs_up = true;
    assert_true(memcached_link_add(link, "%s", "abcdef"));
    assert_true(memcached_link_flush(link));
    assert_int_equal(script.waits, 2);
    assert_false(script.awaits_input);
    assert_string_equal(script.heard, "abcdef");
}

TEST(full_buffer_listens_no_more)
{
    struct memcached_link *link = BEGIN("", 0, ALL);

    link->in_to = sizeof link->in;
    assert_true(memcached_link_add(link, "%s", "abcdef"));
    assert_true(memcached_link_flush(link));
    assert_false(script.awaits_input);
}

TEST(failure_of_a_write_a_wait_or_a_read_is_one_of_the_flush)
{
    struct memcached_link *link = BEGIN("", ALL);

    script.writes = 0;
    assert_true(memcached_link_add(link, "%s", "abcdef"));
    assert_false(memcached_link_flush(link));
    link = BEGIN(REPLIES, 0, ALL);
    script.fails_wait = 1;
    assert_true(memcached_link_add(link, "%s", "abcdef"));
    assert_false(memcached_link_flush(link));
    link = BEGIN("", 0, ALL);
    assert_true(memcached_link_add(link, "%s", "abcdef"));
    assert_false(memcached_link_flush(link));
}

TEST(text_that_is_too_long_is_not_added)
{
    struct memcached_link *link = BEGIN("", ALL);
    char text[514];

    memset(text, 'x', sizeof text);
    text[513] = '\0';
    assert_false(memcached_link_add(link, "%s", text));
    text[512] = '\0';
    assert_true(memcached_link_add(link, "%s", text));
    assert_int_equal(link->out_length, 512);
}

TEST(what_does_not_fit_the_buffer_is_sent_in_parts)
{
    static char bytes[LONG];
    struct memcached_link *link = BEGIN("", ALL, ALL);

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)('a' + i % 26);
    assert_true(memcached_link_add_bytes(link, bytes, sizeof bytes));
    assert_int_equal(script.length, MEMCACHED_OUT_SIZE);
    assert_true(memcached_link_flush(link));
    assert_int_equal(script.length, sizeof bytes);
    assert_memory_equal(script.heard, bytes, sizeof bytes);
}

/* --- calls --- */

static char text[LONG];

/* A connection to a server that takes nothing more. */
static void begin_lost(void)
{
    int fds[2];

    memset(text, 'x', sizeof text - 1);
    (void)BEGIN("", ALL);
    script.writes = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds),
                     0);
    assert_int_equal(close(fds[1]), 0);
    mc.link.stream.fd = fds[0];
    mc.timeout_ms = 1000;
    mc.session.connections = 1;
}

TEST(call_whose_request_is_not_sent_in_full_fails)
{
    static struct seqb_request requests[1000];
    struct seqb_claim claim = {.name = "a", .text = text};
    char standing[16];
    size_t done;

    begin_lost();
    assert_fails(backend_memcached.claim(&mc.base, "a", text, standing,
                                         sizeof standing, &failure),
                 SEQB_UNCERTAIN, "");
    begin_lost();
    assert_fails(
        backend_memcached.claim_many(&mc.base, &claim, 1, &done, &failure),
        SEQB_UNCERTAIN, "");
    begin_lost();
    script.says = "EN\r\n"; /* which is not read any more */
    for (size_t i = 0; i < COUNT_OF(requests); i++)
        requests[i] = (struct seqb_request){
            .counter = "counter", .want = 1, .limit = 1024};
    assert_fails(backend_memcached.reserve(&mc.base, requests,
                                           COUNT_OF(requests), &failure),
                 SEQB_UNCERTAIN, "");
    assert_status(requests[0].status, SEQB_UNCERTAIN);
    assert_status(requests[999].status, SEQB_UNCERTAIN);
    assert_int_equal(mc.link.stream.fd, -1);
}

TEST(login_that_is_not_sent_in_full_fails)
{
    struct memcached_link *link =
        BEGIN("CLIENT_ERROR unauthenticated\r\n", ALL);
    const struct seqb_backend_options options = {
        .name = "a", .host = "b", .user = "u", .password = text};
    struct memcached_session session;

    memset(text, 'x', sizeof text - 1);
    assert_fails(memcached_session_open(link, &session, &options, &failure),
                 SEQB_UNREACHABLE, "");
    assert_string_equal(script.heard, "version\r\n");
}

/* --- replies --- */

static void must_read(struct memcached_link *link, enum memcached_code code,
                      const char *expected)
{
    struct memcached_reply reply;

    assert_true(memcached_link_read(link, &reply));
    assert_int_equal(reply.code, code);
    assert_int_equal(reply.length, strlen(expected));
    assert_memory_equal(reply.text, expected, reply.length);
}

TEST(replies_arrive_in_pieces)
{
    struct memcached_link *link =
        BEGIN("HD\r\nVA 2 f1 c2\r\nab\r\nEN\r\n?", ALL);

    script.idle = 2;
    must_read(link, MEMCACHED_DONE, "HD");
    assert_int_equal(script.waits, 3);
    assert_true(script.awaits_input);
    must_read(link, MEMCACHED_VALUE, "ab");
    must_read(link, MEMCACHED_ABSENT, "EN");
    assert_int_equal(strlen(script.says) + link->in_to - link->in_from, 1);
}

TEST(reply_that_is_broken_or_does_not_come_is_none)
{
    struct memcached_link *link = BEGIN("\1\r\n", ALL);
    struct memcached_reply reply;

    assert_false(memcached_link_read(link, &reply));
    assert_fails(memcached_link_lose(link, SEQB_UNCERTAIN, &failure),
                 SEQB_PROTOCOL, "is no reply of a memcached server");
    link = BEGIN("HD", ALL);
    assert_false(memcached_link_read(link, &reply));
    assert_fails(memcached_link_lose(link, SEQB_UNCERTAIN, &failure),
                 SEQB_UNCERTAIN, "");
    link = BEGIN("HD\r\n", ALL);
    script.fails_wait = 1;
    assert_false(memcached_link_read(link, &reply));
}

/* It is longer than the buffer. */
TEST(value_that_is_too_long_is_skipped)
{
    enum { LENGTH = 70000 };
    static char says[LENGTH + 64];
    struct memcached_link *link;
    struct memcached_reply reply;

    (void)text_format(says, sizeof says, "VA %d f1 c1\r\n", LENGTH);
    memset(says + strlen(says), 'x', LENGTH);
    (void)text_append(says, sizeof says, "\r\nHD\r\n");
    link = BEGIN(says, ALL);
    assert_true(memcached_link_read(link, &reply));
    assert_null(reply.text);
    assert_int_equal(reply.length, LENGTH);
    must_read(link, MEMCACHED_DONE, "HD");
}

/* --- the connection --- */

/* A pool has a duplicate of the descriptor. */
TEST(connection_that_is_of_no_use_ends)
{
    char line[MEMCACHED_LINE_MAX];
    const struct memcached_reply value = {
        .code = MEMCACHED_VALUE, .text = "secret", .length = 6};
    const struct memcached_reply said = {
        .code = MEMCACHED_LINE, .text = line, .length = sizeof line};
    int fds[2];
    int duplicate;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds),
                     0);
    duplicate = dup(fds[0]);
    (void)BEGIN("", ALL);
    mc.link.stream.fd = fds[0];
    assert_true(memcached_link_is_open(&mc.link));
    memset(line, 'x', sizeof line);
    assert_fails(memcached_link_distrust(&mc.link, "it", &said, &failure),
                 SEQB_PROTOCOL, "the answer to it makes no sense: xxx");
    assert_int_equal(strspn(strrchr(failure.text, ' ') + 1, "x"), 200);
    assert_false(memcached_link_is_open(&mc.link));
    assert_int_equal(recv(fds[1], line, 1, MSG_DONTWAIT), 0);
    assert_fails(memcached_link_distrust(&mc.link, "it", &value, &failure),
                 SEQB_PROTOCOL, "makes no sense");
    assert_null(strstr(failure.text, "secret"));
    mc.link.stream.fd = 0;
    assert_true(memcached_link_is_open(&mc.link));
    mc.link.stream.fd = -1;
    assert_int_equal(close(duplicate) + close(fds[1]), 0);
}

TEST(address_says_where_the_server_is)
{
    struct seqb_backend_options options = {.name = "a"};
    struct memcached_link *link = BEGIN("", ALL);

    assert_fails(memcached_link_open(link, &options, &failure), SEQB_INVALID,
                 "a: no host and no socket path");
    options.socket_path = "/run/m";
    assert_ok(memcached_link_open(link, &options, &failure));
    assert_string_equal(link->where, "a (memcached /run/m)");
    assert_string_equal(path_of_target, "/run/m");
    options.socket_path = NULL;
    options.host = "b";
    is_deaf = true;
    assert_fails(memcached_link_open(link, &options, &failure),
                 SEQB_UNREACHABLE,
                 "a (memcached b:11211): cannot connect: deaf");
    is_deaf = false;
    assert_null(path_of_target);
}

/* --- sessions --- */

#define ASKED "mn\r\nstats\r\nstats settings\r\n"
#define AGE   "STAT pid 7\r\nSTAT uptime 10\r\nSTAT time 1010\r\nEND\r\n"
#define LIMITS(more)                                                           \
    "STAT maxconns 1\r\nSTAT cas_enabled yes\r\n" more "END\r\n"
#define SOUND "VERSION 1\r\nMN\r\n" AGE

static enum seqb_status open_session(const char *says, const char *user,
                                     bool accept_loss,
                                     struct memcached_session *out,
                                     struct seqb_error *err)
{
    const struct seqb_backend_options options = {.name = "a",
                                                 .host = "b",
                                                 .user = user,
                                                 .password = "pass",
                                                 .accept_loss = accept_loss};
    struct memcached_link *link = BEGIN(says, ALL, ALL, ALL, ALL, ALL);

    memset(out, 0, sizeof *out);
    return memcached_session_open(link, out, &options, err);
}

TEST(login_is_sent_once_it_is_asked_for)
{
    static const char *const users[] = {"user", NULL};
    static const char *const sent[] = {
        "version\r\nset auth 0 0 9\r\nuser pass\r\nversion\r\n" ASKED,
        "version\r\nset auth 0 0 5\r\n pass\r\nversion\r\n" ASKED};
    struct memcached_session session;

    for (int i = 0; i < 2; i++) {
        assert_ok(open_session(
            "CLIENT_ERROR unauthenticated\r\nSTORED\r\n" SOUND LIMITS(""),
            users[i], false, &session, &failure));
        assert_string_equal(script.heard, sent[i]);
        assert_string_equal(session.version, "1");
        assert_string_equal(session.origin, "7:1000");
        assert_int_equal(session.connections, 1);
    }
    assert_fails(open_session("CLIENT_ERROR unauthenticated\r\nERROR\r\n", "u",
                              false, &session, &failure),
                 SEQB_REFUSED, "the user or the password was refused");
    assert_fails(open_session("CLIENT_ERROR unauthenticated\r\n", "u", false,
                              &session, &failure),
                 SEQB_UNREACHABLE, "");
    assert_fails(open_session("VERSION 1\r\n", "u", false, &session, &failure),
                 SEQB_UNREACHABLE, "");
}

TEST(memory_file_is_a_loss_that_must_be_accepted)
{
    static const char says[] = SOUND LIMITS("STAT memory_file x\r\n");
    struct memcached_session session;

    assert_fails(open_session(says, "u", false, &session, &failure),
                 SEQB_UNSAFE, "in a file (x)");
    assert_ok(open_session(says, "u", true, &session, &failure));
    assert_non_null(strstr(session.loss, "memory file"));
    assert_ok(open_session(SOUND LIMITS("STAT memory_file (null)\r\n"), "u",
                           false, &session, &failure));
    assert_string_equal(session.loss, "");
}

/* --- what cannot be asked for --- */

TEST(arguments_that_a_cell_cannot_have_are_refused)
{
    static const struct {
        int64_t want;
        int64_t limit;
        enum seqb_status status;
    } rows[] = {
        {0, 1024, SEQB_INVALID}, {SEQB_GRANT_MAX + 1, 1024, SEQB_INVALID},
        {1, 0, SEQB_INVALID},    {1, INT64_MAX, SEQB_INVALID},
        {1, 512, SEQB_UNSAFE},
    };
    const struct seqb_window window = {
        .counter = "a", .window = 1, .size = 512};
    const struct seqb_window none = {.counter = "a", .window = 0, .size = 1024};
    int64_t standing;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct seqb_request request = {
            .counter = "a", .want = rows[i].want, .limit = rows[i].limit};

        (void)BEGIN("", ALL);
        mc.link.stream.fd = 1000000;
        mc.session.connections = 1024;
        assert_ok(backend_memcached.reserve(&mc.base, &request, 1, &failure));
        assert_status(request.status, rows[i].status);
        assert_status(request.error.status, rows[i].status);
    }
    assert_fails(
        backend_memcached.install(&mc.base, &window, &standing, &failure),
        SEQB_UNSAFE, "a window of 512 values");
    assert_fails(
        backend_memcached.install(&mc.base, &none, &standing, &failure),
        SEQB_INVALID, "a: no window 0");
    assert_int_equal(script.length, 0);
}

TEST(options_that_it_cannot_serve_are_refused)
{
    struct seqb_backend_options options = {
        .name = "a", .host = "b", .prefix = text};
    struct seqb_backend *backend = NULL;

    memset(text, 'x', sizeof text - 1);
    assert_fails(backend_memcached.open(&options, &backend, &failure),
                 SEQB_INVALID, "a: a prefix has at most 64 bytes");
    assert_null(backend);
}

/* A value that is too long is skipped as far as it arrives. */
TEST(value_that_is_cut_off_is_no_answer)
{
    struct memcached_link *link = BEGIN("VA 100000 f1 c1\r\nxxxx", ALL);
    struct memcached_reply reply;

    assert_false(memcached_link_read(link, &reply));
}
