/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long one INCR takes over TCP, at a fixed rate over 50 connections,
 * counted from the moment that it was meant to be sent (an open loop):
 * seqbrokerd healthy, while its ring is refilled all the time, on the servers
 * of config/mixed.conf, and with one of those hung (SIGSTOP); beside
 * redis-server and a server that answers a constant, in turn in one run.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/mixed.h"
#include "bench/now.h"
#include "bench/openloop.h"
#include "bench/peers.h"
#include "bench/report.h"
#include "bench/topology.h"
#include "support/server_redis.h"

#define CONNECTIONS 50
#define WARM_S      0.2 /* before each run, not counted */
#define SETTLE_S    0.5 /* after a store goes on again */

enum { WHO, STATE, SERVED, P50, P99, P999, P9999, MAX };

static const struct report_column columns[] = {
    [WHO] = {"server", NULL, BAR_NONE, PLOT_NOT},
    [STATE] = {"stores", NULL, BAR_NONE, PLOT_NOT},
    [SERVED] = {"served", "requests/s", BAR_NONE, PLOT_NOT},
    [P50] = {"p50", "us", BAR_NONE, PLOT_LOG},
    [P99] = {"p99", "us", BAR_NONE, PLOT_LOG},
    [P999] = {"p99.9", "us", BAR_NONE, PLOT_LOG},
    [P9999] = {"p99.99", "us", BAR_NONE, PLOT_LOG},
    [MAX] = {"max", "us", BAR_NONE, PLOT_LOG},
};

static const struct report_table tables[] = {
    {"latency-20k", "INCR over TCP, 20,000 requests/s", NULL, SHAPE_LINES,
     columns, 8},
    {"latency-100k", "INCR over TCP, 100,000 requests/s", NULL, SHAPE_LINES,
     columns, 8},
};

static const int64_t rates[] = {20000, 100000};

enum { HEALTHY, REFILLED, MIXED_WELL, MIXED_HUNG, REDIS, CONSTANT, SUBJECTS };

static const char *const names[SUBJECTS][2] = {
    [HEALTHY] = {"seqbrokerd", "four SQLite files"},
    [REFILLED] = {"seqbrokerd", "the same, refilled all the time"},
    [MIXED_WELL] = {"seqbrokerd", "config/mixed.conf"},
    [MIXED_HUNG] = {"seqbrokerd", "config/mixed.conf, one hung"},
    [REDIS] = {"redis-server", "no persistence"},
    [CONSTANT] = {"constant", "none"},
};

struct stage {
    struct report *report;
    struct report_arguments arguments;
    struct server *servers[SUBJECTS];
    struct topology topologies[SUBJECTS];
    int keys; /* used so far: each run has one of its own */
};

/* --- one run --- */

static void run_sample(struct stage *stage, const struct openloop *run)
{
    static const double shares[] = {0.5, 0.99, 0.999, 0.9999, 1};

    report_sample(stage->report, SERVED, run->served_s);
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
        report_sample(stage->report, P50 + i,
                      (double)latency_at(&run->latency, shares[i]) / 1000);
}

/* Each run has a fresh key, where the topology makes any. Making its sequence
 * is measured only where refills are. */
static void run_one(struct stage *stage, int subject, int64_t rate)
{
    static struct openloop run;
    char address[PEER_ADDRESS_SIZE];
    char key[32];
    struct openloop_options options = {.address = address,
                                       .key = key,
                                       .connections = CONNECTIONS,
                                       .rate = rate,
                                       .seconds = WARM_S};

    snprintf(key, sizeof key, "key-%d", stage->keys++);
    if (subject == MIXED_WELL || subject == MIXED_HUNG)
        snprintf(key, sizeof key, "order");
    peer_tcp(stage->servers[subject], address);
    if (subject != REFILLED)
        openloop_run(&options, &run);
    if (subject == MIXED_HUNG)
        mixed_pause(1);
    options.seconds = stage->arguments.span;
    openloop_run(&options, &run);
    run_sample(stage, &run);
    if (subject == MIXED_HUNG) {
        mixed_resume(1);
        pause_s(SETTLE_S);
    }
}

static void bench_rate(struct stage *stage, int which)
{
    struct report *report = stage->report;

    report_table(report, &tables[which]);
    for (int i = 0; i < SUBJECTS; i++) {
        report_row(report);
        report_text(report, WHO, "%s", names[i][0]);
        report_text(report, STATE, "%s", names[i][1]);
    }
    for (int run = 0; run < stage->arguments.runs; run++) {
        for (int i = 0; i < SUBJECTS; i++) {
            report_select(report, (size_t)i);
            run_one(stage, i, rates[which]);
        }
    }
    report_rows_end(report, SUBJECTS);
}

/* --- all of it --- */

static void stage_start(struct stage *stage)
{
    topology_sqlite(&stage->topologies[HEALTHY], 4,
                    "auto_sequences = { pattern = \"*\"; };");
    topology_sqlite(&stage->topologies[REFILLED], 4,
                    "auto_sequences = { pattern = \"*\"; max_unused = 2000; "
                    "runway = \"10ms\"; };");
    mixed_start(&stage->topologies[MIXED_WELL]);
    for (int i = HEALTHY; i <= MIXED_WELL; i++)
        stage->servers[i] = peer_seqbrokerd(stage->topologies[i].path);
    stage->servers[MIXED_HUNG] = stage->servers[MIXED_WELL];
    stage->servers[REDIS] = server_redis(NULL);
    stage->servers[CONSTANT] = peer_constant();
}

int main(int argc, char **argv)
{
    static struct stage stage = {.arguments = {.span = 1.0, .runs = 5}};

    stage.report = report_open(argc, argv, &stage.arguments);
    block_sigpipe();
    stage_start(&stage);
    for (int i = 0; i < 2; i++)
        bench_rate(&stage, i);
    for (int i = HEALTHY; i <= MIXED_WELL; i++)
        topology_remove(&stage.topologies[i]);
    return report_close(stage.report);
}
