/* SPDX-License-Identifier: Apache-2.0 */
/* Where the sqlite engine keeps the note of a file. */
#pragma once

#define SQLITE_NOTE_SIZE 64

/* The path of the note of that file, whether the note exists or not. */
void sqlite_note_path(const char *file, char out[static SQLITE_NOTE_SIZE]);
