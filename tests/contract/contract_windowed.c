/* SPDX-License-Identifier: Apache-2.0 */
/* The contract's tests for windowed engines: offsets inside a window that was
 * leased once, in a store that may forget. */
#include "contract/contract_suite.h"

#include <unistd.h>

#include "platform/clock.h"
#include "support/race.h"

#define ORDER "main/0/order"
/* 63 bits hold two more windows of this size. */
#define WIDE  (INT64_MAX / CONTRACT_WINDOW_SIZE - 2)

static enum seqb_status reserve(const struct contract *contract, int64_t want,
                                struct seqb_request *out)
{
    return contract_reserve(contract, contract->backend, ORDER, want, out);
}

static void install_at(const struct contract *contract, int64_t window)
{
    int64_t standing;

    assert_ok(contract_install(contract->backend, ORDER, window, &standing));
}

static void assert_refused(const struct contract *contract, int64_t window,
                           int64_t stands)
{
    int64_t standing = -7;

    assert_status(contract_install(contract->backend, ORDER, window, &standing),
                  SEQB_FENCED);
    assert_int_equal(standing, stands);
}

CONTRACT_TEST(asking_never_makes_a_counter, NEEDS_WINDOWED)
{
    struct seqb_request request;

    for (int i = 0; i < 3; i++) {
        assert_status(reserve(contract, 10, &request), SEQB_FENCED);
        assert_int_equal(request.window, SEQB_NO_WINDOW);
    }
    install_at(contract, 1);
    (void)contract_take(contract, ORDER, 10, -1);
}

CONTRACT_TEST(absent_counter_fails_alone, NEEDS_WINDOWED)
{
    struct seqb_request requests[2];
    struct seqb_error err;

    contract_prepare(contract, ORDER);
    requests[0] = contract_request(contract, "main/0/absent", 1);
    requests[1] = contract_request(contract, ORDER, 1);
    assert_ok(
        contract->backend->ops->reserve(contract->backend, requests, 2, &err));
    assert_status(requests[0].status, SEQB_FENCED);
    assert_int_equal(requests[0].window, SEQB_NO_WINDOW);
    assert_ok(requests[1].status);
    assert_int_equal(requests[1].window, 1);
}

CONTRACT_TEST(window_number_comes_back_exactly, NEEDS_WINDOWED)
{
    struct seqb_request request;

    install_at(contract, WIDE + 1);
    assert_ok(reserve(contract, 10, &request));
    assert_int_equal(request.window, WIDE + 1);
    assert_int_equal(request.block.first, 0);
    (void)contract_take(contract, ORDER, CONTRACT_WINDOW_SIZE - 10, 9);
    assert_refused(contract, WIDE, WIDE + 1);
    assert_refused(contract, WIDE + 1, WIDE + 1);
    install_at(contract, WIDE + 2);
    assert_ok(reserve(contract, 10, &request));
    assert_int_equal(request.window, WIDE + 2);
}

CONTRACT_TEST(window_that_is_in_use_stays, NEEDS_WINDOWED)
{
    const int64_t windows[] = {6, 5, 4, 100};
    struct seqb_request request;

    install_at(contract, 5);
    for (int64_t i = 0; i < 4; i++) {
        install_at(contract, windows[i]);
        assert_ok(reserve(contract, 10, &request));
        assert_int_equal(request.window, 5);
        assert_int_equal(request.block.first, i * 10);
    }
}

/* Installs `window` in the place of `over`; what stands there then. */
static int64_t install_over(const struct contract *contract, int64_t window,
                            int64_t over, enum seqb_status expected)
{
    const struct seqb_window lease = {.counter = ORDER,
                                      .window = window,
                                      .size = CONTRACT_WINDOW_SIZE,
                                      .over = over};
    struct seqb_error err;
    int64_t standing = window;

    assert_status(contract->backend->ops->install(contract->backend, &lease,
                                                  &standing, &err),
                  expected);
    return standing;
}

