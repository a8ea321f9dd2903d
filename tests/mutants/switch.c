/* SPDX-License-Identifier: Apache-2.0 */
/* Reads once which mutant is on: SEQB_MUTANT, its number. With
 * SEQB_MUTANT_LOG, a file of one '0' a mutant, reached mutants become '1'
 * there, of all processes that share the file. The file is opened by the bare
 * system calls, since some tests take the place of open. */
#include "switch.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int mutant_on = -1;
char *mutant_reached;

static void record_in(const char *path)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    struct stat status;
    void *map;

    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0) {
        map = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE,
                   MAP_SHARED, fd, 0);
        if (map != MAP_FAILED)
            mutant_reached = map;
    }
    (void)syscall(SYS_close, fd);
}

__attribute__((constructor)) static void mutant_read_environment(void)
{
    const char *on = getenv("SEQB_MUTANT");
    const char *log = getenv("SEQB_MUTANT_LOG");

    if (on != NULL)
        mutant_on = (int)strtol(on, NULL, 10);
    if (log != NULL)
        record_in(log);
}
