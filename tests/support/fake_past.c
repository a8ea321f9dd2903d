/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to fake stores: they restart, forget, go back. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "platform/text.h"
#include "support/fake_store.h"

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void store_enter(struct fake_store *store)
{
    pthread_mutex_lock(&store->lock);
}

/* Wakes the calls that wait. */
static void store_leave(struct fake_store *store)
{
    pthread_cond_broadcast(&store->changed);
    pthread_mutex_unlock(&store->lock);
}

void fake_incarnation(const struct fake_store *store, char *out, size_t size)
{
    out[0] = '\0';
    if (!store->is_windowed)
        (void)text_format(out, size, "run-%" PRId64, store->incarnation);
}

static void store_begin(struct fake_store *store)
{
    store->incarnation = ++store->incarnations;
}

static void cells_forget(struct fake_store *store)
{
    memset(store->cells, 0, sizeof store->cells);
}

void fake_restart(struct fake_store *store)
{
    store_enter(store);
    store->generation++;
    store_begin(store);
    if (store->is_windowed) {
        cells_forget(store);
        store->origin++;
    }
    store_leave(store);
}

void fake_flush(struct fake_store *store)
{
    store_enter(store);
    cells_forget(store);
    store_leave(store);
}

void fake_forget(struct fake_store *store, const char *names)
{
    store_enter(store);
    for (size_t i = 0; i < FAKE_CLAIMS_MAX && store->claims[i].name != NULL;
         i++) {
        if (strncmp(store->claims[i].name, names, strlen(names)) == 0)
            store->claims[i].text[0] = '\0';
    }
    store_leave(store);
}

void fake_change_origin(struct fake_store *store)
{
    store_enter(store);
    store->origin++;
    for (size_t i = 0; i < FAKE_CELLS_MAX; i++)
        store->cells[i].first_raise.limit = 0;
    store_leave(store);
}

void fake_go_back(struct fake_store *store, int64_t values)
{
    struct fake_cell *cells = store->cells;

    store_enter(store);
    for (size_t i = 0; i < FAKE_CELLS_MAX; i++) {
        if (cells[i].counter[0] != FAKE_TIME)
            cells[i].value -= min64(values, cells[i].value);
    }
    store_leave(store);
}

static void claims_copy(struct fake_claim *to, const struct fake_claim *from)
{
    fake_claims_free(to);
    for (size_t i = 0; i < FAKE_CLAIMS_MAX && from[i].name != NULL; i++) {
        to[i].name = text_copy_of(from[i].name);
        to[i].text = text_copy_of(from[i].text);
    }
}

void fake_save(struct fake_store *store)
{
    store_enter(store);
    memcpy(store->saved, store->cells, sizeof store->saved);
    claims_copy(store->saved_claims, store->claims);
    store->saved_origin = store->origin;
    store->saved_incarnation = -1;
    store_leave(store);
}

void fake_restore(struct fake_store *store)
{
    store_enter(store);
    memcpy(store->cells, store->saved, sizeof store->cells);
    store->origin++;
    store->generation++;
    store_begin(store);
    store_leave(store);
}

void fake_put_back_silently(struct fake_store *store)
{
    store_enter(store);
    memcpy(store->cells, store->saved, sizeof store->cells);
    claims_copy(store->claims, store->saved_claims);
    store->origin = store->saved_origin;
    store_begin(store);
    store_leave(store);
}

void fake_put_back(struct fake_store *store)
{
    fake_put_back_silently(store);
    store_enter(store);
    store->generation++;
    store_leave(store);
}

/* The copy is started once. */
void fake_exchange(struct fake_store *store)
{
    struct fake_store *aside = calloc(1, sizeof *aside);

    store_enter(store);
    memcpy(aside->cells, store->cells, sizeof aside->cells);
    memcpy(aside->claims, store->claims, sizeof aside->claims);
    aside->origin = store->origin;
    aside->incarnation = store->incarnation;
    memcpy(store->cells, store->saved, sizeof store->cells);
    memcpy(store->claims, store->saved_claims, sizeof store->claims);
    store->origin = store->saved_origin;
    store->incarnation = store->saved_incarnation;
    if (store->incarnation < 0)
        store_begin(store);
    memcpy(store->saved, aside->cells, sizeof store->saved);
    memcpy(store->saved_claims, aside->claims, sizeof store->saved_claims);
    store->saved_origin = aside->origin;
    store->saved_incarnation = aside->incarnation;
    store->generation++;
    store_leave(store);
    free(aside);
}

void fake_claim_text(struct fake_store *store, const char *name, char *out,
                     size_t size)
{
    store_enter(store);
    (void)text_copy(out, size, fake_claim_stand(store, name, NULL));
    store_leave(store);
}

void fake_claim_put(struct fake_store *store, const char *name,
                    const char *text)
{
    store_enter(store);
    (void)fake_claim_replace(store, name, text);
    store_leave(store);
}
