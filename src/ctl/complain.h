/* SPDX-License-Identifier: Apache-2.0 */
/* Where the lines of ctl_complain go: each to stderr at once, or collected
 * until the caller prints them elsewhere. This is the one state that the whole
 * program shares. */
#pragma once

/* Sets the word before the next line's error by which a program recognizes it,
 * such as "UNREACHABLE". It replaces the name of the exit code. */
void complaint_code_set(const char *code);

/* The broker that the next lines are about; NULL: there is only one. */
void complain_about(const char *server);

/* From now on lines are collected, and not printed. */
void complaints_gather(void);

/* The collected lines, or ""; and their code, or "". */
const char *complaint_text(void);
const char *complaint_code(void);
void complaint_clear(void);
