/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lessor was restarted and waits for another store that is lost. The operator
 * states that the lessor's store did not go back. Then its own counters have
 * all of its leases, and no other store needs to be asked
 * (docs/decisions/0031-trust.md).
 */
#include <stdlib.h>
#include <string.h>

#include "offline/offline.h"
#include "platform/chance.h"
#include "platform/error.h"
#include "platform/text.h"

#define LINE_SIZE  1024
#define SWAPS      8 /* tries, since brokers may write that claim as well */
#define CLAIM_SIZE ((size_t)2 * SEQB_INCARNATION_SIZE)

struct trust {
    const struct offline_trust *options;
    const struct layout *layout;
    struct watchdog *watchdog;
    struct connection *connections; /* indexed by member; the trusted one stays
                                       open */
    char name[SEQB_COUNTER_SIZE];   /* of the claim that the lessor is level
                                       ... */
    char term[TERM_SIZE];           /* ... and its text: the term that becomes
                                       level */
    bool is_retired;                /* by a migration that did not finish */
};

static void report(const struct trust *trust, const char *line)
{
    if (trust->options->report != NULL)
        trust->options->report(trust->options->context, line);
}

static struct connection *trusted(const struct trust *trust)
{
    return &trust->connections[trust->options->partition];
}

/* --- the lessor --- */

static bool is_lessor(const struct trust *trust, int32_t partition)
{
    const struct store_options *backend =
        &trust->options->topology
             ->backends[layout_member(trust->layout, partition)];

    return trust->layout->neighbours && layout_may_lease(backend->ops);
}

/* Checks that the store has the place of the lessor. If an unfinished migration
 * retired it, it becomes level for that migration, when that is run again
 * without the missing store. After a finished migration there is no need: the
 * counters were raised to their ends. */
static enum seqb_status check_place(struct trust *trust, struct seqb_error *err)
{
    struct connection *connection = trusted(trust);
    struct layout_store store = layout_store_of(connection->options);
    enum seqb_status status =
        claim_read(connection, trust->layout, &store, err);

    if (status == SEQB_OK) {
        status = claim_check_retired(connection, trust->layout, err);
        trust->is_retired = status == SEQB_LAYOUT;
    }
    if (status != SEQB_OK && !trust->is_retired)
        return status;
    if (store.layout[0] == '\0')
        return error_set(err, SEQB_LAYOUT,
                         "backend %s was never used in pool %s: there is "
                         "nothing to be trusted",
                         store.backend, trust->layout->name);
    return compare_place(store.backend, store.place, trust->layout,
                         trust->options->partition, err);
}

static enum seqb_status check_store(struct trust *trust, struct seqb_error *err)
{
    const struct seqb_backend *backend = trusted(trust)->backend;
    const char *name = connection_name(trusted(trust));

    if (backend->incarnation[0] == '\0')
        return error_set(err, SEQB_INVALID,
                         "backend %s: engine %s cannot tell one run of its "
                         "store from another, so that it cannot be trusted "
                         "for one",
                         name, backend->ops->engine);
    if (backend->loss[0] != '\0')
        return error_set(err, SEQB_UNSAFE,
                         "backend %s: its settings lose commits (%s), so that "
                         "its restart may have taken it back: wait for "
                         "the store that cannot be asked",
                         name, backend->loss);
    return check_place(trust, err);
}

/* --- the other stores --- */

static bool answers(const struct trust *trust, int32_t partition)
{
    struct connection *connection = &trust->connections[partition];
    char line[LINE_SIZE];
    struct seqb_error why;
    const bool is_open = connection_open(connection, false, &why) == SEQB_OK;

    connection_close(connection);
    if (!is_open) {
        (void)text_format(line, sizeof line, "  cannot be asked: %s: %s",
                          connection_name(connection), why.text);
        report(trust, line);
    }
    return is_open;
}

/* If all other stores answer, brokers make the lessor level without the
 * operator, and a migration needs no level store. */
static enum seqb_status check_others(const struct trust *trust,
                                     struct seqb_error *err)
{
    int32_t others = 0;
    int32_t answering = 0;

    for (int32_t i = 0; i < 1 << trust->layout->bits; i++) {
        if (i == trust->options->partition || !is_lessor(trust, i))
            continue;
        others++;
        answering += answers(trust, i);
    }
    if (answering == others)
        return error_set(err, SEQB_INVALID,
                         "backend %s: all of its neighbours can be asked, and "
                         "%s: nothing was written",
                         connection_name(trusted(trust)),
                         trust->is_retired
                             ? "the migration that retired it needs no "
                               "word: run it again"
                             : "brokers make it level by themselves");
    if (answering == 0 && !trust->is_retired)
        report(trust, "  no neighbour can witness a lease: windows are leased "
                      "only when one is back");
    return SEQB_OK;
}

/* --- the claim --- */

/* A lessor that was not restarted waits only if a copy of its store leased in
 * its place. Then it may be level in an earlier term, or its next term, which
 * has a nonce, was begun. */
static bool was_restarted(const struct trust *trust, const char *synced)
{
    const bool is_begun = synced[0] == TERM_BEGUN[0];
    char nonce[TERM_NONCE_SIZE];

    return !term_read(synced + is_begun, trusted(trust)->backend->incarnation,
                      nonce) ||
           (is_begun && nonce[0] == '\0');
}

