/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a caller waits for a reload: every call of seqb_next timed by itself,
 * while nothing else happens, and while another thread reloads a topology of
 * 100,000 sequences to which one more was added, in turn in one run. A thread
 * that waits gives up its processor by itself, and the system counts that: so
 * what is the machine's is told from what is the reload's.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <seqbroker/reload.h>

#include "bench/die.h"
#include "bench/now.h"
#include "bench/report.h"
#include "bench/topology.h"
#include "support/latency.h"

#define LISTED 100000

/* The index of the sequence that is taken from. */
#define TAKEN 7

/* From one take to the next. */
#define PACE_NS 1000

/* Before a turn: a sequence that was idle is found to be busy meanwhile. */
#define FIRST_S 0.3

enum { WHAT, RATE, P999, MAX, WAITS, LOST, TOOK };

static const struct report_column columns[] = {
    [WHAT] = {"meanwhile", NULL, BAR_NONE, PLOT_NOT},
    [RATE] = {"takes", "million/s", BAR_NONE, PLOT_NOT},
    [P999] = {"p99.9", "us", BAR_NONE, PLOT_LOG},
    [MAX] = {"max", "us", BAR_NONE, PLOT_LOG},
    [WAITS] = {"waited", "takes", BAR_AT_MOST, PLOT_NOT},
    [LOST] = {"preempted", "times", BAR_NONE, PLOT_NOT},
    [TOOK] = {"the reload", "ms", BAR_AT_MOST, PLOT_NOT},
};

static const struct report_table table = {
    "reload", "A caller during a reload", NULL, SHAPE_BARS, columns, TOOK + 1};

struct stage {
    struct topology topology;
    struct seqb_broker *broker;
    struct seqb_sequence *sequence;
    int listed;
    double span;
    double took_ms; /* of the last reload */
};

/* Takes for the span, at a steady pace: a caller without a pause waits for its
 * stores as well, as soon as the machine has something else to do. */
static void take(const struct stage *stage, double span,
                 struct latency *latency)
{
    const int64_t end = now_ns() + (int64_t)(span * 1e9);
    int64_t begin = now_ns();
    struct seqb_error err;

    latency_init(latency);
    while (begin < end) {
        int64_t number;
        int64_t now;

        if (seqb_next(stage->sequence, &number, &err) != SEQB_OK)
            die(err.text);
        now = now_ns();
        latency_add(latency, now - begin);
        begin += PACE_NS;
        for (begin = begin > now ? begin : now; now < begin;)
            now = now_ns();
    }
}

static void *reload_run(void *context)
{
    struct stage *stage = context;
    struct seqb_error err;
    double begin;

    pause_s(stage->span / 4);
    begin = now_s();
    if (seqb_reload(stage->broker, stage->topology.path, NULL, &err) != SEQB_OK)
        die(err.text);
    stage->took_ms = (now_s() - begin) * 1e3;
    return NULL;
}

static void turn_report(struct report *report, const struct latency *latency,
                        const struct rusage *before, const struct stage *stage)
{
    struct rusage after;

    getrusage(RUSAGE_THREAD, &after);
    report_sample(report, RATE, (double)latency->count / stage->span / 1e6);
    report_sample(report, P999, (double)latency_at(latency, 0.999) / 1e3);
    report_sample(report, MAX, (double)latency->max_ns / 1e3);
    report_sample(report, WAITS, (double)(after.ru_nvcsw - before->ru_nvcsw));
    report_sample(report, LOST, (double)(after.ru_nivcsw - before->ru_nivcsw));
}

static void turn_run(struct report *report, struct stage *stage,
                     bool has_reload)
{
    static struct latency latency;
    struct rusage before;
    pthread_t thread;

    if (has_reload)
        topology_list(&stage->topology, ++stage->listed, TAKEN, "");
    take(stage, FIRST_S, &latency);
    if (has_reload && pthread_create(&thread, NULL, reload_run, stage) != 0)
        die("no thread");
    getrusage(RUSAGE_THREAD, &before);
    take(stage, stage->span, &latency);
    report_select(report, has_reload);
    turn_report(report, &latency, &before, stage);
    if (!has_reload)
        return;
    pthread_join(thread, NULL);
    report_sample(report, TOOK, stage->took_ms);
}

int main(int argc, char **argv)
{
    struct report_arguments arguments = {.span = 2, .runs = 5};
    struct report *report = report_open(argc, argv, &arguments);
    struct stage stage = {.listed = LISTED, .span = arguments.span};

    topology_write(&stage.topology, "");
    topology_list(&stage.topology, stage.listed, TAKEN, "");
    stage.broker = topology_open(&stage.topology);
    stage.sequence = sequence_of(stage.broker, "k7");
    report_table(report, &table);
    report_row(report);
    report_text(report, WHAT, "nothing");
    report_row(report);
    report_text(report, WHAT, "a reload of one sequence more");
    report_bar(report, WAITS, 0);
    report_bar(report, TOOK, 200);
    for (int i = 0; i < arguments.runs; i++) {
        turn_run(report, &stage, false);
        turn_run(report, &stage, true);
    }
    report_rows_end(report, 2);
    seqb_close(stage.broker);
    topology_remove(&stage.topology);
    return report_close(report);
}
