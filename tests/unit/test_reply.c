/* SPDX-License-Identifier: Apache-2.0 */
/* The reply writers and the buffer they write to. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/wire/wire.h"
#include "support/test.h"

/* Compares and empties the buffer. */
static void assert_written(struct buffer *out, const char *expected)
{
    assert_int_equal(out->length, strlen(expected));
    assert_memory_equal(buffer_content(out), expected, out->length);
    buffer_drop(out, out->length);
    assert_null(out->data);
}

TEST(integers_are_written_whole)
{
    static const struct {
        int64_t value;
        const char *text;
        const char *digits;
    } cases[] = {
        {0, ":0\r\n", "$1\r\n0\r\n"},
        {7, ":7\r\n", "$1\r\n7\r\n"},
        {-10, ":-10\r\n", "$3\r\n-10\r\n"},
        {INT64_MAX, ":9223372036854775807\r\n",
         "$19\r\n9223372036854775807\r\n"},
        {INT64_MIN, ":-9223372036854775808\r\n",
         "$20\r\n-9223372036854775808\r\n"},
    };
    struct buffer out = {0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reply_integer(&out, cases[i].value);
        assert_written(&out, cases[i].text);
        reply_numbers(&out, &cases[i].value, 1, true);
        assert_written(&out, cases[i].digits);
    }
}

/* Where the number of digits changes, and where it does not. */
TEST(every_length_of_number_is_written)
{
    struct buffer out = {0};
    int64_t power = 1;

    for (int digits = 1; digits < 19; digits++, power *= 10) {
        const int64_t values[] = {10 * power - 1, power, 5 * power, -power};
        char lines[128];
        char texts[192];

        snprintf(lines, sizeof lines,
                 ":%" PRId64 "\r\n:%" PRId64 "\r\n:%" PRId64 "\r\n:%" PRId64
                 "\r\n",
                 values[0], values[1], values[2], values[3]);
        reply_numbers(&out, values, 4, false);
        assert_written(&out, lines);
        snprintf(texts, sizeof texts,
                 "$%d\r\n%" PRId64 "\r\n$%d\r\n%" PRId64 "\r\n$%d\r\n%" PRId64
                 "\r\n$%d\r\n%" PRId64 "\r\n",
                 digits, values[0], digits, values[1], digits, values[2],
                 digits + 1, values[3]);
        reply_numbers(&out, values, 4, true);
        assert_written(&out, texts);
    }
}

TEST(numbers_are_no_longer_than_their_room)
{
    const int64_t values[] = {INT64_MIN, INT64_MIN};
    struct buffer out = {0};

    reply_numbers(&out, values, 2, true);
    assert_int_equal(out.length, 2 * REPLY_NUMBER_MAX);
    buffer_fini(&out);
}

TEST(the_memory_of_a_sent_reply_serves_the_next)
{
    struct buffer spare = {0};
    struct buffer first = {0};
    struct buffer second = {0};
    const char *memory = NULL;

    reply_simple(&first, "PONG");
    memory = buffer_content(&first);
    buffer_give_spare(&first, &spare);
    assert_int_equal(first.length, 0);
    assert_null(first.data);
    buffer_take_spare(&second, &spare);
    assert_null(spare.data);
    assert_int_equal(second.length, 0);
    buffer_take_spare(&second, &spare); /* has one, and keeps it */
    reply_simple(&second, "OK");
    assert_ptr_equal(buffer_content(&second), memory);
    assert_written(&second, "+OK\r\n");
    buffer_fini(&second);
}

TEST(a_spare_that_is_not_needed_is_freed)
{
    struct buffer spare = {0};
    struct buffer one = {0};
    struct buffer other = {0};

    reply_simple(&one, "PONG");
    reply_simple(&other, "PONG");
    other.is_broken = true;
    buffer_give_spare(&one, &spare);
    buffer_give_spare(&other, &spare);
    assert_null(other.data);
    assert_true(other.is_broken);
    assert_non_null(buffer_reserve(&one, 1 << 20));
    buffer_fini(&spare);
    buffer_give_spare(&one, &spare);
    assert_null(spare.data); /* too large to be kept */
}

TEST(maps_and_nulls_follow_the_protocol)
{
    struct buffer out = {0};

    reply_map(&out, 3, false);
    assert_written(&out, "*6\r\n");
    reply_map(&out, 3, true);
    assert_written(&out, "%3\r\n");
    reply_null(&out, false);
    assert_written(&out, "$-1\r\n");
    reply_null(&out, true);
    assert_written(&out, "_\r\n");
}

TEST(texts_are_written_with_their_length)
{
    struct buffer out = {0};

    reply_simple(&out, "PONG");
    assert_written(&out, "+PONG\r\n");
    reply_string(&out, "");
    assert_written(&out, "$0\r\n\r\n");
    reply_bulk(&out, "a\r\nb", 4);
    assert_written(&out, "$4\r\na\r\nb\r\n");
    reply_array(&out, 2);
    reply_field_string(&out, "key", "order");
    assert_written(&out, "*2\r\n$3\r\nkey\r\n$5\r\norder\r\n");
}

TEST(an_error_stays_one_line)
{
    struct buffer out = {0};

    reply_error(&out, "ERR", "unknown command '%s'", "a\r\n+OK\x01\x7f");
    assert_written(&out, "-ERR unknown command 'a  +OK?"
                         "?'\r\n");
}

TEST(a_failure_names_its_status)
{
    struct seqb_error err = {SEQB_UNKNOWN_KEY, "no sequence x\nand more"};
    struct buffer out = {0};

    reply_failure(&out, &err);
    assert_written(&out, "-UNKNOWNKEY no sequence x and more\r\n");
    err.status = SEQB_INVALID;
    reply_failure(&out, &err);
    assert_written(&out, "-ERR no sequence x and more\r\n");
}

TEST(the_longest_text_of_a_failure_fits)
{
    struct seqb_error err = {.status = SEQB_UNAVAILABLE};
    struct buffer out = {0};

    memset(err.text, 'x', sizeof err.text - 1);
    reply_failure(&out, &err);
    assert_int_equal(out.length,
                     strlen("-UNAVAILABLE ") + sizeof err.text - 1 + 2);
    buffer_fini(&out);
}

TEST(a_buffer_keeps_its_order_while_both_ends_move)
{
    struct buffer buffer = {0};
    unsigned char next_in = 0;
    unsigned char next_out = 0;

    for (int round = 0; round < 2000; round++) {
        for (int i = 0; i < 7 + round % 5; i++, next_in++)
            buffer_append(&buffer, (const char *)&next_in, 1);
        for (size_t i = 0; i < 5; i++, next_out++)
            assert_int_equal((unsigned char)buffer_content(&buffer)[i],
                             next_out);
        buffer_drop(&buffer, 5);
    }
    assert_int_equal((unsigned char)(next_out + buffer.length), next_in);
    assert_false(buffer.is_broken);
    buffer_fini(&buffer);
}
