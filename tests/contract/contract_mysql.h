/* SPDX-License-Identifier: Apache-2.0 */
/* What the subjects of the contract suite have in common that are engines on a
 * MariaDB server, which the stores share; each has a database. */
#pragma once

#include "contract/contract_server.h"
#include "contract/mysql_fixture.h"

/* The fixture that a store stands on; its backend is not opened. */
struct fixture *fixture_of(struct contract_store *store);

struct contract_store *mysql_store_new(const struct seqb_backend_ops *ops);

/* Runs the suite on the subject, whose stop, mislead, restart and demote are
 * filled in. What main returns. */
int contract_run_on_mysql(struct contract_subject subject);
