/* SPDX-License-Identifier: Apache-2.0 */
/* Users, key patterns, credentials, what HTTP's header says, and what failed
 * logins cost: all without a daemon. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "credential/credential.h"
#include "daemon/access/access.h"
#include "daemon/access/authorization.h"
#include "daemon/access/bucket.h"
#include "daemon/access/patience.h"
#include "daemon/access/remembered.h"
#include "support/test.h"
#include "support/users.h"

/* Of the password "correct horse", at the least cost. */
#define HASH                                                                   \
    "$argon2id$v=19$m=19456,t=2,p=1$69z9TiS9qJBJgkzPLPp/sw$"                   \
    "oUl8rm1zQYU6EApAJ9HfF6lhwJIrFcT6ZMY3WaW6DBs"

/* --- patterns --- */

TEST(a_pattern_stands_for_keys)
{
    static const struct {
        const char *pattern;
        const char *key;
        bool matches;
    } rows[] = {
        {"order", "order", true},
        {"order", "orders", false},
        {"order", "orde", false},
        {"order*", "order", true},
        {"order*", "order-7", true},
        {"order*", "xorder", false},
        {"*", "x", true},
        {"*", "", true},
        {"?", "x", true},
        {"?", "", false},
        {"?", "xy", false},
        {"shop:*:id", "shop:a:b:id", true},
        {"shop:*:id", "shop::id", true},
        {"shop:*:id", "shop:id", false},
        {"*a*a*a", "aaaa", true},
        {"*a*a*a", "aa", false},
        {"a*b?", "aXbYbZ", true},
        {"**", "abc", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (pattern_matches(rows[i].pattern, rows[i].key,
                            strlen(rows[i].key)) != rows[i].matches)
            fail_msg("%s, %s", rows[i].pattern, rows[i].key);
    assert_false(pattern_matches("a", "a\0b", 3));
    assert_false(pattern_matches("a", "a\0", 2));
}

TEST(a_pattern_of_many_stars_ends)
{
    char key[65];

    memset(key, 'a', sizeof key);
    assert_false(
        pattern_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", key, 64));
}

/* --- users --- */

TEST(a_user_has_what_its_role_says)
{
    static const char *const settings[] = {
        "users.name", "looker", "users.role", "read",   "users.name", "shop",
        "users.role", "take",   "users.keys", "order*", "users.keys", "shop:*",
        "users.name", "boss",   "users.role", "admin",  NULL};
    struct users *users = users_of(settings);
    const struct user *shop = users_find(users, "shop", 4);

    assert_int_equal(users_count(users), 3);
    assert_int_equal(user_rights(users_find(users, "looker", 6)), RIGHTS_READ);
    assert_int_equal(user_rights(shop), RIGHTS_TAKE);
    assert_int_equal(user_rights(users_find(users, "boss", 4)), RIGHTS_ADMIN);
    assert_null(users_find(users, "sho", 3));
    assert_string_equal(users_shown_name(users, "shop", 4), "shop");
    assert_string_equal(users_shown_name(users, "secret", 6), "(unknown)");
    assert_true(user_is_limited(shop));
    assert_true(user_may_use(shop, "order-1", 7));
    assert_true(user_may_use(shop, "shop:x", 6));
    assert_false(user_may_use(shop, "bill", 4));
    assert_true(user_may_use(users_find(users, "boss", 4), "bill", 4));
    users_free(users);
}

TEST(what_no_user_can_be_is_refused)
{
    static const struct {
        const char *setting, *value, *why;
    } rows[] = {
        {"users.role", "king", "role is"},
        {"users.password_hash", "secret", "argon2id"},
        {"users.password_hash",
         "$argon2id$v=19$m=9999999,t=2,p=1$c2FsdHNhbHQ$aGFzaA", "256 MiB"},
        {"users.password_hash",
         "$argon2id$v=19$m=19456,t=99,p=1$c2FsdHNhbHQ$aGFzaA", "16 passes"},
        {"users.token_hash", "blake2b:12", "token_hash"},
        {"users.token_hash", "seqb_x", "token_hash"},
        {"users.uids", "no-such-user-here", "no user no-such-user-here"},
        {"users.uids", "", "no user "},
        {"users.gids", "no-such-group-here", "no group no-such-group-here"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct users *users = users_new();
        struct seqb_error err;

        assert_true(users_take(users, "users.name", "x"));
        assert_true(users_take(users, "users.role", "take"));
        assert_true(users_take(users, rows[i].setting, rows[i].value));
        assert_int_equal(users_check(users, NULL, &err), SEQB_INVALID);
        if (strstr(err.text, rows[i].why) == NULL)
            fail_msg("%s", err.text);
        users_free(users);
    }
}

static enum seqb_status check_without_files(const char *setting,
                                            struct seqb_error *err)
{
    struct users *users = users_new();
    struct rlimit limit;
    struct rlimit none;
    enum seqb_status status;

    assert_true(users_take(users, "users.name", "x"));
    assert_true(users_take(users, "users.role", "take"));
    assert_true(users_take(users, setting, "daemon"));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = (struct rlimit){0, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    status = users_check(users, NULL, err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    users_free(users);
    return status;
}

TEST(name_that_cannot_be_looked_up_is_not_said_to_be_absent)
{
    static const char *const settings[] = {"users.uids", "users.gids"};

    for (size_t i = 0; i < COUNT_OF(settings); i++) {
        struct seqb_error err;

        assert_int_equal(check_without_files(settings[i], &err), SEQB_INVALID);
        if (strstr(err.text, "Too many open files") == NULL)
            fail_msg("%s", err.text);
    }
}

TEST(a_process_is_the_user_of_its_uid_before_that_of_its_group)
{
    static const char *const settings[] = {
        "users.name", "group",      "users.role", "read",       "users.gids",
        "77",         "users.name", "one",        "users.role", "take",
        "users.uids", "4242",       NULL};
    static const gid_t gids[] = {5, 77};
    struct users *users = users_of(settings);
    const struct peer both = {4242, gids, 2};
    const struct peer member = {1, gids, 2};
    const struct peer other = {1, gids, 1};

    assert_string_equal(user_name(users_find_peer(users, &both)), "one");
    assert_string_equal(user_name(users_find_peer(users, &member)), "group");
    assert_null(users_find_peer(users, &other));
    users_free(users);
}

TEST(who_is_not_logged_in_is_default_only_without_a_password)
{
    static const char *const open[] = {"users.name", "default", "users.role",
                                       "read", NULL};
    static const char hash[] = HASH;
    static const char *const closed[] = {
        "users.name",          "default", "users.role", "read",
        "users.password_hash", hash,      NULL};
    struct users *users = users_of(open);

    assert_non_null(users_anonymous(users));
    users_free(users);
    users = users_of(closed);
    assert_null(users_anonymous(users));
    users_free(users);
}

/* Who has no password is compared with it, so that it takes no less. */
TEST(the_hash_that_takes_longest_is_found)
{
    static const char slow[] =
        "$argon2id$v=19$m=65536,t=3,p=1$69z9TiS9qJBJgkzPLPp/sw$"
        "oUl8rm1zQYU6EApAJ9HfF6lhwJIrFcT6ZMY3WaW6DBs";
    static const char usual[] = HASH;
    static const char *const settings[] = {
        "users.name", "a", "users.role", "take", "users.password_hash", usual,
        "users.name", "b", "users.role", "take", "users.password_hash", slow,
        "users.name", "c", "users.role", "take", "users.password_hash", usual,
        NULL};
    static const char *const none[] = {NULL};
    struct users *users = users_of(settings);

    assert_string_equal(users_slowest_hash(users), slow);
    users_free(users);
    users = users_of(none);
    assert_null(users_slowest_hash(users));
    users_free(users);
}

TEST(a_token_finds_its_user)
{
    char token[CREDENTIAL_TOKEN_SIZE];
    char hash[CREDENTIAL_TOKEN_HASH_SIZE];
    const char *const settings[] = {
        "users.name", "a",    "users.role",       "take", "users.name", "b",
        "users.role", "take", "users.token_hash", hash,   NULL};
    struct users *users;

    credential_token_make(token, hash);
    users = users_of(settings);
    assert_string_equal(
        user_name(users_find_token(users, token, strlen(token))), "b");
    assert_null(users_find_token(users, token, strlen(token) - 1));
    token[10] ^= 1;
    assert_null(users_find_token(users, token, strlen(token)));
    users_free(users);
}

/* --- who is at a socket --- */

/* --- credentials --- */

TEST(a_hash_fits_its_password_alone)
{
    char hash[CREDENTIAL_HASH_SIZE];

    assert_true(credential_hash("correct horse", 13, hash));
    assert_true(credential_is_hash(hash));
    assert_int_equal(credential_compare(hash, "correct horse", 13),
                     CREDENTIAL_RIGHT);
    assert_int_equal(credential_compare(hash, "correct horsf", 13),
                     CREDENTIAL_WRONG);
    assert_int_equal(credential_compare(hash, "correct horse", 12),
                     CREDENTIAL_WRONG);
    assert_true(credential_is_hash(credential_nobody));
    assert_int_equal(credential_compare(credential_nobody, "", 0),
                     CREDENTIAL_WRONG);
}

/* Of "right", by the program argon2: the salt or the digest has another
 * length. */
static const char *const of_argon2[] = {
    "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$"
    "kgPwZ9DAehBT966hqnz1RvMedn9cKCTI012WUoxq9i8",
    "$argon2id$v=19$m=8,t=1,p=1$c2FsdG9mbW9yZXRoYW4xNmJ5dGVz$"
    "W/I31vaqvslcj2RbAe6TxJPuJeDQSSe6/Uc7kOn9o5I",
    "$argon2id$v=19$m=8,t=1,p=1$c2FsdG9mMTZieXRlcy4uLg$"
    "HgTxRaebNgdEcZ8yIwGcViFW5EVycIfq"};

TEST(hash_of_another_program_fits_its_password)
{
    for (size_t i = 0; i < COUNT_OF(of_argon2); i++) {
        assert_true(credential_is_hash(of_argon2[i]));
        assert_int_equal(credential_compare(of_argon2[i], "right", 5),
                         CREDENTIAL_RIGHT);
        assert_int_equal(credential_compare(of_argon2[i], "wrong", 5),
                         CREDENTIAL_WRONG);
    }
}

/* Of addresses that this process uses. */
static rlim_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    assert_int_equal(fclose(file), 0);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* The hash needs 256 MiB, and half of that is left. */
TEST(password_is_not_wrong_because_memory_is_short)
{
    static const char hash[] =
        "$argon2id$v=19$m=262144,t=1,p=1$c2FsdG9mMTZieXRlcy4uLg$"
        "7JYZ2X2FDENLnDWdNIZPynOH93m2EpvTP9x2/Ngc784";
    struct rlimit limit;
    struct rlimit low;
    enum credential_match match;

    assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
    low = (struct rlimit){address_space() + (128U << 20), limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &low), 0);
    match = credential_compare(hash, "right", 5);
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    assert_int_equal(match, CREDENTIAL_SHORT);
    assert_int_equal(credential_compare(hash, "right", 5), CREDENTIAL_RIGHT);
}

TEST(the_header_of_http_is_read)
{
    static const struct {
        const char *header;
        bool is_read, is_token;
        const char *name, *secret;
    } rows[] = {
        {"Basic c2hvcDpwYXNz", true, false, "shop", "pass"},
        {"basic   c2hvcDpwYXNz", true, false, "shop", "pass"},
        {"Basic c2hvcDpwYTpzcw==", true, false, "shop", "pa:ss"},
        {"Basic c2hvcDpwYTpzcw", true, false, "shop", "pa:ss"},
        {"Basic OnBhc3M=", true, false, "", "pass"},
        {"Basic c2hvcDo=", true, false, "shop", ""},
        {"Bearer seqb_x-y_z", true, true, "", "seqb_x-y_z"},
        {"BEARER x", true, true, "", "x"},
        {"Basic c2hvcA==", false, false, "", ""}, /* no colon */
        {"Basic c2hv*", false, false, "", ""},
        {"Basic c2hvcDpwYXN", false, false, "", ""},
        {"Basic", false, false, "", ""},
        {"Bearer ", false, false, "", ""},
        {"Digest x", false, false, "", ""},
        {"", false, false, "", ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct authorization got;

        if (authorization_read(rows[i].header, &got) != rows[i].is_read)
            fail_msg("%s", rows[i].header);
        if (!rows[i].is_read)
            continue;
        assert_int_equal(got.is_token, rows[i].is_token);
        assert_int_equal(got.name_length, strlen(rows[i].name));
        assert_memory_equal(got.text, rows[i].name, got.name_length);
        assert_int_equal(got.secret_length, strlen(rows[i].secret));
        assert_memory_equal(got.secret, rows[i].secret, got.secret_length);
    }
}

TEST(a_header_that_is_too_long_is_none)
{
    char header[4096] = "Bearer ";
    struct authorization got;

    memset(header + 7, 'x', CREDENTIAL_MAX);
    assert_true(authorization_read(header, &got));
    header[7 + CREDENTIAL_MAX] = 'x';
    assert_false(authorization_read(header, &got));
}

/* --- what failed logins cost --- */

TEST(five_failures_are_free_and_then_each_one_doubles_the_wait)
{
    static const int64_t waits[] = {0,    0,    0,    0,     0,     1000,
                                    2000, 4000, 8000, 16000, 30000, 30000};
    struct patience patience = {0};

    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        patience_fail(&patience, "10.0.0.1", 5000);
        assert_int_equal(patience_left(&patience, "10.0.0.1", 5000), waits[i]);
    }
    assert_int_equal(patience_left(&patience, "10.0.0.1", 34999), 1);
    assert_int_equal(patience_left(&patience, "10.0.0.1", 35000), 0);
    assert_int_equal(patience_left(&patience, "10.0.0.2", 5000), 0);
    patience_fail(&patience, "10.0.0.1", 5000 + PATIENCE_FORGET_MS + 1);
    assert_int_equal(
        patience_left(&patience, "10.0.0.1", 5000 + PATIENCE_FORGET_MS + 1), 0);
}

TEST(of_too_many_sources_the_oldest_is_forgotten)
{
    struct patience patience = {0};
    char name[24];

    for (int i = 0; i < 6; i++)
        patience_fail(&patience, "first", 100);
    for (int i = 0; i < PATIENCE_SOURCES - 1; i++) {
        snprintf(name, sizeof name, "10.0.%d.%d", i / 256, i % 256);
        patience_fail(&patience, name, 200 + i);
    }
    assert_true(patience_left(&patience, "first", 101) > 0);
    patience_fail(&patience, "one more", 900);
    assert_int_equal(patience_left(&patience, "first", 101), 0);
}

TEST(a_digest_is_remembered_for_ten_minutes)
{
    static struct remembered remembered;
    unsigned char digest[CREDENTIAL_DIGEST_SIZE];
    unsigned char other[CREDENTIAL_DIGEST_SIZE];

    credential_digest("a", 1, digest);
    remembered_add(&remembered, digest, 1000);
    assert_true(remembered_has(&remembered, digest, 1000 + REMEMBERED_MS - 1));
    assert_false(remembered_has(&remembered, digest, 1000 + REMEMBERED_MS));
    for (int i = 0; i < REMEMBERED_MAX; i++) {
        credential_digest((const char *)&i, sizeof i, other);
        remembered_add(&remembered, other, 2000 + i);
    }
    assert_true(remembered_has(&remembered, other, 3000));
    assert_false(remembered_has(&remembered, digest, 3000));
}

TEST(a_bucket_gives_what_flows_back)
{
    static const struct bucket_size size = {.at_once = 10, .a_second = 4};
    struct bucket bucket = {0};
    int64_t wait_ms = 0;

    for (int i = 0; i < 10; i++)
        assert_true(bucket_take(&bucket, &size, 1, 50000, &wait_ms));
    assert_false(bucket_take(&bucket, &size, 1, 50000, &wait_ms));
    assert_int_equal(wait_ms, 250);
    assert_false(bucket_take(&bucket, &size, 1, 50249, NULL));
    assert_true(bucket_take(&bucket, &size, 1, 50250, NULL));
    assert_false(bucket_take(&bucket, &size, 10, 51000, &wait_ms));
    assert_true(bucket_take(&bucket, &size, 10, 51000 + wait_ms, NULL));
    assert_true(bucket_take(&bucket, &size, 10, INT64_MAX / 2, NULL));
}
