/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a cluster, by the member that answers. */
#include <string.h>

#include "backends/etcd/etcd.h"
#include "platform/error.h"
#include "platform/text.h"

#define STATUS_PATH  "/v3/maintenance/status"
#define MEMBERS_PATH "/v3/cluster/member/list"

/* The answer to a request without parameters. A server that refuses is no
 * error: then the answer is NULL. */
static enum seqb_status ask(struct etcd_link *link, const char *path,
                            json_t **out, struct seqb_error *err)
{
    struct seqb_error why;
    enum seqb_status status;

    *out = NULL;
    etcd_text_clear(&link->body);
    etcd_text_put(&link->body, "{}");
    status = etcd_link_ask(link, ETCD_READ, path, out, &why);
    return status == SEQB_OK || status == SEQB_REFUSED ? SEQB_OK
                                                       : error_copy(err, &why);
}

static void status_take(const struct etcd_link *link, const json_t *answer,
                        struct seqb_details *out)
{
    const char *leader = json_string_value(json_object_get(answer, "leader"));

    if (leader != NULL)
        (void)text_copy(out->role, sizeof out->role,
                        strcmp(leader, link->member) == 0 ? "leader"
                                                          : "follower");
}

/* Counts the voting members: a learner has no vote. */
static void members_take(const json_t *answer, struct seqb_details *out)
{
    const json_t *members = json_object_get(answer, "members");
    size_t voters = 0;

    for (size_t i = 0; i < json_array_size(members); i++)
        voters += !json_is_true(
            json_object_get(json_array_get(members, i), "isLearner"));
    if (voters > 0)
        (void)text_format(out->quorum, sizeof out->quorum, "%zu of %zu members",
                          voters / 2 + 1, voters);
}

enum seqb_status etcd_describe(struct seqb_backend *backend,
                               struct seqb_details *out, struct seqb_error *err)
{
    struct etcd *etcd = etcd_of(backend);
    struct etcd_link *link = &etcd->link;
    json_t *answer = NULL;
    const char *url;
    enum seqb_status status;

    etcd_link_begin(link, etcd->timeout_ms);
    status = ask(link, MEMBERS_PATH, &answer, err);
    members_take(answer, out);
    json_decref(answer);
    if (status == SEQB_OK)
        status = ask(link, STATUS_PATH, &answer, err);
    if (status != SEQB_OK)
        return status;
    status_take(link, answer, out);
    json_decref(answer);
    url = link->endpoints[link->current];
    (void)text_format(out->node, sizeof out->node, "%s", strstr(url, "//") + 2);
    (void)text_copy(out->tls, sizeof out->tls,
                    strncmp(url, "https:", 6) == 0 ? "yes" : "none");
    return SEQB_OK;
}
