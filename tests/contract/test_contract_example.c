/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite on the example of an engine of a service's own. */
#include "contract/contract.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "example_engine/counter_file.h"
#include "platform/text.h"
#include "support/folder.h"

#define SLOT_SIZE 8704
#define FILE_MAX  (8 << 20)

struct subject_store {
    struct contract_store base;
    char folder[32];
    char path[48];
    char copy[48];
};

static struct contract_store *start(void)
{
    struct subject_store *store = calloc(1, sizeof *store);

    if (store == NULL)
        return NULL;
    (void)text_copy(store->folder, sizeof store->folder,
                    "/tmp/seqb-file-XXXXXX");
    if (mkdtemp(store->folder) == NULL) {
        free(store);
        return NULL;
    }
    (void)text_format(store->path, sizeof store->path, "%s/f", store->folder);
    (void)text_format(store->copy, sizeof store->copy, "%s/copy",
                      store->folder);
    store->base.options = (struct seqb_backend_options){
        .name = "file-a",
        .path = store->path,
        .timeout_ms = 20000,
        .connect_timeout_ms = 20000,
        .create = true,
    };
    return &store->base;
}

static void stop(struct contract_store *base)
{
    folder_remove(((struct subject_store *)base)->folder);
    free(base);
}

static void mislead(struct contract_store *base,
                    struct seqb_backend_options *out)
{
    out->path = ((struct subject_store *)base)->copy; /* not yet made */
}

static void must(bool is_well, const char *what)
{
    if (is_well)
        return;
    perror(what);
    abort();
}

/* Only the id of the base stays. */
static void forget(struct contract_store *base)
{
    static const char nothing[512];
    const int fd = open(((struct subject_store *)base)->path, O_WRONLY);

    must(fd >= 0 && pwrite(fd, nothing, sizeof nothing, 0) == sizeof nothing &&
             ftruncate(fd, SLOT_SIZE) == 0,
         "forget");
    (void)close(fd);
}

static void save(struct contract_store *base)
{
    const struct subject_store *store = (const struct subject_store *)base;
    const int from = open(store->path, O_RDONLY);
    const int to = open(store->copy, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char *bytes = malloc(FILE_MAX);
    ssize_t size;

    must(from >= 0 && to >= 0 && bytes != NULL, "save");
    size = read(from, bytes, FILE_MAX);
    must(size > 0 && write(to, bytes, (size_t)size) == size, "save");
    (void)close(from);
    (void)close(to);
    free(bytes);
}

static void restore(struct contract_store *base)
{
    const struct subject_store *store = (const struct subject_store *)base;

    must(rename(store->copy, store->path) == 0, "restore");
}

int main(void)
{
    /* A file has no server to restart or to demote. */
    const struct contract_subject subject = {
        .name = "example",
        .ops = &counter_file,
        .start = start,
        .stop = stop,
        .mislead = mislead,
        .forget = forget,
        .save = save,
        .restore = restore,
        .purges_unchecked = true,
    };

    return contract_run(&subject);
}
