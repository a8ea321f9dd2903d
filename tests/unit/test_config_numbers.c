/* SPDX-License-Identifier: Apache-2.0 */
/* What a topology says of the texts and the bits of numbers: templates, the
 * keys that shuffle, values for JavaScript; and what is told of the widths. */

#include <string.h>

#include "config/config.h"
#include "number/number.h"
#include "platform/text.h"
#include "support/test.h"
#include "unit/topology_expect.h"
#include "unit/topology_files.h"

#define SEQUENCE(more) "sequences=({key=\"k\";" more "});\n"
#define ONE(more)      BACKEND POOL SEQUENCE(more)
#define AUTO(more)     BACKEND POOL "auto_sequences={pattern=\"*\";" more "};\n"
#define FOUR                                                                   \
    "backends=(" SQLITE("a") "," SQLITE("b") "," SQLITE("c") "," SQLITE(       \
        "d") ");\n"                                                            \
             "pools=({name=\"p\";partitions=[\"a\",\"b\",\"c\",\"d\"];});\n"
#define SAFE         "js_safe=true;"
#define DENSE        "memory_bits=0;"
#define SHUFFLED     "template=\"@{shuffle, width=5}\";"
#define WITH_KEY     "shuffle_key_file=\"secret\";"
#define SECRET       "a key that nobody knows"
#define OTHER_SECRET "another key of some length"

/* --- settings --- */

