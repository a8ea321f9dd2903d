/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as texts: a template is compiled once; it makes texts of numbers, and
 * reads them back. This is the front header of the folder.
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

/* The properties of the template's sequence. All that they point to must
 * outlive the template. */
struct template_rules {
    const char *key;                   /* NULL: the template serves any key of
                                          auto_sequences */
    const struct period_rules *period; /* NULL: the sequence has no period */
    const struct period_zone *zone; /* of dates if there is no period; NULL is
                                       UTC */
    const struct bits_layout *ids;  /* NULL: the numbers are not ids made of
                                       time */
    const struct shuffle_key *shuffle_key; /* NULL: there is no key */
};

/*
 * Compiles a template as docs/numbers.md says. SEQB_INVALID: "column 12: ..."
 * and what was expected; also if two numbers could get the same text, or if a
 * text could be read in two ways. SEQB_NO_MEMORY. Free `*out` with
 * template_free.
 */
enum seqb_status template_make(const char *text,
                               const struct template_rules *rules,
                               struct template **out, struct seqb_error *err);
void template_free(struct template *template); /* NULL is allowed */

/* Bytes of the longest text, without the final 0. */
size_t template_length(const struct template *template);

/* Whether the texts contain the sequence's key. A template without the key
 * serves every sequence with the same other rules. */
bool template_has_key(const struct template *template);

/* The base of the shuffled digits; 0: the template shuffles none. */
int32_t template_shuffle_base(const struct template *template);

/* The greatest number that fits the template's width. The text of a greater
 * number is longer, or it is refused. INT64_MAX: every number fits. */
int64_t template_limit(const struct template *template);

/* The greatest number that has a text. INT64_MAX: every number has one. */
int64_t template_max(const struct template *template);

/*
 * Says whether a sequence may change from one template to another while it
 * serves. Neither is NULL. SEQB_OK if no text of one is a text of the other for
 * another number, stamp or shard; `*is_same` says that both write and read the
 * same texts. Otherwise SEQB_LAYOUT, with what could be repeated.
 *
 * The allowed changes are an equivalence relation: a sequence that may change
 * from A to B and from B to C may change from A to C. So texts stay unique
 * whatever templates the brokers of a sequence use, or have used, as long as
 * each change was allowed. Zones are not compared.
 */
enum seqb_status template_compare(const struct template *runs,
                                  const struct template *next, bool *is_same,
                                  struct seqb_error *err);

/* How a pool makes numbers of the counters of its partitions. */
struct number_pool {
    int32_t bits;        /* 2^bits partitions */
    int32_t memory_bits; /* of the sequence */
    uint64_t windowed;   /* a bit for each partition; set if its counter counts
                            in windows */
    int32_t window_bits;
};

/* How many of the numbers 1 ... `limit` the pool can issue in all, if the
 * counters begin with 1 or with the first window. INT64_MAX for the limit
 * INT64_MAX. */
int64_t number_capacity(const struct number_pool *pool, int64_t limit);

/* Checks whether the template, or NULL for none, can make texts with the
 * options' size, parameters and shard. SEQB_INVALID: number_take would return
 * it. */
enum seqb_status number_check(const struct template *template, const char *key,
                              const struct seqb_take_options *options,
                              struct seqb_error *err);

/* Takes numbers and writes their texts: see seqb_take_texts. The caller checked
 * the flags of the options. `*taken` is set if any text was made, whatever is
 * returned. */
enum seqb_status number_take(struct seqb_sequence *sequence,
                             const struct seqb_take_options *options, char *out,
                             struct seqb_taken *taken, struct seqb_error *err);

/* The same for one text, with the sequence's deadline. */
enum seqb_status number_take_one(struct seqb_sequence *sequence,
                                 const struct seqb_take_options *options,
                                 char *out, struct seqb_error *err);
enum seqb_status number_parse(const struct seqb_sequence *sequence,
                              const char *text, struct seqb_parsed *out,
                              struct seqb_error *err);
/* number_parse for a sequence that is not open. */
enum seqb_status number_parse_as(const struct template *template,
                                 const char *key, const char *text,
                                 struct seqb_parsed *out,
                                 struct seqb_error *err);
enum seqb_status number_register(const struct seqb_field *field,
                                 struct seqb_error *err);
