/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a spool. What must hold: it is refused with a reason, or it is
 * what writing the same again gives, byte for byte, and every block is sane.
 * The checksum is put right first, so that the lines are reached.
 */
#include "fuzz/fuzz.h"
#include "platform/text.h"
#include "queue/flusher/text.h"

static void require_sound(const struct spool_text *text)
{
    require(strlen(text->id) == SPOOL_ID_SIZE - 1 && text->ticket >= 0);
    require(text->place.pool < text->pool_count);
    for (size_t i = 0; i < text->block_count; i++) {
        const struct spool_block *block = &text->blocks[i];

        require(block->pool < text->pool_count && spool_block_is_sane(block));
        require(
            text->pools[block->pool].origins[spool_block_partition(block)] !=
            NULL);
        require(i == 0 || spool_block_meet(block - 1, block) == SPOOL_APART);
    }
}

static void check(const char *bytes, size_t size)
{
    char *copy = malloc(size + 1);
    struct spool_text text;
    struct seqb_error err = {SEQB_OK, ""};
    char *again;
    size_t length;

    require(copy != NULL);
    if (size > 0)
        memcpy(copy, bytes, size);
    if (spool_text_read(copy, size, &text, &err) == SEQB_OK) {
        require_sound(&text);
        require(spool_text_write(&text, &again, &length, &err) == SEQB_OK);
        require(length == size && memcmp(again, bytes, size) == 0);
        free(again);
        spool_text_fini(&text);
    } else {
        require(err.status == SEQB_CORRUPT && err.text[0] != '\0');
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_with_checksum(data, size, "", check);
    return 0;
}
