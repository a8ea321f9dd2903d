/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a text cost alone, without the taking of numbers: its
 * writing, by a template and by hand, and its shuffle. */
#pragma once

#include <stdbool.h>

#define ALONE_ROUND 250 /* texts that are begun together */

enum alone_way {
    ALONE_TEMPLATE,
    ALONE_HAND,      /* as by_hand.h has it */
    ALONE_HAND_DATED /* the same, one date for all of a round */
};

/* The ns of a text of that template, which is the one of by_hand.h, for a day
 * in the time zone; $TZ must be the same. A failure, and texts that are not
 * what the template writes, end the program. */
double alone_text_ns(const char *text, const char *zone, enum alone_way way,
                     double seconds);

/* The ns of a shuffle of so many decimal digits, there or back. */
double alone_shuffle_ns(int width, bool is_back, double seconds);
