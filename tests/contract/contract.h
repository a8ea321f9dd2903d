/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract suite: every promise of <seqbroker/backend.h>, attacked. An
 * engine passes it by describing a real store of its own as a subject; what is
 * peculiar to the engine is tested elsewhere.
 */
#pragma once

#include <stdbool.h>

#include <seqbroker/backend.h>

/* A store under test; the first member of the subject's own struct. */
struct contract_store {
    struct seqb_backend_options options; /* ready for open, `create` set;
                                            timeout_ms >= 5000, so that a busy
                                            machine decides no verdict */
};

/* Tests that need a hook are left out where it is NULL. */
struct contract_subject {
    const char *name;
    const struct seqb_backend_ops *ops;

    /* The store writes a row for each value: fewer values are taken. */
    bool writes_each_value;

    /* A primary that holds nothing; NULL ends the test as failed. A server may
     * be shared between tests as long as each starts from nothing. */
    struct contract_store *(*start)(void);
    void (*stop)(struct contract_store *store);

    /* Required. `out`, a copy of the store's options with `create` unset, is
     * made to lead to nothing: an absent file, a port that nobody serves. */
    void (*mislead)(struct contract_store *store,
                    struct seqb_backend_options *out);

    /* Ends and starts the server, hard; open backends lose their
     * connection. When it returns, open works again. */
    void (*restart)(struct contract_store *store);

    /* Every counter is gone, the store's history and claims need not be. */
    void (*forget)(struct contract_store *store);

    /* `save` copies the store; `restore` puts the copy in its place, so that
     * counters go back and the origin changes. */
    void (*save)(struct contract_store *store);
    void (*restore)(struct contract_store *store);

    /* The store gets another incarnation; open backends may lose their
     * connection. When it returns, open works again. */
    void (*renew)(struct contract_store *store);

    /* What keeps the store's incarnation is gone, and nobody who opens it may
     * make another or, if nothing is kept, may read it. `advice` is what the
     * error then says to do. */
    void (*withhold)(struct contract_store *store);
    const char *advice;

    /* The server is no primary any more. */
    void (*demote)(struct contract_store *store);

    /* Cells do not vanish by themselves when they need not be kept. */
    bool keeps_cells;
};

/* Runs every test that fits the subject's class and hooks as one group, and
 * those of windowed engines on the cells of a direct one that has them; the
 * number of failures, to be returned from main. */
int contract_run(const struct contract_subject *subject);
