/* SPDX-License-Identifier: Apache-2.0 */
/* Which node of a Galera cluster is used, and which one gets the history, over
 * scripted nodes: question by question, each of which fails once. */
#include "galera_script.h"

#include <string.h>

#include "platform/text.h"

#define A (&script.nodes[0])
#define B (&script.nodes[1])

#define OPENED(node)                                                           \
    "open " node ", state " node ", check " node ", quorum " node              \
    ", session " node

/* What a node is asked that gets nothing. */
#define MET OPENED("b") ", voucher b, close b"

static const char *const hosts[] = {"a:1", "b:2", NULL};
static const char *const others[] = {"b:2", NULL};

static struct seqb_backend_options options_of(const char *const *endpoints)
{
    return (struct seqb_backend_options){.name = "g",
                                         .socket_path = "/none",
                                         .connect_timeout_ms = 900,
                                         .endpoints = endpoints};
}

/* --- the history --- */

/* With 9 s, unless `mysql` has less. */
static enum seqb_status enter_with(struct mysql *mysql, const char *const *with,
                                   struct seqb_error *err)
{
    const struct seqb_backend_options options = options_of(with);
    const enum seqb_status status = mysql_cluster_enter(mysql, &options, err);

    mysql_statements_free(&mysql->link.statements);
    return status;
}

static void must_enter(const char *told)
{
    struct mysql mysql;
    struct seqb_error err;

    script_enter(&mysql, "a:1");
    assert_ok(enter_with(&mysql, others, &err));
    assert_string_equal(script.told, told);
    script.told[0] = '\0';
}

TEST(node_with_the_history_gives_it_to_one_without)
{
    script_begin();
    must_enter("find a, voucher a, " OPENED(
        "b") ", voucher b, age b, "
             "voucher a, state a, state b, give b, close b");
    assert_string_equal(B->voucher, "digest-b");
    must_enter("find a, voucher a, " MET);
}

static void be_of_now(void)
{
    B->age_ms = "1049";
}

static void be_of_no_date(void)
{
    B->age_ms = NULL;
}

static void have_been_made_again(void)
{
    B->voucher = OTHER_ROW;
}

static void have_other_history(void)
{
    B->history = "other";
}

static void have_no_history(void)
{
    B->history = NULL;
}

static void be_elsewhere(void)
{
    (void)text_copy(B->state.view, NODE_VALUE_SIZE, "8");
}