CONTRACT_TEST(window_in_use_is_given_up_for_a_later_one, NEEDS_WINDOWED)
{
    struct seqb_request request;

    install_at(contract, 5);
    (void)contract_take(contract, ORDER, 10, -1);
    assert_int_equal(install_over(contract, 6, 4, SEQB_OK), 5);
    assert_int_equal(install_over(contract, 4, 5, SEQB_FENCED), 5);
    assert_int_equal(install_over(contract, 5, 5, SEQB_FENCED), 5);
    (void)contract_take(contract, ORDER, 10, 9);
    assert_int_equal(install_over(contract, 6, 5, SEQB_OK), 6);
    assert_ok(reserve(contract, 10, &request));
    assert_int_equal(request.window, 6);
    assert_int_equal(request.block.first, 0);
    assert_int_equal(install_over(contract, 7, 5, SEQB_OK), 6);
}

/* The same; what the caller has of the window then. */
static int64_t install_taking(const struct contract *contract, int64_t window,
                              int64_t over, int64_t take)
{
    int64_t taken = 0;
    const struct seqb_window lease = {.counter = ORDER,
                                      .window = window,
                                      .size = CONTRACT_WINDOW_SIZE,
                                      .over = over,
                                      .take = take,
                                      .taken = &taken};
    struct seqb_error err;
    int64_t standing = window;

    assert_ok(contract->backend->ops->install(contract->backend, &lease,
                                              &standing, &err));
    assert_true(taken == 0 || (taken == take && standing == window));
    return taken;
}

/* Over none, over one that is in use, and over one that is used up. */
CONTRACT_TEST(cell_counts_on_behind_what_was_taken_with_its_window,
              NEEDS_WINDOWED)
{
    struct seqb_request request;

    for (int64_t window = 5; window < 8; window++) {
        const int64_t taken =
            install_taking(contract, window, window - 1, window);

        assert_int_equal(install_taking(contract, window + 1, 1, 10), 0);
        assert_ok(reserve(contract, 10, &request));
        assert_int_equal(request.window, window);
        assert_int_equal(request.block.first, taken);
        if (window == 6)
            (void)contract_take(contract, ORDER,
                                CONTRACT_WINDOW_SIZE - taken - 10, taken + 9);
    }
}

CONTRACT_TEST(window_may_be_taken_whole, NEEDS_WINDOWED)
{
    struct seqb_request request;

    install_at(contract, 5);
    if (install_taking(contract, 6, 5, CONTRACT_WINDOW_SIZE) == 0)
        (void)contract_take(contract, ORDER, CONTRACT_WINDOW_SIZE, -1);
    assert_status(reserve(contract, 1, &request), SEQB_EXHAUSTED);
    assert_int_equal(request.window, 6);
}

CONTRACT_TEST(used_up_window_is_never_begun_again, NEEDS_WINDOWED)
{
    struct seqb_request request;

    install_at(contract, 5);
    (void)contract_take(contract, ORDER, CONTRACT_WINDOW_SIZE, -1);
    assert_status(reserve(contract, 1, &request), SEQB_EXHAUSTED);
    assert_int_equal(request.window, 5);
    assert_refused(contract, 4, 5);
    assert_refused(contract, 5, 5);
    assert_status(reserve(contract, 1, &request), SEQB_EXHAUSTED);
    install_at(contract, 6);
    assert_ok(reserve(contract, 1, &request));
    assert_int_equal(request.window, 6);
    assert_int_equal(request.block.first, 0);
}

static void assert_not_installed(const struct contract *contract)
{
    const struct seqb_window lease = {
        .counter = ORDER, .window = 9, .size = CONTRACT_WINDOW_SIZE / 2};
    struct seqb_error err;
    int64_t standing;

    assert_status(contract->backend->ops->install(contract->backend, &lease,
                                                  &standing, &err),
                  SEQB_LAYOUT);
}

