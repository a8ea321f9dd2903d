/* SPDX-License-Identifier: Apache-2.0 */
/* What the memcached engine sends, and what it makes of answers that a sound
 * server does not give. */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/backends.h"
#include "backends/memcached/session.h"
#include "contract/windowed_answers.h"
#include "platform/text.h"
#include "support/test.h"

#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define SIZE      ((int64_t)1024)
#define FLAGS     "f1936785418" /* of cells of that size */
#define TEXT_SIZE 4096

#define VERSION  "VERSION 1.6.18\r\nMN\r\n"
#define STATS    "STAT pid 7\r\nSTAT uptime 10\r\nSTAT time 1010\r\nEND\r\n"
#define SETTINGS "STAT maxconns 1024\r\nSTAT cas_enabled yes\r\nEND\r\n"
#define SESSION  VERSION STATS SETTINGS
#define OPENING  "version\r\nmn\r\nstats\r\nstats settings\r\n"

static void session_start(struct impostor *impostor, const char *answers,
                          enum after after)
{
    char text[TEXT_SIZE];

    assert_true(text_format(text, sizeof text, SESSION "%s", answers));
    impostor_start(impostor, text, after);
    assert_done(impostor_open(impostor, &backend_memcached), impostor->err);
}

/* --- open --- */

TEST_WITH(IMPOSTOR, sound_session_opens_with_its_origin)
{
    char domain[32];

    session_start(impostor, "", WAITS);
    (void)text_format(domain, sizeof domain, "127.0.0.1:%d",
                      (int)impostor->options.port);
    assert_string_equal(impostor->backend->origin, "7:1000");
    assert_string_equal(impostor->backend->server, "memcached 1.6.18");
    assert_string_equal(impostor->backend->domain, domain);
    assert_string_equal(impostor->backend->loss, "");
    assert_true(impostor->backend->fd >= 0);
}

TEST_WITH(IMPOSTOR, password_does_not_stay_in_what_was_sent)
{
    static struct memcached_link link = {.stream = {.fd = -1}};
    struct memcached_session session;

    impostor_start(impostor,
                   "CLIENT_ERROR unauthenticated\r\nSTORED\r\n" SESSION, WAITS);
    impostor->options.user = "seq";
    impostor->options.password = "correct-horse-battery";
    assert_done(memcached_session_open(&link, &session, &impostor->options,
                                       &impostor->err),
                impostor->err);
    assert_null(memmem(link.out, sizeof link.out, "horse", 5));
    memcached_link_close(&link);
}

/* A listener whose backlog is full, as of a host that answers nothing. */
TEST(connect_that_is_not_answered_ends_in_time)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *const name = (struct sockaddr *)&address;
    socklen_t size = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct impostor none = {.options = {.name = "none",
                                        .host = "127.0.0.1",
                                        .connect_timeout_ms = 200,
                                        .timeout_ms = 200}};
    int fds[4];

    assert_int_equal(bind(listener, name, size), 0);
    assert_int_equal(listen(listener, 0), 0);
    assert_int_equal(getsockname(listener, name, &size), 0);
    for (size_t i = 0; i < COUNT(fds); i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)connect(fds[i], name, size);
    }
    none.options.port = ntohs(address.sin_port);
    assert_int_equal(impostor_open(&none, &backend_memcached),
                     SEQB_UNREACHABLE);
    assert_non_null(strstr(none.err.text, "no answer within 200 ms"));
    for (size_t i = 0; i < COUNT(fds); i++)
        assert_int_equal(close(fds[i]), 0);
    assert_int_equal(close(listener), 0);
}

TEST_WITH(IMPOSTOR, redis_at_its_address_is_named)
{
    impostor_start(impostor, "-NOAUTH Authentication required.\r\n", WAITS);
    assert_int_equal(impostor_open(impostor, &backend_memcached),
                     SEQB_PROTOCOL);
    assert_non_null(strstr(impostor->err.text, "a Redis server answers"));
}

