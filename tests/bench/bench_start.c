/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a broker takes from seqb_open to its first number, and how much
 * memory it then holds: on the embedded default, the first start (which makes
 * the four stores) apart from the later ones. Each start in a process of its
 * own; medians of five.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <seqbroker/seqbroker.h>

#include "support/folder.h"

#define ROUNDS 5

struct start {
    double ms;      /* until the first number */
    int64_t rss_kb; /* VmRSS then */
};

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int64_t read_rss_kb(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[128];
    long long kb = -1;

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = strtoll(line + 6, NULL, 10);
    }
    if (file != NULL)
        (void)fclose(file);
    return kb;
}

static int start_here(struct start *out)
{
    const double begin = now_ms();
    struct seqb_broker *broker;
    struct seqb_sequence *sequence;
    struct seqb_error err;
    int64_t value;

    if (seqb_open(NULL, &broker, &err) != SEQB_OK ||
        seqb_sequence(broker, "order", &sequence, &err) != SEQB_OK ||
        seqb_next(sequence, &value, &err) != SEQB_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    out->ms = now_ms() - begin;
    out->rss_kb = read_rss_kb();
    seqb_close(broker);
    return 0;
}

static int start_in_child(struct start *out)
{
    int ends[2];
    int status;
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
    return out->ms < 0;
}

static int compare(const void *a, const void *b)
{
    const struct start *x = a;
    const struct start *y = b;

    return (x->ms > y->ms) - (x->ms < y->ms);
}

static void tell(const char *what, struct start *starts, size_t n)
{
    const struct start *middle = &starts[n / 2];

    qsort(starts, n, sizeof *starts, compare);
    printf("| %s | %.1f | %.1f ... %.1f | %.1f |\n", what, middle->ms,
           starts[0].ms, starts[n - 1].ms, (double)middle->rss_kb / 1024);
}

int main(void)
{
    struct start first[ROUNDS];
    struct start later[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        char folder[] = "/tmp/seqbroker-start-XXXXXX";

        if (mkdtemp(folder) == NULL ||
            setenv("SEQBROKER_STATE_DIR", folder, 1) != 0 ||
            start_in_child(&first[i]) != 0 || start_in_child(&later[i]) != 0)
            return 1;
        folder_remove(folder);
    }
    printf("| embedded default | ms to the first number | min ... max | "
           "resident MB |\n|---|---|---|---|\n");
    tell("first start, stores made", first, ROUNDS);
    tell("later start", later, ROUNDS);
    return 0;
}
