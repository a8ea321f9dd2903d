/* SPDX-License-Identifier: Apache-2.0 */
/* What every fuzzer needs. */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/checksum.h"
#include "platform/text.h"

#define FUZZ_SUM_SIZE 26 /* at most: "checksum=", 16 digits, the line's end */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold. */
static inline void require(bool holds)
{
    if (!holds)
        abort();
}

/* A file of this process alone, in memory. */
static inline const char *fuzz_path(void)
{
    static char path[64];

    (void)text_format(path, sizeof path, "/dev/shm/seqb-fuzz-%ld",
                      (long)getpid());
    return path;
}

/* Checks the bytes as they are, and with the right checksum in a line behind
 * them, so that what a checksum guards is reached. `prefix` begins that line.
 */
static inline void fuzz_with_checksum(const uint8_t *data, size_t size,
                                      const char *prefix,
                                      void (*check)(const char *, size_t))
{
    char *bytes = malloc(size + FUZZ_SUM_SIZE + 1);

    require(bytes != NULL);
    if (size > 0)
        memcpy(bytes, data, size);
    check(bytes, size);
    (void)text_format(bytes + size, FUZZ_SUM_SIZE + 1, "%s%016" PRIx64 "\n",
                      prefix, checksum_of(bytes, size));
    check(bytes, size + strlen(prefix) + 17);
    free(bytes);
}
