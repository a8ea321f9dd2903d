/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A byte that says what for, and any others as a template. What must hold: it
 * is refused with the column where it is wrong, or it writes numbers that are
 * read back, as they were, from their texts.
 */
#include "fuzz/fuzz.h"
#include "unit/custom_fields.h"
#include "unit/round_trip.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#define TEMPLATE_SIZE 2048
#define DRAWS         4

int LLVMFuzzerInitialize(int *argc, char ***argv);

static const struct round_kind kinds[] = {
    {.key = "order"},
    {.key = NULL},
    {.key = "a.b-1", .unit = PERIOD_SECOND},
    {.key = "order", .unit = PERIOD_DAY},
    {.key = NULL, .unit = PERIOD_WEEK},
    {.key = "order", .unit = PERIOD_MONTH},
    {.key = "order", .unit = PERIOD_QUARTER, .year_month = 4, .year_day = 6},
    {.key = "order", .unit = PERIOD_YEAR},
    {.key = "order", .unit = PERIOD_SECOND, .ids = &round_ids},
    {.key = NULL, .unit = PERIOD_MINUTE, .ids = &round_ids_alone},
    {.key = "order", .unit = PERIOD_HOUR, .ids = &round_ids_hour},
};

static void require_column(const char *template, const struct seqb_error *err)
{
    static const char prefix[] = "column ";
    unsigned long column;
    char *end;

    require(err->status == SEQB_INVALID);
    require(strncmp(err->text, prefix, sizeof prefix - 1) == 0);
    column = strtoul(err->text + sizeof prefix - 1, &end, 10);
    require(column >= 1 && column <= strlen(template) + 1);
    require(strncmp(end, ": ", 2) == 0);
}

static void check(const struct round_kind *kind, const char *template)
{
    struct round round;
    struct seqb_error err = {SEQB_OK, ""};
    uint64_t seed = 1;

    if (round_make(&round, kind, template, &err) != SEQB_OK) {
        round_free(&round);
        require_column(template, &err);
        return;
    }
    for (int i = 0; i < DRAWS; i++) {
        struct round_draw draw;
        char text[SEQB_TEXT_MAX + 2];
        bool is_accepted;

        round_draw(&round, &seed, &draw);
        require(round_trip(&round, &draw, text, &err));
        round_spoil(&seed, text);
        require(
            round_is_canonical(&round, text, strlen(text), &is_accepted, &err));
    }
    round_free(&round);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    require(own_fields_register());
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char template[TEMPLATE_SIZE];

    if (size == 0 || size >= sizeof template)
        return 0;
    memcpy(template, data + 1, size - 1);
    template[size - 1] = '\0';
    check(&kinds[data[0] % COUNT_OF(kinds)], template);
    return 0;
}