TEST(node_gets_no_history_that_may_not_be_its_own)
{
#define GIVEN_UP "find a, voucher a, " OPENED("b") ", voucher b, age b, "
    static const struct {
        void (*prepare)(void);
        const char *told;
    } cases[] = {
        {be_of_now, GIVEN_UP "close b"},
        {be_of_no_date, GIVEN_UP "close b"},
        {have_been_made_again, GIVEN_UP "close b"},
        {have_no_history, GIVEN_UP "close b"},
        {have_other_history, GIVEN_UP "voucher a, close b"},
        {be_elsewhere, GIVEN_UP "voucher a, state a, state b, close b"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *before;

        script_begin();
        cases[i].prepare();
        before = B->voucher;
        must_enter(cases[i].told);
        assert_ptr_equal(B->voucher, before);
        assert_string_equal(A->history, "h");
    }
    /* It lost the voucher itself after it was found. */
    script_begin();
    A->forgets = 1;
    must_enter(GIVEN_UP "voucher a, close b");
    assert_null(B->voucher);
}

TEST(node_without_the_history_gets_it_from_one_with)
{
    script_begin();
    A->voucher = NULL;
    B->voucher = "digest-b";
    must_enter("find a, voucher a, " OPENED(
        "b") ", voucher b, "
             "voucher b, state b, state a, give a, close b");
    assert_string_equal(A->voucher, "digest-a");
    assert_string_equal(A->history, "h");
}

TEST(history_begins_if_no_node_has_it)
{
    script_begin();
    A->voucher = NULL;
    A->history = NULL;
    must_enter("find a, voucher a, " MET ", history a, commit a, give a, "
               "voucher a, " OPENED(
                   "b") ", voucher b, age b, "
                        "voucher a, state a, state b, give b, close b");
    assert_string_equal(A->history, "new");
    assert_string_equal(A->voucher, "digest-a");
    assert_string_equal(B->voucher, "digest-b");
}

TEST(history_begins_with_random_bytes_only)
{
    struct mysql mysql;
    struct seqb_error err;

    script_begin();
    A->voucher = NULL;
    script.is_random = false;
    script_enter(&mysql, "a:1");
    assert_status(enter_with(&mysql, others, &err), SEQB_UNREACHABLE);
    assert_string_equal(err.text, "a:1: no random bytes");
    assert_string_equal(A->history, "h");
}

/* The engine's own node is one of the hosts. */
TEST(node_does_not_meet_itself)
{
    struct mysql mysql;
    struct seqb_error err;

    script_begin();
    script_enter(&mysql, "a:1");
    assert_ok(enter_with(&mysql, (const char *const[]){"a:1", NULL}, &err));
    assert_string_equal(script.told,
                        "find a, voucher a, " OPENED("a") ", close a");
}

TEST(other_nodes_are_asked_for_a_second_at_most)
{
    static const struct {
        int left_ms;
        bool is_there;
        int asked_ms; /* -1: not at all */
    } cases[] = {{0, false, -1},     {1, false, 1},      {999, true, -1},
                 {1000, true, 1000}, {1001, true, 1000}, {1001, false, 1000},
                 {999, false, 999}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct mysql mysql;
        struct seqb_error err;

        script_begin();
        A->voucher = cases[i].is_there ? A->digest : NULL;
        script_enter(&mysql, "a:1");
        mysql.link.deadline_ms = script.now_ms + cases[i].left_ms;
        B->asked_ms = -1;
        assert_ok(enter_with(&mysql, others, &err));
        assert_int_equal(B->asked_ms, cases[i].asked_ms);
    }
}

/* A letter for each question that fails: whether the call does. */
static void must_miss(bool is_there, bool is_there_too, const char *letters)
{
    char found[64] = "";

    for (script.fails = 1;; script.fails++) {
        const int fails = script.fails;
        struct mysql mysql;
        struct seqb_error err;
        enum seqb_status status;

        script_begin();
        A->voucher = is_there ? A->digest : NULL;
        B->voucher = is_there_too ? B->digest : NULL;
        script.fails = fails;
        script_enter(&mysql, "a:1");
        status = enter_with(&mysql, others, &err);
        if (script.questions < fails)
            break;
        if (status != SEQB_OK)
            assert_string_equal(err.text, "a:1: failed");
        assert_true(text_append(found, sizeof found, "%c",
                                status == SEQB_OK ? 'o' : 'U'));
    }
    assert_string_equal(found, letters);
}

TEST(failure_of_the_own_node_fails_that_of_another_does_not)
{
    must_miss(true, false, "UUooooooooooo");
    must_miss(false, true, "UUoooooooooo");
    must_miss(false, false, "UUooooooUUUUooooooooooo");
}

TEST(voucher_that_is_none_is_distrusted)
{
    static char longest[64 + 1];
    static const struct {
        int column;
        const char *text;
        const char *why; /* NULL: none */
    } cases[] = {{NO_ROW, NULL, "when its tables were made"},
                 {0, NULL, "when its tables were made"},
                 {0, longest, "when its tables were made"},
                 {2, NULL, "when its tables were made"},
                 {2, "many", "when its tables were made"},
                 {1, longest, "its history"},
                 {1, NULL, NULL}};

    memset(longest, 'x', sizeof longest - 1);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct mysql mysql;
        struct seqb_error err;
        enum seqb_status status;

        script_begin();
        script.spoils = 2;
        script.column = cases[i].column;
        script.column_text = cases[i].text;
        script_enter(&mysql, "a:1");
        status = enter_with(&mysql, others, &err);
        assert_status(status, cases[i].why != NULL ? SEQB_PROTOCOL : SEQB_OK);
        if (cases[i].why != NULL)
            assert_non_null(strstr(err.text, cases[i].why));
        else
            assert_null(strstr(script.told, "history"));
    }
}

/* --- connecting --- */

static enum seqb_status connect_to(const char *const *with, struct mysql *mysql,
                                   struct seqb_error *err)
{
    const struct seqb_backend_options options = options_of(with);
    enum seqb_status status;

    *mysql = (struct mysql){.has_incarnation = false};
    status = mysql_store_connect(mysql, &options, err);
    mysql_statements_free(&mysql->link.statements);
    return status;
}

TEST(first_node_that_may_be_used_is)
{
    struct mysql mysql;
    struct seqb_error err;

    script_begin();
    assert_ok(connect_to(hosts, &mysql, &err));
    assert_string_equal(script.told, OPENED("a"));
    assert_int_equal(A->asked_ms, 450);
    assert_int_equal(mysql.link.deadline_ms, 1900);
    assert_true(mysql.link.is_cluster);
    assert_ptr_equal(mysql.link.sql, &mysql_sql_of_cluster);
    assert_string_equal(mysql.sql.base.domain, "galera c");
}

