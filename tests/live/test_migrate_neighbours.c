/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool that comes over to neighbours, and back. What brokers lease between is
 * done by hand: values of the counters of leases, in one store alone.
 */

#include "backends/backends.h"
#include "file_pool.h"
#include "migration_fixture.h"
#include "platform/text.h"
#include "store/store.h"
#include "support/test.h"

#define POOL        "window_bits = 8; failover_gap = 1000;"
#define MANY        20000 /* more than are in one lease */
#define BITS        1
#define MEMORY_BITS 3
#define WINDOW_BITS 8
#define LESSOR_BITS 1
/* Of one lessor, which the other knows nothing of: more than a run may have,
 * which a migration adds. */
#define LEASES      600000
/* The last lease of which all windows have numbers. */
#define LEASE_LIMIT                                                            \
    (INT64_MAX >> (BITS + MEMORY_BITS + WINDOW_BITS + LESSOR_BITS))

static const char *write_generation(const struct scene *scene, int generation,
                                    const char *authority)
{
    const char *windows =
        authority[0] == 'a' ? "windows = \"all\"; " POOL : POOL;
    const struct file_pool pool = {.partitions = "ab",
                                   .generation = generation,
                                   .settings = windows,
                                   .authority = authority,
                                   .order = "max_unused = 64;"};
    char name[32];

    (void)text_format(name, sizeof name, "%d.conf", generation);
    return file_pool_write(scene, name, &pool);
}

/* --- counters of leases --- */

/* Takes leases as a broker of the generation would, but notes them nowhere;
 * the last one is answered. */
static enum seqb_status lease(const struct scene *scene, const char *store,
                              const char *counter, int64_t want, int64_t *last)
{
    const struct seqb_backend_options options = {
        .name = store,
        .path = scene_state_path(scene, store),
        .timeout_ms = 60000,
        .connect_timeout_ms = 60000};
    struct seqb_request request = {.counter = counter,
                                   .want = want,
                                   .limit = LEASE_LIMIT,
                                   .window = SEQB_NO_WINDOW};
    struct seqb_backend *backend = NULL;
    struct seqb_error err = {.text = ""};

    if (backend_sqlite.open(&options, &backend, &err) != SEQB_OK ||
        backend_sqlite.reserve(backend, &request, 1, &err) != SEQB_OK)
        fail_msg("%s", err.text);
    backend_sqlite.close(backend);
    *last = request.block.first + request.block.count - 1;
    return request.status;
}

/* The first number, or the last one, of a lease's windows in a partition. */
static int64_t first_number(int64_t lease, int32_t partition)
{
    return layout_number(lease * (INT64_C(1) << (LESSOR_BITS + WINDOW_BITS)),
                         partition, BITS, MEMORY_BITS);
}

static int64_t last_number(int64_t lease, int32_t partition)
{
    return layout_number(
               (lease + 1) * (INT64_C(1) << (LESSOR_BITS + WINDOW_BITS)) - 1,
               partition, BITS, MEMORY_BITS) +
           (1 << MEMORY_BITS) - 1;
}

static void expect_lease_above(const struct scene *scene, const char *store,
                               const char *counter, int32_t partition,
                               int64_t highest)
{
    int64_t last;

    assert_ok(lease(scene, store, counter, 1, &last));
    if (first_number(last, partition) <= highest)
        fail_msg("%s leases %lld after %lld", store,
                 (long long)first_number(last, partition), (long long)highest);
}

static void expect_leases_above(const struct scene *scene, int64_t highest)
{
    static const char *const stores[] = {"a.db", "b.db"};

    for (int32_t i = 0; i < 1 << BITS; i++) {
        char counter[SEQB_COUNTER_SIZE];

        (void)text_format(counter, sizeof counter, "window/main~2/%d/order",
                          (int)i);
        for (size_t j = 0; j < 2; j++)
            expect_lease_above(scene, stores[j], counter, i, highest);
    }
}

/* --- tests --- */

static struct topologies come_over(struct scene *scene, const char *authority)
{
    const struct topologies pool = {write_generation(scene, 1, authority),
                                    write_generation(scene, 2, "neighbours")};

    scene_use(scene, pool.was, MANY);
    (void)migration_do(pool.was, pool.is);
    return pool;
}

TEST_WITH(SCENE, lessors_begin_above_all_direct_counters)
{
    const struct topologies pool = come_over(scene, "none");

    expect_leases_above(scene, numbers_highest(&scene->numbers));
    scene_expect_refused(scene, pool.was, SEQB_LAYOUT, "was retired");
}

TEST_WITH(SCENE, lessors_begin_above_all_windows_of_an_authority)
{
    (void)come_over(scene, "a");
    expect_leases_above(scene, numbers_highest(&scene->numbers));
}

/* The other store was not asked, or was down: what one knows counts. */
TEST_WITH(SCENE, numbers_go_on_above_the_leases_of_any_lessor)
{
    const char *was = come_over(scene, "none").is;
    const char *is = write_generation(scene, 3, "none");
    int64_t leased;
    int64_t last;
    size_t before;

    assert_ok(lease(scene, "b.db", "window/main~2/0/order", LEASES, &leased));
    (void)migration_do(was, is);
    before = numbers_count(&scene->numbers);
    scene_open(scene, is);
    scene_take(scene, "order", MANY);
    for (size_t i = before; i < numbers_count(&scene->numbers); i++)
        assert_true(scene->numbers.values[i] > last_number(leased, 0));
    scene_expect_no_repeats(scene);
    assert_int_equal(lease(scene, "a.db", "window/main~2/0/order", 1, &last),
                     SEQB_EXHAUSTED);
    assert_int_equal(lease(scene, "b.db", "window/main~2/1/order", 1, &last),
                     SEQB_EXHAUSTED);
}

TEST_WITH(SCENE, migration_to_other_neighbours_may_be_done_again)
{
    const struct topologies pool = come_over(scene, "none");
    const char *next = write_generation(scene, 3, "neighbours");

    (void)migration_do(pool.was, pool.is);
    expect_leases_above(scene, numbers_highest(&scene->numbers));
    (void)migration_do(pool.is, next);
    (void)migration_do(pool.is, next);
}
