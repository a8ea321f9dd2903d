/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing the memory, and the registers, of a server that stands
 * still. */
#include "support/server_memory.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/text.h"
#include "support/server_kind.h"
#include "support/test.h"

#define PARTS_MAX      1024
#define THREADS_MAX    64
#define REGISTERS_SIZE 1024

struct part {
    off_t at;
    size_t size;
    char *bytes;
};

struct thread {
    pid_t id;
    size_t size;
    char registers[REGISTERS_SIZE];
};

struct server_memory {
    size_t threads_count;
    struct thread threads[THREADS_MAX];
    size_t count;
    struct part parts[PARTS_MAX];
};

static int process_open(const struct server *server, const char *name,
                        int flags)
{
    char path[64];
    int fd;

    (void)text_format(path, sizeof path, "/proc/%d/%s", (int)server->pid, name);
    fd = open(path, flags | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

/* What is private and written to, by the lines of /proc/PID/maps. */
static void parts_find(const struct server *server,
                       struct server_memory *memory)
{
    FILE *maps = fdopen(process_open(server, "maps", O_RDONLY), "r");
    char line[512];

    assert_non_null(maps);
    while (fgets(line, sizeof line, maps) != NULL) {
        uint64_t from;
        uint64_t to;
        char rights[8];

        assert_int_equal(
            sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &from, &to, rights), 3);
        if (strcmp(rights, "rw-p") != 0)
            continue;
        assert_true(memory->count < PARTS_MAX);
        memory->parts[memory->count++] =
            (struct part){.at = (off_t)from, .size = (size_t)(to - from)};
    }
    (void)fclose(maps);
}

static void part_read(int fd, struct part *part)
{
    part->bytes = malloc(part->size);
    assert_non_null(part->bytes);
    assert_int_equal(pread(fd, part->bytes, part->size, part->at), part->size);
}

/* --- its threads --- */

static size_t threads_list(const struct server *server,
                           struct thread out[static THREADS_MAX])
{
    char path[64];
    const struct dirent *entry;
    size_t n = 0;
    DIR *folder;

    (void)text_format(path, sizeof path, "/proc/%d/task", (int)server->pid);
    folder = opendir(path);
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        assert_true(n < THREADS_MAX);
        out[n++] = (struct thread){.id = atoi(entry->d_name)};
    }
    closedir(folder);
    return n;
}

static void thread_await_rest(const struct server *server, pid_t id)
{
    char name[64];
    char state = 'R';

    (void)text_format(name, sizeof name, "task/%d/stat", (int)id);
    while (state != 'S') {
        const int fd = process_open(server, name, O_RDONLY);
        char line[256] = "";

        assert_true(read(fd, line, sizeof line - 1) > 0);
        close(fd);
        state = strrchr(line, ')')[2];
    }
}

/* All of them stand still, each in the call that it rests in. */
static void threads_stop(const struct server *server,
                         struct server_memory *stopped)
{
    stopped->threads_count = threads_list(server, stopped->threads);
    for (size_t i = 0; i < stopped->threads_count; i++) {
        const pid_t id = stopped->threads[i].id;
        int state;

        thread_await_rest(server, id);
        assert_int_equal(ptrace(PTRACE_SEIZE, id, NULL, NULL), 0);
        assert_int_equal(ptrace(PTRACE_INTERRUPT, id, NULL, NULL), 0);
        assert_int_equal(waitpid(id, &state, __WALL), id);
        assert_true(WIFSTOPPED(state));
    }
}

static void threads_release(const struct server_memory *stopped)
{
    for (size_t i = 0; i < stopped->threads_count; i++)
        assert_int_equal(
            ptrace(PTRACE_DETACH, stopped->threads[i].id, NULL, NULL), 0);
}

static void registers_read(struct thread *thread)
{
    struct iovec room = {thread->registers, sizeof thread->registers};

    assert_int_equal(
        ptrace(PTRACE_GETREGSET, thread->id, (void *)NT_PRSTATUS, &room), 0);
    thread->size = room.iov_len;
}

/* Of a thread that is there still. */
static void registers_write(struct thread thread)
{
    struct iovec room = {thread.registers, thread.size};

    assert_int_equal(
        ptrace(PTRACE_SETREGSET, thread.id, (void *)NT_PRSTATUS, &room), 0);
}

/* --- the memory --- */

struct server_memory *server_memory_save(struct server *server)
{
    struct server_memory *memory = calloc(1, sizeof *memory);
    int fd;

    assert_non_null(memory);
    threads_stop(server, memory);
    fd = process_open(server, "mem", O_RDONLY);
    parts_find(server, memory);
    for (size_t i = 0; i < memory->count; i++)
        part_read(fd, &memory->parts[i]);
    for (size_t i = 0; i < memory->threads_count; i++)
        registers_read(&memory->threads[i]);
    close(fd);
    threads_release(memory);
    return memory;
}

void server_memory_put_back(struct server *server,
                            const struct server_memory *memory)
{
    struct server_memory now;
    int fd;

    threads_stop(server, &now);
    assert_int_equal(now.threads_count, memory->threads_count);
    fd = process_open(server, "mem", O_RDWR);
    for (size_t i = 0; i < memory->count; i++) {
        const struct part *part = &memory->parts[i];

        assert_int_equal(pwrite(fd, part->bytes, part->size, part->at),
                         part->size);
    }
    for (size_t i = 0; i < memory->threads_count; i++)
        registers_write(memory->threads[i]);
    close(fd);
    threads_release(memory);
}

void server_memory_free(struct server_memory *memory)
{
    if (memory == NULL)
        return;
    for (size_t i = 0; i < memory->count; i++)
        free(memory->parts[i].bytes);
    free(memory);
}

static int part_replace(int fd, const struct part *part, int64_t from,
                        int64_t to)
{
    int found = 0;

    for (size_t i = 0; i + sizeof from <= part->size; i += sizeof from) {
        if (memcmp(part->bytes + i, &from, sizeof from) != 0)
            continue;
        assert_int_equal(pwrite(fd, &to, sizeof to, part->at + (off_t)i),
                         sizeof to);
        found++;
    }
    return found;
}

void server_memory_replace(struct server *server, int64_t from, int64_t to)
{
    struct server_memory *memory = server_memory_save(server);
    const int fd = process_open(server, "mem", O_RDWR);
    int found = 0;

    for (size_t i = 0; i < memory->count; i++)
        found += part_replace(fd, &memory->parts[i], from, to);
    close(fd);
    server_memory_free(memory);
    assert_true(found > 0);
    server_forget_admin(server); /* its session has the number of before */
}
