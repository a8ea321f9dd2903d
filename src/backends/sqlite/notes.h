/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of the notes in /dev/shm, one for each SQLite file. incarnation.h
 * says what is in one. Behind that it has the path of its SQLite file: it shows
 * whether the note was left behind.
 */
#pragma once

#include <stdbool.h>

#define SQLITE_NOTES_FOLDER     "/dev/shm"
#define SQLITE_NOTE_PATH_SIZE   96
#define SQLITE_NOTE_TEXT_SIZE   128  /* then comes the path */
#define SQLITE_NOTE_UNUSED_SECS 3600 /* younger ones are not left behind */

/* The path of the note of a SQLite file, whether there is a note or not. False
 * if the file cannot be looked at. */
bool sqlite_note_find(const char *file, char out[SQLITE_NOTE_PATH_SIZE]);

/* Adds the path of the SQLite file to its new note. */
void sqlite_note_sign(int note, const char *file);

/* Marks an open note as in use until it is closed. */
void sqlite_note_use(int note);

/*
 * Removes the notes of this user whose SQLite files are gone: nobody else would
 * before the machine is booted. Those stay that are in use, that were written
 * within the last hour, and that earlier versions made, which have no path.
 *
 * A file may be there nevertheless, where only another container sees it. It
 * gets another incarnation then, as after a boot.
 */
void sqlite_notes_sweep(void);
