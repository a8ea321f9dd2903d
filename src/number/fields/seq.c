/* SPDX-License-Identifier: Apache-2.0 */
/* The fields that write a number in digits: seq, shuffle (seq's digits
 * shuffled), and the shard of ids. */
#include <stdlib.h>

#include "number/digits.h"
#include "number/fields/fields.h"
#include "platform/error.h"

#define WIDTH_MAX   32
#define SHUFFLE_MAX (INT64_C(1) << 62) /* the bound of `size` in shuffle.h */

static size_t at_least(size_t width, size_t digits)
{
    return digits > width ? digits : width;
}

/* --- compiling --- */

static bool make_base(struct compile *compile, struct seq_piece *seq)
{
    const struct option *option = compile_option(compile, "base");
    int64_t base = 10;

    if (!compile_integer(compile, "base", 2, 62, &base))
        return false;
    if (!digits_is_base(base))
        return compile_fail(compile, option->value.column,
                            "'base' is 10, 16, 32, 36, 58 or 62, not %d",
                            (int)base);
    seq->base = (int32_t)base;
    return true;
}

static bool make_width(struct compile *compile, int64_t most,
                       struct seq_piece *seq)
{
    int64_t width = 0;

    if (!compile_integer(compile, "width", 1, most, &width))
        return false;
    seq->width = (size_t)width;
    return true;
}

static bool make_overflow(struct compile *compile, bool *widens)
{
    static const char *const words[] = {"widen", "refuse", NULL};
    int choice = 0;

    if (!compile_choice(compile, "overflow", words, &choice))
        return false;
    *widens = choice == 0;
    return true;
}

/* Sets the piece's lengths and letters for values up to `most`. */
static void make_digits(struct piece *piece, int64_t most)
{
    piece->min = at_least(piece->seq.width, 1);
    piece->max =
        at_least(piece->seq.width, digits_count(piece->seq.base, most));
    piece->seq.wide = digits_power(piece->seq.base, piece->min);
    letters_add(&piece->letters, digits_letters(piece->seq.base),
                (size_t)piece->seq.base);
}

/* The greatest number of the sequence. */
static int64_t greatest(const struct compile *compile)
{
    const struct bits_layout *ids = compile->template->rules.ids;

    return ids == NULL ? INT64_MAX : bits_counter_max(ids);
}

static bool make_seq(struct compile *compile, struct piece *piece)
{
    struct seq_piece *seq = &piece->seq;
    int64_t power;
    bool widens;

    if (!make_base(compile, seq) || !make_width(compile, WIDTH_MAX, seq) ||
        !make_overflow(compile, &widens))
        return false;
    if (!widens && seq->width == 0)
        return compile_fail(compile, compile->field.column,
                            "overflow=refuse needs a width");
    seq->limit = greatest(compile);
    power = digits_power(seq->base, seq->width);
    if (!widens && power <= seq->limit && power < INT64_MAX)
        seq->limit = power - 1;
    make_digits(piece, seq->limit);
    return true;
}

/* The greatest number of digits that can be shuffled. */
static size_t shuffle_width_max(int32_t base)
{
    size_t width = 1;

    while (digits_power(base, width + 1) <= SHUFFLE_MAX)
        width++;
    return width;
}

static bool make_shuffles(struct compile *compile, struct piece *piece)
{
    struct seq_piece *seq = &piece->seq;
    const size_t count = piece->max - piece->min + 1;

    seq->shuffles = calloc(count, sizeof *seq->shuffles);
    if (seq->shuffles == NULL) {
        (void)error_set(compile->err, SEQB_NO_MEMORY,
                        "template: out of memory");
        return false;
    }
    for (size_t i = 0; i < count; i++)
        shuffle_init(&seq->shuffles[i], compile->template->rules.shuffle_key,
                     (uint64_t)digits_power(seq->base, piece->min + i));
    return true;
}

