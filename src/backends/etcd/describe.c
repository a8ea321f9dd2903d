/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a cluster, by the member that answers. */
#include <inttypes.h>
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
static size_t members_take(const Etcd__MemberListResponse *answer,
                           struct seqb_details *out)
{
    size_t voters = 0;

    for (size_t i = 0; i < answer->n_members; i++)
        voters += !answer->members[i]->is_learner;
    if (voters > 0)
        (void)text_format(out->quorum, sizeof out->quorum, "%zu of %zu members",
                          voters / 2 + 1, voters);
    return voters;
}

/* A server that refuses is no error: then there is nothing to describe. */
static enum seqb_status members_describe(struct etcd_link *link,
                                         struct seqb_details *out,
                                         size_t *voters, struct seqb_error *err)
{
    ProtobufCMessage *answer;
    const enum seqb_status status = ask(link, &members_method, &answer, err);

    if (status != SEQB_OK)
        return status == SEQB_REFUSED ? SEQB_OK : status;
    *voters = members_take((const Etcd__MemberListResponse *)answer, out);
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

/* --- how far members are behind --- */

/* What the members that answered have committed and applied. */
struct lag {
    uint64_t members[ETCD_ENDPOINTS_MAX]; /* ids: two endpoints may be one */
    size_t count;
    uint64_t committed; /* the highest index of any of them */
    uint64_t applied;   /* the lowest one */
};

static void lag_add(struct lag *lag, uint64_t member,
                    const Etcd__StatusResponse *answer)
{
    for (size_t i = 0; i < lag->count; i++) {
        if (lag->members[i] == member)
            return;
    }
    if (lag->count == 0 || answer->raft_applied_index < lag->applied)
        lag->applied = answer->raft_applied_index;
    if (answer->raft_index > lag->committed)
        lag->committed = answer->raft_index;
    lag->members[lag->count++] = member;
}

/* Asks each endpoint in turn, by connections of its own: the link's is the only
 * one for writes. The answer for one that is silent comes from another one, and
 * is not counted twice. */
static struct lag lag_ask(const struct etcd_link *link, int32_t timeout_ms)
{
    struct etcd_link tour = *link;
    struct lag lag = {.count = 0};

    tour.grpc = (struct etcd_grpc){.session = NULL};
    tour.body = (struct etcd_buffer){.data = NULL};
    for (size_t i = 0; i < tour.count; i++) {
        Etcd__StatusResponse *answer;
        struct seqb_error why;

        tour.current = i;
        etcd_link_begin(&tour, timeout_ms);
        if (etcd_status_ask(&tour, &answer, &why) != SEQB_OK)
            continue;
        lag_add(&lag, tour.member, answer);
        etcd_answer_free(&answer->base);
    }
    etcd_link_close(&tour);
    return lag;
}

/* The indexes are read one after the other, so that a cluster that is written
 * to seems to be behind by what it committed meanwhile: "at most". */
static void lag_describe(const struct lag *lag, size_t voters,
                         struct seqb_details *out)
{
    const uint64_t behind =
        lag->committed > lag->applied ? lag->committed - lag->applied : 0;
    char of[32] = "";

    if (voters == 1)
        (void)text_copy(out->replicas, sizeof out->replicas, "none");
    if (voters <= 1 || lag->count == 0)
        return;
    if (lag->count < voters)
        (void)text_format(of, sizeof of, " of %zu", voters - 1);
    (void)text_format(out->replicas, sizeof out->replicas,
                      "%zu%s, at most %" PRIu64 " entries behind",
                      lag->count - 1, of, behind);
}

enum seqb_status etcd_describe(struct seqb_backend *backend,
                               struct seqb_details *out, struct seqb_error *err)
{
    struct etcd *etcd = etcd_of(backend);
    struct etcd_link *link = &etcd->link;
    const struct etcd_endpoint *endpoint;
    size_t voters = 0;
    struct lag lag;
    struct seqb_error why;
    enum seqb_status status;

    etcd_link_begin(link, etcd->timeout_ms);
    status = members_describe(link, out, &voters, &why);
    if (status == SEQB_OK)
        status = role_describe(link, out, &why);
    if (status != SEQB_OK)
        return error_copy(err, &why);
    endpoint = &link->endpoints[link->current];
    (void)text_copy(out->node, sizeof out->node, endpoint->name);
    (void)text_copy(out->tls, sizeof out->tls, stream_tls(&link->grpc.stream));
    lag = lag_ask(link, etcd->timeout_ms);
    lag_describe(&lag, voters, out);
    return SEQB_OK;
}
