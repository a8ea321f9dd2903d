/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of memcached's replies: what it understands, what it refuses, and
 * that neither depends on where the bytes were cut. */
#include <stdlib.h>
#include <string.h>

#include "backends/memcached/reply.h"
#include "platform/text.h"
#include "support/test.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static enum memcached_parsed parse(const char *text,
                                   struct memcached_reply *out)
{
    return memcached_reply_parse(text, strlen(text), out);
}

static void assert_text(const struct memcached_reply *reply, const char *text)
{
    assert_int_equal(reply->length, strlen(text));
    assert_memory_equal(reply->text, text, strlen(text));
}

TEST(lines_are_told_by_their_first_word)
{
    static const struct {
        const char *line;
        enum memcached_code code;
    } rows[] = {
        {"HD", MEMCACHED_DONE},
        {"HD f1 c2", MEMCACHED_DONE},
        {"EN", MEMCACHED_ABSENT},
        {"NF", MEMCACHED_ABSENT},
        {"NS", MEMCACHED_NOT_STORED},
        {"EX", MEMCACHED_CHANGED},
        {"ERROR", MEMCACHED_ERROR},
        {"ERROR Too many open connections", MEMCACHED_ERROR},
        {"CLIENT_ERROR bad", MEMCACHED_ERROR},
        {"SERVER_ERROR out of memory", MEMCACHED_ERROR},
        {"MN", MEMCACHED_LINE},
        {"STORED", MEMCACHED_LINE},
        {"STAT pid 1", MEMCACHED_LINE},
        {"HDX", MEMCACHED_LINE},
        {"ENX", MEMCACHED_LINE},
        {"ERRORS", MEMCACHED_LINE},
        {"hd", MEMCACHED_LINE},
        {"", MEMCACHED_LINE},
        {"\303\244", MEMCACHED_LINE},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct memcached_reply reply;
        char text[64];

        assert_true(text_copy(text, sizeof text, rows[i].line));
        /* What follows is not its. */
        assert_true(text_append(text, sizeof text, "\r\nEN"));
        assert_int_equal(parse(text, &reply), MEMCACHED_COMPLETE);
        assert_int_equal(reply.code, rows[i].code);
        assert_int_equal(reply.size, strlen(rows[i].line) + 2);
        assert_int_equal(reply.rest, 0);
        assert_text(&reply, rows[i].line);
    }
}

