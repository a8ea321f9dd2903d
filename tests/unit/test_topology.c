/* SPDX-License-Identifier: Apache-2.0 */
/* Every mistake that a topology can hold, with the exact line that is told. */

#include <stdlib.h>
#include <string.h>

#include "backends/backends.h"
#include "config/config.h"
#include "platform/text.h"
#include "support/test.h"
#include "unit/topology_expect.h"

TEST(sound_topology_has_no_mistake)
{
    static const struct topology_wrong cases[] = {
        {BACKEND POOL KEY, ""},
        {WINDOWED KEY, ""},
        {BACKEND POOL "auto_sequences={pattern=\"*\";};\n", ""},
        {"backends=(" REDIS("socket=\"/run/r\";database=3;") "," SQLITE(
             "a") ");pools=({name=\"p\";partitions=(\"r\");authority=\"a\";})"
                  ";" KEY,
         ""},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(unknown_names_get_a_did_you_mean)
{
    static const struct topology_wrong cases[] = {
        {"backend=({});\n" POOL KEY,
         "t.conf:1: unknown section 'backend': did you mean 'backends'?\n"
         "t.conf:2: there is no backend 'a': add it to backends or remove it "
         "here"},
        {BACKEND POOL KEY "log={};\n", "t.conf:4: unknown section 'log'"},
        {BACKEND POOL KEY "broker={\nintervall=\"20ms\"; };\n",
         "t.conf:5: unknown setting 'intervall' in broker: did you mean "
         "'interval'?"},
        {BACKEND POOL KEY "broker={colour=1;};\n",
         "t.conf:4: unknown setting 'colour' in broker"},
        {BACKEND "pools=({name=\"p\";partition=[\"a\"];});\n" KEY,
         "t.conf:2: unknown setting 'partition' in pools: did you mean "
         "'partitions'?"},
        {BACKEND
         "pools=({name=\"p\";partitions=[\"a\"];password=\"x\";});\n" KEY,
         "t.conf:2: unknown setting 'password' in pools"},
        {BACKEND "pools=({name=\"main\";partitions=[\"a\"];});\n"
                 "sequences=({key=\"k\";pool=\"mian\";});\n",
         "t.conf:3: there is no pool 'mian': did you mean 'main'?"},
        {BACKEND POOL "sequences=({key=\"k\";pool=\"other\";});\n",
         "t.conf:3: there is no pool 'other': add it to pools"},
        {"backends=(" SQLITE(
             "store-1") ");\n"
                        "pools=({name=\"p\";partitions=[\"store1\"];});\n" KEY,
         "t.conf:2: there is no backend 'store1': did you mean 'store-1'?"},
        {BACKEND "pools=({name=\"p\";partitions=[\"a\"];\n"
                 "authority=\"zzz\";});\n" KEY,
         "t.conf:3: there is no backend 'zzz': add it to backends or remove "
         "it here"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(what_is_required_is_missed)
{
    static const struct topology_wrong cases[] = {
        {"",
         "t.conf:1: there are no backends: add backends = ( { ... } );\n"
         "t.conf:1: there are no pools: add pools = ( { ... } );\n"
         "t.conf:1: there are no sequences: add sequences = ( { ... } ); or "
         "auto_sequences = { ... };"},
        {BACKEND POOL "sequences=();\n",
         "t.conf:1: there are no sequences: add sequences = ( { ... } ); or "
         "auto_sequences = { ... };"},
        {"backends=({name=\"a\";});\n" POOL KEY,
         "t.conf:1: the backend has no 'engine'"},
        {"backends=(\n" SQLITE("a") ",\n{});\n" POOL KEY,
         "t.conf:3: the backend has no 'name'\n"
         "t.conf:3: the backend has no 'engine'"},
        {BACKEND "pools=({name=\"p\";});\n" KEY,
         "t.conf:2: the pool has no 'partitions'"},
        {BACKEND "pools=({name=\"p\";partitions=[];});\n" KEY,
         "t.conf:2: 'partitions' is empty"},
        {BACKEND POOL "sequences=({});\n", "t.conf:3: the sequence has no "
                                           "'key'"},
        {BACKEND POOL "auto_sequences={};\n",
         "t.conf:3: the auto_sequences has no 'pattern'"},
        {"backends=({name=\"a\";engine=\"sqlite\";});\n" POOL KEY,
         "t.conf:1: the backend has no 'path': engine sqlite needs one"},
        {"backends=(" REDIS(
             "") ");\n"
                 "pools=({name=\"p\";partitions=[\"r\"];});\n" KEY,
         "t.conf:2: the pool has no 'authority': its windowed partitions need "
         "one, such as an sqlite backend"},
        {BACKEND "pools=({name=\"p\";partitions=[\"a\"];},"
                 "{name=\"q\";partitions=[\"a\"];});\n" KEY,
         "t.conf:2: backend 'a' stands in partition 0 of pool 'p' already: a "
         "backend stands in one partition only\n"
         "t.conf:3: there are 2 pools: say which with 'pool'"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(names_must_be_unique)
{
    static const struct topology_wrong cases[] = {
        {"backends=(" SQLITE("a") ",\n" SQLITE("a") ");\n" POOL KEY,
         "t.conf:2: there is another backend named 'a'"},
        {"backends=(" SQLITE("a") "," SQLITE(
             "b") ");\n"
                  "pools=({name=\"p\";partitions=[\"a\"];},\n"
                  "{name=\"p\";partitions=[\"b\"];});\n"
                  "sequences=({key=\"k\";pool=\"p\";});\n",
         "t.conf:3: there is another pool named 'p'"},
        {BACKEND POOL "sequences=({key=\"k\";},{key=\"l\";},\n{key=\"k\";});\n",
         "t.conf:4: there is another sequence with the key 'k'"},
        {BACKEND POOL KEY "broker={name=\"x\";\nname=\"y\";};\n",
         "t.conf:5: duplicate setting name: it stands before this line "
         "already, put both together"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(one_key_twice_among_very_many_is_found)
{
    const size_t count = 20000;
    const size_t size = count * 16 + 1024;
    char *text = malloc(size);
    size_t used;

    assert_non_null(text);
    assert_true(text_format(text, size, BACKEND POOL "sequences=(\n"));
    used = strlen(text);
    for (size_t i = 0; i < count; i++) {
        assert_true(
            text_format(text + used, size - used, "{key=\"%05zu\";},\n", i));
        used += strlen(text + used);
    }
    assert_true(text_format(text + used, size - used,
                            "{key=\"00007\";},{key=\"last\";});\n"));
    topology_expect(text, "t.conf:20004: there is another sequence with the "
                          "key '00007'");
    free(text);
}

TEST(unknown_engine_lists_those_built_in)
{
    char expected[512] = "t.conf:2: unknown engine 'oracle': this build has";
    const struct seqb_backend_ops *ops;

    for (size_t i = 0; (ops = backend_at(i)) != NULL; i++)
        assert_true(text_append(expected, sizeof expected, "%s %s",
                                i == 0 ? "" : ",", ops->engine));
    topology_expect("backends=({name=\"a\";\nengine=\"oracle\";});\n" POOL KEY,
                    expected);
}

TEST(partitions_are_a_power_of_two)
{
    char text[8192] = "backends=(" SQLITE("a");

    topology_expect(
        "backends=(" SQLITE("a") "," SQLITE("b") "," SQLITE(
            "c") ");\n"
                 "pools=({name=\"p\";\npartitions=[\"a\",\n\"b\",\n\"c\"];})"
                 ";\n" KEY,
        "t.conf:3: the number of partitions must be a power of two: here "
        "are 3, make it 2 or 4");
    for (int i = 1; i < 65; i++)
        assert_true(text_append(text, sizeof text,
                                ",{name=\"b%d\";engine=\"sqlite\";"
                                "path=\"b%d\";}",
                                i, i));
    assert_true(text_append(text, sizeof text,
                            ");\npools=({name=\"p\";partitions=[\"a\""));
    for (int i = 1; i < 65; i++)
        assert_true(text_append(text, sizeof text, ",\"b%d\"", i));
    assert_true(text_append(text, sizeof text, "];});\n" KEY));
    topology_expect(text, "t.conf:2: 65 partitions are too many: at most 64");
}

TEST(rules_between_settings_hold)
{
    static const struct topology_wrong cases[] = {
        {"backends=(" SQLITE("a") "," SQLITE(
             "b") ");\n"
                  "pools=({name=\"p\";partitions=[\"a\",\"a\"];authority=\"b\";"
                  "});\n" KEY,
         "t.conf:2: backend 'a' stands in partition 0 of pool 'p' already: a "
         "backend stands in one partition only"},
        {"backends=(" SQLITE("a") ",\n" SQLITE("b") ");\n" POOL KEY,
         "t.conf:2: no pool uses the backend 'b': add it to a pool's "
         "partitions, make it an authority, or remove it"},
        {"backends=(" REDIS("") ");\n"
                                "pools=({name=\"p\";partitions=[\"r\"];"
                                "authority=\"r\";});\n" KEY,
         "t.conf:2: backend 'r' cannot be an authority: engine redis may "
         "forget; name one that is direct, such as sqlite"},
        {"backends=(" SQLITE(
             "a") ","
                  "\n{name=\"b\";engine=\"sqlite\";path=\"./a.db\";});\n"
                  "pools=({name=\"p\";partitions=[\"a\",\"b\"];});\n" KEY,
         "t.conf:2: backend 'a' has the same file: /state/a.db"},
        {BACKEND POOL "sequences=({key=\"k\";memory_bits=10;\n"
                      "max_unused=1000;});\n",
         "t.conf:4: 'max_unused' is 1000, but one counter value yields 2^10 "
         "= 1024 numbers: raise it or lower memory_bits"},
        {BACKEND POOL "auto_sequences={pattern=\"*\";memory_bits=20;};\n",
         "t.conf:3: 'max_unused' is 1000000, but one counter value yields "
         "2^20 = 1048576 numbers: raise it or lower memory_bits"},
        {BACKEND POOL "sequences=({key=\"k\";prefetch=false;\nwarm=true;});\n",
         "t.conf:4: 'warm' fetches numbers ahead, which 'prefetch' = false "
         "forbids: remove one of them"},
        {BACKEND POOL "auto_sequences={pattern=\"*\";warm=true;};\n",
         "t.conf:3: unknown setting 'warm' in auto_sequences"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(all_partitions_may_count_in_windows)
{
    static const struct topology_wrong cases[] = {
        {"backends=(" SQLITE("a") "," SQLITE(
             "b") ");\n"
                  "pools=({name=\"p\";partitions=[\"a\",\"b\"];"
                  "authority=\"b\";windows=\"all\";});\n" KEY,
         ""},
        {BACKEND "pools=({name=\"p\";partitions=[\"a\"];\n"
                 "windows=\"all\";});\n" KEY,
         "t.conf:3: 'windows' = \"all\" needs an 'authority' that leases them, "
         "such as an sqlite backend"},
        {BACKEND "pools=({name=\"p\";partitions=[\"a\"];\n"
                 "windows=\"some\";});\n" KEY,
         "t.conf:3: 'windows' is \"some\", but must be one of needed, all"},
        {"backends=(" SQLITE("a") "," SQLITE(
             "b") ");\n"
                  "pools=({name=\"p\";partitions=[\"a\"];authority=\"b\";"
                  "windows=\"all\";window_bits=40;});\n"
                  "sequences=({key=\"k\";memory_bits=20;\n"
                  "max_unused=2000000;});\n",
         "t.conf:3: 0 partition bits + 20 memory bits + 40 window bits leave 3 "
         "of 63 bits for the window's number, at least 8 are needed: lower "
         "memory_bits or window_bits"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
    if (backend_find("mysql-autoinc") == NULL)
        return;
    topology_expect(
        "backends=(" SQLITE(
            "a") ",{name=\"m\";engine=\"mysql-autoinc\";database=\"d\";});\n"
                 "pools=({name=\"p\";partitions=[\"m\",\"a\"];"
                 "authority=\"a\";\nwindows=\"all\";});\n" KEY,
        "");
}

TEST(bits_that_do_not_fit_show_the_arithmetic)
{
    static const char head[] =
        "backends=({name=\"r\";engine=\"redis\";},"
        "{name=\"s\";engine=\"redis\";},{name=\"t\";engine=\"redis\";},"
        "{name=\"u\";engine=\"redis\";}," SQLITE(
            "a") ");\n"
                 "pools=({name=\"p\";partitions=[\"r\",\"s\",\"t\",\"u\"];"
                 "authority=\"a\";window_bits=40;});\n";
    char text[1024];

    assert_true(text_format(text, sizeof text,
                            "%ssequences=({key=\"k\";\nmemory_bits=20;"
                            "max_unused=2000000;},{key=\"l\";\n"
                            "memory_bits=13;});\n",
                            head));
    topology_expect(
        text, "t.conf:4: 2 partition bits + 20 memory bits + 40 window "
              "bits leave 1 of 63 bits for the window's number, at least 8 "
              "are needed: lower memory_bits or window_bits");
    assert_true(text_format(text, sizeof text,
                            "%sauto_sequences={pattern=\"*\";\n"
                            "memory_bits=14;};\n",
                            head));
    topology_expect(
        text, "t.conf:4: 2 partition bits + 14 memory bits + 40 window "
              "bits leave 7 of 63 bits for the window's number, at least 8 "
              "are needed: lower memory_bits or window_bits");
}

TEST(syntax_errors_are_one_line)
{
    static const struct topology_wrong cases[] = {
        {BACKEND "pools=(\n" KEY,
         "t.conf:3: syntax error here or on the line before: is a quote, a "
         "bracket or a ';' missing?"},
        {"backends=({\nhost \"x\"; });\n",
         "t.conf:2: syntax error here or on the line before: is a quote, a "
         "bracket or a ';' missing?"},
        {"broker={name=main;};\n",
         "t.conf:1: syntax error here or on the line before: is a quote, a "
         "bracket or a ';' missing?"},
        {BACKEND "pools=({name=\"p\n" KEY,
         "t.conf:3: the text that begins here has no closing quote"},
        {"\n@include \"x.conf\"\n",
         "t.conf:2: a text in memory cannot include x.conf"},
        {"a=[1,\"x\"];", "t.conf:1: mismatched element type in array"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(all_mistakes_are_told_at_once_by_line)
{
    topology_expect(
        "broker={\n"
        "  nam=\"x\";\n"
        "  interval=\"20\"; };\n"
        "backends=(" SQLITE("a") ",\n"
                                 "  {name=\"b\";engine=\"\";});\n"
                                 "pools=({name=\"p\";\n"
                                 "  partitions=[\"a\",\"b\"];\n"
                                 "  timeout=\"2h\";});\n"
                                 "sequences=(\n"
                                 "  {key=\"k/\";},\n"
                                 "  {key=\"l\";max_unused=0;});\n",
        "t.conf:2: unknown setting 'nam' in broker: did you mean 'name'?\n"
        "t.conf:3: 'interval' has no unit: write \"20ms\" or \"20s\"\n"
        "t.conf:5: 'engine' must not be empty\n"
        "t.conf:8: 'timeout' is \"2h\", but must be 1ms ... 1m\n"
        "t.conf:10: 'key' is \"k/\", but must be 1 to 64 of A-Z a-z 0-9 . "
        "_ : -\n"
        "t.conf:11: 'max_unused' is 0, but must be 1 ... 1073741824");
}

static void count_lines(void *context, const char *line)
{
    size_t *count = context;

    assert_ptr_equal(strchr(line, '\n'), NULL);
    ++*count;
}

TEST(more_mistakes_than_fit_are_counted)
{
    char *text = calloc(1, 65536);
    struct config *config = NULL;
    struct seqb_error error;
    size_t count = 0;
    const struct config_request request = {
        .path = "t.conf", .report = count_lines, .context = &count};
    const char *last;

    assert_non_null(text);
    for (int i = 0; i < 600; i++)
        assert_true(text_append(text, 65536, "wrong-%03d-section = 1;\n", i));
    assert_true(text_append(text, 65536, BACKEND POOL KEY));
    assert_int_equal(config_open_text(&request, text, &config, &error),
                     SEQB_CONFIG);
    free(text);
    assert_int_equal(count, 501);
    last = strrchr(error.text, '\n');
    assert_non_null(last);
    assert_memory_equal(last, "\n... and ", 9);
    assert_true(strlen(error.text) > 900);
}

TEST(nobody_need_listen)
{
    const struct config_request request = {.path = "t.conf"};
    struct config *config = NULL;

    assert_int_equal(config_open_text(&request, "x", &config, NULL),
                     SEQB_CONFIG);
    assert_null(config);
}

TEST_BEFORE_ALL(topology_setup);
