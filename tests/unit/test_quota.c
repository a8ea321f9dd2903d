/* SPDX-License-Identifier: Apache-2.0 */
/* How many numbers a user, and whoever asks for a key, may take; and how many
 * connections an address may have: without a daemon. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/access/access.h"
#include "daemon/limits/sources.h"
#include "daemon/log/log.h"
#include "support/test.h"
#include "support/users.h"

#define DAY_MS INT64_C(86400000)

static struct quota quota_of(struct quota_limits limits)
{
    return (struct quota){.name = "u", .limits = limits};
}

static struct quota_time at(int64_t ms)
{
    return (struct quota_time){ms, 20000 * DAY_MS + ms};
}

static enum quota_verdict take(struct quota *quota, int64_t count, int64_t ms)
{
    int64_t wait_ms = 0;

    return quota_take(quota, count, 0, at(ms), &wait_ms);
}

/* --- one quota --- */

TEST(no_limit_counts_only)
{
    struct quota quota = quota_of((struct quota_limits){.rate = 0});

    assert_int_equal(take(&quota, INT64_C(1) << 40, 0), QUOTA_OK);
    assert_true(quota.today == INT64_C(1) << 40);
    assert_true(quota_left(&quota, at(0)) == INT64_MAX);
    assert_false(quota_is_full(&quota));
}

TEST(a_rate_gives_its_burst_and_then_so_many_a_second)
{
    struct quota quota =
        quota_of((struct quota_limits){.rate = 10, .burst = 25});
    int64_t wait_ms = 0;

    assert_int_equal(take(&quota, 26, 0), QUOTA_COUNT);
    assert_int_equal(take(&quota, 25, 0), QUOTA_OK);
    assert_int_equal(quota_take(&quota, 5, 0, at(100), &wait_ms), QUOTA_RATE);
    assert_int_equal(wait_ms, 400);
    assert_int_equal(take(&quota, 5, 499), QUOTA_RATE);
    assert_int_equal(take(&quota, 5, 500), QUOTA_OK);
    assert_int_equal(quota_left(&quota, at(799)), 2);
    assert_int_equal(quota.today, 30);
}

TEST(without_a_burst_it_is_the_rate)
{
    struct quota quota = quota_of((struct quota_limits){.rate = 10});

    assert_int_equal(quota_max_count(&quota), 10);
    assert_int_equal(take(&quota, 10, 0), QUOTA_OK);
    assert_int_equal(take(&quota, 1, 99), QUOTA_RATE);
}

TEST(a_day_ends_at_midnight_and_not_when_a_clock_goes_back)
{
    struct quota quota = quota_of((struct quota_limits){.daily_limit = 100});
    int64_t wait_ms = 0;

    assert_int_equal(take(&quota, 99, DAY_MS - 1000), QUOTA_OK);
    assert_int_equal(quota_take(&quota, 2, 0, at(DAY_MS - 1000), &wait_ms),
                     QUOTA_DAY);
    assert_int_equal(wait_ms, 1000);
    assert_int_equal(take(&quota, 1, DAY_MS - 1), QUOTA_OK);
    assert_int_equal(take(&quota, 1, DAY_MS - 1), QUOTA_DAY);
    assert_int_equal(quota_left(&quota, at(DAY_MS - 1)), 0);
    assert_int_equal(take(&quota, 60, DAY_MS), QUOTA_OK);
    assert_int_equal(take(&quota, 60, 1000), QUOTA_DAY);
    assert_int_equal(quota.today, 60);
}

/* The day's numbers stay used up, but not until that day is here. */
TEST(a_clock_that_was_far_ahead_holds_up_no_day)
{
    struct quota quota = quota_of((struct quota_limits){.daily_limit = 100});

    assert_int_equal(take(&quota, 100, 9000 * DAY_MS), QUOTA_OK);
    assert_int_equal(take(&quota, 1, 5 * DAY_MS), QUOTA_DAY);
    assert_int_equal(take(&quota, 1, 6 * DAY_MS - 1), QUOTA_DAY);
    assert_int_equal(take(&quota, 1, 6 * DAY_MS), QUOTA_OK);
}

TEST(a_request_is_bounded_by_the_least_of_its_limits)
{
    struct quota quota = quota_of((struct quota_limits){
        .max_count = 50, .rate = 10, .burst = 40, .daily_limit = 30});

    assert_int_equal(quota_max_count(&quota), 30);
    quota.limits.daily_limit = 0;
    assert_int_equal(quota_max_count(&quota), 40);
    quota.limits.rate = 0;
    assert_int_equal(quota_max_count(&quota), 50);
    assert_int_equal(take(&quota, 51, 0), QUOTA_COUNT);
    assert_int_equal(take(&quota, 50, 0), QUOTA_OK);
}

