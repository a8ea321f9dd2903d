/* SPDX-License-Identifier: Apache-2.0 */
/* Files with secrets; see secret.h. */
#include "store/secret.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/error.h"
#include "platform/file.h"

#define SECRET_FILE_MAX 4096 /* bytes */
#define OTHERS          077  /* mode bits of group and others */

bool secret_is_private(const char *path)
{
    struct stat about;

    return stat(path, &about) != 0 || (about.st_mode & OTHERS) == 0;
}

void secret_free(char *text)
{
    if (text != NULL)
        explicit_bzero(text, strlen(text));
    free(text);
}

/* The secret is the first line; more lines are a mistake. */
static bool is_one_line(const char *text, size_t *length)
{
    *length = strcspn(text, "\r\n");
    return *length > 0 && text[*length + strspn(text + *length, "\r\n")] == 0;
}

enum seqb_status secret_read(const char *path, const char *what, char **out,
                             struct seqb_error *err)
{
    size_t length;
    char *text;

    if (file_read(path, SECRET_FILE_MAX, &text, err) != SEQB_OK) {
        err->status = SEQB_REFUSED;
        return err->status;
    }
    if (!is_one_line(text, &length))
        (void)error_set(err, SEQB_REFUSED, "%s must hold one line, the %s",
                        path, what);
    else if (!secret_is_private(path))
        (void)error_set(err, SEQB_REFUSED,
                        "others may read the %s file %s: chmod 600 it", what,
                        path);
    else {
        text[length] = '\0';
        *out = text;
        return SEQB_OK;
    }
    secret_free(text);
    return err->status;
}
