/* SPDX-License-Identifier: Apache-2.0 */
/* Who is at the other end of a socket, and what becomes of it when the table of
 * users is replaced: without a daemon. */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/access/access.h"
#include "support/test.h"
#include "support/users.h"

#define NOBODY 65534

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

/* A socket whose other end is a process of `nobody`. Only root can make it. */
static void nobodys_socket(int ends[2])
{
    assert_int_equal(seteuid(NOBODY), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(seteuid(0), 0);
}

/* It would have the rights of a uid that no user names, which may take numbers
 * of all keys. */
TEST(a_removed_user_of_the_unix_socket_is_gone)
{
    static const char *const none[] = {NULL};
    static const char *const one[] = {"users.name", "guest",      "users.role",
                                      "read",       "users.uids", "nobody",
                                      NULL};
    struct users *with = users_of(one);
    struct users *without = users_of(none);
    struct access access = {.users = with};
    struct identity identity;
    int ends[2];

    if (geteuid() != 0)
        skip();
    nobodys_socket(ends);
    identity_of_origin(&access, (struct origin){.fd = ends[0]}, &identity);
    assert_int_equal(identity.rights, RIGHTS_READ);
    assert_true(
        identity_resolve(&access, (struct origin){.fd = ends[0]}, &identity));
    access.users = without;
    assert_false(
        identity_resolve(&access, (struct origin){.fd = ends[0]}, &identity));
    identity_of_origin(&access, (struct origin){.fd = ends[0]}, &identity);
    assert_int_equal(identity.rights, RIGHTS_TAKE);
    assert_true(
        identity_resolve(&access, (struct origin){.fd = ends[0]}, &identity));
    close(ends[0]);
    close(ends[1]);
    users_free(with);
    users_free(without);
}

TEST(whoever_has_not_logged_in_takes_numbers_only_without_users)
{
    static const char *const none[] = {NULL};
    static const char *const one[] = {"users.name", "a", "users.role", "take",
                                      NULL};
    static const char *const open[] = {"users.name", "default", "users.role",
                                       "take", NULL};
    const struct {
        struct users *users;
        bool is_open_to_all;
        unsigned rights;
        bool has_guard;
    } rows[] = {
        {users_of(none), false, RIGHTS_TAKE, false},
        {users_of(none), true, RIGHTS_TAKE, true},
        {users_of(one), false, RIGHTS_NONE, true},
        {users_of(one), true, RIGHTS_TAKE, true},
        {users_of(open), false, RIGHTS_TAKE, false},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct access access = {.users = rows[i].users,
                                      .is_open_to_all = rows[i].is_open_to_all};
        struct identity identity;

        identity_of_origin(&access, (struct origin){.fd = -1}, &identity);
        assert_int_equal(identity.rights, rows[i].rights);
        assert_int_equal(access_has_guard(&access), rows[i].has_guard);
        users_free(rows[i].users);
    }
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
