/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests a second over 50 connections: seqbrokerd on four durable SQLite
 * partitions, redis-server without persistence, and a server that answers a
 * constant, each kept busy in turn by one client that saturates it. INCR with
 * one request in flight and more; and SEQ.NEXT COUNT 1000 beside redis' INCR.
 */
#include "bench/peers.h"
#include "bench/report.h"
#include "bench/saturate.h"
#include "bench/topology.h"
#include "support/server_redis.h"

#define CONNECTIONS 50
#define COUNT       1000

enum { OVER, PIPELINE, OURS, REDIS, LIMIT, TO_REDIS, TO_LIMIT };

static const struct report_column columns[] = {
    [OVER] = {"over", NULL, BAR_NONE, PLOT_NOT},
    [PIPELINE] = {"pipeline", NULL, BAR_NONE, PLOT_NOT},
    [OURS] = {"seqbrokerd", "thousand/s", BAR_NONE, PLOT_LOG},
    [REDIS] = {"redis-server", "thousand/s", BAR_NONE, PLOT_LOG},
    [LIMIT] = {"constant", "thousand/s", BAR_NONE, PLOT_LOG},
    [TO_REDIS] = {"to redis", "", BAR_AT_LEAST, PLOT_LINEAR},
    [TO_LIMIT] = {"to the constant", "", BAR_AT_LEAST, PLOT_LINEAR},
};

static const struct report_table incr = {
    "incr", "INCR through the daemon", NULL, SHAPE_BARS, columns, 7};

enum { C_OVER, C_OURS, C_REDIS, C_RATIO };

static const struct report_column count_columns[] = {
    [C_OVER] = {"over", NULL, BAR_NONE, PLOT_NOT},
    [C_OURS] = {"SEQ.NEXT COUNT 1000, numbers", "thousand/s", BAR_NONE,
                PLOT_LOG},
    [C_REDIS] = {"redis INCR", "thousand/s", BAR_NONE, PLOT_LOG},
    [C_RATIO] = {"ratio", "", BAR_AT_LEAST, PLOT_LINEAR},
};

static const struct report_table count = {
    "count", "A thousand numbers a request", NULL, SHAPE_BARS, count_columns,
    4};

enum { SEQBROKERD, REDIS_SERVER, CONSTANT, SERVERS };

struct stage {
    struct report *report;
    struct report_arguments arguments;
    struct server *servers[SERVERS];
};

/* One row's bars; the constant's are the same over both. */
struct setting {
    const char *over;
    int pipeline;
    double to_redis;
    double to_limit;
};

static const struct setting settings[] = {
    {"TCP", 1, 1.0, 0.9},           {"TCP", 16, 1.4, 0.75},
    {"TCP", 64, 2.0, 0.75},         {"unix socket", 1, 1.1, 0.9},
    {"unix socket", 16, 1.8, 0.75}, {"unix socket", 64, 2.5, 0.75},
};

static double requests_s(const struct stage *stage, int server,
                         const char *over, int pipeline, int numbers)
{
    char address[PEER_ADDRESS_SIZE];
    struct saturate_options options = {
        .address = address,
        .key = "bench",
        .numbers = numbers,
        .connections = CONNECTIONS,
        .pipeline = pipeline,
        .seconds = stage->arguments.span,
    };

    if (over[0] == 'T')
        peer_tcp(stage->servers[server], address);
    else
        peer_unix(stage->servers[server], address);
    return saturate(&options).requests_s;
}

static void incr_row(const struct stage *stage, const struct setting *setting)
{
    struct report *report = stage->report;

    report_row(report);
    report_text(report, OVER, "%s", setting->over);
    report_text(report, PIPELINE, "%d", setting->pipeline);
    for (int run = 0; run < stage->arguments.runs; run++) {
        double rates[SERVERS];

        for (int i = 0; i < SERVERS; i++) {
            rates[i] =
                requests_s(stage, i, setting->over, setting->pipeline, 1);
            report_sample(report, OURS + (size_t)i, rates[i] / 1e3);
        }
        report_sample(report, TO_REDIS,
                      rates[SEQBROKERD] / rates[REDIS_SERVER]);
        report_sample(report, TO_LIMIT, rates[SEQBROKERD] / rates[CONSTANT]);
    }
    report_bar(report, TO_REDIS, setting->to_redis);
    report_bar(report, TO_LIMIT, setting->to_limit);
    report_row_end(report);
}

static void count_row(const struct stage *stage, const char *over)
{
    struct report *report = stage->report;

    report_row(report);
    report_text(report, C_OVER, "%s", over);
    for (int run = 0; run < stage->arguments.runs; run++) {
        const double ours =
            requests_s(stage, SEQBROKERD, over, 1, COUNT) * COUNT;
        const double theirs = requests_s(stage, REDIS_SERVER, over, 1, 1);

        report_sample(report, C_OURS, ours / 1e3);
        report_sample(report, C_REDIS, theirs / 1e3);
        report_sample(report, C_RATIO, ours / theirs);
    }
    report_bar(report, C_RATIO, 50);
    report_row_end(report);
}

int main(int argc, char **argv)
{
    struct stage stage = {.arguments = {.span = 0.6, .runs = 5}};
    struct topology topology;

    stage.report = report_open(argc, argv, &stage.arguments);
    block_sigpipe();
    topology_sqlite(&topology, 4, "auto_sequences = { pattern = \"*\"; };");
    stage.servers[SEQBROKERD] = peer_seqbrokerd(topology.path);
    stage.servers[REDIS_SERVER] = server_redis(NULL);
    stage.servers[CONSTANT] = peer_constant();
    for (int i = 0; i < SERVERS; i++) /* not counted: the ring grows */
        (void)requests_s(&stage, i, "TCP", 64, 1);
    report_table(stage.report, &incr);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        incr_row(&stage, &settings[i]);
    report_table(stage.report, &count);
    count_row(&stage, "TCP");
    count_row(&stage, "unix socket");
    topology_remove(&topology);
    return report_close(stage.report);
}
