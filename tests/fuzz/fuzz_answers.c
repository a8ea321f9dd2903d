/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a daemon answers to seqctl. The first byte says which
 * command asks. What must hold: it ends, and a failure says why, but that of
 * `health`, whose exit codes are its answer; nothing that is printed has a
 * control character that the terminal would follow.
 */
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "ctl/commands.h"
#include "ctl/complain.h"
#include "ctl/line/line.h"
#include "fuzz/false_server.h"
#include "fuzz/fuzz.h"

#define WORDS_MAX 10

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* As typed, behind "seqctl -s PATH -t 5"; the command is `at`. */
static const struct {
    const char *words[5];
    int at;
} lines[] = {
    {{"next", "a"}, 0},
    {{"--json", "next", "a"}, 1},
    {{"number", "a", "--count", "3"}, 0},
    {{"status"}, 0},
    {{"--json", "status"}, 1},
    {{"status", "--wide"}, 0},
    {{"health"}, 0},
    {{"--json", "health"}, 1},
    {{"workers"}, 0},
    {{"show", "config"}, 0},
    {{"show", "clients"}, 0},
    {{"show", "events"}, 0},
    {{"--json", "show", "stats"}, 1},
    {{"quarantine", "main/1"}, 0},
    {{"advance", "a", "--to", "7"}, 0},
    {{"reload"}, 0},
    {{"--json", "reload"}, 1},
    {{"decode", "a", "7"}, 0},
    {{"parse", "a", "A-7"}, 0},
    {{"--json", "parse", "a", "A-7"}, 1},
};

static const struct false_server *server;
static FILE *printed; /* stdout of the commands */

/* Of a line that is `lines[i]`; the command's words begin at the result. */
static int line_make(size_t i, char *argv[WORDS_MAX])
{
    const char *const begin[] = {"seqctl", "-s", server->path, "-t", "5"};
    int count = 0;

    for (size_t j = 0; j < sizeof begin / sizeof begin[0]; j++)
        argv[count++] = (char *)(uintptr_t)begin[j];
    for (size_t j = 0; j < 5 && lines[i].words[j] != NULL; j++)
        argv[count++] = (char *)(uintptr_t)lines[i].words[j];
    argv[count] = NULL;
    return count;
}

static void check_printed(void)
{
    const long end = ftell(printed);

    require(fflush(printed) == 0 && end >= 0);
    rewind(printed);
    for (long i = 0; i < end; i++) {
        const int byte = fgetc(printed);

        require(byte == '\n' || byte == '\t' || byte >= ' ');
        require(byte != 0x7f);
    }
    rewind(printed);
    require(ftruncate(fileno(printed), 0) == 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    server = false_server_start();
    printed = tmpfile();
    require(printed != NULL);
    stdout = printed;
    complaints_gather();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ctl_options options = {.timeout_s = 5, .interval_s = 2};
    char *argv[WORDS_MAX + 1];
    enum ctl_exit result;
    int argc;

    if (size < 1 || size > FALSE_SERVER_MAX)
        return 0;
    false_server_say(bytes + 1, size - 1);
    complaint_clear();
    argc = line_make(bytes[0] % (sizeof lines / sizeof lines[0]), argv);
    optind = 0;
    require(options_read(argc, argv, &options));
    result = command_find(argv[optind])->run(&options, argv + optind + 1);
    if (strcmp(argv[optind], "health") != 0 && result != CTL_OK)
        require(complaint_text()[0] != '\0');
    check_printed();
    return 0;
}
