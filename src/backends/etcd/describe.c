/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a cluster, by the member that answers. */
#include <string.h>

#include "backends/etcd/etcd.h"
#include "platform/error.h"
#include "platform/text.h"

static const struct etcd_method status_method = {
    "/etcdserverpb.Maintenance/Status", &etcd__status_response__descriptor};
static const struct etcd_method members_method = {
    "/etcdserverpb.Cluster/MemberList",
    &etcd__member_list_response__descriptor};

/* Calls a method without parameters. */
static enum seqb_status ask(struct etcd_link *link,
                            const struct etcd_method *method,
                            ProtobufCMessage **out, struct seqb_error *err)
{
    *out = NULL;
    etcd_buffer_clear(&link->body);
    return etcd_link_ask(link, ETCD_READ, method, out, err);
}

enum seqb_status etcd_status_ask(struct etcd_link *link,
                                 Etcd__StatusResponse **out,
                                 struct seqb_error *err)
{
    ProtobufCMessage *answer;
    const enum seqb_status status = ask(link, &status_method, &answer, err);

    *out = (Etcd__StatusResponse *)answer;
    return status;
}

/* Counts the voting members: a learner has no vote. */
static void members_take(const Etcd__MemberListResponse *answer,
                         struct seqb_details *out)
{
    size_t voters = 0;

    for (size_t i = 0; i < answer->n_members; i++)
        voters += !answer->members[i]->is_learner;
    if (voters > 0)
        (void)text_format(out->quorum, sizeof out->quorum, "%zu of %zu members",
                          voters / 2 + 1, voters);
}

/* A server that refuses is no error: then there is nothing to describe. */
static enum seqb_status members_describe(struct etcd_link *link,
                                         struct seqb_details *out,
                                         struct seqb_error *err)
{
    ProtobufCMessage *answer;
    const enum seqb_status status = ask(link, &members_method, &answer, err);

    if (status != SEQB_OK)
        return status == SEQB_REFUSED ? SEQB_OK : status;
    members_take((const Etcd__MemberListResponse *)answer, out);
    etcd_answer_free(answer);
    return SEQB_OK;
}

static enum seqb_status role_describe(struct etcd_link *link,
                                      struct seqb_details *out,
                                      struct seqb_error *err)
{
    Etcd__StatusResponse *answer;
    const enum seqb_status status = etcd_status_ask(link, &answer, err);

    if (status != SEQB_OK)
        return status == SEQB_REFUSED ? SEQB_OK : status;
    if (answer->leader != 0) /* there is one */
        (void)text_copy(out->role, sizeof out->role,
                        answer->leader == link->member ? "leader" : "follower");
    etcd_answer_free(&answer->base);
    return SEQB_OK;
}

enum seqb_status etcd_describe(struct seqb_backend *backend,
                               struct seqb_details *out, struct seqb_error *err)
{
    struct etcd *etcd = etcd_of(backend);
    struct etcd_link *link = &etcd->link;
    const struct etcd_endpoint *endpoint;
    struct seqb_error why;
    enum seqb_status status;

    etcd_link_begin(link, etcd->timeout_ms);
    status = members_describe(link, out, &why);
    if (status == SEQB_OK)
        status = role_describe(link, out, &why);
    if (status != SEQB_OK)
        return error_copy(err, &why);
    endpoint = &link->endpoints[link->current];
    (void)text_copy(out->node, sizeof out->node, endpoint->name);
    (void)text_copy(out->tls, sizeof out->tls, stream_tls(&link->grpc.stream));
    return SEQB_OK;
}
