/* SPDX-License-Identifier: Apache-2.0 */
/* What to do about a store without tables or rows of ours. */
#pragma once

/* The end of an error. Whether the pool is in use is not known here, and an
 * operator who makes the tables of a store that lost them makes it worse.
 * `remedy`: what makes a new store. */
#define EMPTY_ADVICE(remedy)                                                   \
    "if the pool is new, " remedy "; if it is in use, this store lost its "    \
    "data or is another one: put the old one back"
