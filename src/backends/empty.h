/* SPDX-License-Identifier: Apache-2.0 */
/* What to do about a store without tables or rows of ours. */
#pragma once

/* The end of an error. An engine does not know whether the pool is new or in
 * use; of a store that lost its data new tables would hide that. Short, since a
 * status cuts its reasons. `otherwise`: what helps where auto_create is off, or
 * "". */
#define EMPTY_ADVICE(otherwise)                                                \
    "of a pool in use put the old store back; of a new pool the first start "  \
    "makes it" otherwise
