/* SPDX-License-Identifier: Apache-2.0 */
/* As the kernel tells it in /proc. */
#include "bench/resident.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double status_mb(pid_t pid, const char *field)
{
    char path[64];
    char line[128];
    double kb = -1024;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/status",
             (long)(pid == 0 ? getpid() : pid));
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, field, strlen(field)) == 0)
            kb = strtod(line + strlen(field), NULL);
    }
    if (file != NULL)
        (void)fclose(file);
    return kb / 1024;
}

double resident_mb(pid_t pid)
{
    return status_mb(pid, "VmRSS:");
}

double peak_mb(pid_t pid)
{
    return status_mb(pid, "VmHWM:");
}

bool peak_reset(pid_t pid)
{
    char path[64];
    FILE *file;
    bool is_done;

    snprintf(path, sizeof path, "/proc/%ld/clear_refs", (long)pid);
    file = fopen(path, "we");
    if (file == NULL)
        return false;
    is_done = fputs("5", file) >= 0;
    return fclose(file) == 0 && is_done;
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
