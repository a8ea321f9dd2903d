/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What seqb_next costs through the shared library, beside a bare atomic
 * fetch_add with as many threads in the same run. Pairs in turn, medians of
 * five. The topology is the embedded default with the memory bits given:
 * numbers come from four durable SQLite partitions while they are taken.
 *
 *   bench_next [MEMORY_BITS [THREADS...]]
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <seqbroker/seqbroker.h>

#include "support/folder.h"

#define ROUNDS      5
#define THREADS_MAX 16
#define RUN_S       1.0
#define STRIDE      4096 /* takes between two looks at the clock */

enum subject { FETCH_ADD, SEQB_NEXT, SUBJECTS };

struct bench {
    struct seqb_sequence *sequence;
    _Alignas(64) _Atomic int64_t counter;
};

struct work {
    struct bench *bench;
    enum subject subject;
    double ns; /* out: a take, per thread */
    pthread_t thread;
    int failed;
};

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int take_some(struct work *work)
{
    int64_t value;

    for (int i = 0; i < STRIDE; i++) {
        if (work->subject == FETCH_ADD)
            atomic_fetch_add(&work->bench->counter, 1);
        else if (seqb_next(work->bench->sequence, &value, NULL) != SEQB_OK)
            return -1;
    }
    return 0;
}

static void *work_run(void *argument)
{
    struct work *work = argument;
    const double start = now_s();
    double end = start;
    int64_t takes = 0;

    while (end - start < RUN_S && !work->failed) {
        work->failed = take_some(work) != 0;
        takes += STRIDE;
        end = now_s();
    }
    work->ns = (end - start) * 1e9 / (double)takes;
    return NULL;
}

/* Million takes a second of all threads together. */
static double measure(struct bench *bench, enum subject subject, int threads)
{
    struct work work[THREADS_MAX];
    double rate = 0;

    for (int i = 0; i < threads; i++) {
        work[i] = (struct work){.bench = bench, .subject = subject};
        if (pthread_create(&work[i].thread, NULL, work_run, &work[i]) != 0)
            exit(1);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(work[i].thread, NULL);
        if (work[i].failed)
            exit(1);
        rate += 1e3 / work[i].ns;
    }
    return rate;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;

    return (x > y) - (x < y);
}

static void bench_threads(struct bench *bench, int threads)
{
    double rates[SUBJECTS][ROUNDS];
    double ratios[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        rates[FETCH_ADD][i] = measure(bench, FETCH_ADD, threads);
        rates[SEQB_NEXT][i] = measure(bench, SEQB_NEXT, threads);
        ratios[i] = rates[SEQB_NEXT][i] / rates[FETCH_ADD][i];
    }
    qsort(rates[FETCH_ADD], ROUNDS, sizeof(double), compare);
    qsort(rates[SEQB_NEXT], ROUNDS, sizeof(double), compare);
    qsort(ratios, ROUNDS, sizeof(double), compare);
    printf("| %d | %.1f | %.1f | %.2f | %.2f | %.2f ... %.2f |\n", threads,
           rates[SEQB_NEXT][ROUNDS / 2], rates[FETCH_ADD][ROUNDS / 2],
           1e3 * threads / rates[SEQB_NEXT][ROUNDS / 2], ratios[ROUNDS / 2],
           ratios[0], ratios[ROUNDS - 1]);
    fflush(stdout);
}

static int write_topology(const char *path, int memory_bits)
{
    FILE *file = fopen(path, "we");

    if (file == NULL)
        return -1;
    fprintf(file, "broker = { name = \"bench\"; };\nbackends = (\n");
    for (int i = 0; i < 4; i++)
        fprintf(file,
                "  { name = \"s%d\"; engine = \"sqlite\"; path = "
                "\"%d.db\"; }%s\n",
                i, i, i < 3 ? "," : "");
    fprintf(file,
            ");\npools = ( { name = \"main\"; partitions = [ \"s0\", \"s1\", "
            "\"s2\", \"s3\" ]; } );\nsequences = ( { key = \"bench\"; "
            "memory_bits = %d; deadline = \"10s\"; max_unused = 16000000; } "
            ");\n",
            memory_bits);
    return fclose(file);
}

int main(int argc, char **argv)
{
    const int memory_bits = argc > 1 ? atoi(argv[1]) : 10;
    char folder[] = "/tmp/seqbroker-bench-XXXXXX";
    char path[sizeof folder + 16];
    struct bench bench = {0};
    struct seqb_broker *broker;
    struct seqb_error err;

    if (mkdtemp(folder) == NULL || setenv("SEQBROKER_STATE_DIR", folder, 1))
        return 1;
    snprintf(path, sizeof path, "%s/bench.conf", folder);
    if (write_topology(path, memory_bits) != 0)
        return 1;
    if (seqb_open(path, &broker, &err) != SEQB_OK ||
        seqb_sequence(broker, "bench", &bench.sequence, &err) != SEQB_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("seqb_next, memory_bits = %d, four SQLite partitions; medians of "
           "%d\n\n",
           memory_bits, ROUNDS);
    printf("| threads | seqb_next, million/s | fetch_add, million/s | ns a "
           "take and thread | ratio | ratio, min ... max |\n"
           "|---|---|---|---|---|---|\n");
    for (int i = 2; i < argc || i < 5; i++) {
        static const int usual[] = {1, 2, 4};
        const int threads = argc > 2 ? atoi(argv[i]) : usual[i - 2];

        if (threads < 1 || threads > THREADS_MAX)
            return 2;
        bench_threads(&bench, threads);
        if (argc > 2 && i + 1 == argc)
            break;
    }
    seqb_close(broker);
    folder_remove(folder);
    return 0;
}
