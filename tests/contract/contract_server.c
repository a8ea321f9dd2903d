/* SPDX-License-Identifier: Apache-2.0 */
/* Subjects of the contract suite whose store is a server. */
#include "contract/contract_server.h"

#include <stdlib.h>

struct server *server_of(struct contract_store *store)
{
    return ((struct server_store *)store)->server;
}

struct contract_store *server_store_new(const char *name, struct server *server)
{
    struct server_store *store = calloc(1, sizeof *store);

    assert_non_null(store);
    store->server = server;
    store->base.options = (struct seqb_backend_options){
        .name = name,
        .host = "127.0.0.1",
        .port = server_port(server),
        .timeout_ms = 120000,
        .connect_timeout_ms = 120000,
        .create = true,
    };
    return &store->base;
}

void server_store_free(struct contract_store *store)
{
    server_free(server_of(store));
    free(store);
}

void server_store_mislead(struct contract_store *store,
                          struct seqb_backend_options *out)
{
    (void)store;
    out->port = free_port();
}

void server_store_restart(struct contract_store *store)
{
    server_kill(server_of(store));
    server_start(server_of(store));
}

static void (*require)(void); /* of contract_run_on_server */
static const char *required;  /* of contract_run_on_program */

static void server_of_the_subject_is_installed(void **state)
{
    (void)state;
    require();
}

int contract_run_on_server(const struct contract_subject *subject,
                           bool is_installed, void (*server_is_required)(void))
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(server_of_the_subject_is_installed)};

    require = server_is_required;
    if (!is_installed)
        return test_run_group(subject->name, tests, 1, NULL, NULL);
    return contract_run(subject);
}

static void program_require(void)
{
    server_require(required);
}

int contract_run_on_program(const struct contract_subject *subject,
                            const char *program)
{
    required = program;
    return contract_run_on_server(subject, server_is_installed(program),
                                  program_require);
}
