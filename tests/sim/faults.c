/* SPDX-License-Identifier: Apache-2.0 */
/* How each kind of fault begins and ends. */
#include "faults.h"

#include <stdlib.h>

#include "store/claim.h"
#include "world.h"

#define LAG_MAX_MS     3000
#define REPLICATION_US (300 * MS)
#define EVICTION_US    (100 * MS)

/* By how many windows the library raises a changed authority; smaller than
 * any failover_gap here. */
#define WINDOW_GAP 65536

struct fault {
    struct run *run;
    int32_t index; /* of the backend */
    struct store *store;
    struct net_server *server;
    enum fault_kind kind;
    int64_t for_us;
    int64_t until_us;
    bool is_over;
};

static struct random *chance(struct fault *fault)
{
    return &fault->run->faults;
}

/* Some of the brokers, at least one. */
static uint32_t some_brokers(struct fault *fault)
{
    const int64_t all = ((int64_t)1 << fault->run->scene.brokers) - 1;

    return (uint32_t)(random_chance(chance(fault), 50)
                          ? all
                          : random_between(chance(fault), 1, all));
}

/* --- the way to it --- */

static void outage_begin(struct fault *fault)
{
    fault->server->is_down = true;
    fault->server->epoch++;
    store_restart(fault->store, random_chance(chance(fault), 50));
}

static void outage_end(struct fault *fault)
{
    fault->server->is_down = false;
}

static void hang_begin(struct fault *fault)
{
    fault->server->hung_until_us = fault->until_us;
}

static void cut_begin(struct fault *fault)
{
    fault->server->cut = some_brokers(fault);
    fault->server->cut_until_us = fault->until_us;
}

static void cut_end(struct fault *fault)
{
    fault->server->cut = 0;
}

static void slow_begin(struct fault *fault)
{
    static const int32_t times[] = {5, 50, 200, 2000};

    fault->server->slow = times[random_between(chance(fault), 0, 3)];
}

static void slow_end(struct fault *fault)
{
    fault->server->slow = 1;
}

static void losses_begin(struct fault *fault)
{
    fault->server->lost = random_chance(chance(fault), 30) ? 100 : 25;
}

static void losses_end(struct fault *fault)
{
    fault->server->lost = 0;
}

static void break_begin(struct fault *fault)
{
    net_break(fault->server);
}

/* --- the store --- */

static bool is_authority(const struct fault *fault)
{
    const struct scene *scene = &fault->run->scene;

    for (int32_t g = 0; g < SCENE_GENERATIONS && scene->moves.is_on; g++) {
        if (scene->moves.pools[g].layout.authority == fault->index)
            return true;
    }
    return scene->pool.layout.authority >= 0 &&
           &scene->backends[scene->pool.layout.authority].store == fault->store;
}

/* Whether all lessors but that one know what they leased and noted. */
static bool others_are_level(const struct fault *fault)
{
    struct scene *scene = &fault->run->scene;
    const struct layout *layout = scene_layout(scene, fault->run->generation);
    char name[SEQB_COUNTER_SIZE];

    claim_pool_name("synced", layout, name, sizeof name);
    for (int32_t i = 0; i < 1 << layout->bits; i++) {
        struct store *store = &scene->backends[layout->partitions[i]].store;

        if (store != fault->store && !store->is_windowed &&
            !store_is_level(store, name))
            return false;
    }
    return true;
}

void fault_look(struct run *run)
{
    char name[SEQB_COUNTER_SIZE];

    claim_pool_name("synced", scene_layout(&run->scene, run->generation), name,
                    sizeof name);
    for (int32_t i = 0; i < run->scene.backend_count; i++) {
        struct store *store = &run->scene.backends[i].store;

        store->went_back = store->went_back && !store_is_level(store, name);
    }
}

bool fault_is_alone(const struct run *run, const struct store *store)
{
    const struct layout *layout = scene_layout(&run->scene, run->generation);
    bool is_lessor = false;
    bool has_other = false;

    for (int32_t i = 0; i < 1 << layout->bits && layout->neighbours; i++) {
        const struct store *other =
            &run->scene.backends[layout->partitions[i]].store;

        is_lessor = is_lessor || other == store;
        has_other = has_other ||
                    (other != store && !other->is_windowed && other->went_back);
    }
    return !is_lessor || !has_other;
}

/* Always, if the pool is migrated. */
static bool neighbours_lease(const struct run *run)
{
    return run->scene.moves.is_on ? run->scene.moves.only_neighbours
                                  : run->scene.pool.layout.neighbours;
}

