/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of one, two, three and all four of a pool's stores, under a caller
 * who takes numbers all the time: he must not notice. How long things take is
 * measured elsewhere; here no time is judged but that a caller waited longer
 * than its deadline of a minute.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "scene.h"
#include "support/four_stores.h"
#include "support/servers.h"
#include "support/test.h"

#define SEED       20
#define TIMEOUT_MS 250
#define SLOWER_MS  20     /* ten times what a store usually takes, or more */
#define TAKEN_MANY 3000   /* so many numbers show that it goes on */
#define BURST      100    /* numbers that the caller takes before it rests */
#define CPU_MS     1500LL /* the span in which processor time is counted */
#define ATTEMPT_MS 500LL  /* between two tries of a server that is down */
#define ATTEMPTS   4      /* that are waited for */

#define POOL_SETTINGS                                                          \
    "timeout = \"250ms\"; rescue_after = \"1s\"; window_bits = 14;"
#define SEQUENCES                                                              \
    "broker = { interval = \"5ms\"; };\n"                                      \
    "sequences = (\n"                                                          \
    "  { key = \"order\"; deadline = \"1m\"; max_unused = 4000;\n"             \
    "    memory_bits = 0; },\n"                                                \
    "  { key = \"quick\"; deadline = \"300ms\"; prefetch = false; } );\n"

/* A fault, and what becomes of a partition that it befalls. */
struct trouble {
    enum fault fault;
    int32_t amount_ms;
    bool (*becomes)(const struct seqb_partition_status *now);
    const char *what;
};

static const struct trouble *trouble; /* of the test that runs */
static struct four_stores stores;

static bool four_stores_is_there(void)
{
    return stores.servers[0] != NULL;
}

/* A caller of "order", on a thread of its own. */
static struct {
    struct scene *scene;
    struct seqb_sequence *sequence;
    pthread_t thread;
    _Atomic bool is_ending;
    _Atomic int64_t taken;
    int64_t errors; /* this and the next are read once it has ended */
    struct seqb_error first;
} caller;

TEST(prepare)
{
    four_stores_start(&stores, true, SEED);
}

