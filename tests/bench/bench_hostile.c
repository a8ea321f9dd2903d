/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long an INCR of a well-behaved client takes while 1,000 others mean harm:
 * an open loop over 10 connections, with and without them in turn, on one
 * seqbrokerd with users and limits.
 */
#include <stdio.h>
#include <stdlib.h>

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

/* Of "pass-word", which nobody sends. */
#define PASSWORD_HASH                                                          \
    "$argon2id$v=19$m=19456,t=2,p=1$kjlhHc2g+beC5mLigZqA6A$"                   \
    "QRPXjBuHjwu6FjSS3IXo2mmXXqtAPhnDpVs78760saQ"

enum { WHAT, HEALTHY_P50, P50, HEALTHY_P999, P999, RATIO, SERVED, CPU };

static const struct report_column columns[] = {
    [WHAT] = {"what 1,000 others do", NULL, BAR_NONE, PLOT_NOT},
    [HEALTHY_P50] = {"p50 without them", "us", BAR_NONE, PLOT_LOG},
    [P50] = {"p50 with them", "us", BAR_NONE, PLOT_LOG},
    [HEALTHY_P999] = {"p99.9 without them", "us", BAR_NONE, PLOT_LOG},
    [P999] = {"p99.9 with them", "us", BAR_NONE, PLOT_LOG},
    [RATIO] = {"p99.9 with / without", "", BAR_AT_MOST, PLOT_NOT},
    [SERVED] = {"served", "requests/s", BAR_NONE, PLOT_NOT},
    [CPU] = {"CPU of seqbrokerd with them", "%", BAR_NONE, PLOT_NOT},
};

static const struct report_table hostile = {
    "hostile", "A client among hostile ones", NULL, SHAPE_BARS, columns,
    CPU + 1};

struct stage {
    struct report *report;
    struct report_arguments arguments;
    struct topology topology;
    struct server *server;
    int http_port;
};

/* All numbers that were asked for must have come. */
static void well_run(const struct stage *stage, struct openloop *out)
{
    char address[PEER_ADDRESS_SIZE];
    const struct openloop_options options = {
        .address = address,
        .key = "order",
        .connections = CONNECTIONS,
        .rate = RATE,
        .seconds = stage->arguments.span,
    };

    peer_tcp(stage->server, address);
    openloop_run(&options, out);
    if (out->lost > 0) {
        fprintf(stderr, "bench_hostile: %lld requests without an answer\n",
                (long long)out->lost);
        exit(EXIT_FAILURE);
    }
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
    double cpu_s;
    pid_t pid;

    well_run(stage, &without);
    pid = hostile_start(&options);
    pause_s(WARM_S);
    cpu_s = peer_cpu_s(stage->server);
    well_run(stage, &with);
    cpu_s = peer_cpu_s(stage->server) - cpu_s;
    hostile_stop(pid);
    pause_s(SETTLE_S);
    report_sample(report, HEALTHY_P50, quantile_us(&without, 0.5));
    report_sample(report, P50, quantile_us(&with, 0.5));
    report_sample(report, HEALTHY_P999, quantile_us(&without, 0.999));
    report_sample(report, P999, quantile_us(&with, 0.999));
    report_sample(report, RATIO,
                  quantile_us(&with, 0.999) / quantile_us(&without, 0.999));
    report_sample(report, SERVED, with.served_s);
    report_sample(report, CPU, 100 * cpu_s / stage->arguments.span);
}

static void kind_row(const struct stage *stage, enum hostile_kind kind)
{
    report_row(stage->report);
    report_text(stage->report, WHAT, "%s", hostile_name(kind));
    if (kind == HOSTILE_KINDS)
        report_bar(stage->report, RATIO, MOST);
    for (int run = 0; run < stage->arguments.runs; run++)
        pair_run(stage, kind);
    report_row_end(stage->report);
}

static void stage_start(struct stage *stage)
{
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
}

int main(int argc, char **argv)
{
    static struct stage stage = {.arguments = {.span = 1.0, .runs = 5}};

    stage.report = report_open(argc, argv, &stage.arguments);
    block_sigpipe();
    stage_start(&stage);
    report_table(stage.report, &hostile);
    for (int kind = HOSTILE_KINDS; kind >= 0; kind--)
        kind_row(&stage, (enum hostile_kind)kind);
    topology_remove(&stage.topology);
    return report_close(stage.report);
}
