/* SPDX-License-Identifier: Apache-2.0 */
/* Users, key patterns, credentials, what HTTP's header says, and what failed
 * logins cost: all without a daemon. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "credential/credential.h"
#include "daemon/access/access.h"
#include "daemon/access/authorization.h"
#include "daemon/access/bucket.h"
#include "daemon/access/patience.h"
#include "daemon/access/remembered.h"
#include "daemon/log/log.h"
#include "support/folder.h"
#include "support/test.h"
#include "support/users.h"

/* Of the password "correct horse", at the least cost. */
#define HASH                                                                   \
    "$argon2id$v=19$m=19456,t=2,p=1$69z9TiS9qJBJgkzPLPp/sw$"                   \
    "oUl8rm1zQYU6EApAJ9HfF6lhwJIrFcT6ZMY3WaW6DBs"

/* --- the audit --- */

/* Strangers cannot push the orders out of it by failing, nor one kind of
 * failure the other. */
TEST(failures_push_no_order_out_of_the_audit)
{
    static const struct audit_entry entry = {.command = "c"};
    static const struct audit_time time = {.now_ms = 1000, .wall_ms = 1000};
    struct audit audit = {.file = NULL};
    struct log_tally tallies[LOG_EVENTS_MAX];

    log_set_level(SEQB_LOG_ERROR);
    for (int i = 0; i < 300; i++)
        audit_login_refused(&audit, &entry, time);
    for (int i = 0; i < 150; i++)
        audit_order_for_good(&audit, &entry, time);
    audit_order_refused(&audit, &entry, time);
    log_tallies(tallies);
    assert_string_equal(tallies[0].event, "login_refused");
    assert_int_equal(tallies[0].lines[SEQB_LOG_INFO], 100);
    assert_string_equal(tallies[1].event, "order");
    assert_int_equal(tallies[1].lines[SEQB_LOG_INFO], 150);
    assert_string_equal(tallies[2].event, "order_refused");
    assert_int_equal(tallies[2].lines[SEQB_LOG_INFO], 1);
}

/* The alarm of a file that cannot be written has an end. */
TEST(audit_file_that_can_be_written_again_is_reported)
{
    static const struct audit_entry entry = {.command = "c"};
    char file[256];
    struct audit audit = {.file = file};
    struct log_tally tallies[LOG_EVENTS_MAX];
    int64_t failed = 0;
    int64_t written = 0;

    assert_true(folder_make(file, sizeof file));
    for (int i = 0; i < 4; i++) {
        const struct audit_time time = {.now_ms = 100000 + i * 1000,
                                        .wall_ms = 1000};

        if (i == 2)
            (void)strcat(file, "/audit");
        audit_order(&audit, &entry, time);
    }
    *strrchr(file, '/') = '\0';
    folder_remove(file);
    log_tallies(tallies);
    for (size_t i = 0; i < LOG_EVENTS_MAX; i++) {
        if (strcmp(tallies[i].event, "audit_failed") == 0)
            failed = tallies[i].lines[SEQB_LOG_WARN];
        if (strcmp(tallies[i].event, "audit_written") == 0)
            written = tallies[i].lines[SEQB_LOG_INFO];
    }
    assert_int_equal(failed, 1);
    assert_int_equal(written, 1);
}

static int64_t lines_of(const char *event)
{
    struct log_tally tallies[LOG_EVENTS_MAX];

    log_tallies(tallies);
    for (size_t i = 0; i < LOG_EVENTS_MAX && tallies[i].event[0] != '\0'; i++)
        if (strcmp(tallies[i].event, event) == 0)
            return tallies[i].lines[SEQB_LOG_INFO];
    return 0;
}

