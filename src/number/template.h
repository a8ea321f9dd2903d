/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled template: its pieces from left to right, each static text or a
 * field. Private to this folder.
 *
 * template.c compiles, shape.c tells where pieces of varying length end,
 * template_text.c writes texts, parse.c reads them; what a field is stands in
 * the field_*.c.
 */
#pragma once

#include "number/check_digit.h"
#include "number/date/date.h"
#include "number/number.h"
#include "number/stamped.h"

#define PIECES_MAX 32
#define SHAPE_END  (-1)

struct field;

/* Sets of characters, a byte each. */

#define LETTERS_DIGITS "0123456789"
#define LETTERS_UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LETTERS_LOWER  "abcdefghijklmnopqrstuvwxyz"

#define LETTERS_WORDS 4 /* of 64 bits */

struct letters {
    uint64_t bits[LETTERS_WORDS];
};

static inline bool letters_have(const struct letters *letters, char c)
{
    const unsigned char at = (unsigned char)c;

    return (letters->bits[at / 64] >> at % 64 & 1) != 0;
}

static inline void letters_add(struct letters *letters, const char *text,
                               size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char at = (unsigned char)text[i];

        letters->bits[at / 64] |= UINT64_C(1) << at % 64;
    }
}

static inline void letters_join(struct letters *to, const struct letters *from)
{
    for (size_t i = 0; i < LETTERS_WORDS; i++)
        to->bits[i] |= from->bits[i];
}

static inline bool letters_meet(const struct letters *a,
                                const struct letters *b)
{
    for (size_t i = 0; i < LETTERS_WORDS; i++) {
        if ((a->bits[i] & b->bits[i]) != 0)
            return true;
    }
    return false;
}

/* What a text is made of; and what was read of one. */
struct facts {
    const char *key;
    int64_t number; /* 0: not known yet */
    struct seqb_stamp stamp;
    struct date_fields date; /* to be written, if there is no period */
    struct date_seen seen;   /* of what was read */
    int64_t shard;           /* -1: none, or not known yet */
    const char *params[SEQB_PARAM_MAX]; /* by their index; NULL: not known */
    size_t lengths[SEQB_PARAM_MAX];
};

struct text_piece {
    size_t at; /* in the template's text */
    size_t length;
};

struct seq_piece {
    int32_t base;
    size_t width;             /* at least so many digits; 0: none was said */
    int64_t limit;            /* the greatest number that is written */
    int64_t wide;             /* the least number of more digits than `min` */
    struct shuffle *shuffles; /* of width and each one above; NULL: none */
};

struct param_piece {
    char name[SEQB_PARAM_NAME_MAX + 1];
    char value[SEQB_PARAM_VALUE_MAX + 1]; /* the default; "" is none */
    size_t index;
};

enum check_over { OVER_SEQ, OVER_DIGITS, OVER_ALL };

struct check_piece {
    enum check_algorithm algorithm;
    enum check_over over;
    bool skips_letters; /* that the algorithm would read */
    bool is_alone; /* all other pieces are covered: no need to look which */
};

struct piece {
    const struct field *field;
    size_t column;
    int32_t phase;
    size_t min; /* bytes */
    size_t max;
    struct letters letters; /* that it may have */
    /* How it ends, if it varies: so many bytes of pieces of fixed width come
     * behind it, and then this character, or the text's end. */
    size_t behind;
    int until;
    union {
        struct text_piece text;
        struct seq_piece seq;
        struct date_format date;
        struct param_piece param;
        struct check_piece check;
        const struct seqb_field *own;
    };
};

struct template
{
    struct template_rules rules;
    struct period_rules moment; /* of dates without a period */
    enum period_unit unit;      /* of the stamps that are written */
    unsigned tells;             /* of a date, of enum date_part */
    bool has_date;
    uint8_t late[PIECES_MAX]; /* pieces of later phases, in their order */
    size_t late_count;
    size_t length; /* of the longest text */
    size_t piece_count;
    size_t prefix_count;  /* pieces at its begin that no number changes ... */
    size_t stamped_count; /* ... of which the first only the stamp changes */
    size_t stamped_starts[STAMPED_PIECES + 1]; /* as a spread has them */
    struct stamped *stamped; /* what these were last; NULL: there are none */
    size_t running; /* a check that covers all others; or piece_count */
    size_t param_count;
    const struct piece *params[SEQB_PARAM_MAX]; /* by their index */
    char text[SEQB_TEXT_MAX];                   /* static text, of all pieces */
    size_t text_length;
    struct piece pieces[]; /* piece_count; while it is compiled, PIECES_MAX */
};

/* A text that is written, or was split: piece i is from starts[i] up to
 * starts[i + 1]. */
struct spread {
    const struct template *template;
    const struct facts *facts;
    char *text;
    size_t starts[PIECES_MAX + 1];
};

/* Texts that differ in their numbers only: what they have in common at their
 * begin is written once. */
struct draft {
    struct spread spread;
    union {
        struct {
            struct check check; /* the running one, of the prefix */
            char prefix[SEQB_TEXT_MAX];
        };
        union stamped_begin begin; /* of both, what is kept */
    };
};

_Static_assert(offsetof(struct draft, prefix) ==
                   offsetof(struct draft, begin.text),
               "what is kept of a draft is where the draft has it");

/*
 * Of template_text.c: begins texts of these facts, of which only the number,
 * and without a period the date, may change from one to the next.
 * SEQB_EXHAUSTED: the date does not fit.
 */
enum seqb_status template_begin(const struct template *template,
                                const struct facts *facts, struct draft *out,
                                struct seqb_error *err);

/* Writes the text of the facts as they are now, at most template_length, and a
 * final 0. SEQB_EXHAUSTED: the number does not fit. */
enum seqb_status template_write(struct draft *draft, char *out,
                                struct seqb_error *err);

/* Of parse.c: reads a text. SEQB_FOREIGN, with the reason. */
enum seqb_status template_read(const struct template *template,
                               const char *text, size_t length,
                               struct facts *out, struct seqb_error *err);

/* Of shape.c: where each piece of varying length ends. NULL; or the first of
 * two of which cannot be told which has what. */
const struct piece *shape_find(struct template *template);

/* The same: whether each text could still be split in one way only if every
 * seq and shuffle had any number of digits. */
bool shape_is_loose(const struct template *template);

/* The same: where the pieces of a text are; false if they cannot be so long. */
bool shape_split(const struct template *template, size_t length,
                 struct spread *spread);

/* Of fields/seq.c: whether it is a seq or a shuffle. */
bool piece_is_number(const struct piece *piece);

static inline bool piece_varies(const struct piece *piece)
{
    return piece->min < piece->max;
}
