/* SPDX-License-Identifier: Apache-2.0 */
/* The request parser: what it understands, what it refuses, and that neither
 * depends on where the bytes were cut. */
#include <stdio.h>
#include <string.h>

#include "daemon/wire/wire.h"
#include "support/test.h"

#define INPUT_SIZE (256 * 1024)

/* Wide enough for any input here; each test starts it anew. */
static char input[INPUT_SIZE];

/* Puts a text behind the first `at` bytes; returns where it ends. */
static size_t input_add(size_t at, const char *text)
{
    for (; *text != '\0'; text++)
        input[at++] = *text;
    return at;
}

static size_t input_set(const char *text)
{
    return input_add(0, text);
}

/* The words of a request, each in brackets. */
static void words_join(const struct resp_request *request, char *out,
                       size_t size)
{
    size_t at = 0;

    out[0] = '\0';
    for (size_t i = 0; i < request->argc; i++)
        at += (size_t)snprintf(out + at, size - at, "[%.*s]",
                               (int)request->argv[i].length,
                               request->argv[i].data);
}

TEST(requests_are_understood)
{
    static const struct {
        const char *text;
        size_t size;
        const char *words;
    } cases[] = {
        {"*1\r\n$4\r\nPING\r\n", 14, "[PING]"},
        {"*2\r\n$4\r\nINCR\r\n$5\r\norder\r\n", 25, "[INCR][order]"},
        {"*2\r\n$4\r\nINCR\r\n$5\r\norder\r\n*1\r\n", 25, "[INCR][order]"},
        {"*1\r\n$0\r\n\r\n", 10, "[]"},
        {"*2\r\n$4\r\nECHO\r\n$4\r\n\r\n$1\r\n", 24, "[ECHO][\r\n$1]"},
        {"*01\r\n$0004\r\nPING\r\n", 18, "[PING]"},
        {"PING\r\n", 6, "[PING]"},
        {"PING\nINCR a\n", 5, "[PING]"},
        {"  SEQ.NEXT \t order COUNT 3  \r\n", 30,
         "[SEQ.NEXT][order][COUNT][3]"},
        {"SET a \"b c\"\r\n", 13, "[SET][a][\"b][c\"]"},
        {"\r\n", 2, ""},
        {"\n", 1, ""},
        {"   \r\n", 5, ""},
        {"*0\r\n", 4, ""},
        {"*-1\r\nPING\r\n", 5, ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct resp_request request;
        size_t length = input_set(cases[i].text);
        char words[256];

        assert_int_equal(resp_parse(input, length, &request), RESP_COMPLETE);
        assert_int_equal(request.size, cases[i].size);
        words_join(&request, words, sizeof words);
        assert_string_equal(words, cases[i].words);
    }
}

TEST(a_request_that_is_not_whole_needs_more)
{
    static const char *const cases[] = {
        "*2\r\n$4\r\nINCR\r\n$5\r\norder\r\n",
        "*1\r\n$0\r\n\r\n",
        "*-1\r\n",
        "INCR order\r\n",
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t length = input_set(cases[i]);
        struct resp_request request;

        for (size_t cut = 0; cut < length; cut++)
            assert_int_equal(resp_parse(input, cut, &request), RESP_PARTIAL);
        assert_int_equal(resp_parse(input, length, &request), RESP_COMPLETE);
        assert_int_equal(request.size, length);
    }
}

TEST(garbage_is_a_protocol_error)
{
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        {"*x\r\n", "Protocol error: invalid multibulk length"},
        {"*\r\n", "Protocol error: invalid multibulk length"},
        {"*-\r\n", "Protocol error: invalid multibulk length"},
        {"*1\n", "Protocol error: invalid multibulk length"},
        {"*1 \r\n", "Protocol error: invalid multibulk length"},
        {"*1\rx", "Protocol error: invalid multibulk length"},
        {"*65\r\n", "Protocol error: invalid multibulk length"},
        {"*1000000000\r\n", "Protocol error: invalid multibulk length"},
        {"*99999999999999999999", "Protocol error: invalid multibulk length"},
        {"*1\r\nPING\r\n", "Protocol error: expected '$'"},
        {"*1\r\n:4\r\n", "Protocol error: expected '$'"},
        {"*1\r\n$x\r\n", "Protocol error: invalid bulk length"},
        {"*1\r\n$-1\r\n", "Protocol error: invalid bulk length"},
        {"*1\r\n$65537\r\n", "Protocol error: invalid bulk length"},
        {"*1\r\n$99999999999", "Protocol error: invalid bulk length"},
        {"*1\r\n$4\r\nPINGPONG",
         "Protocol error: expected CRLF after a bulk string"},
        {"*1\r\n$4\r\nPING\rx",
         "Protocol error: expected CRLF after a bulk string"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct resp_request request;
        size_t length = input_set(cases[i].text);

        assert_int_equal(resp_parse(input, length, &request), RESP_BROKEN);
        assert_string_equal(request.error, cases[i].error);
    }
}

TEST(the_largest_bulk_string_is_understood)
{
    struct resp_request request;
    size_t head = input_set("*1\r\n$65536\r\n");
    size_t length = head + RESP_BULK_MAX + 2;

    memset(input + head, 'x', RESP_BULK_MAX);
    input_add(head + RESP_BULK_MAX, "\r\n");
    assert_int_equal(resp_parse(input, length - 1, &request), RESP_PARTIAL);
    assert_int_equal(resp_parse(input, length, &request), RESP_COMPLETE);
    assert_int_equal(request.argv[0].length, RESP_BULK_MAX);
    assert_int_equal(request.size, length);
}

TEST(arguments_are_understood_up_to_their_limit)
{
    struct resp_request request;
    size_t length = input_set("*64\r\n");

    for (int i = 0; i < RESP_ARGUMENTS_MAX; i++)
        length = input_add(length, "$1\r\na\r\n");
    assert_int_equal(resp_parse(input, length, &request), RESP_COMPLETE);
    assert_int_equal(request.argc, RESP_ARGUMENTS_MAX);
}

TEST(a_request_larger_than_its_limit_is_refused_early)
{
    struct resp_request request;
    size_t length = input_set("*3\r\n");

    for (int i = 0; i < 2; i++) {
        length = input_add(length, "$60000\r\n");
        memset(input + length, 'x', 60000);
        length = input_add(length + 60000, "\r\n");
    }
    assert_int_equal(resp_parse(input, length, &request), RESP_PARTIAL);
    length = input_add(length, "$60000\r\n");
    assert_int_equal(resp_parse(input, length, &request), RESP_BROKEN);
    assert_string_equal(request.error, "Protocol error: too big request");
}

TEST(an_inline_request_has_its_limits)
{
    struct resp_request request;

    memset(input, 'x', RESP_INLINE_MAX + 1);
    assert_int_equal(resp_parse(input, RESP_INLINE_MAX - 1, &request),
                     RESP_PARTIAL);
    input[RESP_INLINE_MAX - 1] = '\n';
    assert_int_equal(resp_parse(input, RESP_INLINE_MAX, &request),
                     RESP_COMPLETE);
    input[RESP_INLINE_MAX - 1] = 'x';
    assert_int_equal(resp_parse(input, RESP_INLINE_MAX, &request), RESP_BROKEN);
    input[RESP_INLINE_MAX] = '\n';
    assert_int_equal(resp_parse(input, RESP_INLINE_MAX + 1, &request),
                     RESP_BROKEN);
    assert_string_equal(request.error,
                        "Protocol error: too big inline request");
}

TEST(an_inline_request_has_at_most_so_many_words)
{
    struct resp_request request;
    size_t length = 0;

    for (int i = 0; i < RESP_ARGUMENTS_MAX; i++)
        length = input_add(length, "a ");
    input[length] = '\n';
    assert_int_equal(resp_parse(input, length + 1, &request), RESP_COMPLETE);
    assert_int_equal(request.argc, RESP_ARGUMENTS_MAX);
    length = input_add(length, "a\n");
    assert_int_equal(resp_parse(input, length, &request), RESP_BROKEN);
}

TEST(a_request_is_counted_as_often_as_it_follows_whole)
{
    static const struct {
        const char *text;
        size_t size; /* of the first request */
        size_t repeats;
    } cases[] = {
        {"INCR a\r\n", 8, 0},
        {"INCR a\r\nINCR a\r\n", 8, 1},
        {"INCR a\r\nINCR a\r\nINCR a\r\n", 8, 2},
        {"INCR a\r\nINCR a\r", 8, 0},
        {"INCR a\r\nINCR b\r\nINCR a\r\n", 8, 0},
        {"INCR a\r\nINCR a\r\nINCR b\r\n", 8, 1},
        {"INCR a\r\nJNCR a\r\n", 8, 0},
        {"INCR a\r\nINCR a\r\nINCR a", 8, 1},
        {"INCR a\r\nINCR a \r\n", 8, 0},
        {"\n\n\n\n", 1, 3},
        {"*2\r\n$4\r\nINCR\r\n$1\r\na\r\n*2\r\n$4\r\nINCR\r\n$1\r\na\r\n*2", 21,
         1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t length = input_set(cases[i].text);

        assert_int_equal(resp_repeats(input, length, cases[i].size),
                         cases[i].repeats);
    }
}

/* Beyond what was read stand the bytes of an earlier read. */
TEST(nothing_is_counted_beyond_what_was_read)
{
    size_t length = 0;

    for (int i = 0; i < 100; i++)
        length = input_add(length, "INCR a\r\n");
    for (size_t cut = 8; cut <= length; cut++)
        assert_int_equal(resp_repeats(input, cut, 8), cut / 8 - 1);
}
