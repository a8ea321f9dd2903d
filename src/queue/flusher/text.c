/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes and reads the spool's lines. The reader does not rely on the checksum:
 * it checks range and form of every field.
 */
#include "queue/flusher/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "platform/checksum.h"
#include "platform/error.h"
#include "platform/text.h"

#define HEAD         "seqbroker-spool "
#define VERSION      "1"
#define LINE_SIZE    (SEQB_CLAIM_SIZE + 64) /* the longest line has a layout */
#define SUM_SIZE     17           /* 16 digits, and a newline or a 0 */
#define BLOCK_LENGTH ((size_t)10) /* of the shortest block line */

/* --- writing --- */

struct writer {
    char *bytes;
    size_t size;
    size_t capacity;
    bool is_full;          /* too large, or out of memory */
    char spare[LINE_SIZE]; /* what is written then goes here */
};

static void writer_grow(struct writer *writer)
{
    const size_t capacity = writer->capacity * 2 + LINE_SIZE;
    char *bytes =
        capacity > SPOOL_SIZE_MAX ? NULL : realloc(writer->bytes, capacity);

    if (bytes == NULL) {
        writer->is_full = true;
        return;
    }
    writer->bytes = bytes;
    writer->capacity = capacity;
}

/* Where to write the next LINE_SIZE bytes at most. */
static char *line_begin(struct writer *writer)
{
    if (!writer->is_full && writer->capacity - writer->size < LINE_SIZE)
        writer_grow(writer);
    return writer->is_full ? writer->spare : writer->bytes + writer->size;
}

static void line_end(struct writer *writer, bool fits)
{
    if (!fits)
        writer->is_full = true;
    if (!writer->is_full)
        writer->size += strlen(writer->bytes + writer->size);
}

/* Writes a line, or a part of one. */
#define WRITE(writer, ...)                                                     \
    line_end((writer), text_format(line_begin(writer), LINE_SIZE, __VA_ARGS__))

static void write_pools(struct writer *writer, const struct spool_text *text)
{
    for (size_t i = 0; i < text->pool_count; i++)
        WRITE(writer, "pool %d %s\n", (int)text->pools[i].bits,
              text->pools[i].layout);
    for (size_t i = 0; i < text->pool_count; i++) {
        for (int j = 0; j < 1 << text->pools[i].bits; j++) {
            if (text->pools[i].origins[j] != NULL)
                WRITE(writer, "origin %zu %d %s\n", i, j,
                      text->pools[i].origins[j]);
        }
    }
}

static bool is_same_sequence(const struct spool_block *a,
                             const struct spool_block *b)
{
    return a->pool == b->pool && strcmp(a->key, b->key) == 0;
}

static void write_blocks(struct writer *writer, const struct spool_text *text)
{
    for (size_t i = 0; i < text->block_count; i++) {
        const struct spool_block *block = &text->blocks[i];

        if (i == 0 || !is_same_sequence(block - 1, block))
            WRITE(writer, "sequence %zu %d %s\n", block->pool,
                  (int)block->memory_bits, block->key);
        WRITE(writer, "block %" PRId64 " %" PRId64 "\n", block->first,
              block->length);
    }
}

/* Whether a text can be the end of a line. */
static bool is_line(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (iscntrl((unsigned char)*at))
            return false;
    }
    return *text != '\0';
}

static bool has_lines(const struct spool_text *text)
{
    bool has = is_line(text->origin);

    for (size_t i = 0; i < text->pool_count; i++) {
        const struct spool_pool *pool = &text->pools[i];

        has = has && is_line(pool->layout);
        for (int j = 0; j < 1 << pool->bits; j++)
            has =
                has && (pool->origins[j] == NULL || is_line(pool->origins[j]));
    }
    return has;
}

enum seqb_status spool_text_write(const struct spool_text *text, char **out,
                                  size_t *size, struct seqb_error *err)
{
    struct writer writer = {.bytes = NULL, .size = 0};

    if (!has_lines(text))
        return error_set(err, SEQB_INVALID,
                         "spool: a layout or an origin is no line of text");
    WRITE(&writer, HEAD VERSION "\nid %s\n", text->id);
    WRITE(&writer, "ticket %" PRId64 " %zu %d %s\n", text->ticket,
          text->place.pool, (int)text->place.member, text->origin);
    write_pools(&writer, text);
    write_blocks(&writer, text);
    WRITE(&writer, "end %zu ", text->block_count);
    if (!writer.is_full)
        WRITE(&writer, "%016" PRIx64 "\n",
              checksum_of(writer.bytes, writer.size));
    if (writer.is_full) {
        free(writer.bytes);
        return error_set(err, SEQB_INVALID,
                         "spool: %zu blocks are too many, or out of memory",
                         text->block_count);
    }
    *out = writer.bytes;
    *size = writer.size;
    return SEQB_OK;
}

/* --- reading --- */

struct reader {
    char *at; /* what is not read yet, with a 0 after it */
    size_t line;
    struct spool_text *out;
    struct seqb_error *err;
};

