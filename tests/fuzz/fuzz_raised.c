/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the file of what was raised, and once more as one line with the
 * right checksum. What must hold: it is opened, a raise that is noted then is
 * known at the next start, and nothing that was known before is less.
 */
#include "fuzz/fuzz.h"
#include "ha/raised.h"
#include "platform/file.h"
#include "platform/text.h"

#define BACKEND "a"
#define COUNTER "order"
#define OTHER   "bill"

static void files_remove(void)
{
    char lock[80];

    (void)text_format(lock, sizeof lock, "%s.lock", fuzz_path());
    (void)unlink(fuzz_path());
    (void)unlink(lock);
}

static struct raised *reopen(struct raised *raised)
{
    struct raised *again = NULL;

    raised_close(raised);
    require(raised_open(fuzz_path(), &again, NULL) == SEQB_OK);
    return again;
}

static void check(const char *bytes, size_t size)
{
    struct raised *raised;
    int64_t other;
    int64_t noted;

    require(file_save(fuzz_path(), bytes, size, NULL) == SEQB_OK);
    raised = reopen(NULL);
    other = raised_find(raised, BACKEND, OTHER);
    noted = raised_find(raised, BACKEND, COUNTER);
    noted = noted < INT64_MAX ? noted + 1 : noted;
    raised_note(raised, BACKEND, COUNTER, noted);
    raised = reopen(raised);
    /* What follows a line that was torn off is lost with it. */
    if (size == 0 || bytes[size - 1] == '\n') {
        require(raised_find(raised, BACKEND, COUNTER) == noted);
        require(raised_find(raised, BACKEND, OTHER) == other);
    }
    raised_close(raised);
    files_remove();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_with_checksum(data, size, " ", check);
    return 0;
}
