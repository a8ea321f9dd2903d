/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/warm.h"

#include <string.h>

#include "platform/log.h"
#include "platform/text.h"
#include "queue/sequence.h"

#define NAMES_SIZE 200 /* of those that are told by name */

/* Names the sequences that are not filled; of many, the first ones. */
struct cold {
    char names[NAMES_SIZE];
    size_t named;
    size_t count;
};

static void cold_add(struct cold *cold, const char *key)
{
    const size_t used = strlen(cold->names);

    if (cold->named == cold->count++) {
        if (text_append(cold->names, sizeof cold->names, "%s%s",
                        used > 0 ? "," : "", key))
            cold->named++;
        else
            cold->names[used] = '\0';
    }
}

void warm_wait(const struct catalog *catalog, int64_t until_ms)
{
    struct cold cold = {.count = 0};

    for (size_t i = 0; i < catalog->count; i++) {
        if (catalog->sequences[i]->options->warm)
            sequence_wake(catalog->sequences[i]);
    }
    for (size_t i = 0; i < catalog->count; i++) {
        struct seqb_sequence *sequence = catalog->sequences[i];

        if (sequence->options->warm &&
            !sequence->source->warm(sequence, until_ms))
            cold_add(&cold, sequence->key);
    }
    if (cold.count > 0)
        log_reason(SEQB_LOG_WARN,
                   "not filled in open_timeout: the first numbers may have to "
                   "be waited for",
                   "event=cold sequences=%zu keys=%s%s", cold.count, cold.names,
                   cold.named < cold.count ? ",..." : "");
}
