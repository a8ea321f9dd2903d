/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a sequence may get other settings while it is served: its numbers
 * must keep their meaning, and no text may come twice. SEQB_LAYOUT, with the
 * reason for the operator, if it may not.
 */
#pragma once

#include "queue/queue_state.h"

/* The comparisons of one reload. */
struct comparison {
    const struct queue_options *options; /* that are to come */
    bool has_other_texts;                /* a sequence gets another template */

    /* The last two templates that were compared and may follow each other. Many
     * sequences share the same two. NULL: none were compared. */
    const struct template *runs;
    const struct template *wanted;
    bool is_same;
};

/* With the catalog locked. */
enum seqb_status compare_sequence(struct comparison *comparison,
                                  const struct seqb_sequence *sequence,
                                  const struct queue_sequence_options *wanted,
                                  struct seqb_error *err);

/* The same for the texts of a key whose texts have the template `runs`. */
enum seqb_status compare_texts(struct comparison *comparison, const char *key,
                               const struct template *runs,
                               const struct queue_sequence_options *wanted,
                               struct seqb_error *err);

/* Whether a sequence may change to the wanted template; `*is_same`: its
 * template does not change. A sequence that is to have no template keeps the
 * old one. If it gets one again later, that is compared with the old one. */
enum seqb_status compare_templates(struct comparison *comparison,
                                   const struct template *runs,
                                   const struct queue_sequence_options *wanted,
                                   bool *is_same, struct seqb_error *err);
