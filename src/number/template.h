/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled template: its pieces from left to right. Each is static text or a
 * field. Private to this folder.
 *
 * template.c compiles, shape.c finds where pieces of varying length end,
 * template_text.c writes texts, parse.c reads them. The fields are in fields/.
 */
#pragma once

#include "number/check_digit.h"
#include "number/date/date.h"
#include "number/number.h"
#include "number/stamped.h"

#define PIECES_MAX 32
#define SHAPE_END  (-1)

struct field;

/* Sets of characters, with a bit for each byte value. */

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

/* What a text is made of; when reading, what was found in a text. */
struct facts {
    const char *key;
    int64_t number; /* 0: not known yet */
    struct seqb_stamp stamp;
    struct date_fields date; /* the date to write, if there is no period */
    struct date_seen seen;   /* the dates that were read */
    int64_t shard;           /* -1: none, or not known yet */
    const char *params[SEQB_PARAM_MAX]; /* by parameter index; NULL: not
                                           known */
    size_t lengths[SEQB_PARAM_MAX];
};

struct text_piece {
    size_t at; /* in the template's text */
    size_t length;
};

struct seq_piece {
    int32_t base;
    size_t width;             /* the least number of digits; 0: no width was
                                 given */
    int64_t limit;            /* the greatest number that can be written */
    int64_t wide;             /* the least number with more digits than
                                 piece->min */
    struct shuffle *shuffles; /* for the width and each greater one; NULL: no
                                 shuffle */
};

struct param_piece {
    char name[SEQB_PARAM_NAME_MAX + 1];
    char value[SEQB_PARAM_VALUE_MAX + 1]; /* the default; "": there is none */
    size_t index;
};

enum check_over { OVER_SEQ, OVER_DIGITS, OVER_ALL };

struct check_piece {
    enum check_algorithm algorithm;
    enum check_over over;
    bool skips_letters; /* skips letters although the algorithm reads them */
    bool is_alone; /* all other pieces are covered: feed_pieces is not needed */
};

struct piece {
    const struct field *field;
    size_t column;
    int32_t phase;
    size_t min; /* bytes */
    size_t max;
    struct letters letters; /* the characters that it may contain */
    /* Where a piece of varying length ends: `behind` bytes of pieces of fixed
     * width follow it, and then the character `until`, or the end of the
     * text. */
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
    struct period_rules moment; /* for dates without a period */
    enum period_unit unit;      /* the unit of the stamps that are written */
    unsigned tells;             /* the parts of a date that the texts contain: a
                                   set of enum date_part */
    bool has_date;
    uint8_t late[PIECES_MAX]; /* pieces of later phases, sorted by phase */
    size_t late_count;
    size_t length; /* of the longest text */
    size_t piece_count;
    size_t prefix_count;  /* leading pieces, the same for all numbers ... */
    size_t stamped_count; /* ... and, among them, the leading ones that depend
                             only on the stamp */
    size_t stamped_starts[STAMPED_PIECES + 1]; /* their starts, as in struct
                                                  spread */
    struct stamped *stamped; /* the cache of their last text; NULL: none */
    size_t running;     /* the index of a check that covers all other pieces;
                           piece_count: none */
    bool ends_in_check; /* that check is the last piece, and the only one of a
                           later phase */
    bool is_bare;       /* texts have neither parameters nor a shard */
    size_t param_count;
    const struct piece *params[SEQB_PARAM_MAX]; /* by parameter index */
    char text[SEQB_TEXT_MAX];                   /* static text, of all pieces */
    size_t text_length;
    struct piece pieces[]; /* piece_count of them; PIECES_MAX while compiling */
};

/* A text that is being written, or was split: piece i is from starts[i] to
 * starts[i + 1]. */
struct spread {
    const struct template *template;
    const struct facts *facts;
    char *text;
    size_t starts[PIECES_MAX + 1];
};

/* For texts that differ only in their numbers: the begin that they share is
 * written once. */
struct draft {
    struct spread spread;
    union {
        struct {
            struct check check; /* the running check, after the prefix */
            char prefix[SEQB_TEXT_MAX];
        };
        union stamped_begin begin; /* both in the form that is cached */
    };
};

_Static_assert(offsetof(struct draft, prefix) ==
                   offsetof(struct draft, begin.text),
               "what is kept of a draft is where the draft has it");

/*
 * Of template_text.c: begins texts of these facts. From one text to the next
 * only the number may change, and without a period the date. SEQB_EXHAUSTED:
 * the date does not fit.
 */
enum seqb_status template_begin(const struct template *template,
                                const struct facts *facts, struct draft *out,
                                struct seqb_error *err);

/* Writes the text of the current facts, at most template_length bytes and a
 * final 0. SEQB_EXHAUSTED: the number does not fit. */
enum seqb_status template_write(struct draft *draft, char *out,
                                struct seqb_error *err);

/* Of parse.c: reads a text. SEQB_FOREIGN, with the reason. */
enum seqb_status template_read(const struct template *template,
                               const char *text, size_t length,
                               struct facts *out, struct seqb_error *err);

/* Of shape.c: finds where each piece of varying length ends. Returns NULL, or
 * the first of two pieces whose boundary is ambiguous. */
const struct piece *shape_find(struct template *template);

/* Of shape.c: whether each text could still be split in only one way if every
 * seq and shuffle had any number of digits. */
bool shape_is_loose(const struct template *template);

/* Of shape.c: finds the pieces of a text. False if they cannot have its
 * length. */
bool shape_split(const struct template *template, size_t length,
                 struct spread *spread);

/* Of fields/seq.c: whether the piece is a seq or a shuffle. */
bool piece_is_number(const struct piece *piece);

static inline bool piece_varies(const struct piece *piece)
{
    return piece->min < piece->max;
}
