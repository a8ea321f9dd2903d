/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests a second over 50 connections: seqbrokerd on four durable SQLite
 * partitions, redis-server without persistence, and a server that answers a
 * constant, each kept busy in turn by one client that saturates it. INCR with
 * one request in flight and more; SEQ.NEXT COUNT 1000 beside redis' INCR; INCR
 * of a seqbrokerd with users and limits; and INCR by TLS. Each seqbrokerd
 * serves HTTP as well, and is asked for /metrics every 5 s all the time.
 */
#include "bench/certificate.h"
#include "bench/peers.h"
#include "bench/report.h"
#include "bench/saturate.h"
#include "bench/scraper.h"
#include "bench/topology.h"
#include "platform/text.h"
#include "support/server_redis.h"

#define CONNECTIONS 50
#define COUNT       1000
#define EVERY_S     5.0 /* from one scrape to the next */

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

enum { L_PIPELINE, L_OURS, L_REDIS, L_RATIO };

static const struct report_column limited_columns[] = {
    [L_PIPELINE] = {"pipeline", NULL, BAR_NONE, PLOT_NOT},
    [L_OURS] = {"seqbrokerd with limits", "thousand/s", BAR_NONE, PLOT_LOG},
    [L_REDIS] = {"redis-server", "thousand/s", BAR_NONE, PLOT_LOG},
    [L_RATIO] = {"to redis", "", BAR_AT_LEAST, PLOT_LINEAR},
};

static const struct report_table incr_limited = {"incr-limited",
                                                 "INCR with users and limits",
                                                 NULL,
                                                 SHAPE_BARS,
                                                 limited_columns,
                                                 4};

enum { T_PIPELINE, T_OURS, T_REDIS, T_RATIO, T_OUR_CPU, T_REDIS_CPU, T_CPU };

static const struct report_column tls_columns[] = {
    [T_PIPELINE] = {"pipeline", NULL, BAR_NONE, PLOT_NOT},
    [T_OURS] = {"seqbrokerd", "thousand/s", BAR_NONE, PLOT_LOG},
    [T_REDIS] = {"redis-server", "thousand/s", BAR_NONE, PLOT_LOG},
    [T_RATIO] = {"to redis", "", BAR_AT_LEAST, PLOT_LINEAR},
    [T_OUR_CPU] = {"CPU of seqbrokerd", "us/request", BAR_NONE, PLOT_LOG},
    [T_REDIS_CPU] = {"CPU of redis-server", "us/request", BAR_NONE, PLOT_LOG},
    [T_CPU] = {"redis' CPU to ours", "", BAR_AT_LEAST, PLOT_LINEAR},
};

static const struct report_table incr_tls = {"incr-tls", "INCR by TLS", NULL,
                                             SHAPE_BARS, tls_columns,   7};

enum { SEQBROKERD, REDIS_SERVER, CONSTANT, SERVERS, LIMITED = SERVERS, ALL };

/* Each seqbrokerd that is scraped. */
enum { PLAIN_SCRAPER, LIMITED_SCRAPER, SCRAPERS };

