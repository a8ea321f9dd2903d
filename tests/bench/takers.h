/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that take numbers one by one, as fast as they can, in each of the
 * ways that bench_next compares. */
#pragma once

#include <stdint.h>

#include <seqbroker/seqbroker.h>

enum taking {
    TAKE_FETCH_ADD, /* a bare atomic add on one shared counter: the limit */
    TAKE_OUTSIDE,   /* the same behind a call into a shared library */
    TAKE_NOTHING,   /* such a call alone */
    TAKE_OWN,       /* a counter in memory of the thread's own */
    TAKE_MUTEX,     /* a counter under a mutex */
    TAKE_NEXT,      /* seqb_next */
    TAKE_CURSOR     /* a seqb_cursor a thread */
};

#define TAKERS_MAX 16

/* Million numbers a second of all threads together. `sequence` may be NULL
 * where none is asked. A failure ends the program. */
double takers_rate(struct seqb_sequence *sequence, enum taking taking,
                   int threads, double seconds);