static bool make_shuffle(struct compile *compile, struct piece *piece)
{
    struct seq_piece *seq = &piece->seq;
    bool widens;
    size_t most;

    if (!make_base(compile, seq))
        return false;
    most = shuffle_width_max(seq->base);
    if (!make_width(compile, (int64_t)most, seq) ||
        !make_overflow(compile, &widens))
        return false;
    if (seq->width == 0)
        return compile_fail(compile, compile->field.column,
                            "shuffle needs a width, 1 ... %zu", most);
    if (compile->template->rules.shuffle_key == NULL)
        return compile_fail(compile, compile->field.column,
                            "shuffle needs a key: set shuffle_key_file");
    if (!widens)
        most = seq->width;
    seq->limit = digits_power(seq->base, most);
    if (greatest(compile) < seq->limit)
        seq->limit = greatest(compile);
    make_digits(piece, seq->limit - 1);
    return make_shuffles(compile, piece);
}

static bool make_shard(struct compile *compile, struct piece *piece)
{
    const struct bits_layout *ids = compile->template->rules.ids;
    struct seq_piece *seq = &piece->seq;

    if (ids == NULL)
        return compile_fail(compile, compile->field.column,
                            "only a sequence with 'ids' has a shard; the "
                            "caller's own is a @{param}");
    if (!make_base(compile, seq) || !make_width(compile, WIDTH_MAX, seq))
        return false;
    seq->limit = bits_shard_max(ids);
    make_digits(piece, seq->limit);
    return true;
}

/* --- writing --- */

static enum seqb_status refuse_number(const struct piece *piece,
                                      const struct spread *spread,
                                      struct seqb_error *err)
{
    return error_set(err, SEQB_EXHAUSTED,
                     "sequence %s: number %lld does not fit the %zu digits of "
                     "base %d that its template has for it",
                     spread->facts->key, (long long)spread->facts->number,
                     piece->max, (int)piece->seq.base);
}

/* Writes at least as many digits as the piece has. */
static void write_digits(const struct piece *piece, int64_t number, char *out,
                         size_t *length)
{
    *length = piece->min;
    if (number >= piece->seq.wide)
        *length = at_least(piece->min, digits_count(piece->seq.base, number));
    digits_write(piece->seq.base, number, *length, out);
}

static enum seqb_status write_seq(const struct piece *piece,
                                  const struct spread *spread, char *out,
                                  size_t *length, struct seqb_error *err)
{
    if (spread->facts->number > piece->seq.limit)
        return refuse_number(piece, spread, err);
    write_digits(piece, spread->facts->number, out, length);
    return SEQB_OK;
}

static enum seqb_status write_shuffle(const struct piece *piece,
                                      const struct spread *spread, char *out,
                                      size_t *length, struct seqb_error *err)
{
    const struct facts *facts = spread->facts;
    const struct shuffle *shuffle;
    uint64_t code;

    if (facts->number > piece->seq.limit)
        return refuse_number(piece, spread, err);
    *length =
        at_least(piece->min, digits_count(piece->seq.base, facts->number - 1));
    shuffle = &piece->seq.shuffles[*length - piece->min];
    code = shuffle_forward(shuffle, (uint64_t)facts->stamp.digits,
                           (uint64_t)facts->number - 1);
    digits_write(piece->seq.base, (int64_t)code, *length, out);
    return SEQB_OK;
}

static enum seqb_status write_shard(const struct piece *piece,
                                    const struct spread *spread, char *out,
                                    size_t *length, struct seqb_error *err)
{
    (void)err; /* the shard was checked when the number was taken */
    write_digits(piece, spread->facts->shard, out, length);
    return SEQB_OK;
}

/* --- reading --- */

static enum seqb_status read_digits(const struct spread *spread, size_t i,
                                    int64_t *out, struct seqb_error *err)
{
    const struct piece *piece = &spread->template->pieces[i];
    const char *text = spread->text + spread->starts[i];
    const size_t length = spread->starts[i + 1] - spread->starts[i];

    if (digits_read(piece->seq.base, text, length, out))
        return SEQB_OK;
    return read_fail(spread, i, err, "'%.*s' is no number in base %d",
                     (int)length, text, (int)piece->seq.base);
}

