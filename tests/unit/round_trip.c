/* SPDX-License-Identifier: Apache-2.0 */
/* What a text says must be what it was made of, and no other text may say it.
 */
#include "unit/round_trip.h"

#include <string.h>

#include "number/digits.h"
#include "number/fields/fields.h"
#include "platform/error.h"

#define FROM_1970 INT64_C(172800000)     /* its 3rd of January */
#define FROM_2001 INT64_C(978480000000)  /* likewise */
#define TO_2100   INT64_C(4102358400000) /* 2099-12-31 */
#define SENTINEL  '#'

#define CALENDAR (DATE_YEAR_DAY | DATE_WEEK_YEAR | DATE_WEEK | DATE_WEEKDAY)

static const char secret[] = "correct horse battery staple";

const struct bits_layout round_ids = {1577836800000, 1000, 32, 12, 19};
const struct bits_layout round_ids_alone = {FROM_2001, 60000, 31, 0, 24};
const struct bits_layout round_ids_hour = {1577836800000, 3600000, 24, 5, 30};

uint64_t round_random(uint64_t *seed)
{
    uint64_t value = *seed += UINT64_C(0x9e3779b97f4a7c15);

    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

uint64_t round_below(uint64_t *seed, uint64_t n)
{
    return round_random(seed) % n;
}

/* --- compiling --- */

static void look_at_piece(struct round *round, const struct piece *piece)
{
    if ((piece->field == &field_seq || piece->field == &field_shuffle) &&
        piece->seq.limit < round->limit)
        round->limit = piece->seq.limit;
    if (piece->field == &field_custom && piece->own->parse == NULL)
        round->takes_any = true;
    if (piece->field != &field_date)
        return;
    for (size_t i = 0; i < piece->date.count; i++) {
        const char letter = piece->date.steps[i].conversion;

        if (letter == 'y' || letter == 'g')
            round->is_of_century = true;
    }
}

enum seqb_status round_make(struct round *round, const struct round_kind *kind,
                            const char *text, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    *round = (struct round){.text = text,
                            .limit = INT64_MAX,
                            .key = kind->key == NULL ? ROUND_KEY : kind->key};
    if (kind->zone != NULL)
        status = period_zone_open(kind->zone, &round->zone, err);
    if (status != SEQB_OK)
        return status;
    shuffle_key_make(secret, sizeof secret - 1, &round->shuffle_key);
    round->period = (struct period_rules){
        kind->unit, round->zone, kind->year_month > 0 ? kind->year_month : 1,
        kind->year_day > 0 ? kind->year_day : 1};
    round->rules = (struct template_rules){
        .key = kind->key,
        .period = kind->unit == PERIOD_NONE ? NULL : &round->period,
        .zone = round->zone,
        .ids = kind->ids,
        .shuffle_key = &round->shuffle_key,
    };
    status = template_make(text, &round->rules, &round->template, err);
    if (status != SEQB_OK)
        return status;
    for (size_t i = 0; i < round->template->piece_count; i++)
        look_at_piece(round, &round->template->pieces[i]);
    round->is_vague =
        round->rules.period == NULL &&
        date_missing(round->template->tells, PERIOD_DAY) != NULL &&
        (round->template->tells & CALENDAR) != 0;
    return SEQB_OK;
}

void round_free(struct round *round)
{
    template_free(round->template);
    period_zone_close(round->zone);
}

/* --- drawing --- */

static int64_t draw_between(uint64_t *seed, int64_t low, int64_t high)
{
    return low + (int64_t)(round_random(seed) % (uint64_t)(high - low));
}

int64_t round_draw_ms(const struct round *round, uint64_t *seed)
{
    const struct bits_layout *ids = round->rules.ids;
    int64_t from = round->is_of_century ? FROM_2001 : FROM_1970;
    int64_t to = round->is_of_century ? TO_2100 : PERIOD_MAX_MS;

    if (ids != NULL) {
        from = ids->epoch_ms > from ? ids->epoch_ms : from;
        to = bits_end_ms(ids) < to ? bits_end_ms(ids) : to;
    }
    /* Of this age more often than not. */
    if (to > TO_2100 && round_below(seed, 4) > 0)
        to = TO_2100;
    return draw_between(seed, from, to);
}

void round_set_ms(const struct round *round, int64_t ms, struct facts *out)
{
    struct period_span span;

    period_span_at(round->rules.period == NULL ? &round->template->moment
                                               : round->rules.period,
                   ms, &span);
    date_fields_of(round->template->unit, span.stamp, &out->date);
    out->stamp = (struct seqb_stamp){.ends_ms = INT64_MAX};
    if (round->rules.period != NULL)
        out->stamp =
            (struct seqb_stamp){span.stamp, span.begin_ms, span.end_ms};
}

/* 1 ... limit: of any length, at its begin and end, and where digits are
 * added. */
static int64_t draw_number(int64_t limit, uint64_t *seed)
{
    const uint64_t kind = round_below(seed, 8);
    int64_t number =
        (int64_t)((round_random(seed) >> 1) >> round_below(seed, 63));

    if (kind == 0)
        number = 1 + (int64_t)round_below(seed, 3);
    if (kind == 1)
        number = limit - (int64_t)round_below(seed, 3);
    if (kind == 2)
        number = digits_power(10, round_below(seed, 19)) - 1 +
                 (int64_t)round_below(seed, 3);
    if (number >= 1 && number <= limit)
        return number;
    return 1 + (int64_t)(round_random(seed) % (uint64_t)limit);
}

static size_t draw_value(const struct piece *piece, uint64_t *seed, char *out)
{
    size_t length = piece->min + round_below(seed, piece->max - piece->min + 1);

    if (round_below(seed, 8) == 0)
        length = piece->max;
    for (size_t i = 0; i < length;) {
        const char c = (char)round_below(seed, 128);

        if (letters_have(&piece->letters, c))
            out[i++] = c;
    }
    out[length] = '\0';
    return length;
}

void round_draw(const struct round *round, uint64_t *seed,
                struct round_draw *out)
{
    const struct template *template = round->template;
    struct facts *facts = &out->facts;

    *facts = (struct facts){.key = round->key, .shard = -1};
    facts->number = draw_number(round->limit, seed);
    if (round->rules.ids != NULL)
        facts->shard = (int64_t)round_below(
            seed, (uint64_t)bits_shard_max(round->rules.ids) + 1);
    for (size_t i = 0; i < template->param_count; i++) {
        facts->lengths[i] =
            draw_value(template->params[i], seed, out->values[i]);
        facts->params[i] = out->values[i];
    }
    round_set_ms(round, round_draw_ms(round, seed), facts);
}

/* --- writing and reading --- */

bool round_write(const struct round *round, const struct facts *facts,
                 char text[SEQB_TEXT_MAX + 2], struct seqb_error *why)
{
    const size_t most = template_length(round->template);
    struct draft draft;

    memset(text, SENTINEL, SEQB_TEXT_MAX + 2);
    if (template_begin(round->template, facts, &draft, why) != SEQB_OK ||
        template_write(&draft, text, why) != SEQB_OK)
        return false;
    if (memchr(text, '\0', most + 1) != NULL && text[most + 1] == SENTINEL)
        return true;
    (void)error_set(why, SEQB_INVALID, "its text is longer than %zu", most);
    return false;
}

static enum seqb_status read(const struct round *round, const char *text,
                             size_t length, struct facts *out,
                             struct seqb_error *why)
{
    *out = (struct facts){.key = round->key, .shard = -1};
    return template_read(round->template, text, length, out, why);
}

/* What the text that was read is to be written of. */
static void make_writable(const struct round *round, struct facts *facts)
{
    const struct template *template = round->template;
    const struct date_fields *seen = &facts->seen.fields;
    const struct bits_layout *ids = round->rules.ids;
    int64_t day = 0;

    facts->date = *seen;
    if (round->rules.period != NULL) {
        date_fields_of(template->unit, facts->stamp.digits, &facts->date);
    } else if (date_missing(template->tells, PERIOD_DAY) == NULL) {
        (void)date_stamp_of(&facts->seen, PERIOD_DAY, &day);
        date_fields_of(PERIOD_DAY, day, &facts->date);
        facts->date.hour = seen->hour;
        facts->date.minute = seen->minute;
        facts->date.second = seen->second;
    }
    if (ids != NULL && facts->shard < 0)
        facts->shard = 0;
}

static bool writes_again(const struct round *round, struct facts *facts,
                         const char *text, size_t length,
                         struct seqb_error *why)
{
    char again[SEQB_TEXT_MAX + 2];

    if (round->is_vague)
        return true;
    make_writable(round, facts);
    if (!round_write(round, facts, again, why))
        return false;
    if (strlen(again) == length && memcmp(again, text, length) == 0)
        return true;
    (void)error_set(why, SEQB_INVALID, "what was read of it is written '%s'",
                    again);
    return false;
}

static bool params_are_alike(const struct template *template,
                             const struct facts *a, const struct facts *b)
{
    for (size_t i = 0; i < template->param_count; i++) {
        if (a->lengths[i] != b->lengths[i] ||
            memcmp(a->params[i], b->params[i], a->lengths[i]) != 0)
            return false;
    }
    return true;
}

static bool compare(const struct round *round, const struct facts *wrote,
                    const struct facts *back, struct seqb_error *why)
{
    const int64_t shard = back->shard < 0 && round->rules.ids != NULL
                              ? 0 /* there is but one */
                              : back->shard;

    if (back->number == wrote->number && shard == wrote->shard &&
        memcmp(&back->stamp, &wrote->stamp, sizeof back->stamp) == 0 &&
        params_are_alike(round->template, wrote, back))
        return true;
    (void)error_set(why, SEQB_INVALID,
                    "number %lld, stamp %lld, shard %lld were written, and "
                    "read as %lld, %lld, %lld",
                    (long long)wrote->number, (long long)wrote->stamp.digits,
                    (long long)wrote->shard, (long long)back->number,
                    (long long)back->stamp.digits, (long long)shard);
    return false;
}

bool round_trip(const struct round *round, const struct round_draw *draw,
                char text[SEQB_TEXT_MAX + 2], struct seqb_error *why)
{
    struct facts back;

    return round_write(round, &draw->facts, text, why) &&
           read(round, text, strlen(text), &back, why) == SEQB_OK &&
           compare(round, &draw->facts, &back, why) &&
           writes_again(round, &back, text, strlen(text), why);
}

bool round_is_canonical(const struct round *round, const char *text,
                        size_t length, bool *is_accepted,
                        struct seqb_error *why)
{
    struct facts back;
    const enum seqb_status status = read(round, text, length, &back, why);

    *is_accepted = status == SEQB_OK;
    if (status == SEQB_OK)
        return round->takes_any ||
               writes_again(round, &back, text, length, why);
    if (status == SEQB_FOREIGN && why->text[0] != '\0')
        return true;
    (void)error_set(why, SEQB_INVALID, "it was refused with status %d",
                    (int)status);
    return false;
}

/* Mostly what is near: another digit or letter. */
static char other_character(uint64_t *seed, char c)
{
    static const char usual[] =
        LETTERS_DIGITS LETTERS_UPPER LETTERS_LOWER "-_.:+*# ";
    const uint64_t kind = round_below(seed, 16);
    char other = usual[round_below(seed, kind < 8 ? 10 : sizeof usual - 1)];

    if (kind == 15)
        other = (char)(1 + round_below(seed, 255));
    if (other != c)
        return other;
    return c == 'A' ? 'B' : 'A';
}

void round_spoil(uint64_t *seed, char text[SEQB_TEXT_MAX + 2])
{
    const size_t length = strlen(text);
    char *at = text + round_below(seed, length);
    const size_t rest = (size_t)(text + length - at);
    const uint64_t kind = round_below(seed, 16);

    if (kind == 0) {
        memmove(at, at + 1, rest);
    } else if (kind == 1 && length <= SEQB_TEXT_MAX) {
        memmove(at + 1, at, rest + 1);
        *at = other_character(seed, '\0');
    } else {
        *at = other_character(seed, *at);
    }
}
