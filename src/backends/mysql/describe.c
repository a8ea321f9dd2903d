/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a server, or of a node of a Galera cluster. A server does
 * not know how far its replicas are behind, and a node knows only of itself. */
#include <string.h>

#include "backends/mysql/mysql.h"
#include "backends/mysql/server.h"
#include "platform/text.h"

/* The value of one of the server's variables. */
struct kept {
    const char *variable;
    char value[64];
};

enum variable {
    TLS,
    REPLICAS,
    NODE_STATE,
    CLUSTER,
    CLUSTER_SIZE,
    WAITING, /* write sets that were received and are not applied */
    PAUSED,  /* the share of the time that flow control stopped all nodes */
    VARIABLES
};

static void kept_take(struct kept *kept, const char *name, const char *value)
{
    for (size_t i = 0; i < VARIABLES && name != NULL && value != NULL; i++) {
        if (strcmp(kept[i].variable, name) == 0)
            (void)text_copy(kept[i].value, sizeof kept[i].value, value);
    }
}

/* Precedes a statement that does not wait until this node has caught up, as all
 * others of the session do. */
static const char *at_once(const struct mysql_link *link)
{
    return link->is_cluster && link->is_mariadb
               ? "SET STATEMENT wsrep_sync_wait = 0 FOR "
               : "";
}

static enum seqb_status status_ask(struct mysql_link *link, struct kept *kept,
                                   struct seqb_error *err)
{
    enum seqb_status status;

    mysql_link_add(link, "%sSHOW STATUS WHERE Variable_name IN (",
                   at_once(link));
    for (size_t i = 0; i < VARIABLES; i++) {
        mysql_link_add(link, i == 0 ? "" : ", ");
        mysql_link_quote(link, kept[i].variable);
    }
    mysql_link_add(link, ")");
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    while (status == SEQB_OK && mysql_link_row(link))
        kept_take(kept, mysql_link_text(link, 0), mysql_link_text(link, 1));
    return status;
}

static enum seqb_status node_ask(struct mysql_link *link,
                                 struct seqb_details *out,
                                 struct seqb_error *err)
{
    enum seqb_status status;

    mysql_link_add(link,
                   "%sSELECT CONCAT(@@hostname, ':', @@port), "
                   "IF(" MYSQL_PRIMARY_SQL ", 'primary', 'read only')",
                   at_once(link));
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK || !mysql_link_row(link))
        return status;
    (void)text_format(out->node, sizeof out->node, "%s",
                      mysql_link_text(link, 0));
    (void)text_format(out->role, sizeof out->role, "%s",
                      mysql_link_text(link, 1));
    return SEQB_OK;
}

/* How far this node is behind the cluster, and how much nodes that were behind
 * have slowed it down. */
static void node_lag_describe(const struct kept *kept, struct seqb_details *out)
{
    if (kept[WAITING].value[0] == '\0' || kept[PAUSED].value[0] == '\0')
        return;
    (void)text_format(out->replicas, sizeof out->replicas,
                      "here %s write sets behind, paused %s of the time",
                      kept[WAITING].value, kept[PAUSED].value);
}

enum seqb_status mysql_describe(struct seqb_backend *backend,
                                struct seqb_details *out,
                                struct seqb_error *err)
{
    struct mysql_link *link = &((struct mysql *)backend)->link;
    struct kept kept[VARIABLES] = {
        [TLS] = {"Ssl_version", ""},
        [REPLICAS] = {"Slaves_connected", ""}, /* MariaDB only */
        [NODE_STATE] = {"wsrep_local_state_comment", ""},
        [CLUSTER] = {"wsrep_cluster_status", ""},
        [CLUSTER_SIZE] = {"wsrep_cluster_size", ""},
        [WAITING] = {"wsrep_local_recv_queue", ""},
        [PAUSED] = {"wsrep_flow_control_paused", ""}};
    enum seqb_status status = mysql_link_begin(link, err);

    if (status == SEQB_OK)
        status = node_ask(link, out, err);
    if (status == SEQB_OK)
        status = status_ask(link, kept, err);
    if (status != SEQB_OK)
        return status;
    (void)text_copy(out->tls, sizeof out->tls,
                    kept[TLS].value[0] != '\0' ? kept[TLS].value : "none");
    if (link->is_cluster) {
        (void)text_copy(out->role, sizeof out->role, kept[NODE_STATE].value);
        (void)text_format(out->quorum, sizeof out->quorum, "%s, %s nodes",
                          kept[CLUSTER].value, kept[CLUSTER_SIZE].value);
        node_lag_describe(kept, out);
        return SEQB_OK;
    }
    (void)text_copy(
        out->replicas, sizeof out->replicas,
        strcmp(kept[REPLICAS].value, "0") == 0 ? "none" : kept[REPLICAS].value);
    return SEQB_OK;
}
