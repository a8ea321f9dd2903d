/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a broker takes from seqb_open to its first number, and how much
 * memory it then holds: on the embedded default, the first start (which makes
 * the four stores) apart from the later ones. Each start in a process of its
 * own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <seqbroker/seqbroker.h>

#include "bench/now.h"
#include "bench/report.h"
#include "bench/resident.h"
#include "support/folder.h"

enum { KIND, MS, RESIDENT };

static const struct report_column columns[] = {
    [KIND] = {"embedded default", NULL, BAR_NONE, PLOT_NOT},
    [MS] = {"to the first number", "ms", BAR_AT_MOST, PLOT_LINEAR},
    [RESIDENT] = {"resident then", "MB", BAR_NONE, PLOT_NOT},
};

static const struct report_table start_table = {"start",    "Start", NULL,
                                                SHAPE_BARS, columns, 3};

struct start {
    double ms;
    double mb;
};

static int start_here(struct start *out)
{
    const double begin = now_s();
    struct seqb_broker *broker;
    struct seqb_sequence *sequence;
    struct seqb_error err;
    int64_t value;

    if (seqb_open(NULL, &broker, &err) != SEQB_OK ||
        seqb_get_sequence(broker, "order", &sequence, &err) != SEQB_OK ||
        seqb_next(sequence, &value, &err) != SEQB_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    out->ms = (now_s() - begin) * 1e3;
    out->mb = resident_mb(0);
    seqb_close(broker);
    return 0;
}

static int start_in_child(struct start *out)
{
    int status = -1;
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0)
        return 1;
    child = fork();
    if (child == 0) {
        const int failed = start_here(out);

        if (!failed && write(ends[1], out, sizeof *out) != sizeof *out)
            _exit(1);
        _exit(failed);
    }
    close(ends[1]);
    if (read(ends[0], out, sizeof *out) != sizeof *out)
        out->ms = -1;
    close(ends[0]);
    waitpid(child, &status, 0);
    return out->ms < 0 || status != 0;
}

static void bench_start(struct report *report, size_t row)
{
    struct start start;

    if (start_in_child(&start) != 0)
        exit(EXIT_FAILURE);
    report_select(report, row);
    report_sample(report, MS, start.ms);
    report_sample(report, RESIDENT, start.mb);
}

int main(int argc, char **argv)
{
    struct report_arguments arguments = {.span = 1, .runs = 11, .unit = "1"};
    struct report *report = report_open(argc, argv, &arguments);

    report_table(report, &start_table);
    report_row(report);
    report_text(report, KIND, "first start, four stores are made");
    report_row(report);
    report_text(report, KIND, "later start");
    report_bar(report, MS, 50);
    for (int i = 0; i < arguments.runs; i++) {
        char folder[] = "/tmp/seqbroker-start-XXXXXX";

        if (mkdtemp(folder) == NULL ||
            setenv("SEQBROKER_STATE_DIR", folder, 1) != 0)
            return EXIT_FAILURE;
        bench_start(report, 0);
        bench_start(report, 1);
        folder_remove(folder);
    }
    report_rows_end(report, 2);
    return report_close(report);
}