/* What a direct store may lose is bounded; a windowed one may lose all, and so
 * may a lessor when its neighbours are level. */
static bool may_lose(const struct fault *fault, int64_t values)
{
    if (fault->store->is_windowed)
        return true;
    if (neighbours_lease(fault->run))
        return others_are_level(fault);
    return fault_is_alone(fault->run, fault->store) &&
           values < (is_authority(fault)
                         ? WINDOW_GAP
                         : fault->run->scene.pool.layout.failover_gap);
}

/* Of several partitions one that went back is raised to the level of the
 * others, whatever chance added: then what it was raised by before counts as
 * well. */
static int64_t loss_of(const struct fault *fault)
{
    return store_loss(fault->store, fault->run->scene.pool.layout.bits > 0 ||
                                        fault->run->scene.moves.is_on);
}

/* Whether no other direct store has the claim of the layout before the present
 * one, and this one would not have it with that content. */
static bool is_last_to_know(const struct run *run, const struct store *store,
                            const struct store_content *content)
{
    const struct scene *scene = &run->scene;
    char claim[SEQB_COUNTER_SIZE];

    if (run->generation < 1)
        return false;
    claim_pool_name("pool", scene_layout(scene, run->generation - 1), claim,
                    sizeof claim);
    for (int32_t i = 0; i < scene->backend_count; i++) {
        const struct store *other = &scene->backends[i].store;

        if (other != store && !other->is_windowed &&
            store_has_claim(other, &other->sides[0].content, claim))
            return false;
    }
    return !store_has_claim(store, content, claim);
}

bool fault_is_too_old(const struct run *run, const struct store *store,
                      const struct store_content *content)
{
    return run->scene.moves.is_on && !store->is_windowed &&
           (store_is_new(content) || is_last_to_know(run, store, content));
}

static bool is_too_old(const struct fault *fault,
                       const struct store_content *content)
{
    return fault_is_too_old(fault->run, fault->store, content);
}

static void failover_begin(struct fault *fault)
{
    fault->server->is_down = true;
    fault->server->epoch++;
    if (!is_too_old(fault, &fault->store->copy) &&
        may_lose(fault, loss_of(fault)))
        store_promote_copy(fault->store);
}

static void demote_begin(struct fault *fault)
{
    if (is_too_old(fault, &fault->store->copy) ||
        !may_lose(fault, loss_of(fault)))
        return;
    store_demote(fault->store);
    fault->server->is_locked_out = true;
}

static void demote_end(struct fault *fault)
{
    if (!fault->server->is_locked_out)
        return;
    store_promote_again(fault->store);
    fault->server->is_locked_out = false;
}

/* Whether every broker knows so much of the store's counters that any of them,
 * who notices first, puts them above what all were granted. */
static bool is_known_to_all(const struct fault *fault)
{
    struct run *run = fault->run;
    const int64_t gap =
        is_authority(fault) ? WINDOW_GAP : run->scene.pool.layout.failover_gap;

    for (int32_t i = 0; i < run->scene.brokers; i++) {
        const struct broker *broker = run->machines[i].broker;
        const struct site *site =
            broker == NULL ? NULL : &broker->sites[fault->index];

        if (site == NULL || !broker->is_open ||
            !store_is_known(fault->store, site->marks, site->mark_count, gap))
            return false;
    }
    return true;
}

static void empty_begin(struct fault *fault)
{
    if (!may_lose(fault, store_highest(fault->store))) {
        if (fault->run->scene.moves.is_on || neighbours_lease(fault->run) ||
            !is_known_to_all(fault))
            return;
        /* One that starts again knows nothing. */
        fault->run->has_to_remember = true;
    }
    store_empty(fault->store);
    /* As TRUNCATE does, after which leases that nobody noted come again. */
    if (neighbours_lease(fault->run))
        store_restart(fault->store, false);
    net_break(fault->server);
}

static void evict(void *context)
{
    struct fault *fault = context;

    if (fault->is_over) {
        free(fault);
        return;
    }
    if (fault->store->is_windowed)
        store_empty(fault->store);
    world_at(world_now_us() + random_wait(chance(fault), EVICTION_US), evict,
             fault);
}

static void evict_begin(struct fault *fault)
{
    fault->server->lost = 30;
    evict(fault);
}

static void split_begin(struct fault *fault)
{
    if (!fault->store->is_windowed)
        return; /* both sides of a direct one may lose more than the gap */
    store_split(fault->store);
    fault->store->aside = some_brokers(fault);
    fault->server->is_locked_out = true;
    fault->server->epoch++;
}