TEST(what_did_not_come_is_given_back)
{
    struct quota quota =
        quota_of((struct quota_limits){.rate = 10, .daily_limit = 10});

    assert_int_equal(take(&quota, 10, 0), QUOTA_OK);
    quota_give_back(&quota, 4);
    assert_int_equal(quota.today, 6);
    assert_int_equal(take(&quota, 5, 0), QUOTA_DAY);
    assert_int_equal(take(&quota, 4, 0), QUOTA_OK);
    assert_int_equal(take(&quota, 1, 0), QUOTA_DAY);
}

/* --- a request, by both --- */

TEST(a_key_that_refuses_costs_its_user_nothing)
{
    struct quota user = quota_of((struct quota_limits){.rate = 10});
    struct quota *key = calloc(1, sizeof *key);
    struct quotas quotas;
    struct charge charge = {.user = &user, .key = key};
    struct charge_refusal refusal;

    quotas_init(&quotas);
    *key = quota_of((struct quota_limits){.daily_limit = 3});
    key->is_key = true;
    TAILQ_INSERT_TAIL(&quotas.list, key, entry);
    assert_true(charge_take(&charge, &quotas, 2, at(0), &refusal));
    assert_false(charge_take(&charge, &quotas, 2, at(0), &refusal));
    assert_string_equal(refusal.code, "LIMIT");
    assert_non_null(strstr(refusal.text, "key 'u' may have 3 numbers a day, "
                                         "and 1 are left"));
    assert_int_equal(user.today, 2);
    assert_int_equal(quotas.refused, 1);
    assert_int_equal(charge_most(&charge, 100, at(0)), 1);
    charge_end(&charge);
    charge_end(&charge);
    assert_int_equal(user.today, 0);
    assert_int_equal(charge_most(&charge, 100, at(0)), 3);
    assert_true(charge_take(&charge, &quotas, 3, at(0), &refusal));
    assert_false(charge_take(&charge, &quotas, 4, at(0), &refusal));
    assert_string_equal(refusal.code, "ERR");
    quotas_fini(&quotas);
}

/* A list that is cut at its end must not lose the users. */
TEST(users_are_listed_before_the_keys_that_were_refused)
{
    static const char *const settings[] = {"users.name",
                                           "a",
                                           "users.role",
                                           "take",
                                           "users.name",
                                           "b",
                                           "users.role",
                                           "take",
                                           "key_limits.name",
                                           "all",
                                           "key_limits.keys",
                                           "*",
                                           "key_limits.rate",
                                           "1",
                                           NULL};
    static const char *const expected[] = {"a", "b", "k2", "k1", "k3"};
    struct users *users = users_of(settings);
    struct key_quota keys[3] = {{.version = 0}};
    struct quotas quotas;
    struct quota *quota = NULL;
    size_t i = 0;

    quotas_init(&quotas);
    quotas.version = 1;
    assert_true(key_quota_update(&keys[0], &quotas, users, "k1"));
    users_hand_over(users, &quotas);
    assert_true(key_quota_update(&keys[1], &quotas, users, "k2"));
    assert_true(key_quota_update(&keys[2], &quotas, users, "k3"));
    for (i = 0; i < 2; i++) {
        struct charge charge = {.key = keys[i].quota};
        struct charge_refusal refusal;

        assert_false(charge_take(&charge, &quotas, 9, at(0), &refusal));
    }
    i = 0;
    TAILQ_FOREACH(quota, &quotas.list, entry)
        assert_string_equal(quota->name, expected[i++]);
    assert_int_equal(i, 5);
    users_free(users);
    quotas_fini(&quotas);
}

/* A metric is made of it, and may be read while a request is under way. */
TEST(what_was_taken_never_goes_back)
{
    struct quota user = quota_of((struct quota_limits){.rate = 10});
    struct charge charge = {.user = &user};
    struct charge_refusal refusal;
    struct quotas quotas;

    quotas_init(&quotas);
    assert_true(charge_take(&charge, &quotas, 5, at(0), &refusal));
    assert_int_equal(user.taken, 0);
    charge.left -= 3;
    for (int i = 0; i < 2; i++) {
        charge_end(&charge);
        assert_int_equal(user.taken, 3);
    }
    assert_true(charge_take(&charge, &quotas, 2, at(0), &refusal));
    charge.left -= 2;
    charge_end(&charge);
    assert_int_equal(user.taken, 5);
    quotas_fini(&quotas);
}

