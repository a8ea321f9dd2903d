/* SPDX-License-Identifier: Apache-2.0 */
/* What connections owe, and who queues; see fairness.h. */
#include "daemon/loop/fairness.h"

static int64_t at_most(int64_t value, int64_t most)
{
    return value < most ? value : most;
}

static int64_t load_left(const struct load *load, int64_t now_us)
{
    const int64_t paid_us = (now_us - load->counted_us) / LOAD_PART;

    return paid_us < load->owed_us ? load->owed_us - paid_us : 0;
}

static int64_t turn_cost(const struct load_turn *turn)
{
    return at_most(turn->us, LOAD_TURN_MOST_US) + turn->errors * LOAD_ERROR_US +
           turn->other_commands * LOAD_OTHER_US +
           (turn->is_long ? LOAD_LONG_US : 0) +
           (turn->is_unfinished ? LOAD_UNFINISHED_US : 0);
}

void load_add(struct load *load, const struct load_turn *turn, int64_t now_us)
{
    load->owed_us =
        at_most(load_left(load, now_us) + turn_cost(turn), LOAD_MOST_US);
    load->counted_us = now_us;
}

bool load_is_heavy(const struct load *load, int64_t now_us)
{
    return load->owed_us > LOAD_ALLOWED_US &&
           load_left(load, now_us) > LOAD_ALLOWED_US;
}

bool fairness_admits(const struct fairness *fairness, const struct load *load,
                     bool is_queue_empty, int64_t now_us)
{
    if (fairness->waiting_us != 0 &&
        now_us - fairness->waiting_us > FAIRNESS_PATIENCE_US)
        return false;
    if (!load_is_heavy(load, now_us))
        return true;
    return is_queue_empty && fairness->used_us < FAIRNESS_SLICE_US;
}

bool fairness_looks(const struct fairness *fairness, int64_t now_us)
{
    return fairness->waiting_us != 0 &&
           now_us - fairness->waiting_us > FAIRNESS_LOOK_US;
}

void fairness_use(struct fairness *fairness, int64_t us)
{
    fairness->used_us += us;
}

bool fairness_goes_on(int turns, int64_t begun_us, int64_t now_us)
{
    return turns < FAIRNESS_TURNS && now_us - begun_us < FAIRNESS_SLICE_US;
}
