/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of a whole template, above all that no two numbers can have the
 * same text; and properties of a valid one. */
#include <stdlib.h>
#include <string.h>

#include "number/digits.h"
#include "number/fields/fields.h"
#include "platform/error.h"

static const struct piece *first_of(const struct template *template,
                                    const struct field *field)
{
    for (size_t i = 0; i < template->piece_count; i++) {
        if (template->pieces[i].field == field)
            return &template->pieces[i];
    }
    return NULL;
}

/* Checks that a text contains the number, the stamp and the shard. */
static bool check_unique(struct compile *compile, size_t end)
{
    const struct template *template = compile->template;
    const struct bits_layout *ids = template->rules.ids;
    const char *missing;

    if (first_of(template, &field_seq) == NULL &&
        first_of(template, &field_shuffle) == NULL)
        return compile_fail(compile, end,
                            "all texts would be alike: expected a field "
                            "@{seq} or @{shuffle}");
    if (ids != NULL && ids->shard > 0 &&
        first_of(template, &field_shard) == NULL)
        return compile_fail(compile, end,
                            "ids of two shards would have one text: expected "
                            "a field @{shard}");
    if (template->rules.period == NULL)
        return true;
    missing = date_missing(template->tells, template->unit);
    return missing == NULL ||
           compile_fail(compile, end,
                        "numbers begin afresh with each %s, and their texts "
                        "would come again: dates must tell %s",
                        period_unit_name(template->unit), missing);
}

static bool check_shape(struct compile *compile)
{
    struct template *template = compile->template;
    const struct piece *piece = shape_find(template);
    const struct piece *next = piece;

    if (piece == NULL)
        return true;
    do
        next++;
    while (!piece_varies(next));
    return compile_fail(compile, next->column,
                        "ambiguous: where the field at column %zu ends, whose "
                        "length varies, cannot be told from this one, whose "
                        "length varies, too: give one a width, or put a "
                        "character between that neither can have",
                        piece->column);
}

static bool check_lengths(struct compile *compile)
{
    struct template *template = compile->template;

    for (size_t i = 0; i < template->piece_count; i++) {
        const struct piece *piece = &template->pieces[i];

        template->length += piece->max;
        if (template->length > SEQB_TEXT_MAX)
            return compile_fail(compile, piece->column,
                                "texts could be longer than %d bytes from "
                                "here on",
                                SEQB_TEXT_MAX);
    }
    return true;
}

static const char *cure_of(const struct check_piece *check)
{
    if (check->skips_letters)
        return "say over=all";
    return check->over == OVER_ALL ? "say over=digits, or change the letters"
                                   : "choose another algorithm, or a base with "
                                     "digits that it reads";
}

/* Checks that the algorithm reads some of what the check covers. Of a number it
 * has to read all characters, or a wrong letter would not be noticed. */
static bool check_covered(struct compile *compile, const struct piece *check)
{
    const struct template *template = compile->template;
    const struct check_piece *own = &check->check;
    const bool reads_letters =
        check_reads_letters(own->algorithm) && !own->skips_letters;
    struct letters letters = {{0}};
    struct letters unread = {{0}};

    for (size_t i = 0; i < template->piece_count; i++) {
        const struct piece *piece = &template->pieces[i];

        if (piece->phase < SEQB_PHASE_CHECK &&
            (own->over == OVER_ALL || piece->field == &field_seq ||
             piece->field == &field_shuffle))
            letters_join(&letters, &piece->letters);
    }
    letters_add(&unread, LETTERS_LOWER, strlen(LETTERS_LOWER));
    if (!reads_letters)
        letters_add(&unread, LETTERS_UPPER, strlen(LETTERS_UPPER));
    if (!letters_meet(&letters, &unread))
        return true;
    return compile_fail(
        compile, check->column,
        "%s reads %s only, and what it covers may have other letters: %s",
        check_name(own->algorithm),
        reads_letters ? "digits and capital letters" : "digits", cure_of(own));
}

/* Whether the check covers all other pieces. */
static bool check_is_alone(const struct template *template,
                           const struct piece *check)
{
    for (size_t i = 0; i < template->piece_count; i++) {
        const struct piece *piece = &template->pieces[i];

        if (piece->phase >= SEQB_PHASE_CHECK && piece != check)
            return false;
    }
    return true;
}

