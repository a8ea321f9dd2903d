/* SPDX-License-Identifier: Apache-2.0 */
/* Where the lines of ctl_complain go: each to stderr, or gathered for who
 * prints them at another place. It is the one state that the whole program
 * shares. */
#pragma once

/* The word before an error that a program can tell it by, as "UNREACHABLE", in
 * place of the exit code's. Of the next line. */
void complaint_code_set(const char *code);

/* The broker that the next lines are about; NULL: there is one only. */
void complain_about(const char *server);

/* From now on lines are gathered, and none is printed. */
void complaints_gather(void);

/* What was gathered, "" if nothing was, and its code, "" if none was set. */
const char *complaint_text(void);
const char *complaint_code(void);
void complaint_clear(void);
