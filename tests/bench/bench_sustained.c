/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many numbers a second a pool of durable stores sustains, taken a
 * thousand at a time by one thread: four SQLite partitions, one, and the four
 * servers of config/mixed.conf; beside the same stores asked directly for each
 * number over one connection, in turn in one run.
 */

#include "bench/mixed.h"
#include "bench/now.h"
#include "bench/report.h"
#include "bench/topology.h"
#include "platform/text.h"
#include "support/servers.h"
#include "support/take.h"
#include "support/test.h"

#define AT_ONCE 1000 /* numbers in one call */
#define LEAST   100  /* times what the store gives directly */

#define RULES "deadline = \"30s\"; max_unused = 16000000; memory_bits = %d"

enum { STORES, BITS, RATE, DIRECT, RATIO };

static const struct report_column columns[] = {
    [STORES] = {"stores", NULL, BAR_NONE, PLOT_NOT},
    [BITS] = {"memory bits", NULL, BAR_NONE, PLOT_NOT},
    [RATE] = {"seqbroker", "million/s", BAR_NONE, PLOT_LINEAR},
    [DIRECT] = {"each asked of the store", "numbers/s", BAR_NONE, PLOT_LOG},
    [RATIO] = {"ratio", "", BAR_AT_LEAST, PLOT_LOG},
};

static const struct report_table sustained = {
    "sustained", "Sustained numbers", NULL, SHAPE_BARS, columns, 5};

/* What stands beside the broker: SQLite, or the four servers in turn. */
struct peer {
    struct direct *sqlite;
    struct mixed_direct *mixed;
};

static double broker_rate(struct seqb_sequence *sequence, double seconds)
{
    static int64_t numbers[AT_ONCE];
    const double start = now_s();
    struct seqb_error err;
    int64_t taken = 0;

    while (now_s() - start < seconds) {
        if (take_numbers(sequence, AT_ONCE, numbers, &err) != SEQB_OK)
            fail_msg("%s", err.text);
        taken += AT_ONCE;
    }
    return (double)taken / (now_s() - start);
}

static double direct_rate(const struct peer *peer, double seconds)
{
    const double start = now_s();
    int64_t taken = 0;

    for (; now_s() - start < seconds; taken++) {
        if (peer->mixed != NULL)
            mixed_direct_next(peer->mixed);
        else
            assert_true(direct_sqlite.next(peer->sqlite));
    }
    return (double)taken / (now_s() - start);
}

/* In the row that was begun. */
static void bench_pair(struct report *report,
                       const struct report_arguments *arguments,
                       const struct topology *topology, const struct peer *peer)
{
    struct seqb_broker *broker = topology_open(topology);
    struct seqb_sequence *sequence = sequence_of(broker, "order");

    /* Not counted: the ring grows with the demand. */
    (void)broker_rate(sequence, arguments->span);
    for (int i = 0; i < arguments->runs; i++) {
        const double ours = broker_rate(sequence, arguments->span);
        const double theirs = direct_rate(peer, arguments->span);

        report_sample(report, RATE, ours / 1e6);
        report_sample(report, DIRECT, theirs);
        report_sample(report, RATIO, ours / theirs);
    }
    seqb_close(broker);
}

static void bench_files(struct report *report,
                        const struct report_arguments *arguments,
                        int partitions, int bits)
{
    struct topology topology;
    struct peer peer = {0};
    char rest[192];
    char path[96];

    (void)text_format(rest, sizeof rest,
                      "sequences = ( { key = \"order\"; " RULES "; } );", bits);
    topology_sqlite(&topology, partitions, rest);
    (void)text_format(path, sizeof path, "%s/direct.db", topology.folder);
    peer.sqlite = direct_sqlite.open(path, 0);
    assert_non_null(peer.sqlite);
    report_row(report);
    report_text(report, STORES, "%s",
                partitions == 1 ? "one SQLite file" : "four SQLite files");
    report_text(report, BITS, "%d", bits);
    if (partitions == 4 && bits == 3)
        report_bar(report, RATIO, LEAST);
    bench_pair(report, arguments, &topology, &peer);
    report_row_end(report);
    direct_sqlite.close(peer.sqlite);
    topology_remove(&topology);
}

static void bench_servers(struct report *report,
                          const struct report_arguments *arguments)
{
    struct topology topology;
    struct peer peer = {0};

    mixed_start(&topology);
    peer.mixed = mixed_direct_new();
    report_row(report);
    report_text(report, STORES, "config/mixed.conf");
    report_text(report, BITS, "3");
    bench_pair(report, arguments, &topology, &peer);
    report_row_end(report);
    mixed_direct_free(peer.mixed);
    topology_remove(&topology);
}

int main(int argc, char **argv)
{
    struct report_arguments arguments = {.span = 0.5, .runs = 5};
    struct report *report = report_open(argc, argv, &arguments);

    block_sigpipe();
    report_table(report, &sustained);
    bench_files(report, &arguments, 4, 3);
    bench_files(report, &arguments, 1, 3);
    bench_files(report, &arguments, 4, 10);
    bench_servers(report, &arguments);
    return report_close(report);
}
