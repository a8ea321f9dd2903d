/* SPDX-License-Identifier: Apache-2.0 */
/* The main function of the programs whose tests register themselves. */
#include "support/test.h"

int main(void)
{
    return test_run_all();
}