/* --- the table, and a reload of it --- */

TEST(a_reload_gives_a_user_other_limits_and_no_new_day)
{
    static const char *const before[] = {
        "users.name", "a", "users.role", "take", "users.daily_limit", "100",
        "users.name", "b", "users.role", "take", "users.rate",        "5",
        NULL};
    static const char *const after[] = {
        "users.name", "c",    "users.role",        "read", "users.name", "a",
        "users.role", "take", "users.daily_limit", "70",   NULL};
    struct users *first = users_of(before);
    struct users *second = users_of(after);
    struct quotas quotas;
    struct quota *a = NULL;
    struct quota *b = NULL;

    quotas_init(&quotas);
    users_hand_over(first, &quotas);
    a = user_quota(users_find(first, "a", 1));
    b = user_quota(users_find(first, "b", 1));
    assert_int_equal(b->limits.rate, 5);
    assert_int_equal(take(a, 60, 0), QUOTA_OK);
    users_hand_over(second, &quotas);
    users_free(first);
    assert_ptr_equal(user_quota(users_find(second, "a", 1)), a);
    assert_int_equal(take(a, 11, 0), QUOTA_DAY);
    assert_int_equal(take(a, 10, 0), QUOTA_OK);
    assert_int_equal(b->limits.rate, 0);
    users_free(second);
    quotas_fini(&quotas);
}

TEST(the_first_group_that_a_key_matches_counts)
{
    static const char *const settings[] = {"key_limits.name",
                                           "six",
                                           "key_limits.keys",
                                           "six*",
                                           "key_limits.keys",
                                           "6*",
                                           "key_limits.rate",
                                           "6",
                                           "key_limits.name",
                                           "rest",
                                           "key_limits.keys",
                                           "*",
                                           "key_limits.rate",
                                           "9",
                                           NULL};
    static const char *const none[] = {NULL};
    struct users *users = users_of(settings);
    struct users *others = users_of(none);
    struct key_quota order = {.version = 0};
    struct key_quota six = {.version = 0};
    struct quotas quotas;

    quotas_init(&quotas);
    quotas.version = 1;
    assert_true(key_quota_update(&six, &quotas, users, "6-1"));
    assert_true(key_quota_update(&order, &quotas, users, "order"));
    assert_int_equal(six.quota->limits.rate, 6);
    assert_int_equal(order.quota->limits.rate, 9);
    assert_string_equal(order.quota->name, "order");
    assert_true(key_quota_update(&six, &quotas, others, "6-1"));
    assert_int_equal(six.quota->limits.rate, 6); /* of the same version */
    quotas.version = 2;
    assert_true(key_quota_update(&six, &quotas, others, "6-1"));
    assert_int_equal(six.quota->limits.rate, 0);
    quotas_fini(&quotas);
    users_free(users);
    users_free(others);
}

static int64_t lines_logged(void)
{
    struct log_tally tallies[LOG_EVENTS_MAX];

    log_tallies(tallies);
    assert_string_equal(tallies[0].event, "limit_reached");
    return tallies[0].lines[SEQB_LOG_WARN];
}

/* Beside the requests for numbers that were refused. */
TEST(a_user_who_is_full_leaves_a_trace)
{
    struct quota quota = quota_of((struct quota_limits){.max_connections = 1});
    int64_t before;

    quota_refuse_connection(&quota, 100000);
    before = lines_logged();
    quota_refuse_connection(&quota, 100001);
    assert_int_equal(lines_logged(), before);
    quota_refuse_connection(&quota, 110000);
    assert_int_equal(lines_logged(), before + 1);
    assert_int_equal(quota.refused, 3);
}

/* --- addresses --- */

TEST(an_address_has_so_many_connections)
{
    static struct sources sources;
    struct source *first = NULL;
    struct source *second = NULL;
    struct source *third = NULL;
    struct source *other = NULL;

    assert_true(source_enter(&sources, "10.0.0.7", 2, &first));
    assert_true(source_enter(&sources, "10.0.0.7", 2, &second));
    assert_ptr_equal(first, second);
    assert_false(source_enter(&sources, "10.0.0.7", 2, &third));
    assert_null(third);
    assert_true(source_enter(&sources, "10.0.0.8", 2, &other));
    assert_true(source_enter(&sources, "10.0.0.7", 0, &third));
    source_leave(first);
    assert_false(source_enter(&sources, "10.0.0.7", 2, &first));
    source_leave(second);
    assert_true(source_enter(&sources, "10.0.0.7", 2, &first));
    source_leave(first);
    source_leave(third);
    source_leave(other);
    source_leave(NULL);
}
