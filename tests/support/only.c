/* SPDX-License-Identifier: Apache-2.0 */
/* Part of every test program: with SEQB_TEST_ONLY in the environment it runs
 * only the tests whose names match that pattern. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

__attribute__((constructor)) static void only_set(void)
{
    const char *only = getenv("SEQB_TEST_ONLY");

    if (only != NULL)
        cmocka_set_test_filter(only);
}