static bool lacks_memory(struct reader *reader)
{
    (void)error_set(reader->err, SEQB_NO_MEMORY, "out of memory");
    return false;
}

static bool refuse(struct reader *reader, const char *why)
{
    (void)error_set(reader->err, SEQB_CORRUPT, "line %zu: %s", reader->line,
                    why);
    return false;
}

/* Skips `word` if the rest begins with it. */
static bool pass(struct reader *reader, const char *word)
{
    const size_t length = strlen(word);

    if (strncmp(reader->at, word, length) != 0)
        return false;
    reader->at += length;
    return true;
}

/* Reads a number without a sign or leading zeros, and skips the character after
 * it, which must be `stop`. */
static bool read_number(struct reader *reader, char stop, int64_t max,
                        int64_t *out)
{
    const size_t length = strspn(reader->at, "0123456789");

    if (reader->at[length] != stop || (length > 1 && reader->at[0] == '0') ||
        !text_to_int64(reader->at, length, out) || *out > max)
        return refuse(reader, "a number is missing or out of its range");
    reader->at += length + 1;
    reader->line += stop == '\n';
    return true;
}

/* Reads the rest of the line as a text, and ends it with a 0. */
static bool read_rest(struct reader *reader, size_t max, const char **out)
{
    char *end = strchr(reader->at, '\n');

    if (end == NULL || (size_t)(end - reader->at) > max)
        return refuse(reader, "it is cut off, or too long");
    *end = '\0';
    if (!is_line(reader->at))
        return refuse(reader, "a text is missing, or has control characters");
    *out = reader->at;
    reader->at = end + 1;
    reader->line++;
    return true;
}

static bool read_id(struct reader *reader)
{
    const char *id;

    if (!pass(reader, "id "))
        return refuse(reader, "no id");
    if (!read_rest(reader, SPOOL_ID_SIZE - 1, &id))
        return false;
    if (strspn(id, "0123456789abcdef") != SPOOL_ID_SIZE - 1)
        return refuse(reader, "the id is none");
    return text_copy(reader->out->id, sizeof reader->out->id, id);
}

static bool read_ticket(struct reader *reader)
{
    struct spool_text *out = reader->out;
    int64_t pool;
    int64_t member;

    if (!pass(reader, "ticket "))
        return refuse(reader, "no ticket");
    if (!read_number(reader, ' ', INT64_MAX - 1, &out->ticket) ||
        !read_number(reader, ' ', SPOOL_POOLS - 1, &pool) ||
        !read_number(reader, ' ', HA_PARTITIONS_MAX, &member) ||
        !read_rest(reader, SEQB_ORIGIN_SIZE - 1, &out->origin))
        return false;
    out->place = (struct ha_place){(size_t)pool, (int32_t)member};
    return true;
}

static bool read_pool(struct reader *reader)
{
    struct spool_text *out = reader->out;
    struct spool_pool *pools;
    int64_t bits;
    const char *layout;

    if (out->pool_count == SPOOL_POOLS)
        return refuse(reader, "too many pools");
    if (!read_number(reader, ' ', HA_BITS_MAX, &bits) ||
        !read_rest(reader, SEQB_CLAIM_SIZE - 1, &layout))
        return false;
    pools = realloc(out->pools, (out->pool_count + 1) * sizeof *pools);
    if (pools == NULL)
        return lacks_memory(reader);
    out->pools = pools;
    pools[out->pool_count++] =
        (struct spool_pool){.layout = layout, .bits = (int32_t)bits};
    return true;
}

static bool read_pools(struct reader *reader)
{
    while (pass(reader, "pool ")) {
        if (!read_pool(reader))
            return false;
    }
    if (reader->out->place.pool >= reader->out->pool_count)
        return refuse(reader, "the ticket is of no pool");
    return true;
}

static bool read_origin(struct reader *reader, int64_t *last)
{
    struct spool_text *out = reader->out;
    int64_t pool;
    int64_t partition;
    int64_t place;

    if (!read_number(reader, ' ', (int64_t)out->pool_count - 1, &pool) ||
        !read_number(reader, ' ', ((int64_t)1 << out->pools[pool].bits) - 1,
                     &partition))
        return false;
    place = pool * HA_PARTITIONS_MAX + partition;
    if (place <= *last)
        return refuse(reader, "origins are out of order");
    *last = place;
    return read_rest(reader, SEQB_ORIGIN_SIZE - 1,
                     &out->pools[pool].origins[partition]);
}

static bool read_origins(struct reader *reader)
{
    int64_t last = -1;

    while (pass(reader, "origin ")) {
        if (!read_origin(reader, &last))
            return false;
    }
    return true;
}

