/* SPDX-License-Identifier: Apache-2.0 */
#include "lease_script.h"

#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/fork_wiped.h"
#include "platform/ticks.h"
#include "queue/guarded_clock/guarded_clock.h"
#include "support/wrap.h"

struct lease_script script;

void script_at(int64_t time_ms, int64_t boot_ms)
{
    script.wall_us = time_ms * 1000 + 250;
    script.boot_us = boot_ms * 1000;
}

/* The rate of the ticks stays what the test says. */
WRAPPED(void, ticks_measure, struct ticks *ticks)
{
    script.measured = ticks;
}

WRAPPED(int64_t, clock_wall_us, void)
{
    return script.wall_us;
}

WRAPPED(int64_t, clock_boot_us, void)
{
    return script.boot_us;
}

WRAPPED(int64_t, clock_boot_ms, void)
{
    return script.boot_us / 1000;
}

WRAPPED(enum seqb_status, guarded_clock_now, struct guarded_clock *clock,
        int64_t *out, struct seqb_error *err)
{
    (void)clock;
    (void)err;
    *out = script.guarded_ms;
    return script.guarded;
}

WRAPPED(void *, fork_wiped_take, struct fork_wiped *memory, size_t size)
{
    return script.lacks_memory ? NULL : __real_fork_wiped_take(memory, size);
}

WRAPPED(void *, calloc, size_t count, size_t size)
{
    return script.lacks_memory ? NULL : __real_calloc(count, size);
}

WRAPPED(enum seqb_status, worker_lease_new, struct ha *ha,
        const struct lease_options *options, struct worker_lease **out,
        struct seqb_error *err)
{
    struct worker_lease *lease = &script.leases[script.made++];

    (void)ha;
    (void)options;
    *out = lease;
    return lease->status == SEQB_OK ? SEQB_OK
                                    : error_set(err, lease->status, HELD);
}

WRAPPED(void, worker_lease_free, struct worker_lease *lease)
{
    script.freed += lease != NULL;
}

WRAPPED(enum seqb_status, worker_lease_start, struct worker_lease *lease,
        struct seqb_error *err)
{
    (void)err;
    lease->started = ++script.starts;
    return lease->status;
}

WRAPPED(enum seqb_status, worker_lease_await, struct worker_lease *lease,
        int64_t until_ms, struct seqb_error *err)
{
    (void)err;
    assert_int_equal(until_ms, 77);
    lease->awaited = ++script.starts;
    return lease->is_ended ? SEQB_LAYOUT : SEQB_OK;
}

WRAPPED(void, worker_lease_end, struct worker_lease *lease)
{
    lease->ends++;
}

WRAPPED(const char *, worker_lease_pool, const struct worker_lease *lease)
{
    return lease == script.leases ? "main" : "other";
}

WRAPPED(enum seqb_status, worker_lease_get, struct worker_lease *lease,
        struct worker_id *out, struct seqb_error *err)
{
    if (lease->status != SEQB_OK)
        return error_set(err, lease->status, HELD);
    *out = lease->id;
    return SEQB_OK;
}

WRAPPED(bool, worker_lease_use, struct worker_lease *lease,
        const struct worker_id *id, int64_t time_ms)
{
    assert_int_equal(id->worker, lease->id.worker);
    lease->uses++;
    lease->used_ms = time_ms;
    return !lease->is_ended;
}

WRAPPED(void, worker_lease_hurry, struct worker_lease *lease,
        const struct worker_id *id)
{
    assert_int_equal(id->worker, lease->id.worker);
    lease->hurries++;
}

WRAPPED(enum seqb_status, worker_lease_list, const struct worker_lease *lease,
        struct seqb_worker *out, size_t capacity, size_t *count,
        struct seqb_error *err)
{
    (void)err;
    assert_int_equal(capacity, 9);
    out[(*count)++].worker = (int32_t)lease->id.worker;
    return lease->status;
}

struct lease_options *script_begin(void)
{
    static struct lease_options options[2];
    const struct worker_id id = {.worker = 7,
                                 .above_ms = EPOCH,
                                 .upto_ms = NOW + 100,
                                 .until_ms = UNTIL};

    memset(&script, 0, sizeof script);
    script.leases[0].id = script.leases[1].id = id;
    script.leases[1].id.worker = 8;
    script_at(NOW, BOOT);
    options[0] = options[1] =
        (struct lease_options){.layout = {EPOCH, 1, 41, 10, 2}, /* 4 ids a ms */
                               .datacenter_bits = 2,
                               .datacenter = 3,
                               .lease_ms = 1000};
    return options;
}
