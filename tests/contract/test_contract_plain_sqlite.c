/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite on a SQL engine that is a dialect alone. */
#include "contract/contract_sqlite.h"
#include "contract/plain_sqlite.h"

int main(void)
{
    return contract_sqlite("plain-sqlite", &backend_plain_sqlite);
}
