/* SPDX-License-Identifier: Apache-2.0 */
/* Which partitions and sequences of a status are shown. */
#include <string.h>

#include "ctl/client.h"
#include "ctl/status/status.h"

/* A name selects a sequence or a pool. The partitions of that pool, and a
 * pool's sequences, are shown with it. */
static void selection_keep(struct selection *selection, const char *name)
{
    rows_keep(&selection->sequences, name, "key", "pool");
    rows_keep_pools(&selection->partitions, name, &selection->sequences);
    rows_keep_pools(&selection->lessors, name, &selection->sequences);
}

static void selection_cut(struct selection *selection, size_t top)
{
    if (selection->sequences.count <= top)
        return;
    selection->left_out = selection->sequences.count - top;
    selection->sequences.count = top;
}

static void selection_skip_up(struct selection *selection)
{
    const size_t all = selection->partitions.count;

    rows_drop_up(&selection->partitions);
    selection->up_left_out = all - selection->partitions.count;
}

enum ctl_exit selection_init(struct selection *selection,
                             const redisReply *status,
                             const struct query *query)
{
    const redisReply *partitions = reply_array(status, "partitions");
    const redisReply *lessors = reply_array(status, "lessors");
    const redisReply *sequences = reply_array(status, "sequences");

    *selection = (struct selection){.has_lessors = lessors != NULL};
    if (partitions == NULL || sequences == NULL)
        return reply_refuse("SEQ.STATUS", "has no partitions or sequences");
    if (!rows_init(&selection->partitions, partitions) ||
        !rows_init(&selection->lessors, lessors) ||
        !rows_init(&selection->sequences, sequences))
        return CTL_FAILED;
    if (query->name != NULL)
        selection_keep(selection, query->name);
    if (selection->partitions.count == 0 && query->name != NULL) {
        ctl_complain("no pool and no sequence in use is called \"%s\": seqctl "
                     "status --all lists them",
                     query->name);
        return CTL_FAILED;
    }
    if (query->order != NULL)
        rows_sort(&selection->sequences, query->order);
    selection_cut(selection, query->top);
    if (query->skips_up)
        selection_skip_up(selection);
    return CTL_OK;
}

void selection_fini(struct selection *selection)
{
    rows_fini(&selection->partitions);
    rows_fini(&selection->lessors);
    rows_fini(&selection->sequences);
}
