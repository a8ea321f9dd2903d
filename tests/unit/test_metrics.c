/* SPDX-License-Identifier: Apache-2.0 */
/* The text of the metrics, over a snapshot made by hand. */
#include "daemon/http/metrics/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define SEQUENCES 250
#define LASTING   276U /* counters of 92 of the busiest, three each */

static char *text_of(const struct snapshot *snapshot)
{
    struct buffer out = {0};
    char *text = NULL;

    metrics_write(&out, snapshot);
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
    struct status_partition partition = {.known = {.pool = "p",
                                                   .backend = "b",
                                                   .latency_us = 1500,
                                                   .clock_ms = -2500,
                                                   .next_probe_ms = -1}};
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
    struct status_partition partition = {
        .known = {.next_probe_ms = -1, .clock_ms = INT64_MIN}};
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

/* What was counted of sequences s0, s1, ...: each is busier than the one
 * before, those that are marked are busier than all others. */
static void sums_fill(struct snapshot_sums *sums, const size_t *marked,
                      size_t marked_count)
{
    sums_init(sums);
    for (size_t i = 0; i < SEQUENCES; i++) {
        struct snapshot_rank rank = {
            .index = i,
            .counts = {.rate = (int64_t)i,
                       .taken = 10,
                       .waits = 2,
                       .dropped = 3,
                       .stock = 7,
                       .runway_ms = 1000 * (int64_t)(i + 5),
                       .runs_out_ms = INT64_MAX}};

        for (size_t k = 0; k < marked_count; k++)
            rank.counts.rate += marked[k] == i ? SEQUENCES : 0;
        sums_add(sums, SNAPSHOT_BUSIEST_MAX, &rank);
    }
}

/* The snapshot has the status of the busiest, as snapshot_read makes it. */
static void snapshot_fill(struct snapshot *snapshot,
                          struct seqb_sequence_status *sequences,
                          const size_t *marked, size_t marked_count)
{
    *snapshot = snapshot_of(sequences, 0);
    sums_fill(&snapshot->sums, marked, marked_count);
    for (size_t i = 0; i < snapshot->sums.busiest_count; i++) {
        const struct snapshot_rank *rank = &snapshot->sums.busiest[i];

        sequences[i] =
            (struct seqb_sequence_status){.pool = "p",
                                          .period = "day",
                                          .taken = rank->counts.taken,
                                          .waits = rank->counts.waits,
                                          .dropped = rank->counts.dropped,
                                          .runway_ms = rank->counts.runway_ms,
                                          .runs_out_ms = INT64_MAX};
        snprintf(sequences[i].key, sizeof sequences[i].key, "s%zu",
                 rank->index);
        snapshot->sequence_count++;
    }
}

TEST(sequences_behind_the_busiest_are_one)
{
    struct seqb_sequence_status sequences[SEQUENCES];
    struct snapshot snapshot;

    snapshot_fill(&snapshot, sequences, NULL, 0);
    assert_has(&snapshot, "taken_total{sequence=\"s249\",pool=\"p\"} 10\n",
               true);
    assert_has(&snapshot, "taken_total{sequence=\"s150\",pool=\"p\"} 10\n",
               true);
    assert_has(&snapshot, "taken_total{sequence=\"s149\",", false);
    assert_has(&snapshot, "stock_numbers{sequence=\"other\",pool=\"\"} 1050\n",
               true);
    assert_has(&snapshot,
               "numbers_per_second{sequence=\"other\",pool=\"\"} 11175\n",
               true);
    assert_has(&snapshot, "\nseqbroker_taken_total 2500\n", true);
    assert_has(&snapshot, "\nseqbroker_waits_total 500\n", true);
    assert_has(&snapshot, "\nseqbroker_dropped_total 750\n", true);
    assert_has(&snapshot, "\nseqbroker_sequences 250\n", true);
}

TEST(the_shortest_span_of_the_others_is_told)
{
    struct seqb_sequence_status sequences[SEQUENCES];
    struct snapshot snapshot;

    snapshot_fill(&snapshot, sequences, NULL, 0);
    assert_has(&snapshot,
               "runway_seconds{sequence=\"other\",pool=\"\"} 5.000\n", true);
    assert_has(&snapshot, "runs_out_seconds{sequence=\"other\"", false);
}

/* The value of a sample, or -1 without one. */
static long long sample_in(const char *text, const char *name, size_t length)
{
    for (; text != NULL && *text != '\0'; text = strchr(text, '\n') + 1)
        if (strncmp(text, name, length) == 0)
            return atoll(text + length);
    return -1;
}

/* Of each counter that both texts have. */
static size_t assert_none_went_back(const char *before, const char *now)
{
    size_t compared = 0;

    for (; *before != '\0'; before = strchr(before, '\n') + 1) {
        const size_t line = strcspn(before, "\n");
        const size_t name = strcspn(before, "{ ");
        size_t labels = line;

        if (name < 6 || strncmp(before + name - 6, "_total", 6) != 0)
            continue;
        while (before[labels - 1] != ' ')
            labels--;
        if (sample_in(now, before, labels) < 0)
            continue;
        if (sample_in(now, before, labels) < atoll(before + labels))
            fail_msg("%.*s went back", (int)line, before);
        compared++;
    }
    return compared;
}

/* Which sequences are the busiest changes from one to the next. */
TEST(no_counter_goes_back_when_others_become_the_busiest)
{
    static const size_t moved[] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct seqb_sequence_status sequences[SEQUENCES];
    struct snapshot snapshot;
    char *texts[3];

    snapshot_fill(&snapshot, sequences, NULL, 0);
    texts[0] = text_of(&snapshot);
    snapshot_fill(&snapshot, sequences, moved, 8);
    texts[1] = text_of(&snapshot);
    snapshot_fill(&snapshot, sequences, moved + 4, 2);
    texts[2] = text_of(&snapshot);
    assert_true(strstr(texts[1], "{sequence=\"s0\",") != NULL);
    assert_null(strstr(texts[2], "{sequence=\"s0\","));
    assert_true(assert_none_went_back(texts[0], texts[1]) > LASTING);
    assert_true(assert_none_went_back(texts[1], texts[2]) > LASTING);
    for (int i = 0; i < 3; i++)
        free(texts[i]);
}

TEST(the_busiest_are_those_of_the_highest_rate)
{
    struct snapshot_sums sums;
    const size_t marked[] = {17};

    sums_fill(&sums, marked, 1);
    assert_int_equal(sums.busiest_count, SNAPSHOT_BUSIEST_MAX);
    assert_int_equal(sums.busiest[0].index, 17);
    for (size_t i = 1; i < SNAPSHOT_BUSIEST_MAX; i++)
        assert_int_equal(sums.busiest[i].index, SEQUENCES - i);
}

/* What they gave still counts, since counters must not go back. */
TEST(sequences_that_were_removed_are_none_of_the_busiest)
{
    const struct snapshot_rank removed = {
        .counts = {.taken = 10, .stock = 7, .is_removed = true}};
    struct snapshot_sums sums;

    sums_init(&sums);
    for (int i = 0; i < 2; i++)
        sums_add(&sums, 1, &removed);
    assert_int_equal(sums.busiest_count, 0);
    assert_int_equal(sums.sequences, 0);
    assert_int_equal(sums.taken, 20);
    assert_int_equal(sums.stock, 0);
}

TEST(worker_ids_are_held_or_not)
{
    struct seqb_worker_lease leases[] = {
        {.pool = "p", .worker = 3, .left_ms = 7900},
        {.pool = "q", .worker = -1}};
    struct snapshot snapshot = snapshot_of(NULL, 0);

    assert_has(&snapshot, "seqbroker_worker_", false);
    snapshot.leases = leases;
    snapshot.lease_count = 2;
    assert_has(&snapshot, "\nseqbroker_worker_held{pool=\"p\"} 1\n", true);
    assert_has(&snapshot, "\nseqbroker_worker_held{pool=\"q\"} 0\n", true);
    assert_has(&snapshot, "\nseqbroker_worker_id{pool=\"p\"} 3\n", true);
    assert_has(&snapshot, "\nseqbroker_worker_lease_seconds{pool=\"p\"} 7\n",
               true);
    assert_has(&snapshot, "seqbroker_worker_id{pool=\"q\"}", false);
    assert_has(&snapshot, "seqbroker_worker_lease_seconds{pool=\"q\"}", false);
}

TEST(what_clients_use_and_are_refused_is_counted)
{
    struct snapshot snapshot = snapshot_of(NULL, 0);

    snapshot.stats = (struct status_stats){.max_connections = 10000,
                                           .connections_refused = 1,
                                           .connections_timed_out = 2,
                                           .client_memory = 3000,
                                           .max_client_memory = 4000,
                                           .answers_refused = 5,
                                           .logins_refused = 6,
                                           .audit_lines_lost = 10,
                                           .tls_handshakes = 7,
                                           .tls_failed = 8,
                                           .http_connections = 9};
    assert_has(&snapshot, "\nseqbroker_max_connections 10000\n", true);
    assert_has(&snapshot, "\nseqbroker_connections_refused_total 1\n", true);
    assert_has(&snapshot, "\nseqbroker_connections_timed_out_total 2\n", true);
    assert_has(&snapshot, "\nseqbroker_client_memory_bytes 3000\n", true);
    assert_has(&snapshot, "\nseqbroker_max_client_memory_bytes 4000\n", true);
    assert_has(&snapshot, "\nseqbroker_answers_refused_total 5\n", true);
    assert_has(&snapshot, "\nseqbroker_logins_refused_total 6\n", true);
    assert_has(&snapshot, "\nseqbroker_audit_lines_lost_total 10\n", true);
    assert_has(&snapshot, "\nseqbroker_tls_handshakes_total 7\n", true);
    assert_has(&snapshot, "\nseqbroker_tls_failed_total 8\n", true);
    assert_has(&snapshot, "\nseqbroker_http_connections 9\n", true);
}

TEST(limits_of_users_and_keys_are_shown)
{
    struct snapshot snapshot = snapshot_of(NULL, 0);

    snapshot.stats.commands_waiting = 3;
    snapshot.users[0] = (struct snapshot_limit){
        {.rate = 10, .burst = 20, .max_count = 30, .max_connections = 40},
        "shop"};
    snapshot.user_count = 1;
    snapshot.keys[0] = (struct snapshot_limit){
        {.taken = 1, .refused = 2, .today = 3, .daily_limit = 4}, "order"};
    snapshot.key_count = 1;
    snapshot.refused_by[1] = 5;
    assert_has(&snapshot, "\nseqbroker_commands_waiting 3\n", true);
    assert_has(&snapshot, "\nseqbroker_user_rate{user=\"shop\"} 10\n", true);
    assert_has(&snapshot, "\nseqbroker_user_burst{user=\"shop\"} 20\n", true);
    assert_has(&snapshot, "\nseqbroker_user_max_count{user=\"shop\"} 30\n",
               true);
    assert_has(&snapshot,
               "\nseqbroker_user_max_connections{user=\"shop\"} 40\n", true);
    assert_has(&snapshot, "\nseqbroker_key_taken_total{key=\"order\"} 1\n",
               true);
    assert_has(&snapshot, "\nseqbroker_key_refused_total{key=\"order\"} 2\n",
               true);
    assert_has(&snapshot, "\nseqbroker_key_today{key=\"order\"} 3\n", true);
    assert_has(&snapshot, "\nseqbroker_key_daily_limit{key=\"order\"} 4\n",
               true);
    assert_has(&snapshot,
               "\nseqbroker_limit_refused_connections_total{limit=\"max_"
               "connections_per_address\"} 5\n",
               true);
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

/* A counter that appears with its first error hides it from rate(). */
TEST(errors_of_alerts_have_a_sample_before_the_first)
{
    static const char *const codes[] = {"TIMEOUT", "UNAVAILABLE", "EXHAUSTED",
                                        "LAYOUT", "CLOCK"};
    struct snapshot snapshot = snapshot_of(NULL, 0);
    char line[96];

    for (size_t i = 0; i < COUNT_OF(codes); i++) {
        snprintf(line, sizeof line, "errors_total{code=\"%s\"} 0\n", codes[i]);
        assert_has(&snapshot, line, true);
    }
    counts_add_error(&snapshot.counts, "-CLOCK x\r\n", 10);
    counts_add_error(&snapshot.counts, "-CLOCKS x\r\n", 11);
    assert_has(&snapshot, "errors_total{code=\"CLOCK\"} 1\n", true);
    assert_has(&snapshot, "errors_total{code=\"CLOCK\"} 0\n", false);
    assert_has(&snapshot, "errors_total{code=\"CLOCKS\"} 1\n", true);
    assert_has(&snapshot, "errors_total{code=\"LAYOUT\"} 0\n", true);
}

TEST(events_and_gaps_are_counted)
{
    struct snapshot snapshot = snapshot_of(NULL, 0);

    snapshot.events[0] =
        (struct log_tally){.event = "raised", .lines = {[SEQB_LOG_WARN] = 2}};
    snapshot.events[1] = (struct log_tally){.event = "dropped", .numbers = 30};
    snapshot.events[2] =
        (struct log_tally){.event = "spool", .taken = 4, .given = 9, .kept = 5};
    snapshot.events[3] =
        (struct log_tally){.event = "unasked", .last = 8, .waiting = 3};
    snapshot.events[4] =
        (struct log_tally){.event = "asked", .last = 9, .waiting = 1};
    snapshot.sums.dropped = 7;
    assert_has(&snapshot,
               "\nseqbroker_events_total{event=\"raised\",level=\"warn\"} 2\n",
               true);
    assert_has(&snapshot,
               "\nseqbroker_gap_numbers_total{cause=\"dropped\"} 30\n", true);
    assert_has(&snapshot,
               "\nseqbroker_gap_numbers_total{cause=\"resumed\"} 0\n", true);
    assert_has(&snapshot,
               "\nseqbroker_gap_numbers_total{cause=\"stamp_over\"} 7\n", true);
    assert_has(&snapshot, "\nseqbroker_spool_taken_total 4\n", true);
    assert_has(&snapshot, "\nseqbroker_spool_given_total 9\n", true);
    assert_has(&snapshot, "\nseqbroker_spool_numbers 5\n", true);
    assert_has(&snapshot, "\nseqbroker_sequences_unasked 1\n", true);
    assert_has(&snapshot, "\nseqbroker_event_last_line{event=\"asked\"} 9\n",
               true);
    assert_has(&snapshot, "\nseqbroker_event_last_line{event=\"raised\"} 0\n",
               true);
    snapshot.events[3].last = 10;
    assert_has(&snapshot, "\nseqbroker_sequences_unasked 3\n", true);
}

/* A counter that appears with its first event hides it from rate(). */
TEST(events_that_have_not_happened_have_a_sample)
{
    struct snapshot snapshot = snapshot_of(NULL, 0);
    char line[96];

    snapshot.events[0] =
        (struct log_tally){.event = "ready", .lines = {[SEQB_LOG_DEBUG] = 3}};
    snapshot.events[1] = (struct log_tally){.event = "of_an_engine",
                                            .lines = {[SEQB_LOG_ERROR] = 4}};
    for (const struct log_event_kind *kind = log_event_kinds;
         kind->name != NULL; kind++) {
        assert_true(strlen(kind->name) < sizeof snapshot.events[0].event);
        assert_int_not_equal(kind->levels, 0);
        for (int level = 0; level < LOG_LEVELS; level++) {
            snprintf(line, sizeof line,
                     "\nseqbroker_events_total{event=\"%s\",level=\"%s\"} 0\n",
                     kind->name, log_level_name(level));
            assert_has(&snapshot, line, (kind->levels >> level & 1U) != 0);
        }
    }
    assert_has(&snapshot, "{event=\"ready\",level=\"debug\"} 3\n", true);
    assert_has(&snapshot, "{event=\"of_an_engine\",level=\"error\"} 4\n", true);
}

/* Only what names the family changes. */
TEST(openmetrics_names_counters_without_their_end)
{
    const struct snapshot snapshot = snapshot_of(NULL, 0);
    struct buffer out = {0};
    char *text = NULL;

    openmetrics_write(&out, &snapshot);
    assert_false(out.is_broken);
    text = strndup(buffer_content(&out), out.length);
    assert_non_null(strstr(text, "\n# TYPE seqbroker_taken counter\n"));
    assert_non_null(strstr(text, "\n# HELP seqbroker_taken numbers "));
    assert_non_null(strstr(text, "\nseqbroker_taken_total 0\n"));
    assert_non_null(strstr(text, "\n# TYPE seqbroker_sequences gauge\n"));
    assert_null(strstr(text, "_total counter"));
    assert_string_equal(strstr(text, "# EOF"), "# EOF\n");
    free(text);
    buffer_fini(&out);
}
