/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long an INCR of a well-behaved client takes while 1,000 others mean harm:
 * an open loop over 10 connections, with and without them in turn, on one
 * seqbrokerd with users and limits. The server has a core, all clients another.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "bench/hostile.h"
#include "bench/now.h"
#include "bench/openloop.h"
#include "bench/peers.h"
#include "bench/report.h"
#include "bench/topology.h"
#include "platform/text.h"

#define HOSTILE     1000
#define CONNECTIONS 10
#define RATE        5000
#define WARM_S      0.3 /* of hostile clients, not counted */
#define SETTLE_S    0.3 /* after they are gone */
#define MOST        5.0 /* times the healthy p99.9 */
#define MOST_MB     64

#define HIGH_PRIORITY (-10)

/* Of "pass-word", which nobody sends. */
#define PASSWORD_HASH                                                          \
    "$argon2id$v=19$m=19456,t=2,p=1$kjlhHc2g+beC5mLigZqA6A$"                   \
    "QRPXjBuHjwu6FjSS3IXo2mmXXqtAPhnDpVs78760saQ"

enum { WHAT, HEALTHY_P50, P50, HEALTHY_P999, P999, RATIO, SERVED, CPU, MEMORY };

static const struct report_column columns[] = {
    [WHAT] = {"what 1,000 others do", NULL, BAR_NONE, PLOT_NOT},
    [HEALTHY_P50] = {"p50 without them", "us", BAR_NONE, PLOT_LOG},
    [P50] = {"p50 with them", "us", BAR_NONE, PLOT_LOG},
    [HEALTHY_P999] = {"p99.9 without them", "us", BAR_NONE, PLOT_LOG},
    [P999] = {"p99.9 with them", "us", BAR_NONE, PLOT_LOG},
    [RATIO] = {"p99.9 with / without", "", BAR_AT_MOST, PLOT_NOT},
    [SERVED] = {"served", "requests/s", BAR_NONE, PLOT_NOT},
    [CPU] = {"CPU of seqbrokerd with them", "%", BAR_NONE, PLOT_NOT},
    [MEMORY] = {"memory over idle", "MB", BAR_AT_MOST, PLOT_NOT},
};

static const struct report_table hostile = {
    "hostile", "A client among hostile ones", NULL, SHAPE_BARS, columns,
    MEMORY + 1};

struct stage {
    struct report *report;
    struct report_arguments arguments;
    struct topology topology;
    struct server *server;
    int http_port;
    double idle_mb;
};

static void well_run(const struct stage *stage, struct openloop *out)
{
    char address[PEER_ADDRESS_SIZE];
    const struct openloop_options options = {
        .address = address,
        .key = "order",
        .connections = CONNECTIONS,
        .rate = RATE,
        .seconds = stage->arguments.span,
        .sleeps = true,
    };

    peer_tcp(stage->server, address);
    openloop_run(&options, out);
}

static double quantile_us(const struct openloop *run, double share)
{
    return (double)latency_at(&run->latency, share) / 1000;
}

static void pair_run(const struct stage *stage, enum hostile_kind kind)
{
    static struct openloop without;
    static struct openloop with;
    struct report *report = stage->report;
    const struct hostile_options options = {
        .port = (int)server_port(stage->server),
        .http_port = stage->http_port,
        .kind = kind,
        .connections = HOSTILE,
    };
    double begun_s;
    double cpu_s;
    pid_t pid;

    well_run(stage, &without);
    peer_peak_reset(stage->server);
    pid = hostile_start(&options);
    pause_s(WARM_S);
    begun_s = now_s();
    cpu_s = peer_cpu_s(stage->server);
    well_run(stage, &with);
    /* Late answers make a run longer than its span. */
    cpu_s = (peer_cpu_s(stage->server) - cpu_s) / (now_s() - begun_s);
    hostile_stop(pid);
    pause_s(SETTLE_S);
    report_sample(report, HEALTHY_P50, quantile_us(&without, 0.5));
    report_sample(report, P50, quantile_us(&with, 0.5));
    report_sample(report, HEALTHY_P999, quantile_us(&without, 0.999));
    report_sample(report, P999, quantile_us(&with, 0.999));
    report_sample(report, RATIO,
                  quantile_us(&with, 0.999) / quantile_us(&without, 0.999));
    report_sample(report, SERVED, with.served_s);
    report_sample(report, CPU, 100 * cpu_s);
    report_sample(report, MEMORY, peer_peak_mb(stage->server) - stage->idle_mb);
}

static void kind_row(const struct stage *stage, enum hostile_kind kind)
{
    report_row(stage->report);
    report_text(stage->report, WHAT, "%s", hostile_name(kind));
    if (kind == HOSTILE_KINDS)
        report_bar(stage->report, RATIO, MOST);
    report_bar(stage->report, MEMORY, MOST_MB);
    for (int run = 0; run < stage->arguments.runs; run++)
        pair_run(stage, kind);
    report_row_end(stage->report);
}

/* Processes that are started later inherit it. Without that core nothing
 * changes. */
static void core_take(int core)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((size_t)core, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        perror("bench_hostile: no core of its own");
}

/* This client shares its core with the hostile ones. It is served first there,
 * so that what it waits for is the server; hostile_start does not inherit
 * this. */
static void client_go_first(void)
{
    const struct sched_param first = {.sched_priority = 1};

    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) != 0 &&
        setpriority(PRIO_PROCESS, 0, HIGH_PRIORITY) != 0)
        perror("bench_hostile: the client competes with the hostile ones");
}

static void stage_start(struct stage *stage)
{
    static struct openloop healthy;
    char rest[1024];

    stage->http_port = (int)free_port();
    (void)text_format(
        rest, sizeof rest,
        "auto_sequences = { pattern = \"order*\"; };\n"
        "sequences = ( { key = \"waybill\"; template = "
        "\"W-@{seq, width=8}\"; } );\n"
        "users = ( { name = \"default\"; role = \"take\"; rate = 1000000000; "
        "}, { name = \"operator\"; role = \"admin\"; password_hash = "
        "\"%s\"; } );\n"
        "daemon = { http = \"127.0.0.1:%d\"; };",
        PASSWORD_HASH, stage->http_port);
    topology_sqlite(&stage->topology, 4, rest);
    stage->server = peer_seqbrokerd(stage->topology.path);
    well_run(stage, &healthy); /* not counted */
    stage->idle_mb = peer_resident_mb(stage->server);
}

int main(int argc, char **argv)
{
    static struct stage stage = {.arguments = {.span = 3.0, .runs = 5}};

    stage.report = report_open(argc, argv, &stage.arguments);
    block_sigpipe();
    core_take(0);
    stage_start(&stage);
    core_take(1);
    client_go_first();
    report_table(stage.report, &hostile);
    for (int kind = HOSTILE_KINDS; kind >= 0; kind--)
        kind_row(&stage, (enum hostile_kind)kind);
    topology_remove(&stage.topology);
    return report_close(stage.report);
}
