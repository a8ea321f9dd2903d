/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether two templates can make the same text. They cannot if two
 * things hold. They differ only in how many digits a number has. And a text
 * would still be split in only one way whatever that number of digits is. Then
 * both split a common text alike, and read the same number from it. Pure.
 * Decision 56 has the proof.
 */
#include <string.h>

#include "number/fields/fields.h"
#include "platform/error.h"

/* Two templates, and the first difference that is not allowed. */
struct pair {
    const struct template *runs;
    const struct template *next;
    bool is_same;
    bool is_wider; /* a number's width differs, or it may be longer */
    const char *why;
};

static bool differ(struct pair *pair, const char *why)
{
    pair->why = why;
    return false;
}

/* --- pieces --- */

static bool has_same_text(const struct pair *pair, const struct piece *a,
                          const struct piece *b)
{
    return a->text.length == b->text.length &&
           memcmp(pair->runs->text + a->text.at, pair->next->text + b->text.at,
                  a->text.length) == 0;
}

static bool has_same_date(const struct piece *a, const struct piece *b)
{
    if (a->date.count != b->date.count)
        return false;
    for (size_t i = 0; i < a->date.count; i++) {
        const struct date_step *x = &a->date.steps[i];
        const struct date_step *y = &b->date.steps[i];

        if (x->conversion != y->conversion || x->character != y->character)
            return false;
    }
    return true;
}

static bool has_same_lengths(const struct piece *a, const struct piece *b)
{
    return a->min == b->min && a->max == b->max;
}

static bool has_same_letters(const struct piece *a, const struct piece *b)
{
    return memcmp(&a->letters, &b->letters, sizeof a->letters) == 0;
}

static bool compare_number(struct pair *pair, const struct piece *a,
                           const struct piece *b)
{
    if (a->seq.base != b->seq.base)
        return differ(pair, "in another base the digits of one number are "
                            "those of another");
    if (a->seq.limit != b->seq.limit || !has_same_lengths(a, b)) {
        pair->is_same = false;
        pair->is_wider = true;
    }
    return true;
}

/* A parameter of fixed width must keep its width: another width would move what
 * stands behind it. A parameter of varying length is ended by what follows it,
 * whatever it is. */
static bool compare_param(struct pair *pair, const struct piece *a,
                          const struct piece *b)
{
    if (strcmp(a->param.name, b->param.name) != 0)
        return differ(pair, "another parameter stands in one place");
    if (piece_varies(a) != piece_varies(b) ||
        (!piece_varies(a) && a->max != b->max) || !has_same_letters(a, b))
        return differ(pair, "a parameter of another width or alphabet ends "
                            "elsewhere");
    if (!has_same_lengths(a, b) || strcmp(a->param.value, b->param.value) != 0)
        pair->is_same = false;
    return true;
}

static bool compare_rest(struct pair *pair, const struct piece *a,
                         const struct piece *b)
{
    if (a->field == &field_text && !has_same_text(pair, a, b))
        return differ(pair, "with other characters between the fields, texts "
                            "of one may be texts of the other");
    if (a->field == &field_date && !has_same_date(a, b))
        return differ(pair, "in another format a date may be another date");
    if (a->field == &field_shard &&
        (a->seq.base != b->seq.base || !has_same_lengths(a, b)))
        return differ(pair, "a shard of another base or width may be another "
                            "shard");
    if (a->field == &field_check && (a->check.algorithm != b->check.algorithm ||
                                     a->check.over != b->check.over))
        return differ(pair, "another check digit may be a digit of a number");
    if (a->field == &field_custom && a->own != b->own)
        return differ(pair, "another field stands in one place");
    return true; /* in both templates, a key is the sequence's key */
}

static bool compare_pieces(struct pair *pair)
{
    const struct template *runs = pair->runs;
    const struct template *next = pair->next;

    if (runs->piece_count != next->piece_count)
        return differ(pair, "with more or fewer fields, texts of one may be "
                            "texts of the other");
    for (size_t i = 0; i < runs->piece_count; i++) {
        const struct piece *a = &runs->pieces[i];
        const struct piece *b = &next->pieces[i];
        bool is_allowed;

        if (a->field != b->field)
            return differ(pair, "with fields in other places, texts of one may "
                                "be texts of the other");
        if (piece_is_number(a))
            is_allowed = compare_number(pair, a, b);
        else if (a->field == &field_param)
            is_allowed = compare_param(pair, a, b);
        else
            is_allowed = compare_rest(pair, a, b);
        if (!is_allowed)
            return false;
    }
    return true;
}

/* --- the sequence --- */

static bool has_same_key(const struct shuffle_key *a,
                         const struct shuffle_key *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return memcmp(a, b, sizeof *a) == 0;
}

/* The claimed layout is compared elsewhere, too. This compares only what the
 * proof needs. */
static bool compare_rules(struct pair *pair)
{
    const struct template_rules *a = &pair->runs->rules;
    const struct template_rules *b = &pair->next->rules;

    if (pair->runs->unit != pair->next->unit ||
        (a->period == NULL) != (b->period == NULL) ||
        (a->ids == NULL) != (b->ids == NULL))
        return differ(pair, "the numbers are counted otherwise");
    return has_same_key(a->shuffle_key, b->shuffle_key) ||
           differ(pair, "another key makes codes again that were made");
}

enum seqb_status template_compare(const struct template *runs,
                                  const struct template *next, bool *is_same,
                                  struct seqb_error *err)
{
    struct pair pair = {.runs = runs, .next = next, .is_same = true};

    if (compare_rules(&pair) && compare_pieces(&pair) && pair.is_wider &&
        !shape_is_loose(runs))
        (void)differ(&pair, "with more or fewer digits, where a number ends "
                            "could not be told from what stands beside it");
    *is_same = pair.is_same;
    return pair.why == NULL ? SEQB_OK
                            : error_set(err, SEQB_LAYOUT, "%s", pair.why);
}
