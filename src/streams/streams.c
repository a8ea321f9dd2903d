/* SPDX-License-Identifier: Apache-2.0 */
/* Standard streams that are closed. */
#include "streams/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

bool streams_fill(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
            continue;
        /* The lowest free descriptor is this one. The direction is the wrong
         * one, so that a lost output is an error. */
        if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) {
            perror("/dev/null");
            return false;
        }
    }
    return true;
}
