/* SPDX-License-Identifier: Apache-2.0 */
/* What only Oracle's libmysqlclient has. Not tested: see docs/guarantees.md. */
#include "backends/mysql/connect/client.h"

const char *mysql_client_name(void)
{
    return "libmysqlclient";
}

bool mysql_client_set_tls(MYSQL *handle, enum seqb_tls tls)
{
    static const unsigned modes[] = {
        [SEQB_TLS_OFF] = SSL_MODE_DISABLED,
        [SEQB_TLS_REQUIRE] = SSL_MODE_REQUIRED,
        [SEQB_TLS_VERIFY] = SSL_MODE_VERIFY_IDENTITY,
    };

    return mysql_options(handle, MYSQL_OPT_SSL_MODE, &modes[tls]) == 0;
}