/* Reads what the blocks of a sequence have in common. */
static bool read_sequence(struct reader *reader, struct spool_block *sequence)
{
    const struct spool_text *out = reader->out;
    int64_t pool;
    int64_t memory_bits;

    if (!read_number(reader, ' ', (int64_t)out->pool_count - 1, &pool) ||
        !read_number(reader, ' ', INT32_MAX, &memory_bits) ||
        !read_rest(reader, SEQB_KEY_MAX, &sequence->key))
        return false;
    sequence->pool = (size_t)pool;
    sequence->bits = out->pools[pool].bits;
    sequence->memory_bits = (int32_t)memory_bits;
    if (out->block_count > 0 &&
        is_same_sequence(&out->blocks[out->block_count - 1], sequence))
        return refuse(reader, "a sequence comes twice");
    return true;
}

static bool is_origin_known(const struct spool_text *text,
                            const struct spool_block *block)
{
    return text->pools[block->pool].origins[spool_block_partition(block)] !=
           NULL;
}

static bool read_block(struct reader *reader, struct spool_block *block)
{
    const struct spool_text *out = reader->out;

    if (!read_number(reader, ' ', INT64_MAX, &block->first) ||
        !read_number(reader, '\n', INT64_MAX, &block->length))
        return false;
    if (!spool_block_is_sane(block))
        return refuse(reader, "a block of numbers that cannot be");
    if (!is_origin_known(out, block))
        return refuse(reader, "a block of an unknown origin");
    if (out->block_count > 0 &&
        spool_block_meet(&out->blocks[out->block_count - 1], block) !=
            SPOOL_APART)
        return refuse(reader, "a block that is out of order");
    return true;
}

static bool read_blocks(struct reader *reader, size_t capacity)
{
    struct spool_text *out = reader->out;
    struct spool_block block;

    while (pass(reader, "sequence ")) {
        if (!read_sequence(reader, &block))
            return false;
        if (strncmp(reader->at, "block ", 6) != 0)
            return refuse(reader, "a sequence without a block");
        while (pass(reader, "block ")) {
            if (!read_block(reader, &block))
                return false;
            if (out->block_count == capacity)
                return refuse(reader, "more blocks than are counted");
            out->blocks[out->block_count++] = block;
        }
    }
    return true;
}

/* Finds the last line, and reads the number of blocks from it. It has nothing
 * else but the checksum, which was checked before. */
static bool read_end(struct reader *reader, char *bytes, size_t size,
                     const char **end, size_t *count)
{
    struct reader last = *reader;
    size_t begin = size - SUM_SIZE;
    int64_t blocks;

    while (begin > 0 && bytes[begin - 1] != '\n')
        begin--;
    last.at = bytes + begin;
    if (!pass(&last, "end "))
        return refuse(reader, "no end");
    if (!read_number(&last, ' ', (int64_t)(size / BLOCK_LENGTH), &blocks))
        return false;
    if (last.at != bytes + (size - SUM_SIZE))
        return refuse(reader, "no end");
    *end = bytes + begin;
    *count = (size_t)blocks;
    return true;
}

static bool read_body(struct reader *reader, char *bytes, size_t size)
{
    struct spool_text *out = reader->out;
    const char *end;
    size_t count;

    if (!read_end(reader, bytes, size, &end, &count))
        return false;
    out->blocks = calloc(count + 1, sizeof *out->blocks);
    if (out->blocks == NULL)
        return lacks_memory(reader);
    if (!read_id(reader) || !read_ticket(reader) || !read_pools(reader) ||
        !read_origins(reader) || !read_blocks(reader, count))
        return false;
    if (reader->at != end || out->block_count != count)
        return refuse(reader, "something else, or less than is counted");
    return true;
}

/* Whether the checksum at the end of the last line matches all bytes before
 * it. */
static bool is_checked(const char *bytes, size_t size)
{
    char sum[SUM_SIZE];

    if (size < SUM_SIZE || bytes[size - 1] != '\n')
        return false;
    (void)text_format(sum, sizeof sum, "%016" PRIx64,
                      checksum_of(bytes, size - SUM_SIZE));
    return memcmp(sum, bytes + size - SUM_SIZE, SUM_SIZE - 1) == 0;
}

enum seqb_status spool_text_read(char *bytes, size_t size,
                                 struct spool_text *out, struct seqb_error *err)
{
    struct reader reader = {bytes, 1, out, err};

    *out = (struct spool_text){.ticket = 0};
    bytes[size] = '\0';
    if (!pass(&reader, HEAD))
        return error_set(err, SEQB_CORRUPT, "it is no spool");
    if (!pass(&reader, VERSION "\n"))
        return error_set(err, SEQB_CORRUPT, "its version is not " VERSION);
    if (memchr(bytes, '\0', size) != NULL || !is_checked(bytes, size))
        return error_set(err, SEQB_CORRUPT,
                         "it is damaged: the checksum does not match");
    reader.line++;
    if (read_body(&reader, bytes, size))
        return SEQB_OK;
    spool_text_fini(out);
    return err->status;
}

void spool_text_fini(struct spool_text *text)
{
    free(text->pools);
    free(text->blocks);
    *text = (struct spool_text){.ticket = 0};
}
