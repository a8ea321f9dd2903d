/* SPDX-License-Identifier: Apache-2.0 */
/* The text of the metrics, over a snapshot made by hand. */
#include "daemon/http/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define SEQUENCES 250

static char *text_of(const struct snapshot *snapshot)
{
    struct buffer out = {0};
    char *text = NULL;

    metrics_write(&out, snapshot, 0);
    assert_false(out.is_broken);
    text = strndup(buffer_content(&out), out.length);
    assert_non_null(text);
    buffer_fini(&out);
    return text;
}

static void assert_has(const struct snapshot *snapshot, const char *line,
                       bool expected)
{
    char *text = text_of(snapshot);

    if ((strstr(text, line) != NULL) != expected)
        fail_msg("%s: %s\n%s", expected ? "missing" : "there", line, text);
    free(text);
}

static struct snapshot snapshot_of(struct seqb_sequence_status *sequences,
                                   size_t count)
{
    return (struct snapshot){
        .self = {.broker = "a\"b\\c\nd", .version = "1", .uptime_ms = 61234},
        .sequences = sequences,
        .sequence_count = count};
}

TEST(labels_are_escaped)
{
    const struct snapshot snapshot = snapshot_of(NULL, 0);

    assert_has(&snapshot, ",broker=\"a\\\"b\\\\c\\nd\"} 1\n", true);
}

TEST(times_are_in_seconds)
{
    struct seqb_partition_status partition = {.pool = "p",
                                              .backend = "b",
                                              .latency_us = 1500,
                                              .clock_ms = -2500,
                                              .next_probe_ms = -1};
    struct snapshot snapshot = snapshot_of(NULL, 0);

    snapshot.partitions = &partition;
    snapshot.partition_count = 1;
    assert_has(&snapshot, "\nseqbroker_uptime_seconds 61.234\n", true);
    assert_has(&snapshot,
               "\nseqbroker_partition_latency_seconds{pool=\"p\",partition="
               "\"0\",backend=\"b\"} 0.001500\n",
               true);
    assert_has(&snapshot,
               "\nseqbroker_partition_clock_offset_seconds{pool=\"p\","
               "partition=\"0\",backend=\"b\"} -2.500\n",
               true);
}

TEST(what_is_not_known_is_left_out)
{
    struct seqb_partition_status partition = {.next_probe_ms = -1,
                                              .clock_ms = INT64_MIN};
    struct seqb_sequence_status sequence = {.key = "s",
                                            .period = "none",
                                            .runway_ms = INT64_MAX,
                                            .runs_out_ms = INT64_MAX};
    struct snapshot snapshot = snapshot_of(&sequence, 1);

    snapshot.partitions = &partition;
    snapshot.partition_count = 1;
    assert_has(&snapshot, "\nseqbroker_partition_next_probe_seconds{", false);
    assert_has(&snapshot, "\nseqbroker_partition_clock_offset_seconds{", false);
    assert_has(&snapshot, "\nseqbroker_sequence_runway_seconds{", false);
    assert_has(&snapshot, "\nseqbroker_sequence_runs_out_seconds{", false);
    assert_has(&snapshot, "\nseqbroker_sequence_dropped_total{", false);
    assert_has(&snapshot, "\nseqbroker_clock_behind_seconds", false);
}

static void sequences_fill(struct seqb_sequence_status *sequences)
{
    for (int i = 0; i < SEQUENCES; i++) {
        sequences[i] = (struct seqb_sequence_status){
            .pool = "p", .rate = i, .taken = 10, .runs_out_ms = INT64_MAX};
        sequences[i].runway_ms = 1000 * (int64_t)(i + 5);
        snprintf(sequences[i].key, sizeof sequences[i].key, "s%d", i);
    }
}

TEST(sequences_behind_the_busiest_are_one)
{
    struct seqb_sequence_status sequences[SEQUENCES];
    const struct snapshot snapshot = snapshot_of(sequences, SEQUENCES);

    sequences_fill(sequences);
    assert_has(&snapshot, "taken_total{sequence=\"s249\",pool=\"p\"} 10\n",
               true);
    assert_has(&snapshot, "taken_total{sequence=\"s150\",pool=\"p\"} 10\n",
               true);
    assert_has(&snapshot, "taken_total{sequence=\"s149\",", false);
    assert_has(&snapshot, "taken_total{sequence=\"other\",pool=\"\"} 1500\n",
               true);
    assert_has(&snapshot, "\nseqbroker_taken_total 2500\n", true);
    assert_has(&snapshot, "\nseqbroker_sequences 250\n", true);
}

TEST(the_shortest_span_of_the_others_is_told)
{
    struct seqb_sequence_status sequences[SEQUENCES];
    const struct snapshot snapshot = snapshot_of(sequences, SEQUENCES);

    sequences_fill(sequences);
    assert_has(&snapshot,
               "runway_seconds{sequence=\"other\",pool=\"\"} 5.000\n", true);
    assert_has(&snapshot, "runs_out_seconds{sequence=\"other\"", false);
}

TEST(durations_add_up)
{
    struct snapshot snapshot = snapshot_of(NULL, 0);

    counts_add_duration(&snapshot.counts, 50, 3);
    counts_add_duration(&snapshot.counts, 51, 1);
    counts_add_duration(&snapshot.counts, 11000000, 1);
    assert_has(&snapshot, "_seconds_bucket{le=\"5e-05\"} 3\n", true);
    assert_has(&snapshot, "_seconds_bucket{le=\"0.0001\"} 4\n", true);
    assert_has(&snapshot, "_seconds_bucket{le=\"10\"} 4\n", true);
    assert_has(&snapshot, "_seconds_bucket{le=\"+Inf\"} 5\n", true);
    assert_has(&snapshot, "_seconds_sum 11.000201\n", true);
    assert_has(&snapshot, "_seconds_count 5\n", true);
}

TEST(errors_are_counted_by_their_code)
{
    struct snapshot snapshot = snapshot_of(NULL, 0);
    static const char *const replies[] = {"-ERR x\r\n", "-TIMEOUT y\r\n",
                                          "-ERR z\r\n", "-ERRA\r\n"};

    for (size_t i = 0; i < sizeof replies / sizeof replies[0]; i++)
        counts_add_error(&snapshot.counts, replies[i], strlen(replies[i]));
    assert_has(&snapshot, "errors_total{code=\"ERR\"} 2\n", true);
    assert_has(&snapshot, "errors_total{code=\"TIMEOUT\"} 1\n", true);
    assert_has(&snapshot, "errors_total{code=\"ERRA\"} 1\n", true);
}
