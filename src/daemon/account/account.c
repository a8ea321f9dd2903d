/* SPDX-License-Identifier: Apache-2.0 */
/* Looking up users and groups of the system; see account.h. */
#include "daemon/account/account.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* Bytes for one entry. That of a group has the names of its members. */
#define ENTRY_LEAST 4096
#define ENTRY_MOST  (16 << 20)

static bool number_read(const char *text, id_t *out)
{
    char *end = NULL;
    unsigned long number = 0;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    number = strtoul(text, &end, 10);
    *out = (id_t)number;
    return errno == 0 && *end == '\0' && number < UINT32_MAX;
}

/* glibc reports a name as absent if one name service cannot open its file and
 * the next one does not have the name. Returns why no file can be opened;
 * ENOENT: files can be opened, so the name is absent. */
static int absence(void)
{
    const int file = open("/", O_PATH | O_CLOEXEC);

    if (file < 0)
        return errno;
    (void)close(file);
    return ENOENT;
}

static int look_up(const char *name, bool is_group, size_t size, id_t *out)
{
    char *buffer = malloc(size);
    struct group group;
    struct group *found_group = NULL;
    struct passwd user;
    struct passwd *found_user = NULL;
    int error = 0;

    if (buffer == NULL)
        return ENOMEM;
    if (is_group)
        error = getgrnam_r(name, &group, buffer, size, &found_group);
    else
        error = getpwnam_r(name, &user, buffer, size, &found_user);
    free(buffer);
    if (error != 0 && error != ENOENT && error != ESRCH)
        return error;
    if (found_group == NULL && found_user == NULL)
        return absence();
    *out = is_group ? group.gr_gid : user.pw_uid;
    return 0;
}

int account_read(const char *name, bool is_group, id_t *out)
{
    int error = ERANGE;

    if (number_read(name, out))
        return 0;
    for (size_t size = ENTRY_LEAST; error == ERANGE && size <= ENTRY_MOST;
         size *= 4)
        error = look_up(name, is_group, size, out);
    return error;
}
