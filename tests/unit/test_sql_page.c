/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows a page lists. */
#include <string.h>

#include "backends/sql/sql.h"
#include "platform/text.h"
#include "support/failure.h"
#include "support/test.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MOST     3

static struct seqb_listed listed[MOST];

static struct seqb_page page_of(const char *prefix, const char *after)
{
    return (struct seqb_page){.prefix = prefix,
                              .after = after,
                              .listed = listed,
                              .most = MOST,
                              .count = 7};
}

/* Of these names, as they are in the order of bytes, which are in the range. */
TEST(range_holds_the_prefix_above_after)
{
    static const char *const names[] = {"",    "@a/",   "Z",    "a",    "a-b",
                                        "a/",  "a/-",   "a/0",  "a/0/", "a/A",
                                        "a/a", "a/a@1", "a/z~", "a0",   "b"};
    static const struct {
        const char *prefix;
        const char *after;
        const char *first;
        const char *last;
    } cases[] = {
        {"a/", "", "a/", "a/z~"},        {"a/", "Z", "a/", "a/z~"},
        {"a/", "a/", "a/-", "a/z~"},     {"a/", "a/0", "a/0/", "a/z~"},
        {"a/", "a/a@1", "a/z~", "a/z~"}, {"a", "", "a", "a0"},
        {"a/a", "", "a/a", "a/a@1"},     {"@a", "", "@a/", "@a/"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct seqb_page page = page_of(cases[i].prefix, cases[i].after);
        const char *first = NULL;
        const char *last = NULL;
        struct sql_range range;
        struct seqb_error err;

        assert_ok(sql_page_begin(&page, &range, "here", &err));
        assert_int_equal(page.count, 0);
        for (size_t j = 0; j < COUNT(names); j++) {
            if (strcmp(names[j], range.from) < 0 ||
                strcmp(names[j], range.to) >= 0)
                continue;
            first = first == NULL ? names[j] : first;
            last = names[j];
        }
        assert_non_null(first);
        assert_string_equal(first, cases[i].first);
        assert_string_equal(last, cases[i].last);
    }
}

TEST(page_needs_a_prefix_and_room)
{
    char name[SEQB_COUNTER_SIZE + 8];
    struct seqb_page pages[] = {page_of("", ""),      page_of("@", ""),
                                page_of("a\xff", ""), page_of("a\x7f", ""),
                                page_of(name, ""),    page_of("a", "")};
    struct sql_range range;
    struct seqb_error err;

    memset(name, 'a', sizeof name);
    name[SEQB_COUNTER_SIZE] = '\0';
    pages[COUNT(pages) - 1].most = 0;
    for (size_t i = 0; i < COUNT(pages); i++)
        assert_int_equal(sql_page_begin(&pages[i], &range, "here", &err),
                         SEQB_INVALID);
    name[SEQB_COUNTER_SIZE - 1] = '\0';
    assert_ok(sql_page_begin(&pages[COUNT(pages) - 2], &range, "here", &err));
    pages[COUNT(pages) - 1].most = 1;
    assert_ok(sql_page_begin(&pages[COUNT(pages) - 1], &range, "here", &err));
    memset(name, 'a', SEQB_COUNTER_SIZE);
    pages[COUNT(pages) - 1].after = name;
    assert_fails(
        sql_page_begin(&pages[COUNT(pages) - 1], &range, "here", &failure),
        SEQB_INVALID, "here: no counter is named 'aaa");
}

/* Else a counter would be left out, and nobody would know. */
TEST(row_that_is_not_the_next_one_is_damage)
{
    static const struct {
        const char *name;
        int64_t value;
        enum seqb_status status;
    } cases[] = {
        {"a/b", 1, SEQB_CORRUPT},  {NULL, 1, SEQB_CORRUPT},
        {"b/c", 1, SEQB_CORRUPT},  {"a/c", -1, SEQB_CORRUPT},
        {"a/c", 0, SEQB_OK},       {"a/c", 1, SEQB_CORRUPT},
        {"a/bb", 1, SEQB_CORRUPT}, {"a/d", INT64_MAX, SEQB_OK},
        {"a/e", 1, SEQB_OK},       {"a/f", 1, SEQB_CORRUPT},
    };
    struct seqb_page page = page_of("a/", "a/b");
    struct sql_range range;
    struct seqb_error err;

    assert_ok(sql_page_begin(&page, &range, "here", &err));
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(
            sql_page_add(&page, cases[i].name, cases[i].value, "here", &err),
            cases[i].status);
    assert_int_equal(page.count, MOST);
    assert_string_equal(listed[1].counter, "a/d");
    assert_int_equal(listed[1].value, INT64_MAX);
}

TEST(name_that_is_too_long_is_damage)
{
    char name[SEQB_COUNTER_SIZE + 1];
    struct seqb_page page = page_of("a", "");
    struct sql_range range;
    struct seqb_error err;

    memset(name, 'a', sizeof name);
    name[SEQB_COUNTER_SIZE] = '\0';
    assert_ok(sql_page_begin(&page, &range, "here", &err));
    assert_fails(sql_page_add(&page, name, 1, "here", &failure), SEQB_CORRUPT,
                 "here: counter aaa");
    assert_fails(sql_page_add(&page, NULL, 1, "here", &failure), SEQB_CORRUPT,
                 "here: counter (no name)");
    name[SEQB_COUNTER_SIZE - 1] = '\0';
    assert_ok(sql_page_add(&page, name, 1, "here", &err));
}
