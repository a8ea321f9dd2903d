/* SPDX-License-Identifier: Apache-2.0 */
/* JSON strings: what a server said must never break the output. */
#include "status/json/json.h"

#include <stdlib.h>

#include "support/test.h"

struct string_case {
    const char *text;
    const char *json;
};

static void assert_strings(const struct string_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        json_t *string = json_of_text(cases[i].text);
        char *json = json_dumps(string, JSON_ENCODE_ANY);

        assert_non_null(json);
        assert_string_equal(json, cases[i].json);
        free(json);
        json_decref(string);
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
        {"\"", "\"\\\"\""},    {"\\", "\"\\\\\""},
        {"a\nb", "\"a\\nb\""}, {"\x01\x1f", "\"\\u0001\\u001F\""},
        {"\x7f", "\"\x7f\""},
    };

    assert_strings(cases, sizeof cases / sizeof cases[0]);
}

TEST(what_is_not_utf8_is_replaced_byte_by_byte)
{
    static const struct string_case cases[] = {
        {"\xff", "\"\xef\xbf\xbd\""},
        {"\x80x", "\"\xef\xbf\xbdx\""},
        {"\xc3", "\"\xef\xbf\xbd\""},                 /* cut at the end */
        {"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""}, /* cut at the end */
        {"\xe2\"", "\"\xef\xbf\xbd\\\"\""},           /* cut by a quote */
        {"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""}, /* overlong */
        {"\xe0\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80",
         "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* surrogate */
        {"\xf0\x80\x80\x80",
         "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xf4\x90\x80\x80",
         "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    };

    assert_strings(cases, sizeof cases / sizeof cases[0]);
}
