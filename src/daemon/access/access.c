/* SPDX-License-Identifier: Apache-2.0 */
/* The state of access control that all clients share; see access.h. */
#include "daemon/access/access.h"

bool access_init(struct access *access, struct users *users, int wake_fd)
{
    quotas_init(&access->quotas);
    access->nobody = users_new();
    access_swap(access, users);
    access->logins = logins_open(wake_fd);
    return access->nobody != NULL && access->logins != NULL;
}

void access_fini(struct access *access)
{
    logins_close(access->logins);
    access->logins = NULL;
    users_free(access->nobody);
    access->nobody = NULL;
    quotas_fini(&access->quotas);
}

void access_swap(struct access *access, struct users *users)
{
    access->users = users != NULL ? users : access->nobody;
    if (users != NULL)
        users_hand_over(users, &access->quotas);
    access->quotas.version++;
}

bool access_would_have_guard(const struct access *access,
                             const struct users *users)
{
    const struct user *anonymous = users_anonymous(users);

    return access->is_open_to_all ||
           (users_count(users) > 0 &&
            (anonymous == NULL || (user_rights(anonymous) & RIGHT_TAKE) == 0));
}

bool access_has_guard(const struct access *access)
{
    return access_would_have_guard(access, access->users);
}
