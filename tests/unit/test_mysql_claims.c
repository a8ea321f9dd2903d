/* SPDX-License-Identifier: Apache-2.0 */
/* Claims and swaps of the mysql engines over a scripted client library. */
#include "client_script.h"

#include <mysqld_error.h>
#include <string.h>

#include "platform/text.h"

/* A row that says that the server may serve, and is the one of before. */
#define STILL                                                                  \
    {                                                                          \
        .rows = 1, .cells = { {"", NULL} }                                     \
    }

TEST(swap_that_fails_ends_its_transaction_or_the_link)
{
    const struct seqb_swap swap = {"name", "a", "b", NULL};

    for (int fails = 0; fails < 2; fails++) {
        char standing[8];
        struct mysql mysql;
        struct seqb_error err;

        client_begin(&mysql);
        client.replies[4] = (struct reply)STILL;
        client.replies[5].error = ER_LOCK_DEADLOCK;
        client.replies[6].error = fails > 0 ? 1 : 0;
        assert_status(mysql_swap(&mysql.sql.base, &swap, standing, 8, &err),
                      SEQB_UNREACHABLE);
        client_must_send(
            "BEGIN;TURN;SELECT 1 FROM seqb_claims, seqb_counters LIMIT 0;"
            "SET @seqb_same = (CLAIMS = 'c' AND STORE = 's');"
            "SELECT CLOSED, NULL;UPDATE seqb_claims SET text = '' WHERE name "
            "= 'name' AND text IN ('a', 'b') AND @seqb_same AND SERVES;"
            "UPDATE seqb_claims SET text = 'b' WHERE text = '' AND name = "
            "'name';COMMIT\nROLLBACK\n");
        assert_int_equal(client.closed, fails);
        mysql_link_close(&mysql.link);
    }
}

TEST(swap_that_changes_nothing_says_why)
{
    static const struct {
        const char *closed, *run;
        enum seqb_status status;
    } cases[] = {{"read_only", "run", SEQB_ROLE},
                 {"read_only", "other", SEQB_ROLE},
                 {"", "other", SEQB_FENCED},
                 {"", "run", SEQB_OK}};
    const struct seqb_swap swap = {"name", "a", "b", "run"};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char standing[8] = "";
        struct mysql mysql;
        struct seqb_error err;

        client_begin(&mysql);
        client.replies[4] = (struct reply){
            .rows = 1, .cells = {{cases[i].closed, cases[i].run}}};
        client.replies[5].changed = 0;
        client.replies[6].changed = 0;
        client.replies[8] =
            (struct reply){.rows = 1, .cells = {{"c", "1", "run"}}};
        assert_status(mysql_swap(&mysql.sql.base, &swap, standing, 8, &err),
                      cases[i].status);
        assert_string_equal(standing, cases[i].status == SEQB_OK ? "c" : "");
        mysql_link_close(&mysql.link);
    }
}

/* What is read must fit, and be of the incarnation that was opened. */
TEST(claim_stands_as_it_was_read_or_not_at_all)
{
    static const struct {
        const char *text, *same, *run;
        enum seqb_status status;
    } cases[] = {{"1234567", "1", "run", SEQB_OK},
                 {"12345678", "1", "run", SEQB_PROTOCOL},
                 {"1", "0", "run", SEQB_UNREACHABLE},
                 {"1", "1", "other", SEQB_UNREACHABLE},
                 {"1", NULL, "run", SEQB_PROTOCOL}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char standing[8] = "";
        struct mysql mysql;
        struct seqb_error err;

        client_begin(&mysql);
        (void)text_copy(mysql.sql.base.incarnation, SEQB_INCARNATION_SIZE,
                        "run");
        client.replies[0] = (struct reply){
            .rows = 1, .cells = {{cases[i].text, cases[i].same, cases[i].run}}};
        assert_status(
            mysql_claim(&mysql.sql.base, "name", "a", standing, 8, &err),
            cases[i].status);
        client_must_send(
            "SELECT (SELECT text FROM seqb_claims WHERE name = 'name'), "
            "(CLAIMS = 'c' AND STORE = 's' AND RUN <=> 'run'), RUN\n");
        if (cases[i].status == SEQB_OK)
            assert_string_equal(standing, cases[i].text);
        mysql_link_close(&mysql.link);
    }
}

