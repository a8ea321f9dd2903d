/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts by an absolute clock, so that a pause does not slow the pace. */
#include "bench/load.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "platform/thread.h"

#define BURST_FREE 4096 /* calls in a row */

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void sleep_until(int64_t until_ns)
{
    const struct timespec until = {.tv_sec = until_ns / 1000000000,
                                   .tv_nsec = until_ns % 1000000000};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
        continue;
}

static void load_report(const struct load *load, int64_t number)
{
    if (load->taken != NULL)
        load->taken(load->context, number);
}

static void load_burst(struct load *load, int64_t calls)
{
    const int64_t interval_ns = load->rate > 0 ? 1000000000 / load->rate : 0;
    int64_t before_ns = now_ns();

    for (int64_t i = 0; i < calls && !atomic_load(&load->is_ending); i++) {
        struct seqb_error err;
        int64_t number;
        int64_t after_ns;

        if (seqb_next(load->sequence, &number, &err) == SEQB_OK)
            load_report(load, number);
        else if (load->errors++ == 0)
            load->first = err;
        after_ns = now_ns();
        latency_add(&load->latency, after_ns - before_ns);
        if (interval_ns > 0)
            latency_add_paced(&load->felt, after_ns - before_ns, interval_ns);
        before_ns = after_ns;
    }
}

/* Less than a call a ms: one call, and a longer pause. */
static void *load_run(void *argument)
{
    struct load *load = argument;
    const int64_t begin_ns = now_ns();
    const int64_t calls = load->rate >= 1000 ? load->rate / 1000 : 1;
    const int64_t pause_ns =
        load->rate > 0 ? 1000000000 * calls / load->rate : 0;
    int64_t next_ns = begin_ns;

    prctl(PR_SET_TIMERSLACK, 1);
    while (!atomic_load(&load->is_ending)) {
        load_burst(load, load->rate > 0 ? calls : BURST_FREE);
        if (load->rate == 0)
            continue;
        next_ns += pause_ns;
        if (next_ns < now_ns()) /* what was missed is not made up for */
            next_ns = now_ns();
        else
            sleep_until(next_ns);
    }
    load->took_us = (now_ns() - begin_ns) / 1000;
    return NULL;
}

void load_start_reporting(struct load *load, struct seqb_sequence *sequence,
                          int64_t rate,
                          void (*taken)(void *context, int64_t number),
                          void *context)
{
    load->taken = taken;
    load->context = context;
    latency_init(&load->latency);
    latency_init(&load->felt);
    load->sequence = sequence;
    load->rate = rate;
    load->errors = 0;
    atomic_store(&load->is_ending, 0);
    if (thread_start(&load->thread, "load", load_run, load, NULL) != SEQB_OK)
        abort();
}

void load_start(struct load *load, struct seqb_sequence *sequence, int64_t rate)
{
    load_start_reporting(load, sequence, rate, NULL, NULL);
}

void load_stop(struct load *load)
{
    atomic_store(&load->is_ending, 1);
    pthread_join(load->thread, NULL);
}
