/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What follows the layout in the claim of a pool's snowflakes: who wrote it,
 * and the longest lease. The leasing store has that in a row as well, which is
 * lost if the store goes back. A broker with a shorter lease would then take a
 * worker id too early.
 */
#include <inttypes.h>
#include <string.h>

#include "lease/worker_lease.h"
#include "platform/error.h"
#include "platform/text.h"

#define NOTE " lease=" /* ends the claim */

/* Where the note begins in a claim; NULL: it has none. */
static const char *note_of(const char *claim)
{
    const char *by = strstr(claim, LEASE_CLAIM_BY);

    return by == NULL ? NULL : strstr(by, NOTE);
}

int64_t lease_note_read(const char *claim)
{
    const char *note = note_of(claim);
    int64_t ms;

    if (note == NULL ||
        !text_to_int64(note + strlen(NOTE), strlen(note + strlen(NOTE)), &ms) ||
        ms < 0 || ms > LEASE_NOTED_MAX_MS)
        return 0;
    return ms;
}

void lease_sign(const struct worker_lease *lease, int32_t member, char *out,
                size_t size)
{
    (void)text_append(out, size, LEASE_CLAIM_BY "%016" PRIx64 "/%d",
                      lease->self.key, (int)member);
}

void lease_note_write(const struct worker_lease *lease, int32_t member,
                      const char *claim, char *out, size_t size)
{
    const char *note = note_of(claim);
    const size_t length = note == NULL ? strlen(claim) : (size_t)(note - claim);

    (void)text_format(out, size, "%.*s", (int)length, claim);
    if (strstr(out, LEASE_CLAIM_BY) == NULL)
        lease_sign(lease, member, out, size);
    (void)text_append(out, size, NOTE "%lld",
                      (long long)lease_longest(&lease->self));
}

enum seqb_status lease_note(struct worker_lease *lease, const char *name,
                            int32_t member, struct seqb_error *err)
{
    const int64_t longest_ms = lease_longest(&lease->self);
    char standing[HA_TEXT_SIZE];
    enum seqb_status status = lease_text(
        lease, member, &(struct seqb_swap){.name = name}, standing, err);

    for (int i = 0; i < LEASE_SWAP_TRIES && status == SEQB_OK; i++) {
        char expected[HA_TEXT_SIZE];
        char text[HA_TEXT_SIZE];

        if (lease_note_read(standing) >= longest_ms)
            return SEQB_OK;
        if (standing[0] == '\0') /* lost meanwhile: the next turn makes it */
            break;
        (void)text_copy(expected, sizeof expected, standing);
        lease_note_write(lease, member, standing, text, sizeof text);
        status =
            lease_text(lease, member,
                       &(struct seqb_swap){
                           .name = name, .expected = expected, .text = text},
                       standing, err);
    }
    if (status != SEQB_OK || lease_note_read(standing) >= longest_ms)
        return status;
    if (standing[0] == '\0')
        return error_set(err, SEQB_UNAVAILABLE, "%s was removed just now",
                         name);
    return error_set(err, SEQB_UNAVAILABLE, "%s never stands still", name);
}
