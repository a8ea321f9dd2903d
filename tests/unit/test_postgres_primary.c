/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several hosts, or addresses of a name, the postgres engine chooses,
 * and what it says of those that it does not. libpq and the servers are a
 * script. */
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backends.h"
#include "net/net.h"
#include "platform/text.h"
#include "support/failure.h"
#include "support/wrap.h"
#include "unit/pq_script.h"

/* --- names --- */

static int addresses; /* of each name */
static int lists;     /* that are not freed yet */

WRAPPED(const char *, lookup_host, const char *host, int port,
        int64_t deadline_ms, struct addrinfo **out)
{
    (void)port;
    (void)text_append(pq.tried, sizeof pq.tried, "%s for %d ms: ", host,
                      (int)(deadline_ms - pq.now_ms));
    *out = NULL;
    if (addresses == 0)
        return "no such name";
    for (int i = addresses; i > 0; i--) {
        struct addrinfo *first = *out;
        char text[16];

        (void)text_format(text, sizeof text, "10.0.0.%d", i);
        assert_int_equal(
            getaddrinfo(text, NULL,
                        &(struct addrinfo){.ai_flags = AI_NUMERICHOST,
                                           .ai_socktype = SOCK_STREAM},
                        out),
            0);
        (*out)->ai_next = first;
    }
    lists++;
    return NULL;
}

WRAPPED(void, freeaddrinfo, struct addrinfo *list)
{
    assert_non_null(list);
    lists--;
    __real_freeaddrinfo(list);
}

static int names_begin(void **state)
{
    addresses = 2;
    lists = 0;
    (void)pq_begin(state);
    pq_options.socket_path = NULL;
    return 0;
}

static int names_end(void **state)
{
    assert_int_equal(lists, 0);
    return pq_end(state);
}

#define NAMES FIXTURE(void *none, names_begin, names_end)

/* --- one server --- */

#define TABLES(counters, claims)                                               \
    "[||" counters "|" claims "|system|store|file|run||f"

