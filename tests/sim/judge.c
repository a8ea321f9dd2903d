/* SPDX-License-Identifier: Apache-2.0 */
/* What is claimed of calls, partitions and connections. */
#include "judge.h"

#include <stdarg.h>
#include <stdio.h>

#include "bounds.h"
#include "clocks.h"
#include "extras.h"
#include "flakes.h"
#include "ha/policy/round_robin.h"
#include "images.h"
#include "platform/text.h"
#include "world.h"

#define LATE_US (6 * MS) /* an answer may come so long past a deadline */
#define ATTEMPTS_US                                                            \
    (SECOND - 2 * MS) /* at least, from one to the next but one */
#define HUNG_SLACK 1  /* a call that had begun when the last one was judged */

void judge_init(struct run *run)
{
    for (int32_t i = 0; i < SCENE_KEYS; i++)
        oracle_init(&run->oracle[i]);
    run->score.digest = 14695981039346656037U;
}

void judge_grant(struct site *site, const struct seqb_request *request)
{
    struct score *score = &site->owner->run->score;

    if (request->block.count > score->largest)
        score->largest = request->block.count;
}

void judge_fini(struct run *run)
{
    for (int32_t i = 0; i < SCENE_KEYS; i++)
        oracle_fini(&run->oracle[i]);
}

/* FNV-1a over eight bytes at once. */
static void digest_add(struct run *run, int64_t value)
{
    run->score.digest = (run->score.digest ^ (uint64_t)value) * 1099511628211U;
    run->score.digest ^= run->score.digest >> 29;
}

void judge_fail(struct run *run, const char *format, ...)
{
    char text[sizeof run->score.failure];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (run->score.failures++ == 0)
        (void)text_format(run->score.failure, sizeof run->score.failure,
                          "at %.3f s: %s",
                          (double)(world_now_us() - run->begun_us) / 1e6, text);
    if (run->is_verbose)
        printf("%9.3f FAILED %s\n",
               (double)(world_now_us() - run->begun_us) / 1e6, text);
}

/* --- the partitions --- */

static size_t partitions_read(const struct broker *broker,
                              struct seqb_partition_status *out)
{
    size_t n;

    ha_status(broker->ha, out, SCENE_BACKENDS, &n);
    return n;
}

static bool is_locked_out(const struct seqb_partition_status *partition)
{
    return partition->state == SEQB_PARTITION_POISONED ||
           partition->state == SEQB_PARTITION_REFUSED;
}

/* Since when the partition could be asked though it is not; WORLD_NEVER: it
 * cannot. That a connection broke may be found out much later. */
static int64_t idle_since(const struct broker *broker, int32_t i,
                          const struct seqb_partition_status *all)
{
    const struct scene *scene = &broker->run->scene;
    const int64_t ejected_us = world_now_us() - all[i].since_ms * MS;
    const int64_t since_us = bounds_able_since(broker, i);

    if (is_locked_out(&all[i]) ||
        (scene_is_windowed(scene, i) && scene->pool.layout.authority >= 0 &&
         is_locked_out(&all[scene->pool.layout.authority])))
        return WORLD_NEVER;
    if (pool_state_is_usable(all[i].state) || since_us > ejected_us)
        return since_us;
    return ejected_us;
}

static void rescue_check(struct broker *broker, int32_t i,
                         const struct seqb_partition_status *all)
{
    const struct seqb_partition_status *partition = &all[i];
    const struct scene *scene = &broker->run->scene;
    const int64_t since_us = idle_since(broker, i, all);

    if (pool_state_is_usable(partition->state) || since_us == WORLD_NEVER)
        return;
    if (world_now_us() - since_us > bounds_rescue(scene, i))
        judge_fail(broker->run,
                   "broker %d: partition %d is %s though it has been well for "
                   "%lld ms, longer than %lld: %s",
                   (int)broker->index, (int)i,
                   seqb_partition_state_name(partition->state),
                   (long long)((world_now_us() - since_us) / MS),
                   (long long)(bounds_rescue(scene, i) / MS),
                   partition->reason);
}

