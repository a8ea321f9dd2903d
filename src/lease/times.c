/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The times of a worker id in a pool with neighbours. Each ms of it is leased
 * once, ever: see docs/decisions/0034-worker-ids-of-neighbours.md. The rows
 * then only keep brokers from asking for the same id.
 */
#include "lease/worker_lease.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

/* Leases the ms that follow `above`, up to the row's `upto_ms`. */
static enum seqb_status span_take(struct worker_lease *lease, int64_t above,
                                  struct ha_ticket *out, struct seqb_error *err)
{
    const int64_t patience_ms =
        2 * ha_text_patience_ms(lease->pool, lease->lessor);
    char name[32];
    const struct ha_span span = {
        .place = {(size_t)lease->options->pool, lease->lessor},
        .name = name,
        .above = above,
        .want = lease->row.upto_ms - above};

    (void)text_format(name, sizeof name, "worker-%lld", (long long)lease->id);
    return ha_ticket_span(lease->ha, &span,
                          min_of(clock_now_ms() + patience_ms, lease->until_ms),
                          out, err);
}

enum seqb_status lease_times(struct worker_lease *lease, struct seqb_error *err)
{
    const int64_t above = max_of(lease->times_ms, lease->row.renewed_ms);
    struct ha_ticket span;
    enum seqb_status status;

    if (!lease->self.is_exact || lease->row.upto_ms <= above)
        return SEQB_OK;
    status = span_take(lease, above, &span, err);
    if (status != SEQB_OK)
        return status;
    if (span.value != above + 1) {
        lease->times_ms = span.value + span.count - 1; /* for the row that
                                                          returns the id */
        return error_set(err, SEQB_AGAIN,
                         "the times of worker id %lld are ahead of the clock",
                         (long long)lease->id);
    }
    if (above > lease->times_ms)
        lease->above_ms = above;
    lease->times_ms = span.value + span.count - 1;
    return SEQB_OK;
}