TEST(values_come_with_the_fields_asked_for)
{
    static const struct {
        const char *text;
        const char *value;
        bool has_flags;
        bool has_cas;
        uint32_t flags;
        uint64_t cas;
    } rows[] = {
        {"VA 2\r\n42\r\n", "42", false, false, 0, 0},
        {"VA 2 f7 c9\r\n42\r\n", "42", true, true, 7, 9},
        {"VA 2 c9 f7\r\n42\r\n", "42", true, true, 7, 9},
        {"VA 0 f0\r\n\r\n", "", true, false, 0, 0},
        {"VA 4 c1\r\n\r\n\r\n\r\n", "\r\n\r\n", false, true, 0, 1},
        {"VA 2 f4294967295 c18446744073709551615\r\n42\r\n", "42", true, true,
         UINT32_MAX, UINT64_MAX},
        {"VA 2 W Z X f7 t-1 Oabc kname\r\n42\r\n", "42", true, false, 7, 0},
        {"VA 2  f7 \r\n42\r\n", "42", true, false, 7, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct memcached_reply reply;

        assert_int_equal(parse(rows[i].text, &reply), MEMCACHED_COMPLETE);
        assert_int_equal(reply.code, MEMCACHED_VALUE);
        assert_int_equal(reply.size, strlen(rows[i].text));
        assert_text(&reply, rows[i].value);
        assert_int_equal(reply.has_flags, rows[i].has_flags);
        assert_int_equal(reply.has_cas, rows[i].has_cas);
        assert_true(reply.flags == rows[i].flags && reply.cas == rows[i].cas);
    }
}

TEST(what_no_server_says_is_broken)
{
    static const char *const rows[] = {
        "\n",
        "HD\n",
        "HD\rX\n",
        "H\1D\r\n",
        "HD\t\r\n",
        "HD\x7f\r\n",
        "VA\r\n",
        "VA \r\n",
        "VA x\r\n",
        "VA -1\r\n",
        "VA +1\r\nx\r\n",
        "VA 01\r\nx\r\n",
        "VA 1x\r\nx\r\n",
        "VA 99999999999999999999\r\n",
        "VA 18446744073709551616\r\n",
        "VA 1073741825\r\n",
        "VA 2\r\n42xx",
        "VA 2\r\n421\r\n",
        "VA 2\r\n4\r\n\r\n",
        "VA 2 f\r\n42\r\n",
        "VA 2 fx\r\n42\r\n",
        "VA 2 f-1\r\n42\r\n",
        "VA 2 f4294967296\r\n42\r\n",
        "VA 2 c\r\n42\r\n",
        "VA 2 c18446744073709551616\r\n42\r\n",
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct memcached_reply reply;

        assert_int_equal(parse(rows[i], &reply), MEMCACHED_BROKEN);
    }
}

TEST(zero_byte_in_a_line_is_broken)
{
    struct memcached_reply reply;

    assert_int_equal(memcached_reply_parse("H\0D\r\n", 5, &reply),
                     MEMCACHED_BROKEN);
}

TEST(every_beginning_of_a_reply_is_partial)
{
    static const char *const rows[] = {
        "HD\r\n",
        "VA 5 f7 c9\r\nhello\r\n",
        "VA 0\r\n\r\n",
        "CLIENT_ERROR bad command line format\r\n",
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t cut = 0; cut < strlen(rows[i]); cut++) {
            struct memcached_reply reply;
            char *part = malloc(cut + 1); /* of just its size, for ASan */

            assert_non_null(part);
            memcpy(part, rows[i], cut);
            assert_int_equal(memcached_reply_parse(part, cut, &reply),
                             MEMCACHED_PARTIAL);
            free(part);
        }
    }
}

TEST(line_without_end_is_broken_at_its_limit)
{
    char line[MEMCACHED_LINE_MAX + 2];
    struct memcached_reply reply;

    memset(line, 'x', sizeof line);
    assert_int_equal(
        memcached_reply_parse(line, MEMCACHED_LINE_MAX - 1, &reply),
        MEMCACHED_PARTIAL);
    assert_int_equal(memcached_reply_parse(line, MEMCACHED_LINE_MAX, &reply),
                     MEMCACHED_BROKEN);
    line[MEMCACHED_LINE_MAX - 2] = '\r';
    line[MEMCACHED_LINE_MAX - 1] = '\n';
    assert_int_equal(memcached_reply_parse(line, sizeof line, &reply),
                     MEMCACHED_COMPLETE);
    assert_int_equal(reply.size, MEMCACHED_LINE_MAX);
}

TEST(longest_value_is_shown_and_a_longer_one_passed_over)
{
    static const char head[] = "VA 4096 f1\r\n";
    static const char longer[] = "VA 4097 f1\r\n";
    static char text[sizeof head + MEMCACHED_VALUE_MAX + 2];
    struct memcached_reply reply;

    assert_int_equal(MEMCACHED_VALUE_MAX, 4096);
    memset(text, 'x', sizeof text);
    (void)text_copy(text, sizeof text, head);
    text[sizeof head - 1] = 'x'; /* not its end */
    text[sizeof head - 1 + MEMCACHED_VALUE_MAX] = '\r';
    text[sizeof head + MEMCACHED_VALUE_MAX] = '\n';
    assert_int_equal(memcached_reply_parse(text, sizeof text, &reply),
                     MEMCACHED_COMPLETE);
    assert_int_equal(reply.length, MEMCACHED_VALUE_MAX);
    assert_ptr_equal(reply.text, text + sizeof head - 1);
    assert_int_equal(reply.rest, 0);

    assert_int_equal(parse(longer, &reply), MEMCACHED_COMPLETE);
    assert_null(reply.text);
    assert_int_equal(reply.size, sizeof longer - 1);
    assert_int_equal(reply.length, MEMCACHED_VALUE_MAX + 1);
    assert_int_equal(reply.rest, MEMCACHED_VALUE_MAX + 3);
    assert_true(reply.has_flags);
}
