/* SPDX-License-Identifier: Apache-2.0 */
/* The wrapped flock(2). */
#include "contract/sqlite_earlier.h"
#include "support/wrap.h"

#include <errno.h>

bool sqlite_earlier;

WRAPPED(int, flock, int file, int operation)
{
    if (!sqlite_earlier)
        return __real_flock(file, operation);
    errno = EOPNOTSUPP;
    return -1;
}