TEST(sound_settings_have_no_mistake)
{
    static const struct topology_wrong cases[] = {
        {ONE("template=\"@{seq}\";"), ""},
        {AUTO("template=\"@{key}/@{seq}\";"), ""},
        {ONE("template=\"@{date}@{seq, width=5}\";time_zone=\"Asia/Shanghai\";"
             "period=\"day\";"),
         ""},
        {ONE("template=\"@{date, format=%Y}-@{seq}\";"
             "time_zone=\"Asia/Shanghai\";"),
         ""},
        {ONE(SAFE), ""},
        {ONE("js_safe=false;"), ""},
        {ONE(SAFE "memory_bits=19;"), ""},
        {ONE(SAFE "ids={time=31;shard=6;counter=16;};"), ""},
        {WINDOWED SEQUENCE(SAFE "memory_bits=19;"), ""},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(settings_of_numbers_are_checked)
{
    static const struct topology_wrong cases[] = {
        {ONE("template=5;"),
         "t.conf:3: 'template' must be a text in quotes, but is an integer"},
        {ONE("js_safe=\"yes\";"),
         "t.conf:3: 'js_safe' must be true or false, without quotes, but is a "
         "text"},
        {ONE("\ntemplat=\"@{seq}\";"),
         "t.conf:4: unknown setting 'templat' in sequences: did you mean "
         "'template'?"},
        {ONE("\n" WITH_KEY),
         "t.conf:4: 'shuffle_key_file' is of no use without a 'template' that "
         "shuffles: remove it"},
        {ONE("\ntime_zone=\"UTC\";"),
         "t.conf:4: 'time_zone' is of no use without a period: add period = "
         "\"day\" or another, or remove it"},
        {ONE("template=\"@{seq}\";\nyear_starts=\"04-01\";"),
         "t.conf:4: 'year_starts' is of no use without a period: add period = "
         "\"day\" or another, or remove it"},
        {ONE("ids={};\n" SAFE),
         "t.conf:4: 'js_safe' keeps ids below 2^53, but 'time' = 32, 'shard' = "
         "12 and 'counter' = 19 are 63 bits: lower 'shard' or 'counter' by 10 "
         "in all"},
        {ONE("ids={\ntime=33;};" SAFE),
         "t.conf:4: 'time' = 33, 'shard' = 12 and 'counter' = 19 are 64 bits, "
         "but a number has 63: lower them by 1 in all"},
        {"backends=({name=\"r\";engine=\"redis\";}," SQLITE(
             "a") ");\n"
                  "pools=({name=\"p\";partitions=[\"r\"];authority=\"a\";"
                  "window_bits="
                  "40;});\n" SEQUENCE("\n" SAFE "memory_bits=6;"),
         "t.conf:4: 0 partition bits + 6 memory bits + 40 window bits leave 7 "
         "of 53 bits for the window's number, at least 8 are needed: lower "
         "memory_bits or window_bits"},
        {ONE("\n" SAFE "snowflake={epoch=\"2020-01-01\";};"),
         "t.conf:4: the time's 31 bits since 2020-01-01 are over on "
         "2020-01-25, less than a year from now or past: lower 'worker_bits', "
         "'counter_bits' or 'datacenter_bits' or take a later 'epoch'"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

/* The columns and words are the compiler's: here that each is told. */
TEST(mistakes_of_all_templates_are_told_at_their_lines)
{
    static const char text[] =
        BACKEND POOL "sequences=({key=\"k\";\ntemplate=\"@{seq\";},\n"
                     "{key=\"l\";template=\"@{seq}\";},\n"
                     "{key=\"m\";template=\"@{none}\";});\n"
                     "auto_sequences={pattern=\"*\";template=\"text\";};\n";
    static const char *const words[] = {"t.conf:4: template: column ",
                                        "\nt.conf:6: template: column ",
                                        "\nt.conf:7: template: "};
    const struct config_request request = {.path = "t.conf"};
    struct config *config = NULL;
    struct seqb_error error = {.text = ""};
    const char *at = error.text;

    assert_int_equal(config_open_text(&request, text, &config, &error),
                     SEQB_CONFIG);
    assert_null(config);
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        const char *found = strstr(at, words[i]);

        if (found == NULL)
            fail_msg("no '%s' in %s", words[i], error.text);
        else
            at = found;
    }
    assert_null(strstr(error.text, "t.conf:5"));
}

TEST(options_have_what_the_settings_say)
{
    const struct config_topology *topology = topology_of_text(
        ONE("template=\"N@{seq, width=5}\";" SAFE DENSE) //
        "auto_sequences={pattern=\"*\";ids={time=31;shard=0;"
        "counter=20;};template=\"@{date}@{seq,width=3,overflow="
        "refuse}\";" //
        SAFE "};\n");
    const struct queue_sequence_options *sequence = topology->queue.sequences;
    const struct queue_sequence_options *automatic = topology->queue.automatic;

    assert_non_null(sequence->template);
    assert_int_equal(template_limit(sequence->template), 99999);
    assert_int_equal(sequence->value_bits, 53);
    assert_int_equal(sequence->width_numbers, 99999);
    assert_int_equal(sequence->pool_numbers, 99999);
    assert_int_equal(sequence->text_max, 0);
    assert_null(sequence->attributes);
    assert_int_equal(automatic->text_max, 999);
    assert_int_equal(automatic->value_bits, 0);
    assert_int_equal(automatic->width_numbers, 999);
}

/* --- keys that shuffle --- */

static const struct config_topology *
shuffled(struct topology_files *files, const char *secret, const char *sequence)
{
    char path[64];

    topology_write(files, "secret", secret);
    topology_write_mode(files, "t.conf", sequence, 0644);
    assert_true(text_copy(path, sizeof path, files->path));
    return topology_of_file(path);
}

static void expect_terms(struct topology_files *files, const char *secret,
                         const char *sequence, const char *before,
                         const char *text)
{
    const struct config_topology *topology = shuffled(files, secret, sequence);
    struct shuffle_key key;
    char fingerprint[SHUFFLE_FINGERPRINT_SIZE];
    char attributes[128];

    shuffle_key_make(text, strlen(text), &key);
    shuffle_fingerprint(&key, fingerprint);
    assert_true(text_format(attributes, sizeof attributes, "%s/%s", before,
                            fingerprint));
    assert_string_equal(topology->queue.sequences[0].attributes, attributes);
}

TEST_WITH(FILES, shuffles_are_claimed_with_base_and_fingerprint)
{
    expect_terms(files, SECRET "\n", ONE(SHUFFLED WITH_KEY), " shuffle=10",
                 SECRET);
    expect_terms(files, SECRET, ONE(SHUFFLED WITH_KEY), " shuffle=10", SECRET);
    expect_terms(files, OTHER_SECRET, ONE(SHUFFLED WITH_KEY), " shuffle=10",
                 OTHER_SECRET);
    expect_terms(files, SECRET,
                 ONE("template=\"@{shuffle, width=4, base=36}\";" WITH_KEY),
                 " shuffle=36", SECRET);
    expect_terms(files, SECRET,
                 ONE("template=\"@{date}@{shuffle, width=5}\";period=\"day\";"
                     "time_zone=\"Asia/Shanghai\";" WITH_KEY),
                 " period=day time_zone=Asia/Shanghai shuffle=10", SECRET);
    /* The dates of what has no period are not claimed. */
    expect_terms(files, SECRET,
                 ONE("template=\"@{date, format=%Y}-@{shuffle, width=5}\";"
                     "time_zone=\"Asia/Shanghai\";" WITH_KEY),
                 " shuffle=10", SECRET);
}

TEST_WITH(FILES, sequences_may_share_a_key)
{
    const struct config_topology *topology =
        shuffled(files, SECRET,
                 BACKEND POOL "sequences=({key=\"k\";" SHUFFLED WITH_KEY
                              "},{key=\"l\";" SHUFFLED WITH_KEY "});\n");
    const struct queue_sequence_options *sequences = topology->queue.sequences;

    assert_string_equal(sequences[0].attributes, sequences[1].attributes);
    assert_ptr_equal(sequences[0].template, sequences[1].template);
}

TEST_WITH(FILES, template_with_the_key_is_its_sequences_own)
{
#define KEYED "template=\"@{key}-@{seq}\";"
    const struct config_topology *topology =
        shuffled(files, SECRET,
                 BACKEND POOL "sequences=({key=\"k\";" KEYED
                              "},{key=\"ll\";" KEYED "});\n");
    const struct queue_sequence_options *sequences = topology->queue.sequences;

    assert_int_equal(template_length(sequences[0].template) + 1,
                     template_length(sequences[1].template));
}

static void refused(struct topology_files *files, const char *secret,
                    mode_t mode, const char *sequence, const char *expected)
{
    char path[64];

    if (secret != NULL)
        topology_write_mode(files, "secret", secret, mode);
    topology_write(files, "t.conf", sequence);
    assert_true(text_copy(path, sizeof path, files->path));
    topology_refused(files, path, expected);
}

TEST_WITH(FILES, key_files_are_private_and_one_long_line)
{
    static const char one[] = ONE(SHUFFLED "\n" WITH_KEY);
    char secret[1100];

    refused(files, NULL, 0, one,
            "@/t.conf:4: cannot open @/secret: No such file or directory");
    refused(files, SECRET "\n", 0640, one,
            "@/t.conf:4: others may read the key file @/secret: chmod 600 it");
    refused(files, SECRET "\n" SECRET "\n", 0600, one,
            "@/t.conf:4: @/secret must hold one line, the key");
    refused(files, "fifteen letters", 0600, one,
            "@/t.conf:4: the key in secret has 15 characters, but must have "
            "16 ... 1024: head -c 32 /dev/urandom | base64 makes one");
    memset(secret, 'x', sizeof secret);
    secret[1025] = '\0';
    refused(files, secret, 0600, one,
            "@/t.conf:4: the key in secret has 1025 characters, but must have "
            "16 ... 1024: head -c 32 /dev/urandom | base64 makes one");
    secret[1024] = '\0';
    (void)shuffled(files, secret, one);
    (void)shuffled(files, "sixteen letters!", one);
}

TEST_WITH(FILES, keys_go_with_templates_that_shuffle)
{
    const struct config_request request = {.path = "t.conf"};
    struct config *config = NULL;
    struct seqb_error error = {.text = ""};

    refused(files, SECRET, 0600, ONE("template=\"@{seq}\";\n" WITH_KEY),
            "@/t.conf:4: 'shuffle_key_file' is of no use: the template "
            "shuffles nothing: remove it");
    assert_int_equal(config_open_text(&request, ONE(SHUFFLED), &config, &error),
                     SEQB_CONFIG);
    assert_memory_equal(error.text, "t.conf:3: template: column ", 27);
    assert_non_null(strstr(error.text, "shuffle_key_file"));
}

/* --- widths --- */

#define GAP(pool, gap)                                                         \
    BACKEND "pools=({name=\"" pool "\";partitions=[\"a\"];failover_gap=" gap   \
            ";});\n"
#define NEIGHBOURS(bits)                                                       \
    "backends=(" SQLITE("a") "," SQLITE(                                       \
        "b") ");\n"                                                            \
             "pools=({name=\"p\";partitions=[\"a\",\"b\"];authority="          \
             "\"neighbours\";"                                                 \
             "window_bits=" bits ";});\n"
#define AUTHORITY(bits)                                                        \
    "backends=(" SQLITE("a") "," SQLITE(                                       \
        "b") ");\n"                                                            \
             "pools=({name=\"p\";partitions=[\"a\",\"b\"];authority=\"a\";"    \
             "windows=\"all\";window_bits=" bits ";});\n"
#define LEASES(room, bits, gap)                                                \
    "t.conf:3: sequence 'k': it has room for " room                            \
    " leases of windows of 2^" bits " in pool 'p', and an authority whose "    \
    "store changed skips " gap " each time: lower window_bits or memory_bits"
#define USE_DENSE                                                              \
    "use a dense pool: one partition of a direct engine, memory_bits = 0"

struct width {
    const char *text;
    const char *notes;
    const char *warnings;
};

static const struct width widths[] = {
    {ONE("template=\"@{seq}\";"), "", ""},
    {ONE("template=\"@{seq, width=19}\";"), "", ""},
    {ONE("template=\"@{seq, width=16}\";" SAFE), "", ""},
    {GAP("p", "1000") SEQUENCE("template=\"@{seq, width=5}\";" DENSE),
     "t.conf:3: sequence 'k': 99,999 numbers in all fit its width, of which "
     "pool 'p' can give 99,999",
     ""},
    {GAP("p", "1000") "auto_sequences={pattern=\"*\";period=\"hour\";" DENSE
                      "\ntemplate=\"@{date}@{seq, width=5}\";};\n",
     "t.conf:4: auto_sequences: 99,999 numbers an hour fit its width, of which "
     "pool 'p' can give 99,999",
     ""},
    /* The default gap is beyond a day. */
    {ONE("period=\"day\";template=\"@{date}@{seq, width=5}\";" DENSE),
     "t.conf:3: sequence 'k': 99,999 numbers a day fit its width, of which "
     "pool 'p' can give 99,999",
     "t.conf:3: sequence 'k': 'failover_gap' of pool 'p' is 1,000,000, so that "
     "one failover of a store uses up all numbers of the period: set it to "
     "1,000, or as many values as a failover may lose"},
    {GAP("p", "998") SEQUENCE("template=\"@{seq, width=3}\";" DENSE),
     "t.conf:3: sequence 'k': 999 numbers in all fit its width, of which pool "
     "'p' can give 999",
     ""},
    {GAP("p", "999") SEQUENCE("template=\"@{seq, width=3}\";" DENSE),
     "t.conf:3: sequence 'k': 999 numbers in all fit its width, of which pool "
     "'p' can give 999",
     "t.conf:3: sequence 'k': 'failover_gap' of pool 'p' is 999, so that one "
     "failover of a store uses up all numbers: set it to 10, or as many values "
     "as a failover may lose"},
    {FOUR SEQUENCE("template=\"@{seq, width=7}\";" DENSE),
     "t.conf:3: sequence 'k': 9,999,999 numbers in all fit its width, of which "
     "pool 'p' can give 9,999,996",
     ""},
    {WINDOWED SEQUENCE("template=\"@{seq, width=6}\";" DENSE),
     "t.conf:3: sequence 'k': 999,999 numbers in all fit its width, of which "
     "pool 'p' can give 0",
     "t.conf:3: sequence 'k': the windowed partitions of pool 'p' can give "
     "none: their windows of 2^20 begin beyond it: lower window_bits, "
     "or " USE_DENSE},
    {WINDOWED SEQUENCE("template=\"@{seq, width=7}\";" DENSE),
     "t.conf:3: sequence 'k': 9,999,999 numbers in all fit its width, of which "
     "pool 'p' can give 8,951,424",
     "t.conf:3: sequence 'k': pool 'p' can give 8,951,424 of the 9,999,999 "
     "numbers in all that fit its width: to have all of them, " USE_DENSE
     "\n" LEASES("9", "20", "16")},
    {ONE("template=\"@{seq, width=6}\";snowflake={};"),
     "t.conf:3: sequence 'k': 999,999 numbers in all fit its width, of which "
     "pool 'p' can give 0",
     "t.conf:3: sequence 'k': its snowflakes are far beyond its "
     "width: " USE_DENSE},
    /* The counter of ids ends before the width does. */
    {ONE("template=\"@{date}@{shard, width=4}@{seq, width=6}\";ids={};"), "",
     ""},
    {ONE("template=\"@{date}@{shard, width=4}@{seq, width=5}\";ids={};" DENSE),
     "t.conf:3: sequence 'k': 99,999 numbers a second fit its width, of which "
     "pool 'p' can give 99,999",
     "t.conf:3: sequence 'k': 'failover_gap' of pool 'p' is 1,000,000, so that "
     "one failover of a store uses up all numbers of the period: set it to "
     "1,000, or as many values as a failover may lose"},
};

#define MIXED                                                                  \
    "backends=(" SQLITE("a") "," SQLITE(                                       \
        "b") ",{name=\"r\";engine=\"redis\";port=1;},{name=\"s\";engine="      \
             "\"redis\";port=2;});\n"                                          \
             "pools=({name=\"p\";partitions=[\"a\",\"b\",\"r\",\"s\"];"        \
             "authority=\"neighbours\";});\n"

static const struct width shared_windows[] = {
    /* One window in two is of the other neighbour. */
    {NEIGHBOURS("8") SEQUENCE("template=\"@{seq, width=9}\";" DENSE),
     "t.conf:3: sequence 'k': 999,999,999 numbers in all fit its width, of "
     "which pool 'p' can give 499,999,488",
     "t.conf:3: sequence 'k': pool 'p' can give 499,999,488 of the "
     "999,999,999 numbers in all that fit its width: to have all of "
     "them, " USE_DENSE},
    {NEIGHBOURS("8") SEQUENCE("template=\"@{seq, width=4}\";" DENSE),
     "t.conf:3: sequence 'k': 9,999 numbers in all fit its width, of which "
     "pool 'p' can give 4,488",
     "t.conf:3: sequence 'k': pool 'p' can give 4,488 of the 9,999 numbers "
     "in all that fit its width: to have all of them, " USE_DENSE},
    /* By default they are so small that five digits have room for many. */
    {MIXED SEQUENCE("template=\"@{date}@{seq, width=5}\";period=\"day\";"),
     "t.conf:3: sequence 'k': 99,999 numbers a day fit its width, of which "
     "pool 'p' can give 17,232",
     "t.conf:3: sequence 'k': pool 'p' can give 17,232 of the 99,999 numbers a "
     "day that fit its width: to have all of them, " USE_DENSE},
    /* Without a template the bits end it. */
    {NEIGHBOURS("8")
         SEQUENCE("js_safe=true;memory_bits=20;max_unused=2000000;"),
     "", ""},
    /* An authority that changed skips leases, a neighbour is made level. */
    {NEIGHBOURS("39") SEQUENCE("js_safe=true;" DENSE), "", ""},
    {AUTHORITY("39") SEQUENCE("js_safe=true;" DENSE), "",
     LEASES("8,191", "39", "511")},
};

TEST(widths_and_pools_are_told_of)
{
    for (size_t i = 0; i < COUNT_OF(widths); i++)
        topology_expect_notes(widths[i].text, widths[i].notes,
                              widths[i].warnings);
}

TEST(windows_of_neighbours_are_told_of)
{
    for (size_t i = 0; i < COUNT_OF(shared_windows); i++)
        topology_expect_notes(shared_windows[i].text, shared_windows[i].notes,
                              shared_windows[i].warnings);
}

/* A direct counter is never raised by nothing. */
TEST(no_gap_is_for_pools_of_windows_alone)
{
    static const struct topology_wrong cases[] = {
        {GAP("p", "0") SEQUENCE(""),
         "t.conf:2: failover_gap = 0 is for pools whose partitions all count "
         "in windows: a direct counter whose store lost values would give them "
         "again; leave it out, or set it above what a store may lose"},
        {"backends=({name=\"r\";engine=\"redis\";}," SQLITE(
             "a") ");\npools=({name=\"p\";partitions=[\"r\"];authority="
                  "\"a\";failover_gap=0;timeout=5;});\n" SEQUENCE(""),
         "t.conf:2: 'timeout' has no unit: write \"5ms\" or \"5s\""},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST_BEFORE_ALL(topology_setup);
