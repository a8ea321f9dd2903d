/* SPDX-License-Identifier: Apache-2.0 */
/* Brokers with spools, over scripted stores. */
#include "spool_fixture.h"

#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/file.h"
#include "platform/text.h"
#include "store/layout.h"
#include "support/events.h"
#include "support/folder.h"
#include "support/test.h"

#define PARTITION_BITS 1
#define FILE_MAX       ((size_t)1 << 20)

static int case_setup(void **state, int (*setup)(void **rig))
{
    struct spool_case *c = calloc(1, sizeof *c);
    void *rig;

    *state = c;
    if (c == NULL || setup(&rig) != 0)
        return -1;
    c->rig = rig;
    c->choice = SPOOL_TAKE;
    c->memory_bits = SPOOL_MEMORY_BITS;
    (void)text_copy(c->folder, sizeof c->folder, "/tmp/seqb-spool.XXXXXX");
    if (mkdtemp(c->folder) == NULL)
        return -1;
    (void)text_format(c->path, sizeof c->path, "%s/spool", c->folder);
    spool_case_open(c);
    return 0;
}

int spool_case_setup(void **state)
{
    return case_setup(state, rig_setup_direct);
}

int spool_case_setup_neighbours(void **state)
{
    return case_setup(state, rig_setup_neighbours);
}

int spool_case_teardown(void **state)
{
    struct spool_case *c = *state;
    void *rig = c->rig;
    int failed;

    spool_close(c->spool);
    failed = rig_teardown(&rig);
    folder_remove(c->folder);
    free(c);
    return failed;
}

void spool_case_open(struct spool_case *c)
{
    c->broker = rig_open(c->rig);
    assert_done(spool_open(c->path, c->broker->ha, &c->spool, &c->err), c->err);
}

void spool_case_close(struct spool_case *c)
{
    spool_close(c->spool);
    rig_close(c->broker);
    c->spool = NULL;
    c->broker = NULL;
}

void spool_case_restart(struct spool_case *c)
{
    spool_case_close(c);
    spool_case_open(c);
}

struct spool_block spool_case_block(const char *key, int32_t partition,
                                    int64_t v, int64_t runs)
{
    return (struct spool_block){
        .key = key,
        .memory_bits = SPOOL_MEMORY_BITS,
        .first = layout_number(v, partition, PARTITION_BITS, SPOOL_MEMORY_BITS),
        .length = runs << SPOOL_MEMORY_BITS,
    };
}

static enum spool_choice choose(void *context, const struct spool_block *block,
                                int32_t *memory_bits)
{
    const struct spool_case *c = context;

    *memory_bits = c->memory_bits;
    if (c->wanted != NULL && strcmp(c->wanted, block->key) != 0)
        return SPOOL_KEEP;
    return c->choice;
}

static void take(void *context, const struct spool_block *block)
{
    struct spool_case *c = context;
    struct spool_block *out = &c->taken[c->taken_count];

    assert_true(c->taken_count < SPOOL_TAKEN_MAX);
    *out = *block;
    (void)text_copy(c->keys[c->taken_count], sizeof c->keys[0], block->key);
    out->key = c->keys[c->taken_count++];
    c->taken_numbers += block->length;
}

enum seqb_status spool_case_try(struct spool_case *c,
                                const struct spool_block *give, size_t count,
                                int64_t until_ms)
{
    const struct spool_exchange_options terms = {.give = give,
                                                 .give_count = count,
                                                 .choose = give == NULL ? choose
                                                                        : NULL,
                                                 .take = take,
                                                 .context = c};

    c->taken_count = 0;
    c->taken_numbers = 0;
    c->err.status = SEQB_OK;
    return spool_exchange(c->spool, &terms, until_ms, &c->err);
}

void spool_case_give(struct spool_case *c, struct spool_block block)
{
    assert_done(spool_case_try(c, &block, 1, clock_now_ms() + RIG_PATIENCE_MS),
                c->err);
}

void spool_case_take(struct spool_case *c)
{
    assert_done(spool_case_try(c, NULL, 0, clock_now_ms() + RIG_PATIENCE_MS),
                c->err);
}

void spool_case_expect(struct spool_case *c, int64_t numbers)
{
    spool_case_take(c);
    assert_int_equal(c->taken_numbers, numbers);
}

const char *spool_case_beside(const struct spool_case *c, const char *suffix)
{
    static char path[128];

    (void)text_format(path, sizeof path, "%s%s", c->path, suffix);
    return path;
}

bool spool_case_has(const struct spool_case *c, const char *suffix)
{
    glob_t found;
    const int result = glob(spool_case_beside(c, suffix), 0, NULL, &found);

    if (result != 0)
        return false;
    globfree(&found);
    return true;
}

void spool_case_copy(const char *from, const char *to)
{
    struct seqb_error err;
    char *bytes;
    size_t size;

    if (file_load(from, FILE_MAX, &bytes, &size, &err) != SEQB_OK ||
        file_save(to, bytes, size, &err) != SEQB_OK)
        fail_msg("%s", err.text);
    free(bytes);
}

void spool_case_expect_refused(struct spool_case *c, const char *words)
{
    assert_int_equal(c->taken_count, 0);
    events_expect("warn event=spool_refused", words, 1);
    assert_int_equal(events_count("event=spool_refused", ".refused reason="),
                     1);
    assert_true(spool_case_has(c, ".refused"));
}
