/* SPDX-License-Identifier: Apache-2.0 */
/* Whose an error number of MySQL and MariaDB is. What numbers mean is in
 * tests/contract/test_mysql_open.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "backends/mysql/errors.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The server did not speak: its answer is not known. */
static void numbers_of_the_client_libraries_are_known(void **state)
{
    static const struct {
        unsigned code;
        bool is_clients;
    } cases[] = {
        {1062, false}, {1999, false}, {2000, true}, {2006, true}, {2999, true},
        {3000, false}, {4999, false}, {5000, true}, {5999, true}, {6000, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(mysql_error_is_clients(cases[i].code),
                         cases[i].is_clients);
}

/* Of a database, a table, a column; not that of the login. */
static void missing_rights_are_known(void **state)
{
    static const struct {
        unsigned code;
        bool is_of_rights;
    } cases[] = {
        {1044, true}, {1045, false}, {1142, true}, {1143, true}, {1146, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(mysql_error_is_of_rights(cases[i].code),
                         cases[i].is_of_rights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_the_client_libraries_are_known),
        cmocka_unit_test(missing_rights_are_known),
    };

    return cmocka_run_group_tests_name("mysql_errors", tests, NULL, NULL);
}