TEST(next_node_gets_the_time_that_is_left)
{
    struct mysql mysql;
    struct seqb_error err;

    script_begin();
    (void)text_copy(A->state.local, NODE_VALUE_SIZE, "2");
    (void)text_copy(A->state.comment, NODE_VALUE_SIZE, "Donor");
    A->takes_ms = 899;
    assert_ok(connect_to(hosts, &mysql, &err));
    assert_string_equal(script.told, "open a, state a, close a, " OPENED("b"));
    assert_int_equal(B->asked_ms, 1);
    assert_int_equal(mysql.link.deadline_ms, 1900);
}

TEST(error_has_the_answer_of_each_node)
{
    struct mysql mysql;
    struct seqb_error err;

    script_begin();
    (void)text_copy(A->state.local, NODE_VALUE_SIZE, "2");
    (void)text_copy(A->state.comment, NODE_VALUE_SIZE, "Donor");
    script.fails = 3;
    assert_status(connect_to(hosts, &mysql, &err), SEQB_UNREACHABLE);
    assert_string_equal(
        err.text,
        "g: no node of 'hosts' can be used, nothing was changed: a:1: the "
        "node is not used, nothing was changed: wsrep_local_state_comment = "
        "Donor, wsrep_cluster_status = Primary, wsrep_ready = ON; b:2: "
        "failed");
    assert_string_equal(script.told,
                        "open a, state a, close a, open b, close b");
    script.told[0] = '\0';
    A->takes_ms = 900;
    assert_status(connect_to(hosts, &mysql, &err), SEQB_UNREACHABLE);
    assert_non_null(strstr(err.text, "= ON; no time was left for b:2"));
    assert_string_equal(script.told, "open a, state a, close a");
}

/* No other node is tried: it may have other numbers. */
TEST(host_that_is_no_node_ends_the_search)
{
    static const char *const none[] = {"a", "b:2", NULL};
    struct mysql mysql;
    struct seqb_error err;

    script_begin();
    A->state.local[0] = '\0';
    assert_status(connect_to(hosts, &mysql, &err), SEQB_UNSAFE);
    assert_non_null(strstr(err.text, "a:1: is no node of a Galera cluster"));
    assert_string_equal(script.told, "open a, state a, close a");
    assert_status(connect_to(none, &mysql, &err), SEQB_INVALID);
    assert_string_equal(err.text, "g: 'a' of 'hosts' is no host:port");
}

TEST(each_question_of_a_connect_fails_it)
{
    for (int fails = 1; fails <= 5; fails++) {
        struct mysql mysql;
        struct seqb_error err;

        script_begin();
        script.fails = fails;
        script.failure = SEQB_UNSAFE;
        assert_status(connect_to(hosts, &mysql, &err), SEQB_UNSAFE);
        assert_int_equal(script.questions, fails);
        assert_string_equal(err.text, "a:1: failed");
    }
}

/* --- one node --- */

TEST(node_that_ignores_its_quorum_needs_leave)
{
    static const struct {
        const char *is_ignored;
        const char *loss;
        bool accept_loss;
        enum seqb_status status;
        const char *told; /* as the loss */
    } cases[] = {
        {"0", "flush", false, SEQB_OK, "flush"},
        {"1", "", false, SEQB_UNSAFE,
         "pc.ignore_quorum or pc.ignore_sb is set"},
        {"1", "", true, SEQB_OK, "pc.ignore_quorum or pc.ignore_sb is set"},
        {"1", "flush", true, SEQB_OK,
         "flush, pc.ignore_quorum or pc.ignore_sb is set"},
        {NULL, "", true, SEQB_PROTOCOL, ""},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct seqb_backend_options options = options_of(hosts);
        struct mysql mysql = {.has_incarnation = false};
        struct seqb_error err;

        script_begin();
        A->is_ignored = cases[i].is_ignored;
        A->loss = cases[i].loss;
        options.accept_loss = cases[i].accept_loss;
        assert_status(mysql_node_open(&mysql, &options, "a:1", &err),
                      cases[i].status);
        assert_string_equal(mysql.sql.base.loss, cases[i].told);
        mysql_link_close(&mysql.link);
    }
}

/* Nothing may be believed that is missing. */
TEST(answer_about_a_node_that_is_none_is_not_used)
{
    static const struct {
        int question;
        int column;
        enum seqb_status status;
    } cases[] = {{2, 0, SEQB_UNREACHABLE},
                 {2, 1, SEQB_UNREACHABLE},
                 {2, NO_ROW, SEQB_UNSAFE},
                 {4, NO_ROW, SEQB_PROTOCOL}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct seqb_backend_options options = options_of(hosts);
        struct mysql mysql = {.has_incarnation = false};
        struct seqb_error err;

        script_begin();
        script.spoils = cases[i].question;
        script.column = cases[i].column;
        assert_status(mysql_node_open(&mysql, &options, "a:1", &err),
                      cases[i].status);
        mysql_link_close(&mysql.link);
    }
}
