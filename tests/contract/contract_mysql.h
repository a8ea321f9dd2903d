/* SPDX-License-Identifier: Apache-2.0 */
/* What subjects of the contract suite share if their engine uses a MariaDB
 * server. All stores share one server; each has a database. */
#pragma once

#include "contract/contract_server.h"
#include "contract/mysql_fixture.h"

/* The fixture of a store; its backend is not open. */
struct fixture *fixture_of(struct contract_store *store);

struct contract_store *mysql_store_new(const struct seqb_backend_ops *ops);

/* Runs the suite on the subject, after filling in its stop, mislead, restart
 * and demote. Returns what main returns. */
int contract_run_on_mysql(struct contract_subject subject);
