/* SPDX-License-Identifier: Apache-2.0 */
/* The sequences that refused a text. Most queues have none, so a sequence gets
 * its entry with the first one, and keeps it. */
#include "queue/width.h"

#include <stdlib.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "platform/text_list.h"
#include "queue/guarded_clock/guarded_clock.h"
#include "queue/sequence.h"

#define REASON_SIZE 256

struct width {
    struct width *next;
    struct seqb_sequence *sequence; /* constant */
    struct refused_text refused;    /* the last one */
    bool is_used_up;                /* that was reported, and its end was not */
};

bool width_is_used_up(const struct refused_text *refused, int64_t text_max,
                      int64_t time_ms)
{
    return text_max > 0 && refused->number > text_max &&
           time_ms < refused->stamp.ends_ms;
}

void width_explain(const struct refused_text *refused, int64_t text_max,
                   char *out, size_t size)
{
    *out = '\0';
    if (refused->stamp.digits != 0)
        (void)text_append(out, size, "stamp %lld is used up: ",
                          (long long)refused->stamp.digits);
    (void)text_append(out, size,
                      "number %lld does not fit its template, which ends at "
                      "%lld, and texts of such numbers are refused%s: reload "
                      "a wider template, see \"Changing a template\" in "
                      "docs/numbers.md",
                      (long long)refused->number, (long long)text_max,
                      refused->stamp.digits != 0 ? " until the next stamp"
                                                 : "");
}

void widths_init(struct widths *widths)
{
    widths->first = NULL;
    pthread_mutex_init(&widths->lock, NULL);
}

void widths_fini(struct widths *widths)
{
    while (widths->first != NULL) {
        struct width *width = widths->first;

        widths->first = width->next;
        free(width);
    }
    pthread_mutex_destroy(&widths->lock);
}

/* With the lock held. NULL if out of memory: then the state is not shown. */
static struct width *width_of(struct seqb_sequence *sequence)
{
    struct widths *widths = &sequence->context->widths;
    struct width *width = atomic_load(&sequence->width);

    if (width != NULL)
        return width;
    width = calloc(1, sizeof *width);
    if (width == NULL)
        return NULL;
    width->sequence = sequence;
    width->next = widths->first;
    widths->first = width;
    atomic_store(&sequence->width, width);
    return width;
}

/* Whether it says more than the last one: that may be of a later stamp, and
 * this call a slow one. */
static bool is_further(const struct refused_text *last, int64_t number,
                       const struct seqb_stamp *stamp)
{
    return stamp->digits > last->stamp.digits ||
           (stamp->digits == last->stamp.digits && number > last->number);
}

void queue_refused_text(struct seqb_sequence *sequence, int64_t number,
                        const struct seqb_stamp *stamp)
{
    struct widths *widths = &sequence->context->widths;
    const int64_t text_max = sequence_texts(sequence)->text_max;
    struct width *width;
    bool is_news;

    if (text_max == 0 || number <= text_max)
        return; /* its text was refused for another reason */
    pthread_mutex_lock(&widths->lock);
    width = width_of(sequence);
    is_news = width != NULL && !width->is_used_up;
    if (width != NULL && is_further(&width->refused, number, stamp))
        width->refused = (struct refused_text){number, *stamp};
    pthread_mutex_unlock(&widths->lock);
    if (is_news)
        sequence_wake(sequence);
}

/* While the clock gives no time, no stamp ends. */
static int64_t time_now(const struct seqb_sequence *sequence)
{
    struct guarded_clock *clock = sequence->context->clock;
    int64_t time_ms;

    if (sequence->options->period == NULL ||
        guarded_clock_now(clock, &time_ms, NULL) != SEQB_OK)
        return INT64_MIN;
    return time_ms;
}

static void report_end(const struct seqb_sequence *sequence,
                       const struct refused_text *refused, int64_t text_max)
{
    const char *reason = "its stamp is over";

    if (sequence_is_removed(sequence))
        reason = HA_UNLISTED;
    else if (refused->number <= text_max || text_max == 0)
        reason = "its template is wide enough again";
    ha_counter_report(sequence->counter, SEQB_EVENT_COUNTER_RECOVERED, reason);
}

void width_poll(struct seqb_sequence *sequence)
{
    struct width *width = atomic_load(&sequence->width);
    struct widths *widths = &sequence->context->widths;
    const int64_t text_max = sequence_texts(sequence)->text_max;
    struct seqb_sequence_status status;
    struct refused_text refused;
    char reason[REASON_SIZE];
    int64_t time_ms;
    bool was;
    bool is;

    if (width == NULL)
        return;
    time_ms = time_now(sequence);
    pthread_mutex_lock(&widths->lock);
    refused = width->refused;
    was = width->is_used_up;
    is = !sequence_is_removed(sequence) &&
         width_is_used_up(&refused, text_max, time_ms);
    width->is_used_up = is;
    pthread_mutex_unlock(&widths->lock);
    if (is != was) /* so that the counts show it at once, too */
        sequence->source->status(sequence, clock_now_ms(), &status);
    width_explain(&refused, text_max, reason, sizeof reason);
    if (is && !was)
        ha_counter_report(sequence->counter, SEQB_EVENT_EXHAUSTED, reason);
    if (was && !is)
        report_end(sequence, &refused, text_max);
}

bool widths_describe(struct widths *widths, struct text_list *why)
{
    bool is_any = false;

    pthread_mutex_lock(&widths->lock);
    for (const struct width *at = widths->first; at != NULL; at = at->next) {
        char words[SEQB_KEY_MAX + REASON_SIZE];
        char reason[REASON_SIZE];

        if (!at->is_used_up)
            continue;
        width_explain(&at->refused, sequence_texts(at->sequence)->text_max,
                      reason, sizeof reason);
        (void)text_format(words, sizeof words, "sequence %s: %s",
                          at->sequence->key, reason);
        text_list_add(why, words);
        is_any = true;
    }
    pthread_mutex_unlock(&widths->lock);
    return is_any;
}
