/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of simulated brokers, and what they make of the answers. */
#include "lease_broker.h"

#include <string.h>

#include "platform/text.h"

uint64_t dice(struct schedule *schedule, uint64_t sides)
{
    schedule->random ^= schedule->random << 13;
    schedule->random ^= schedule->random >> 7;
    schedule->random ^= schedule->random << 17;
    return (schedule->random >> 11) % sides;
}

int64_t boot_of(const struct schedule *schedule, const struct broker *broker)
{
    return 1 + schedule->now * broker->boot_ppm / 1000000;
}

int64_t clock_of(const struct schedule *schedule, const struct broker *broker)
{
    return START_MS + schedule->now + broker->skew_ms;
}

/* --- calls --- */

static char *row_at(struct schedule *schedule, const struct broker *broker)
{
    switch (broker->phase) {
    case LOOK_ORIGIN:
    case BIND_ORIGIN:
        return schedule->authority.origin;
    case LOOK:
    case TAKE:
        return schedule->authority.rows[broker->next];
    default:
        return schedule->authority.rows[broker->id];
    }
}

static void call_send(struct schedule *schedule, struct broker *broker,
                      enum phase phase, const char *expected, const char *text)
{
    struct call *call = &broker->call;

    broker->phase = phase;
    *call = (struct call){.is_sent = true,
                          .sent_boot = boot_of(schedule, broker),
                          .is_lost = dice(schedule, 30) == 0};
    call->done_at = schedule->now + (int64_t)dice(schedule, 30);
    call->answer_at = call->done_at + (int64_t)dice(schedule, 30);
    if (dice(schedule, 20) == 0)
        call->answer_at += (int64_t)dice(schedule, 600);
    if (expected != NULL)
        (void)text_copy(call->expected, sizeof call->expected, expected);
    if (text != NULL)
        (void)text_copy(call->text, sizeof call->text, text);
}

void call_do(struct schedule *schedule, struct broker *broker)
{
    struct call *call = &broker->call;
    char *row;

    if (!call->is_sent || call->is_done || schedule->now < call->done_at)
        return;
    call->is_done = true;
    call->has_failed = broker->generation != schedule->generation;
    if (call->has_failed)
        return;
    row = row_at(schedule, broker);
    if (call->text[0] != '\0' && strcmp(row, call->expected) == 0)
        (void)text_copy(row, LEASE_TEXT_SIZE, call->text);
    (void)text_copy(call->standing, sizeof call->standing, row);
    call->has_failed = call->is_lost;
}

/* --- what a broker does --- */

static void broker_lose(struct broker *broker)
{
    broker->id = -1;
    broker->lease.until_ms = 0;
}

static void broker_connect(struct schedule *schedule, struct broker *broker)
{
    if (broker->generation == schedule->generation)
        return;
    broker->generation = schedule->generation;
    (void)text_format(broker->self.origin, sizeof broker->self.origin, "o%d",
                      (int)schedule->generation);
    broker->origin_observation = (struct observation){.is_seen = false};
    memset(broker->observations, 0, sizeof broker->observations);
    broker_lose(broker);
}

static void broker_gain(struct broker *broker)
{
    const int64_t low_ms =
        broker->used_ms > broker->above_ms ? broker->used_ms : broker->above_ms;
    int64_t above_ms =
        low_ms < broker->row.upto_ms ? low_ms : broker->row.upto_ms;

    if (broker->worker != broker->id && above_ms < broker->last.time_ms)
        above_ms = broker->last.time_ms;
    broker->worker = broker->id;
    broker->lease = (struct flake_lease){above_ms, broker->row.upto_ms,
                                         broker->call.sent_boot + LEASE_MS};
}

static void send_row(struct schedule *schedule, struct broker *broker,
                     enum phase phase)
{
    char expected[LEASE_TEXT_SIZE];
    char text[LEASE_TEXT_SIZE];
    const int64_t wall_ms = clock_of(schedule, broker);
    const int64_t used_ms =
        broker->used_ms > broker->above_ms ? broker->used_ms : broker->above_ms;
    const struct lease_row row =
        phase == GIVE_BACK
            ? lease_given_back(&broker->row, used_ms, wall_ms)
            : lease_renewed(&broker->row, &broker->self, wall_ms);

    if (phase == GIVE_BACK)
        broker->lease.until_ms = 0; /* its engine is closed by then */
    lease_write(&broker->row, expected, sizeof expected);
    lease_write(&row, text, sizeof text);
    call_send(schedule, broker, phase, expected, text);
}

