/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's program: runs seeds, a line each, and sums them up.
 *   simulator [--seed N | --seeds FROM..TO] [--first] [--verbose]
 *             [--without GUARD]
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "world.h"

struct options {
    uint64_t from;
    uint64_t to;
    int without; /* enum store_guard */
    bool stops;  /* at the first seed that fails */
    bool is_verbose;
};

static void score_print(uint64_t seed, const struct score *score)
{
    printf("seed=%" PRIu64 " %s numbers=%" PRId64 " calls=%" PRId64
           " errors=%" PRId64 " faults=%" PRId64 " kills=%" PRId64
           " ejections=%" PRId64 " poisoned=%" PRId64 " digest=%016" PRIx64
           "%s%s\n",
           seed, score->failures == 0 ? "ok" : "FAILED", score->numbers,
           score->calls, score->errors, score->faults, score->kills,
           score->ejections, score->poisoned, score->digest,
           score->failures == 0 ? "" : " ", score->failure);
    (void)fflush(stdout);
}

static void score_add(struct score *sum, const struct score *score)
{
    sum->numbers += score->numbers;
    sum->calls += score->calls;
    sum->errors += score->errors;
    sum->faults += score->faults;
    sum->kills += score->kills;
    sum->ejections += score->ejections;
    sum->poisoned += score->poisoned;
    if (score->rescue_us > sum->rescue_us)
        sum->rescue_us = score->rescue_us;
}

static void sum_print(const struct score *sum)
{
    printf("numbers=%" PRId64 " calls=%" PRId64 " errors=%" PRId64
           " faults=%" PRId64 " kills=%" PRId64 " ejections=%" PRId64
           " poisoned=%" PRId64 "\n",
           sum->numbers, sum->calls, sum->errors, sum->faults, sum->kills,
           sum->ejections, sum->poisoned);
}

static bool seeds_read(const char *text, struct options *out)
{
    char *end;

    out->from = out->to = strtoull(text, &end, 10);
    if (end == text)
        return false;
    if (strncmp(end, "..", 2) == 0) {
        text = end + 2;
        out->to = strtoull(text, &end, 10);
    }
    return end != text && *end == '\0' && out->from <= out->to;
}

static bool without_read(const char *name, struct options *out)
{
    for (size_t i = 0; i < STORE_GUARDS; i++) {
        if (strcmp(store_guards[i].name, name) == 0) {
            out->without |= (int)store_guards[i].guard;
            return true;
        }
    }
    return false;
}

static bool options_read(int argc, char **argv, struct options *out)
{
    static const struct option long_options[] = {
        {"seed", required_argument, NULL, 's'},
        {"seeds", required_argument, NULL, 's'},
        {"first", no_argument, NULL, 'f'},
        {"verbose", no_argument, NULL, 'v'},
        {"without", required_argument, NULL, 'w'},
        {0}};
    bool is_legal = true;
    int option;

    *out = (struct options){.from = 1, .to = 2000};
    while (is_legal &&
           (option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (option == 's')
            is_legal = seeds_read(optarg, out);
        else if (option == 'f')
            out->stops = true;
        else if (option == 'v')
            out->is_verbose = true;
        else
            is_legal = option == 'w' && without_read(optarg, out);
    }
    return is_legal && optind == argc;
}

int main(int argc, char **argv)
{
    struct options options;
    struct score sum = {0};
    uint64_t done = 0;
    uint64_t failed = 0;

    if (!options_read(argc, argv, &options)) {
        fprintf(stderr, "usage: simulator [--seed N | --seeds FROM..TO] "
                        "[--first] [--verbose] [--without GUARD]\n");
        return 2;
    }
    while (options.from + done <= options.to && !(options.stops && failed)) {
        struct score score;

        run_seed(options.from + done, options.without, options.is_verbose,
                 &score);
        score_print(options.from + done, &score);
        score_add(&sum, &score);
        failed += score.failures > 0;
        done++;
    }
    sum_print(&sum);
    printf("%" PRIu64 " seeds, %" PRIu64 " failed\n", done, failed);
    return failed == 0 ? 0 : 1;
}
