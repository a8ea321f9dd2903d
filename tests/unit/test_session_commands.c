/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon says of its commands, as redis-cli and client libraries ask
 * for it: each answer has the types that Redis 7.0 gives it. The broker is a
 * stub.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/commands/commands.h"
#include "daemon/server.h"
#include "support/dialogue.h"
#include "support/stub_broker.h"

#define PLENTY    1000000000
#define MINUTE_MS 60000
#define WHOLE     ((size_t)1 << 30) /* a piece that holds everything */

#define HELLO "HELLO 3\r\n"

/* The answer to `said` as a text; to be freed. */
static char *answer(const char *said)
{
    struct server *server = NULL;
    struct talker talker;
    char *text = NULL;

    stub_reset(PLENTY, SEQB_AGAIN, MINUTE_MS);
    server = dialogue_server();
    talker_init(&talker, server);
    dialogue_say(server, &talker, said, strlen(said), WHOLE);
    text = calloc(1, talker.length + 1);
    assert_non_null(text);
    memcpy(text, talker.heard, talker.length);
    server_close(server);
    talker_fini(&talker);
    return text;
}

static void check(const char *said, const char *expected)
{
    char *text = answer(said);

    assert_string_equal(text, expected);
    free(text);
}

/* After a HELLO 3, of which the answer is left out. */
static void check_resp3(const char *said, const char *expected)
{
    char *hello = answer(HELLO);
    char line[256];
    char *text = NULL;

    snprintf(line, sizeof line, HELLO "%s", said);
    text = answer(line);
    assert_memory_equal(text, hello, strlen(hello));
    assert_string_equal(text + strlen(hello), expected);
    free(hello);
    free(text);
}

static void check_head(const char *said, const char *head)
{
    char *text = answer(said);

    if (strncmp(text, head, strlen(head)) != 0)
        fail_msg("%s: %s", said, text);
    free(text);
}

/* --- DOCS --- */

#define ECHO_DOCS                                                              \
    "$7\r\nsummary\r\n$14\r\nAnswers a word\r\n$5\r\nsince\r\n"                \
    "$5\r\n0.1.0\r\n$5\r\ngroup\r\n$10\r\nconnection\r\n"

static void docs_are_a_map_by_the_names_in_lower_case(void **state)
{
    (void)state;
    check("COMMAND DOCS ECHO\r\n", "*2\r\n$4\r\necho\r\n*6\r\n" ECHO_DOCS);
    check_resp3("COMMAND DOCS ECHO\r\n",
                "%1\r\n$4\r\necho\r\n%3\r\n" ECHO_DOCS);
    check("command docs echo Echo\r\n", "*4\r\n$4\r\necho\r\n*6\r\n" ECHO_DOCS
                                        "$4\r\necho\r\n*6\r\n" ECHO_DOCS);
}

static void docs_of_unknown_names_are_left_out(void **state)
{
    (void)state;
    check("COMMAND DOCS nosuch\r\n", "*0\r\n");
    check_resp3("COMMAND DOCS nosuch\r\n", "%0\r\n");
    check("COMMAND DOCS nosuch echo\r\n",
          "*2\r\n$4\r\necho\r\n*6\r\n" ECHO_DOCS);
}

/* --- INFO --- */

#define ECHO_INFO(set)                                                         \
    "*10\r\n$4\r\necho\r\n:2\r\n" set "1\r\n+fast\r\n:0\r\n:0\r\n:0\r\n" set   \
    "0\r\n*0\r\n*0\r\n*0\r\n"

#define KEY_SPEC(set, map2, map4, map6, flags)                                 \
    "*1\r\n" map6 "$5\r\nflags\r\n" set flags "$12\r\nbegin_search\r\n" map4   \
    "$4\r\ntype\r\n$5\r\nindex\r\n$4\r\nspec\r\n" map2                         \
    "$5\r\nindex\r\n:1\r\n$9\r\nfind_keys\r\n" map4                            \
    "$4\r\ntype\r\n$5\r\nrange\r\n$4\r\nspec\r\n" map6                         \
    "$7\r\nlastkey\r\n:0\r\n$7\r\nkeystep\r\n:1\r\n$5\r\nlimit\r\n:0\r\n"

#define UPDATES "3\r\n+RW\r\n+access\r\n+update\r\n"
#define READS   "2\r\n+RO\r\n+access\r\n"

static void info_has_the_ten_elements_of_redis(void **state)
{
    (void)state;
    check("COMMAND INFO echo\r\n", "*1\r\n" ECHO_INFO("*"));
    check_resp3("COMMAND INFO echo\r\n", "*1\r\n" ECHO_INFO("~"));
}

static void info_of_a_command_with_a_key_says_where_it_stands(void **state)
{
    (void)state;
    check("COMMAND INFO INCR\r\n",
          "*1\r\n*10\r\n$4\r\nincr\r\n:2\r\n*1\r\n+write\r\n:1\r\n:1\r\n:1\r\n"
          "*0\r\n*0\r\n" KEY_SPEC("*", "*2\r\n", "*4\r\n", "*6\r\n",
                                  UPDATES) "*0\r\n");
    check_resp3("COMMAND INFO seq.decode\r\n",
                "*1\r\n*10\r\n$10\r\nseq.decode\r\n:-3\r\n~1\r\n+readonly\r\n"
                ":1\r\n:1\r\n:1\r\n~0\r\n*0\r\n" KEY_SPEC(
                    "~", "%1\r\n", "%2\r\n", "%3\r\n", READS) "*0\r\n");
}

