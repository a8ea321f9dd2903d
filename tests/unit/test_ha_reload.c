/* SPDX-License-Identifier: Apache-2.0 */
/* What a reload changes in workers and pools, and what it leaves. The workers
 * do not run. */
#include "ha/startup.h"

#include <string.h>

#include "platform/text.h"
#include "unit/slot_fixture.h"

#define AUTHORITY PARTITIONS /* as a member; its store is that of worker 3 */

/* One more of each than is used, which must not be found. */
static struct {
    struct store_options now[PARTITIONS];
    struct store_options next[PARTITIONS + 1];
    struct ha_pool_options pools[3];
    struct ha_pool_options next_pools[4];
    struct endpoint endpoints[PARTITIONS + 1];
    struct worker_membership both[2];
    struct ha_options options;
    struct ha_options to;
    struct ha ha;
    int allocations; /* that are left; below 0: any number */
    int signals[PARTITIONS];
} scene = {.allocations = -1};

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
int __wrap_pthread_cond_signal(pthread_cond_t *condition);

static bool is_short(void)
{
    return scene.allocations >= 0 && scene.allocations-- == 0;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return is_short() ? NULL : __real_calloc(n, size);
}

void *__wrap_malloc(size_t size)
{
    return is_short() ? NULL : __real_malloc(size);
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    for (int i = 0; i < PARTITIONS; i++) {
        if (condition == &scene.ha.workers[i].changed)
            scene.signals[i]++;
    }
    return 0;
}

static void set_stores(struct fixture *f)
{
    static const char *const names[] = {"b0", "b1", "b2", "b3"};

    for (int32_t i = 0; i < PARTITIONS; i++) {
        struct store_options *now = &scene.now[i];

        *now = (struct store_options){
            .ops = i == 2 ? &backend_fake_windowed : &backend_fake,
            .options = {.name = names[i], .host = names[i], .port = 1}};
        (void)endpoint_find(scene.endpoints, &scene.ha.endpoint_count, now);
        scene.next[i] = *now;
        connect_worker(f, i, NULL);
        f->workers[i].connection.options = now;
        f->workers[i].wanted = now;
    }
}

static void set_pools(struct fixture *f)
{
    f->pool.members = f->pool.pool.members = PARTITIONS + 1;
    f->pool.workers[AUTHORITY] = &f->workers[3];
    f->pool.pool.member[AUTHORITY].state = SEQB_PARTITION_UP;
    scene.both[0] = (struct worker_membership){&f->pool, 3};
    scene.both[1] = (struct worker_membership){&f->pool, AUTHORITY};
    f->workers[3].memberships = scene.both;
    f->workers[3].membership_count = 2;
    scene.pools[0] = scene.next_pools[0] = f->pool.current;
}

static int setup_reload(void **state)
{
    struct fixture *f;

    (void)setup_direct(state);
    f = *state;
    memset(&scene, 0, sizeof scene);
    scene.allocations = -1;
    scene.options = (struct ha_options){.backends = scene.now,
                                        .backend_count = PARTITIONS,
                                        .pools = scene.pools,
                                        .pool_count = 1};
    scene.to = scene.options;
    scene.to.backends = scene.next;
    scene.to.pools = scene.next_pools;
    pthread_mutex_init(&scene.ha.lock, NULL);
    scene.ha.options = &scene.options;
    scene.ha.workers = f->workers;
    scene.ha.pools = &f->pool;
    scene.ha.endpoints = scene.endpoints;
    set_stores(f);
    set_pools(f);
    return 0;
}

static int teardown_reload(void **state)
{
    reloads_free(&scene.ha);
    return teardown(state);
}

#define LOADED FIXTURE(struct fixture *f, setup_reload, teardown_reload)

static void reload(void)
{
    struct ha_reload *out;

    assert_ok(ha_prepare(&scene.ha, &scene.to, &out, NULL));
    memset(scene.signals, 0, sizeof scene.signals);
    ha_commit(out);
}

/* --- backends --- */

