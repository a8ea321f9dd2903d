/* SPDX-License-Identifier: Apache-2.0 */
/* Whose certificate it is: by the users' names, by a table that changes, and
 * where users are wanted. */
#include "daemon/access/access.h"
#include "support/test.h"
#include "support/users.h"
#include "tls/tls.h"

static const char *const with_certificates[] = {"users.name",
                                                "shop",
                                                "users.role",
                                                "take",
                                                "users.certificate",
                                                "shop-1",
                                                "users.name",
                                                "web",
                                                "users.role",
                                                "read",
                                                "users.certificate",
                                                "DNS:web.example",
                                                "users.name",
                                                "nobody",
                                                "users.role",
                                                "admin",
                                                "users.certificate",
                                                "",
                                                NULL};

TEST(a_certificate_belongs_to_the_user_that_names_it)
{
    static const struct {
        struct tls_peer certificate;
        const char *user; /* NULL: nobody */
    } rows[] = {
        {{"shop-1", {""}, 0}, "shop"},
        {{"shop-1", {"DNS:other.example"}, 1}, "shop"},
        {{"shop-2", {"email:a@b.example", "DNS:web.example"}, 2}, "web"},
        {{"shop-11", {""}, 0}, NULL},
        {{"shop-", {""}, 0}, NULL},
        {{"Shop-1", {""}, 0}, NULL},
        {{"", {""}, 0}, NULL},
        /* of another kind */
        {{"DNS:web.example", {""}, 0}, NULL},
        {{"web.example", {""}, 0}, NULL},
        {{"", {"DNS:shop-1", "URI:shop-1"}, 2}, NULL},
        {{"", {"URI:web.example"}, 1}, NULL},
        /* beyond the count */
        {{"", {"DNS:web.example"}, 0}, NULL},
        /* of two users */
        {{"shop-1", {"DNS:web.example"}, 1}, NULL},
    };
    struct users *users = users_of(with_certificates);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct user *user =
            users_find_certificate(users, &rows[i].certificate);

        if (rows[i].user == NULL)
            assert_null(user);
        else
            assert_string_equal(user_name(user), rows[i].user);
    }
    users_free(users);
}

TEST(a_certificate_is_followed_by_the_table_that_holds_now)
{
    static const char *const moved[] = {
        "users.name",        "web",    "users.role", "read",
        "users.certificate", "shop-1", NULL};
    static const struct tls_peer shop = {"shop-1", {""}, 0};
    static const struct tls_peer web = {"", {"DNS:web.example"}, 1};
    const struct origin from_shop = {-1, &shop};
    const struct origin from_web = {-1, &web};
    struct users *old = users_of(with_certificates);
    struct users *new = users_of(moved);
    struct access access = {.users = old};
    struct identity a, b;

    quotas_init(&access.quotas);
    identity_of_origin(&access, from_shop, &a);
    identity_of_origin(&access, from_web, &b);
    assert_int_equal(a.rights, RIGHTS_TAKE);
    assert_string_equal(identity_means_name(&a), "certificate");
    assert_int_equal(b.rights, RIGHTS_READ);
    access_swap(&access, new);
    assert_true(identity_resolve(&access, from_shop, &a));
    assert_string_equal(user_name(a.user), "web");
    assert_int_equal(a.rights, RIGHTS_READ);
    assert_false(identity_resolve(&access, from_web, &b));
    users_free(old);
    users_free(new);
    quotas_fini(&access.quotas);
}

TEST(where_users_are_wanted_a_certificate_of_nobody_is_barred)
{
    static const struct tls_peer shop = {"shop-1", {""}, 0};
    static const struct tls_peer other = {"other", {""}, 0};
    const struct origin from_other = {-1, &other};
    struct users *users = users_of(with_certificates);
    struct access access = {.users = users};
    struct identity identity = {.rights = RIGHTS_NONE};

    assert_false(access_bars(&access, &other));
    access.wants_user = true;
    assert_false(access_bars(&access, &shop));
    assert_true(access_bars(&access, &other));
    assert_true(access_bars(&access, NULL));
    /* a login does not help it */
    identity_of_user(users_find(users, "shop", 4), false, &identity);
    assert_false(identity_resolve(&access, from_other, &identity));
    assert_true(
        identity_resolve(&access, (struct origin){.fd = -1}, &identity));
    users_free(users);
}

TEST(a_default_user_with_a_certificate_is_not_everybody)
{
    static const char *const settings[] = {
        "users.name",        "default", "users.role", "take",
        "users.certificate", "shop-1",  NULL};
    struct users *users = users_of(settings);

    assert_null(users_anonymous(users));
    users_free(users);
}
