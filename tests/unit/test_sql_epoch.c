/* SPDX-License-Identifier: Apache-2.0 */
/* What a row is bound to: the store and its epoch. */
#include <string.h>
#include <sys/random.h>

#include "backends/sql/sql.h"
#include "support/failure.h"
#include "support/test.h"
#include "support/wrap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool has_no_random;

WRAPPED(ssize_t, getrandom, void *bytes, size_t size, unsigned flags)
{
    assert_int_equal(flags, 0); /* it waits until there are random bytes */
    return has_no_random ? -1 : __real_getrandom(bytes, size, flags);
}

TEST(base_tells_the_epoch_of_its_rows)
{
    static const struct {
        const char *base;
        const char *rows; /* NULL: it is another store's */
    } cases[] = {
        {"store", "store"},
        {"store#1a", "store#1a"},
        {"store#1a!", "store#1a"},
        {"storehouse", NULL},
        {"house#1a", NULL},
        {"", NULL},
        {"stor", NULL},
    };
    char rows[SEQB_ORIGIN_SIZE];

    assert_true(sql_epoch_read("a!", "a!", rows)); /* its own '!' */
    assert_string_equal(rows, "a!");
    assert_false(sql_epoch_shares_store("", ""));
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(sql_epoch_read(cases[i].base, "store", rows),
                         cases[i].rows != NULL);
        if (cases[i].rows != NULL)
            assert_string_equal(rows, cases[i].rows);
    }
}

static void expect_epoch(const char *base, const char *begins, size_t length)
{
    char epoch[SEQB_ORIGIN_SIZE];

    assert_ok(sql_epoch_make("sqlite a", base, "store", epoch, NULL));
    assert_int_equal(strncmp(epoch, begins, strlen(begins)), 0);
    assert_int_equal(strlen(epoch), length);
}

/* Room is left for what is due. */
TEST(first_epoch_is_the_store_and_each_later_one_another)
{
    char store[SEQB_ORIGIN_SIZE];
    char epoch[SEQB_ORIGIN_SIZE];

    expect_epoch("", "store", strlen("store"));
    expect_epoch("store", "store#", strlen("store#01234567"));
    expect_epoch("store#01234567", "store#", strlen("store#01234567"));
    memset(store, 's', sizeof store);
    store[sizeof store - strlen("#01234567!") - 1] = '\0';
    assert_ok(sql_epoch_make("sqlite a", store, store, epoch, NULL));
    assert_int_equal(strlen(epoch), SEQB_ORIGIN_SIZE - 2);
    store[strlen(store)] = 's';
    store[sizeof store - strlen("#01234567!")] = '\0';
    assert_fails(sql_epoch_make("sqlite a", store, store, epoch, &failure),
                 SEQB_PROTOCOL, "sqlite a: what names the store");
}

/* Two brokers that restore the same copy must not choose the same. */
TEST(epoch_without_random_bytes_is_none)
{
    char epoch[SEQB_ORIGIN_SIZE];

    has_no_random = true;
    assert_fails(sql_epoch_make("sqlite a", "store", "store", epoch, &failure),
                 SEQB_UNREACHABLE, "sqlite a: no random bytes");
    has_no_random = false;
}
