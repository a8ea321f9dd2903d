/* SPDX-License-Identifier: Apache-2.0 */
/* A strict reader of logfmt, for lines of the log. */
#pragma once

/* What is wrong with a line; NULL: it is words "key=value" with one space
 * between them, the first of which is `event`, and no key is there twice. A
 * value is in quotes, as JSON has them, if it is empty or holds a space, a
 * quote, an equals sign, a backslash, or what is not ASCII. */
const char *logfmt_complaint(const char *line);
