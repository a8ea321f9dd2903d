/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a wrong type or out of range, with the exact line that is told. */

#include "platform/text.h"
#include "support/test.h"
#include "unit/topology_expect.h"

TEST(wrong_types_say_what_was_wanted_and_found)
{
    static const struct topology_wrong cases[] = {
        {"broker={name=5;};\n" BACKEND POOL KEY,
         "t.conf:1: 'name' must be a text in quotes, but is an integer"},
        {"broker={name=(1);};\n" BACKEND POOL KEY,
         "t.conf:1: 'name' must be a text in quotes, but is a list"},
        {BACKEND POOL "sequences=({key=\"k\";memory_bits=\"3\";});\n",
         "t.conf:3: 'memory_bits' must be an integer, but is a text"},
        {BACKEND POOL "sequences=({key=\"k\";memory_bits=3.5;});\n",
         "t.conf:3: 'memory_bits' must be an integer, but is a fraction"},
        {BACKEND POOL "sequences=({key=\"k\";memory_bits=true;});\n",
         "t.conf:3: 'memory_bits' must be an integer, but is a boolean"},
        {BACKEND POOL "sequences=({key=\"k\";memory_bits={};});\n",
         "t.conf:3: 'memory_bits' must be an integer, but is a group { ... }"},
        {BACKEND POOL "sequences=({key=\"k\";prefetch=\"true\";});\n",
         "t.conf:3: 'prefetch' must be true or false, without quotes, but is "
         "a text"},
        {BACKEND "pools=({name=\"p\";partitions=\"a\";});\n" KEY,
         "t.conf:2: 'partitions' must be a list of names, as [ \"a\", \"b\" "
         "], but is a text"},
        {BACKEND "pools=({name=\"p\";partitions=[1];});\n" KEY,
         "t.conf:2: 'partitions' must be a list of names, as [ \"a\", \"b\" "
         "], but is an integer"},
        {BACKEND POOL KEY "broker=1;\n",
         "t.conf:4: 'broker' must be a group: broker = { ... };"},
        {"backends={name=\"a\";};\n" POOL KEY,
         "t.conf:1: 'backends' must be a list of groups: backends = ( { ... "
         "}, { ... } );\n"
         "t.conf:2: there is no backend 'a': add it to backends or remove it "
         "here"},
        {BACKEND POOL "sequences=({key=\"k\";},5);\n",
         "t.conf:3: each of sequences must be a group { ... }, but one is an "
         "integer"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(values_out_of_range_say_the_range)
{
    static const struct topology_wrong cases[] = {
        {BACKEND POOL "sequences=({key=\"k\";memory_bits=21;});\n",
         "t.conf:3: 'memory_bits' is 21, but must be 0 ... 20"},
        {BACKEND POOL "sequences=({key=\"k\";max_unused=5000000000;});\n",
         "t.conf:3: 'max_unused' is 5000000000, but must be 1 ... "
         "1073741824"},
        {BACKEND POOL "sequences=({key=\"k\";max_unused=4294967296000000000000"
                      ";});\n",
         "t.conf:3: a number of 22 characters does not fit in 64 bits"},
        {BACKEND POOL "sequences=({key=\"k\";max_unused=0x80000000;});\n",
         "t.conf:3: 'max_unused' is 2147483648, but must be 1 ... "
         "1073741824"},
        {BACKEND POOL "sequences=({key=\"k y\";});\n",
         "t.conf:3: 'key' is \"k y\", but must be 1 to 64 of A-Z a-z 0-9 . _ "
         ": -"},
        {BACKEND POOL "sequences=({key=\"\";});\n",
         "t.conf:3: 'key' must not be empty"},
        {"broker={name=\"a.b\";};\n" BACKEND POOL KEY,
         "t.conf:1: 'name' is \"a.b\", but must be 1 to 32 of A-Z a-z 0-9 _ "
         "-"},
        {"broker={state_dir=\"a\nb\";};\n" BACKEND POOL KEY,
         "t.conf:1: 'state_dir' holds a control character"},
        {BACKEND
         "pools=({name=\"p\";partitions=[\"a\"];rescue=\"soon\";});\n" KEY,
         "t.conf:2: 'rescue' is \"soon\", but must be one of backoff, fixed"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(durations_need_a_unit)
{
    static const char *const cases[][2] = {
        {"200", "has no unit: write \"200ms\" or \"200s\""},
        {"\"200\"", "has no unit: write \"200ms\" or \"200s\""},
        {"\"5 parsecs\"", "is \"5 parsecs\": write a whole number and ms, s, "
                          "m, h or d, as \"200ms\""},
        {"\"\"", "is \"\": write a whole number and ms, s, m, h or d, as "
                 "\"200ms\""},
        {"\"-5s\"", "is \"-5s\": write a whole number and ms, s, m, h or d, "
                    "as \"200ms\""},
        {"\"1.5s\"", "is \"1.5s\": write a whole number and ms, s, m, h or d, "
                     "as \"200ms\""},
        {"\"99999999999h\"", "is \"99999999999h\", but must be 1ms ... 10m"},
        {"\"99999999999999999999ms\"",
         "is \"99999999999999999999ms\", but must be 1ms ... 10m"},
        {"\"11m\"", "is \"11m\", but must be 1ms ... 10m"},
        {"\"0s\"", "is \"0s\", but must be 1ms ... 10m"},
        {"5000000000", "must be a duration in quotes, as \"200ms\", but is an "
                       "integer"},
        {"true", "must be a duration in quotes, as \"200ms\", but is a "
                 "boolean"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[512];
        char line[512];

        assert_true(text_format(text, sizeof text,
                                BACKEND POOL "sequences=({key=\"k\";\n"
                                             "deadline=%s;});\n",
                                cases[i][0]));
        assert_true(text_format(line, sizeof line, "t.conf:4: 'deadline' %s",
                                cases[i][1]));
        topology_expect(text, line);
    }
}

TEST_BEFORE_ALL(topology_setup);
