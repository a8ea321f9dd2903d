/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite on the two fakes, so that what the pool and the queue are
 * tested with keeps the same promises as what they run on. */
#include "contract/contract.h"

#include <stdlib.h>

#include "support/fake.h"

struct subject_store {
    struct contract_store base;
    struct fake_store *fake;
};

static struct contract_store *start(void)
{
    struct subject_store *store = calloc(1, sizeof *store);

    if (store == NULL)
        return NULL;
    store->fake = fake_store_new("contract");
    fake_set_clock(store->fake, 0);
    store->base.options = (struct seqb_backend_options){
        .name = "contract",
        .path = "contract",
        .timeout_ms = 10000,
        .connect_timeout_ms = 10000,
        .create = true,
    };
    return &store->base;
}

static struct fake_store *fake_of(struct contract_store *store)
{
    return ((struct subject_store *)store)->fake;
}

static void stop(struct contract_store *store)
{
    fake_store_free(fake_of(store));
    free(store);
}

static void mislead(struct contract_store *store,
                    struct seqb_backend_options *out)
{
    (void)store;
    out->path = "contract-of-nobody";
}

static void restart(struct contract_store *store)
{
    fake_restart(fake_of(store));
}

static void forget(struct contract_store *store)
{
    fake_flush(fake_of(store));
}

static void save(struct contract_store *store)
{
    fake_save(fake_of(store));
}

static void restore(struct contract_store *store)
{
    fake_restore(fake_of(store));
}

static void demote(struct contract_store *store)
{
    fake_set_primary(fake_of(store), false);
}

int main(void)
{
    const struct contract_subject direct = {
        .name = "fake",
        .ops = &backend_fake,
        .start = start,
        .stop = stop,
        .mislead = mislead,
        .restart = restart,
        .forget = forget,
        .save = save,
        .restore = restore,
        .demote = demote,
        .purges_unchecked = true,
    };
    struct contract_subject windowed = direct;

    windowed.name = "fake-windowed";
    windowed.ops = &backend_fake_windowed;
    return contract_run(&direct) + contract_run(&windowed);
}
