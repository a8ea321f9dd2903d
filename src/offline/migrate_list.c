/* SPDX-License-Identifier: Apache-2.0 */
/* The keys that the stores of an old pool know, by their claims and by their
 * counters: a store that went back may have lost either. */
#include <string.h>

#include "offline/migrate.h"
#include "offline/offline.h"
#include "platform/error.h"
#include "platform/text.h"

#define PAGE_SIZE 128

enum seqb_status side_list(const struct migrate_side *side, int32_t member,
                           const struct side_names *names,
                           struct seqb_error *err)
{
    struct connection *connection = &side->connections[member];
    struct seqb_listed listed[PAGE_SIZE];
    char after[SEQB_COUNTER_SIZE] = "";
    struct seqb_page page = {.prefix = names->prefix,
                             .after = after,
                             .is_of_claims = names->are_claims,
                             .listed = listed,
                             .most = PAGE_SIZE,
                             .count = PAGE_SIZE};

    while (page.count == page.most) {
        if (connection_list(connection, &page, err) != SEQB_OK)
            return err->status;
        for (int32_t i = 0; i < page.count; i++) {
            if (names->visit(names->context,
                             listed[i].counter + strlen(names->prefix),
                             err) != SEQB_OK)
                return err->status;
        }
        if (page.count > 0)
            (void)text_copy(after, sizeof after,
                            listed[page.count - 1].counter);
    }
    return SEQB_OK;
}

enum seqb_status side_list_counters(const struct migrate_side *side,
                                    int32_t member, struct side_names *names,
                                    struct seqb_error *err)
{
    static const char *const kinds[] = {"", "window/", SEQB_CELL};
    enum seqb_status status = SEQB_OK;

    names->are_claims = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && status == SEQB_OK;
         i++) {
        (void)text_format(names->prefix, sizeof names->prefix, "%s%s/",
                          kinds[i], side->name);
        status = side_list(side, member, names, err);
    }
    return status;
}

void side_key_of(const char *rest, char out[])
{
    const char *key = strchr(rest, '/');

    (void)text_copy(out, SEQB_COUNTER_SIZE, key == NULL ? "" : key + 1);
    out[strcspn(out, "@")] = '\0';
}

/* --- the keys of an old pool --- */

struct finding {
    struct migrate_side *side;
    const struct offline_finder *finder;
    size_t pool;
};

/* What a store claims of the key; "" if none claims it. */
static enum seqb_status claim_find(struct migrate_side *side, const char *key,
                                   char *out, size_t size,
                                   struct seqb_error *err)
{
    const struct claim_attributes claimed = {.layout = side->layout,
                                             .key = key};

    out[0] = '\0';
    for (int32_t i = 0; i < side->stores.count && out[0] == '\0'; i++) {
        if (connection_is_open(&side->connections[i]) &&
            claim_read_sequence(&side->connections[i], &claimed,
                                side->layout->generation, out, size,
                                err) != SEQB_OK)
            return err->status;
    }
    return SEQB_OK;
}

static enum seqb_status key_found(const struct finding *finding,
                                  const char *key, struct seqb_error *err)
{
    const struct offline_finder *finder = finding->finder;
    char claim[CLAIM_SEQUENCE_SIZE];
    char attributes[CLAIM_SEQUENCE_SIZE];
    bool is_new = false;

    if (!text_is_key(key))
        return SEQB_OK; /* no broker serves it */
    if (finder->found(finder->context, finding->pool, key, &is_new, err) !=
        SEQB_OK)
        return err->status;
    if (!is_new)
        return SEQB_OK;
    if (claim_find(finding->side, key, claim, sizeof claim, err) != SEQB_OK)
        return err->status;
    side_attributes_of(finding->side, claim, attributes, sizeof attributes);
    finder->claimed(finder->context, finding->pool, key,
                    claim[0] == '\0' ? NULL : attributes);
    return SEQB_OK;
}

static enum seqb_status claim_visit(void *context, const char *rest,
                                    struct seqb_error *err)
{
    return key_found(context, rest, err);
}

static enum seqb_status counter_visit(void *context, const char *rest,
                                      struct seqb_error *err)
{
    char key[SEQB_COUNTER_SIZE];

    side_key_of(rest, key);
    return key_found(context, key, err);
}

static enum seqb_status member_list(struct finding *finding, int32_t member,
                                    struct seqb_error *err)
{
    struct side_names names = {
        .visit = claim_visit, .context = finding, .are_claims = true};
    enum seqb_status status;

    (void)text_format(names.prefix, sizeof names.prefix, "sequence/%s/",
                      finding->side->name);
    status = side_list(finding->side, member, &names, err);
    names.visit = counter_visit;
    return status == SEQB_OK
               ? side_list_counters(finding->side, member, &names, err)
               : status;
}

/* Each store claims a key before its partition grants the first number, so all
 * of them must be able to list what they have. */
static enum seqb_status pool_find_keys(struct finding *finding,
                                       const char **mute,
                                       struct seqb_error *err)
{
    struct migrate_side *side = finding->side;
    enum seqb_status status = side_connect(side, SIDE_ALL, err);

    for (int32_t i = 0; i < side->stores.count && status == SEQB_OK; i++) {
        if (connection_may_list(&side->connections[i]))
            status = member_list(finding, i, err);
        else if (!side->stores.stores[i].forgets && i != side->without)
            *mute = side->stores.stores[i].backend;
    }
    return status;
}

enum seqb_status offline_find_keys(const struct offline_migration *options,
                                   const struct offline_finder *finder,
                                   struct seqb_error *err)
{
    struct watchdog *watchdog = NULL;
    struct seqb_error why;
    enum seqb_status status = watchdog_open(NULL, NULL, &watchdog, &why);

    for (size_t i = 0; i < options->pool_count && status == SEQB_OK; i++) {
        struct finding finding = {.finder = finder, .pool = i};
        const char *mute = NULL;

        status = side_new(options->was, options->pools[i].was, watchdog,
                          &finding.side, &why);
        if (status == SEQB_OK && options->without != NULL)
            (void)side_leave_out(finding.side, options->without);
        if (status == SEQB_OK)
            status = pool_find_keys(&finding, &mute, &why);
        if (status == SEQB_OK && mute != NULL)
            status = finder->mute(finder->context, i, mute, &why);
        side_free(finding.side);
    }
    watchdog_close(watchdog);
    return status == SEQB_OK ? SEQB_OK : error_copy(err, &why);
}
