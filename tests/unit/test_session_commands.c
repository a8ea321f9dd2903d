/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon says of its commands, as redis-cli and client libraries ask
 * for it: each answer has the types that Redis 7.0 gives it. The broker is a
 * stub.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/commands/commands.h"
#include "daemon/log/log.h"
#include "daemon/server.h"
#include "support/test.h"
#include "support/wrap.h"
#include "unit/session_fixture.h"

#define HELLO "HELLO 3\r\n"

/* The answer to `said` as a text; to be freed. */
static char *answer(const char *said)
{
    char *text = NULL;
    struct server *server = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    struct talker talker = talker_of(server);

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

TEST(docs_are_a_map_by_the_names_in_lower_case)
{
    check("COMMAND DOCS ECHO\r\n", "*2\r\n$4\r\necho\r\n*6\r\n" ECHO_DOCS);
    check_resp3("COMMAND DOCS ECHO\r\n",
                "%1\r\n$4\r\necho\r\n%3\r\n" ECHO_DOCS);
    check("command docs echo Echo\r\n", "*4\r\n$4\r\necho\r\n*6\r\n" ECHO_DOCS
                                        "$4\r\necho\r\n*6\r\n" ECHO_DOCS);
}

TEST(docs_of_unknown_names_are_left_out)
{
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

TEST(info_has_the_ten_elements_of_redis)
{
    check("COMMAND INFO echo\r\n", "*1\r\n" ECHO_INFO("*"));
    check_resp3("COMMAND INFO echo\r\n", "*1\r\n" ECHO_INFO("~"));
}

TEST(info_of_a_command_with_a_key_says_where_it_stands)
{
    check("COMMAND INFO INCR\r\n",
          "*1\r\n*10\r\n$4\r\nincr\r\n:2\r\n*1\r\n+write\r\n:1\r\n:1\r\n:1\r\n"
          "*0\r\n*0\r\n" KEY_SPEC("*", "*2\r\n", "*4\r\n", "*6\r\n",
                                  UPDATES) "*0\r\n");
    check_resp3("COMMAND INFO seq.decode\r\n",
                "*1\r\n*10\r\n$10\r\nseq.decode\r\n:-3\r\n~1\r\n+readonly\r\n"
                ":1\r\n:1\r\n:1\r\n~0\r\n*0\r\n" KEY_SPEC(
                    "~", "%1\r\n", "%2\r\n", "%3\r\n", READS) "*0\r\n");
}

TEST(info_of_unknown_names_is_null)
{
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

TEST(without_names_all_are_told)
{
    const size_t count = count_commands();
    char text[64];
    char *all = answer("COMMAND\r\n");
    char *same = answer("COMMAND INFO\r\n");

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
TEST(every_row_of_the_table_is_whole)
{
    static const char *const flags[] = {"write", "readonly", "admin", "fast"};

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

TEST(what_is_no_subcommand_is_refused)
{
    static const char *const lines[] = {
        "COMMAND NOSUCH\r\n", "COMMAND COUNT x\r\n",
        "COMMAND LIST FILTERBY PATTERN i*\r\n", "COMMAND GETKEYS INCR a\r\n"};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        check_head(lines[i], "-ERR unknown subcommand or wrong number of "
                             "arguments: use COMMAND COUNT, LIST, ");
}

/* --- what Redis has and we do not --- */

/* The error says what to do: clients show it, and no other. */
TEST(transactions_are_refused_with_a_way_without)
{
    static const char *const lines[] = {"MULTI\r\n", "EXEC\r\n", "discard\r\n",
                                        "WATCH a b\r\n", "UNWATCH\r\n"};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        check(lines[i], "-ERR there is no MULTI: pipeline without it, in "
                        "redis-py by pipeline(transaction=False)\r\n");
}

/* As redis-py's pipeline() sends it: each reply has its place. */
TEST(a_pipeline_in_a_transaction_has_all_its_replies)
{
    char *refusal = answer("MULTI\r\n");
    char text[512];

    snprintf(text, sizeof text, "%s:%d\r\n:%d\r\n%s", refusal, STUB_FIRST,
             STUB_FIRST + 1, refusal);
    check("MULTI\r\nINCR a\r\nINCR a\r\nEXEC\r\n", text);
    free(refusal);
}

TEST(other_commands_of_redis_are_told_what_there_is)
{
    check_head("DECR a\r\n", "-ERR numbers only go up: ");
    check_head("DECRBY a 3\r\n", "-ERR numbers only go up: ");
    check_head("GET a\r\n", "-ERR seqbroker only hands out numbers: ");
    check_head("nosuch a\r\n", "-ERR unknown command 'nosuch'");
}

/* --- memory that is short --- */

static int copies_left = -1; /* texts that can be copied; -1: all */

WRAPPED(char *, strdup, const char *text)
{
    if (copies_left == 0)
        return NULL;
    copies_left -= copies_left > 0;
    return __real_strdup(text);
}

/* Who gets a shorter list would take it for all. */
TEST_WITH(SERVER, events_that_memory_is_short_for_are_no_shorter_list)
{
    struct talker *talker = talker_new(server);

    for (int i = 0; i < 3; i++)
        log_event(SEQB_LOG_DEBUG, "event=one");
    copies_left = 2;
    talker_say(talker, "SEQ.SHOW EVENTS\r\n", 17);
    dialogue_finish(server, talker);
    copies_left = -1;
    assert_int_equal(talker->length, 0);
    assert_true(talker->fd < 0);
}