TEST(what_is_no_memcached_does_not_open)
{
    static const struct {
        const char *text;
        enum seqb_status status;
    } rows[] = {
        {"HTTP/1.1 400 Bad Request\r\n\r\n", SEQB_PROTOCOL},
        {"220 mail ready\r\n", SEQB_PROTOCOL},
        {"-ERR unknown command\r\n", SEQB_PROTOCOL},
        {"\n", SEQB_PROTOCOL},
        {"\1\2\3\r\n", SEQB_PROTOCOL},
        {"VERSION x.1\r\nMN\r\n" STATS SETTINGS, SEQB_PROTOCOL},
        {"VERSIONS1.6\r\nMN\r\n" STATS SETTINGS, SEQB_PROTOCOL},
        {"VERSION\r\n", SEQB_PROTOCOL},
        {"VERSION \r\n", SEQB_PROTOCOL},
        {"VERSION mcrouter 1.0\r\n", SEQB_PROTOCOL},
        {"VA 1\r\nx\r\n", SEQB_PROTOCOL},
        {"ERROR\r\n", SEQB_PROTOCOL},
        {"SERVER_ERROR busy\r\n", SEQB_REFUSED},
        {"CLIENT_ERROR unauthenticated\r\n", SEQB_REFUSED},
        {"", SEQB_UNREACHABLE},
        {"VERSION 1.6", SEQB_UNREACHABLE},
        {"VERSION 1.4.5\r\nERROR\r\n", SEQB_REFUSED},
        {VERSION "ERROR\r\n", SEQB_PROTOCOL},
        {VERSION "END\r\nEND\r\n", SEQB_PROTOCOL},
        {VERSION "STORED\r\n", SEQB_PROTOCOL},
        {VERSION "STAT pid 7\r\n", SEQB_UNREACHABLE},
        {VERSION STATS "END\r\n", SEQB_PROTOCOL},
        {VERSION STATS "STAT maxconns 0\r\nSTAT cas_enabled yes\r\nEND\r\n",
         SEQB_PROTOCOL},
        {VERSION STATS "STAT maxconns 1024\r\nEND\r\n", SEQB_REFUSED},
        {VERSION STATS "STAT maxconns 1024\r\nSTAT cas_enabled no\r\nEND\r\n",
         SEQB_REFUSED},
        {VERSION STATS "STAT maxconns 1024\r\nSTAT cas_enabled yes\r\n"
                       "STAT memory_file /mnt/x\r\nEND\r\n",
         SEQB_UNSAFE},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        must_refuse_session(&backend_memcached, rows[i].text, rows[i].status);
}

/* The last line of a thousand must be the end. */
TEST(endless_statistics_are_given_up)
{
    struct impostor impostor = {0};
    char *text = calloc(1, 65536);

    assert_non_null(text);
    for (int lines = 996; lines <= 997; lines++) {
        assert_true(text_copy(text, 65536, VERSION));
        for (int i = 0; i < lines; i++)
            assert_true(text_append(text, 65536, "STAT number_%d 1\r\n", i));
        assert_true(text_append(text, 65536, STATS SETTINGS));
        impostor_start(&impostor, text, WAITS);
        assert_status(impostor_open(&impostor, &backend_memcached),
                      lines == 996 ? SEQB_OK : SEQB_PROTOCOL);
        impostor_stop(&impostor);
    }
    free(text);
}

TEST(dripping_server_does_not_stretch_the_time_out)
{
    must_give_up_drips(&backend_memcached, "VERSION ", SESSION "EN", SIZE);
}

/* --- what is sent --- */

TEST_WITH(IMPOSTOR,
          commands_are_just_these_and_none_makes_a_counter_but_install)
{
    static const char expected[] =
        OPENING "mg seqbroker:a v f c\r\nmg seqbroker:b v f c\r\n"
                "ma seqbroker:a MI D1 v\r\nma seqbroker:b MI D1 v\r\n"
                "mg seqbroker:a v f c\r\n"
                "ms seqbroker:a 4 F1936785418 ME\r\n8192\r\n"
                "mg seqbroker:a v f c\r\n"
                "ms seqbroker:a 4 F1936785418 C77\r\n8192\r\n"
                "mg seqbroker:a v f c\r\nmd seqbroker:a\r\n"
                "ms seqbroker:claim:a 4 F1936785664 ME\r\ntext\r\n"
                "mg seqbroker:claim:a v f c\r\n";
    const struct seqb_raise raise = {
        .counter = "a", .floor = 4, .limit = INT64_MAX};
    const struct seqb_window window = {
        .counter = "a", .window = 4, .size = SIZE};
    struct seqb_request requests[2];
    char sent[TEXT_SIZE];
    char standing[16];
    int64_t out;

    session_start(impostor,
                  "VA 4 " FLAGS " c1\r\n2048\r\nVA 4 " FLAGS " c2\r\n2048\r\n"
                  "VA 4\r\n2049\r\nVA 4\r\n2049\r\n"
                  "EN\r\nHD\r\n"
                  "VA 4 " FLAGS " c77\r\n3072\r\nHD\r\n"
                  "VA 4 " FLAGS " c3\r\n2048\r\nHD\r\n"
                  "HD\r\nVA 4 f1936785664 c4\r\ntext\r\n",
                  WAITS);
    assert_ok(reserve_two(impostor, SIZE, requests));
    assert_int_equal(requests[0].block.count, 1);
    for (int i = 0; i < 2; i++)
        assert_ok(backend_memcached.install(impostor->backend, &window, &out,
                                            &impostor->err));
    assert_ok(backend_memcached.raise(impostor->backend, &raise, &out,
                                      &impostor->err));
    assert_ok(backend_memcached.claim(impostor->backend, "a", "text", standing,
                                      sizeof standing, &impostor->err));
    impostor_recall(impostor, sent, sizeof sent);
    assert_string_equal(sent, expected);
}

TEST_WITH(IMPOSTOR, used_up_or_absent_cells_are_not_counted_in)
{
    struct seqb_request requests[2];
    char sent[TEXT_SIZE];

    session_start(impostor, "VA 4 " FLAGS " c1\r\n3072\r\nEN\r\n", WAITS);
    assert_ok(reserve_two(impostor, SIZE, requests));
    assert_int_equal(requests[0].status, SEQB_EXHAUSTED);
    assert_int_equal(requests[0].window, 1);
    assert_int_equal(requests[1].status, SEQB_FENCED);
    impostor_recall(impostor, sent, sizeof sent);
    assert_string_equal(sent, OPENING
                        "mg seqbroker:a v f c\r\nmg seqbroker:b v f c\r\n");
}

/* --- reserve --- */

#define LOOK  "VA 4 " FLAGS " c1\r\n2048\r\n"
#define LOOKS LOOK LOOK

TEST(counts_in_the_guard_band_or_another_window_are_refused)
{
    static const struct {
        const char *count;
        enum seqb_status status;
        int64_t first;
        int64_t window;
    } rows[] = {
        {"VA 4\r\n2049\r\n", SEQB_OK, 0, 1},
        {"VA 4\r\n3072\r\n", SEQB_OK, 1023, 1},
        {"VA 4\r\n3073\r\n", SEQB_EXHAUSTED, 0, 1},
        {"VA 4\r\n4096\r\n", SEQB_EXHAUSTED, 0, 1},
        {"VA 4\r\n4097\r\n", SEQB_FENCED, 0, 1},
        {"VA 4\r\n2048\r\n", SEQB_FENCED, 0, 1},
        {"VA 1\r\n0\r\n", SEQB_FENCED, 0, 1},
        {"NF\r\n", SEQB_FENCED, 0, SEQB_NO_WINDOW},
        {"SERVER_ERROR out of memory in incr\r\n", SEQB_REFUSED, 0, 1},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct impostor impostor = {0};
        struct seqb_request requests[2];
        char answers[256];

        (void)text_format(answers, sizeof answers, LOOKS "%sVA 4\r\n2049\r\n",
                          rows[i].count);
        session_start(&impostor, answers, WAITS);
        assert_ok(reserve_two(&impostor, SIZE, requests));
        assert_int_equal(requests[0].status, rows[i].status);
        assert_int_equal(requests[0].window, rows[i].window);
        assert_int_equal(requests[0].block.first, rows[i].first);
        assert_int_equal(requests[0].block.count, rows[i].status == SEQB_OK);
        assert_ok(requests[1].status);
        impostor_stop(&impostor);
    }
}

TEST(answers_that_make_no_sense_end_the_connection)
{
    static const char *const answers[] = {
        "HD\r\n",
        "NS\r\n",
        "VA 4\r\n2048\r\n",
        ("VA 4 " FLAGS "\r\n2048\r\n"),
        "VA 4 c1\r\n2048\r\n",
        ("VA 4 " FLAGS " c0\r\n2048\r\n"),
        "VA x\r\n",
        "VA 3\r\n2048\r\n",
        "ERROR\r\n",
        "CLIENT_ERROR bad command line format\r\n",
        "END\r\n",
        "?\n",
        (LOOKS "HD\r\n"),
        (LOOKS "NS\r\n"),
        (LOOKS "EX\r\n"),
        (LOOKS "VA 5\r\n 2049\r\n"),
        (LOOKS "VA 0\r\n\r\n"),
        (LOOKS "VA 20\r\n18446744073709551616\r\n"),
        (LOOKS "ERROR\r\n"),
        (LOOKS "2049\r\n"),
    };

    for (size_t i = 0; i < COUNT(answers); i++) {
        struct impostor impostor = {0};

        session_start(&impostor, answers[i], CLOSES);
        must_distrust(&impostor, SIZE);
        impostor_stop(&impostor);
    }
}

TEST_WITH(IMPOSTOR, closed_in_mid_reply_is_uncertain_from_there_on)
{
    session_start(impostor, LOOKS "VA 4\r\n2049\r\nVA 4\r\n20", CLOSES);
    must_doubt_second(impostor, SIZE, 1);
}

/* --- the other calls --- */

TEST(install_that_lost_the_race_looks_who_won)
{
    static const struct {
        const char *answers;
        enum seqb_status status;
        int64_t standing;
    } rows[] = {
        {"EN\r\nNS\r\n" LOOK, SEQB_OK, 1},
        {"VA 4 " FLAGS " c7\r\n3072\r\nEX\r\nVA 4 " FLAGS " c8\r\n6144\r\n",
         SEQB_OK, 3},
        {"EN\r\nNS\r\nVA 4 " FLAGS " c7\r\n9216\r\n", SEQB_FENCED, 4},
        {"EN\r\nNS\r\nVA 5 " FLAGS " c7\r\n11264\r\n", SEQB_FENCED, 5},
        {"EN\r\nNS\r\nVA 4 f1936785419 c7\r\n8192\r\n", SEQB_LAYOUT, 0},
        {"VA 4 " FLAGS " c7\r\n3072\r\nEX\r\nVA 4 " FLAGS " c8\r\n3073\r\n",
         SEQB_AGAIN, 0},
        {"VA 4 " FLAGS " c7\r\n3072\r\nNF\r\nEN\r\n", SEQB_AGAIN, 0},
        {"EN\r\nSERVER_ERROR out of memory storing object\r\n", SEQB_REFUSED,
         0},
        {"EN\r\n", SEQB_UNCERTAIN, 0},
        {"EN\r\nH", SEQB_UNCERTAIN, 0},
        {"EN\r\nEN\r\n" LOOK, SEQB_OK, 1},
        {"EN\r\nMN\r\n", SEQB_PROTOCOL, 0},
        {"EN\r\nERROR\r\n", SEQB_PROTOCOL, 0},
        {"HD\r\n", SEQB_PROTOCOL, 0},
    };
    const struct seqb_window window = {
        .counter = "a", .window = 4, .size = SIZE};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct impostor impostor = {0};
        char sent[TEXT_SIZE];
        int64_t standing = 0;
        const char *store;

        session_start(&impostor, rows[i].answers, CLOSES);
        assert_int_equal(backend_memcached.install(impostor.backend, &window,
                                                   &standing, &impostor.err),
                         rows[i].status);
        assert_int_equal(standing, rows[i].standing);
        impostor_recall(&impostor, sent, sizeof sent);
        store = strstr(sent, "\r\nms "); /* once at the most */
        assert_true(store == NULL || strstr(store + 1, "\r\nms ") == NULL);
        impostor_stop(&impostor);
    }
}

