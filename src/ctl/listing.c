/* SPDX-License-Identifier: Apache-2.0 */
/* One answer after the other; see listing.h. */
#include "ctl/listing.h"

#include <stdio.h>

#include "ctl/json.h"

#define DIGITS_SIZE 24

static void line_print(const redisReply *stamp, const char *text)
{
    if (stamp != NULL)
        printf("%lld ", stamp->integer);
    puts(text);
}

static void element_print(const struct listing *listing,
                          const redisReply *stamp, const char *text)
{
    fputs(listing->printed == 0 ? "{\"numbers\": [" : ", ", stdout);
    if (stamp != NULL)
        printf("{\"stamp\": %lld, \"number\": ", stamp->integer);
    json_string(stdout, text);
    if (stamp != NULL)
        putchar('}');
}

/* False if it is neither a number nor a text. */
static bool item_print(struct listing *listing, const redisReply *stamp,
                       const redisReply *item)
{
    const char *text = item->str;
    char digits[DIGITS_SIZE];

    if (item->type == REDIS_REPLY_INTEGER) {
        snprintf(digits, sizeof digits, "%lld", item->integer);
        text = digits;
    } else if (item->type != REDIS_REPLY_STRING) {
        return false;
    }
    if (listing->is_json)
        element_print(listing, stamp, text);
    else
        line_print(stamp, text);
    listing->printed++;
    return true;
}

static enum ctl_exit listing_refuse(const struct listing *listing)
{
    ctl_complain("the answer to %s makes no sense: is this a seqbrokerd, and "
                 "of this version?",
                 listing->command);
    return CTL_FAILED;
}

enum ctl_exit listing_add(struct listing *listing, const redisReply *stamp,
                          const redisReply *items, int64_t count)
{
    if (items->type != REDIS_REPLY_ARRAY || (int64_t)items->elements != count)
        return listing_refuse(listing);
    for (size_t i = 0; i < items->elements; i++) {
        if (!item_print(listing, stamp, items->element[i]))
            return listing_refuse(listing);
    }
    return fflush(stdout) == 0 && ferror(stdout) == 0 ? CTL_OK : CTL_FAILED;
}

void listing_end(const struct listing *listing)
{
    if (listing->is_json && listing->printed > 0)
        puts("]}");
}
