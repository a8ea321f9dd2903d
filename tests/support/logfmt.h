/* SPDX-License-Identifier: Apache-2.0 */
/* A strict reader of logfmt, for lines of the log. */
#pragma once

/* Returns what is wrong with a line; NULL if it is valid. A valid line consists
 * of words "key=value" with one space between them. The first key is `event`,
 * and no key occurs twice. A value is in JSON's quotes if it is empty or has a
 * space, a quote, an equals sign, a backslash or a character that is not
 * ASCII. */
const char *logfmt_complaint(const char *line);
