/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls of the memcached engine send, and what they make of each
 * answer, to the last byte of what they fill in. This program's link is a
 * script. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "backends/backends.h"
#include "backends/memcached/item.h"
#include "platform/text.h"
#include "support/failure.h"
#include "support/wrap.h"

#define FLAGS "f1936785418" /* of cells of 1024 offsets */
#define CLAIM "f1936785664"

static struct memcached mc;
static const char *says;
static char heard[8192];
static int fails_flush; /* the number of the one that fails; 0: none */
static int64_t now_ms;

WRAPPED(int64_t, clock_now_ms, void)
{
    return now_ms;
}

WRAPPED(bool, memcached_link_flush, struct memcached_link *link)
{
    if (fails_flush > 0 && --fails_flush == 0)
        return false;
    assert_true(text_append(heard, sizeof heard, "%.*s", (int)link->out_length,
                            link->out));
    link->out_length = 0;
    return true;
}

WRAPPED(bool, memcached_link_read, struct memcached_link *link,
        struct memcached_reply *out)
{
    (void)link;
    if (memcached_reply_parse(says, strlen(says), out) != MEMCACHED_COMPLETE)
        return false;
    says += out->size;
    return true;
}

static int opened; /* the last connection */

WRAPPED(enum seqb_status, memcached_link_open, struct memcached_link *link,
        const struct seqb_backend_options *options, struct seqb_error *err)
{
    (void)options;
    (void)err;
    opened = open("/dev/null", O_RDWR | O_CLOEXEC);
    link->stream.fd = opened;
    return SEQB_OK;
}

static void begin(const char *answers)
{
    if (mc.link.stream.fd > 0)
        (void)close(mc.link.stream.fd);
    memset(&mc, 0, sizeof mc);
    mc.link.stream.fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    mc.session.connections = 1;
    (void)text_copy(mc.prefix, sizeof mc.prefix, "p");
    says = answers;
    heard[0] = '\0';
}

/* All answers were read, and just this was sent. */
static void must_have_sent(const char *expected)
{
    assert_string_equal(heard, expected);
    assert_string_equal(says, "");
    assert_true(memcached_link_is_open(&mc.link));
}

/* --- claims --- */

TEST(claim_that_just_fits_is_told_in_full)
{
    char standing[8] = "old";

    begin("HD\r\nVA 4 " CLAIM " c1\r\ntext\r\n");
    assert_ok(
        backend_memcached.claim(&mc.base, "a", "text", standing, 5, &failure));
    assert_string_equal(standing, "text");
    must_have_sent("ms p:claim:a 4 F1936785664 ME\r\ntext\r\n"
                   "mg p:claim:a v f c\r\n");
    begin("VA 4 " CLAIM " c1\r\ntext\r\n");
    assert_fails(
        backend_memcached.claim(&mc.base, "a", NULL, standing, 4, &failure),
        SEQB_PROTOCOL, "claim 'a' is longer than 3 bytes");
    assert_string_equal(standing, "text");
    begin("EN\r\n");
    assert_ok(
        backend_memcached.claim(&mc.base, "a", NULL, standing, 5, &failure));
    assert_string_equal(standing, "");
    must_have_sent("mg p:claim:a v f c\r\n");
}

