/* SPDX-License-Identifier: Apache-2.0 */
/* The barrier of all threads, by membarrier(2). */
#include "platform/barrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

bool barrier_prepare(void)
{
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

bool barrier_all(void)
{
    return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
