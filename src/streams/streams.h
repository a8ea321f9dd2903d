/* SPDX-License-Identifier: Apache-2.0 */
/* The standard streams of both programs. */
#pragma once

#include <stdbool.h>

/*
 * Opens /dev/null in place of stdin, stdout and stderr where the caller closed
 * them (`2>&-`). Otherwise the next file or connection gets the descriptor,
 * and what is printed goes into it. Reading and writing still fail. Has to be
 * called before anything else is opened. False if /dev/null cannot be opened.
 */
bool streams_fill(void);
