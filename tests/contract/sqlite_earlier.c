/* SPDX-License-Identifier: Apache-2.0 */
/* The wrapped flock(2). */
#include "contract/sqlite_earlier.h"

#include <errno.h>

bool sqlite_earlier;

int __real_flock(int file, int operation);
int __wrap_flock(int file, int operation);

int __wrap_flock(int file, int operation)
{
    if (!sqlite_earlier)
        return __real_flock(file, operation);
    errno = EOPNOTSUPP;
    return -1;
}
