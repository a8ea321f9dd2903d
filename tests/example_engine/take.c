/* SPDX-License-Identifier: Apache-2.0 */
/* A service with an engine of its own: take TOPOLOGY KEY COUNT prints so many
 * numbers, one a line. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <seqbroker/backend.h>
#include <seqbroker/seqbroker.h>

#include "counter_file.h"

static const struct seqb_backend_ops *const engines[] = {&counter_file, NULL};

static enum seqb_status take(struct seqb_broker *broker, const char *key,
                             long count, struct seqb_error *err)
{
    struct seqb_sequence *sequence;
    int64_t number;
    enum seqb_status status = seqb_get_sequence(broker, key, &sequence, err);

    for (long i = 0; i < count && status == SEQB_OK; i++) {
        status = seqb_next(sequence, &number, err);
        if (status == SEQB_OK)
            printf("%" PRId64 "\n", number);
    }
    return status;
}

int main(int argc, char **argv)
{
    struct seqb_broker *broker = NULL;
    struct seqb_error err;
    enum seqb_status status;

    if (argc != 4) {
        fputs("usage: take TOPOLOGY KEY COUNT\n", stderr);
        return 2;
    }
    status = seqb_open_with(argv[1], engines, &broker, &err);
    if (status == SEQB_OK)
        status = take(broker, argv[2], strtol(argv[3], NULL, 10), &err);
    seqb_close(broker);
    if (status == SEQB_OK)
        return 0;
    fprintf(stderr, "%s\n", err.text);
    return 1;
}
