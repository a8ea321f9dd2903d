/* SPDX-License-Identifier: Apache-2.0 */
/* What any windowed engine must keep when its cells expire. */
#include "contract/windowed_expiry.h"

#include <stdlib.h>

#include "support/test.h"

#define WINDOW_SIZE ((int64_t)1 << 17) /* lasts a while */
#define WINDOWS_MAX 512
#define BROKERS     2

/* Two brokers, and what they were granted. */
struct ledger {
    struct fixture *f;
    struct seqb_backend *brokers[BROKERS];
    unsigned char *taken; /* by window - 1 and offset */
    int64_t window;       /* leased last */
    int64_t grants;
    int expiries;
};

enum seqb_status install_for(struct fixture *f, int64_t window, int64_t keep_s,
                             int64_t *standing)
{
    const struct seqb_window w = {
        .counter = COUNTER, .window = window, .size = SIZE, .keep_s = keep_s};

    return f->ops->install(f->backend, &w, standing, &f->err);
}

static void ledger_enter(struct ledger *ledger,
                         const struct seqb_request *request)
{
    const struct seqb_block block = request->block;
    unsigned char *row = ledger->taken + (request->window - 1) * WINDOW_SIZE;

    assert_in_range(request->window, 1, ledger->window);
    assert_in_range(block.first, 0, WINDOW_SIZE - 1);
    assert_in_range(block.count, 1, WINDOW_SIZE - block.first);
    for (int64_t i = 0; i < block.count; i++) {
        assert_int_equal(row[block.first + i], 0);
        row[block.first + i] = 1;
    }
    ledger->grants++;
}

/* Puts a fresh window there, unless somebody was faster. */
static void ledger_install(struct ledger *ledger, struct seqb_backend *broker,
                           int64_t keep_s)
{
    const struct seqb_window w = {.counter = COUNTER,
                                  .window = ++ledger->window,
                                  .size = WINDOW_SIZE,
                                  .keep_s = keep_s};
    int64_t standing;

    assert_in_range(ledger->window, 1, WINDOWS_MAX);
    assert_ok(ledger->f->ops->install(broker, &w, &standing, &ledger->f->err));
}

static void ledger_turn(struct ledger *ledger, struct seqb_backend *broker,
                        int64_t keep_s)
{
    struct seqb_request request = {
        .counter = COUNTER, .want = 1, .limit = WINDOW_SIZE};

    assert_ok(ledger->f->ops->reserve(broker, &request, 1, &ledger->f->err));
    if (request.status == SEQB_OK) {
        ledger_enter(ledger, &request);
        return;
    }
    if (request.status != SEQB_EXHAUSTED) {
        assert_int_equal(request.status, SEQB_FENCED);
        assert_int_equal(request.window, SEQB_NO_WINDOW);
        ledger->expiries += ledger->window > 0;
    }
    for (size_t i = 0; i < BROKERS; i++)
        ledger_install(ledger, ledger->brokers[i], keep_s);
}

static void ledger_open(struct ledger *ledger, struct fixture *f)
{
    ledger->f = f;
    ledger->taken = calloc(WINDOWS_MAX, (size_t)WINDOW_SIZE);
    assert_non_null(ledger->taken);
    for (size_t i = 0; i < BROKERS; i++)
        assert_ok(f->ops->open(&f->options, &ledger->brokers[i], &f->err));
}

static void ledger_close(struct ledger *ledger)
{
    for (size_t i = 0; i < BROKERS; i++)
        ledger->f->ops->close(ledger->brokers[i]);
    free(ledger->taken);
}

void must_never_repeat(struct fixture *f, int64_t keep_s, int expiries,
                       void (*hasten)(struct fixture *f))
{
    struct ledger ledger = {.window = 0};

    ledger_open(&ledger, f);
    for (int64_t turn = 0; ledger.expiries < expiries; turn++) {
        if (hasten != NULL && turn % 29 == 28)
            hasten(f);
        ledger_turn(&ledger, ledger.brokers[turn % BROKERS], keep_s);
    }
    assert_true(ledger.grants > expiries); /* in each window but a few */
    ledger_close(&ledger);
}

void must_tell_time(struct fixture *f, int64_t (*read_ms)(struct fixture *f))
{
    const int64_t before_ms = read_ms(f);
    int64_t now_ms = 0;

    assert_ok(f->ops->clock(f->backend, &now_ms, &f->err));
    assert_in_range(now_ms, before_ms, read_ms(f));
}
