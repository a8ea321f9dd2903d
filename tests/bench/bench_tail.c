/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The longest takes: every call of seqb_next timed by itself, 10^8 of them,
 * while the ring is refilled from four durable SQLite partitions, and from the
 * four servers of config/mixed.conf. Beside it the same loop around nothing
 * and around a bare fetch_add: what of a spike is the clock's and the
 * machine's. Nothing is subtracted. The stores use the processors, too: so the
 * loop around nothing is run once more while another thread takes from the
 * servers. Of slow turns it reports, too, how long the thread ran, and
 * whether it waited or was preempted: in the rest of the time another thread
 * had its processor.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "bench/mixed.h"
#include "bench/now.h"
#include "bench/report.h"
#include "bench/topology.h"
#include "support/latency.h"
#include "support/servers.h"

enum { CLOCK, FETCH_ADD, SQLITE, SERVERS, BESIDE, SUBJECTS };
enum {
    WHAT,
    RATE,
    P50,
    P99,
    P999,
    P9999,
    MAX,
    FIRST,
    RAN,
    WAITED,
    WAITS,
    LOST,
    LOSSES
};

/* A turn that takes longer is looked into. */
#define SLOW_NS 50000

/* Turns between two looks at what the thread has used up. */
#define TURNS_A_LOOK 4096

/* A sequence that was not used holds few numbers, and is found out to be busy
 * meanwhile: these turns are counted apart, but no more than half of all. */
#define FIRST_NS 200000000

static const struct report_column columns[] = {
    [WHAT] = {"in the loop", NULL, BAR_NONE, PLOT_NOT},
    [RATE] = {"turns", "million/s", BAR_NONE, PLOT_NOT},
    [P50] = {"p50", "us", BAR_NONE, PLOT_LOG},
    [P99] = {"p99", "us", BAR_NONE, PLOT_LOG},
    [P999] = {"p99.9", "us", BAR_AT_MOST, PLOT_LOG},
    [P9999] = {"p99.99", "us", BAR_NONE, PLOT_LOG},
    [MAX] = {"max", "us", BAR_AT_MOST, PLOT_LOG},
    [FIRST] = {"max of the first 0.2 s", "us", BAR_NONE, PLOT_NOT},
    [RAN] = {"max, without what others ran", "us", BAR_NONE, PLOT_NOT},
    [WAITED] = {"max of those that waited", "us", BAR_NONE, PLOT_NOT},
    [WAITS] = {"waited", "turns", BAR_NONE, PLOT_NOT},
    [LOST] = {"max of those that were preempted", "us", BAR_NONE, PLOT_NOT},
    [LOSSES] = {"preempted", "turns", BAR_NONE, PLOT_NOT},
};

static const struct report_table tail = {
    "tail", "The longest takes", NULL, SHAPE_LINES, columns, LOSSES + 1};

struct subject {
    const char *name;
    struct seqb_sequence *sequence; /* NULL: none is asked */
    _Atomic int64_t *counter;       /* NULL: none is added to */
    struct seqb_sequence *beside;   /* that another thread takes from; NULL */
};

static void take(const struct subject *subject)
{
    struct seqb_error err;
    int64_t value;

    if (subject->counter != NULL)
        (void)atomic_fetch_add(subject->counter, 1);
    if (subject->sequence == NULL ||
        seqb_next(subject->sequence, &value, &err) == SEQB_OK)
        return;
    fprintf(stderr, "bench_tail: %s\n", err.text);
    exit(EXIT_FAILURE);
}

/* --- what slow turns were --- */

/* Of the calling thread. */
struct usage {
    int64_t at_ns;
    int64_t ran_ns;
    int64_t waits;
    int64_t losses; /* of the processor */
};

static struct usage usage_now(void)
{
    struct timespec ran;
    struct rusage usage;

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran) != 0 ||
        getrusage(RUSAGE_THREAD, &usage) != 0)
        abort();
    return (struct usage){
        .at_ns = now_ns(),
        .ran_ns = (int64_t)ran.tv_sec * 1000000000 + ran.tv_nsec,
        .waits = usage.ru_nvcsw,
        .losses = usage.ru_nivcsw,
    };
}

/* The longest turns of each kind, but for the first ones. */
struct slow {
    struct usage last; /* at the last look */
    int64_t ran_ns;    /* of those that did not wait, what the thread ran */
    int64_t waited_ns;
    int64_t waits; /* turns */
    int64_t lost_ns;
    int64_t losses; /* turns */
};

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A turn has just ended that took so long. What the thread did not run since
 * the last look, it did not run in this turn, nearly all of it. */
static void slow_record(struct slow *slow, int64_t turn_ns)
{
    const struct usage now = usage_now();
    const int64_t away_ns =
        now.at_ns - slow->last.at_ns - (now.ran_ns - slow->last.ran_ns);

    if (now.waits != slow->last.waits) {
        slow->waits++;
        slow->waited_ns = most(slow->waited_ns, turn_ns);
    } else {
        slow->ran_ns = most(slow->ran_ns, turn_ns - most(away_ns, 0));
        if (now.losses != slow->last.losses) {
            slow->losses++;
            slow->lost_ns = most(slow->lost_ns, turn_ns);
        }
    }
    slow->last = now;
}

/* --- the loop --- */

struct timed {
    struct latency first; /* of the first turns ... */
    struct latency rest;
    struct slow slow; /* ... and of the rest */
};

/* The first turns have columns of their own. */
static struct latency *first_end(struct timed *timed, struct latency *latency)
{
    if (latency == &timed->first)
        timed->slow = (struct slow){.waits = 0};
    return &timed->rest;
}

