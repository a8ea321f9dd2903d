/* SPDX-License-Identifier: Apache-2.0 */
/* Where the sqlite engine keeps the note of a file. */
#pragma once

#define SQLITE_NOTE_SIZE 64

/* That of the file under the path, whether there is one or not. */
void sqlite_note_path(const char *file, char out[static SQLITE_NOTE_SIZE]);
