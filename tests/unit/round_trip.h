/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Templates tried out: compiled for a kind of sequence, given drawn numbers to
 * write, and read back. What went wrong is said in words, so that tests and
 * fuzzers can both use it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number/template.h"

/* A kind of sequence. */
struct round_kind {
    const char *key; /* NULL: the template is for any, ROUND_KEY is its own */
    enum period_unit unit;
    const char *zone;   /* NULL: UTC */
    int32_t year_month; /* in which its year begins; 0: 1 January */
    int32_t year_day;
    const struct bits_layout *ids; /* NULL: none */
};

#define ROUND_KEY "eu:order_7.b-1"

/* Ids of seconds with and without a shard; of milliseconds' kin, of hours. */
extern const struct bits_layout round_ids;
extern const struct bits_layout round_ids_alone;
extern const struct bits_layout round_ids_hour;

/* A template and what it is for; must stay where it is. */
struct round {
    struct template *template;
    const char *text; /* that it was compiled of */
    const char *key;
    struct period_rules period;
    struct period_zone *zone;
    struct template_rules rules;
    struct shuffle_key shuffle_key;
    int64_t limit;      /* of its numbers */
    bool is_of_century; /* its dates are of 2000 ... 2099 */
    bool takes_any;     /* it has fields that take any text for theirs */
    bool is_vague;      /* its dates tell weeks or the like, and not the day */
};

/* Numbers from a seed, by splitmix64; and one below n. */
uint64_t round_random(uint64_t *seed);
uint64_t round_below(uint64_t *seed, uint64_t n);

/* Compiles. round_free may follow also if that failed. */
enum seqb_status round_make(struct round *round, const struct round_kind *kind,
                            const char *text, struct seqb_error *err);
void round_free(struct round *round);

/* What a text is to be made of. */
struct round_draw {
    struct facts facts;
    char values[SEQB_PARAM_MAX][SEQB_PARAM_VALUE_MAX + 1];
};

/* Draws number, time, shard and parameters, edges more often than not; and the
 * time alone, from an instant. */
void round_draw(const struct round *round, uint64_t *seed,
                struct round_draw *out);
int64_t round_draw_ms(const struct round *round, uint64_t *seed);
void round_set_ms(const struct round *round, int64_t ms, struct facts *out);

/* The text of it; false, and why, if there is none, or it is too long. */
bool round_write(const struct round *round, const struct facts *facts,
                 char text[SEQB_TEXT_MAX + 2], struct seqb_error *why);

/*
 * Writes it, reads it back, compares, writes what was read. False, and why,
 * unless all is as it should be.
 */
bool round_trip(const struct round *round, const struct round_draw *draw,
                char text[SEQB_TEXT_MAX + 2], struct seqb_error *why);

/*
 * That a text is refused with a reason, or is written again as it is when its
 * facts are. `*is_accepted` says which.
 */
bool round_is_canonical(const struct round *round, const char *text,
                        size_t length, bool *is_accepted,
                        struct seqb_error *why);

/* Changes one character of a text that is not empty, by another one that may
 * stand in one; seldom puts one in, or takes one out. */
void round_spoil(uint64_t *seed, char text[SEQB_TEXT_MAX + 2]);