static void rest_ms(int64_t ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* --- the caller --- */

/* One number, however long it takes; false at the end. */
static bool caller_take(int64_t *out)
{
    struct seqb_error err;

    while (seqb_next(caller.sequence, out, &err) != SEQB_OK) {
        if (caller.errors++ == 0)
            caller.first = err;
        if (atomic_load(&caller.is_ending))
            return false;
    }
    atomic_fetch_add(&caller.taken, 1);
    return true;
}

static void *caller_run(void *ignored)
{
    int64_t many[BURST];

    (void)ignored;
    while (!atomic_load(&caller.is_ending)) {
        size_t n = 0;

        while (n < BURST && caller_take(&many[n]))
            n++;
        numbers_add(&caller.scene->numbers, many, n);
        rest_ms(2);
    }
    return NULL;
}

static void caller_start(struct scene *scene)
{
    struct seqb_error err;

    memset(&caller, 0, sizeof caller);
    caller.scene = scene;
    if (seqb_get_sequence(scene->broker, "order", &caller.sequence, &err) !=
            SEQB_OK ||
        thread_start(&caller.thread, "caller", caller_run, NULL, &err) !=
            SEQB_OK)
        fail_msg("%s", err.text);
}

static void caller_stop(void)
{
    if (caller.scene == NULL)
        return;
    atomic_store(&caller.is_ending, true);
    pthread_join(caller.thread, NULL);
    caller.scene = NULL;
}

/* It still gets numbers. */
static void caller_goes_on(void)
{
    const int64_t until = atomic_load(&caller.taken) + TAKEN_MANY;
    const int64_t until_ms = clock_now_ms() + SCENE_PATIENCE_MS;

    while (atomic_load(&caller.taken) < until) {
        if (clock_now_ms() > until_ms)
            fail_msg("the caller gets no numbers");
        rest_ms(1);
    }
}

static void caller_noticed_nothing(struct scene *scene)
{
    caller_stop();
    if (caller.errors > 0)
        fail_msg("%lld errors of the caller, the first: %s",
                 (long long)caller.errors, caller.first.text);
    scene_expect_no_repeats(scene);
}

static int setup(void **state)
{
    struct scene *scene;
    char text[SCENE_TEXT_SIZE];

    trouble = NULL;
    if (scene_setup(state) != 0)
        return -1;
    if (!four_stores_is_there())
        return 0;
    scene = *state;
    four_stores_topology(&stores, POOL_SETTINGS, text);
    (void)text_append(text, sizeof text, "%s", SEQUENCES);
    scene_open(scene, scene_write(scene, "faults.conf", text));
    caller_start(scene);
    return 0;
}

static int teardown(void **state)
{
    if (four_stores_is_there())
        four_stores_heal(&stores); /* or the caller may have to wait */
    caller_stop();
    return scene_teardown(state);
}

#define FAULTS FIXTURE(struct scene *scene, setup, teardown)

/* --- what becomes of a partition --- */

static bool is_out(const struct seqb_partition_status *now)
{
    return now->state == SEQB_PARTITION_QUARANTINED ||
           now->state == SEQB_PARTITION_PROBING;
}

static bool is_usable(const struct seqb_partition_status *now)
{
    return now->state == SEQB_PARTITION_UP ||
           now->state == SEQB_PARTITION_SUSPECT ||
           now->state == SEQB_PARTITION_RAMPING;
}

static bool is_late(const struct seqb_partition_status *now)
{
    return now->latency_us >= SLOWER_MS * 1000 / 2;
}

static void await(const struct scene *scene, size_t i,
                  bool (*is_so)(const struct seqb_partition_status *now),
                  const char *what)
{
    const int64_t until_ms = clock_now_ms() + SCENE_PATIENCE_MS;
    struct seqb_partition_status now = scene_partition(scene, (int32_t)i);

    while (!is_so(&now)) {
        if (clock_now_ms() > until_ms)
            fail_msg("%s does not get %s: it is %s, %s", four_stores_backend(i),
                     what, seqb_partition_state_name(now.state), now.reason);
        rest_ms(1);
        now = scene_partition(scene, (int32_t)i);
    }
}

static void await_grant(const struct scene *scene, size_t i)
{
    const int64_t until_ms = clock_now_ms() + SCENE_PATIENCE_MS;
    const int64_t granted = scene_partition(scene, (int32_t)i).granted;

    while (scene_partition(scene, (int32_t)i).granted == granted) {
        if (clock_now_ms() > until_ms)
            fail_msg("%s grants nothing", four_stores_backend(i));
        rest_ms(1);
    }
}

/* All serve, and grant again. */
static void await_all_well(const struct scene *scene)
{
    for (size_t i = 0; i < FOUR_STORES; i++) {
        await(scene, i, is_usable, "usable");
        await_grant(scene, i);
    }
}

/* --- one, two and three of four --- */

/* `gone` partitions from the first on are in trouble, and well again. */
static void suffer(const struct scene *scene, size_t first, size_t gone)
{
    for (size_t k = 0; k < gone; k++)
        four_stores_fault(&stores, (first + k) % FOUR_STORES, trouble->fault,
                          trouble->amount_ms);
    for (size_t k = 0; k < gone; k++)
        await(scene, (first + k) % FOUR_STORES, trouble->becomes,
              trouble->what);
    caller_goes_on();
    four_stores_heal(&stores);
    await_all_well(scene);
}

static void one_two_and_three_of_four(struct scene *scene,
                                      const struct trouble *of)
{
    if (!four_stores_is_there())
        skip();
    trouble = of;
    for (size_t gone = 1; gone < FOUR_STORES; gone++)
        suffer(scene, (size_t)trouble->fault + gone, gone);
    caller_noticed_nothing(scene);
}

#define TROUBLE(name, ...)                                                     \
    TEST_WITH(FAULTS, name)                                                    \
    {                                                                          \
        one_two_and_three_of_four(scene, &(struct trouble){__VA_ARGS__});      \
    }

TROUBLE(refused_stores_are_not_noticed, FAULT_REFUSED, 0, is_out, "quarantined")
TROUBLE(stopped_stores_are_not_noticed, FAULT_STOPPED, 0, is_out, "quarantined")
TROUBLE(stores_whose_packets_are_lost_are_not_noticed, FAULT_LOST, 0, is_out,
        "quarantined")
TROUBLE(stores_that_never_answer_are_not_noticed, FAULT_SWALLOWED, 0, is_out,
        "quarantined")
TROUBLE(stores_ten_times_slower_are_not_noticed, FAULT_DELAYED, SLOWER_MS,
        is_late, "slow")
TROUBLE(stores_past_the_time_out_are_not_noticed, FAULT_DELAYED, TIMEOUT_MS * 2,
        is_out, "quarantined")
TROUBLE(answers_cut_in_their_midst_are_not_noticed, FAULT_CUT, 0, is_out,
        "quarantined")
TROUBLE(flapping_stores_are_not_noticed, FAULT_FLAPPING, 500, is_out,
        "quarantined")

/* --- all four --- */

static void all_fail(enum fault fault)
{
    for (size_t i = 0; i < FOUR_STORES; i++)
        four_stores_fault(&stores, i, fault, 0);
}

static struct seqb_sequence *quick_of(const struct scene *scene)
{
    struct seqb_sequence *quick = NULL;
    struct seqb_error err;

    assert_done(seqb_get_sequence(scene->broker, "quick", &quick, &err), err);
    return quick;
}

/* Takes until there is nothing, and the reason of each store is told. What
 * hangs is not yet known to be down: until then it is a deadline that passed.
 */
static void take_until_told(struct seqb_sequence *quick)
{
    const int64_t until_ms = clock_now_ms() + SCENE_PATIENCE_MS;
    struct seqb_error err = {SEQB_OK, ""};
    int64_t number;

    while (seqb_next(quick, &number, &err) != SEQB_UNAVAILABLE) {
        if (err.status != SEQB_OK && err.status != SEQB_TIMEOUT)
            fail_msg("%s: %s", seqb_status_name(err.status), err.text);
        if (clock_now_ms() > until_ms)
            fail_msg("not told that all are down, but: %s", err.text);
        err.status = SEQB_OK;
    }
    for (size_t i = 0; i < FOUR_STORES; i++)
        scene_expect_words(err.text, four_stores_backend(i));
}

static int64_t cpu_us(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL +
           usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

/* Two callers wait all the time, and nothing spins. */
static void expect_little_work(struct seqb_sequence *quick)
{
    const int64_t begin_us = clock_now_us();
    const int64_t used_us = cpu_us();
    int64_t number;

    while (clock_now_us() - begin_us < CPU_MS * 1000)
        assert_int_not_equal(seqb_next(quick, &number, NULL), SEQB_OK);
    assert_in_range((cpu_us() - used_us) * 100 / (clock_now_us() - begin_us), 0,
                    24);
}

static void take_patiently(struct seqb_sequence *quick)
{
    const int64_t until_ms = clock_now_ms() + SCENE_PATIENCE_MS;
    struct seqb_error err;
    int64_t number;

    while (seqb_next(quick, &number, &err) != SEQB_OK) {
        if (clock_now_ms() > until_ms)
            fail_msg("no numbers again: %s", err.text);
    }
}

/* Each in its turn is the first to return. */
TEST_WITH(FAULTS, all_four_gone_is_told_and_the_first_back_serves)
{
    static const enum fault faults[] = {FAULT_REFUSED, FAULT_LOST, FAULT_CUT,
                                        FAULT_STOPPED};
    struct seqb_sequence *quick;

    if (!four_stores_is_there())
        skip();
    quick = quick_of(scene);
    for (size_t i = 0; i < FOUR_STORES; i++) {
        all_fail(faults[i]);
        take_until_told(quick);
        expect_little_work(quick);
        four_stores_fault(&stores, i, FAULT_NONE, 0);
        take_patiently(quick);
        caller_goes_on();
        four_stores_heal(&stores);
        await_all_well(scene);
    }
    caller_noticed_nothing(scene); /* it waited, with its long deadline */
}

/* Takes, in vain, until that store was asked for so many connections. */
static void take_until_asked(struct seqb_sequence *quick, size_t i,
                             int64_t accepted)
{
    const int64_t until_ms = clock_now_ms() + SCENE_PATIENCE_MS;
    int64_t number;

    while (proxy_accepted(stores.proxies[i]) < accepted) {
        assert_int_not_equal(seqb_next(quick, &number, NULL), SEQB_OK);
        if (clock_now_ms() > until_ms)
            fail_msg("%s is not asked any more", four_stores_backend(i));
    }
}

/* Of a server that is down no more than one connection each half second is
 * asked, whatever waits: the rest between probes that callers urge sees to it,
 * and the server's gate once more. They are counted from before it is down, so
 * that one of which the proxy hears late was asked for within the time. */
TEST_WITH(FAULTS, servers_that_are_down_are_not_flooded)
{
    struct seqb_sequence *quick;
    int64_t before[FOUR_STORES];
    int64_t begin_ms;

    if (!four_stores_is_there())
        skip();
    quick = quick_of(scene);
    begin_ms = clock_now_ms();
    for (size_t i = 0; i < FOUR_STORES; i++) {
        before[i] = proxy_accepted(stores.proxies[i]);
        proxy_set(stores.proxies[i], PROXY_RESET, 0);
    }
    take_until_told(quick);
    for (size_t i = 0; i < FOUR_STORES; i++)
        take_until_asked(quick, i, before[i] + ATTEMPTS);
    for (size_t i = 0; i < FOUR_STORES; i++) {
        const int64_t asked = proxy_accepted(stores.proxies[i]) - before[i];

        assert_in_range(asked, ATTEMPTS,
                        (clock_now_ms() - begin_ms) / ATTEMPT_MS + 1);
    }
    for (size_t i = 0; i < FOUR_STORES; i++)
        proxy_set(stores.proxies[i], PROXY_PASS, 0);
    await_all_well(scene);
    caller_noticed_nothing(scene);
}

TEST(end)
{
    four_stores_end(&stores);
}

TEST_BEFORE_ALL(without_sigpipe);
