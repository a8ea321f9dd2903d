/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/reload/compare.h"

#include <string.h>

#include "platform/error.h"

static bool is_same_period(const struct queue_sequence_options *a,
                           const struct queue_sequence_options *b)
{
    if (a->period == NULL || b->period == NULL)
        return a->period == b->period;
    return a->period->unit == b->period->unit &&
           a->period->year_month == b->period->year_month &&
           a->period->year_day == b->period->year_day &&
           (a->ids == NULL) == (b->ids == NULL);
}

static const char *claim_of(const struct queue_sequence_options *options)
{
    return options->attributes == NULL ? "" : options->attributes;
}

/* Whether numbers mean the same with both. The settings were compared before.
 * The claims also show what lies behind the settings, as the key of a
 * shuffle. */
static bool is_same_layout(const struct queue_sequence_options *a,
                           const struct queue_sequence_options *b)
{
    return a->pool == b->pool && a->memory_bits == b->memory_bits &&
           a->window_bits == b->window_bits && is_same_period(a, b) &&
           (a->snowflake == NULL) == (b->snowflake == NULL) &&
           strcmp(claim_of(a), claim_of(b)) == 0;
}

enum seqb_status compare_templates(struct comparison *comparison,
                                   const struct template *runs,
                                   const struct queue_sequence_options *wanted,
                                   bool *is_same, struct seqb_error *err)
{
    const struct template *next = wanted->template;

    *is_same = true;
    if (next == NULL || next == runs)
        return SEQB_OK;
    if (runs == NULL)
        return error_set(err, SEQB_LAYOUT, "it has none now");
    if (comparison->runs != runs || comparison->wanted != next) {
        const enum seqb_status status =
            comparison->options->compare_templates(runs, next, is_same, err);

        if (status != SEQB_OK)
            return status;
        comparison->runs = runs;
        comparison->wanted = next;
        comparison->is_same = *is_same;
    }
    *is_same = comparison->is_same;
    return SEQB_OK;
}

enum seqb_status compare_texts(struct comparison *comparison, const char *key,
                               const struct template *runs,
                               const struct queue_sequence_options *wanted,
                               struct seqb_error *err)
{
    struct seqb_error why = {.text = ""};
    bool is_same;

    if (compare_templates(comparison, runs, wanted, &is_same, &why) ==
        SEQB_OK) {
        comparison->has_other_texts = comparison->has_other_texts || !is_same;
        return SEQB_OK;
    }
    return error_set(err, SEQB_LAYOUT,
                     "sequence %s cannot get another template while it is "
                     "served: %s; nothing was applied: put its template back, "
                     "begin a new sequence, or restart the broker if "
                     "docs/numbers.md calls the change safe",
                     key, why.text);
}

enum seqb_status compare_sequence(struct comparison *comparison,
                                  const struct seqb_sequence *sequence,
                                  const struct queue_sequence_options *wanted,
                                  struct seqb_error *err)
{
    if (is_same_layout(sequence->options, wanted))
        return compare_texts(comparison, sequence->key,
                             queue_template(sequence), wanted, err);
    return error_set(err, SEQB_LAYOUT,
                     "sequence %s is served with other settings of its layout "
                     "than the topology has now; nothing was applied: put "
                     "them back, run seqctl migrate, or begin a new sequence",
                     sequence->key);
}
