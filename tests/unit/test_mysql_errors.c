/* SPDX-License-Identifier: Apache-2.0 */
/* Whose an error number of MySQL and MariaDB is. What numbers mean is in
 * tests/contract/test_mysql_open.c. */

#include "backends/mysql/errors.h"
#include "support/test.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The server did not speak: its answer is not known. */
TEST(numbers_of_the_client_libraries_are_known)
{
    static const struct {
        unsigned code;
        bool is_clients;
    } cases[] = {
        {1062, false}, {1999, false}, {2000, true}, {2006, true}, {2999, true},
        {3000, false}, {4999, false}, {5000, true}, {5999, true}, {6000, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(mysql_error_is_clients(cases[i].code),
                         cases[i].is_clients);
}

/* Of a database, a table, a column; not that of the login. */
TEST(missing_rights_are_known)
{
    static const struct {
        unsigned code;
        bool is_of_rights;
    } cases[] = {
        {1044, true}, {1045, false}, {1142, true}, {1143, true}, {1146, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(mysql_error_is_of_rights(cases[i].code),
                         cases[i].is_of_rights);
}
