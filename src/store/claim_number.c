/* SPDX-License-Identifier: Apache-2.0 */
/* Claims that are numbers, which only grow. */
#include <inttypes.h>
#include <string.h>

#include "platform/error.h"
#include "platform/text.h"
#include "store/claim.h"

#define GAP_CLAIM "failover_gap"

#define NUMBER_SIZE 24
#define SWAPS       8

/* Parses the stored number; "" is 0. */
static enum seqb_status number_parse(const char *name, const char *text,
                                     int64_t *out, struct seqb_error *err)
{
    *out = 0;
    if (text[0] == '\0' ||
        (text_to_int64(text, strlen(text), out) && *out >= 0))
        return SEQB_OK;
    return error_set(err, SEQB_CORRUPT,
                     "'%s' stands where a number ought to: remove the claim %s",
                     text, name);
}

/* Another broker may be faster, with the same value or a lower one: then the
 * swap is tried again. */
enum seqb_status claim_raise(struct connection *connection, const char *name,
                             int64_t value, int64_t *standing,
                             struct seqb_error *err)
{
    char was[NUMBER_SIZE];
    char text[NUMBER_SIZE];
    const struct seqb_swap swap = {.name = name, .expected = was, .text = text};
    enum seqb_status status =
        connection_claim(connection, name, NULL, was, sizeof was, err);

    (void)text_format(text, sizeof text, "%" PRId64, value);
    for (int i = 0; status == SEQB_OK && i < SWAPS; i++) {
        char is[NUMBER_SIZE];

        status = number_parse(name, was, standing, err);
        if (status != SEQB_OK || *standing >= value)
            return status;
        status = connection_swap(connection, &swap, is, sizeof is, err);
        (void)text_copy(was, sizeof was, is);
    }
    return status == SEQB_OK
               ? error_set(err, SEQB_AGAIN, "other brokers were faster")
               : status;
}

enum seqb_status claim_gap(struct connection *connection,
                           const struct layout *layout, int64_t *gap,
                           struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];

    claim_pool_name(GAP_CLAIM, layout, name, sizeof name);
    return claim_raise(connection, name, *gap, gap, err);
}

enum seqb_status claim_read_gap(struct connection *connection,
                                const struct layout *layout, int64_t *gap,
                                struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    char text[NUMBER_SIZE];
    enum seqb_status status;

    claim_pool_name(GAP_CLAIM, layout, name, sizeof name);
    status = connection_claim(connection, name, NULL, text, sizeof text, err);
    return status == SEQB_OK ? number_parse(name, text, gap, err) : status;
}
