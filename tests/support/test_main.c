/* SPDX-License-Identifier: Apache-2.0 */
/* The main function of the programs whose tests register themselves. */
#include <malloc.h>

#include "support/test.h"

#define OWN_PAGES (256 << 10)

/* As the daemon does: else calloc() takes the 575 KB of each SQL backend from
 * the heap once a large block was freed, and writes zeros to all of it. */
int main(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, OWN_PAGES);
    return test_run_all();
}