/* DRAIN and RESUME in turn, or reloads in a loop. */
TEST(orders_that_can_be_undone_are_bounded_in_the_audit)
{
    static const struct audit_entry entry = {.command = "c"};
    static const struct audit_time time = {.now_ms = 1000, .wall_ms = 1000};
    static const struct audit_time later = {.now_ms = 2000, .wall_ms = 2000};
    struct audit audit = {.file = NULL};
    int64_t before;

    log_set_level(SEQB_LOG_ERROR);
    before = lines_of("order");
    for (int i = 0; i < 300; i++)
        audit_order(&audit, &entry, time);
    assert_int_equal(lines_of("order") - before, 100);
    assert_int_equal(audit.orders_lines.left_out, 200);
    audit_order_for_good(&audit, &entry, time); /* with the count */
    assert_int_equal(lines_of("order") - before, 101);
    assert_int_equal(audit.orders_lines.left_out, 0);
    audit_order(&audit, &entry, time);
    assert_int_equal(audit.orders_lines.left_out, 1);
    audit_order(&audit, &entry, later);
    assert_int_equal(audit.orders_lines.left_out, 0);
    assert_int_equal(lines_of("order") - before, 102);
}

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
        {"users.gids", "no-such-group-here", "no group no-such-group-here"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct users *users = users_new();
        struct seqb_error err;

        assert_true(users_take(users, "users.name", "x"));
        assert_true(users_take(users, "users.role", "take"));
        assert_true(users_take(users, rows[i].setting, rows[i].value));
        assert_int_equal(users_check(users, &err), SEQB_INVALID);
        if (strstr(err.text, rows[i].why) == NULL)
            fail_msg("%s", err.text);
        users_free(users);
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

TEST(the_other_end_of_a_unix_socket_is_its_process)
{
    static const char *const none[] = {NULL};
    char uid[24];
    const char *const own[] = {"users.name", "me", "users.role", "read",
                               "users.uids", uid,  NULL};
    struct users *users = users_of(none);
    struct access access = {.users = users};
    struct identity identity;
    char name[IDENTITY_NAME_SIZE];
    char source[LOGIN_SOURCE_SIZE];
    int ends[2];

    snprintf(uid, sizeof uid, "%lu", (unsigned long)getuid());
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    identity_of_origin(&access, (struct origin){.fd = ends[0]}, &identity);
    assert_int_equal(identity.rights, RIGHTS_ADMIN); /* the daemon's own uid */
    assert_true(identity.is_local);
    identity_source(ends[0], source);
    assert_string_equal(identity_name(&identity, name), source);
    users_free(users);

    access.users = users = users_of(own);
    identity_of_origin(&access, (struct origin){.fd = ends[0]}, &identity);
    assert_int_equal(identity.rights, RIGHTS_READ);
    assert_string_equal(identity_name(&identity, name), "me");
    close(ends[0]);
    close(ends[1]);
    users_free(users);
}

TEST(an_identity_is_resolved_by_the_table_that_holds_now)
{
    static const char *const before[] = {
        "users.name", "a",          "users.role", "take", "users.name",
        "b",          "users.role", "take",       NULL};
    static const char *const after[] = {"users.name", "a", "users.role", "read",
                                        NULL};
    struct users *old = users_of(before);
    struct users *new = users_of(after);
    struct access access = {.users = old};
    struct identity a = {.rights = RIGHTS_NONE};
    struct identity b = {.rights = RIGHTS_NONE};
    const struct origin nowhere = {.fd = -1};

    quotas_init(&access.quotas);
    identity_of_user(users_find(old, "a", 1), false, &a);
    identity_of_user(users_find(old, "b", 1), true, &b);
    access_swap(&access, new);
    assert_true(identity_resolve(&access, nowhere, &a));
    assert_false(identity_resolve(&access, nowhere, &b));
    users_free(old);
    assert_int_equal(a.rights, RIGHTS_READ);
    assert_int_equal(a.means, BY_PASSWORD);
    users_free(new);
    quotas_fini(&access.quotas);
}

/* --- credentials --- */

TEST(a_hash_fits_its_password_alone)
{
    char hash[CREDENTIAL_HASH_SIZE];

    assert_true(credential_hash("correct horse", 13, hash));
    assert_true(credential_is_hash(hash));
    assert_true(credential_fits(hash, "correct horse", 13));
    assert_false(credential_fits(hash, "correct horsf", 13));
    assert_false(credential_fits(hash, "correct horse", 12));
    assert_true(credential_is_hash(credential_nobody));
    assert_false(credential_fits(credential_nobody, "", 0));
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
