/* SPDX-License-Identifier: Apache-2.0 */
/* Prints or collects seqctl's complaints; see complain.h. */
#include "ctl/complain.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ctl/ctl.h"

#define TEXT_SIZE 4096
#define CODE_SIZE 40

static struct {
    bool is_gathered;
    const char *about;
    char text[TEXT_SIZE];
    char code[CODE_SIZE];
} complaint;

void complaint_code_set(const char *code)
{
    snprintf(complaint.code, sizeof complaint.code, "%s", code);
}

void complain_about(const char *server)
{
    complaint.about = server;
}

void complaints_gather(void)
{
    complaint.is_gathered = true;
}

const char *complaint_text(void)
{
    return complaint.text;
}

const char *complaint_code(void)
{
    return complaint.code;
}

void complaint_clear(void)
{
    complaint.text[0] = '\0';
    complaint.code[0] = '\0';
}

__attribute__((format(printf, 1, 0))) static void
complaint_add(const char *format, va_list arguments)
{
    const size_t used = strlen(complaint.text);

    snprintf(complaint.text + used, TEXT_SIZE - used, "%s%s%s",
             used > 0 ? "; " : "",
             complaint.about != NULL ? complaint.about : "",
             complaint.about != NULL ? ": " : "");
    vsnprintf(complaint.text + strlen(complaint.text),
              TEXT_SIZE - strlen(complaint.text), format, arguments);
}

void ctl_complain(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (complaint.is_gathered) {
        complaint_add(format, arguments);
    } else {
        fflush(stdout); /* keeps the order of both outputs */
        fputs("seqctl: ", stderr);
        if (complaint.about != NULL)
            fprintf(stderr, "%s: ", complaint.about);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
    }
    va_end(arguments);
}
