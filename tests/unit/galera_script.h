/* SPDX-License-Identifier: Apache-2.0 */
/* Two nodes of a cluster, "a:1" and "b:2", under the engine's link: each
 * answers every question as the test says, and they tell what was asked. */
#pragma once

#include "backends/mysql/galera/galera.h"
#include "backends/mysql/galera/node.h"
#include "backends/mysql/server.h"
#include "support/test.h"

#define OTHER_ROW "ffffffff" /* the voucher of earlier tables */

struct node {
    struct node_state state;
    const char *digest;  /* what its voucher must have */
    const char *voucher; /* its row of seqb_incarnation; NULL: none */
    const char *history; /* NULL: none */
    const char *age_ms;
    const char *is_ignored; /* pc.ignore_quorum */
    const char *loss;       /* what its settings may lose */
    int forgets;            /* the voucher, once it was read so often */
    int takes_ms;           /* the time of a connect */
    int asked_ms;           /* the bound of the last connect */
};

struct script {
    struct node nodes[2];
    int64_t now_ms;
    int questions;
    int fails; /* this question, from 1 on; 0: none */
    enum seqb_status failure;
    int spoils;              /* the first row of this answer */
    int column;              /* of it, ... */
    const char *column_text; /* ... which is this */
    bool is_random;          /* else there are no random bytes */
    char told[1024];         /* the questions, and their node */
};

#define NO_ROW (-1) /* instead of a column */

extern struct script script;

/* Both nodes are members and have the history "h"; only "a:1" has its voucher.
 * Their tables are just old enough. */
void script_begin(void);

/* A link to that node, as after mysql_node_open, of which nothing was told. */
void script_enter(struct mysql *mysql, const char *where);
