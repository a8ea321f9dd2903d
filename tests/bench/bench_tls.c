/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What TLS to a store costs its broker's callers: numbers by seqb_next from a
 * pool of one Redis, and how long the calls of a caller at a steady pace take,
 * with TLS and without it, in turn in one run on one server.
 */
#include <time.h>

#include "bench/certificate.h"
#include "bench/load.h"
#include "bench/now.h"
#include "bench/report.h"
#include "bench/takers.h"
#include "bench/topology.h"
#include "platform/text.h"
#include "support/server_redis.h"
#include "support/test.h"

#define PACE       200000 /* calls a second */
#define MOST       1.1    /* of the processor's time without TLS */
#define ARGS       8
#define TEXT_SIZE  2048
#define PLACE_SIZE 512

enum { BITS, PLAIN, SECURE, PLAIN_NS, SECURE_NS, RATIO, P999, SECURE_P999 };

static const struct report_column columns[] = {
    [BITS] = {"memory bits", NULL, BAR_NONE, PLOT_NOT},
    [PLAIN] = {"redis", "million/s", BAR_NONE, PLOT_LOG},
    [SECURE] = {"redis by TLS", "million/s", BAR_NONE, PLOT_LOG},
    [PLAIN_NS] = {"redis, processor a number", "ns", BAR_NONE, PLOT_NOT},
    [SECURE_NS] = {"by TLS, processor a number", "ns", BAR_NONE, PLOT_NOT},
    [RATIO] = {"TLS / plain", "", BAR_AT_MOST, PLOT_NOT},
    [P999] = {"redis, p99.9", "us", BAR_NONE, PLOT_LOG},
    [SECURE_P999] = {"by TLS, p99.9", "us", BAR_NONE, PLOT_LOG},
};

static const struct report_table tls = {"store-tls", "A store by TLS", NULL,
                                        SHAPE_BARS,  columns,          8};

/* One of the two ways to the server. */
struct way {
    struct topology topology;
    struct seqb_broker *broker;
    struct seqb_sequence *sequence;
};

static void way_open(struct way *way, const char *name, const char *place,
                     int bits)
{
    char text[TEXT_SIZE];

    (void)text_format(
        text, sizeof text,
        "backends = ( { name = \"redis\"; engine = \"redis\"; "
        "prefix = \"%s%d\"; %s },\n"
        "  { name = \"windows\"; engine = \"sqlite\"; path = \"w.db\"; } );\n"
        "pools = ( { name = \"main\"; partitions = [ \"redis\" ];\n"
        "  authority = \"windows\"; timeout = \"5s\"; } );\n"
        "sequences = ( { key = \"order\"; memory_bits = %d; deadline = "
        "\"30s\"; max_unused = 16000000; } );\n",
        name, bits, place, bits);
    topology_write(&way->topology, text);
    way->broker = topology_open(&way->topology);
    way->sequence = sequence_of(way->broker, "order");
}

static void way_close(struct way *way)
{
    seqb_close(way->broker);
    topology_remove(&way->topology);
}

/* In us; nothing if a busy machine had no time for the caller. */
static void paced_sample(struct report *report, const struct way *way,
                         double seconds, size_t column)
{
    static struct load load;

    load_start(&load, way->sequence, PACE);
    pause_s(seconds);
    load_stop(&load);
    if (load.errors > 0)
        fail_msg("%s", load.first.text);
    if (load.latency.count > 0)
        report_sample(report, column,
                      (double)latency_at(&load.latency, 0.999) / 1e3);
}

/* What one thread takes as fast as it can. The time of the processor that a
 * number costs this process in all, in ns, which others do not change. */
static double rate_sample(struct report *report, const struct way *way,
                          double seconds, size_t column)
{
    const clock_t before = clock();
    const double rate = takers_rate(way->sequence, TAKE_NEXT, 1, seconds);
    const double spent_s = (double)(clock() - before) / CLOCKS_PER_SEC;

    report_sample(report, column, rate);
    return 1e3 * spent_s / (rate * seconds);
}

static void bits_row(struct report *report,
                     const struct report_arguments *arguments,
                     char places[2][PLACE_SIZE], int bits)
{
    static struct way plain;
    static struct way secure;

    way_open(&plain, "plain", places[0], bits);
    way_open(&secure, "tls", places[1], bits);
    report_row(report);
    report_text(report, BITS, "%d", bits);
    report_bar(report, RATIO, MOST);
    /* Not counted: the rings grow with the demand. */
    (void)takers_rate(plain.sequence, TAKE_NEXT, 1, arguments->span);
    (void)takers_rate(secure.sequence, TAKE_NEXT, 1, arguments->span);
    for (int i = 0; i < arguments->runs; i++) {
        const double without =
            rate_sample(report, &plain, arguments->span, PLAIN);
        const double with =
            rate_sample(report, &secure, arguments->span, SECURE);

        report_sample(report, PLAIN_NS, without);
        report_sample(report, SECURE_NS, with);
        report_sample(report, RATIO, with / without);
        paced_sample(report, &plain, arguments->span, P999);
        paced_sample(report, &secure, arguments->span, SECURE_P999);
    }
    report_row_end(report);
    way_close(&plain);
    way_close(&secure);
}

/* A server for both, and what leads a backend there in either way. */
static void server_begin(const struct certificate *certificate,
                         char places[2][PLACE_SIZE])
{
    static char port[16];
    static const char *args[ARGS + 1];
    const struct server *server;

    (void)text_format(port, sizeof port, "%d", (int)free_port());
    args[0] = "--tls-port";
    args[1] = port;
    args[2] = "--tls-cert-file";
    args[3] = certificate->cert_file;
    args[4] = "--tls-key-file";
    args[5] = certificate->key_file;
    args[6] = "--tls-auth-clients";
    args[7] = "no";
    server = server_redis(args);
    (void)text_format(places[0], PLACE_SIZE, "host = \"localhost\"; port = %d;",
                      (int)server_port(server));
    (void)text_format(places[1], PLACE_SIZE,
                      "host = \"localhost\"; port = %s; "
                      "tls = \"verify\"; tls_ca = \"%s\";",
                      port, certificate->cert_file);
}

int main(int argc, char **argv)
{
    struct report_arguments arguments = {.span = 0.4, .runs = 7};
    struct report *report = report_open(argc, argv, &arguments);
    struct certificate certificate;
    char places[2][PLACE_SIZE];

    block_sigpipe();
    certificate_make(&certificate);
    server_begin(&certificate, places);
    report_table(report, &tls);
    bits_row(report, &arguments, places, 10);
    bits_row(report, &arguments, places, 0);
    certificate_remove(&certificate);
    return report_close(report);
}
