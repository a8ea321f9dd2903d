/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a store: its identity, whether its data went back, and what its rows
 * are bound to.
 *
 * A cluster id is derived from the members' addresses and the token of their
 * start. So a cluster that is created from a snapshot may have the id of the
 * old cluster. But in the new cluster raft's term and index start again, while
 * the revision continues. Within a cluster the term never goes back, and the
 * index grows at least as fast as the revision, since each revision is an entry
 * of raft's log. ETCD_RUN has their values when it was stored. All members have
 * to be stopped to restore a snapshot, which ends their connections. So what
 * was compared is valid for one connection, and the session with it.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "backends/empty.h"
#include "backends/etcd/etcd.h"
#include "platform/error.h"
#include "platform/text.h"

#define SESSION_TRIES 8

/* The tolerated error, because the index and the revision of a status are not
 * read at the same moment. */
#define LEAD_MARGIN 16

/* A cluster that is created from a snapshot begins with an index of about ten.
 * No run is stored below INDEX_LEAST, so that such a cluster has lost more than
 * the margin even against the lowest run. */
#define INDEX_LEAST 64

enum session_row { ROW_RUN, ROW_BASE };

/* What was read from a store. */
struct session {
    char store[SEQB_ORIGIN_SIZE]; /* what rows of a new store are bound to */
    int64_t term;
    int64_t index; /* of the last applied entry of raft's log */
    int64_t revision;
    char version[32];
};

/* --- reading the store --- */

static enum seqb_status status_read(struct etcd *etcd, struct session *session,
                                    struct seqb_error *err)
{
    struct etcd_link *link = &etcd->link;
    Etcd__StatusResponse *answer;
    enum seqb_status status = etcd_status_ask(link, &answer, err);

    if (status != SEQB_OK)
        return status;
    if (!text_copy(session->version, sizeof session->version,
                   answer->version) ||
        answer->raft_term < 1 || answer->raft_term > INT64_MAX ||
        answer->raft_applied_index > INT64_MAX)
        status = etcd_link_distrust(link, ETCD_READ, "its status", err);
    session->term = (int64_t)answer->raft_term;
    session->index = (int64_t)answer->raft_applied_index;
    session->revision = answer->header->revision;
    etcd_answer_free(&answer->base);
    return status;
}

/* Whether there is neither a row nor a run under the prefix: it was never used,
 * or this is another store. The open that wrote ETCD_ENTRY may have been cut
 * off. */
static enum seqb_status store_find(struct etcd *etcd, bool *is_new,
                                   struct seqb_error *err)
{
    struct etcd_range range = {
        .kind = "", .from = "", .to = ETCD_ENTRY, .limit = 1};
    const enum seqb_status status = etcd_range_read(etcd, &range, err);

    *is_new = status == SEQB_OK && range.count == 0 &&
              etcd->rows[ROW_RUN].text == NULL;
    etcd_range_free(&range);
    return status;
}

/* --- the stored run --- */

/* Parses a part of the run up to a '.'; false if it is not a number. */
static bool run_part(const char **at, int64_t *out)
{
    const char *end = strchr(*at, '.');

    if (end == NULL || !text_to_int64(*at, (size_t)(end - *at), out))
        return false;
    *at = end + 1;
    return true;
}

/* Whether the term is lower than in the stored run, or the index has lost its
 * lead over the revision. */
static bool run_is_ahead(const char *run, const struct session *session)
{
    int64_t term;
    int64_t index;
    int64_t revision;

    if (run == NULL || !run_part(&run, &term) || !run_part(&run, &index) ||
        !run_part(&run, &revision))
        return false;
    return term > session->term ||
           session->index - session->revision + LEAD_MARGIN < index - revision;
}

/* Adds entries up to INDEX_LEAST, then reads the session again. The revision
 * grows with the index: in a cluster that is created from a snapshot, the index
 * must not come closer to the revision, since the runs of other prefixes are
 * compared with that. */
static enum seqb_status index_raise(struct etcd *etcd, struct session *session,
                                    struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    if (session->index >= INDEX_LEAST)
        return SEQB_OK;
    for (int64_t i = session->index; i < INDEX_LEAST && status == SEQB_OK; i++)
        status = etcd_write_entry(etcd, err);
    return status == SEQB_OK ? status_read(etcd, session, err) : status;
}

static enum seqb_status run_make(struct etcd *etcd,
                                 const struct session *session,
                                 char out[static SEQB_INCARNATION_SIZE],
                                 struct seqb_error *err)
{
    struct session later = *session;
    const enum seqb_status status = index_raise(etcd, &later, err);
    uint64_t chance[2];

    if (status != SEQB_OK)
        return status;
    if (getrandom(chance, sizeof chance, 0) != (ssize_t)sizeof chance)
        return error_set(err, SEQB_UNREACHABLE, "%s: no random bytes",
                         etcd->link.where);
    (void)text_format(
        out, SEQB_INCARNATION_SIZE,
        "%" PRId64 ".%" PRId64 ".%" PRId64 ".%016" PRIx64 "%016" PRIx64,
        later.term, later.index, later.revision, chance[0], chance[1]);
    return SEQB_OK;
}

/* --- binding --- */

