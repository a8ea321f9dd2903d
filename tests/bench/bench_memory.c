/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory a broker holds with 1, 1,000 and 100,000 sequences that were
 * asked for one number each and are idle since: a process that uses the
 * library, and seqbrokerd. On four durable SQLite partitions; each broker in
 * a process of its own, and on stores of its own.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/die.h"
#include "bench/now.h"
#include "bench/peers.h"
#include "bench/report.h"
#include "bench/resident.h"
#include "bench/topology.h"
#include "bench/wire.h"

#define REST                                                                   \
    "auto_sequences = { pattern = \"*\"; limit = 1000000; "                    \
    "deadline = \"60s\"; };"
#define AT_ONCE 500   /* requests in flight */
#define MANY    10000 /* sequences: measured once */

enum { WHO, SEQUENCES, RESIDENT, EACH, FILLED };

static const struct report_column columns[] = {
    [WHO] = {"process", NULL, BAR_NONE, PLOT_NOT},
    [SEQUENCES] = {"idle sequences", NULL, BAR_NONE, PLOT_NOT},
    [RESIDENT] = {"resident", "MB", BAR_AT_MOST, PLOT_LOG},
    [EACH] = {"a sequence", "bytes", BAR_NONE, PLOT_NOT},
    [FILLED] = {"until each had a number", "s", BAR_NONE, PLOT_NOT},
};

static const struct report_table memory = {"memory",   "Memory", NULL,
                                           SHAPE_BARS, columns,  5};

/* What a process says of itself. */
struct held {
    double mb;
    double seconds; /* until each sequence had given its number */
};

static const struct {
    int sequences;
    double most_mb;
} sizes[] = {{1, 12}, {1000, 16}, {100000, 250}};

static void key_write(int i, char *out, size_t size)
{
    snprintf(out, size, "sequence-%d", i);
}

/* --- a process that uses the library --- */

struct asked {
    struct seqb_sequence *sequence;
    bool has_answered;
};

static struct asked *asked_new(struct seqb_broker *broker, int count)
{
    struct asked *asked = calloc((size_t)count, sizeof *asked);
    char key[32];

    if (asked == NULL)
        die("out of memory");
    for (int i = 0; i < count; i++) {
        key_write(i, key, sizeof key);
        asked[i].sequence = sequence_of(broker, key);
    }
    return asked;
}

/* The rings of many are filled at once: none is waited for. True if all had
 * a number before this. */
static bool take_where_there_is(struct asked *asked, int count)
{
    struct seqb_error err;
    bool all = true;
    int64_t number;

    for (int i = 0; i < count; i++) {
        if (asked[i].has_answered)
            continue;
        all = false;
        asked[i].has_answered =
            seqb_try_next(asked[i].sequence, &number, &err) == SEQB_OK;
        if (!asked[i].has_answered && err.status != SEQB_AGAIN)
            die(err.text);
    }
    return all;
}

static struct held library_hold(const struct topology *topology, int count)
{
    struct seqb_broker *broker = topology_open(topology);
    const double start = now_s();
    struct asked *asked = asked_new(broker, count);
    struct held held;

    while (!take_where_there_is(asked, count))
        pause_s(0.001);
    held.seconds = now_s() - start;
    free(asked); /* the caller's own, which would be counted */
    pause_s(0.2);
    held.mb = resident_mb(0);
    seqb_close(broker);
    return held;
}

static struct held library_run(const struct topology *topology, int count)
{
    struct held held = {-1, -1};
    int status = -1;
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0)
        die("no pipe");
    child = fork();
    if (child < 0)
        die("cannot fork");
    if (child == 0) {
        held = library_hold(topology, count);
        _exit(write(ends[1], &held, sizeof held) != sizeof held);
    }
    close(ends[1]);
    if (read(ends[0], &held, sizeof held) != sizeof held)
        die("the broker failed");
    close(ends[0]);
    waitpid(child, &status, 0);
    return held;
}

/* --- seqbrokerd --- */

static void lines_await(int fd, int lines)
{
    static char input[WIRE_INPUT_SIZE];

    while (lines > 0) {
        const ssize_t got = read(fd, input, sizeof input);

        if (got <= 0)
            die_of_errno("read");
        lines -= wire_count_lines(input, (size_t)got);
    }
}

static void ask_some(int fd, int from, int to)
{
    struct wire_request request;
    char key[32];

    for (int i = from; i < to; i++) {
        key_write(i, key, sizeof key);
        if (!wire_request_make(key, 1, &request) ||
            write(fd, request.text, request.size) != (ssize_t)request.size)
            die_of_errno("write");
    }
    lines_await(fd, to - from);
}

static struct held daemon_run(const struct topology *topology, int count)
{
    struct server *server = peer_seqbrokerd(topology->path);
    char address[PEER_ADDRESS_SIZE];
    const double start = now_s();
    struct held held;
    int fd;

    peer_unix(server, address);
    fd = wire_dial(address);
    for (int i = 0; i < count; i += AT_ONCE)
        ask_some(fd, i, i + AT_ONCE < count ? i + AT_ONCE : count);
    held.seconds = now_s() - start;
    close(fd);
    pause_s(0.2);
    held.mb = peer_resident_mb(server);
    server_free(server);
    return held;
}

/* --- both --- */

static struct held run_one(bool is_daemon, int count)
{
    struct topology topology;
    struct held held;

    topology_sqlite(&topology, 4, REST);
    held = is_daemon ? daemon_run(&topology, count)
                     : library_run(&topology, count);
    topology_remove(&topology);
    return held;
}

/* A sequence costs what is more than with one alone. */
static void bench_process(struct report *report, bool is_daemon, int runs)
{
    double alone_mb = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const int count = sizes[i].sequences;
        /* So many take long to fill, and differ little. */
        const int times = count < MANY ? runs : 1;

        report_row(report);
        report_text(report, WHO, is_daemon ? "seqbrokerd" : "the library's");
        report_text(report, SEQUENCES, "%d", count);
        for (int run = 0; run < times; run++) {
            const struct held held = run_one(is_daemon, count);

            report_sample(report, RESIDENT, held.mb);
            report_sample(report, FILLED, held.seconds);
            if (count > 1)
                report_sample(report, EACH,
                              (held.mb - alone_mb) * 1024 * 1024 / count);
        }
        if (count == 1)
            alone_mb = report_median(report, RESIDENT);
        report_bar(report, RESIDENT, sizes[i].most_mb);
        report_row_end(report);
    }
}

int main(int argc, char **argv)
{
    struct report_arguments arguments = {.span = 1, .runs = 5, .unit = "1"};
    struct report *report = report_open(argc, argv, &arguments);

    block_sigpipe();
    report_table(report, &memory);
    bench_process(report, false, arguments.runs);
    bench_process(report, true, arguments.runs);
    return report_close(report);
}
