/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of the clock at the start. After that the guard checks it. */
#include "queue/guarded_clock/check.h"

#include "platform/error.h"
#include "platform/text.h"
#include "queue/guarded_clock/text.h"

enum seqb_status clock_check_set(struct guard_reading now,
                                 struct seqb_error *err)
{
    char date[CLOCK_WORD_SIZE];

    if (now.wall_ms >= GUARD_SANE_MS)
        return SEQB_OK;
    clock_date_text(now.wall_ms, date, sizeof date);
    return error_set(err, SEQB_CLOCK,
                     "the machine's clock says %s: it is not set; set it, then "
                     "start again",
                     date);
}

enum seqb_status clock_check_ahead(const struct guard *guard,
                                   struct guard_reading now,
                                   struct seqb_error *err)
{
    const int64_t ahead_ms = guard_ahead(guard, now);
    char span[CLOCK_WORD_SIZE];
    char most[CLOCK_WORD_SIZE];

    if (ahead_ms <= guard->rules.max_ahead_ms)
        return SEQB_OK;
    clock_span_text(ahead_ms, span, sizeof span);
    clock_span_text(guard->rules.max_ahead_ms, most, sizeof most);
    return error_set(err, SEQB_CLOCK,
                     "the machine's clock is %s ahead of the stores' clocks, "
                     "more than max_ahead (%s): set it; if it is right and a "
                     "store's is not, set that one",
                     span, most);
}

enum seqb_status clock_check_behind(const struct guard *guard,
                                    const struct queue_clock_options *options,
                                    bool is_of_store, struct guard_reading now,
                                    struct seqb_error *err)
{
    const int64_t behind_ms = guard->issued_ms - now.wall_ms;
    char span[CLOCK_WORD_SIZE];
    char most[CLOCK_WORD_SIZE];
    char date[CLOCK_WORD_SIZE];

    if (behind_ms <= guard->rules.max_rollback_ms)
        return SEQB_OK;
    clock_span_text(behind_ms, span, sizeof span);
    clock_span_text(guard->rules.max_rollback_ms, most, sizeof most);
    clock_date_text(guard->issued_ms, date, sizeof date);
    return error_set(
        err, SEQB_CLOCK,
        "the machine's clock is %s behind the last stamp of broker %s, more "
        "than max_rollback (%s): set the clock; that stamp began at %s by "
        "what %s keeps; if that is wrong, %s",
        span, options->broker, most, date,
        is_of_store ? "the store of clock_store" : options->path,
        is_of_store ? "give the broker another name, since it is never lowered"
                    : "stop all brokers of this name, then remove the file");
}
