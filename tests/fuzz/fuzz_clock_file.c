/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a clock's file. What must hold: it is refused with a reason, or
 * it is what writing the same again gives, byte for byte, and its time is that
 * of a stamp. The checksum is put right first, so that the lines are reached.
 */
#include "fuzz/fuzz.h"
#include "period/period.h"
#include "platform/text.h"
#include "queue/guarded_clock/file.h"

static void check(const char *bytes, size_t size)
{
    char *copy = malloc(size == 0 ? 1 : size);
    char again[CLOCK_TEXT_SIZE];
    struct clock_note note;
    struct seqb_error err = {SEQB_OK, ""};

    require(copy != NULL);
    if (size > 0)
        memcpy(copy, bytes, size);
    if (clock_note_read(copy, size, &note, &err) == SEQB_OK) {
        require(text_is_name(note.broker));
        require(note.issued_ms > 0 && note.issued_ms <= PERIOD_MAX_MS);
        require(clock_note_write(&note, again, sizeof again));
        require(strlen(again) == size && memcmp(again, bytes, size) == 0);
    } else {
        require(err.status == SEQB_CORRUPT && err.text[0] != '\0');
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_with_checksum(data, size, "checksum=", check);
    return 0;
}
