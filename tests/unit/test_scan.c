/* SPDX-License-Identifier: Apache-2.0 */
/* The scan before libconfig: integers, comments, includes, line numbers. */

#include <stdlib.h>
#include <string.h>

#include "config/source/source.h"
#include "platform/error.h"
#include "platform/text.h"
#include "support/test.h"

struct fixture {
    struct arena arena;
    struct diagnostics diagnostics;
    struct source source;
};

/* Files that exist in these tests. */
static const char *const files[][2] = {
    {"part.conf", "b = 2;\nc = 5000000000;"},
    {"in/part.conf", "x = 1;\n"},
    {"in/outer.conf", "@include \"part.conf\"\ny = 2;\n"},
    {"/abs.conf", "z = 9;\n"},
    {"open.conf", "/* never closed"},
    {"huge.conf", "h = 99999999999999999999;\n"},
    {"loop.conf", "@include \"loop.conf\"\n@include \"loop.conf\"\n"},
};

static enum seqb_status read_fake(const char *path, char **out,
                                  struct seqb_error *err)
{
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        if (strcmp(files[i][0], path) != 0)
            continue;
        *out = text_copy_of(files[i][1]);
        return SEQB_OK;
    }
    return error_set(err, SEQB_INVALID, "cannot open %s", path);
}

static void fixture_init(struct fixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    fixture->diagnostics.arena = &fixture->arena;
    fixture->source.arena = &fixture->arena;
    fixture->source.diagnostics = &fixture->diagnostics;
    fixture->source.read = read_fake;
}

static void fixture_fini(struct fixture *fixture)
{
    source_free(&fixture->source);
    arena_free(&fixture->arena);
}

static int setup(void **state)
{
    struct fixture *fixture = malloc(sizeof *fixture);

    if (fixture == NULL)
        return 1;
    fixture_init(fixture);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    fixture_fini(*state);
    free(*state);
    return 0;
}

#define SCAN FIXTURE(struct fixture *fixture, setup, teardown)

/* The only mistake, as "file:line: text". */
static const char *only_mistake(struct fixture *fixture)
{
    const struct diagnostic *first = fixture->diagnostics.found.first;
    struct source_line line;

    assert_int_equal(fixture->diagnostics.found.count, 1);
    if (first == NULL)
        return "";
    line = source_line_at(&fixture->source, first->line);
    return arena_format(&fixture->arena, "%s:%d: %s", line.file, line.line,
                        first->text);
}

/* Scans in a fixture of its own and compares text and only mistake. */
static void expect(const char *text, const char *result, const char *diagnostic)
{
    struct fixture own;
    struct fixture *fixture = &own;

    fixture_init(fixture);
    assert_int_equal(scan_text(&fixture->source, text, "t.conf"),
                     diagnostic == NULL);
    if (diagnostic == NULL)
        assert_string_equal(fixture->source.text, result);
    else
        assert_string_equal(only_mistake(fixture), diagnostic);
    fixture_fini(fixture);
}

