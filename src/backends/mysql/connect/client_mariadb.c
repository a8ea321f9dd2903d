/* SPDX-License-Identifier: Apache-2.0 */
/* What only MariaDB's Connector/C has. */
#include "backends/mysql/connect/client.h"

const char *mysql_client_name(void)
{
    return "mariadb connector/c";
}

bool mysql_client_set_tls(MYSQL *handle, enum seqb_tls tls)
{
    const char is_required = tls != SEQB_TLS_OFF ? 1 : 0;
    const char is_verified = tls == SEQB_TLS_VERIFY ? 1 : 0;

    return mysql_options(handle, MYSQL_OPT_SSL_ENFORCE, &is_required) == 0 &&
           mysql_options(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT,
                         &is_verified) == 0;
}
