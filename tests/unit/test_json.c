/* SPDX-License-Identifier: Apache-2.0 */
/* JSON strings of seqctl: what a server said must never break the output. */
#include <stdio.h>
#include <stdlib.h>

#include "ctl/json.h"
#include "support/test.h"

struct string_case {
    const char *text;
    const char *json;
};

static void assert_strings(const struct string_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *json = NULL;
        size_t length = 0;
        FILE *to = open_memstream(&json, &length);

        assert_non_null(to);
        json_string(to, cases[i].text);
        fclose(to);
        assert_string_equal(json, cases[i].json);
        free(json);
    }
}

TEST(plain_text_stays_as_it_is)
{
    static const struct string_case cases[] = {
        {"", "\"\""},
        {"order", "\"order\""},
        {"a/b c", "\"a/b c\""},
        {"\xc3\xa9", "\"\xc3\xa9\""},                 /* 2 bytes */
        {"\xe2\x82\xac", "\"\xe2\x82\xac\""},         /* 3 */
        {"\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\""}, /* 4 */
        {"\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\""}, /* U+10FFFF */
    };

    assert_strings(cases, sizeof cases / sizeof cases[0]);
}

TEST(quotes_and_control_characters_are_escaped)
{
    static const struct string_case cases[] = {
        {"\"", "\"\\\"\""},        {"\\", "\"\\\\\""},
        {"a\nb", "\"a\\u000ab\""}, {"\x01\x1f", "\"\\u0001\\u001f\""},
        {"\x7f", "\"\\u007f\""},
    };

    assert_strings(cases, sizeof cases / sizeof cases[0]);
}

TEST(what_is_not_utf8_is_replaced_byte_by_byte)
{
    static const struct string_case cases[] = {
        {"\xff", "\"\\ufffd\""},
        {"\x80x", "\"\\ufffdx\""},
        {"\xc3", "\"\\ufffd\""},            /* cut at the end */
        {"\xe2\x82", "\"\\ufffd\\ufffd\""}, /* cut at the end */
        {"\xe2\"", "\"\\ufffd\\\"\""},      /* cut by a quote */
        {"\xc0\x80", "\"\\ufffd\\ufffd\""}, /* overlong */
        {"\xe0\x80\x80", "\"\\ufffd\\ufffd\\ufffd\""},
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""}, /* surrogate */
        {"\xf0\x80\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
        {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
    };

    assert_strings(cases, sizeof cases / sizeof cases[0]);
}
