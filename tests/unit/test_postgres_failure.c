/* SPDX-License-Identifier: Apache-2.0 */
/* What an SQLSTATE means, and where it stands in libpq's text. */

#include "backends/postgres/failure.h"
#include "support/test.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define AT       "connection to server at \"h\", port 5432 failed: "

TEST(state_is_found_in_the_text_of_a_failed_connection)
{
    static const struct {
        const char *text;
        const char *state;
        enum seqb_status status;
        const char *error;
    } cases[] = {
        {AT "FATAL:  28P01: password authentication failed\nLOCATION:  auth.c",
         "28P01", SEQB_REFUSED,
         "pg: cannot connect: password authentication failed (SQLSTATE 28P01)"},
        {AT "FATAL:  53300: too many connections", "53300", SEQB_UNREACHABLE,
         "pg: cannot connect: too many connections (SQLSTATE 53300)"},
        {AT "Verbindung:  x:  3D000: no database \"d\"", "3D000",
         SEQB_UNREACHABLE,
         "pg: cannot connect: no database \"d\" (SQLSTATE 3D000); make it "
         "first"},
        {AT "Connection refused\n\tIs the server running?", "",
         SEQB_UNREACHABLE, "pg: cannot connect: " AT "Connection refused"},
        {AT "FATAL:  28P01:no blank", "28P01", SEQB_REFUSED,
         "pg: cannot connect: no blank (SQLSTATE 28P01)"},
        {"certificate verify failed\n", "", SEQB_UNREACHABLE,
         "pg: cannot connect: certificate verify failed; the server's "
         "certificate has expired, it does not send the intermediate ones, or "
         "tls_ca is not its CA"},
        {"no root certificate file", "", SEQB_UNREACHABLE,
         "pg: cannot connect: no root certificate file; set tls_ca"},
        {"x:  p8P01: of one small letter", "", SEQB_UNREACHABLE,
         "pg: cannot connect: x:  p8P01: of one small letter"},
        {"x:  28p01: of small letters", "", SEQB_UNREACHABLE,
         "pg: cannot connect: x:  28p01: of small letters"},
        {"x:  28P0: too short", "", SEQB_UNREACHABLE,
         "pg: cannot connect: x:  28P0: too short"},
        {"x:  28P012: too long", "", SEQB_UNREACHABLE,
         "pg: cannot connect: x:  28P012: too long"},
        {"x:  28P01", "", SEQB_UNREACHABLE, "pg: cannot connect: x:  28P01"},
        {"", "", SEQB_UNREACHABLE, "pg: cannot connect: "},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char found[6] = "_____";
        struct seqb_error err;

        assert_int_equal(
            postgres_failure_connect("pg", cases[i].text, found, &err),
            cases[i].status);
        assert_int_equal(err.status, cases[i].status);
        assert_string_equal(err.text, cases[i].error);
        assert_string_equal(found, cases[i].state);
    }
}

TEST(state_says_what_a_failure_means)
{
    static const struct {
        const char *state;
        enum seqb_status status;
        bool is_of_row;
        const char *message;
        const char *error;
    } cases[] = {
        {"40001", SEQB_UNREACHABLE, true, "a circle",
         "pg: a circle (SQLSTATE 40001)"},
        {"42501", SEQB_REFUSED, false, "permission denied",
         "pg: permission denied (SQLSTATE 42501); sql/postgres.sql says which "
         "rights are needed"},
        {"42703", SEQB_CORRUPT, false, "no column",
         "pg: no column (SQLSTATE 42703); the table is none of ours, see "
         "sql/postgres.sql"},
        {"22003", SEQB_EXHAUSTED, true, NULL,
         "pg: no message (SQLSTATE 22003)"},
        {"22004", SEQB_REFUSED, true, "null", "pg: null (SQLSTATE 22004)"},
        {"57P01", SEQB_UNREACHABLE, false, "ended",
         "pg: ended (SQLSTATE 57P01)"},
        {"XX001", SEQB_CORRUPT, true, "damaged",
         "pg: damaged (SQLSTATE "
         "XX001)"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct seqb_error err;

        assert_int_equal(
            postgres_failure_set("pg", cases[i].state, cases[i].message, &err),
            cases[i].status);
        assert_string_equal(err.text, cases[i].error);
        assert_int_equal(postgres_failure_is_of_row(cases[i].state),
                         cases[i].is_of_row);
    }
}
