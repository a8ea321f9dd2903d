/* SPDX-License-Identifier: Apache-2.0 */
/* What can stand between @{ and }: a table of fields, each with its options
 * and what it does. The front header of this folder. */
#pragma once

#include "number/template.h"

#define OPTIONS_MAX 8

/* A word of the template. */
struct word {
    const char *text; /* not ended by 0 */
    size_t length;
    size_t column; /* where it stands, from 1 */
};

struct option {
    struct word name;
    struct word value;
};

/* A template that is being compiled. */
struct compile {
    struct template *template;
    struct seqb_error *err;
    struct word field; /* the one at hand */
    struct option options[OPTIONS_MAX];
    size_t option_count;
};

/* Fields are read from left to right in each turn. */
enum read_turn {
    READ_FIRST,
    READ_STAMPED, /* the stamp is known */
    READ_LAST     /* all facts are known */
};

struct field {
    const char *name;
    const char *const *options; /* ended by NULL */
    enum read_turn turn;        /* when it is read */
    bool is_common;             /* is alike in all texts of a draft */
    /* Fills a zeroed piece; false after compile_fail. */
    bool (*make)(struct compile *compile, struct piece *piece);
    /* Writes at most piece->max bytes, no final 0, and says how many. */
    enum seqb_status (*write)(const struct piece *piece,
                              const struct spread *spread, char *out,
                              size_t *length, struct seqb_error *err);
    /* Reads piece number i of a text into `facts`. SEQB_FOREIGN. */
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

/* A field that is built in, or NULL. */
const struct field *field_find(struct word name);

/* The i-th one, NULL past the last. */
const struct field *field_at(size_t i);

/* Of compile.c, from here to read_fail. */
bool word_equals(struct word word, const char *text);

/* Fails with "column N: what". False, for the caller to return. */
bool compile_fail(struct compile *compile, size_t column, const char *format,
                  ...) __attribute__((format(printf, 3, 4)));

/* The option of that name, or NULL. */
const struct option *compile_option(const struct compile *compile,
                                    const char *name);

/* A whole number of an option within a range; `initial` if there is no such
 * option. False after compile_fail. */
bool compile_integer(struct compile *compile, const char *name, int64_t low,
                     int64_t high, int64_t *out);

/* The index of an option's word in a list that NULL ends; `*out` stays if there
 * is no such option. False after compile_fail. */
bool compile_choice(struct compile *compile, const char *name,
                    const char *const *words, int *out);

/* Reading failed: SEQB_FOREIGN, "character 3: what". */
enum seqb_status read_fail(const struct spread *spread, size_t i,
                           struct seqb_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Of field_check.c: what is covered, from left to right; and the result of the
 * running check, whose prefix was fed before. */
void check_feed_covered(struct check *check, const struct check_piece *piece,
                        const char *text, size_t length);
void check_run(const struct draft *draft, char *out);

/* Of template_check.c: the rules of a whole template, which ends before that
 * column. */
bool template_check(struct compile *compile, size_t end);

/* Of fields.c: a registered field, or NULL. */
const struct seqb_field *custom_find(struct word name);

/* --- parameters: what the caller says of a text --- */

#define PARAM_SHARD "shard"

/* Whether a value is as long, and of such letters, as the piece has. */
bool param_fits(const struct piece *piece, const char *value, size_t length);

/* What would fit, in words. */
void param_describe(const struct piece *piece, char *out, size_t size);

/*
 * Fills in params and lengths of the facts, whose key is there, and their shard
 * unless it is; they point to the caller's values. SEQB_INVALID: one is
 * missing, unknown, or does not fit.
 */
enum seqb_status params_resolve(const struct template *template,
                                const struct seqb_param *params, size_t count,
                                struct facts *facts, struct seqb_error *err);