TEST(claims_are_answered_one_by_one)
{
    struct seqb_claim claims[] = {{.name = "a", .text = "t"},
                                  {.name = "b", .standing = "old"},
                                  {.name = "c", .standing = "old"},
                                  {.name = "d", .text = "u"},
                                  {.name = "e", .standing = "old"}};
    char text[1024] = "NS\r\nVA 1 " CLAIM " c1\r\ns\r\nVA 256 " CLAIM " c1\r\n";
    size_t done;

    memset(text + strlen(text), 'x', SEQB_GUARD_SIZE);
    assert_true(text_append(text, sizeof text,
                            "\r\nVA 1 f1 c1\r\nx\r\n"
                            "SERVER_ERROR full\r\nEN\r\nEN\r\n"));
    begin(text);
    assert_fails(
        backend_memcached.claim_many(&mc.base, claims, 5, &done, &failure),
        SEQB_REFUSED, "key p:claim:c holds what is none of ours");
    assert_int_equal(done, 5);
    assert_string_equal(claims[0].standing, "s");
    assert_int_equal(strlen(claims[1].standing), SEQB_GUARD_SIZE - 1);
    assert_string_equal(claims[2].standing, "old");
    assert_string_equal(claims[3].standing, "");
    assert_string_equal(claims[4].standing, "");
    must_have_sent(
        "ms p:claim:a 1 F1936785664 ME\r\nt\r\nmg p:claim:a v f c\r\n"
        "mg p:claim:b v f c\r\nmg p:claim:c v f c\r\n"
        "ms p:claim:d 1 F1936785664 ME\r\nu\r\nmg p:claim:d v f c\r\n"
        "mg p:claim:e v f c\r\n");
    begin("HD\r\nEN\r\n"); /* what is stored and absent was dropped */
    assert_fails(
        backend_memcached.claim_many(&mc.base, claims, 1, &done, &failure),
        SEQB_REFUSED, "was dropped as soon as it was stored");
    begin("SERVER_ERROR full\r\nEN\r\n");
    assert_fails(
        backend_memcached.claim_many(&mc.base, claims, 1, &done, &failure),
        SEQB_REFUSED, "refused: SERVER_ERROR full");
    begin("HD\r\n");
    assert_fails(
        backend_memcached.claim_many(&mc.base, claims, 5, &done, &failure),
        SEQB_UNCERTAIN, "");
}

TEST(claims_are_so_many_at_once)
{
    static struct seqb_claim claims[65];
    static char names[65][8];
    static char name[1000];
    char text[65 * 4 + 1] = "";
    size_t done;

    for (size_t i = 0; i < 65; i++) {
        (void)text_format(names[i], sizeof names[i], "n%zu", i);
        claims[i].name = names[i];
        if (i < 64)
            assert_true(text_append(text, sizeof text, "EN\r\n"));
    }
    begin(text);
    assert_ok(
        backend_memcached.claim_many(&mc.base, claims, 65, &done, &failure));
    assert_int_equal(done, 64);
    assert_non_null(strstr(heard, "mg p:claim:n63 "));
    assert_null(strstr(heard, "mg p:claim:n64 "));
    memset(name, 'n', sizeof name - 1);
    claims[1].name = name;
    begin("");
    assert_fails(
        backend_memcached.claim_many(&mc.base, claims, 2, &done, &failure),
        SEQB_INVALID, "nnn");
    assert_fails(
        backend_memcached.claim(&mc.base, name, NULL, text, 8, &failure),
        SEQB_INVALID, "nnn");
    must_have_sent("");
}

/* --- raises --- */