static void split_end(struct fault *fault)
{
    if (fault->store->aside == 0)
        return;
    store_join(fault->store);
    fault->store->aside = 0;
    fault->server->is_locked_out = false;
    fault->server->epoch++;
}

static void replicate(void *context)
{
    struct fault *fault = context;

    if (fault->is_over) {
        free(fault);
        return;
    }
    store_replicate(fault->store);
    world_at(world_now_us() + REPLICATION_US, replicate, fault);
}

static void astray_begin(struct fault *fault)
{
    fault->store->aside = some_brokers(fault);
    fault->server->is_locked_out = true;
    fault->server->epoch++;
    replicate(fault);
}

static void astray_end(struct fault *fault)
{
    fault->store->aside = 0;
    fault->server->is_locked_out = false;
    fault->server->epoch++;
}

/* To what it was at some time, and perhaps to the same once more. */
static void back_begin(struct fault *fault)
{
    const int32_t past =
        (int32_t)random_between(chance(fault), 0, STORE_PASTS - 1);

    fault->server->is_down = true;
    fault->server->epoch++;
    if (is_too_old(fault, &fault->store->pasts[past].content) ||
        !others_are_level(fault))
        store_restart(fault->store, false);
    else
        store_put_back(fault->store, past, random_chance(chance(fault), 50));
}

/* --- all of them --- */

static void nothing(struct fault *fault)
{
    (void)fault;
}

static const struct {
    void (*begin)(struct fault *fault);
    void (*end)(struct fault *fault);
} kinds[FAULT_KINDS] = {
    [FAULT_OUTAGE] = {outage_begin, outage_end},
    [FAULT_HANG] = {hang_begin, nothing},
    [FAULT_CUT] = {cut_begin, cut_end},
    [FAULT_SLOW] = {slow_begin, slow_end},
    [FAULT_LOSSES] = {losses_begin, losses_end},
    [FAULT_BREAK] = {break_begin, nothing},
    [FAULT_FAILOVER] = {failover_begin, outage_end},
    [FAULT_DEMOTE] = {demote_begin, demote_end},
    [FAULT_EMPTY] = {empty_begin, nothing},
    [FAULT_EVICT] = {evict_begin, losses_end},
    [FAULT_SPLIT] = {split_begin, split_end},
    [FAULT_ASTRAY] = {astray_begin, astray_end},
    [FAULT_BACK] = {back_begin, outage_end},
};

static void fault_end(void *context)
{
    struct fault *fault = context;

    kinds[fault->kind].end(fault);
    fault->server->is_taken = false;
    net_note(fault->server);
    fault->is_over = true;
    /* Those two are freed by what they do from time to time. */
    if (fault->kind != FAULT_ASTRAY && fault->kind != FAULT_EVICT)
        free(fault);
}

static void fault_start(void *context)
{
    struct fault *fault = context;

    fault->until_us = world_now_us() + fault->for_us;
    if (fault->run->scene.moves.is_on)
        fault_look(fault->run);
    kinds[fault->kind].begin(fault);
    net_note(fault->server);
    run_report(fault->run, "fault %d of backend %d for %lld ms",
               (int)fault->kind, (int)fault->index,
               (long long)(fault->for_us / MS));
    world_at(fault->until_us, fault_end, fault);
}

bool fault_begin(struct run *run, int32_t i, enum fault_kind kind,
                 int64_t for_us)
{
    struct scene_backend *backend = &run->scene.backends[i];
    struct fault *fault;
    int64_t lag_us = 0;

    if (backend->server->is_taken)
        return false;
    fault = malloc(sizeof *fault);
    if (fault == NULL)
        abort();
    *fault = (struct fault){.run = run,
                            .index = i,
                            .store = &backend->store,
                            .server = backend->server,
                            .kind = kind,
                            .for_us = for_us};
    backend->server->is_taken = true;
    run->score.faults++;
    if (kind > FAULT_HARMLESS || kind == FAULT_OUTAGE) {
        /* Of a direct one, the same copy may come back more than once. */
        if (fault->store->is_windowed || run->score.faults % 3 != 0)
            store_copy(fault->store);
        if (neighbours_lease(run) && random_chance(&run->faults, 40))
            store_keep(fault->store, (int32_t)random_between(&run->faults, 0,
                                                             STORE_PASTS - 1));
        lag_us = random_between(&run->faults, 0, LAG_MAX_MS) * MS;
    }
    world_at(world_now_us() + lag_us, fault_start, fault);
    return true;
}