static void info_of_unknown_names_is_null(void **state)
{
    (void)state;
    check("COMMAND INFO nosuch echo x\r\n",
          "*3\r\n$-1\r\n" ECHO_INFO("*") "$-1\r\n");
    check_resp3("COMMAND INFO nosuch\r\n", "*1\r\n_\r\n");
}

/* --- all of them --- */

static size_t count_commands(void)
{
    size_t count = 0;

    while (command_at(count) != NULL)
        count++;
    return count;
}

static void without_names_all_are_told(void **state)
{
    const size_t count = count_commands();
    char text[64];
    char *all = answer("COMMAND\r\n");
    char *same = answer("COMMAND INFO\r\n");

    (void)state;
    snprintf(text, sizeof text, "*%zu\r\n*10\r\n$4\r\nincr\r\n", count);
    check_head("COMMAND\r\n", text);
    assert_string_equal(all, same);
    snprintf(text, sizeof text, "*%zu\r\n$4\r\nincr\r\n$8\r\nseq.next\r\n",
             count);
    check_head("COMMAND LIST\r\n", text);
    snprintf(text, sizeof text, "*%zu\r\n$4\r\nincr\r\n*6\r\n", 2 * count);
    check_head("COMMAND DOCS\r\n", text);
    snprintf(text, sizeof text, ":%zu\r\n", count);
    check("COMMAND COUNT\r\n", text);
    free(all);
    free(same);
}

/* Each has all that redis-cli asserts of it, and no two are one. */
static void every_row_of_the_table_is_whole(void **state)
{
    static const char *const flags[] = {"write", "readonly", "admin", "fast"};

    (void)state;
    for (size_t i = 0; command_at(i) != NULL; i++) {
        const struct command *command = command_at(i);
        const struct resp_slice name = {command->name, strlen(command->name)};
        bool is_known = false;

        assert_ptr_equal(command_find(name), command);
        assert_true(strlen(command->name) < COMMAND_NAME_SIZE);
        assert_true(strlen(command->summary) > 0);
        assert_true(command->arity != 0);
        for (size_t j = 0; j < sizeof flags / sizeof flags[0]; j++)
            is_known = is_known || strcmp(command->flag, flags[j]) == 0;
        assert_true(is_known);
    }
}

static void what_is_no_subcommand_is_refused(void **state)
{
    static const char *const lines[] = {
        "COMMAND NOSUCH\r\n", "COMMAND COUNT x\r\n",
        "COMMAND LIST FILTERBY PATTERN i*\r\n", "COMMAND GETKEYS INCR a\r\n"};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        check_head(lines[i], "-ERR unknown subcommand or wrong number of "
                             "arguments: use COMMAND COUNT, LIST, ");
}

/* --- what Redis has and we do not --- */

/* The error says what to do: clients show it, and no other. */
static void transactions_are_refused_with_a_way_without(void **state)
{
    static const char *const lines[] = {"MULTI\r\n", "EXEC\r\n", "discard\r\n",
                                        "WATCH a b\r\n", "UNWATCH\r\n"};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        check(lines[i], "-ERR there is no MULTI: pipeline without it, in "
                        "redis-py by pipeline(transaction=False)\r\n");
}

/* As redis-py's pipeline() sends it: each reply has its place. */
static void a_pipeline_in_a_transaction_has_all_its_replies(void **state)
{
    char *refusal = answer("MULTI\r\n");
    char text[512];

    (void)state;
    snprintf(text, sizeof text, "%s:%d\r\n:%d\r\n%s", refusal, STUB_FIRST,
             STUB_FIRST + 1, refusal);
    check("MULTI\r\nINCR a\r\nINCR a\r\nEXEC\r\n", text);
    free(refusal);
}

static void other_commands_of_redis_are_told_what_there_is(void **state)
{
    (void)state;
    check_head("DECR a\r\n", "-ERR numbers only go up: ");
    check_head("DECRBY a 3\r\n", "-ERR numbers only go up: ");
    check_head("GET a\r\n", "-ERR seqbroker only hands out numbers: ");
    check_head("nosuch a\r\n", "-ERR unknown command 'nosuch'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(docs_are_a_map_by_the_names_in_lower_case),
        cmocka_unit_test(docs_of_unknown_names_are_left_out),
        cmocka_unit_test(info_has_the_ten_elements_of_redis),
        cmocka_unit_test(info_of_a_command_with_a_key_says_where_it_stands),
        cmocka_unit_test(info_of_unknown_names_is_null),
        cmocka_unit_test(without_names_all_are_told),
        cmocka_unit_test(every_row_of_the_table_is_whole),
        cmocka_unit_test(what_is_no_subcommand_is_refused),
        cmocka_unit_test(transactions_are_refused_with_a_way_without),
        cmocka_unit_test(a_pipeline_in_a_transaction_has_all_its_replies),
        cmocka_unit_test(other_commands_of_redis_are_told_what_there_is),
    };

    return cmocka_run_group_tests_name("session_commands", tests, NULL, NULL);
}
