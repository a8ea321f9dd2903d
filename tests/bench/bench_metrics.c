/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /metrics costs a seqbrokerd with 100,000 sequences on four SQLite files:
 * how long an answer takes and how large it is; and how long an INCR takes
 * while somebody scrapes once a second, and while nobody does, in turn in one
 * run: an open loop over 10 connections.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/now.h"
#include "bench/openloop.h"
#include "bench/peers.h"
#include "bench/report.h"
#include "bench/scraper.h"
#include "bench/topology.h"
#include "platform/text.h"

#define LISTED      100000
#define TAKEN       7
#define SCRAPES     10
#define PAUSE_S     0.05 /* between them */
#define EVERY_S     1.0
#define CONNECTIONS 10
#define RATE        5000

enum { SEQUENCES, TOOK, SIZE, WITHOUT, AGAIN, WITH, NOISE, RATIO };

static const struct report_column columns[] = {
    [SEQUENCES] = {"sequences", NULL, BAR_NONE, PLOT_NOT},
    [TOOK] = {"a scrape", "ms", BAR_AT_MOST, PLOT_NOT},
    [SIZE] = {"its answer", "bytes", BAR_AT_MOST, PLOT_NOT},
    [WITHOUT] = {"INCR, p99.9 without a scrape", "us", BAR_NONE, PLOT_NOT},
    [AGAIN] = {"again without one", "us", BAR_NONE, PLOT_NOT},
    [WITH] = {"p99.9 with one a second", "us", BAR_NONE, PLOT_NOT},
    [NOISE] = {"again / without", "", BAR_NONE, PLOT_NOT},
    [RATIO] = {"with / without", "", BAR_AT_MOST, PLOT_NOT},
};

static const struct report_table table = {
    "metrics", "A scrape of /metrics", NULL, SHAPE_BARS, columns, RATIO + 1};

struct stage {
    struct report *report;
    struct report_arguments arguments;
    struct topology topology;
    struct server *server;
    int http_port;
};

static double caller_p999_us(const struct stage *stage)
{
    static struct openloop run;
    char address[PEER_ADDRESS_SIZE];
    const struct openloop_options options = {
        .address = address,
        .key = "k7",
        .connections = CONNECTIONS,
        .rate = RATE,
        .seconds = stage->arguments.span,
        .sleeps = true,
    };

    peer_tcp(stage->server, address);
    openloop_run(&options, &run);
    return (double)latency_at(&run.latency, 0.999) / 1e3;
}

static void scrapes_report(const struct stage *stage)
{
    static struct latency latency;
    struct scrape one = {.bytes = 0};

    latency_init(&latency);
    for (int i = 0; i < SCRAPES; i++) {
        scrape(stage->http_port, &one);
        latency_add(&latency, one.ns);
        pause_s(PAUSE_S);
    }
    report_sample(stage->report, TOOK, (double)latency_at(&latency, 0.5) / 1e6);
    report_sample(stage->report, SIZE, (double)one.bytes);
}

static double scraped_p999_us(const struct stage *stage)
{
    struct scraper *scraper = scraper_start(stage->http_port, EVERY_S);
    const double us = caller_p999_us(stage);

    scraper_stop(scraper);
    return us;
}

/* What the machine moves by itself is known from the same run: of three turns,
 * two are without a scrape. The turn with one is between them. */
static void turn_run(const struct stage *stage)
{
    const double without_us = caller_p999_us(stage);
    const double with_us = scraped_p999_us(stage);
    const double again_us = caller_p999_us(stage);

    report_sample(stage->report, WITHOUT, without_us);
    report_sample(stage->report, AGAIN, again_us);
    report_sample(stage->report, WITH, with_us);
    report_sample(stage->report, NOISE, again_us / without_us);
    report_sample(stage->report, RATIO, 2 * with_us / (without_us + again_us));
    scrapes_report(stage);
}

static void stage_start(struct stage *stage)
{
    char rest[64];

    stage->http_port = (int)free_port();
    (void)text_format(rest, sizeof rest,
                      "daemon = { http = \"127.0.0.1:%d\"; };",
                      stage->http_port);
    topology_write(&stage->topology, "");
    topology_list(&stage->topology, LISTED, TAKEN, rest);
    stage->server = peer_seqbrokerd(stage->topology.path);
    (void)caller_p999_us(stage); /* not counted: the ring grows */
}

int main(int argc, char **argv)
{
    static struct stage stage = {.arguments = {.span = 5.0, .runs = 21}};

    stage.report = report_open(argc, argv, &stage.arguments);
    block_sigpipe();
    stage_start(&stage);
    report_table(stage.report, &table);
    report_row(stage.report);
    report_text(stage.report, SEQUENCES, "%d", LISTED);
    report_bar(stage.report, TOOK, 20);
    report_bar(stage.report, SIZE, 1e6);
    report_bar(stage.report, RATIO, 1.1);
    for (int run = 0; run < stage.arguments.runs; run++)
        turn_run(&stage);
    report_row_end(stage.report);
    topology_remove(&stage.topology);
    return report_close(stage.report);
}