TEST(other_calls_check_their_answers_too)
{
    static const struct {
        const char *answers;
        enum seqb_status raised;
        enum seqb_status claimed;
    } rows[] = {
        {"HD\r\n", SEQB_PROTOCOL, SEQB_UNCERTAIN},
        {"ERROR\r\n", SEQB_PROTOCOL, SEQB_PROTOCOL},
        {LOOK "NS\r\n", SEQB_PROTOCOL, SEQB_PROTOCOL},
        {LOOK, SEQB_UNCERTAIN, SEQB_PROTOCOL},
        {"", SEQB_UNCERTAIN, SEQB_UNCERTAIN},
        {"NS\r\nEN\r\n", SEQB_PROTOCOL, SEQB_REFUSED},
        {"NS\r\nVA 16 f1936785664 c1\r\n0123456789abcdef\r\n", SEQB_PROTOCOL,
         SEQB_PROTOCOL},
        {"NS\r\nVA 0 f1936785664 c1\r\n\r\n", SEQB_PROTOCOL, SEQB_PROTOCOL},
        {"NS\r\nVA 1 f1 c1\r\nx\r\n", SEQB_PROTOCOL, SEQB_REFUSED},
        {"SERVER_ERROR out of memory\r\nEN\r\n", SEQB_REFUSED, SEQB_REFUSED},
    };
    const struct seqb_raise raise = {
        .counter = "a", .floor = 4, .limit = INT64_MAX};

    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        struct impostor impostor = {0};
        char standing[16] = "old";
        int64_t out = -7;

        session_start(&impostor, rows[i / 2].answers, CLOSES);
        if (i % 2 == 0)
            assert_int_equal(backend_memcached.raise(impostor.backend, &raise,
                                                     &out, &impostor.err),
                             rows[i / 2].raised);
        else
            assert_int_equal(backend_memcached.claim(impostor.backend, "a", "t",
                                                     standing, sizeof standing,
                                                     &impostor.err),
                             rows[i / 2].claimed);
        assert_int_equal(out, -7);
        assert_string_equal(standing, "old");
        impostor_stop(&impostor);
    }
}

