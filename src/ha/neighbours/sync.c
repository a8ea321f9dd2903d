/* SPDX-License-Identifier: Apache-2.0 */
/* Marks, reads, raises, and writes `synced`, in this order. See
 * docs/decisions/0024-neighbours.md for why, and 0075-claims-of-neighbours.md
 * for the claims. */
#include "ha/neighbours/sync.h"

#include <stdlib.h>
#include <string.h>

#include "platform/chance.h"
#include "platform/error.h"
#include "platform/text.h"

/* Prefixes of what is read from a store. Of the lessor itself, the rows
 * that close counters come first, in byte order; of the others last, see
 * read_all. */
#define CLOSED   "@window/"
#define TICKETS  "ticket/"
#define COUNTERS "window/"

/* The lessor's counters, in byte order. */
struct level {
    struct seqb_listed *listed;
    size_t count;
};

/* --- the term --- */

static void term_name(struct sync *sync)
{
    (void)text_format(sync->term, sizeof sync->term, "%s%s", sync->nonce,
                      sync->seen[sync->lessor].incarnation);
}

/* Whether another store has a mark of a copy's term. Each term begins with
 * marks at all others, and no other term of the lessor itself began since. A
 * mark of an earlier term, in a store that went back, looks the same: it costs
 * a sync. */
static bool has_other_term(const struct sync *sync)
{
    for (int32_t i = 0; i < sync->pool->lessors.count; i++) {
        if (i != sync->lessor && sync->seen[i].is_there &&
            term_is_over(sync->term, sync->seen[i].marks[sync->lessor]))
            return true;
    }
    return false;
}

/* An operator's word replaces the answers of those that cannot be asked. Once
 * all can be asked, it is not needed. */
static bool is_believed(const struct sync *sync)
{
    return term_is_trusted(sync->nonce) && sync_away(sync) >= 0;
}

struct sync sync_of(struct ha_pool *pool, const struct seen *seen,
                    int32_t lessor)
{
    struct sync sync = {.pool = pool, .seen = seen, .lessor = lessor};
    const struct seen *own = &seen[lessor];
    const bool is_begun = own->synced[0] == TERM_BEGUN[0];

    if (term_read(own->synced + is_begun, own->incarnation, sync.nonce))
        sync.is_level = !is_begun;
    term_name(&sync);
    if (sync.is_level && !is_believed(&sync) && has_other_term(&sync)) {
        sync.is_level = false;
        term_nonce(chance_bits(), sync.nonce);
        term_name(&sync);
    }
    return sync;
}

/* The mark that another store should have. It counts only in that store's
 * present incarnation. */
static void mark_text(const struct sync *sync, int32_t other, char *out,
                      size_t size)
{
    (void)text_format(out, size, "%s|%s", sync->term,
                      sync->seen[other].incarnation);
}

/* Whether another store that can be asked has no mark of the lessor's term. */
static bool needs_mark(const struct sync *sync, int32_t other)
{
    char text[CALL_TEXT_SIZE];

    if (other == sync->lessor || !sync->seen[other].is_there)
        return false;
    mark_text(sync, other, text, sizeof text);
    return strcmp(sync->seen[other].marks[sync->lessor], text) != 0;
}

bool sync_has_marks(const struct sync *sync)
{
    for (int32_t i = 0; i < sync->pool->lessors.count; i++) {
        if (needs_mark(sync, i))
            return false;
    }
    return true;
}

int32_t sync_away(const struct sync *sync)
{
    for (int32_t i = 0; i < sync->pool->lessors.count; i++) {
        if (i != sync->lessor && !sync->seen[i].is_there)
            return i;
    }
    return -1;
}

static struct call *call_make(const struct sync *sync, int32_t lessor,
                              struct seqb_error *err)
{
    struct call *call = call_new(sync->pool, lessor);

    if (call == NULL)
        (void)error_set(err, SEQB_NO_MEMORY, "out of memory");
    return call;
}

/* --- claims --- */

/* A change of a claim in the store of lessor `at`, in the incarnation that was
 * seen. */
struct change {
    int32_t at;
    const char *name;
    const char *expected;
    const char *text;
};

/* False also if the claim holds another text. */
static bool change_make(const struct sync *sync, const struct change *change,
                        struct seqb_error *err)
{
    struct call *call = call_make(sync, change->at, err);
    bool is_done;

    if (call == NULL)
        return false;
    call->run = call_swap;
    (void)text_copy(call->name, sizeof call->name, change->name);
    (void)text_copy(call->expected, sizeof call->expected, change->expected);
    (void)text_copy(call->text, sizeof call->text, change->text);
    (void)text_copy(call->incarnation, sizeof call->incarnation,
                    sync->seen[change->at].incarnation);
    if (!call_ask(call, err))
        return false;
    is_done = strcmp(call->standing, change->text) == 0;
    ask_release(&call->ask);
    if (!is_done)
        (void)error_set(err, SEQB_AGAIN, "another broker was faster");
    return is_done;
}

