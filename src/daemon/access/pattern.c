/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of keys; see users.h. */
#include "daemon/access/users.h"

/* Backtracks to the last `*` only: after a mismatch this `*` matches one byte
 * more. The cost is at most the product of both lengths, which are short. */
bool pattern_matches(const char *pattern, const char *key, size_t length)
{
    const char *star = NULL; /* behind the last `*` that was met */
    size_t at = 0;
    size_t retry = 0; /* where the text that the star matches ends */

    while (at < length) {
        if (*pattern == '*') {
            star = pattern++;
            retry = at;
        } else if (*pattern == '?' || (*pattern == key[at] && key[at] != 0)) {
            pattern++;
            at++;
        } else if (star != NULL) {
            pattern = star + 1;
            at = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
