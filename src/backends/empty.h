/* SPDX-License-Identifier: Apache-2.0 */
/* What to do about a store without tables or rows of ours. */
#pragma once

/* The end of an error. An engine does not know whether the pool is new or in
 * use; of a store that lost its data new tables would hide that. `otherwise`:
 * what helps where auto_create is off, or "". */
#define EMPTY_ADVICE(otherwise)                                                \
    "if the pool is new, its first start makes them" otherwise                 \
    "; if it is in use, this store lost its data or is another one: put the "  \
    "old one back"