static enum seqb_status check_restarted(const struct trust *trust,
                                        const char *synced,
                                        struct seqb_error *err)
{
    if (was_restarted(trust, synced))
        return SEQB_OK;
    return error_set(err, SEQB_UNSAFE,
                     "backend %s was not restarted since it was last level "
                     "with its neighbours: if it waits, a copy of its store "
                     "leased in its place; nothing was written; bring back the "
                     "store that cannot be asked",
                     connection_name(trusted(trust)));
}

/* Whether it is in a term that an operator began in this run of the store. */
static bool is_trusted(const struct trust *trust, const char *synced)
{
    char nonce[TERM_NONCE_SIZE];

    return term_read(synced, trusted(trust)->backend->incarnation, nonce) &&
           term_is_trusted(nonce);
}

static enum seqb_status swap(const struct trust *trust, char *standing,
                             struct seqb_error *err)
{
    const char *text = trust->term;
    char was[CLAIM_SIZE];
    const struct seqb_swap change = {
        .name = trust->name, .expected = was, .text = text};
    enum seqb_status status = SEQB_OK;

    for (int i = 0; i < SWAPS && !is_trusted(trust, standing); i++) {
        status = check_restarted(trust, standing, err);
        if (status != SEQB_OK)
            return status;
        (void)text_copy(was, sizeof was, standing);
        status =
            connection_swap(trusted(trust), &change, standing, CLAIM_SIZE, err);
        if (status != SEQB_OK)
            return status;
    }
    return is_trusted(trust, standing)
               ? SEQB_OK
               : error_set(err, SEQB_AGAIN,
                           "backend %s: brokers were faster: try again",
                           connection_name(trusted(trust)));
}

static void report_plan(const struct trust *trust)
{
    const char *name = connection_name(trusted(trust));
    char line[LINE_SIZE];

    if (trust->is_retired) {
        (void)text_format(line, sizeof line,
                          "pool %s was retired by seqctl migrate: this is for "
                          "running that migration again without the store "
                          "that cannot be asked",
                          trust->layout->name);
        report(trust, line);
    }
    (void)text_format(line, sizeof line,
                      "pool %s: backend %s is believed as it stands, until its "
                      "store is restarted again",
                      trust->layout->name, name);
    report(trust, line);
    (void)text_format(line, sizeof line,
                      "warning: if the store of %s was put back to an older "
                      "state, or lost commits, the numbers of all windows "
                      "that it leased since repeat: then do not trust it",
                      name);
    report(trust, line);
}

static enum seqb_status trust_run(struct trust *trust, struct seqb_error *err)
{
    char standing[CLAIM_SIZE];
    char nonce[TERM_NONCE_SIZE];
    enum seqb_status status = connection_claim(
        trusted(trust), trust->name, NULL, standing, sizeof standing, err);

    /* The store may be put back to where this run was trusted before, so that
     * the run alone does not name the term. */
    term_trust(chance_bits(), nonce);
    (void)text_format(trust->term, sizeof trust->term, "%s%s", nonce,
                      trusted(trust)->backend->incarnation);
    if (status != SEQB_OK)
        return status;
    if (is_trusted(trust, standing)) {
        report(trust, "it is level already: nothing is to be done");
        return SEQB_OK;
    }
    status = check_others(trust, err);
    if (status == SEQB_OK)
        status = check_restarted(trust, standing, err);
    if (status != SEQB_OK)
        return status;
    report_plan(trust);
    if (trust->options->dry_run) {
        report(trust, "dry run: nothing was written");
        return SEQB_OK;
    }
    status = swap(trust, standing, err);
    if (status == SEQB_OK)
        report(trust, trust->is_retired
                          ? "done: run the migration again, with --without"
                          : "done: brokers take leases of it again");
    return status;
}

/* --- setting up --- */

static enum seqb_status trust_init(struct trust *trust, struct seqb_error *err)
{
    const struct layout *layout = trust->layout;
    char pool[LAYOUT_POOL_SIZE];

    layout_internal_name(layout->name, layout->generation, pool, sizeof pool);
    (void)text_format(trust->name, sizeof trust->name, "synced/%s", pool);
    trust->connections =
        calloc((size_t)1 << layout->bits, sizeof *trust->connections);
    if (trust->connections == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    if (watchdog_open(NULL, NULL, &trust->watchdog, err) != SEQB_OK)
        return err->status;
    for (int32_t i = 0; i < 1 << layout->bits; i++)
        connection_init(
            &trust->connections[i],
            &trust->options->topology->backends[layout->partitions[i]],
            trust->watchdog, NULL);
    return SEQB_OK;
}

static void trust_fini(struct trust *trust)
{
    if (trust->watchdog != NULL)
        connection_close(trusted(trust));
    free(trust->connections);
    watchdog_close(trust->watchdog);
}

enum seqb_status offline_trust(const struct offline_trust *options,
                               struct seqb_error *err)
{
    struct trust trust = {.options = options,
                          .layout = options->topology->layouts[options->pool]};
    struct seqb_error why;
    enum seqb_status status = trust_init(&trust, &why);

    if (status == SEQB_OK && !is_lessor(&trust, options->partition))
        status = error_set(&why, SEQB_INVALID,
                           "backend %s leases no windows to neighbours: there "
                           "is nothing to be trusted",
                           connection_name(trusted(&trust)));
    if (status == SEQB_OK)
        status = connection_open(trusted(&trust), false, &why);
    if (status == SEQB_OK)
        status = check_store(&trust, &why);
    if (status == SEQB_OK)
        status = trust_run(&trust, &why);
    trust_fini(&trust);
    return status == SEQB_OK ? SEQB_OK : error_copy(err, &why);
}
