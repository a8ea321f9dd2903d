/* SPDX-License-Identifier: Apache-2.0 */
/* The two clients, and the phases of a cut. */
#include "cut.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "support/test.h"

#define COUNTER "main/0/order"
#define LIMIT   ((int64_t)1 << 50)
#define SOME    20 /* numbers of a phase */
#define FAILED  2  /* calls that fail */
#define HANG_MS 600000

static bool backend_ready(struct cut_taker *taker, struct seqb_error *err)
{
    return taker->backend != NULL ||
           taker->ops->open(&taker->options, &taker->backend, err) == SEQB_OK;
}

bool cut_take(struct cut_taker *taker, int64_t *out)
{
    struct seqb_request request = {.counter = COUNTER,
                                   .want = 1,
                                   .limit = LIMIT,
                                   .window = SEQB_NO_WINDOW};
    struct seqb_error err = {.text = ""};

    while (backend_ready(taker, &err) &&
           taker->ops->reserve(taker->backend, &request, 1, &err) == SEQB_OK) {
        *out = request.block.first;
        if (request.status == SEQB_OK)
            return true;
        if (request.status != SEQB_AGAIN)
            break;
    }
    (void)text_copy(taker->error, sizeof taker->error,
                    err.text[0] != '\0' ? err.text : request.error.text);
    taker->ops->close(taker->backend);
    taker->backend = NULL;
    return false;
}

static enum cut_phase phase_of(int began, int ended)
{
    return began == CUT_DURING ? (enum cut_phase)ended : (enum cut_phase)began;
}

static void *taker_run(void *argument)
{
    struct cut_taker *taker = argument;

    if (taker->netns >= 0 && setns(taker->netns, CLONE_NEWNET) != 0)
        abort(); /* it would be on the wrong side */
    while (!atomic_load(&taker->is_over)) {
        const int began = atomic_load(&taker->phase);
        int64_t value;
        const bool is_granted = taker->take(taker, &value);
        const enum cut_phase phase =
            phase_of(began, atomic_load(&taker->phase));

        if (is_granted) {
            numbers_add(taker->numbers, &value, 1);
            atomic_fetch_add(&taker->granted[phase], 1);
        } else {
            atomic_fetch_add(&taker->failed[phase], 1);
        }
        usleep(is_granted ? 1000 : 5000);
    }
    return NULL;
}

/* The clients use what is on the caller's stack, so a hang ends the process. */
static void count_await(const struct cut_taker *taker,
                        const atomic_llong *count, int64_t least)
{
    const int64_t until_ms = clock_now_ms() + HANG_MS;

    while (atomic_load(count) < least) {
        if (clock_now_ms() > until_ms) {
            print_error("a client waits for too long: %s\n", taker->error);
            abort();
        }
        usleep(5000);
    }
}

static void phase_begin(struct cut_taker takers[static 2], enum cut_phase phase)
{
    for (int i = 0; i < 2; i++)
        atomic_store(&takers[i].phase, (int)phase);
}

static void both_await(struct cut_taker takers[static 2], enum cut_phase phase)
{
    for (int i = 0; i < 2; i++)
        count_await(&takers[i], &takers[i].granted[phase], SOME);
}

static void takers_start(struct cut_taker takers[static 2],
                         struct numbers *numbers)
{
    numbers_init(numbers);
    for (int i = 0; i < 2; i++) {
        takers[i].numbers = numbers;
        if (takers[i].take == NULL)
            takers[i].take = cut_take;
        assert_ok(thread_start(&takers[i].thread, "taker", taker_run,
                               &takers[i], NULL));
    }
}

static void takers_stop(struct cut_taker takers[static 2])
{
    for (int i = 0; i < 2; i++)
        atomic_store(&takers[i].is_over, true);
    for (int i = 0; i < 2; i++) {
        pthread_join(takers[i].thread, NULL);
        if (takers[i].ops != NULL)
            takers[i].ops->close(takers[i].backend);
    }
}

int64_t cut_run(struct cut_taker takers[static 2], void (*cut)(void *context),
                void (*heal)(void *context), void *context)
{
    struct numbers numbers;

    takers_start(takers, &numbers);
    both_await(takers, CUT_BEFORE);
    cut(context);
    phase_begin(takers, CUT_DURING);
    count_await(&takers[0], &takers[0].failed[CUT_DURING], FAILED);
    count_await(&takers[1], &takers[1].granted[CUT_DURING], SOME);
    phase_begin(takers, CUT_AFTER);
    heal(context);
    both_await(takers, CUT_AFTER);
    takers_stop(takers);
    print_message("cut off: %lld granted, %lld failed (%s); others: %lld "
                  "granted, %lld failed\n",
                  (long long)takers[0].granted[CUT_DURING],
                  (long long)takers[0].failed[CUT_DURING], takers[0].error,
                  (long long)takers[1].granted[CUT_DURING],
                  (long long)takers[1].failed[CUT_DURING]);
    assert_int_equal(numbers_repeats(&numbers), 0);
    numbers_fini(&numbers);
    return takers[0].granted[CUT_DURING];
}
