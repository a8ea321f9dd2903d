/* SPDX-License-Identifier: Apache-2.0 */
/* The field check: a check digit over the pieces of earlier phases. */
#include <string.h>

#include "number/fields/fields.h"

static bool make_algorithm(struct compile *compile, struct check_piece *check)
{
    const struct option *option = compile_option(compile, "algorithm");

    if (option == NULL)
        return compile_fail(compile, compile->field.column,
                            "check needs an algorithm");
    if (check_parse(option->value.text, option->value.length,
                    &check->algorithm))
        return true;
    return compile_fail(compile, option->value.column,
                        "there is no algorithm '%.*s': expected luhn, "
                        "luhn-36, damm, verhoeff, iso7064-mod97, "
                        "iso7064-mod37, gs1 or jd",
                        (int)option->value.length, option->value.text);
}

static bool make_check(struct compile *compile, struct piece *piece)
{
    static const char *const words[] = {"seq", "digits", "all", NULL};
    struct check_piece *check = &piece->check;
    int over;

    if (!make_algorithm(compile, check))
        return false;
    over = check_reads_letters(check->algorithm) ? OVER_ALL : OVER_DIGITS;
    if (!compile_choice(compile, "over", words, &over))
        return false;
    check->over = (enum check_over)over;
    check->skips_letters =
        over == OVER_DIGITS && check_reads_letters(check->algorithm);
    piece->phase = SEQB_PHASE_CHECK;
    piece->min = piece->max = check_length(check->algorithm);
    letters_add(&piece->letters, LETTERS_DIGITS, strlen(LETTERS_DIGITS));
    if (check_makes_letters(check->algorithm))
        letters_add(&piece->letters, LETTERS_UPPER, strlen(LETTERS_UPPER));
    return true;
}

void check_feed_digits(struct check *check, const char *text, size_t length)
{
    while (length > 0) {
        size_t skip = 0;
        size_t run = 0;

        while (skip < length && (text[skip] < '0' || text[skip] > '9'))
            skip++;
        while (skip + run < length && text[skip + run] >= '0' &&
               text[skip + run] <= '9')
            run++;
        check_feed(check, text + skip, run);
        text += skip + run;
        length -= skip + run;
    }
}

/* Feeds the covered pieces: no pieces of later phases, and no other checks. */
static void feed_pieces(struct check *check, const struct check_piece *own,
                        const struct spread *spread)
{
    const struct template *template = spread->template;

    for (size_t i = 0; i < template->piece_count; i++) {
        const struct piece *piece = &template->pieces[i];
        const bool is_number =
            piece->field == &field_seq || piece->field == &field_shuffle;

        if (piece->phase < SEQB_PHASE_CHECK &&
            (own->over != OVER_SEQ || is_number))
            check_feed_covered(check, own, spread->text + spread->starts[i],
                               spread->starts[i + 1] - spread->starts[i]);
    }
}

static void compute(const struct piece *piece, const struct spread *spread,
                    char *out)
{
    const struct check_piece *own = &piece->check;
    const struct template *template = spread->template;
    const size_t i = (size_t)(piece - template->pieces);
    struct check check;

    check_begin(&check, own->algorithm);
    if (own->is_alone && own->over != OVER_SEQ) {
        check_feed_covered(&check, own, spread->text, spread->starts[i]);
        check_feed_covered(&check, own, spread->text + spread->starts[i + 1],
                           spread->starts[template->piece_count] -
                               spread->starts[i + 1]);
    } else {
        feed_pieces(&check, own, spread);
    }
    check_end(&check, out);
}

void check_run(const struct draft *draft, char *out)
{
    const struct spread *spread = &draft->spread;
    const struct template *template = spread->template;
    const size_t i = template->running;
    const struct check_piece *own = &template->pieces[i].check;
    const size_t from = spread->starts[template->prefix_count];
    const size_t behind = spread->starts[i + 1];
    const size_t end = spread->starts[template->piece_count];
    struct check check = draft->check;

    check_feed_covered(&check, own, spread->text + from,
                       spread->starts[i] - from);
    if (end > behind) /* mostly nothing stands behind the check */
        check_feed_covered(&check, own, spread->text + behind, end - behind);
    check_end(&check, out);
}

static enum seqb_status write_check(const struct piece *piece,
                                    const struct spread *spread, char *out,
                                    size_t *length, struct seqb_error *err)
{
    (void)err;
    compute(piece, spread, out);
    *length = piece->max;
    return SEQB_OK;
}

static enum seqb_status read_check(const struct spread *spread, size_t i,
                                   struct facts *facts, struct seqb_error *err)
{
    const struct piece *piece = &spread->template->pieces[i];
    const char *text = spread->text + spread->starts[i];
    char right[CHECK_LENGTH_MAX];

    (void)facts;
    compute(piece, spread, right);
    if (memcmp(text, right, piece->max) == 0)
        return SEQB_OK;
    return read_fail(spread, i, err, "the check digit '%.*s' is wrong",
                     (int)piece->max, text);
}

static const char *const check_options[] = {"algorithm", "over", NULL};

const struct field field_check = {"check",    check_options, READ_LAST, false,
                                  make_check, write_check,   read_check};
