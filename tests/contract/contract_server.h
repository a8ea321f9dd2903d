/* SPDX-License-Identifier: Apache-2.0 */
/* What the subjects of the contract suite have in common whose store is a
 * server: one of the store's own, or one that a program's stores share. */
#pragma once

#include <stdbool.h>

#include "contract/contract.h"
#include "support/servers.h"
#include "support/test.h"

struct server_store {
    struct contract_store base;
    struct server *server;
};

struct server *server_of(struct contract_store *store);

/* A store that is the server, with options for it; it ends with the store. */
struct contract_store *server_store_new(const char *name,
                                        struct server *server);
void server_store_free(struct contract_store *store);

/* Hooks of a subject whose stores begin with a struct server_store. */
void server_store_mislead(struct contract_store *store,
                          struct seqb_backend_options *out);
void server_store_restart(struct contract_store *store);

/* Runs the suite, or, if the server is not installed, that test alone, which
 * says so: the suite starts its stores where a test cannot be skipped any
 * more. What main returns. */
int contract_run_on_server(const struct contract_subject *subject,
                           bool is_installed, struct CMUnitTest required);