CONTRACT_TEST(another_window_size_is_another_layout, NEEDS_WINDOWED)
{
    struct seqb_request request = contract_request(contract, ORDER, 1);
    struct seqb_error err;

    contract_prepare(contract, ORDER);
    for (int i = -1; i <= 1; i += 2) {
        request.limit = CONTRACT_WINDOW_SIZE + i;
        assert_ok(contract->backend->ops->reserve(contract->backend, &request,
                                                  1, &err));
        assert_status(request.status, SEQB_LAYOUT);
    }
    assert_not_installed(contract);
    (void)contract_take(contract, ORDER, CONTRACT_WINDOW_SIZE, -1);
    assert_not_installed(contract); /* though it is used up */
}

CONTRACT_TEST(raise_drops_windows_up_to_its_floor, NEEDS_WINDOWED)
{
    struct seqb_request request;

    install_at(contract, 5);
    assert_int_equal(contract_raise(contract->backend, ORDER, 4, 0), 5);
    (void)contract_take(contract, ORDER, 10, -1);
    assert_int_equal(contract_raise(contract->backend, ORDER, 5, 0), 5);
    assert_status(reserve(contract, 1, &request), SEQB_FENCED);
    assert_int_equal(contract_raise(contract->backend, ORDER, 9, 0), 9);
    install_at(contract, 10);
    (void)contract_take(contract, ORDER, 10, -1);
}

/* --- a store that forgets or became another --- */

CONTRACT_TEST(forgotten_counter_stays_fenced_until_installed,
              NEEDS_WINDOWED | NEEDS_FORGET)
{
    struct seqb_request request;

    install_at(contract, 1);
    (void)contract_take(contract, ORDER, 10, -1);
    contract->subject->forget(contract->store);
    for (int i = 0; i < 3; i++) {
        assert_status(reserve(contract, 1, &request), SEQB_FENCED);
        assert_int_equal(request.window, SEQB_NO_WINDOW);
    }
    install_at(contract, 2);
    assert_ok(reserve(contract, 1, &request));
    assert_int_equal(request.window, 2);
}

CONTRACT_TEST(window_of_another_history_is_fenced,
              NEEDS_WINDOWED | NEEDS_RESTORE)
{
    struct seqb_request request;

    install_at(contract, 5);
    (void)contract_take(contract, ORDER, 10, -1);
    contract->subject->save(contract->store);
    (void)contract_take(contract, ORDER, 10, 9);
    contract->subject->restore(contract->store);
    contract_reopen(contract);
    for (int i = 0; i < 2; i++) {
        assert_status(reserve(contract, 1, &request), SEQB_FENCED);
        assert_int_equal(request.window, 5);
    }
    assert_refused(contract, 4, 5);
    assert_refused(contract, 5, 5);
    assert_status(reserve(contract, 1, &request), SEQB_FENCED);
    install_at(contract, 6);
    assert_ok(reserve(contract, 1, &request));
    assert_int_equal(request.window, 6);
}

/* Whatever the store's files say: they may be older ones. */
CONTRACT_TEST(window_does_not_outlive_a_restart, NEEDS_WINDOWED | NEEDS_RESTART)
{
    struct seqb_request request;

    install_at(contract, 5);
    (void)contract_take(contract, ORDER, 10, -1);
    /* One server of several that starts need not be another incarnation. */
    if (contract->subject->renew != NULL)
        contract->subject->renew(contract->store);
    else
        contract->subject->restart(contract->store);
    contract_reopen(contract);
    for (int i = 0; i < 2; i++)
        assert_status(reserve(contract, 1, &request), SEQB_FENCED);
    install_at(contract, 6);
    (void)contract_take(contract, ORDER, 10, -1);
}

/* --- cells that need not be kept --- */

static void install_for(const struct contract *contract, const char *counter,
                        int64_t keep_s)
{
    const struct seqb_window lease = {.counter = counter,
                                      .window = 5,
                                      .size = CONTRACT_WINDOW_SIZE,
                                      .keep_s = keep_s};
    struct seqb_error err;
    int64_t standing;

    assert_done(contract->backend->ops->install(contract->backend, &lease,
                                                &standing, &err),
                err);
}