/* Bit i: worker i connects again, and has its next options. Each of them is
 * woken, since a look may be due earlier. */
static void expect_changed(struct fixture *f, unsigned changed)
{
    for (int i = 0; i < PARTITIONS; i++) {
        struct worker *worker = &f->workers[i];

        assert_int_equal(worker->is_again_posted, changed >> i & 1);
        assert_int_equal(scene.signals[i], 1);
        assert_true(store_options_equal(worker->wanted, &scene.next[i]));
        worker->is_again_posted = false;
        worker->first = NULL;
    }
}

TEST_WITH(LOADED, only_a_backend_that_changed_is_connected_again)
{
    reload();
    expect_changed(f, 0);
    for (int i = 0; i < PARTITIONS; i++) {
        scene.next[i].options.user = "other";
        reload();
        expect_changed(f, 1U << i);
        assert_ptr_equal(f->workers[i].wanted_endpoint, &scene.endpoints[i]);
    }
    for (int i = 0; i < 2; i++)
        scene.next[i].options.user = "third";
    reload();
    expect_changed(f, 3);
}

TEST_WITH(LOADED, backend_that_is_not_listed_stays_as_it_is)
{
    scene.to.backend_count--;
    scene.next[3].options.user = "other";
    reload();
    assert_false(f->workers[3].is_again_posted);
    assert_ptr_equal(f->workers[3].wanted, &scene.now[3]);
}

static const struct endpoint *move(struct fixture *f, int i, const char *host)
{
    scene.next[i].options.host = host;
    reload();
    expect_changed(f, 1U << i);
    return f->workers[i].wanted_endpoint;
}

/* Also one that an earlier reload made. A store without an address has its
 * own. */
TEST_WITH(LOADED, backends_on_one_server_share_its_endpoint)
{
    const struct endpoint *made = move(f, 0, "new");

    (void)text_copy(scene.endpoints[PARTITIONS].address,
                    sizeof scene.endpoints[PARTITIONS].address, made->address);
    assert_ptr_equal(move(f, 1, "new"), made);
    assert_ptr_equal(move(f, 0, "b2"), &scene.endpoints[2]);
    assert_ptr_equal(move(f, 2, "new"), made);
    assert_ptr_not_equal(move(f, 3, "newer"), made);
    assert_string_equal(move(f, 0, NULL)->address, "");
    assert_ptr_not_equal(move(f, 1, NULL), f->workers[0].wanted_endpoint);
}

static const struct retried {
    enum seqb_partition_state from;
    enum seqb_partition_state to;
} retried[] = {
    {SEQB_PARTITION_QUARANTINED, SEQB_PARTITION_QUARANTINED},
    {SEQB_PARTITION_REFUSED, SEQB_PARTITION_QUARANTINED},
    {SEQB_PARTITION_POISONED, SEQB_PARTITION_POISONED},
    {SEQB_PARTITION_UP, SEQB_PARTITION_UP},
};

/* As a partition, and as the authority. */
TEST_WITH(LOADED, member_whose_backend_changed_is_tried_again)
{
    struct pool_member *member = f->pool.pool.member;

    for (size_t n = 0; n < COUNT_OF(retried); n++) {
        print_message("  row %zu\n", n);
        for (int i = 0; i <= AUTHORITY; i++) {
            member[i].state = retried[n].from;
            member[i].next_probe_ms = INT64_MAX;
        }
        scene.next[0].options.port++;
        scene.next[3].options.port++;
        reload();
        for (int i = 0; i <= AUTHORITY; i++) {
            const bool is_changed = i == 0 || i >= 3;

            assert_int_equal(member[i].state,
                             is_changed ? retried[n].to : retried[n].from);
            assert_int_equal(member[i].next_probe_ms < INT64_MAX,
                             is_changed &&
                                 retried[n].to == SEQB_PARTITION_QUARANTINED);
        }
    }
}

/* --- pools --- */

