/* SPDX-License-Identifier: Apache-2.0 */
/* How a session with PostgreSQL begins, for the postgres engine alone: the
 * primary among the hosts, settings that lose nothing, our tables. */
#pragma once

#include "backends/postgres/link.h"

/* SQL: the history in which values of seqb_counters hold, NULL without it. The
 * control data's timeline is that of the last checkpoint, which a promotion
 * does not wait for; the name of the log's file has the one of now. */
#define POSTGRES_ORIGIN                                                        \
    "((SELECT system_identifier::text FROM pg_control_system())"               \
    " || ':' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"           \
    " || ':' || pg_relation_filepath(to_regclass('seqb_counters')))"

/* SQL: the incarnation of the server, in us since 1970: no file says when it
 * was started, so that whatever is put back while it is down has another. */
#define POSTGRES_INCARNATION                                                   \
    "(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint::text"

/* SQL: the file of a table without its folder, "" if there is none. */
#define POSTGRES_NODE(table)                                                   \
    "coalesce(pg_relation_filenode(to_regclass('" table "'))::text, '')"

/* SQL: the incarnation of the store, as seqb_backend has it. A dump that is put
 * back while the server runs is older data as well. */
#define POSTGRES_RUN                                                           \
    "(" POSTGRES_INCARNATION " || '/' || " POSTGRES_NODE(                      \
        "seqb_counters") " || '/' || " POSTGRES_NODE("seqb_claims") ")"

/* The origin, "" on a standby, where the log's name cannot be asked. */
#define POSTGRES_ORIGIN_OR_NONE                                                \
    "CASE WHEN pg_is_in_recovery() THEN ''"                                    \
    " ELSE coalesce(" POSTGRES_ORIGIN ", '') END"

/* SQL: the file of seqb_claims, another one after a dump was put back or the
 * table was emptied. */
#define POSTGRES_CLAIMS_FILE                                                   \
    "coalesce(pg_relation_filepath(to_regclass('seqb_claims')), '')"

/* Opens the link and fills `base`. Errors as open's; a failure leaves what
 * postgres_link_close frees. */
enum seqb_status
postgres_session_open(struct postgres_link *link, struct seqb_backend *base,
                      const struct seqb_backend_options *options,
                      struct seqb_error *err);
