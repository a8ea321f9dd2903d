/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences that are alike but for their keys are read once: with the same
 * result, and the same mistakes at the same lines. */
#include <stdlib.h>
#include <string.h>

#include "config/source/source.h"
#include "number/template.h"
#include "platform/text.h"
#include "support/test.h"
#include "unit/topology_expect.h"

#define ALL_SIZE 65536

/* One letter more than a key may have. */
#define DIGITS "0123456789"
#define LONG   DIGITS DIGITS DIGITS DIGITS DIGITS DIGITS "01234"

static bool find(struct alike *alike, const char *text)
{
    return alike_find(alike, text, "sequences", "key");
}

TEST(groups_that_differ_in_their_keys_are_left_out)
{
    static const char text[] = "a=1;\n"
                               "sequences = ( {key=\"x\"; n=1;},\n"
                               "  { key=\"y\";\n n=2; } ,\n"
                               "{key=\"zz\"; n=1;},\n"
                               "  { key=\"w\";\n n=2; },{key=\"v\"; n=1;});\n"
                               "b=2;\n";
    static const char kept[] = "a=1;\n"
                               "sequences = ( {key=\"x\"; n=1;},\n"
                               "  { key=\"y\";\n n=2; } \n\n"
                               "\n);\nb=2;\n";
    static const struct alike_group groups[] = {
        {.at = 2, .of = 0, .lines = 3, .key = "zz", .length = 2},
        {.at = 3, .of = 1, .lines = 3, .key = "w", .length = 1},
        {.at = 4, .of = 0, .lines = 5, .key = "v", .length = 1},
    };
    struct alike alike;

    assert_true(find(&alike, text));
    assert_string_equal(alike.text, kept);
    assert_int_equal(alike.count, COUNT_OF(groups));
    for (size_t i = 0; i < alike.count; i++) {
        const struct alike_group *group = &alike.groups[i];

        assert_int_equal(group->at, groups[i].at);
        assert_int_equal(group->of, groups[i].of);
        assert_int_equal(group->lines, groups[i].lines);
        assert_int_equal(group->length, groups[i].length);
        assert_memory_equal(group->key, groups[i].key, group->length);
    }
    alike_free(&alike);
}

TEST(what_is_unusual_is_libconfigs)
{
    static const char *const cases[] = {
        "",
        "sequences",
        "sequences = ",
        "sequences = (",
        "sequences = ( {",
        "sequences = ( { key = \"a",
        "sequences = ( { key = \"a\"; }",
        "sequences ( {key=\"a\";}, {key=\"b\";} )",
        "pools = ( {key=\"a\";}, {key=\"b\";} )",
        "x = { sequences = ( {key=\"a\";}, {key=\"b\";} ); }",
        "x = \"sequences = ( {key=1;}, {key=2;} )\"",
        "sequences = [ {key=\"a\";}, {key=\"b\";} ]",
        /* other settings, or written in another way */
        "sequences = ( {key=\"a\";}, {key=\"b\"} )",
        "sequences = ( {key=\"a\";}, {key=\"b\"; n=1;} )",
        "sequences = ( {key=\"a\";}, { key=\"b\";} )",
        "sequences = ( {n=\"a\";}, {n=\"b\";} )",
        "sequences = ( {x={key=\"a\";};}, {x={key=\"b\";};} )",
        "sequences = ( {t=\"key=\";}, {t=\"key=\";} )",
        "sequences = ( {my-key=\"a\";}, {my-key=\"b\";} )",
        /* keys that are none, or more than one text */
        "sequences = ( {key=\"a\";}, {key=\"b c\";} )",
        "sequences = ( {key=\"a\";}, {key=\"\";} )",
        "sequences = ( {key=\"a\";}, {key=\"b\\x41\";} )",
        "sequences = ( {key=\"a\" \"c\";}, {key=\"b\" \"c\";} )",
        "sequences = ( {key=1;}, {key=2;} )",
        "sequences = ( {key=\"a\";}, {key=\"" LONG "\";} )",
        /* no list of groups */
        "sequences = ( {key=\"a\";}, 1, {key=\"b\";} )",
        "sequences = ( {key=\"a\";} {key=\"b\";} )",
        "sequences = ( {key=\"a\";}, {key=\"b\";} {key=\"c\";} )",
        "sequences = ( , {key=\"a\";}, {key=\"b\"} )",
        "sequences = ( {key=\"a\";}, {key=\"b\";}",
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct alike alike;

        if (find(&alike, cases[i]))
            fail_msg("%s is read as %s", cases[i], alike.text);
        alike_free(&alike);
    }
}

/* --- read in both ways --- */

#define POOLS                                                                  \
    "backends=(" SQLITE("a") "," SQLITE(                                       \
        "b") ");\n"                                                            \
             "pools=({name=\"p\";partitions=[\"a\"];failover_gap=10;},"        \
             "{name=\"q\";partitions=[\"b\"];});\n"

