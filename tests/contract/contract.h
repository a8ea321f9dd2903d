/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract suite: it tests every promise of <seqbroker/backend.h>. An
 * engine takes part by describing a real store as a subject. What is specific
 * to an engine is tested elsewhere.
 */
#pragma once

#include <stdbool.h>

#include <seqbroker/backend.h>

/* A store under test. It must be the first member of the subject's own
 * struct. */
struct contract_store {
    /* Ready for open, with `create` set. timeout_ms is at least 5000, so that a
     * busy machine does not change a result. */
    struct seqb_backend_options options;
};

/* Tests that need a hook are left out if the hook is NULL. */
struct contract_subject {
    const char *name;
    const struct seqb_backend_ops *ops;

    /* The store writes a row for each value, so tests take fewer values. */
    bool writes_each_value;

    /* Returns an empty primary; NULL fails the test. Tests may share a server
     * if each starts with an empty store. */
    struct contract_store *(*start)(void);
    void (*stop)(struct contract_store *store);

    /* Required. `out` is a copy of the store's options with `create` unset. The
     * hook makes it lead nowhere: to a file that does not exist, or a port on
     * which nobody listens. */
    void (*mislead)(struct contract_store *store,
                    struct seqb_backend_options *out);

    /* Kills the server and starts it. Open backends lose their connection. On
     * return, open works again. */
    void (*restart)(struct contract_store *store);

    /* Removes every counter. The store's history and claims may stay. */
    void (*forget)(struct contract_store *store);

    /* `save` copies the store. `restore` replaces it by the copy, so that
     * counters go back and the origin changes. */
    void (*save)(struct contract_store *store);
    void (*restore)(struct contract_store *store);

    /* Gives the store another incarnation. Open backends may lose their
     * connection. On return, open works again. */
    void (*renew)(struct contract_store *store);

    /* Removes what keeps the store's incarnation. Whoever opens the store then
     * cannot make a new one or, if nothing keeps it, cannot read it. `advice`
     * is the advice that the error must contain. */
    void (*withhold)(struct contract_store *store);
    const char *advice;

    /* Makes the server a replica, or the like. */
    void (*demote)(struct contract_store *store);

    /* Cells are not removed when they need not be kept any more. */
    bool keeps_cells;

    /* Set by contract_run, when it runs on the cells of a direct engine. */
    bool is_cells;

    /* A purge notes when periods end and not which, and its caller's `keep` is
     * not checked: enough for a store that no operator edits. */
    bool purges_unchecked;
};

/* Runs every test that fits the subject's class and hooks, as one group. If a
 * direct engine has cells, the tests of windowed engines run on these, too.
 * Returns the number of failures, which main returns. */
int contract_run(const struct contract_subject *subject);
