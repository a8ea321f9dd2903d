/* SPDX-License-Identifier: Apache-2.0 */
/* What can be written between @{ and }: a table of fields, each with its
 * options and functions. This is the front header of the folder. */
#pragma once

#include "number/template.h"

#define OPTIONS_MAX 8

/* A word of the template. */
struct word {
    const char *text; /* not terminated by a 0 */
    size_t length;
    size_t column; /* its position in the template, from 1 */
};

struct option {
    struct word name;
    struct word value;
};

/* A template that is being compiled. */
struct compile {
    struct template *template;
    struct seqb_error *err;
    struct word field; /* the current field */
    struct option options[OPTIONS_MAX];
    size_t option_count;
};

/* Each turn reads its fields from left to right. */
enum read_turn {
    READ_FIRST,
    READ_STAMPED, /* the stamp is known */
    READ_LAST     /* all facts are known */
};

struct field {
    const char *name;
    const char *const *options; /* terminated by NULL */
    enum read_turn turn;        /* when it is read */
    bool is_common;             /* its text is the same for all texts of a
                                   draft */
    /* Fills a zeroed piece. False after compile_fail. */
    bool (*make)(struct compile *compile, struct piece *piece);
    /* Writes at most piece->max bytes, without a final 0, and sets
     * `*length`. */
    enum seqb_status (*write)(const struct piece *piece,
                              const struct spread *spread, char *out,
                              size_t *length, struct seqb_error *err);
    /* Reads piece i of a text into `facts`. SEQB_FOREIGN. */
    enum seqb_status (*read)(const struct spread *spread, size_t i,
                             struct facts *facts, struct seqb_error *err);
};

extern const struct field field_text; /* static text */
extern const struct field field_seq;
extern const struct field field_shuffle;
extern const struct field field_shard;
extern const struct field field_date;
extern const struct field field_param;
extern const struct field field_key;
extern const struct field field_check;
extern const struct field field_custom; /* any registered one */

/* A built-in field, or NULL. */
const struct field *field_find(struct word name);

/* The i-th built-in field; NULL past the last. */
const struct field *field_at(size_t i);

/* The functions from here to read_fail are in compile.c. */
bool word_equals(struct word word, const char *text);

/* Reports "column N: what". Returns false, for the caller to return. */
bool compile_fail(struct compile *compile, size_t column, const char *format,
                  ...) __attribute__((format(printf, 3, 4)));

/* The option with this name, or NULL. */
const struct option *compile_option(const struct compile *compile,
                                    const char *name);

/* The whole number that an option gives, within a range; `initial` if the
 * option is missing. False after compile_fail. */
bool compile_integer(struct compile *compile, const char *name, int64_t low,
                     int64_t high, int64_t *out);

/* The index of an option's word in a list terminated by NULL; `*out` keeps its
 * value if the option is missing. False after compile_fail. */
bool compile_choice(struct compile *compile, const char *name,
                    const char *const *words, int *out);

/* Reports a failure to read: SEQB_FOREIGN, "character 3: what". */
enum seqb_status read_fail(const struct spread *spread, size_t i,
                           struct seqb_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Of fields/check.c: check_feed_digits adds only the digits of a part, for an
 * algorithm that would read letters, too. check_run completes the running
 * check, which was fed with the prefix before. */
void check_feed_digits(struct check *check, const char *text, size_t length);
void check_run(const struct draft *draft, char *out);

/* Adds a part that the check covers, from left to right. */
static inline void check_feed_covered(struct check *check,
                                      const struct check_piece *piece,
                                      const char *text, size_t length)
{
    if (piece->skips_letters)
        check_feed_digits(check, text, length);
    else
        check_feed(check, text, length);
}

/* Of template_check.c: checks the rules of a whole template. `end` is the
 * column after its last character. */
bool template_check(struct compile *compile, size_t end);

/* Of fields.c: a registered field, or NULL. */
const struct seqb_field *custom_find(struct word name);

/* --- parameters: the caller's values --- */

#define PARAM_SHARD "shard"

/* Whether a value has the length and the characters that the piece allows. */
bool param_fits(const struct piece *piece, const char *value, size_t length);

/* Describes in words what would fit. */
void param_describe(const struct piece *piece, char *out, size_t size);

/*
 * Sets params and lengths of the facts, whose key is set, and the shard unless
 * it is set. They point to the caller's values. SEQB_INVALID: a parameter is
 * missing, unknown, or does not fit.
 */
enum seqb_status params_resolve(const struct template *template,
                                const struct seqb_param *params, size_t count,
                                struct facts *facts, struct seqb_error *err);
