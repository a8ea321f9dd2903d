/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and swapping texts in the pool's stores, and the names of these
 * texts. */
#include <string.h>

#include "lease/worker_lease.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

/* A call to the lessor's store requires the origin of the call before. The
 * first call learns the origin. */
enum seqb_status lease_text(struct worker_lease *lease, int32_t member,
                            const struct seqb_swap *about, char *standing,
                            struct seqb_error *err)
{
    const bool is_lessor = member == lease->lessor;
    const int64_t patience_ms = ha_text_patience_ms(lease->pool, member);
    const struct ha_text text = {.member = member,
                                 .name = about->name,
                                 .expected = about->expected,
                                 .text = about->text,
                                 .origin = is_lessor ? lease->origin : NULL};
    struct ha_answer answer;
    enum seqb_status status = ha_text(
        lease->pool, &text,
        min_of(clock_now_ms() + patience_ms, lease->until_ms), &answer, err);

    if (status == SEQB_FENCED || status == SEQB_CLOSED)
        return status;
    if (status != SEQB_OK)
        return err->status = SEQB_UNAVAILABLE;
    if (is_lessor) {
        lease->latest_ms = answer.latest_ms;
        (void)text_copy(lease->origin, sizeof lease->origin, answer.origin);
    }
    (void)text_copy(standing, HA_TEXT_SIZE, answer.standing);
    return SEQB_OK;
}

enum seqb_status lease_poll(struct worker_lease *lease, const char *name,
                            char *standing, struct seqb_error *err)
{
    return lease_text(lease, lease->lessor, &(struct seqb_swap){.name = name},
                      standing, err);
}

enum seqb_status lease_swap(struct worker_lease *lease,
                            const struct seqb_swap *about, char *standing,
                            struct seqb_error *err)
{
    const enum seqb_status status =
        lease_text(lease, lease->lessor, about, standing, err);

    if (status != SEQB_OK)
        return status;
    return strcmp(standing, about->text) == 0 ? SEQB_OK : SEQB_AGAIN;
}

void lease_claim_name(const struct worker_lease *lease, const char *kind,
                      char *out, size_t size)
{
    const struct layout *layout = ha_pool_shape(lease->pool);
    char name[LAYOUT_POOL_SIZE];

    layout_internal_name(layout->name, layout->generation, name, sizeof name);
    (void)text_format(out, size, "%s/%s", kind, name);
}

void lease_row_name(const struct worker_lease *lease, int64_t id, char *out,
                    size_t size)
{
    lease_claim_name(lease, "worker", out, size);
    (void)text_append(out, size, "/%lld", (long long)id);
}

int32_t lease_lessor_of(const struct worker_lease *lease, int64_t id)
{
    return ha_pool_lessor(lease->pool, (int32_t)(id % lease->lessors));
}

int64_t lease_ids(const struct worker_lease *lease)
{
    return INT64_C(1) << (lease->options->layout.shard -
                          lease->options->datacenter_bits);
}
