/* SPDX-License-Identifier: Apache-2.0 */
/* Begins a session with a PostgreSQL server, for the postgres engine only:
 * checks that it is a primary and that settings lose no commit, and finds our
 * tables. */
#pragma once

#include "backends/postgres/address.h"
#include "backends/postgres/link.h"

/* SQL: the history in which the values of seqb_counters are valid; NULL without
 * the table. The timeline in the control data is that of the last checkpoint,
 * and a promotion does not wait for a checkpoint; the name of the current WAL
 * file has the current timeline. */
#define POSTGRES_ORIGIN                                                        \
    "((SELECT system_identifier::text FROM pg_control_system())"               \
    " || ':' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"           \
    " || ':' || pg_relation_filepath(to_regclass('seqb_counters')))"

/* SQL: the incarnation of the server: its start, in us since 1970. No file
 * contains it, so data that is restored while the server is down gets another
 * incarnation. */
#define POSTGRES_INCARNATION                                                   \
    "(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint::text"

/* SQL: the file name of a table without its folder, "" if there is none. */
#define POSTGRES_NODE(table)                                                   \
    "coalesce(pg_relation_filenode(to_regclass('" table "'))::text, '')"

/* SQL: the incarnation of the store, as in seqb_backend. It includes the
 * tables' files because a dump that is restored while the server runs is older
 * data as well, and the database's folder because a database that is copied
 * keeps the names of its files. */
#define POSTGRES_RUN                                                           \
    "(" POSTGRES_INCARNATION                                                   \
    " || '/' || coalesce(pg_relation_filepath(to_regclass('seqb_counters'))"   \
    ", '') || '/' || " POSTGRES_NODE("seqb_claims") ")"

/* SQL: the origin; "" on a standby, which cannot answer the name of the WAL
 * file. */
#define POSTGRES_ORIGIN_OR_NONE                                                \
    "CASE WHEN pg_is_in_recovery() THEN ''"                                    \
    " ELSE coalesce(" POSTGRES_ORIGIN ", '') END"

/* SQL: the settings that lose commits, "" if none does. An administrator may
 * change them while connections live on, so each transaction asks again. */
#define POSTGRES_LOSSES                                                        \
    "concat_ws(', ', CASE current_setting('fsync') WHEN 'on' THEN NULL"        \
    " ELSE 'fsync is off' END,"                                                \
    " CASE current_setting('full_page_writes') WHEN 'on' THEN NULL"            \
    " ELSE 'full_page_writes is off' END)"

#define POSTGRES_OUR_TABLES                                                    \
    "(to_regclass('seqb_counters'), to_regclass('seqb_claims'))"

/* SQL: whether a table has, or had, a trigger, a rule or row-level security.
 * It costs a tenth of POSTGRES_INTRUDER. A DROP leaves it true until the next
 * VACUUM, and a trigger on DELETE counts as well. */
#define POSTGRES_MARKED                                                        \
    "EXISTS (SELECT FROM pg_class WHERE oid IN " POSTGRES_OUR_TABLES           \
    " AND (relhastriggers OR relhasrules OR relrowsecurity))"

/* SQL: what may change what is written or hide it, "" if nothing does. 20 are
 * the bits of pg_trigger.tgtype for INSERT and UPDATE. */
#define POSTGRES_INTRUDER                                                      \
    "(SELECT coalesce(min(what), '') FROM ("                                   \
    "SELECT 'trigger ' || tgname || ' on ' || tgrelid::regclass AS what"       \
    " FROM pg_trigger WHERE tgrelid IN " POSTGRES_OUR_TABLES                   \
    " AND NOT tgisinternal AND tgenabled <> 'D' AND tgtype & 20 <> 0"          \
    " UNION ALL SELECT 'rule ' || rulename || ' on ' || ev_class::regclass"    \
    " FROM pg_rewrite WHERE ev_class IN " POSTGRES_OUR_TABLES                  \
    " AND ev_enabled <> 'D'"                                                   \
    " UNION ALL SELECT 'row-level security of ' || oid::regclass"              \
    " FROM pg_class WHERE oid IN " POSTGRES_OUR_TABLES                         \
    " AND row_security_active(oid)) AS intruders)"

/* SQL: the file of seqb_claims, which changes when a dump is restored or the
 * table is truncated. */
#define POSTGRES_CLAIMS_FILE                                                   \
    "coalesce(pg_relation_filepath(to_regclass('seqb_claims')), '')"

/* Opens the link to the chosen host and fills `base`. Errors as for open; a
 * failure leaves what postgres_link_close frees. */
enum seqb_status postgres_session_begin(
    struct postgres_link *link, const struct postgres_address *address,
    struct seqb_backend *base, const struct seqb_backend_options *options,
    struct seqb_error *err);

/* Returns SEQB_UNSAFE: the value of POSTGRES_LOSSES was not "". */
enum seqb_status postgres_loss_refuse(const struct postgres_link *link,
                                      const char *losses,
                                      struct seqb_error *err);
