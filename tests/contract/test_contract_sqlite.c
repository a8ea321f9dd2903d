/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite on the sqlite engine and a real file. */
#include "backends/backends.h"
#include "contract/contract_sqlite.h"

int main(void)
{
    return contract_sqlite("sqlite", &backend_sqlite);
}
