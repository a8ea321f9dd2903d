/* SPDX-License-Identifier: Apache-2.0 */
/* docs/configuration.md, as `seqctl config --markdown` prints it. */
#pragma once

#include <stdio.h>

/* The whole document: what a topology is, and a table of each section. */
void settings_doc_print(FILE *out);
