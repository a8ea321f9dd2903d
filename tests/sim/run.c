/* SPDX-License-Identifier: Apache-2.0 */
/* A run from its first moment to its last. */
#include "run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "broker.h"
#include "clocks.h"
#include "extras.h"
#include "flakes.h"
#include "images.h"
#include "judge.h"
#include "moves.h"
#include "schedule.h"
#include "trusts.h"
#include "world.h"

#define LOOK_US    (200 * MS)
#define START_US   (50 * MS) /* between two brokers' first starts */
#define SETTLE_US  (2 * SECOND)
#define HEALING_US (15 * SECOND) /* the last faults, but for the longest */
#define NIGHT_US   (11 * SECOND) /* the longest without a call */

void run_report(const struct run *run, const char *format, ...)
{
    va_list args;

    if (!run->is_verbose)
        return;
    printf("%9.3f ", (double)(world_now_us() - run->begun_us) / 1e6);
    va_start(args, format);
    (void)vprintf(format, args);
    va_end(args);
    (void)putchar('\n');
}

/* The library's own log, in the run's time. */
static void run_log(void *context, enum seqb_log_level level, const char *line)
{
    (void)level;
    run_report(context, "%s", line);
}

void run_begin(struct run *run, int without)
{
    /* It takes a lock, and in the world that draws whether a task is preempted:
     * a run that is told in full would be another one. */
    if (run->is_verbose)
        seqb_set_logger(run_log, run);
    world_begin(run->scene.seed, run->scene.preempt);
    run->begun_us = world_now_us();
    scene_init(&run->scene, without);
    judge_init(run);
    clocks_begin(run);
    for (int32_t i = 0; i < run->scene.brokers; i++) {
        run->machines[i] =
            (struct machine){.run = run,
                             .index = i,
                             .clock.ahead_ms = run->scene.extras.skew_ms[i]};
        machine_start(&run->machines[i], i * START_US);
    }
}

void run_until(struct run *run, int64_t at_us)
{
    while (world_now_us() < at_us && run->score.failures == 0) {
        (void)world_run(world_now_us() + LOOK_US);
        judge_rescues(run);
    }
}

void run_until_settled(struct run *run)
{
    const int64_t since_us = world_now_us();
    const int64_t until_us = since_us + judge_longest_rescue(run) +
                             flakes_settle_us(&run->scene) + SETTLE_US +
                             NIGHT_US;

    run_until(run, since_us + SETTLE_US);
    while (run->score.failures == 0 && world_now_us() < until_us &&
           !judge_settled(run, since_us + SETTLE_US, false))
        run_until(run, world_now_us() + SECOND);
    if (run->score.failures == 0)
        (void)judge_settled(run, since_us + SETTLE_US, true);
}

void run_end(struct run *run)
{
    run->is_over = true;
    for (int32_t i = 0; i < run->scene.brokers; i++)
        machine_stop(&run->machines[i]);
    if (!world_drain())
        judge_fail(run, "brokers do not close");
    world_end();
    seqb_set_logger(NULL, NULL);
    judge_fini(run);
    clocks_end(run);
    scene_fini(&run->scene);
}

void run_seed(uint64_t seed, int without, bool is_verbose, struct score *out)
{
    struct run *run = calloc(1, sizeof *run);

    if (run == NULL)
        abort();
    scene_draw(&run->scene, seed);
    run->is_verbose = is_verbose;
    extras_begin(run);
    run_begin(run, without);
    clocks_schedule(run);
    schedule_draw(run);
    images_schedule(run);
    extras_schedule(run);
    moves_schedule(run);
    trusts_schedule(run);
    run_until(run, run->begun_us + run->scene.faulty_us + HEALING_US);
    trusts_settle(run);
    if (run->scene.moves.is_on)
        moves_settle(run);
    else
        run_until_settled(run);
    run_end(run);
    *out = run->score;
    free(run);
}