/* Keeps the number that a field gives. If several fields give it, they have to
 * agree. */
static enum seqb_status keep_number(const struct spread *spread, size_t i,
                                    int64_t number, struct facts *facts,
                                    struct seqb_error *err)
{
    const struct piece *piece = &spread->template->pieces[i];

    if (number < 1 || number > piece->seq.limit)
        return read_fail(spread, i, err, "number %lld is not in 1 ... %lld",
                         (long long)number, (long long)piece->seq.limit);
    if (facts->number != 0 && facts->number != number)
        return read_fail(spread, i, err,
                         "number %lld, but another field of it says %lld",
                         (long long)number, (long long)facts->number);
    facts->number = number;
    return SEQB_OK;
}

/* Longer than the width, but with a leading zero. */
static bool is_overlong(const struct spread *spread, size_t i)
{
    const struct piece *piece = &spread->template->pieces[i];

    return spread->starts[i + 1] - spread->starts[i] > piece->min &&
           spread->text[spread->starts[i]] ==
               digits_letters(piece->seq.base)[0];
}

static enum seqb_status read_seq(const struct spread *spread, size_t i,
                                 struct facts *facts, struct seqb_error *err)
{
    int64_t number = 0;
    const enum seqb_status status = read_digits(spread, i, &number, err);

    if (status != SEQB_OK)
        return status;
    if (is_overlong(spread, i))
        return read_fail(spread, i, err, "more zeros before it than written");
    return keep_number(spread, i, number, facts, err);
}

static enum seqb_status read_shuffle(const struct spread *spread, size_t i,
                                     struct facts *facts,
                                     struct seqb_error *err)
{
    const struct piece *piece = &spread->template->pieces[i];
    const size_t length = spread->starts[i + 1] - spread->starts[i];
    int64_t code = 0;
    int64_t index;
    const enum seqb_status status = read_digits(spread, i, &code, err);

    if (status != SEQB_OK)
        return status;
    index = (int64_t)shuffle_backward(&piece->seq.shuffles[length - piece->min],
                                      (uint64_t)facts->stamp.digits,
                                      (uint64_t)code);
    if (length > piece->min && digits_count(piece->seq.base, index) < length)
        return read_fail(spread, i, err,
                         "no code of so many digits is this one");
    return keep_number(spread, i, index + 1, facts, err);
}

static enum seqb_status read_shard(const struct spread *spread, size_t i,
                                   struct facts *facts, struct seqb_error *err)
{
    const struct piece *piece = &spread->template->pieces[i];
    int64_t shard = 0;
    const enum seqb_status status = read_digits(spread, i, &shard, err);

    if (status != SEQB_OK)
        return status;
    if (is_overlong(spread, i) || shard > piece->seq.limit ||
        (facts->shard >= 0 && facts->shard != shard))
        return read_fail(spread, i, err, "shard %lld is not in 0 ... %lld",
                         (long long)shard, (long long)piece->seq.limit);
    facts->shard = shard;
    return SEQB_OK;
}

static const char *const number_options[] = {"width", "base", "overflow", NULL};
static const char *const shard_options[] = {"width", "base", NULL};

const struct field field_seq = {"seq",    number_options, READ_FIRST, false,
                                make_seq, write_seq,      read_seq};
const struct field field_shuffle = {"shuffle",   number_options, READ_STAMPED,
                                    false,       make_shuffle,   write_shuffle,
                                    read_shuffle};
const struct field field_shard = {"shard",    shard_options, READ_FIRST, true,
                                  make_shard, write_shard,   read_shard};

bool piece_is_number(const struct piece *piece)
{
    return piece->field == &field_seq || piece->field == &field_shuffle;
}
