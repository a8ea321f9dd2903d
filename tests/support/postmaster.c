/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of postmaster.pid: pid, folder, time, port, socket's folder,
 * address, key and id of a segment, state. */
#include "support/postmaster.h"

#include <stdio.h>
#include <string.h>
#include <sys/shm.h>

#include "platform/text.h"
#include "support/server_kind.h"

struct postmaster postmaster_of(const char *folder)
{
    struct postmaster found = {.segment = -1};
    char path[SERVER_PATH_SIZE];
    char state[16] = "";
    int pid = 0;
    FILE *file;

    (void)text_format(path, sizeof path, "%s/data/postmaster.pid", folder);
    file = fopen(path, "re");
    if (file == NULL)
        return found;
    if (fscanf(file, "%d %*[^\n] %*d %*d %*[^\n] %*[^\n] %*u %d %15s", &pid,
               &found.segment, state) > 0)
        found.pid = pid;
    found.is_ready = strcmp(state, "ready") == 0;
    (void)fclose(file);
    return found;
}

void postmaster_clean(const struct postmaster *killed)
{
    if (killed->pid > 0 && killed->segment >= 0)
        (void)shmctl(killed->segment, IPC_RMID, NULL);
}
