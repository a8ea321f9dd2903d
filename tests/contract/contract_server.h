/* SPDX-License-Identifier: Apache-2.0 */
/* What subjects of the contract suite share if their store is a server, be it a
 * server for each store or one for all stores of a program. */
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

/* A store on the server, with options for it. The server is freed with the
 * store. */
struct contract_store *server_store_new(const char *name,
                                        struct server *server);
void server_store_free(struct contract_store *store);

/* Hooks for a subject whose stores begin with a struct server_store. */
void server_store_mislead(struct contract_store *store,
                          struct seqb_backend_options *out);
void server_store_restart(struct contract_store *store);

/* Runs the suite. If the server is not installed, it runs only
 * `server_is_required` as a test, which reports that, because the suite starts
 * its stores where a test cannot be skipped. Returns what main returns. */
int contract_run_on_server(const struct contract_subject *subject,
                           bool is_installed, void (*server_is_required)(void));

/* The same for a server that is one program. */
int contract_run_on_program(const struct contract_subject *subject,
                            const char *program);
