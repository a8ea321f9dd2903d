/* SPDX-License-Identifier: Apache-2.0 */
/* The process-wide logger: the only mutable global of the library. */
#include "platform/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static struct {
    pthread_mutex_t lock; /* guards the rest; one line at a time */
    void (*write)(void *context, enum seqb_log_level level, const char *line);
    void *context;
} logger = {.lock = PTHREAD_MUTEX_INITIALIZER};

void seqb_set_logger(void (*write)(void *context, enum seqb_log_level level,
                                   const char *line),
                     void *context)
{
    pthread_mutex_lock(&logger.lock);
    logger.write = write;
    logger.context = context;
    pthread_mutex_unlock(&logger.lock);
}

void log_line(enum seqb_log_level level, const char *format, ...)
{
    char line[SEQB_ERROR_TEXT_SIZE + 256];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    pthread_mutex_lock(&logger.lock);
    if (logger.write != NULL)
        logger.write(logger.context, level, line);
    pthread_mutex_unlock(&logger.lock);
}