TEST_WITH(LOADED, times_of_a_pool_change_at_once)
{
    struct ha_pool_options *next = &scene.next_pools[0];
    const struct ha_pool_options *current = &f->pool.current;

    next->timeout_ms = 501;
    next->slow_count = 2;
    next->slow_window_ms = 503;
    next->rescue_after_ms = 504;
    next->rescue = HA_RESCUE_FIXED;
    next->check_interval_ms = 505;
    reload();
    assert_int_equal(current->timeout_ms, 501);
    assert_int_equal(current->slow_count, 2);
    assert_int_equal(current->slow_window_ms, 503);
    assert_int_equal(current->rescue_after_ms, 504);
    assert_int_equal(current->rescue, HA_RESCUE_FIXED);
    assert_int_equal(current->check_interval_ms, 505);
    scene.to.pool_count = 0;
    next->timeout_ms = 502;
    reload();
    assert_int_equal(current->timeout_ms, 501);
}

/* Each of the others is told of the gap when it connects. */
TEST_WITH(LOADED, larger_gap_connects_direct_stores_again)
{
    static const struct {
        int64_t gap;
        unsigned again; /* of workers, bit by bit */
        int64_t after;
    } steps[] = {{5, 11, 5}, {5, 0, 5}, {4, 0, 5}, {6, 11, 6}};

    for (size_t n = 0; n < COUNT_OF(steps); n++) {
        print_message("  step %zu\n", n);
        scene.next_pools[0].layout.failover_gap = steps[n].gap;
        reload();
        assert_int_equal(f->pool.failover_gap, steps[n].after);
        for (int i = 0; i < PARTITIONS; i++) {
            assert_int_equal(f->workers[i].is_again_posted,
                             steps[n].again >> i & 1);
            f->workers[i].is_again_posted = false;
        }
    }
}

/* The shortest time-out is what a call is slow by. */
TEST_WITH(LOADED, worker_of_several_pools_is_slow_by_the_strictest)
{
    static struct ha_pool other;

    other.options = &other.current;
    scene.both[1] = (struct worker_membership){&other, 0};
    for (int n = -1; n <= 1; n++) {
        other.current.timeout_ms = 700;
        scene.next_pools[0].timeout_ms = 700 + n;
        reload();
        assert_int_equal(f->workers[0].connection.slow_ms, 700 + n);
        assert_int_equal(f->workers[3].connection.slow_ms, n < 0 ? 699 : 700);
    }
}

TEST_WITH(LOADED, pools_are_found_by_their_names)
{
    static const char *const names[] = {"a", "b", "c"};
    int32_t map[] = {7, 7, 7, 7};

    (void)f;
    for (int i = 0; i < 3; i++)
        scene.pools[i].layout.name = names[i];
    for (int i = 0; i < 4; i++)
        scene.next_pools[i].layout.name = names[(4 - i) % 3];
    scene.options.pool_count = 2;
    scene.to.pool_count = 3; /* b, a, c */
    ha_map_pools(&scene.ha, &scene.to, map);
    assert_int_equal(map[0], 1);
    assert_int_equal(map[1], 0);
    assert_int_equal(map[2], -1);
    assert_int_equal(map[3], 7);
}

/* --- memory --- */

TEST_WITH(LOADED, reload_without_memory_changes_nothing)
{
    struct ha_reload *out = NULL;
    struct seqb_error err;

    scene.next[0].options.user = "other";
    for (int left = 0; left < 5; left++) {
        enum seqb_status status;

        scene.allocations = left;
        status = ha_prepare(&scene.ha, &scene.to, &out, &err);
        scene.allocations = -1;
        assert_int_equal(status, SEQB_NO_MEMORY);
        assert_string_equal(err.text, "reload: out of memory");
        assert_null(out);
    }
    scene.allocations = 5;
    assert_ok(ha_prepare(&scene.ha, &scene.to, &out, &err));
    scene.allocations = -1;
    ha_reload_free(out); /* it was not committed */
    assert_false(f->workers[0].is_again_posted);
    ha_reload_free(NULL);
}