#define PATIENCE_MS 60000 /* what should vanish and does not fails the test */
#define LOOK_US     50000

CONTRACT_TEST(cell_vanishes_when_it_need_not_be_kept,
              NEEDS_WINDOWED | NEEDS_EXPIRY)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    struct seqb_request request;
    enum seqb_status status;

    install_for(contract, "main/0/for-ever", 0);
    install_for(contract, "main/0/long", 3600);
    install_for(contract, "main/0/months", INT64_C(100) * 86400);
    install_for(contract, ORDER, 1);
    do {
        (void)usleep(LOOK_US);
        status = reserve(contract, 1, &request);
    } while (status == SEQB_OK && clock_now_ms() < until_ms);
    assert_status(status, SEQB_FENCED);
    assert_int_equal(request.window, SEQB_NO_WINDOW);
    (void)contract_take(contract, "main/0/for-ever", 3, -1);
    (void)contract_take(contract, "main/0/long", 3, -1);
    (void)contract_take(contract, "main/0/months", 3, -1);
    install_at(contract, 6);
    assert_ok(reserve(contract, 1, &request));
    assert_int_equal(request.window, 6);
}

CONTRACT_TEST(when_a_period_begins_is_nothing_to_a_window, NEEDS_WINDOWED)
{
    struct seqb_request request = contract_request(contract, ORDER, 1);
    struct seqb_error err;

    request.begins_ms = 1;
    assert_ok(
        contract->backend->ops->reserve(contract->backend, &request, 1, &err));
    assert_status(request.status, SEQB_FENCED);
    assert_int_equal(request.window, SEQB_NO_WINDOW);
    contract_prepare(contract, ORDER);
    assert_ok(
        contract->backend->ops->reserve(contract->backend, &request, 1, &err));
    assert_ok(request.status);
    assert_int_equal(request.block.first, 0);
}

/* --- many at once --- */

#define INSTALLERS 4
#define ROUNDS     20

struct installer {
    const struct contract *contract;
    int number;
    enum seqb_status status[ROUNDS];
    struct seqb_request request[ROUNDS];
};

/* A counter a round: all install a window of their own, then all reserve. */
static void installer_run(void *racer)
{
    static const char *const counters[ROUNDS] = {
        "c/0",  "c/1",  "c/2",  "c/3",  "c/4",  "c/5",  "c/6",
        "c/7",  "c/8",  "c/9",  "c/10", "c/11", "c/12", "c/13",
        "c/14", "c/15", "c/16", "c/17", "c/18", "c/19",
    };
    struct installer *me = racer;
    const struct contract *contract = me->contract;
    struct seqb_backend *backend = NULL;
    int64_t standing;
    enum seqb_status opened =
        contract->subject->ops->open(&contract->store->options, &backend, NULL);

    for (int i = 0; i < ROUNDS; i++) {
        race_meet();
        me->status[i] = opened;
        if (opened != SEQB_OK)
            continue;
        me->status[i] =
            contract_install(backend, counters[i], 1 + me->number, &standing);
        if (me->status[i] == SEQB_OK)
            me->status[i] = contract_reserve(contract, backend, counters[i], 10,
                                             &me->request[i]);
    }
    contract->subject->ops->close(backend);
}

CONTRACT_TEST(one_of_many_installers_wins, NEEDS_WINDOWED)
{
    static struct installer installers[INSTALLERS];

    for (int i = 0; i < INSTALLERS; i++) {
        installers[i].contract = contract;
        installers[i].number = i;
    }
    RACE(installers, installer_run);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned seen = 0;

        for (int i = 0; i < INSTALLERS; i++) {
            const struct seqb_request *got = &installers[i].request[round];

            assert_ok(installers[i].status[round]);
            assert_int_equal(got->window, installers[0].request[round].window);
            assert_int_equal(got->block.first % 10, 0);
            seen |= 1U << (got->block.first / 10);
        }
        assert_int_equal(seen, (1U << INSTALLERS) - 1);
    }
}
