/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences whose numbers no longer fit their templates, so that their texts
 * are refused. A refused text begins this state. The next stamp ends it, or a
 * reload with a wider template, or one that takes the sequence out. Private to
 * this folder.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/seqbroker.h>

struct text_list;
struct width;

/* A text that was refused. */
struct refused_text {
    int64_t number;
    struct seqb_stamp stamp; /* ends_ms is INT64_MAX if there is no period */
};

/* Pure: whether such texts are still refused at `time_ms` by a template whose
 * greatest number is `text_max`, see queue_sequence_options. */
bool width_is_used_up(const struct refused_text *refused, int64_t text_max,
                      int64_t time_ms);

/* What happened and what to do, in words. */
void width_explain(const struct refused_text *refused, int64_t text_max,
                   char *out, size_t size);

/* The sequences of a queue that refused a text. */
struct widths {
    pthread_mutex_t lock; /* guards the list, and what is in it */
    struct width *first;
};

void widths_init(struct widths *widths);
void widths_fini(struct widths *widths); /* after the refill thread ended */

/* On the refill thread, after the sequence was polled: reports the begin and
 * the end of the state. Hold no lock. */
void width_poll(struct seqb_sequence *sequence);

/* Adds a reason for each sequence in that state. True if there is one. */
bool widths_describe(struct widths *widths, struct text_list *why);