TEST(time_is_the_one_that_the_server_says)
{
    static const struct {
        const char *answers;
        enum seqb_status status;
        int64_t now_ms;
    } rows[] = {
        {STATS, SEQB_OK, 1010000},
        {"STAT time 1795270245\r\nSTAT time_in_x 7\r\nEND\r\n", SEQB_OK,
         INT64_C(1795270245000)},
        {"STAT time 1\r\nEND\r\n", SEQB_OK, 1000},
        {"STAT time 9223372036854775\r\nEND\r\n", SEQB_OK,
         INT64_C(9223372036854775000)},
        {"STAT time 9223372036854776\r\nEND\r\n", SEQB_PROTOCOL, -7},
        {"STAT uptime 10\r\nEND\r\n", SEQB_PROTOCOL, -7},
        {"STAT time 0\r\nEND\r\n", SEQB_PROTOCOL, -7},
        {"STAT time -5\r\nEND\r\n", SEQB_PROTOCOL, -7},
        {"STAT time now\r\nEND\r\n", SEQB_PROTOCOL, -7},
        {"STAT time 9223372036854775807\r\nEND\r\n", SEQB_PROTOCOL, -7},
        {"END\r\n", SEQB_PROTOCOL, -7},
        {"HD\r\n", SEQB_PROTOCOL, -7},
        {"ERROR\r\n", SEQB_PROTOCOL, -7},
        {"STAT time 1795270245\r\n", SEQB_UNCERTAIN, -7},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct impostor impostor = {0};
        int64_t now_ms = -7;

        session_start(&impostor, rows[i].answers, CLOSES);
        assert_int_equal(
            backend_memcached.clock(impostor.backend, &now_ms, &impostor.err),
            rows[i].status);
        assert_true(now_ms == rows[i].now_ms);
        impostor_stop(&impostor);
    }
}

/* The clock of the sound session is at 1010 s. */
TEST(term_above_thirty_days_is_sent_as_a_date)
{
    static const struct {
        int64_t keep_s;
        const char *sent;
    } rows[] = {
        {0, " F1936785418 ME\r\n"},
        {1, " F1936785418 T1 ME\r\n"},
        {2592000, " F1936785418 T2592000 ME\r\n"},
        {INT64_MAX, " F1936785418 T2147483647 ME\r\n"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct seqb_window window = {.counter = "a",
                                           .window = 4,
                                           .size = SIZE,
                                           .keep_s = rows[i].keep_s};
        struct impostor impostor = {0};
        char sent[TEXT_SIZE];
        int64_t standing;

        session_start(&impostor, "EN\r\nHD\r\n", WAITS);
        assert_ok(backend_memcached.install(impostor.backend, &window,
                                            &standing, &impostor.err));
        impostor_recall(&impostor, sent, sizeof sent);
        assert_non_null(strstr(sent, rows[i].sent));
        impostor_stop(&impostor);
    }
}