#define CLAIMS_ASKED                                                           \
    "SELECT store.is_same, store.run, c.name, c.text FROM (SELECT (CLAIMS = "  \
    "'c' AND STORE = 's') AS is_same, NULL AS run) AS store LEFT JOIN "        \
    "seqb_claims AS c ON c.name IN ('a', 'b', 'c')\n"

/* Another broker adds one of them meanwhile. */
TEST(many_claims_are_read_and_the_missing_ones_added)
{
    struct seqb_claim claims[] = {{.name = "c", .text = "3"},
                                  {.name = "a", .text = "1"},
                                  {.name = "b", .text = "2"}};
    const struct reply found = {.rows = 1,
                                .cells = {{"1", NULL, "b", "other"}}};
    struct mysql mysql;
    struct seqb_error err;
    size_t done = 0;

    client_begin(&mysql);
    client.replies[0] = client.replies[2] = found;
    client.replies[1].error = ER_DUP_ENTRY;
    assert_ok(mysql_claim_many(&mysql.sql.base, claims, 3, &done, &err));
#define ADDED                                                                  \
    "INSERT INTO seqb_claims (name, text) SELECT name, text FROM (SELECT 'a' " \
    "AS name, '1' AS text UNION ALL SELECT 'c', '3') AS new WHERE SERVES AND " \
    "(CLAIMS = 'c' AND STORE = 's')\n"
    client_must_send(CLAIMS_ASKED ADDED CLAIMS_ASKED ADDED);
    assert_int_equal(done, 3);
    assert_string_equal(claims[0].standing, "3");
    assert_string_equal(claims[1].standing, "1");
    assert_string_equal(claims[2].standing, "other");
    mysql_link_close(&mysql.link);
}

TEST(claims_of_another_store_are_not_taken)
{
    static const struct {
        struct reply reply;
        enum seqb_status status;
    } cases[] = {
        {{.rows = 1, .cells = {{"0", NULL, "a", "x"}}}, SEQB_UNREACHABLE},
        {{.rows = 1, .cells = {{"1", NULL, "d", "x"}}}, SEQB_PROTOCOL},
        {{.rows = 1, .cells = {{"1", NULL, "a", NULL}}}, SEQB_PROTOCOL},
        {{.rows = 1, .cells = {{NULL, NULL, "a", "x"}}}, SEQB_PROTOCOL},
        {{.is_empty = true}, SEQB_PROTOCOL}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct seqb_claim claim = {.name = "a", .text = "1"};
        struct mysql mysql;
        struct seqb_error err;
        size_t done;

        client_begin(&mysql);
        client.replies[0] = cases[i].reply;
        assert_status(mysql_claim_many(&mysql.sql.base, &claim, 1, &done, &err),
                      cases[i].status);
        assert_int_equal(client.taken, 1);
        mysql_link_close(&mysql.link);
    }
}

/* A claim that is neither there nor added is asked why. */
TEST(claim_that_is_not_added_says_why)
{
    static const struct {
        struct reply why;
        enum seqb_status status;
        const char *text;
    } cases[] = {
        {{.rows = 1, .cells = {{"", "run", "other"}}},
         SEQB_UNREACHABLE,
         "became another one"},
        {{.rows = 1, .cells = {{"", "other", "run"}}},
         SEQB_UNREACHABLE,
         "in incarnation other, not run"},
        {{.rows = 1, .cells = {{"read_only", "run"}}}, SEQB_ROLE, "read_only"},
        {{.is_empty = true}, SEQB_PROTOCOL, "its role"},
        {{.error = ER_LOCK_DEADLOCK}, SEQB_UNREACHABLE, "error 1213"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char standing[8] = "";
        struct mysql mysql;
        struct seqb_error err;

        client_begin(&mysql);
        (void)text_copy(mysql.sql.base.incarnation, SEQB_INCARNATION_SIZE,
                        "run");
        client.replies[0] =
            (struct reply){.rows = 1, .cells = {{NULL, "1", "run"}}};
        client.replies[1].changed = 0;
        client.replies[2] = cases[i].why;
        assert_status(
            mysql_claim(&mysql.sql.base, "name", "a", standing, 8, &err),
            cases[i].status);
        assert_non_null(strstr(err.text, cases[i].text));
        assert_string_equal(standing, "");
        mysql_link_close(&mysql.link);
    }
}