static void broker_rescues(struct broker *broker)
{
    struct seqb_partition_status partitions[SCENE_BACKENDS];
    const int32_t n = 1 << broker->run->scene.pool.layout.bits;

    (void)partitions_read(broker, partitions);
    for (int32_t i = 0; i < n; i++)
        rescue_check(broker, i, partitions);
}

void judge_rescues(struct run *run)
{
    for (int32_t i = 0; i < run->scene.brokers; i++) {
        struct broker *broker = run->machines[i].broker;

        if (broker != NULL && broker->is_open && !run->scene.moves.is_on)
            broker_rescues(broker);
    }
}

int64_t judge_longest_rescue(const struct run *run)
{
    int64_t longest_us = 0;

    for (int32_t i = 0; i < 1 << run->scene.pool.layout.bits; i++) {
        const int64_t us = bounds_rescue(&run->scene, i);

        if (us > longest_us)
            longest_us = us;
    }
    return longest_us;
}

static bool lessors_settled(const struct broker *broker)
{
    struct ha_lessor lessors[SCENE_BACKENDS];
    size_t n;

    ha_lessors(broker->ha, lessors, SCENE_BACKENDS, &n);
    for (size_t i = 0; i < n; i++) {
        if (lessors[i].state != HA_LESSOR_LEVEL)
            return false;
    }
    return true;
}

/* Whether a partition that answers may have no number left. A store that failed
 * over begins above the few values that ids have. */
static bool may_be_used_up(const struct run *run)
{
    return run->scene.runs_out ||
           (run->scene.has_ids && run->score.exhausted > 0);
}

static bool broker_settled(const struct broker *broker, int64_t since_us)
{
    struct seqb_partition_status partitions[SCENE_BACKENDS];
    const size_t n = partitions_read(broker, partitions);

    for (size_t i = 0; i < n; i++) {
        if (!pool_state_is_usable(partitions[i].state) &&
            !is_locked_out(&partitions[i]))
            return false;
    }
    if (!lessors_settled(broker) || !flakes_settled(broker, since_us))
        return false;
    return broker->granted_us > since_us || may_be_used_up(broker->run) ||
           broker->run->score.poisoned > 0;
}

bool judge_settled(struct run *run, int64_t since_us, bool is_late)
{
    for (int32_t i = 0; i < run->scene.brokers; i++) {
        const struct broker *broker = run->machines[i].broker;

        if (broker != NULL && broker->is_open &&
            broker_settled(broker, since_us))
            continue;
        if (is_late)
            judge_fail(run, "broker %d does not serve in full again: %s",
                       (int)i,
                       broker == NULL || !broker->is_open
                           ? "it is not open"
                           : "a partition rests, or nobody is given a number");
        return false;
    }
    return true;
}

/* --- calls --- */

void judge_numbers(struct run *run, int32_t key, const int64_t *numbers,
                   size_t n)
{
    struct oracle *oracle = &run->oracle[key];
    const int64_t repeats = oracle->repeats;

    oracle_add(oracle, numbers, n);
    run->score.repeats += oracle->repeats - repeats;
    if (oracle->repeats > repeats && repeats == 0)
        judge_fail(run, "number %lld of %s was handed out twice",
                   (long long)oracle->repeated, run->scene.sequences[key].key);
}

static void numbers_record(const struct judge_call *call,
                           const int64_t *numbers, size_t n)
{
    struct broker *broker = call->broker;
    struct run *run = broker->run;
    int64_t *highest = &broker->highest[call->key];

    run->score.numbers += (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        digest_add(run, numbers[i]);
        if (numbers[i] > *highest || run->scene.is_timed)
            *highest = numbers[i];
        else if (*highest - numbers[i] > run->score.disorder)
            run->score.disorder = *highest - numbers[i];
    }
    judge_numbers(run, call->key, numbers, n);
    if (flakes_are(&run->scene, call->key))
        broker->flaked_us = world_now_us();
    else
        broker->granted_us = world_now_us();
}

