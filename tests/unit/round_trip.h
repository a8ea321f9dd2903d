/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Round trips of templates: compiles one for a kind of sequence, writes random
 * numbers, and reads them back. Errors are texts, so that tests and fuzzers can
 * both use this.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number/template.h"

/* A kind of sequence. */
struct round_kind {
    const char *key; /* NULL: for any key; texts have ROUND_KEY then */
    enum period_unit unit;
    const char *zone;   /* NULL: UTC */
    int32_t year_month; /* first month of its year; 0: 1 January */
    int32_t year_day;
    const struct bits_layout *ids; /* NULL: none */
};

#define ROUND_KEY "eu:order_7.b-1"

/* Ids of seconds with a shard, of minutes without a shard, and of hours with a
 * shard. */
extern const struct bits_layout round_ids;
extern const struct bits_layout round_ids_alone;
extern const struct bits_layout round_ids_hour;

/* A template and its kind. It must not be moved. */
struct round {
    struct template *template;
    const char *text; /* the template's text */
    const char *key;
    struct period_rules period;
    struct period_zone *zone;
    struct template_rules rules;
    struct shuffle_key shuffle_key;
    int64_t limit;      /* of its numbers */
    bool is_of_century; /* its dates are in 2000 ... 2099 */
    bool takes_any;     /* has fields that accept any text when parsing */
    bool is_vague;      /* its dates give weeks or the like, but not days */
};

/* round_random is splitmix64 over `*seed`. round_below returns a number below
 * n. */
uint64_t round_random(uint64_t *seed);
uint64_t round_below(uint64_t *seed, uint64_t n);

/* Compiles a template. Call round_free even if it failed. */
enum seqb_status round_make(struct round *round, const struct round_kind *kind,
                            const char *text, struct seqb_error *err);
void round_free(struct round *round);

/* What a text is made of. */
struct round_draw {
    struct facts facts;
    char values[SEQB_PARAM_MAX][SEQB_PARAM_VALUE_MAX + 1];
};

/* round_draw draws number, time, shard and parameters, most often at edges.
 * round_draw_ms draws a time. round_set_ms sets the time of facts. */
void round_draw(const struct round *round, uint64_t *seed,
                struct round_draw *out);
int64_t round_draw_ms(const struct round *round, uint64_t *seed);
void round_set_ms(const struct round *round, int64_t ms, struct facts *out);

/* Writes the text. False, with the reason in `why`, if there is none, or if it
 * is too long. */
bool round_write(const struct round *round, const struct facts *facts,
                 char text[SEQB_TEXT_MAX + 2], struct seqb_error *why);

/*
 * Writes the text, reads it back, compares, and writes again what was read.
 * False, with the reason in `why`, unless everything is right.
 */
bool round_trip(const struct round *round, const struct round_draw *draw,
                char text[SEQB_TEXT_MAX + 2], struct seqb_error *why);

/*
 * Checks that a text is either refused with a reason, or equal to the text
 * written from its facts. `*is_accepted` says which.
 */
bool round_is_canonical(const struct round *round, const char *text,
                        size_t length, bool *is_accepted,
                        struct seqb_error *why);

/* Replaces one character of a text that is not empty by another valid one.
 * Sometimes it inserts or removes one instead. */
void round_spoil(uint64_t *seed, char text[SEQB_TEXT_MAX + 2]);
