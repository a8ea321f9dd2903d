/* SPDX-License-Identifier: Apache-2.0 */
/* A reload in progress; private to this folder. */
#pragma once

#include "queue/queue_state.h"
#include "queue/reload/compare.h"

/* Sequences that are looked at while the catalog is locked once. */
#define RELOAD_PART 256

struct queue_reload {
    struct queue *queue;
    const struct queue_options *options;
    const struct queue_refusals *refusals; /* NULL: nobody listens */
    struct seqb_error refused; /* the first refusal; SEQB_OK: none yet */
    struct comparison comparison;
    /* By index in the catalog, for the first `known` sequences: the options
     * that the sequence gets; NULL: it is removed. */
    const struct queue_sequence_options **wanted;
    size_t known;
    size_t likely; /* where the next key probably is in the catalog */
    struct seqb_sequence **added; /* NULL: the reload is only checked */
    size_t added_count;
    size_t old;    /* count of the catalog before those were added */
    bool is_known; /* workers and the agenda may know those added */
    bool is_kept;  /* sequences point to the options */
};

/* Gives each sequence the settings that it is to have. Cannot fail. */
void reload_set_all(struct queue_reload *reload);