/* The first partition that could have answered for long enough, or -1. */
static int32_t find_able(const struct broker *broker, int64_t deadline_us)
{
    const struct scene *scene = &broker->run->scene;
    struct seqb_partition_status partitions[SCENE_BACKENDS];

    (void)partitions_read(broker, partitions);
    for (int32_t i = 0; i < 1 << scene->pool.layout.bits; i++) {
        const int64_t since_us = idle_since(broker, i, partitions);
        const int64_t bound_us = bounds_forced(scene, i);

        if (since_us != WORLD_NEVER && world_now_us() - since_us > bound_us &&
            (scene->pool.rescue == HA_RESCUE_FIXED || deadline_us > bound_us))
            return i;
    }
    return -1;
}

/* A caller that waited for the clock may have no time left for a store. */
static void refusal_check(const struct judge_call *call,
                          const struct seqb_error *err)
{
    struct run *run = call->broker->run;
    const int64_t deadline_us =
        run->scene.sequences[call->key].deadline_ms * MS;
    int32_t able = 0;

    run->score.errors++;
    if (run->scene.moves.is_on)
        return;
    able = find_able(call->broker, deadline_us);
    if (extras_excuse(run, call->key, call->status))
        return;
    if (flakes_are(&run->scene, call->key) && flakes_excuse(call->status))
        return;
    if (call->status == SEQB_EXHAUSTED &&
        (run->scene.runs_out || run->scene.has_ids)) {
        run->score.exhausted++;
        return;
    }
    if ((call->status == SEQB_CLOCK || call->status == SEQB_EXHAUSTED) &&
        clocks_excuse(&run->machines[call->broker->index]))
        return;
    if (call->status != SEQB_UNAVAILABLE && call->status != SEQB_TIMEOUT)
        judge_fail(run, "broker %d: a caller is told %s: %s",
                   (int)call->broker->index, seqb_status_name(call->status),
                   err->text);
    else if (able >= 0 && !may_be_used_up(run) &&
             !clocks_excuse(&run->machines[call->broker->index]))
        judge_fail(run,
                   "broker %d: a caller was given nothing though partition %d "
                   "could have answered for %lld ms: %s",
                   (int)call->broker->index, (int)able,
                   (long long)((world_now_us() -
                                bounds_able_since(call->broker, able)) /
                               MS),
                   err->text);
}

void judge_answer(const struct judge_call *call, const int64_t *numbers,
                  size_t n, const struct seqb_error *err)
{
    struct run *run = call->broker->run;
    const int64_t waited_us = world_now_us() - call->begun_us;
    const int64_t deadline_us =
        run->scene.sequences[call->key].deadline_ms * MS;

    if (images_hide(call->broker, call->begun_us))
        return;
    run->score.calls++;
    digest_add(run, world_now_us());
    if (waited_us > run->score.longest_us)
        run->score.longest_us = waited_us;
    if (waited_us > deadline_us + LATE_US)
        judge_fail(run,
                   "broker %d: a caller waited %lld ms, its deadline was "
                   "%lld ms",
                   (int)call->broker->index, (long long)(waited_us / MS),
                   (long long)(deadline_us / MS));
    if (call->status == SEQB_OK)
        numbers_record(call, numbers, n);
    else
        refusal_check(call, err);
}

/* --- events --- */

static void state_record(struct broker *broker, const struct seqb_event *event)
{
    struct run *run = broker->run;
    int64_t since_us;

    digest_add(run, (int64_t)event->partition * 16 + (int64_t)event->to);
    if (run->scene.moves.is_on)
        return;
    if (event->to == SEQB_PARTITION_POISONED ||
        event->to == SEQB_PARTITION_REFUSED) {
        run->score.poisoned++;
        if (!run->scene.has_surgery)
            judge_fail(run, "broker %d: partition %d is %s: %s",
                       (int)broker->index, (int)event->partition,
                       seqb_partition_state_name(event->to), event->reason);
    }
    if (pool_state_is_usable(event->from) && !pool_state_is_usable(event->to))
        run->score.ejections++;
    if (event->partition < 0 || pool_state_is_usable(event->from) ||
        !pool_state_is_usable(event->to))
        return;
    since_us = bounds_able_since(broker, event->partition);
    if (since_us != WORLD_NEVER &&
        world_now_us() - since_us > run->score.rescue_us)
        run->score.rescue_us = world_now_us() - since_us;
}

