/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a server. Only a user with pg_monitor may read how far the
 * standbys are behind. Transactions raise synchronous_commit from off, but not
 * from local, with which a commit waits for no standby. */
#include <inttypes.h>
#include <string.h>

#include "backends/postgres/transaction.h"
#include "platform/text.h"

static const char describe_sql[] =
    "SELECT coalesce(host(inet_server_addr()) || ':' || inet_server_port(), "
    "''),"
    " CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE 'primary' END,"
    " concat_ws('; ', CASE current_setting('synchronous_commit')"
    " WHEN 'local' THEN 'waits for none: synchronous_commit is local' END,"
    " nullif(current_setting('synchronous_standby_names'), '')), count(pid),"
    " max(CASE WHEN pg_is_in_recovery() THEN NULL"
    " ELSE pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint END)"
    " FROM pg_stat_replication";

enum column { NODE, ROLE, SYNCHRONOUS, STANDBYS, BEHIND };

static void row_take(const PGresult *row, struct seqb_details *out)
{
    const char *synchronous = PQgetvalue(row, 0, SYNCHRONOUS);
    const char *standbys = PQgetvalue(row, 0, STANDBYS);
    const char *behind = PQgetvalue(row, 0, BEHIND);

    (void)text_copy(out->node, sizeof out->node, PQgetvalue(row, 0, NODE));
    (void)text_copy(out->role, sizeof out->role, PQgetvalue(row, 0, ROLE));
    (void)text_copy(out->quorum, sizeof out->quorum, synchronous);
    if (strcmp(standbys, "0") == 0)
        (void)text_copy(out->replicas, sizeof out->replicas, "none");
    else if (behind[0] == '\0')
        (void)text_copy(out->replicas, sizeof out->replicas, standbys);
    else
        (void)text_format(out->replicas, sizeof out->replicas,
                          "%s, at most %s bytes behind", standbys, behind);
}

enum seqb_status postgres_describe(struct seqb_backend *backend,
                                   struct seqb_details *out,
                                   struct seqb_error *err)
{
    struct postgres *postgres = (struct postgres *)backend;
    struct postgres_link *link = &postgres->link;
    const char *tls;
    PGresult *row = NULL;
    enum seqb_status status =
        postgres_link_begin(link, postgres->timeout_ms, err);

    if (status != SEQB_OK)
        return status;
    tls = PQsslAttribute(link->conn, "protocol");
    (void)text_copy(out->tls, sizeof out->tls,
                    PQsslInUse(link->conn) && tls != NULL ? tls : "none");
    postgres_link_add(link, describe_sql, 0, NULL);
    status = postgres_link_send(link, err);
    if (status == SEQB_OK)
        status = postgres_link_read(link, PGRES_TUPLES_OK, &row, err);
    if (status == SEQB_OK && PQntuples(row) == 1)
        row_take(row, out);
    if (out->node[0] == '\0') /* a unix socket */
        (void)text_format(out->node, sizeof out->node, "%s",
                          PQhost(link->conn));
    PQclear(row);
    if (status == SEQB_OK)
        return postgres_link_finish(link, err);
    return postgres_link_abandon(link) ? SEQB_OK : status;
}
