/* SPDX-License-Identifier: Apache-2.0 */
/* What a clock that is stepped may do, and must; see trial.h. */
#include "trial.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "support/test.h"

#define TOPOLOGY_SIZE 4096
#define ROUND_MS      2    /* libfaketime reckons with fractions of seconds */
#define KEPT_MS       2000 /* a run keeps no stamp farther ahead of its clock */
#define MENDED_MS     50
#define AWAY_MS       1000 /* from where a clock is too far ahead */
#define ID_TIME_SHIFT 31   /* bits below the time */

static const char topology_form[] =
    "broker = { name = \"stepped\"; open_timeout = \"60s\";\n"
    "  on_rollback = \"%s\"; max_rollback = \"2s\"; max_ahead = \"10s\"; };\n"
    "%s\n"
    "daemon = { stop_timeout = \"5m\"; };\n" /* a slow disk is no failure */
    "sequences = (\n"
    "  { key = \"tick\"; period = \"second\"; deadline = \"60s\"; },\n"
    "  { key = \"local\"; period = \"second\"; deadline = \"60s\";\n"
    "    time_zone = \"Europe/Berlin\"; },\n"
    "  { key = \"daily\"; period = \"day\"; deadline = \"60s\";\n"
    "    time_zone = \"Europe/Berlin\"; },\n"
    "  { key = \"id\"; deadline = \"60s\"; memory_bits = 0;\n"
    "    ids = { epoch = \"1970-01-01\"; time = 32; unit = \"s\";\n"
    "            shard = 12; counter = 19; }; }\n"
    ");\n";

static const struct {
    const char *command;
    int shift;
} keys[TRIAL_KEYS] = {
    [TRIAL_TICK] = {"SEQ.NEXT tick STAMP COUNT 5", 0},
    [TRIAL_LOCAL] = {"SEQ.NEXT local STAMP COUNT 5", 0},
    [TRIAL_DAILY] = {"SEQ.NEXT daily STAMP COUNT 5", 0},
    [TRIAL_ID] = {"SEQ.NEXT id SHARD 7 COUNT 5", ID_TIME_SHIFT},
};

