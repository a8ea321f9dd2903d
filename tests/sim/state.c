/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "platform/text.h"
#include "support/folder.h"

#define BYTES_AT_ONCE 65536

static void file_copy(const char *from, const char *to)
{
    static char bytes[BYTES_AT_ONCE];
    FILE *in = fopen(from, "rb");
    FILE *out = fopen(to, "wb");
    size_t n;

    if (in == NULL || out == NULL)
        abort();
    while ((n = fread(bytes, 1, sizeof bytes, in)) > 0) {
        if (fwrite(bytes, 1, n, out) != n)
            abort();
    }
    if (fclose(in) != 0 || fclose(out) != 0)
        abort();
}

/* `to` becomes equal to `from`; empty, if there is none. */
static void folder_copy(const char *from, const char *to)
{
    DIR *folder = opendir(from);
    const struct dirent *entry;
    char source[512];
    char target[512];

    folder_remove(to);
    if (mkdir(to, 0700) != 0)
        abort();
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        if (!text_format(source, sizeof source, "%s/%s", from, entry->d_name) ||
            !text_format(target, sizeof target, "%s/%s", to, entry->d_name))
            abort();
        file_copy(source, target);
    }
    if (folder != NULL)
        (void)closedir(folder);
}

static void folder_of(const struct machine *machine, char *out, size_t size)
{
    if (!text_format(out, size, "%s/state-%d-%d", machine->run->folder,
                     (int)machine->index, (int)machine->life))
        abort();
}

static void old_of(const struct run *run, char *out, size_t size)
{
    if (!text_format(out, size, "%s/old", run->folder))
        abort();
}

/* What may happen to a directory while no broker uses it. */
static void state_lose(struct machine *machine, const char *folder)
{
    struct run *run = machine->run;
    const int64_t what = random_between(&run->orders, 0, 99);
    char old[128];

    old_of(run, old, sizeof old);
    if (what < 15) {
        run_report(run, "the state of broker %d is lost", (int)machine->index);
        folder_copy("", folder);
    } else if (what < 45) {
        run_report(run, "an older state is put back for broker %d",
                   (int)machine->index);
        folder_copy(old, folder);
    } else if (what < 75) {
        folder_copy(folder, old);
    }
}

void state_set(struct machine *machine, struct broker *broker)
{
    const struct scene_extras *extras = &machine->run->scene.extras;
    char folder[128];

    if (!extras->has_state)
        return;
    folder_of(machine, folder, sizeof folder);
    (void)mkdir(folder, 0700);
    if (extras->loses_state)
        state_lose(machine, folder);
    (void)text_format(broker->granted, sizeof broker->granted, "%s/granted",
                      folder);
    (void)text_format(broker->raised, sizeof broker->raised, "%s/raised",
                      folder);
    (void)text_format(broker->spool, sizeof broker->spool, "%s/spool", folder);
    broker->ha_options.granted_path = broker->granted;
    broker->ha_options.raised_path = broker->raised;
    broker->queue_options.spool_path = broker->spool;
}

void state_crash(struct machine *machine)
{
    char from[128];
    char to[128];

    if (!machine->run->scene.extras.has_state)
        return;
    folder_of(machine, from, sizeof from);
    machine->life++;
    folder_of(machine, to, sizeof to);
    folder_copy(from, to);
}
