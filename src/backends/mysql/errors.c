/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of the error numbers of MySQL and MariaDB. */
#include "backends/mysql/errors.h"

#include <errmsg.h>
#include <mysqld_error.h>
#include <stddef.h>

/* The range of the MariaDB library's own errors. */
#define CONNECTOR_FIRST 5000
#define CONNECTOR_LAST  5999

/* MySQL 8.0.24 and later: the server has closed an idle connection. */
#define IDLE_TOO_LONG 4031

static const struct mysql_error errors[] = {
    {ER_OPTION_PREVENTS_STATEMENT, SEQB_ROLE, NULL},
    {ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, SEQB_ROLE, NULL},
    {ER_READ_ONLY_MODE, SEQB_ROLE, NULL},
    {ER_LOCK_WAIT_TIMEOUT, SEQB_UNREACHABLE, NULL},
    {ER_LOCK_DEADLOCK, SEQB_UNREACHABLE, NULL},
    /* Galera: the node is in no primary component, or not synced. */
    {ER_UNKNOWN_COM_ERROR, SEQB_UNREACHABLE, NULL},
    {IDLE_TOO_LONG, SEQB_UNREACHABLE, NULL},
    {ER_CON_COUNT_ERROR, SEQB_UNREACHABLE, NULL},
    {ER_TOO_MANY_USER_CONNECTIONS, SEQB_UNREACHABLE, NULL},
    {ER_USER_LIMIT_REACHED, SEQB_UNREACHABLE, NULL},
    {ER_BAD_DB_ERROR, SEQB_UNREACHABLE, "create the database"},
    {ER_NO_SUCH_TABLE, SEQB_UNREACHABLE, "run sql/mysql.sql there"},
    {ER_BAD_FIELD_ERROR, SEQB_CORRUPT, "compare the table with sql/mysql.sql"},
    {ER_WARN_DATA_OUT_OF_RANGE, SEQB_CORRUPT,
     "compare the table with sql/mysql.sql"},
    {ER_DATA_OUT_OF_RANGE, SEQB_CORRUPT,
     "compare the table with sql/mysql.sql"},
    /* A name: all else that is written fits the columns of sql/mysql.sql. */
    {ER_DATA_TOO_LONG, SEQB_INVALID,
     "a name is too long, or compare the table with sql/mysql.sql"},
    {ER_DBACCESS_DENIED_ERROR, SEQB_REFUSED, "sql/mysql.sql lists the rights"},
    {ER_TABLEACCESS_DENIED_ERROR, SEQB_REFUSED,
     "sql/mysql.sql lists the rights"},
    {ER_COLUMNACCESS_DENIED_ERROR, SEQB_REFUSED,
     "sql/mysql.sql lists the rights"},
    {ER_DUP_ENTRY, SEQB_REFUSED, NULL},
    {ER_PARSE_ERROR, SEQB_REFUSED, NULL},
};

const struct mysql_error *mysql_error_find(unsigned code)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (errors[i].code == code)
            return &errors[i];
    }
    return NULL;
}

bool mysql_error_is_of_rights(unsigned code)
{
    return code == ER_DBACCESS_DENIED_ERROR ||
           code == ER_TABLEACCESS_DENIED_ERROR ||
           code == ER_COLUMNACCESS_DENIED_ERROR;
}

bool mysql_error_is_clients(unsigned code)
{
    return (code >= CR_MIN_ERROR && code < CR_MIN_ERROR + 1000) ||
           (code >= CONNECTOR_FIRST && code <= CONNECTOR_LAST);
}