/* Proves that the lessor still has the incarnation that will be marked, *after*
 * the marks were read. So no mark that is replaced is later than it. */
static bool sync_prove(const struct sync *sync, struct seqb_error *err)
{
    char begun[CALL_TEXT_SIZE];

    (void)text_format(begun, sizeof begun, TERM_BEGUN "%s", sync->term);
    return change_make(sync,
                       &(struct change){sync->lessor, sync->pool->synced,
                                        sync->seen[sync->lessor].synced,
                                        sync->is_level ? sync->term : begun},
                       err);
}

static bool sync_mark(const struct sync *sync, int32_t other,
                      struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    char text[CALL_TEXT_SIZE];

    (void)text_format(name, sizeof name, "known/%s/%d", sync->pool->name,
                      (int)sync->lessor);
    mark_text(sync, other, text, sizeof text);
    return change_make(sync,
                       &(struct change){other, name,
                                        sync->seen[other].marks[sync->lessor],
                                        text},
                       err);
}

bool sync_mark_all(const struct sync *sync, struct seqb_error *err)
{
    if (!sync_prove(sync, err))
        return false;
    for (int32_t i = 0; i < sync->pool->lessors.count; i++) {
        if (needs_mark(sync, i) && !sync_mark(sync, i, err))
            return false;
    }
    return true;
}

static bool sync_finish(const struct sync *sync, struct seqb_error *err)
{
    char begun[CALL_TEXT_SIZE];

    (void)text_format(begun, sizeof begun, TERM_BEGUN "%s", sync->term);
    return change_make(
        sync,
        &(struct change){sync->lessor, sync->pool->synced, begun, sync->term},
        err);
}

/* --- claims of the pool --- */

/* Puts claims of another lessor where the lessor has none: a store that went
 * back lost those that were made since, and the other one may go back next. */
static bool claims_bring(const struct sync *sync, struct call *from,
                         struct seqb_error *err)
{
    struct call *to;
    bool is_done = false;

    from->run = call_claims_read;
    if (!call_ask(from, err))
        return false;
    to = call_make(sync, sync->lessor, err);
    if (to != NULL) {
        to->run = call_claims_put;
        to->claim_count = from->claim_count;
        memcpy(to->claims, from->claims,
               (size_t)from->claim_count * sizeof from->claims[0]);
        is_done = call_ask(to, err);
    }
    if (is_done)
        ask_release(&to->ask);
    ask_release(&from->ask);
    return is_done;
}

/* That the pool was migrated. Otherwise brokers of this generation, which
 * nobody stopped, would begin keys that were first used in the next one. */
static bool retired_bring(const struct sync *sync, int32_t other,
                          struct seqb_error *err)
{
    struct call *call = call_make(sync, other, err);

    if (call == NULL)
        return false;
    call->claim_count = 1;
    claim_pool_name("retired", &sync->pool->options->layout,
                    call->claims[0].name, sizeof call->claims[0].name);
    return claims_bring(sync, call, err);
}

static bool retired_bring_all(const struct sync *sync, struct seqb_error *err)
{
    for (int32_t i = 0; i < sync->pool->lessors.count; i++) {
        if (i != sync->lessor && !retired_bring(sync, i, err))
            return false;
    }
    return true;
}

/* Adds the claim of the key that a counter is of,
 * "<prefix><partition>/<key>[@<stamp>]". Counters of one key follow each
 * other. */
static void key_add(struct call *call, const struct layout *layout,
                    const char *counter, size_t prefix)
{
    const char *name = strchr(counter + prefix, '/');
    struct call_claim *claim = &call->claims[call->claim_count];
    char key[SEQB_COUNTER_SIZE];

    if (name == NULL)
        return;
    (void)text_copy(key, sizeof key, name + 1);
    key[strcspn(key, "@")] = '\0';
    claim_sequence_name(
        &(struct claim_attributes){.layout = layout, .key = key},
        layout->generation, claim->name, sizeof claim->name);
    if (call->claim_count == 0 || strcmp(claim->name, claim[-1].name) != 0)
        call->claim_count++;
}

/* --- counters --- */

/* Reads the page after `after`. Call ask_release on it; NULL if it failed. */
static struct call *page_read(const struct sync *sync, int32_t lessor,
                              const char *kind, const char *after,
                              struct seqb_error *err)
{
    struct call *call = call_make(sync, lessor, err);

    if (call == NULL)
        return NULL;
    call->run = call_list;
    (void)text_format(call->prefix, sizeof call->prefix, "%s%s/", kind,
                      sync->pool->name);
    (void)text_copy(call->after, sizeof call->after, after);
    return call_ask(call, err) ? call : NULL;
}

