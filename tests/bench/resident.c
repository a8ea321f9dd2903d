/* SPDX-License-Identifier: Apache-2.0 */
/* As the kernel tells it in /proc. */
#include "bench/resident.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double resident_mb(pid_t pid)
{
    char path[64];
    char line[128];
    double kb = -1024;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/status",
             (long)(pid == 0 ? getpid() : pid));
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = strtod(line + 6, NULL);
    }
    if (file != NULL)
        (void)fclose(file);
    return kb / 1024;
}

double cpu_s(pid_t pid)
{
    struct timespec used;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) != 0 ||
        clock_gettime(clock, &used) != 0)
        return -1;
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}