void judge_event(void *context, const struct seqb_event *event)
{
    struct broker *broker = context;

    if (broker->is_gone)
        return;
    digest_add(broker->run, world_now_us());
    if (event->kind == SEQB_EVENT_STATE)
        state_record(broker, event);
    else if (event->kind == SEQB_EVENT_LAYOUT &&
             !broker->run->scene.moves.is_on)
        judge_fail(broker->run, "broker %d: another layout: %s",
                   (int)broker->index, event->reason);
}

void judge_unopened(struct broker *broker, const struct seqb_error *err)
{
    run_report(broker->run, "broker %d does not open: %s", (int)broker->index,
               err->text);
    digest_add(broker->run, world_now_us());
    if (err->status == SEQB_CLOCK &&
        clocks_excuse(&broker->run->machines[broker->index]))
        return;
    if (broker->run->scene.moves.is_on)
        return;
    if (err->status != SEQB_UNAVAILABLE && !broker->is_gone)
        judge_fail(broker->run, "broker %d does not open: %s",
                   (int)broker->index, err->text);
}

/* --- what a store sees --- */

/* While it opens, a broker asks each store in turn for what it is; and what
 * is tried before the first attempt has failed cannot know better. */
void judge_try(struct site *site)
{
    struct site *first = site->first_here;
    const int64_t now_us = world_now_us();

    if (site->owner->run->scene.moves.is_on)
        return;
    if (!site->server->is_down)
        first->refused_ill = 0;
    if (!site->owner->is_open || !site->server->is_down ||
        first->refused_ill != site->server->ills) {
        first->tried_us[0] = first->tried_us[1] = 0;
        return;
    }
    run_report(site->owner->run, "broker %d tries backend %d again",
               (int)site->broker, (int)site->index);
    if (now_us - first->tried_us[0] < ATTEMPTS_US)
        judge_fail(site->owner->run,
                   "broker %d: three attempts within %lld ms to connect to a "
                   "server that is down",
                   (int)site->broker,
                   (long long)((now_us - first->tried_us[0]) / MS));
    first->tried_us[0] = first->tried_us[1];
    first->tried_us[1] = now_us;
}

static bool is_a_refill(const struct site *site)
{
    struct seqb_partition_status partitions[SCENE_BACKENDS];
    const int32_t n = 1 << site->owner->run->scene.pool.layout.bits;
    bool has_other = false;

    if (!site->owner->is_open || site->index >= n ||
        site->owner->run->scene.moves.is_on)
        return false;
    (void)partitions_read(site->owner, partitions);
    for (int32_t i = 0; i < n; i++)
        has_other |=
            i != site->index && pool_state_is_usable(partitions[i].state);
    return has_other && pool_state_is_usable(partitions[site->index].state);
}

void judge_hang(struct site *site)
{
    const struct net_server *server = site->server;
    struct run *run = site->owner->run;

    if ((server->cut >> site->broker & 1) == 0 &&
        server->hung_until_us <=
            world_now_us() + run->scene.pool.timeout_ms * MS)
        return; /* slow, or an answer was lost */
    if (site->hung_ill != server->ills)
        site->hung = 0;
    site->hung_ill = server->ills;
    if (is_a_refill(site) &&
        ++site->hung > run->scene.pool.slow_count + HUNG_SLACK)
        judge_fail(run,
                   "broker %d: partition %d was asked %d times though it "
                   "hangs",
                   (int)site->broker, (int)site->index, (int)site->hung);
}
