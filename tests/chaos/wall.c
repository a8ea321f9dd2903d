/* SPDX-License-Identifier: Apache-2.0 */
/* See wall.h. */
#include "wall.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "support/test.h"
#include "support/wrap.h"

#define HOUR_S INT64_C(3600)
#define DAY_S  (24 * HOUR_S)
#define YEAR_S (365 * DAY_S)

static _Atomic int64_t *ahead_s; /* shared by all processes; NULL: 0 */

WRAPPED(int, clock_gettime, clockid_t clock, struct timespec *out)
{
    const int result = __real_clock_gettime(clock, out);

    if (clock == CLOCK_REALTIME && ahead_s != NULL)
        out->tv_sec += atomic_load(ahead_s);
    return result;
}

void wall_reset(void)
{
    if (ahead_s == NULL) {
        ahead_s = mmap(NULL, sizeof *ahead_s, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        assert_true(ahead_s != MAP_FAILED);
    }
    atomic_store(ahead_s, 0);
}

void wall_step(struct chaos *chaos)
{
    static const int64_t steps[] = {1,  HOUR_S,  DAY_S,  YEAR_S,
                                    -1, -HOUR_S, -DAY_S, -YEAR_S};

    atomic_store(ahead_s, steps[chaos_random(chaos, COUNT_OF(steps))]);
}
