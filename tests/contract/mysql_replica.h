/* SPDX-License-Identifier: Apache-2.0 */
/* A MariaDB server that replicates the server of a fixture. */
#pragma once

#include "contract/mysql_fixture.h"

/* Makes the server a replica of the other one, from the begin of its binary
 * log. Their server ids must differ. */
void replica_follow(struct server *replica, struct server *primary);

/* Waits until the replica has applied what the other server has committed. */
void replica_catch_up(struct server *replica, struct server *primary);

/* Whether both servers answer a query in the fixture's database alike. */
bool answer_alike(struct fixture *f, struct server *replica, const char *query);

/* Makes the tables anew, by opening the backend, until the replica has the same
 * dates of them, in whole seconds. */
void tables_make_alike(struct fixture *f, struct server *replica);
