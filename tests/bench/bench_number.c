/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What texts cost: numbers of a day taken as SN-<date>-<number>-<damm>, beside
 * the same numbers taken by the same calls and written by hand; the writing
 * alone; a shuffle, there and back; and reading texts, all of it verified.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bench/alone.h"
#include "bench/by_hand.h"
#include "bench/die.h"
#include "bench/now.h"
#include "bench/report.h"
#include "bench/texts.h"
#include "bench/topology.h"
#include "platform/text.h"
#include "support/take.h"

#define TEMPLATE                                                               \
    "SN-@{date, format=%Y%m%d}-@{seq, width=6}-@{check, algorithm=damm}"
#define SECRET   "how to be sure that nobody counts\n"
#define UTC      "UTC"
#define SHANGHAI "Asia/Shanghai"

/* Rings that hold much more than a burst takes. */
#define ROW(key, zone)                                                         \
    "  { key = \"" key "\"; time_zone = \"" zone "\"; period = \"day\"; "      \
    "memory_bits = 0; deadline = \"10s\"; runway = \"1m\"; "                   \
    "max_unused = 4000000; template = \"" TEMPLATE "\"; },\n"

static const char sequences[] =
    "sequences = (\n" ROW("utc", UTC) ROW("shanghai", SHANGHAI) ROW(
        "berlin", "Europe/Berlin") "  { key = \"code\"; memory_bits = 0; "
                                   "period = \"day\"; "
                                   "shuffle_key_file = \"codes.key\"; "
                                   "template = \"@{date, "
                                   "format=%y%m%d}@{shuffle, width=5}\"; } );";

static void write_secret(const struct topology *topology)
{
    char path[TOPOLOGY_PATH_SIZE];
    int fd;

    (void)text_format(path, sizeof path, "%s/codes.key", topology->folder);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, SECRET, sizeof SECRET - 1) != sizeof SECRET - 1 ||
        close(fd) != 0)
        die("the key file cannot be written");
}

/* The process's, for what is written by hand: no thread asks for it now. */
static void set_zone(const char *zone)
{
    if (setenv("TZ", zone, 1) != 0)
        die("out of memory");
    tzset();
}

/* --- taken as texts --- */

enum { WAY, ZONE, THREADS, RATE, HAND, RATIO };

static const struct report_column text_columns[] = {
    [WAY] = {"texts", NULL, BAR_NONE, PLOT_NOT},
    [ZONE] = {"time zone", NULL, BAR_NONE, PLOT_NOT},
    [THREADS] = {"threads", NULL, BAR_NONE, PLOT_NOT},
    [RATE] = {"by template, a thread", "million/s", BAR_AT_LEAST, PLOT_LINEAR},
    [HAND] = {"by hand, a thread", "million/s", BAR_NONE, PLOT_LINEAR},
    [RATIO] = {"template / by hand", "", BAR_AT_LEAST, PLOT_NOT},
};

static const struct report_table texts = {
    "texts", "Numbers taken as texts", NULL, SHAPE_BARS, text_columns, 6};

struct text_pair {
    const char *name;
    enum text_way template;
    enum text_way by_hand;
};

static const struct text_pair pairs[] = {
    {"1,000 a call", TEXTS_MANY, TEXTS_HAND_MANY},
    {"one a call", TEXTS_ONE, TEXTS_HAND_ONE},
};

static void bench_pair(struct report *report,
                       const struct report_arguments *arguments,
                       const struct text_source *source,
                       const struct text_pair *pair, int threads)
{
    const bool is_single = pair->template == TEXTS_ONE && threads == 1;

    report_text(report, WAY, "%s", pair->name);
    report_text(report, THREADS, "%d", threads);
    for (int i = 0; i < arguments->runs; i++) {
        const double ns =
            texts_ns(source, pair->template, threads, arguments->span);
        const double by_hand =
            texts_ns(source, pair->by_hand, threads, arguments->span);

        report_sample(report, RATE, 1e3 / ns);
        report_sample(report, HAND, 1e3 / by_hand);
        report_sample(report, RATIO, by_hand / ns);
    }
    report_bar(report, RATE, is_single ? 20 : 10);
    report_bar(report, RATIO, is_single ? 3 : 5);
}

static void bench_texts(struct report *report,
                        const struct report_arguments *arguments,
                        struct seqb_broker *broker, const char *key,
                        const char *zone)
{
    const struct text_source source = {broker, sequence_of(broker, key), key};

    set_zone(zone);
    texts_warm(&source);
    texts_compare(&source);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        for (int threads = 1; threads <= 2; threads++) {
            report_row(report);
            report_text(report, ZONE, "%s", zone);
            bench_pair(report, arguments, &source, &pairs[i], threads);
            report_row_end(report);
        }
    }
}

/* --- the writing alone --- */

enum { A_WHAT, A_ZONE, A_NS, A_HAND, A_RATIO };

static const struct report_column alone_columns[] = {
    [A_WHAT] = {"by hand", NULL, BAR_NONE, PLOT_NOT},
    [A_ZONE] = {"time zone", NULL, BAR_NONE, PLOT_NOT},
    [A_NS] = {"by template", "ns a text", BAR_NONE, PLOT_LINEAR},
    [A_HAND] = {"by hand", "ns a text", BAR_NONE, PLOT_LINEAR},
    [A_RATIO] = {"by hand / template", "", BAR_NONE, PLOT_NOT},
};

static const struct report_table alone = {
    "texts-alone", "The writing of texts alone",
    NULL,          SHAPE_BARS,
    alone_columns, 5};

