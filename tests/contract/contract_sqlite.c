/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite on a file of SQLite. */
#include "contract/contract_sqlite.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contract/contract.h"
#include "contract/sqlite_files.h"

struct subject_store {
    struct contract_store base;
    struct sqlite_files files;
};

static struct sqlite_files *files_of(struct contract_store *store)
{
    return &((struct subject_store *)store)->files;
}

static struct contract_store *start(void)
{
    struct subject_store *store = calloc(1, sizeof *store);

    if (store == NULL)
        return NULL;
    if (!sqlite_files_init(&store->files)) {
        free(store);
        return NULL;
    }
    store->base.options = store->files.options;
    return &store->base;
}

static void stop(struct contract_store *store)
{
    sqlite_files_fini(files_of(store));
    free(store);
}

static void mislead(struct contract_store *store,
                    struct seqb_backend_options *out)
{
    out->path = files_of(store)->copy; /* not yet made */
}

static void forget(struct contract_store *store)
{
    sqlite_files_run(files_of(store), "DELETE FROM seqb_counters");
}

static void save(struct contract_store *store)
{
    sqlite_files_save(files_of(store));
}

static void restore(struct contract_store *store)
{
    sqlite_files_restore(files_of(store));
}

/* As when the machine starts. */
static void renew(struct contract_store *store)
{
    char note[64];

    sqlite_files_note(files_of(store), note);
    (void)unlink(note);
}

/* What cannot be written stands in the place of the note. */
static void withhold(struct contract_store *store)
{
    char note[64];

    sqlite_files_note(files_of(store), note);
    (void)unlink(note);
    if (mkdir(note, 0700) != 0)
        abort();
}

int contract_sqlite(const char *name, const struct seqb_backend_ops *ops)
{
    /* A file has no server to restart or to demote. */
    const struct contract_subject subject = {
        .name = name,
        .ops = ops,
        .start = start,
        .stop = stop,
        .mislead = mislead,
        .forget = forget,
        .save = save,
        .restore = restore,
        .renew = renew,
        .withhold = withhold,
        .advice = "this user must be able to write it",
    };

    return contract_run(&subject);
}
