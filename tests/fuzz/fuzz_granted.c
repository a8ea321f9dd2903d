/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a broker's file of grants, and once more with the right checksum
 * in each line. What must hold: the file is opened, and read alike by a reader;
 * a grant that is noted then is known at the next start, and no other counter
 * has less than before.
 */
#include "fuzz/fuzz.h"
#include "platform/file.h"
#include "store/granted.h"

#define LINE_SIZE 64
#define SUM_AT    49
#define SUM_SIZE  15 /* 14 digits and the line's end */

static const struct granted_counter counter = {"a", "main/0/order",
                                               GRANTED_FOREVER};
static const struct granted_counter other = {"a", "main/0/bill",
                                             GRANTED_FOREVER};

static struct granted *reopen(struct granted *granted)
{
    struct granted *again = NULL;

    granted_close(granted);
    require(granted_open(fuzz_path(), &again, NULL) == SEQB_OK);
    return again;
}

static int64_t find(const struct granted *granted,
                    const struct granted_counter *about)
{
    uint32_t line = 0;

    return granted_find(granted, about, &line);
}

static void check_reader(const struct granted *owner)
{
    struct granted *reader = NULL;

    require(granted_read(fuzz_path(), &reader, NULL) == SEQB_OK);
    require(find(reader, &counter) == find(owner, &counter));
    require(find(reader, &other) == find(owner, &other));
    granted_close(reader);
}

static void check(const char *bytes, size_t size)
{
    char file[80];
    struct granted *granted;
    uint32_t line = 0;
    int64_t noted;
    int64_t before;

    (void)text_format(file, sizeof file, "%s-0", fuzz_path());
    require(file_save(file, bytes, size, NULL) == SEQB_OK);
    granted = reopen(NULL);
    check_reader(granted);
    before = find(granted, &other);
    noted = granted_find(granted, &counter, &line);
    require(noted >= 0 && before >= 0 && line <= size / LINE_SIZE);
    noted += noted < INT64_MAX;
    granted_note(granted, &counter, noted, &line);
    require(line >= 1 && line <= size / LINE_SIZE + 1);
    granted = reopen(granted);
    require(find(granted, &counter) == noted);
    require(find(granted, &other) == before);
    granted_close(granted);
    (void)unlink(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size + 1);

    require(bytes != NULL);
    if (size > 0)
        memcpy(bytes, data, size);
    check(bytes, size);
    for (size_t at = 0; at + LINE_SIZE <= size; at += LINE_SIZE) {
        char sum[SUM_SIZE + 1];

        (void)text_format(sum, sizeof sum, "%014" PRIx64 "\n",
                          checksum_of(bytes + at, SUM_AT) >> 8);
        memcpy(bytes + at + SUM_AT, sum, SUM_SIZE);
    }
    check(bytes, size);
    free(bytes);
    return 0;
}