struct stage {
    struct report *report;
    struct report_arguments arguments;
    struct server *servers[ALL];
    int tls_ports[CONSTANT]; /* of those before it */
    char redis_port[16];     /* the same as a word */
    struct scraper *scrapers[SCRAPERS];
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

/* By TLS; `*cpu_us` is what a request cost the server's processor. */
static double tls_requests_s(const struct stage *stage, int server,
                             int pipeline, double *cpu_us)
{
    char address[PEER_ADDRESS_SIZE];
    const struct saturate_options options = {
        .address = address,
        .key = "bench",
        .numbers = 1,
        .connections = CONNECTIONS,
        .pipeline = pipeline,
        .seconds = stage->arguments.span,
    };
    const double before_s = peer_cpu_s(stage->servers[server]);
    double requests = 0;

    (void)text_format(address, sizeof address, "tls:%d",
                      stage->tls_ports[server]);
    requests = saturate(&options).requests_s;
    *cpu_us = (peer_cpu_s(stage->servers[server]) - before_s) * 1e6 /
              (requests * options.seconds);
    return requests;
}

static void tls_row(const struct stage *stage, int pipeline)
{
    struct report *report = stage->report;

    report_row(report);
    report_text(report, T_PIPELINE, "%d", pipeline);
    for (int run = 0; run < stage->arguments.runs; run++) {
        double ours_us = 0;
        double redis_us = 0;
        const double ours =
            tls_requests_s(stage, SEQBROKERD, pipeline, &ours_us);
        const double redis =
            tls_requests_s(stage, REDIS_SERVER, pipeline, &redis_us);

        report_sample(report, T_OURS, ours / 1e3);
        report_sample(report, T_REDIS, redis / 1e3);
        report_sample(report, T_RATIO, ours / redis);
        report_sample(report, T_OUR_CPU, ours_us);
        report_sample(report, T_REDIS_CPU, redis_us);
        report_sample(report, T_CPU, redis_us / ours_us);
    }
    report_bar(report, T_RATIO, 1.0);
    report_bar(report, T_CPU, 1.0);
    report_row_end(report);
}

/* Who does not log in is a user here, whose every number is counted four times:
 * a rate and a day's limit of the user, and of the key. No limit is reached. */
static void limited_start(struct stage *stage, struct topology *topology)
{
    const int http_port = (int)free_port();
    char rest[1024];

    (void)text_format(
        rest, sizeof rest,
        "auto_sequences = { pattern = \"*\"; };\n"
        "daemon = { http = \"127.0.0.1:%d\"; open_metrics = true; };\n"
        "users = ( { name = \"default\"; role = \"take\"; keys = [ \"be*\" ]; "
        "rate = 1000000000; daily_limit = 1000000000000; } );\n"
        "key_limits = ( { name = \"all\"; keys = [ \"b*\" ]; "
        "rate = 1000000000; daily_limit = 1000000000000; } );",
        http_port);
    topology_sqlite(topology, 4, rest);
    stage->servers[LIMITED] = peer_seqbrokerd(topology->path);
    stage->scrapers[LIMITED_SCRAPER] = scraper_start(http_port, EVERY_S);
}

static void limited_row(const struct stage *stage, int pipeline)
{
    struct report *report = stage->report;

    report_row(report);
    report_text(report, L_PIPELINE, "%d", pipeline);
    for (int run = 0; run < stage->arguments.runs; run++) {
        const double ours = requests_s(stage, LIMITED, "TCP", pipeline, 1);
        const double redis =
            requests_s(stage, REDIS_SERVER, "TCP", pipeline, 1);

        report_sample(report, L_OURS, ours / 1e3);
        report_sample(report, L_REDIS, redis / 1e3);
        report_sample(report, L_RATIO, ours / redis);
    }
    report_bar(report, L_RATIO, 1.0);
    report_row_end(report);
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

/* Both serve plain clients and those of TLS. */
static void stage_start(struct stage *stage, struct topology *topology,
                        const struct certificate *certificate)
{
    const int http_port = (int)free_port();
    char rest[512];
    const char *const redis_args[] = {"--tls-port",
                                      stage->redis_port,
                                      "--tls-cert-file",
                                      certificate->cert_file,
                                      "--tls-key-file",
                                      certificate->key_file,
                                      "--tls-auth-clients",
                                      "no",
                                      NULL};

    for (int i = 0; i < CONSTANT; i++)
        stage->tls_ports[i] = (int)free_port();
    (void)text_format(stage->redis_port, sizeof stage->redis_port, "%d",
                      stage->tls_ports[REDIS_SERVER]);
    (void)text_format(rest, sizeof rest,
                      "auto_sequences = { pattern = \"*\"; };\n"
                      "daemon = { http = \"127.0.0.1:%d\"; "
                      "tls_listen = [ \"127.0.0.1:%d\" ]; "
                      "tls_cert_file = \"%s\"; tls_key_file = \"%s\"; };",
                      http_port, stage->tls_ports[SEQBROKERD],
                      certificate->cert_file, certificate->key_file);
    topology_sqlite(topology, 4, rest);
    stage->servers[SEQBROKERD] = peer_seqbrokerd(topology->path);
    stage->servers[REDIS_SERVER] = server_redis(redis_args);
    stage->servers[CONSTANT] = peer_constant();
    stage->scrapers[PLAIN_SCRAPER] = scraper_start(http_port, EVERY_S);
}

int main(int argc, char **argv)
{
    struct stage stage = {.arguments = {.span = 0.6, .runs = 5}};
    struct certificate certificate;
    struct topology topology;
    struct topology limited;

    stage.report = report_open(argc, argv, &stage.arguments);
    block_sigpipe();
    certificate_make(&certificate);
    stage_start(&stage, &topology, &certificate);
    limited_start(&stage, &limited);
    for (int i = 0; i < ALL; i++) /* not counted: the ring grows */
        (void)requests_s(&stage, i, "TCP", 64, 1);
    report_table(stage.report, &incr);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        incr_row(&stage, &settings[i]);
    report_table(stage.report, &count);
    count_row(&stage, "TCP");
    count_row(&stage, "unix socket");
    report_table(stage.report, &incr_limited);
    limited_row(&stage, 1);
    limited_row(&stage, 16);
    report_table(stage.report, &incr_tls);
    tls_row(&stage, 1);
    tls_row(&stage, 16);
    for (int i = 0; i < SCRAPERS; i++)
        scraper_stop(stage.scrapers[i]);
    topology_remove(&topology);
    topology_remove(&limited);
    certificate_remove(&certificate);
    return report_close(stage.report);
}
