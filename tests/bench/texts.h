/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that take numbers as texts from a full ring, in each of the ways
 * that bench_number compares. */
#pragma once

#include <stdint.h>

#include <seqbroker/admin.h>
#include <seqbroker/seqbroker.h>

#define TEXTS_AT_ONCE 1000

enum text_way {
    TEXTS_MANY,      /* seqb_take_texts of TEXTS_AT_ONCE */
    TEXTS_ONE,       /* the same of one */
    TEXTS_HAND_MANY, /* seqb_take of as many, each written by hand */
    TEXTS_HAND_ONE   /* the same of one */
};

/* A sequence of the template of by_hand.h, and its broker. */
struct text_source {
    struct seqb_broker *broker;
    struct seqb_sequence *sequence;
    const char *key;
};

/* Takes so many that the ring grows to its full size; none of it is timed. */
void texts_warm(const struct text_source *source);

/* The ns of a text, the median over the bursts of all threads, which begin
 * each at one moment, when the ring holds twice what they are going to take. A
 * failure ends the program. */
double texts_ns(const struct text_source *source, enum text_way way,
                int threads, double seconds);

/* Ends the program if texts of the sequence are not those that are written by
 * hand of the same numbers and stamps. */
void texts_compare(const struct text_source *source);