static bool level_add(struct level *level, const struct call *page,
                      struct seqb_error *err)
{
    const size_t count = (size_t)page->count;
    struct seqb_listed *listed;

    if (count == 0)
        return true;
    listed = realloc(level->listed,
                     (level->count + count) * sizeof level->listed[0]);
    if (listed == NULL) {
        (void)error_set(err, SEQB_NO_MEMORY, "out of memory");
        return false;
    }
    memcpy(&listed[level->count], page->listed, count * sizeof listed[0]);
    level->listed = listed;
    level->count += count;
    return true;
}

static int compare_listed(const void *a, const void *b)
{
    return strcmp(((const struct seqb_listed *)a)->counter,
                  ((const struct seqb_listed *)b)->counter);
}

/* The lessor's counter of that name; NULL: it has none. */
static const struct seqb_listed *level_find(const struct level *level,
                                            const struct seqb_listed *listed)
{
    return level->count == 0 ? NULL
                             : bsearch(listed, level->listed, level->count,
                                       sizeof *listed, compare_listed);
}

/* Whether the lessor's counter is below that of another lessor. */
static bool level_is_below(const struct level *level,
                           const struct seqb_listed *listed)
{
    const struct seqb_listed *own = level_find(level, listed);

    return own == NULL || own->value < listed->value;
}

/* Brings the claims of the keys along whose counters the lessor lacks. Before
 * these are raised: a sync that is cut off in between finds them lacking
 * again. */
static bool keys_bring(const struct sync *sync, const struct level *level,
                       const struct call *page, struct seqb_error *err)
{
    struct call *call;

    if (strncmp(page->prefix, TICKETS, strlen(TICKETS)) == 0)
        return true;
    call = call_make(sync, page->lessor, err);
    if (call == NULL)
        return false;
    for (int32_t i = 0; i < page->count; i++) {
        if (level_find(level, &page->listed[i]) == NULL)
            key_add(call, &sync->pool->options->layout, page->listed[i].counter,
                    strlen(page->prefix));
    }
    if (call->claim_count > 0)
        return claims_bring(sync, call, err);
    call->ask.free(&call->ask);
    return true;
}

/* Raises the lessor's counters to a page of another lessor. */
static bool page_raise(const struct sync *sync, const struct level *level,
                       const struct call *page, struct seqb_error *err)
{
    struct call *call = call_make(sync, sync->lessor, err);

    if (call == NULL)
        return false;
    call->run = call_raise;
    for (int32_t i = 0; i < page->count; i++) {
        if (level_is_below(level, &page->listed[i]))
            call->listed[call->count++] = page->listed[i];
    }
    if (call->count == 0) {
        call->ask.free(&call->ask);
        return true;
    }
    if (!call_ask(call, err))
        return false;
    ask_release(&call->ask);
    return true;
}

/* Reads all pages of one lessor. If it is the lessor itself, keeps its
 * counters; else raises its counters to those of the other. */
static bool pages_visit(const struct sync *sync, int32_t lessor,
                        const char *kind, struct level *level,
                        struct seqb_error *err)
{
    char after[SEQB_COUNTER_SIZE] = "";
    bool has_more = true;

    while (has_more) {
        struct call *page = page_read(sync, lessor, kind, after, err);
        bool is_done;

        if (page == NULL)
            return false;
        has_more = page->count == CALL_LISTED;
        if (has_more)
            (void)text_copy(after, sizeof after,
                            page->listed[page->count - 1].counter);
        is_done = lessor == sync->lessor
                      ? level_add(level, page, err)
                      : keys_bring(sync, level, page, err) &&
                            page_raise(sync, level, page, err);
        ask_release(&page->ask);
        if (!is_done)
            return false;
    }
    return true;
}

/* From the others, the rows that close counters are read *after* the counters.
 * In the other order, a counter that is closed and deleted in between would be
 * missed. */
static bool read_all(const struct sync *sync, struct level *level,
                     struct seqb_error *err)
{
    bool is_done = pages_visit(sync, sync->lessor, CLOSED, level, err) &&
                   pages_visit(sync, sync->lessor, TICKETS, level, err) &&
                   pages_visit(sync, sync->lessor, COUNTERS, level, err);

    for (int32_t i = 0; is_done && i < sync->pool->lessors.count; i++)
        is_done =
            i == sync->lessor || (pages_visit(sync, i, TICKETS, level, err) &&
                                  pages_visit(sync, i, COUNTERS, level, err) &&
                                  pages_visit(sync, i, CLOSED, level, err));
    return is_done;
}

bool sync_run(const struct sync *sync, struct seqb_error *err)
{
    struct level level = {.listed = NULL};
    bool is_done;

    if (!sync_mark_all(sync, err) || !retired_bring_all(sync, err))
        return false;
    is_done = read_all(sync, &level, err) && sync_finish(sync, err);
    free(level.listed);
    return is_done;
}
