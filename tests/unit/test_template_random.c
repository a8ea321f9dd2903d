/* SPDX-License-Identifier: Apache-2.0 */
/* Templates of a grammar: each is refused with the column where it is wrong, or
 * gives back every number that it writes. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "unit/custom_fields.h"
#include "unit/random_template.h"

#define TEMPLATES (30000 / SEQB_TEST_SCALE)
#define DRAWS     10 /* of each template */
#define CHANGES   5  /* of each text */

static const char prefix[] = "column ";

/* "column 12: what", within the template or just behind it. */
static void expect_column(const char *template, const struct seqb_error *err)
{
    unsigned long column;
    char *end;

    if (err->status != SEQB_INVALID ||
        strncmp(err->text, prefix, sizeof prefix - 1) != 0)
        fail_msg("%s: refused with '%s'", template, err->text);
    assert_true(isdigit((unsigned char)err->text[sizeof prefix - 1]));
    column = strtoul(err->text + sizeof prefix - 1, &end, 10);
    if (column < 1 || column > strlen(template) + 1 ||
        strncmp(end, ": ", 2) != 0 || end[2] == '\0')
        fail_msg("%s: of %zu bytes, refused with '%s'", template,
                 strlen(template), err->text);
}

static void expect_canonical(const struct round *round, uint64_t *seed,
                             const char *text)
{
    for (size_t i = 0; i < CHANGES; i++) {
        char changed[SEQB_TEXT_MAX + 2];
        bool is_accepted;
        struct seqb_error why = {SEQB_OK, ""};

        memcpy(changed, text, sizeof changed);
        round_spoil(seed, changed);
        if (!round_is_canonical(round, changed, strlen(changed), &is_accepted,
                                &why))
            fail_msg("%s: '%s', changed to '%s': %s", round->text, text,
                     changed, why.text);
    }
}

static void expect_round_trips(const struct round *round, uint64_t *seed)
{
    for (size_t i = 0; i < DRAWS; i++) {
        struct round_draw draw;
        struct seqb_error why = {SEQB_OK, ""};
        char text[SEQB_TEXT_MAX + 2];

        round_draw(round, seed, &draw);
        if (!round_trip(round, &draw, text, &why))
            fail_msg("%s: '%s': %s", round->text, text, why.text);
        expect_canonical(round, seed, text);
    }
}

TEST(templates_are_refused_where_they_are_wrong_or_come_back)
{
    uint64_t seed = 1;
    size_t made = 0;

    for (size_t i = 0; i < TEMPLATES; i++) {
        const struct round_kind *kind = random_kind(&seed);
        char template[RANDOM_TEMPLATE_SIZE];
        struct seqb_error err = {SEQB_OK, ""};
        struct round round;

        random_template(&seed, template);
        if (round_make(&round, kind, template, &err) == SEQB_OK) {
            expect_round_trips(&round, &seed);
            made++;
        } else {
            expect_column(template, &err);
        }
        round_free(&round);
    }
    assert_in_range(made, TEMPLATES / 20, TEMPLATES - TEMPLATES / 20);
}

static int register_fields(void **state)
{
    (void)state;
    return own_fields_register() ? 0 : -1;
}

TEST_BEFORE_ALL(register_fields);
