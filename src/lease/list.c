/* SPDX-License-Identifier: Apache-2.0 */
/* Lists what the stores know of a pool's worker ids, for operators. */
#include "lease/worker_lease.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

static struct seqb_worker worker_of(const struct worker_lease *lease,
                                    int64_t id, const char *text)
{
    struct lease_row row;
    const bool is_read = lease_read(text, &row);
    struct seqb_worker worker = {
        .worker = (int32_t)id,
        .is_ours = is_read && row.is_held && row.key == lease->self.key,
        .is_free = is_read && !row.is_held,
        .renewed_ms = row.renewed_ms,
        .used_upto_ms = row.upto_ms,
    };

    (void)text_copy(worker.pool, sizeof worker.pool,
                    ha_pool_shape(lease->pool)->name);
    (void)text_copy(worker.holder, sizeof worker.holder,
                    is_read ? row.holder : "(its row is damaged)");
    return worker;
}

static enum seqb_status row_read(const struct worker_lease *lease, int64_t id,
                                 struct ha_answer *out, struct seqb_error *err)
{
    const int32_t lessor = lease_lessor_of(lease, id);
    char name[SEQB_COUNTER_SIZE];
    struct seqb_error why;
    enum seqb_status status;

    lease_row_name(lease, id, name, sizeof name);
    status = ha_text(
        lease->pool, &(struct ha_text){.member = lessor, .name = name},
        clock_now_ms() + ha_text_patience_ms(lease->pool, lessor), out, &why);
    if (status == SEQB_OK)
        return SEQB_OK;
    return error_set(
        err, status == SEQB_NO_MEMORY ? SEQB_NO_MEMORY : SEQB_UNAVAILABLE,
        "pool %s: backend %s: %s", ha_pool_shape(lease->pool)->name,
        ha_pool_member_name(lease->pool, lessor), why.text);
}

/* Each lessor leases its ids from the lowest up: after its first id without a
 * row, no later id was ever taken. So the list ends after one such id of each
 * lessor. */
enum seqb_status worker_lease_list(const struct worker_lease *lease,
                                   struct seqb_worker *out, size_t capacity,
                                   size_t *count, struct seqb_error *err)
{
    struct ha_answer answer;
    int32_t empty = 0; /* consecutive ids without a row */

    for (int64_t id = 0; id < lease_ids(lease) && empty < lease->lessors;
         id++) {
        const enum seqb_status status = row_read(lease, id, &answer, err);

        if (status != SEQB_OK)
            return status;
        empty = answer.standing[0] == '\0' ? empty + 1 : 0;
        if (empty > 0)
            continue;
        if (*count < capacity)
            out[*count] = worker_of(lease, id, answer.standing);
        (*count)++;
    }
    return SEQB_OK;
}
