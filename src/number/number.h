/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as texts: templates, compiled once, that make a text of a number and
 * read it back. The front header of this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/seqbroker.h>

#include "number/shuffle.h"
#include "period/period.h"

/* A compiled template. Constant: any thread may use it. */
struct template;

/* What the sequence is that it is for. All that is pointed to must outlive the
 * template. */
struct template_rules {
    const char *key;                   /* NULL: of auto_sequences, any */
    const struct period_rules *period; /* NULL: it has none */
    const struct period_zone *zone; /* of dates where there is no period; NULL
                                       is UTC */
    const struct bits_layout *ids;  /* NULL: its numbers are none */
    const struct shuffle_key *shuffle_key; /* NULL: it has none */
};

/*
 * Compiles a text as docs/numbers.md says. SEQB_INVALID: "column 12: ..." and
 * what was expected; also if two numbers could get one text, which no template
 * may do, or if a text could be read in two ways. SEQB_NO_MEMORY. `*out` is
 * for template_free.
 */
enum seqb_status template_make(const char *text,
                               const struct template_rules *rules,
                               struct template **out, struct seqb_error *err);
void template_free(struct template *template); /* takes NULL */

/* Bytes of the longest text, without a final 0. */
size_t template_length(const struct template *template);

/* Whether its texts have the sequence's key in them. One that has not serves
 * any sequence with the same other rules. */
bool template_has_key(const struct template *template);

/* The base of its shuffled digits; 0: it shuffles none. */
int32_t template_shuffle_base(const struct template *template);

/* The greatest number that its width is for: above it the text widens or is
 * refused. INT64_MAX: none is too great. */
int64_t template_limit(const struct template *template);

/*
 * Whether a sequence may go from one template to another, neither of them
 * NULL, while it serves: SEQB_OK if no text of one is a text of the other for
 * another number, stamp or shard; `*is_same` says that they write and read the
 * same. Else SEQB_LAYOUT, with what could come twice.
 *
 * What is allowed is an equivalence: a sequence that goes from A to B and from
 * B to C may go from A to C. So texts stay unique whatever templates the
 * brokers of a sequence have, and had, as long as each change was allowed.
 * Zones are not compared.
 */
enum seqb_status template_compare(const struct template *runs,
                                  const struct template *next, bool *is_same,
                                  struct seqb_error *err);

/* What a pool makes of the counters of its partitions. */
struct number_pool {
    int32_t bits;        /* 2^bits partitions */
    int32_t memory_bits; /* of the sequence */
    uint64_t windowed;   /* partitions that count in windows, a bit each */
    int32_t window_bits;
};

/* How many numbers from 1 to `limit` the pool can give, every one of them: from
 * counters that begin with 1, or with the first window. INT64_MAX for the limit
 * INT64_MAX. */
int64_t number_capacity(const struct number_pool *pool, int64_t limit);

/* Whether texts of a template, NULL for none, are ever made with the options'
 * size, parameters and shard: SEQB_INVALID as of number_take. */
enum seqb_status number_check(const struct template *template, const char *key,
                              const struct seqb_take_options *options,
                              struct seqb_error *err);

/* As seqb_take_texts, of options whose flags were checked. `*taken` is set if
 * any text was: its stamp and its count, whatever is returned. */
enum seqb_status number_take(struct seqb_sequence *sequence,
                             const struct seqb_take_options *options, char *out,
                             struct seqb_taken *taken, struct seqb_error *err);

/* The same of one text that is waited for until the usual deadline. */
enum seqb_status number_take_one(struct seqb_sequence *sequence,
                                 const struct seqb_take_options *options,
                                 char *out, struct seqb_error *err);
enum seqb_status number_parse(const struct seqb_sequence *sequence,
                              const char *text, struct seqb_parsed *out,
                              struct seqb_error *err);
/* The same of a sequence that need not be there. */
enum seqb_status number_parse_as(const struct template *template,
                                 const char *key, const char *text,
                                 struct seqb_parsed *out,
                                 struct seqb_error *err);
enum seqb_status number_register(const struct seqb_field *field,
                                 struct seqb_error *err);