/* One reading of the clock a turn: no spike of a take falls between two of
 * them, and each turn counts the clock and the counting besides what is taken.
 * How long all took, in ns. */
static int64_t run_turns(const struct subject *subject, int64_t turns,
                         struct timed *timed)
{
    const int64_t start_ns = now_ns();
    struct latency *latency = &timed->first;
    int64_t before_ns = start_ns;

    latency_init(&timed->first);
    latency_init(&timed->rest);
    timed->slow = (struct slow){.waits = 0};
    for (int64_t i = 0; i < turns; i++) {
        int64_t after_ns;

        if (i % TURNS_A_LOOK == 0) {
            if (before_ns - start_ns > FIRST_NS || i >= turns / 2)
                latency = first_end(timed, latency);
            timed->slow.last = usage_now();
            before_ns = now_ns();
        }
        take(subject);
        after_ns = now_ns();
        latency_add(latency, after_ns - before_ns);
        if (after_ns - before_ns > SLOW_NS) {
            slow_record(&timed->slow, after_ns - before_ns);
            after_ns = now_ns();
        }
        before_ns = after_ns;
    }
    return before_ns - start_ns;
}

/* --- another thread, that takes until the end is asked for --- */

struct other {
    struct subject subject;
    pthread_t thread;
    atomic_bool is_over;
};

static void *other_run(void *argument)
{
    struct other *other = argument;

    while (!atomic_load_explicit(&other->is_over, memory_order_relaxed))
        take(&other->subject);
    return NULL;
}

static int64_t run_beside(const struct subject *subject, int64_t turns,
                          struct timed *timed)
{
    struct other other = {.subject = {.sequence = subject->beside}};
    int64_t ns;

    if (subject->beside == NULL)
        return run_turns(subject, turns, timed);
    if (pthread_create(&other.thread, NULL, other_run, &other) != 0)
        exit(EXIT_FAILURE);
    ns = run_turns(subject, turns, timed);
    atomic_store(&other.is_over, true);
    pthread_join(other.thread, NULL);
    return ns;
}

static void subject_run(struct report *report, const struct subject *subject,
                        int64_t turns)
{
    static const double shares[] = {0.5, 0.99, 0.999, 0.9999, 1};
    static struct timed timed;
    const int64_t ns = run_beside(subject, turns, &timed);

    report_sample(report, RATE, (double)turns * 1e3 / (double)ns);
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
        report_sample(report, P50 + i,
                      (double)latency_at(&timed.rest, shares[i]) / 1000);
    report_sample(report, FIRST, (double)timed.first.max_ns / 1000);
    report_sample(report, RAN, (double)timed.slow.ran_ns / 1000);
    report_sample(report, WAITED, (double)timed.slow.waited_ns / 1000);
    report_sample(report, WAITS, (double)timed.slow.waits);
    report_sample(report, LOST, (double)timed.slow.lost_ns / 1000);
    report_sample(report, LOSSES, (double)timed.slow.losses);
}

static void rows_begin(struct report *report, const struct subject *subjects)
{
    report_table(report, &tail);
    for (int i = 0; i < SUBJECTS; i++) {
        report_row(report);
        report_text(report, WHAT, "%s", subjects[i].name);
    }
    report_select(report, SQLITE);
    report_bar(report, P999, 1);
    report_bar(report, MAX, 1000);
    report_select(report, SERVERS);
    report_bar(report, MAX, 1000);
}

static void bench_tail(struct report *report,
                       const struct report_arguments *arguments,
                       const struct subject *subjects)
{
    rows_begin(report, subjects);
    for (int run = 0; run < arguments->runs; run++) {
        for (size_t i = 0; i < SUBJECTS; i++) {
            report_select(report, i);
            subject_run(report, &subjects[i], (int64_t)(arguments->span * 1e6));
        }
    }
    report_rows_end(report, SUBJECTS);
}

int main(int argc, char **argv)
{
    static _Alignas(64) _Atomic int64_t counter;
    struct subject subjects[SUBJECTS] = {
        [CLOCK] = {.name = "the clock alone"},
        [FETCH_ADD] = {.name = "fetch_add", .counter = &counter},
        [SQLITE] = {.name = "seqb_next, four SQLite files"},
        [SERVERS] = {.name = "seqb_next, config/mixed.conf"},
        [BESIDE] = {.name = "the clock alone, while another thread takes from "
                            "config/mixed.conf"},
    };
    struct report_arguments arguments = {
        .span = 100, .runs = 5, .unit = "MILLION_TAKES"};
    struct report *report = report_open(argc, argv, &arguments);
    struct topology files;
    struct topology servers;
    struct seqb_broker *brokers[2];

    block_sigpipe();
    topology_sqlite(&files, 4,
                    "sequences = ( { key = \"order\"; memory_bits = 10; "
                    "deadline = \"10s\"; max_unused = 16000000; } );");
    mixed_start(&servers);
    brokers[0] = topology_open(&files);
    brokers[1] = topology_open(&servers);
    subjects[SQLITE].sequence = sequence_of(brokers[0], "order");
    subjects[SERVERS].sequence = sequence_of(brokers[1], "order");
    subjects[BESIDE].beside = subjects[SERVERS].sequence;
    bench_tail(report, &arguments, subjects);
    seqb_close(brokers[0]);
    seqb_close(brokers[1]);
    topology_remove(&files);
    topology_remove(&servers);
    return report_close(report);
}
