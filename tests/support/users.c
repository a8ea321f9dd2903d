/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of users; see users.h. */
#include "support/users.h"

#include "support/test.h"

struct users *users_of(const char *const *settings)
{
    struct users *users = users_new();
    struct seqb_error err;

    assert_non_null(users);
    for (size_t i = 0; settings[i] != NULL; i += 2)
        assert_true(users_take(users, settings[i], settings[i + 1]));
    assert_done(users_check(users, NULL, &err), err);
    return users;
}