/* The new value of the base; "" if it stays unchanged. */
static enum seqb_status base_bind(struct etcd *etcd,
                                  const struct session *session, bool is_new,
                                  char out[static ETCD_VALUE_SIZE],
                                  struct seqb_error *err)
{
    const char *text = etcd->rows[ROW_BASE].text;
    const bool is_back = run_is_ahead(etcd->rows[ROW_RUN].text, session);
    char *origin = etcd->sql.base.origin;
    char due[SQL_EPOCH_DUE_SIZE];
    const char *base = NULL;
    int64_t value = 0;
    enum seqb_status status;

    out[0] = '\0';
    if (text != NULL)
        value = etcd_value_read(text, &base);
    if (base == NULL)
        base = "";
    if (!is_back && sql_epoch_read(base, session->store, origin))
        return SEQB_OK;
    status =
        sql_epoch_make(etcd->link.where, base, session->store, origin, err);
    if (status != SEQB_OK)
        return status;
    sql_epoch_due(origin, due);
    if (is_new)
        (void)text_format(out, ETCD_VALUE_SIZE, "0 %s", origin);
    else if (base[0] != '\0')
        (void)text_format(out, ETCD_VALUE_SIZE, "%" PRId64 " %s", value, due);
    return SEQB_OK;
}

/* Binds the store that was read, unless it is bound and its run is of this
 * term. */
static enum seqb_status session_bind(struct etcd *etcd,
                                     const struct session *session, bool is_new,
                                     struct seqb_error *err)
{
    const bool is_back = run_is_ahead(etcd->rows[ROW_RUN].text, session);
    char base[ETCD_VALUE_SIZE];
    const char *run = etcd_run_now(etcd);
    enum seqb_status status = base_bind(etcd, session, is_new, base, err);

    if (status == SEQB_OK && (is_back || run[0] == '\0'))
        status = run_make(etcd, session, etcd->run, err);
    else
        (void)text_copy(etcd->run, sizeof etcd->run, run);
    if (status != SEQB_OK || (base[0] == '\0' && strcmp(run, etcd->run) == 0))
        return status;
    etcd_write_begin(etcd);
    if (base[0] != '\0')
        etcd_write_put(etcd, ETCD_COUNTER, SQL_BASE, base);
    if (strcmp(run, etcd->run) != 0)
        etcd_write_put(etcd, ETCD_RUN, "", etcd->run);
    return etcd_write_end(etcd, err);
}

/* The status is read after the rows and must come from the same endpoint: a
 * member that lags behind would have a lower index. SEQB_AGAIN if it comes from
 * another one, or by another connection: only by that one may be written. */
static enum seqb_status session_try(struct etcd *etcd, struct session *session,
                                    bool may_create, struct seqb_error *err)
{
    bool is_new = false;
    size_t endpoint;
    int64_t term;
    enum seqb_status status;

    etcd->link.connection = 0;
    status = store_find(etcd, &is_new, err);
    if (status != SEQB_OK)
        return status;
    if (is_new && !may_create)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: there are no rows under the prefix '%s': %s",
                         etcd->link.where, etcd->prefix,
                         EMPTY_ADVICE(" with auto_create = true"));
    etcd_rows_begin(etcd);
    (void)etcd_rows_add(etcd, ETCD_COUNTER, SQL_BASE);
    status = etcd_rows_read(etcd, err);
    endpoint = etcd->link.current;
    term = etcd->link.term;
    etcd->link.connection = etcd->link.grpc.connections;
    if (status == SEQB_OK)
        status = status_read(etcd, session, err);
    if (status != SEQB_OK)
        return status;
    if (endpoint != etcd->link.current || term != session->term ||
        etcd->link.connection != etcd->link.grpc.connections)
        return error_set(err, SEQB_AGAIN,
                         "%s: the cluster elects a leader, or ends "
                         "connections",
                         etcd->link.where);
    (void)text_format(session->store, sizeof session->store, "etcd:%" PRIu64,
                      etcd->link.cluster);
    return session_bind(etcd, session, is_new, err);
}

/* --- the description --- */

/* Names the cluster by its id and the first of its endpoints in the order of
 * their names: clusters that were started with the default token and addresses
 * have the same id. */
static void domain_make(struct etcd *etcd)
{
    const struct etcd_link *link = &etcd->link;
    const char *least = link->endpoints[0].name;

    for (size_t i = 1; i < link->count; i++) {
        if (strcmp(link->endpoints[i].name, least) < 0)
            least = link->endpoints[i].name;
    }
    (void)text_format(etcd->sql.base.domain, sizeof etcd->sql.base.domain,
                      "etcd %" PRIu64 " at %.80s", link->cluster, least);
}

static void session_describe(struct etcd *etcd, const struct session *session,
                             const struct seqb_backend_options *options)
{
    struct seqb_backend *base = &etcd->sql.base;

    domain_make(etcd);
    (void)text_format(base->server, sizeof base->server, "etcd %s",
                      session->version);
    if (options->needs_incarnation)
        (void)text_copy(base->incarnation, sizeof base->incarnation, etcd->run);
}

enum seqb_status etcd_session_open(struct etcd *etcd,
                                   const struct seqb_backend_options *options,
                                   struct seqb_error *err)
{
    struct session session = {.store = ""};
    enum seqb_status status = SEQB_AGAIN;

    for (int i = 0; i < SESSION_TRIES && status == SEQB_AGAIN; i++)
        status = session_try(etcd, &session, options->create, err);
    if (status == SEQB_AGAIN || status == SEQB_UNCERTAIN)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: it cannot be bound while the cluster elects a "
                         "leader, loses its quorum or ends connections",
                         etcd->link.where);
    if (status == SEQB_OK)
        session_describe(etcd, &session, options);
    return status;
}