static void bench_alone(struct report *report,
                        const struct report_arguments *arguments,
                        const char *what, enum alone_way by_hand,
                        const char *zone)
{
    set_zone(zone);
    report_row(report);
    report_text(report, A_WHAT, "%s", what);
    report_text(report, A_ZONE, "%s", zone);
    for (int i = 0; i < arguments->runs; i++) {
        const double ns =
            alone_text_ns(TEMPLATE, zone, ALONE_TEMPLATE, arguments->span);
        const double hand_ns =
            alone_text_ns(TEMPLATE, zone, by_hand, arguments->span);

        report_sample(report, A_NS, ns);
        report_sample(report, A_HAND, hand_ns);
        report_sample(report, A_RATIO, hand_ns / ns);
    }
    report_row_end(report);
}

/* --- shuffles --- */

enum { S_WIDTH, S_THERE, S_BACK };

static const struct report_column shuffle_columns[] = {
    [S_WIDTH] = {"digits", NULL, BAR_NONE, PLOT_NOT},
    [S_THERE] = {"number to code", "ns", BAR_AT_MOST, PLOT_LINEAR},
    [S_BACK] = {"code to number", "ns", BAR_AT_MOST, PLOT_LINEAR},
};

static const struct report_table shuffles = {"shuffle",  "A shuffle",     NULL,
                                             SHAPE_BARS, shuffle_columns, 3};

static void bench_shuffle(struct report *report,
                          const struct report_arguments *arguments, int width)
{
    report_row(report);
    report_text(report, S_WIDTH, "%d", width);
    for (int i = 0; i < arguments->runs; i++) {
        report_sample(report, S_THERE,
                      alone_shuffle_ns(width, false, arguments->span));
        report_sample(report, S_BACK,
                      alone_shuffle_ns(width, true, arguments->span));
    }
    if (width == 9) {
        report_bar(report, S_THERE, 250);
        report_bar(report, S_BACK, 250);
    }
    report_row_end(report);
}

/* --- reading --- */

enum { P_TEXT, P_ZONE, P_WHAT, P_NS };

static const struct report_column parse_columns[] = {
    [P_TEXT] = {"text", NULL, BAR_NONE, PLOT_NOT},
    [P_ZONE] = {"time zone", NULL, BAR_NONE, PLOT_NOT},
    [P_WHAT] = {"what it is of", NULL, BAR_NONE, PLOT_NOT},
    [P_NS] = {"read and verified", "ns", BAR_AT_MOST, PLOT_LINEAR},
};

static const struct report_table parsing = {"parse",    "Reading texts", NULL,
                                            SHAPE_BARS, parse_columns,   4};

static double parse_ns(struct seqb_sequence *sequence,
                       char (*all)[BY_HAND_SIZE], double seconds)
{
    const int64_t start_ns = now_ns();
    const double end = now_s() + seconds;
    int64_t count = 0;

    do {
        for (int i = 0; i < TEXTS_AT_ONCE; i++) {
            struct seqb_parsed parsed;
            struct seqb_error err;

            must(seqb_parse(sequence, all[i], &parsed, &err), &err);
        }
        count += TEXTS_AT_ONCE;
    } while (now_s() < end);
    return (double)(now_ns() - start_ns) / (double)count;
}

static void bench_parse(struct report *report,
                        const struct report_arguments *arguments,
                        struct seqb_sequence *sequence, const char *zone,
                        const char *what)
{
    static char all[TEXTS_AT_ONCE][BY_HAND_SIZE];
    struct seqb_error err;

    must(take_texts(sequence, TEXTS_AT_ONCE, all[0], BY_HAND_SIZE, &err), &err);
    report_row(report);
    report_text(report, P_TEXT, "`%s`", all[TEXTS_AT_ONCE / 2]);
    report_text(report, P_ZONE, "%s", zone);
    report_text(report, P_WHAT, "%s", what);
    for (int i = 0; i < arguments->runs; i++)
        report_sample(report, P_NS, parse_ns(sequence, all, arguments->span));
    report_bar(report, P_NS, 250);
    report_row_end(report);
}

static void bench_parses(struct report *report,
                         const struct report_arguments *arguments,
                         struct seqb_broker *broker)
{
    static const char checked[] = "date, number, check digit";

    report_table(report, &parsing);
    bench_parse(report, arguments, sequence_of(broker, "utc"), UTC, checked);
    bench_parse(report, arguments, sequence_of(broker, "shanghai"), SHANGHAI,
                checked);
    bench_parse(report, arguments, sequence_of(broker, "berlin"),
                "Europe/Berlin", checked);
    bench_parse(report, arguments, sequence_of(broker, "code"), UTC,
                "date, shuffled number");
}

int main(int argc, char **argv)
{
    static const int widths[] = {5, 6, 7, 9, 12, 18};
    struct report_arguments arguments = {.span = 0.4, .runs = 5};
    struct report *report = report_open(argc, argv, &arguments);
    struct topology topology;
    struct seqb_broker *broker;

    topology_sqlite(&topology, 1, sequences);
    write_secret(&topology);
    broker = topology_open(&topology);
    report_table(report, &texts);
    bench_texts(report, &arguments, broker, "utc", UTC);
    bench_texts(report, &arguments, broker, "shanghai", SHANGHAI);
    report_table(report, &alone);
    bench_alone(report, &arguments, "a date for each text", ALONE_HAND, UTC);
    bench_alone(report, &arguments, "a date for each text", ALONE_HAND,
                SHANGHAI);
    bench_alone(report, &arguments, "one date for 250 texts", ALONE_HAND_DATED,
                UTC);
    report_table(report, &shuffles);
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        bench_shuffle(report, &arguments, widths[i]);
    bench_parses(report, &arguments, broker);
    seqb_close(broker);
    topology_remove(&topology);
    return report_close(report);
}