/* --- what the clock's rules say --- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* How far back the clock may be. */
static int64_t rollback_ms(const struct trial *trial)
{
    return trial->refuses ? 0 : TRIAL_MAX_ROLLBACK_MS;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool is_too_far_ahead(const struct trial *trial)
{
    return trial->is_witnessed && trial->daemon.offset_ms > TRIAL_MAX_AHEAD_MS;
}

/* Whether numbers may be refused by what was read at `real_ms` or later: only
 * if something may have been issued, or kept, that the clock is behind. */
static bool may_refuse(const struct trial *trial, int64_t real_ms,
                       int64_t allowed_ms)
{
    return real_ms + trial->believed_ms - ROUND_MS <
           larger(trial->ceiling_ms, trial->kept_ms) - allowed_ms;
}

/* Whether they must be, by what was read at `real_ms` or earlier. */
static bool must_refuse(int64_t seen_ms, const struct trial *trial,
                        int64_t real_ms, int64_t allowed_ms)
{
    return real_ms + trial->believed_ms + ROUND_MS < seen_ms - allowed_ms;
}

/* The begin of a second's stamp in UTC. */
static int64_t begin_of(int64_t digits)
{
    struct tm parts = {
        .tm_year = (int)(digits / INT64_C(10000000000)) - 1900,
        .tm_mon = (int)(digits / 100000000 % 100) - 1,
        .tm_mday = (int)(digits / 1000000 % 100),
        .tm_hour = (int)(digits / 10000 % 100),
        .tm_min = (int)(digits / 100 % 100),
        .tm_sec = (int)(digits % 100),
    };

    return (int64_t)timegm(&parts) * 1000;
}

/* --- the clock --- */

int64_t trial_offset_of(int64_t wall_ms)
{
    return wall_ms - real_now_ms();
}

/* The daemon may have read the clock just before it was changed. */
static void ceiling_raise(struct trial *trial)
{
    trial->ceiling_ms =
        larger(trial->ceiling_ms, real_now_ms() + trial->believed_ms);
}

void trial_step(struct trial *trial, int64_t offset_ms)
{
    stepped_set(&trial->daemon, offset_ms);
    ceiling_raise(trial);
    /* One that is not believed is no reason to stay behind the stores'. */
    trial->believed_ms =
        is_too_far_ahead(trial) ? larger(trial->believed_ms, 0) : offset_ms;
    trial->steps++;
}

void trial_mend(struct trial *trial)
{
    int64_t past_ms;
    int64_t offset_ms;

    ceiling_raise(trial);
    past_ms = trial->ceiling_ms;
    /* Who holds may stay behind what was kept; before the eyes of a store each
     * start would lead farther ahead of it. */
    if (!trial->is_witnessed)
        past_ms = larger(past_ms, trial->kept_ms);
    offset_ms = trial_offset_of(past_ms) + MENDED_MS;
    if (trial->is_witnessed)
        offset_ms = least(larger(offset_ms, 0), TRIAL_MAX_AHEAD_MS - AWAY_MS);
    trial_step(trial, offset_ms);
}

/* --- the daemon --- */

void trial_stop(struct trial *trial, int signal)
{
    stepped_stop(&trial->daemon, signal);
    ceiling_raise(trial);
    trial->kept_ms = trial->ceiling_ms + KEPT_MS;
}

void trial_start(struct trial *trial)
{
    const int64_t before_ms = real_now_ms();
    const bool serves = stepped_start(&trial->daemon);

    trial->starts++;
    if (serves) {
        assert_false(is_too_far_ahead(trial));
        assert_false(must_refuse(trial->seen_ms, trial, real_now_ms(),
                                 TRIAL_MAX_ROLLBACK_MS));
        return;
    }
    trial->starts_refused++;
    assert_true(is_too_far_ahead(trial) ||
                may_refuse(trial, before_ms, TRIAL_MAX_ROLLBACK_MS));
    trial_mend(trial);
    if (!stepped_start(&trial->daemon))
        fail_msg("its clock was set, and it does not start: %s",
                 trial->daemon.said);
}

/* --- the numbers --- */

static void tick_check(struct trial *trial, enum taken taken, int64_t seen_ms,
                       int64_t before_ms)
{
    const struct taker *tick = &trial->probes[TRIAL_TICK];
    const int64_t after_ms = real_now_ms();

    if (taken == TAKEN_CLOCK) {
        trial->refusals++;
        if (!may_refuse(trial, before_ms, rollback_ms(trial)))
            fail_msg("refused for nothing: %s", tick->error);
        return;
    }
    if (taken != TAKEN_NUMBERS)
        fail_msg("no answer: %s", tick->error);
    assert_false(must_refuse(seen_ms, trial, after_ms, rollback_ms(trial)));
    trial->answers++;
    trial->seen_ms = begin_of(tick->stamp);
    trial->held += trial->seen_ms > after_ms + trial->believed_ms + ROUND_MS;
    trial->unbelieved += is_too_far_ahead(trial);
}

/*
 * Has the daemon look at its clock: what it believes of one that leaps ahead
 * is reckoned from its last look, which takes part in no answer while the clock
 * is within a stamp. Tells whether it warns of the clock.
 */
static bool look(struct trial *trial)
{
    struct taker *tick = &trial->probes[TRIAL_TICK];
    redisReply *reply = taker_ask(tick, "SEQ.HEALTH");
    bool warns;

    assert_int_equal(reply->type, REDIS_REPLY_ARRAY);
    assert_int_equal(reply->elements, 6);
    assert_string_equal(reply->element[4]->str, "warning");
    warns = reply->element[5]->len > 0;
    freeReplyObject(reply);
    return warns;
}

void trial_probe(struct trial *trial)
{
    const int64_t seen_ms = trial->seen_ms;
    const int64_t before_ms = real_now_ms();
    const bool warns = look(trial);
    const enum taken taken = taker_take(&trial->probes[TRIAL_TICK]);

    tick_check(trial, taken, seen_ms, before_ms);
    /* It may have caught up since. */
    if (taken == TAKEN_CLOCK)
        assert_true(warns);
    /* A day's numbers go on while the clock is within the day. */
    for (int key = TRIAL_TICK + 1; key < TRIAL_KEYS; key++) {
        struct taker *probe = &trial->probes[key];
        const enum taken other = taker_take(probe);

        if (other != TAKEN_NUMBERS &&
            (other != TAKEN_CLOCK || taken == TAKEN_NUMBERS))
            fail_msg("%s: %s", probe->command, probe->error);
    }
}

/* --- from the beginning to the end --- */

void trial_begin(struct trial *trial, const char *stores)
{
    char topology[TOPOLOGY_SIZE];
    const int length = snprintf(topology, sizeof topology, topology_form,
                                trial->refuses ? "refuse" : "hold", stores);

    assert_in_range(length, 1, sizeof topology - 1);
    signal(SIGPIPE, SIG_IGN);
    stepped_init(&trial->daemon, topology);
    assert_true(stepped_start(&trial->daemon));
    for (int key = 0; key < TRIAL_KEYS; key++) {
        const struct taker taker = {.socket = trial->daemon.socket,
                                    .command = keys[key].command,
                                    .shift = keys[key].shift};

        trial->probes[key] = taker;
        trial->clients[key] = taker;
    }
    for (int key = 0; key < TRIAL_KEYS; key++)
        taker_start(&trial->clients[key]);
    trial_probe(trial);
}

void trial_end(struct trial *trial, const char *name)
{
    size_t numbers = 0;
    int64_t refusals = 0;
    size_t repeats = 0;
    int64_t steps_back = 0;

    for (int key = 0; key < TRIAL_KEYS; key++) {
        const struct taker *const both[] = {&trial->probes[key],
                                            &trial->clients[key]};

        taker_end(&trial->clients[key]);
        numbers += both[0]->count + both[1]->count;
        refusals += both[0]->refusals + both[1]->refusals;
        steps_back += both[0]->steps_back + both[1]->steps_back;
        repeats += takers_repeats(both, 2);
    }
    print_message("%s: steps=%" PRId64 " starts=%" PRId64 " (refused %" PRId64
                  ") probes=%" PRId64 " (held %" PRId64 ", refused %" PRId64
                  ", unbelieved %" PRId64 ") numbers=%zu refusals=%" PRId64
                  " repeats=%zu "
                  "steps_back=%" PRId64 "\n",
                  name, trial->steps, trial->starts, trial->starts_refused,
                  trial->answers + trial->refusals, trial->held,
                  trial->refusals, trial->unbelieved, numbers, refusals,
                  repeats, steps_back);
    stepped_stop(&trial->daemon, SIGTERM);
    assert_int_equal(repeats, 0);
    assert_int_equal(steps_back, 0);
}

void trial_fini(struct trial *trial)
{
    for (int key = 0; key < TRIAL_KEYS; key++) {
        if (trial->clients[key].thread != 0 && !trial->clients[key].is_over)
            taker_end(&trial->clients[key]);
        taker_fini(&trial->clients[key]);
        taker_fini(&trial->probes[key]);
    }
    stepped_fini(&trial->daemon);
}