void broker_begin(struct schedule *schedule, struct broker *broker)
{
    broker_connect(schedule, broker);
    if (broker->id >= 0 && dice(schedule, 40) == 0) {
        send_row(schedule, broker, GIVE_BACK);
    } else if (broker->id >= 0) {
        send_row(schedule, broker, RENEW);
    } else {
        broker->next = 0;
        call_send(schedule, broker, LOOK_ORIGIN, NULL, NULL);
    }
}

static void saw_row_of_ours(struct schedule *schedule, struct broker *broker)
{
    struct lease_row row;

    if (strcmp(broker->call.standing, broker->call.text) == 0) {
        (void)lease_read(broker->call.standing, &broker->row);
        if (broker->phase == GIVE_BACK)
            broker_lose(broker);
        else
            broker_gain(broker);
    } else if (lease_read(broker->call.standing, &row) && row.is_held &&
               row.key == broker->self.key) {
        broker->row = row;
        send_row(schedule, broker, broker->phase);
    } else {
        broker_lose(broker);
    }
}

static void saw_origin(struct schedule *schedule, struct broker *broker)
{
    char next[LEASE_TEXT_SIZE];
    char text[LEASE_TEXT_SIZE];
    int64_t left_ms;
    int64_t unchanged_ms;

    (void)text_copy(text, sizeof text, broker->call.standing);
    unchanged_ms = lease_watch(&broker->origin_observation, text,
                               boot_of(schedule, broker));
    switch (
        lease_check_origin(text, unchanged_ms, &broker->self, &left_ms, next)) {
    case LEASE_ORIGIN_OPEN:
        call_send(schedule, broker, LOOK, NULL, NULL);
        break;
    case LEASE_ORIGIN_SWAP:
        call_send(schedule, broker, BIND_ORIGIN, text, next);
        break;
    default:
        break;
    }
}

static void send_take(struct schedule *schedule, struct broker *broker,
                      const char *standing)
{
    struct lease_row before;
    char text[LEASE_TEXT_SIZE];
    char expected[LEASE_TEXT_SIZE];
    const bool was_there = lease_read(standing, &before);

    broker->row = lease_taken(was_there ? &before : NULL, &broker->self,
                              clock_of(schedule, broker));
    broker->above_ms = was_there ? before.upto_ms : 0;
    (void)text_copy(expected, sizeof expected, standing);
    lease_write(&broker->row, text, sizeof text);
    call_send(schedule, broker, TAKE, expected, text);
}

static void look_on(struct schedule *schedule, struct broker *broker)
{
    if (++broker->next < IDS)
        call_send(schedule, broker, LOOK, NULL, NULL);
}

static void saw_row(struct schedule *schedule, struct broker *broker)
{
    struct call *call = &broker->call;
    const int64_t unchanged_ms =
        lease_watch(&broker->observations[broker->next], call->standing,
                    boot_of(schedule, broker));
    int64_t left_ms;

    switch (lease_evaluate(call->standing, unchanged_ms, &broker->self,
                           clock_of(schedule, broker), &left_ms)) {
    case LEASE_TAKE:
        send_take(schedule, broker, call->standing);
        break;
    case LEASE_OURS: /* nothing is known of who had it before */
        broker->id = broker->next;
        (void)lease_read(call->standing, &broker->row);
        broker->above_ms = broker->row.upto_ms;
        send_row(schedule, broker, RENEW);
        break;
    default:
        look_on(schedule, broker);
        break;
    }
}

static void saw_taken(struct schedule *schedule, struct broker *broker)
{
    if (strcmp(broker->call.standing, broker->call.text) != 0) {
        look_on(schedule, broker);
        return;
    }
    broker->id = broker->next;
    broker_gain(broker);
}

void broker_answer(struct schedule *schedule, struct broker *broker)
{
    struct call *call = &broker->call;

    if (!call->is_sent || !call->is_done || schedule->now < call->answer_at)
        return;
    call->is_sent = false;
    broker->due = schedule->now + (broker->id >= 0 ? LEASE_MS / 3 : REST_MS) +
                  (int64_t)dice(schedule, 50);
    if (call->has_failed) {
        broker->due = schedule->now + REST_MS;
        return;
    }
    switch (broker->phase) {
    case RENEW:
    case GIVE_BACK:
        saw_row_of_ours(schedule, broker);
        break;
    case LOOK_ORIGIN:
    case BIND_ORIGIN:
        saw_origin(schedule, broker);
        break;
    case LOOK:
        saw_row(schedule, broker);
        break;
    case TAKE:
        saw_taken(schedule, broker);
        break;
    }
}
