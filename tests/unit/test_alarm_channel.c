/* SPDX-License-Identifier: Apache-2.0 */
/* A reload while a channel notes what became of a delivery:
 * src/daemon/alarm/channel.c, over targets of this file. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "daemon/alarm/channel.h"
#include "support/test.h"
#include "support/wrap.h"

#define PARTITION " pool=main partition=1"

/* A target that keeps the first message. */
struct keeper {
    struct alarm_target base; /* must be first */
    char first[4096];
    atomic_bool has_first;
};

static struct alarm_channel *old, *fresh;
static atomic_bool is_handed_over;

/* How many locks its thread takes until the old channel is taken over; 0: it
 * is not waited for. */
static _Thread_local int locks_left;

WRAPPED(int, pthread_mutex_lock, pthread_mutex_t *lock)
{
    if (locks_left > 0 && --locks_left == 0) {
        alarm_channel_take_over(fresh, old, false);
        atomic_store(&is_handed_over, true);
    }
    return __real_pthread_mutex_lock(lock);
}

static void await(const atomic_bool *event)
{
    while (!atomic_load(event))
        usleep(1000);
}

static enum alarm_outcome keep(struct alarm_target *target, const char *body,
                               struct alarm_wait *wait, struct seqb_error *why)
{
    struct keeper *keeper = (struct keeper *)target;

    (void)wait;
    (void)why;
    if (!atomic_load(&keeper->has_first))
        strncat(keeper->first, body, sizeof keeper->first - 1);
    atomic_store(&keeper->has_first, true);
    return ALARM_DELIVERED;
}

/* The second lock after the delivery is the first one that is taken when it may
 * be noted already where it was. */
static enum alarm_outcome deliver(struct alarm_target *target, const char *body,
                                  struct alarm_wait *wait,
                                  struct seqb_error *why)
{
    locks_left = 2;
    return keep(target, body, wait, why);
}

static void leave(struct alarm_target *target)
{
    (void)target;
}

static struct alarm_channel *channel_of(struct keeper *keeper)
{
    const struct alarm_channel_options options = {
        .target = &keeper->base,
        .rules = {SEQB_LOG_WARN, 3600000, 3600000, false},
        .limits = {3600000, 1, 1, 3600000},
        .sender = {"shop", "host"}};
    struct alarm_channel *channel = alarm_channel_open(&options);

    assert_non_null(channel);
    return channel;
}

static void see(struct alarm_channel *channel, enum seqb_log_level level,
                const char *line)
{
    alarm_channel_see(channel, &(struct alarm_event){level, 5, line});
}

/* Else the new channel waits for the outcome for ever. */
TEST(outcome_of_a_delivery_is_noted_where_its_alarm_is)
{
    static struct keeper before = {.base = {"before", deliver, leave}};
    static struct keeper after = {.base = {"after", keep, leave}};

    old = channel_of(&before);
    fresh = channel_of(&after);
    see(old, SEQB_LOG_WARN, "event=quarantined" PARTITION);
    await(&is_handed_over);
    alarm_channel_stop(old);
    alarm_channel_close(old);
    see(fresh, SEQB_LOG_INFO, "event=up" PARTITION);
    see(fresh, SEQB_LOG_WARN, "event=cold"); /* comes second, if both come */
    await(&after.has_first);
    alarm_channel_stop(fresh);
    alarm_channel_close(fresh);
    assert_non_null(strstr(after.first, "\"state\":\"resolved\""));
}
