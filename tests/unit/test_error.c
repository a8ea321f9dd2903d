/* SPDX-License-Identifier: Apache-2.0 */
/* Statuses in words, whose fault each is, and filling the error struct. */

#include <string.h>

#include "platform/error.h"
#include "support/test.h"

/* Written out once more: the list decides what is quarantined, so that a
 * change of it must be made twice. */
static const struct {
    const char *name;
    enum seqb_status status;
    enum blame blame;
} statuses[] = {
    {"OK", SEQB_OK, BLAME_NOBODY},
    {"AGAIN", SEQB_AGAIN, BLAME_NOBODY},
    {"TIMEOUT", SEQB_TIMEOUT, BLAME_NOBODY},
    {"INVALID", SEQB_INVALID, BLAME_CALLER},
    {"UNKNOWN_KEY", SEQB_UNKNOWN_KEY, BLAME_CALLER},
    {"FOREIGN", SEQB_FOREIGN, BLAME_CALLER},
    {"CONFIG", SEQB_CONFIG, BLAME_CALLER},
    {"STATE_DIR", SEQB_STATE_DIR, BLAME_CALLER},
    {"FORKED", SEQB_FORKED, BLAME_CALLER},
    {"CLOSED", SEQB_CLOSED, BLAME_CALLER},
    {"NO_MEMORY", SEQB_NO_MEMORY, BLAME_NOBODY},
    {"UNAVAILABLE", SEQB_UNAVAILABLE, BLAME_NOBODY},
    {"EXHAUSTED", SEQB_EXHAUSTED, BLAME_NOBODY},
    {"CLOCK", SEQB_CLOCK, BLAME_NOBODY},
    {"FENCED", SEQB_FENCED, BLAME_NOBODY},
    {"UNREACHABLE", SEQB_UNREACHABLE, BLAME_BACKEND},
    {"UNCERTAIN", SEQB_UNCERTAIN, BLAME_BACKEND},
    {"ROLE", SEQB_ROLE, BLAME_BACKEND},
    {"REFUSED", SEQB_REFUSED, BLAME_BACKEND},
    {"UNSAFE", SEQB_UNSAFE, BLAME_BACKEND},
    {"PROTOCOL", SEQB_PROTOCOL, BLAME_BACKEND},
    {"CORRUPT", SEQB_CORRUPT, BLAME_BACKEND},
    {"LAYOUT", SEQB_LAYOUT, BLAME_LAYOUT},
    {"POISONED", SEQB_POISONED, BLAME_LAYOUT},
};

TEST(every_status_has_a_name_and_whose_fault_it_is)
{
#define STATUS(name, blame, text) SEQB_##name,
    const enum seqb_status listed[] = {SEQB_STATUS_LIST(STATUS)};
#undef STATUS

    assert_int_equal(COUNT_OF(statuses), COUNT_OF(listed));
    for (size_t i = 0; i < COUNT_OF(statuses); i++) {
        assert_int_equal(statuses[i].status, i);
        assert_string_equal(seqb_status_name(statuses[i].status),
                            statuses[i].name);
        assert_int_equal(status_blame(statuses[i].status), statuses[i].blame);
    }
}

TEST(no_two_statuses_say_the_same)
{
    for (size_t i = 0; i < COUNT_OF(statuses); i++) {
        const char *text = seqb_status_text(statuses[i].status);

        assert_true(strlen(text) > 0);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(text, seqb_status_text(statuses[j].status));
    }
}

TEST(an_unknown_status_is_named_and_nobodys_fault)
{
    const int others[] = {COUNT_OF(statuses), 1000, -1, INT32_MIN, INT32_MAX};

    for (size_t i = 0; i < COUNT_OF(others); i++) {
        const enum seqb_status status = (enum seqb_status)others[i];

        assert_string_equal(seqb_status_name(status), "UNKNOWN");
        assert_string_equal(seqb_status_text(status), "unknown status");
        assert_int_equal(status_blame(status), BLAME_NOBODY);
    }
}

TEST(a_failure_is_one_statement)
{
    struct seqb_error err = {.status = SEQB_OK, .text = "of an older failure"};

    assert_int_equal(error_set(&err, SEQB_ROLE, "redis %s: %d", "a", 7),
                     SEQB_ROLE);
    assert_int_equal(err.status, SEQB_ROLE);
    assert_string_equal(err.text, "redis a: 7");
}

TEST(the_text_need_not_be_wanted)
{
    const struct seqb_error from = {SEQB_CORRUPT, "x"};

    assert_int_equal(error_set(NULL, SEQB_INVALID, "%d", 1), SEQB_INVALID);
    assert_int_equal(error_copy(NULL, &from), SEQB_CORRUPT);
}

TEST(a_long_text_is_cut_and_ends)
{
    char longest[SEQB_ERROR_TEXT_SIZE + 1];
    struct seqb_error err[2] = {{SEQB_OK, ""}, {SEQB_OK, "untouched"}};

    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    for (size_t more = 0; more < 3; more++) {
        assert_int_equal(error_set(err, SEQB_INVALID, "%s", longest + 2 - more),
                         SEQB_INVALID);
        assert_int_equal(strlen(err[0].text), more == 0 ? sizeof err->text - 2
                                                        : sizeof err->text - 1);
    }
    assert_string_equal(err[1].text, "untouched");
}

TEST(a_copied_error_is_the_same)
{
    const struct seqb_error from = {SEQB_POISONED, "went back"};
    struct seqb_error to = {.status = SEQB_OK, .text = "something longer"};

    assert_int_equal(error_copy(&to, &from), SEQB_POISONED);
    assert_int_equal(to.status, SEQB_POISONED);
    assert_string_equal(to.text, "went back");
    assert_int_equal(error_copy(&to, &to), SEQB_POISONED);
    assert_string_equal(to.text, "went back");
}