/* A '#' is where one group is to differ from the other. */
static const char sound[] =
    POOLS "sequences=({key=\"a\";pool=\"p\";},\n{key=\"b\";pool=\"p\";#},\n"
          "{key=\"c\";\npool=\"q\"; memory_bits=3;\ndeadline=\"1s\";},\n"
          "{key=\"d\";\npool=\"q\"; memory_bits=3;\ndeadline=\"1s\";#},"
          "{key=\"e\";pool=\"p\";##},\n"
          "{pool=\"p\";key=\"f\";template=\"@{key}-@{seq, width=3}\";},\n\n"
          "{pool=\"p\";key=\"g\";template=\"@{key}-@{seq, width=3}\";#},\n"
          "{key=\"l\";pool=\"p\";template=\"N@{seq, width=3}\";},\n"
          "{key=\"m\";pool=\"p\";template=\"N@{seq, width=3}\";#},\n"
          "{key=\"h\";pool=\"p\";period=\"day\";time_zone=\"UTC\";},\n"
          "{key=\"i\";pool=\"p\";period=\"day\";time_zone=\"UTC\";#},\n"
          "{key=\"j\";pool=\"p\";ids={shard=3;counter=20;};},\n\n\n"
          "{key=\"k\";pool=\"p\";ids={shard=3;counter=20;};#});\n";

/* The text with each '#' left out, or as a space: so the groups are alike, or
 * not. */
static void write_text(const char *from, bool is_alike, char *out)
{
    for (; *from != '\0'; from++) {
        if (*from != '#')
            *out++ = *from;
        else if (!is_alike)
            *out++ = ' ';
    }
    *out = '\0';
}

static void collect(void *context, const struct seqb_setting_value *value)
{
    char *all = context;

    assert_true(text_append(all, ALL_SIZE, "%s=%s%s\n", value->path,
                            value->value, value->is_default ? "" : "!"));
}

/* All that is known of a topology: settings, options, notes and warnings. */
static void describe(const char *text, char *out)
{
    const struct config_request request = {.path = "t.conf"};
    struct seqb_settings_part part = {.count = SIZE_MAX};
    struct config *config = NULL;
    const struct config_topology *topology;
    struct seqb_error err = {.text = ""};

    *out = '\0';
    if (config_open_text(&request, text, &config, &err) != SEQB_OK) {
        assert_true(text_append(out, ALL_SIZE, "%s", err.text));
        return;
    }
    config_visit(config, &part, collect, out);
    topology = config_topology(config);
    for (size_t i = 0; i < topology->queue.sequence_count; i++) {
        const struct queue_sequence_options *at = &topology->queue.sequences[i];

        assert_true(text_append(
            out, ALL_SIZE, "%s pool=%d m=%d deadline=%d period=%d ids=%d %d\n",
            at->key, (int)at->pool, (int)at->memory_bits, (int)at->deadline_ms,
            at->period != NULL, at->ids != NULL,
            at->template == NULL ? 0 : (int)template_length(at->template)));
    }
    for (const char *const *at = topology->notes; *at != NULL; at++)
        assert_true(text_append(out, ALL_SIZE, "%s\n", *at));
    for (const char *const *at = topology->warnings; *at != NULL; at++)
        assert_true(text_append(out, ALL_SIZE, "%s\n", *at));
    config_close(config);
}

static void expect_the_same(const char *text)
{
    char *alike = malloc(ALL_SIZE);
    char *apart = malloc(ALL_SIZE);
    char copy[4096];

    assert_true(alike != NULL && apart != NULL && strlen(text) < sizeof copy);
    write_text(text, true, copy);
    describe(copy, alike);
    write_text(text, false, copy);
    describe(copy, apart);
    assert_string_equal(alike, apart);
    free(alike);
    free(apart);
}

TEST(those_that_are_alike_are_what_they_would_be_alone)
{
    struct alike alike;
    char copy[sizeof sound];

    write_text(sound, true, copy);
    assert_true(find(&alike, copy));
    assert_int_equal(alike.count, 7);
    alike_free(&alike);
    write_text(sound, false, copy);
    assert_false(find(&alike, copy));
    alike_free(&alike);
    expect_the_same(sound);
}

TEST(mistakes_of_all_that_are_alike_are_told)
{
    static const char *const cases[] = {
        POOLS "sequences=({key=\"a\";},\n{key=\"b\";#},\n\n{key=\"c\";##});",
        POOLS "sequences=({key=\"a\";pool=\"p\";n=1;},\n"
              "{key=\"b\";pool=\"p\";n=1;#});",
        POOLS "sequences=({key=\"a\";pool=\"p\";},\n"
              "{key=\"b\";pool=\"p\";#},\n{key=\"a\";pool=\"p\";##});",
        POOLS "sequences=({key=\"a\";pool=\"p\";\nmemory_bits=9;\n"
              "max_unused=1;},\n"
              "{key=\"b\";pool=\"p\";\nmemory_bits=9;\nmax_unused=1;#});",
        POOLS "sequences=({key=\"a\";pool=\"p\";\nmemory_bits=90;},\n"
              "{key=\"b\";pool=\"p\";\nmemory_bits=90;#});",
        POOLS "sequences=({key=\"a\";pool=\"p\";\nids={\nshard=60;};},\n"
              "{key=\"b\";pool=\"p\";\nids={\nshard=60;};#});",
        POOLS "sequences=({key=\"a\";key=\"c\";},\n{key=\"b\";key=\"c\";#});",
        POOLS "sequences=({key=\"a\";pool=\"p\";},\n{key=\"b\";pool=\"p\";#},\n"
              "{key=\"c\";pool=\"p\" \"q\" = ;});",
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_the_same(cases[i]);
}

TEST_BEFORE_ALL(topology_setup);
