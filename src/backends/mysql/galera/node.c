/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of a Galera node before it is used. */
#include "backends/mysql/galera/node.h"

#include <stddef.h>
#include <string.h>

#include "backends/mysql/connect/connect.h"
#include "backends/mysql/server.h"
#include "net/net.h"
#include "platform/error.h"
#include "platform/text.h"

#define SYNCED    "4"
#define PRIMARY   "Primary"
#define VARIABLES (sizeof variables / sizeof variables[0])

static const struct {
    const char *name;
    size_t offset;
} variables[] = {
    {"wsrep_ready", offsetof(struct node_state, ready)},
    {"wsrep_cluster_status", offsetof(struct node_state, status)},
    {"wsrep_local_state", offsetof(struct node_state, local)},
    {"wsrep_local_state_comment", offsetof(struct node_state, comment)},
    {"wsrep_cluster_state_uuid", offsetof(struct node_state, cluster)},
    {"wsrep_cluster_conf_id", offsetof(struct node_state, view)},
};

static void state_add(struct node_state *out, const char *name,
                      const char *value)
{
    for (size_t i = 0; i < VARIABLES && name != NULL && value != NULL; i++) {
        if (strcmp(name, variables[i].name) == 0)
            (void)text_copy((char *)out + variables[i].offset, NODE_VALUE_SIZE,
                            value);
    }
}

enum seqb_status mysql_node_read(struct mysql_link *link,
                                 struct node_state *out, struct seqb_error *err)
{
    enum seqb_status status;

    *out = (struct node_state){.ready = ""};
    mysql_link_add(link, "SHOW GLOBAL STATUS WHERE Variable_name IN (");
    for (size_t i = 0; i < VARIABLES; i++)
        mysql_link_add(link, "%s'%s'", i > 0 ? ", " : "", variables[i].name);
    mysql_link_add(link, ")");
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    while (status == SEQB_OK && mysql_link_row(link))
        state_add(out, mysql_link_text(link, 0), mysql_link_text(link, 1));
    return status;
}

bool mysql_node_is_usable(const struct node_state *state)
{
    return strcmp(state->ready, "ON") == 0 &&
           strcmp(state->local, SYNCED) == 0 &&
           strcmp(state->status, PRIMARY) == 0;
}

bool mysql_node_is_with(const struct node_state *a, const struct node_state *b)
{
    return strcmp(a->status, PRIMARY) == 0 && strcmp(b->status, PRIMARY) == 0 &&
           strcmp(a->cluster, b->cluster) == 0 && strcmp(a->view, b->view) == 0;
}

bool mysql_node_is_settled(struct mysql_link *link)
{
    int64_t age_ms;

    mysql_link_add(link, "SELECT " MYSQL_AGE_SQL);
    return mysql_link_run(link, SEQB_UNREACHABLE, NULL) == SEQB_OK &&
           mysql_link_row(link) && mysql_link_int64(link, 0, &age_ms) &&
           age_ms >= MYSQL_SETTLED_MS;
}

/* Checks that the server has a provider and that it is on: without one the
 * server has no wsrep status variables. */
static enum seqb_status node_check(const struct mysql_link *link,
                                   const struct node_state *state,
                                   struct seqb_error *err)
{
    if (state->local[0] == '\0')
        return error_set(err, SEQB_UNSAFE,
                         "%s: is no node of a Galera cluster (wsrep_on = OFF), "
                         "nothing was changed: 'hosts' is for such nodes "
                         "alone, since servers that only copy each other "
                         "repeat numbers; give one server by 'host'",
                         link->where);
    if (mysql_node_is_usable(state))
        return SEQB_OK;
    return error_set(err, SEQB_UNREACHABLE,
                     "%s: the node is not used, nothing was changed: "
                     "wsrep_local_state_comment = %s, wsrep_cluster_status = "
                     "%s, wsrep_ready = %s",
                     link->where, state->comment, state->status, state->ready);
}

/*
 * Reads wait until this node has the commits of the others. The server must not
 * repeat a failed statement by itself, because the engine would not notice. A
 * transaction is certified as a whole.
 */
static enum seqb_status node_session(struct mysql_link *link,
                                     struct seqb_error *err)
{
    mysql_link_add(link,
                   "SET SESSION wsrep_sync_wait = %d, wsrep_dirty_reads = 0, "
                   "wsrep_retry_autocommit = 0, wsrep_trx_fragment_size = 0",
                   MYSQL_SYNC_WAIT);
    return mysql_link_run(link, SEQB_UNREACHABLE, err);
}

/* With one of these options both sides of a cut network stay primary, and both
 * would grant. */
static enum seqb_status quorum_check(struct mysql *mysql, bool accept_loss,
                                     struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    struct seqb_backend *base = &mysql->sql.base;
    int64_t is_ignored;
    enum seqb_status status;

    mysql_link_add(link, "SELECT @@GLOBAL.wsrep_provider_options REGEXP "
                         "'pc\\\\.ignore_(quorum|sb) *= *(true|yes|on|1)'");
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link) || !mysql_link_int64(link, 0, &is_ignored))
        return mysql_link_distrust(link, "wsrep_provider_options", err);
    if (is_ignored == 0)
        return SEQB_OK;
    (void)text_append(base->loss, sizeof base->loss,
                      "%spc.ignore_quorum or pc.ignore_sb is set",
                      base->loss[0] != '\0' ? ", " : "");
    return accept_loss
               ? SEQB_OK
               : error_set(err, SEQB_UNSAFE,
                           "%s: both sides of a cut network would grant the "
                           "same numbers: %s in wsrep_provider_options; unset "
                           "it, or accept_loss = true",
                           link->where, base->loss);
}

static enum seqb_status node_enter(struct mysql *mysql,
                                   const struct seqb_backend_options *options,
                                   struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    struct node_state state;
    enum seqb_status status = mysql_node_read(link, &state, err);

    if (status == SEQB_OK)
        status = node_check(link, &state, err);
    if (status == SEQB_OK)
        status = mysql_server_check(link, options, &mysql->sql.base, err);
    if (status == SEQB_OK)
        status = quorum_check(mysql, options->accept_loss, err);
    if (status != SEQB_OK)
        return status;
    link->is_cluster = true;
    link->sql = &mysql_sql_of_cluster;
    (void)text_format(mysql->sql.base.domain, sizeof mysql->sql.base.domain,
                      "galera %s", state.cluster);
    return node_session(link, err);
}

enum seqb_status mysql_node_open(struct mysql *mysql,
                                 const struct seqb_backend_options *options,
                                 const char *address, struct seqb_error *err)
{
    struct seqb_backend_options node = *options;
    struct address at;
    enum seqb_status status;

    if (!address_parse(address, &at))
        return error_set(err, SEQB_INVALID,
                         "%s: '%.80s' of 'hosts' is no host:port",
                         options->name, address);
    node.host = at.host;
    node.port = at.port;
    node.socket_path = NULL;
    mysql->link = (struct mysql_link){.handle = NULL};
    mysql->link.statements.one_by_one = true;
    mysql->link.sql = &mysql_sql_of_server; /* until it is known to be a node */
    status = mysql_link_open(&mysql->link, &node, err);
    return status == SEQB_OK ? node_enter(mysql, options, err) : status;
}