TEST(integers_beyond_32_bits_get_the_suffix)
{
    static const char *const cases[][2] = {
        {"a = 2147483647;", "a = 2147483647;\n"},
        {"a = 2147483648;", "a = 2147483648L;\n"},
        {"a = -2147483648;", "a = -2147483648;\n"},
        {"a = -2147483649;", "a = -2147483649L;\n"},
        {"a = +5000000000;", "a = +5000000000L;\n"},
        {"a = 5000000000L;", "a = 5000000000L;\n"},
        {"a = 9223372036854775807;", "a = 9223372036854775807L;\n"},
        {"a = -9223372036854775808;", "a = -9223372036854775808L;\n"},
        {"a = 000000000000000000005;", "a = 000000000000000000005;\n"},
        {"a = 0x7fffffff;", "a = 0x7fffffff;\n"},
        {"a = 0x80000000;", "a = 0x80000000L;\n"},
        {"a = 0X00000000000000001;", "a = 0X00000000000000001;\n"},
        {"a = 0x7FFFFFFFFFFFFFFF;", "a = 0x7FFFFFFFFFFFFFFFL;\n"},
        {"a=[5000000000,6000000000]", "a=[5000000000L,6000000000L]\n"},
        {"a = 0x;", "a = 0x;\n"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect(cases[i][0], cases[i][1], NULL);
}

TEST(what_is_no_integer_stays_as_it_is)
{
    static const char *const cases[] = {
        "a = \"5000000000\";\n",        "a = \"x\\\" 5000000000\";\n",
        "a = \"two\n5000000000\";\n",   "a5000000000 = 1;\n",
        "a-5000000000_b*9999999999;\n", "a = .5000000000;\n",
        "a = 5000000000.5000000000;\n", "a = -5000000000.;\n",
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *end = strrchr(cases[i], '\n');
        char text[64];

        assert_true(text_copy(text, sizeof text, cases[i]));
        text[end - cases[i]] = '\0';
        expect(text, cases[i], NULL);
    }
}

TEST(integers_beyond_64_bits_are_mistakes)
{
    expect("a = 1;\nb = 9223372036854775808;", NULL,
           "t.conf:2: a number of 19 characters does not fit in 64 bits");
    expect("a = -9223372036854775809L;", NULL,
           "t.conf:1: a number of 20 characters does not fit in 64 "
           "bits");
    expect("a = 0x8000000000000000;", NULL,
           "t.conf:1: a number of 18 characters does not fit in 64 bits");
    expect("a = 0x10000000000000000L;", NULL,
           "t.conf:1: a number of 19 characters does not fit in 64 bits");
}

TEST(comments_are_blanked_and_keep_the_lines)
{
    expect("a # 5000000000\n// \"\nb", "a             \n    \nb\n", NULL);
    expect("a /* \"\n5000000000 */ b", "a     \n              b\n", NULL);
    expect("u = \"http://x # y\";", "u = \"http://x # y\";\n", NULL);
    expect("// no newline", "             \n", NULL);
}

TEST(what_is_not_closed_is_a_mistake_where_it_begins)
{
    expect("a = 1;\nb = \"x\n\n", NULL,
           "t.conf:2: the text that begins here has no closing quote");
    expect("a = \"x\\", NULL,
           "t.conf:1: the text that begins here has no closing quote");
    expect("\n\n/* x\n", NULL,
           "t.conf:3: the comment that begins here has no */");
    expect("@include \"part.conf\n", NULL,
           "t.conf:1: the name of the included file has no closing quote");
}

TEST_WITH(SCAN, an_included_file_stands_in_its_place)
{
    static const struct source_line lines[] = {
        {"t.conf", 1},    {"t.conf", 2}, {"part.conf", 1},
        {"part.conf", 2}, {"t.conf", 2}, {"t.conf", 3},
    };

    assert_true(scan_text(&fixture->source,
                          "a = 1;\n @include \"part.conf\" // x\nd = 4;",
                          "t.conf"));
    assert_string_equal(fixture->source.text,
                        "a = 1;\n\nb = 2;\nc = 5000000000L;\n     \nd = 4;\n");
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        const struct source_line line =
            source_line_at(&fixture->source, (int)i + 1);

        assert_string_equal(line.file, lines[i].file);
        assert_int_equal(line.line, lines[i].line);
    }
}

TEST(includes_are_relative_to_the_file_that_names_them)
{
    expect("@include \"in/outer.conf\"", "\n\nx = 1;\n\n\ny = 2;\n\n\n", NULL);
    expect("@include \"/abs.conf\"", "\nz = 9;\n\n\n", NULL);
}

TEST(only_a_lines_start_includes)
{
    expect("a @include \"part.conf\"", "a @include \"part.conf\"\n", NULL);
    expect("\"x\n@include y\"", "\"x\n@include y\"\n", NULL);
    expect("/*\n@include \"part.conf\"\n*/", "  \n                    \n  \n",
           NULL);
}

TEST(mistakes_of_included_files_name_them)
{
    expect("a = 1;\n@include \"none.conf\"", NULL,
           "t.conf:2: cannot open none.conf");
    expect("a = 1;\n@include \"open.conf\"", NULL,
           "open.conf:1: the comment that begins here has no */");
    expect("\n\n@include \"huge.conf\"", NULL,
           "huge.conf:1: a number of 20 characters does not fit in 64 "
           "bits");
}

TEST_WITH(SCAN, a_file_that_includes_itself_is_one_mistake)
{
    assert_false(
        scan_text(&fixture->source, "@include \"loop.conf\"", "t.conf"));
    assert_string_equal(
        only_mistake(fixture),
        "loop.conf:1: includes are more than 10 deep: does loop.conf "
        "include itself?");
    assert_int_equal(fixture->source.line_count, 11);
}

TEST_WITH(SCAN, a_text_in_memory_includes_nothing)
{
    fixture->source.read = NULL;
    assert_false(
        scan_text(&fixture->source, "@include \"part.conf\"", "t.conf"));
    assert_string_equal(only_mistake(fixture),
                        "t.conf:1: a text in memory cannot include part.conf");
}

TEST_WITH(SCAN, a_text_that_is_too_large_is_refused)
{
    char *text = malloc(SCAN_SIZE_MAX + 2);

    assert_non_null(text);
    memset(text, ' ', SCAN_SIZE_MAX + 1);
    text[SCAN_SIZE_MAX + 1] = '\0';
    assert_false(scan_text(&fixture->source, text, "t.conf"));
    assert_string_equal(only_mistake(fixture),
                        "t.conf:1: the topology is larger than 16777216 bytes");
    free(text);
}

TEST_WITH(SCAN, mistakes_are_sorted_by_line_and_stay_one_line)
{
    struct diagnostics *diagnostics = &fixture->diagnostics;

    diagnostics_add(diagnostics, 3, "three");
    diagnostics_add(diagnostics, 1, "one\nand\x7f");
    diagnostics_add(diagnostics, 3, "three again");
    diagnostics_add(diagnostics, 2, "two");
    assert_string_equal(diagnostics->found.first->text, "one?and?");
    assert_string_equal(diagnostics->found.first->next->text, "two");
    assert_string_equal(diagnostics->found.first->next->next->text, "three");
    assert_string_equal(diagnostics->found.first->next->next->next->text,
                        "three again");
}

TEST_WITH(SCAN, group_that_is_another_one_but_for_its_key_stays_what_it_is)
{
    static const char text[] =
        "({key=\"a\";\nn=1;},{key=\"b\";\nn=1;},\n{key=\"c\";\nn=1;});\n";

    assert_true(scan_text(&fixture->source, text, "t.conf"));
    assert_memory_equal(fixture->source.text, text, sizeof text - 1);
    assert_int_equal(fixture->source.line_count, 6);
    assert_int_equal(source_line_at(&fixture->source, 5).line, 5);
    expect("s = ({key=\"a\"; n={m=1;};},\n{key=\"bb\"; n={m=1;};}, 1);",
           "s = ({key=\"a\"; n={m=1;};},\n{key=\"bb\"; n={m=1;};}, 1);\n",
           NULL);
}

TEST(group_that_is_changed_is_changed_each_time)
{
    expect("s = ({key=\"a\"; n=5000000000;},{key=\"b\"; n=5000000000;});",
           "s = ({key=\"a\"; n=5000000000L;},{key=\"b\"; n=5000000000L;});\n",
           NULL);
    expect("s = ({key=\"a\"; # }\n},{key=\"b\"; # }\n});",
           "s = ({key=\"a\";    \n},{key=\"b\";    \n});\n", NULL);
    expect("s = ({key=\"a\";\n@include \"/abs.conf\"\n},"
           "{key=\"b\";\n@include \"/abs.conf\"\n});",
           "s = ({key=\"a\";\n\nz = 9;\n\n\n},"
           "{key=\"b\";\n\nz = 9;\n\n\n});\n",
           NULL);
}

TEST_WITH(SCAN, mistakes_of_groups_that_are_alike_are_all_told)
{
    assert_false(scan_text(&fixture->source,
                           "({key=\"a\"; n=99999999999999999999L;},"
                           "{key=\"b\"; n=99999999999999999999L;})",
                           "t.conf"));
    assert_int_equal(fixture->diagnostics.found.count, 2);
}

TEST(braces_that_open_nothing_are_taken_as_they_are)
{
    expect("}} {key=\"a\";} {key=\"b\";} {{key=\"a\";}",
           "}} {key=\"a\";} {key=\"b\";} {{key=\"a\";}\n", NULL);
    expect("/* {key=\"a\";} */ {key=\"a\";} \"{key=\\\"b\\\";}\" {key=\"b\"",
           "                 {key=\"a\";} \"{key=\\\"b\\\";}\" {key=\"b\"\n",
           NULL);
}
