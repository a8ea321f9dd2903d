/* SPDX-License-Identifier: Apache-2.0 */
/* Two nodes of a cluster grant from the same counters at the same time. A node
 * whose transaction comes second is told to try again, wherever its transaction
 * is by then. */
#include "contract/galera_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "support/race.h"

#define TAKES  400
#define SYNCED "synced/main"

/* A row that was never noted nor marked: nothing is found after its lock. */
#define PERIOD "window/main/1/order@20260101"

struct racer {
    struct fixture *f;
    struct seqb_backend *backend;
    const char *counter;
    bool are_new; /* each take is of a new counter, and begins when both racers
                     are here; else all are of one */
    struct seqb_guard *guard;
    struct seqb_block blocks[TAKES];
    int conflicts;
    struct seqb_request request; /* the last */
    char current[SEQB_COUNTER_SIZE];
};

static void racer_begin(struct racer *racer, int i)
{
    if (racer->are_new)
        race_meet();
    if (racer->are_new)
        (void)text_format(racer->current, sizeof racer->current, "%s%d",
                          racer->counter, i);
    else
        (void)text_copy(racer->current, sizeof racer->current, racer->counter);
    racer->request = (struct seqb_request){.counter = racer->current,
                                           .want = 1,
                                           .limit = LIMIT,
                                           .guard = racer->guard};
}

/* Until all is taken, or something else than a conflict comes; the barrier is
 * for both. */
static void racer_run(void *argument)
{
    struct racer *racer = argument;
    enum seqb_status status = SEQB_OK;

    for (int i = 0; i < TAKES; i++) {
        racer_begin(racer, i);
        while (status == SEQB_OK) {
            status = racer->f->ops->reserve(racer->backend, &racer->request, 1,
                                            NULL);
            if (racer->request.status != SEQB_AGAIN)
                break;
            racer->conflicts++;
        }
        status = racer->request.status;
        racer->blocks[i] = racer->request.block;
    }
}

static int block_compare(const void *a, const void *b)
{
    const int64_t x = ((const struct seqb_block *)a)->first;
    const int64_t y = ((const struct seqb_block *)b)->first;

    return (x > y) - (x < y);
}

static int repeats_of_one(const struct racer racers[static 2])
{
    static struct seqb_block all[2 * TAKES];
    int repeats = 0;

    memcpy(all, racers[0].blocks, sizeof racers[0].blocks);
    memcpy(all + TAKES, racers[1].blocks, sizeof racers[1].blocks);
    qsort(all, COUNT(all), sizeof all[0], block_compare);
    for (size_t i = 1; i < COUNT(all); i++)
        repeats += all[i].first == all[i - 1].first;
    return repeats;
}

static int repeats_of_each(const struct racer racers[static 2])
{
    int repeats = 0;

    for (int i = 0; i < TAKES; i++)
        repeats += racers[0].blocks[i].first == racers[1].blocks[i].first;
    return repeats;
}

static void take_at_once(struct fixture *f, struct racer racers[static 2])
{
    const int64_t since_ms = clock_now_ms();
    int repeats;

    f->options.needs_incarnation = true;
    must_open(f);
    f->options.endpoints = hosts_other.list;
    racers[0].backend = f->backend;
    racers[1].backend = must_open_other(f);
    assert_ok(claim(f, SYNCED, f->backend->incarnation));
    racers[0].f = f;
    racers[1].f = f;
    race_run(racers, 2, sizeof racers[0], racer_run);
    for (int i = 0; i < 2; i++) {
        if (racers[i].request.status != SEQB_OK)
            fail_msg("%s", racers[i].request.error.text);
    }
    print_message("two nodes: %d grants in %lld ms, %d conflicts\n", 2 * TAKES,
                  (long long)(clock_now_ms() - since_ms),
                  racers[0].conflicts + racers[1].conflicts);
    f->ops->close(racers[1].backend);
    assert_true(racers[0].conflicts + racers[1].conflicts > 0);
    repeats =
        racers[0].are_new ? repeats_of_each(racers) : repeats_of_one(racers);
    if (repeats > 0)
        fail_msg("%d numbers were granted twice", repeats);
}

TEST_STATE(ON_CLUSTER, two_nodes_grant_no_number_twice)
{
    static struct racer racers[2] = {{.counter = ORDER}, {.counter = ORDER}};

    take_at_once(cluster_prepare(state), racers);
}

/* Both find that the counter is missing, which no row tells a cluster. */
TEST_STATE(ON_CLUSTER, two_nodes_make_no_counter_twice)
{
    static struct racer racers[2] = {{.counter = ORDER, .are_new = true},
                                     {.counter = ORDER, .are_new = true}};

    take_at_once(cluster_prepare(state), racers);
}

/* The one statement of a node aborts the locked rows of the other. */
TEST_STATE(ON_CLUSTER, transaction_that_was_aborted_grants_nothing)
{
    struct seqb_guard guard = {.name = SYNCED, .text = ""};
    static struct racer racers[2] = {{.counter = PERIOD}, {.counter = PERIOD}};

    racers[1].guard = &guard;
    take_at_once(cluster_prepare(state), racers);
}