TEST_WITH(SCRIPT, server_that_may_not_serve_says_why)
{
    static const struct {
        const char *facts;
        enum seqb_status status;
        const char *words;
    } rows[] = {
        {"[a standby||rp|rp|system|store|file|run||f", SEQB_ROLE,
         "the server is a standby: give its primary's address"},
        {"[|fsync is off|rp|rp|system|store|file|run||f", SEQB_UNSAFE,
         "fsync is off: a crash of its machine may repeat numbers; set it"},
        {TABLES("", ""), SEQB_UNREACHABLE, "table seqb_counters is not there"},
        {TABLES("", "rp"), SEQB_CORRUPT, "seqb_counters is not there, but its"},
        {TABLES("rp", ""), SEQB_CORRUPT, "seqb_claims is not there, but its"},
        {TABLES("vp", "rp"), SEQB_CORRUPT, "seqb_counters is no plain table"},
        {TABLES("rp", "vp"), SEQB_CORRUPT, "seqb_claims is no plain table"},
        {TABLES("ru", "rp"), SEQB_UNSAFE, "ALTER TABLE seqb_counters SET"},
        {TABLES("rp", "rt"), SEQB_UNSAFE, "ALTER TABLE seqb_claims SET"},
        {"[||rp|rp|system|store|file|run|rule a|f", SEQB_UNSAFE,
         "rule a may change or hide rows"},
        {"[||rp|rp|system|store|file|run|", SEQB_PROTOCOL, "what server it is"},
        {"[|||||||||;|||||||||", SEQB_PROTOCOL, "what server it is"},
        {"!42501", SEQB_REFUSED, "42501"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        PQ_ANSWERS(rows[i].facts, rows[i].facts);
        assert_fails(pq_open(&failure), rows[i].status, rows[i].words);
    }
    /* Another broker was creating them. */
    PQ_ANSWERS(TABLES("", "rp"), PQ_FACTS, PQ_BASE);
    assert_done(pq_open(&failure), failure);
    pq_options.needs_incarnation = false;
    PQ_ANSWERS(PQ_FACTS, PQ_BASE);
    assert_done(pq_open(&failure), failure);
    assert_string_equal(pq_backend->incarnation, "");
}

/* --- several --- */

#define STANDBY         "[a standby||rp|rp|system||file|run||f"
#define LATEST(digits)  "[||rp|rp|system|s:" digits ":file|file|run||f"
#define AT(timeline)    LATEST("0000000" timeline)
#define BOUND(timeline) "[s:0000000" timeline ":file"
#define OTHER           "[||rp|rp|system|x:00000009:file|file|run||f"
#define LATE            LATEST("10000000")
#define EMPTY           "[||||system|||run||f"

/* With hosts /a, /b and /c, the first of which answers first. */
TEST_WITH(SCRIPT, primary_of_the_latest_timeline_is_chosen)
{
    static const struct {
        const char *answers[6];
        const char *origin;
        int connected;
    } rows[] = {
        {{AT("2"), STANDBY, STANDBY, BOUND("2")}, "s:00000002:file", 3},
        {{STANDBY, AT("2"), STANDBY, BOUND("2")}, "s:00000002:file", 3},
        {{STANDBY, "?", AT("2"), BOUND("2")}, "s:00000002:file", 3},
        {{AT("2"), AT("2"), AT("1"), BOUND("2")}, "s:00000002:file", 3},
        {{AT("2"), AT("3"), STANDBY, AT("3"), BOUND("3")},
         "s:00000003:file",
         4},
        {{AT("2"), AT("4"), AT("3"), AT("4"), BOUND("4")},
         "s:00000004:file",
         4},
        {{AT("2"), AT("3"), AT("4"), AT("4"), BOUND("4")},
         "s:00000004:file",
         4},
        {{AT("2"), LATE, STANDBY, LATE,
          "[s:"
          "10000000"
          ":file"},
         "s:10000000:file",
         4},
        {{AT("2"), OTHER, EMPTY, BOUND("2")}, "s:00000002:file", 3},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        (void)pq_end(NULL);
        (void)pq_begin(NULL);
        pq_options.socket_path = NULL;
        pq_options.conninfo = "host=/a,/b,/c";
        pq_options.create = true; /* in the chosen one only */
        pq_answers(rows[i].answers);
        assert_done(pq_open(&failure), failure);
        assert_string_equal(pq_backend->origin, rows[i].origin);
        assert_int_equal(pq.connected, rows[i].connected);
        assert_int_equal(pq.finished, rows[i].connected - 1);
    }
}

TEST_WITH(SCRIPT, later_primary_that_is_lost_again_is_none)
{
    pq_options.socket_path = NULL;
    pq_options.conninfo = "host=/a,/b";
    PQ_ANSWERS(AT("2"), AT("3"), STANDBY);
    assert_fails(pq_open(&failure), SEQB_ROLE, "/b");
    PQ_ANSWERS(AT("2"), AT("3"), "?");
    assert_fails(pq_open(&failure), SEQB_UNREACHABLE, "/b");
}

TEST_WITH(SCRIPT, hosts_without_a_primary_say_why)
{
    static const struct {
        const char *conninfo;
        const char *answers[4];
        enum seqb_status status;
        const char *words;
    } rows[] = {
        {"host=/a", {STANDBY}, SEQB_ROLE, "standby: give its primary's"},
        {"host=/a", {"?"}, SEQB_UNREACHABLE, "connection lost: "},
        {"host=/a,/b",
         {STANDBY, STANDBY},
         SEQB_ROLE,
         "/a): the server is a standby; none of the 2 hosts is a primary"},
        {"host=/a,/b",
         {"?", STANDBY},
         SEQB_ROLE,
         "/b): the server is a standby; none of the 2 hosts is a primary; pg "
         "(postgres /a): connection lost: "},
        {"host=/a,/b", {"?", "?"}, SEQB_UNREACHABLE, "/a): connection lost: "},
        {"host=/a,/b", {"!42501", STANDBY}, SEQB_REFUSED, "42501"},
    };

    pq_options.socket_path = NULL;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        pq_options.conninfo = rows[i].conninfo;
        pq_answers(rows[i].answers);
        assert_fails(pq_open(&failure), rows[i].status, rows[i].words);
        assert_int_equal(pq.finished, pq.connected);
    }
    pq_options.conninfo = "host=/a,/b";
    PQ_ANSWERS("?", "?");
    assert_status(pq_open(&failure), SEQB_UNREACHABLE);
    assert_string_equal(strstr(failure.text, "; none"),
                        "; none of the 2 hosts is a primary");
}

/* --- addresses of names --- */

static void must_have_tried(const char *expected)
{
    assert_string_equal(pq.tried, expected);
    pq.tried[0] = '\0';
}

TEST_WITH(NAMES, each_address_of_a_name_is_tried)
{
    pq_options.host = "all";
    PQ_ANSWERS(STANDBY, AT("2"), BOUND("2"));
    assert_done(pq_open(&failure), failure);
    must_have_tried("all for 1000 ms: 10.0.0.1 500 ms, 10.0.0.2 1000 ms, ");
    PQ_ANSWERS(AT("2"), AT("3"), AT("3"), BOUND("3"));
    assert_done(pq_open(&failure), failure);
    must_have_tried("all for 1000 ms: 10.0.0.1 500 ms, 10.0.0.2 250 ms, "
                    "10.0.0.2 1000 ms, ");
    PQ_ANSWERS(STANDBY, STANDBY);
    assert_fails(pq_open(&failure), SEQB_ROLE,
                 "a standby; none of its 2 addresses is a primary");
    PQ_ANSWERS("!42501");
    assert_fails(pq_open(&failure), SEQB_REFUSED, "42501");
    addresses = 0;
    assert_fails(pq_open(&failure), SEQB_UNREACHABLE, "no such name");
}

/* Each place has its share of what the others before it left, and those behind
 * a primary a quarter. */
TEST_WITH(NAMES, places_share_the_time)
{
    pq_options.conninfo = "host=all,/b,/c";
    PQ_ANSWERS(AT("2"), STANDBY, BOUND("2"));
    pq.deaf = 2;
    assert_done(pq_open(&failure), failure);
    must_have_tried("all for 333 ms: 10.0.0.1 250 ms, 10.0.0.2 250 ms, "
                    "250 ms, 125 ms, ");
}