static bool check_checks(struct compile *compile)
{
    struct template *template = compile->template;

    for (size_t i = 0; i < template->piece_count; i++) {
        struct piece *piece = &template->pieces[i];

        if (piece->field != &field_check)
            continue;
        if (!check_covered(compile, piece))
            return false;
        piece->check.is_alone = check_is_alone(template, piece);
    }
    return true;
}

static void find_late(struct template *template)
{
    for (int32_t phase = 1; phase <= SEQB_PHASE_MAX; phase++) {
        for (size_t i = 0; i < template->piece_count; i++) {
            if (template->pieces[i].phase == phase)
                template->late[template->late_count++] = (uint8_t)i;
        }
    }
}

/* Finds the parts that a draft writes once for many texts. */
static void find_common(struct template *template)
{
    const bool is_dated = template->rules.period == NULL;
    size_t i = 0;

    /* Without a period, each number has its own date. */
    while (i < template->piece_count && template->pieces[i].phase == 0 &&
           template->pieces[i].field->is_common &&
           !(is_dated && template->pieces[i].field == &field_date))
        i++;
    template->prefix_count = i;
    template->running = template->piece_count;
    for (; i < template->piece_count; i++) {
        const struct piece *piece = &template->pieces[i];

        if (piece->field == &field_check && piece->check.is_alone &&
            piece->check.over != OVER_SEQ)
            template->running = i;
    }
    template->ends_in_check = template->late_count == 1 &&
                              template->running + 1 == template->piece_count;
}

/* Counts the leading static texts and dates of a period that can be cached. The
 * key is not cached, since a template may serve many keys. */
static size_t count_stamped(const struct template *template)
{
    size_t length = 0;
    size_t i = 0;

    for (; i < template->prefix_count && i < STAMPED_PIECES; i++) {
        const struct piece *piece = &template->pieces[i];

        length += piece->max;
        if (length > STAMPED_TEXT ||
            (piece->field != &field_text && piece->field != &field_date))
            break;
    }
    return i;
}

static bool make_stamped(struct compile *compile)
{
    struct template *template = compile->template;

    if (template->rules.period == NULL || count_stamped(template) == 0)
        return true;
    template->stamped = aligned_alloc(STAMPED_LINE, sizeof *template->stamped);
    if (template->stamped == NULL) {
        (void)error_set(compile->err, SEQB_NO_MEMORY,
                        "template: out of memory");
        return false;
    }
    *template->stamped = (struct stamped){.stamp = STAMPED_NONE};
    template->stamped_count = count_stamped(template);
    for (size_t i = 0; i < template->stamped_count; i++)
        template->stamped_starts[i + 1] =
            template->stamped_starts[i] + template->pieces[i].max;
    return true;
}

static bool check_all(struct compile *compile, size_t end)
{
    return check_lengths(compile) && check_unique(compile, end) &&
           check_shape(compile) && check_checks(compile);
}

bool template_check(struct compile *compile, size_t end)
{
    if (!check_all(compile, end))
        return false;
    find_late(compile->template);
    find_common(compile->template);
    compile->template->is_bare = compile->template->param_count == 0 &&
                                 compile->template->rules.ids == NULL;
    return make_stamped(compile);
}

size_t template_length(const struct template *template)
{
    return template->length;
}

bool template_has_key(const struct template *template)
{
    return first_of(template, &field_key) != NULL;
}

int32_t template_shuffle_base(const struct template *template)
{
    const struct piece *piece = first_of(template, &field_shuffle);

    return piece == NULL ? 0 : piece->seq.base;
}

/* The smallest limit of the template's number fields. */
int64_t template_limit(const struct template *template)
{
    int64_t limit = INT64_MAX;

    for (size_t i = 0; i < template->piece_count; i++) {
        const struct piece *piece = &template->pieces[i];
        int64_t own;

        if (piece->field != &field_seq && piece->field != &field_shuffle)
            continue;
        own = digits_power(piece->seq.base, piece->seq.width);
        if (piece->seq.width == 0 || own == INT64_MAX)
            continue;
        if (piece->field == &field_seq)
            own--; /* the first number is 1, and a shuffle writes it as 0 */
        limit = own < limit ? own : limit;
    }
    return limit;
}

int64_t template_max(const struct template *template)
{
    int64_t most = INT64_MAX;

    for (size_t i = 0; i < template->piece_count; i++) {
        const struct piece *piece = &template->pieces[i];

        if (piece_is_number(piece) && piece->seq.limit < most)
            most = piece->seq.limit;
    }
    return most;
}