/* Windows 1, 4 and 5 begin at 2048, 8192 and 10240. */
TEST(cell_that_is_not_above_the_floor_is_dropped)
{
    static const struct {
        int64_t floor;
        const char *answers;
        int64_t out;
        const char *sent;
    } rows[] = {
        {0, "EN\r\n", 0, ""},
        {9, "EN\r\n", 9, ""},
        {3, "VA 4 " FLAGS " c1\r\n8192\r\n", 4, ""},
        {4, "VA 4 " FLAGS " c1\r\n8192\r\nHD\r\n", 4, "md p:a\r\n"},
        {5, "VA 4 " FLAGS " c1\r\n8192\r\nNF\r\n", 5, "md p:a\r\n"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct seqb_raise raise = {.counter = "a",
                                         .floor = rows[i].floor};
        char sent[64];
        int64_t out = -7;

        begin(rows[i].answers);
        assert_ok(backend_memcached.raise(&mc.base, &raise, &out, &failure));
        assert_int_equal(out, rows[i].out);
        (void)text_format(sent, sizeof sent, "mg p:a v f c\r\n%s",
                          rows[i].sent);
        must_have_sent(sent);
    }
}

TEST(raise_that_is_none_is_refused)
{
    const struct seqb_raise raise = {.counter = "a", .floor = -1};
    int64_t out;

    begin("");
    assert_fails(backend_memcached.raise(&mc.base, &raise, &out, &failure),
                 SEQB_INVALID, "a cannot be raised to -1");
    must_have_sent("");
}

/* --- reservations --- */

/* The third one is not of the call. */
TEST(least_and_largest_requests_are_sent)
{
    struct seqb_request requests[] = {
        {.counter = "a", .want = SEQB_GRANT_MAX, .limit = MEMCACHED_SIZE_MAX},
        {.counter = "b", .want = 1, .limit = 1},
        {.counter = "c", .want = 1, .limit = 1, .status = SEQB_UNCERTAIN},
    };

    begin("VA 13 f1936785448 c1\r\n2199023255552\r\n"
          "VA 1 f1936785408 c1\r\n2\r\n"
          "VA 13\r\n2201170739200\r\nVA 1\r\n3\r\n");
    assert_ok(backend_memcached.reserve(&mc.base, requests, 2, &failure));
    for (int i = 0; i < 2; i++) {
        assert_ok(requests[i].status);
        assert_int_equal(requests[i].window, 1);
        assert_int_equal(requests[i].block.first, 0);
        assert_int_equal(requests[i].block.count, requests[i].want);
    }
    must_have_sent("mg p:a v f c\r\nmg p:b v f c\r\n"
                   "ma p:a MI D2147483648 v\r\nma p:b MI D1 v\r\n");
    /* What was to be counted then is not counted again. */
    says = "EN\r\nEN\r\n";
    heard[0] = '\0';
    assert_ok(backend_memcached.reserve(&mc.base, requests, 2, &failure));
    assert_status(requests[0].status, SEQB_FENCED);
    must_have_sent("mg p:a v f c\r\nmg p:b v f c\r\n");
}

TEST(count_that_grants_nothing_says_why)
{
    static const struct {
        const char *count;
        enum seqb_status status;
        const char *words;
    } rows[] = {
        {"NF\r\n", SEQB_FENCED, "key p:a is gone"},
        {"VA 4\r\n3073\r\n", SEQB_EXHAUSTED, "was used up by others"},
        {"VA 4\r\n4097\r\n", SEQB_FENCED, "was put into another window"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct seqb_request request = {
            .counter = "a", .want = 1, .limit = 1024};
        char answers[128];

        (void)text_format(answers, sizeof answers,
                          "VA 4 " FLAGS " c1\r\n2048\r\n%s", rows[i].count);
        begin(answers);
        assert_ok(backend_memcached.reserve(&mc.base, &request, 1, &failure));
        assert_status(request.status, rows[i].status);
        assert_non_null(strstr(request.error.text, rows[i].words));
    }
}

/* --- the server --- */

static const char sound_session[] =
    "VERSION 1.6\r\nMN\r\n"
    "STAT pid 7\r\nSTAT uptime 10\r\nSTAT time 1010\r\nEND\r\n"
    "STAT maxconns 1\r\nSTAT cas_enabled yes\r\n"
    "STAT memory_file /mnt/x\r\nEND\r\n";

TEST(backend_tells_who_its_server_is)
{
    static const char *const domains[] = {"b:11211", "b:7", "/run/m"};

    for (size_t i = 0; i < COUNT_OF(domains); i++) {
        const struct seqb_backend_options options = {
            .name = "a",
            .host = "b",
            .port = i == 1 ? 7 : 0,
            .socket_path = i == 2 ? domains[i] : NULL,
            .accept_loss = true};
        struct seqb_backend *backend = NULL;

        says = sound_session;
        assert_ok(backend_memcached.open(&options, &backend, &failure));
        assert_string_equal(backend->domain, domains[i]);
        assert_string_equal(backend->origin, "7:1000");
        assert_string_equal(backend->server, "memcached 1.6");
        assert_non_null(strstr(backend->loss, "memory file"));
        assert_int_equal(backend->fd, opened);
        backend_memcached.close(backend);
    }
}

TEST(session_whose_questions_are_not_all_sent_is_not_begun)
{
    const struct seqb_backend_options options = {
        .name = "a", .host = "b", .accept_loss = true};
    struct seqb_backend *backend = NULL;

    for (int i = 1; i <= 4; i++) {
        says = sound_session;
        fails_flush = i;
        assert_status(backend_memcached.open(&options, &backend, &failure),
                      SEQB_UNREACHABLE);
        assert_int_equal(fails_flush, 0);
    }
}

/* --- time --- */

TEST(server_s_clock_goes_on_as_ours_does)
{
    const struct memcached_session session = {.time_s = 1000, .seen_ms = 5000};
    static const int64_t rows[][2] = {
        {5000, 1000}, {5999, 1000}, {6000, 1001}, {15000, 1010}};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        now_ms = rows[i][0];
        assert_int_equal(memcached_session_now_s(&session), rows[i][1]);
    }
}
