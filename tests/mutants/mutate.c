/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a C file again with all its mutants, and lists them on stdout:
 * mutate SOURCE NAME FIRST OUT <TREE. SOURCE is the file, NAME what the list
 * calls it, FIRST the number of its first mutant, TREE what clang's
 * -ast-dump=json says of it. */
#include <stdlib.h>
#include <string.h>

#include "mutants/operators.h"

static void die(const char *what, const char *why)
{
    fprintf(stderr, "mutate: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;

    if (file == NULL)
        die(path, "cannot be opened");
    if (getdelim(&text, &room, '\0', file) < 0)
        die(path, "cannot be read, or is empty");
    (void)fclose(file);
    return text;
}

static json_t *read_tree(const char *name)
{
    json_error_t error;
    json_t *tree = json_loadf(stdin, JSON_DISABLE_EOF_CHECK, &error);

    if (tree == NULL)
        die(name, error.text);
    return tree;
}

int main(int count, char **arguments)
{
    struct operators operators = {.list = stdout};
    json_t *tree;
    char *text;
    FILE *out;

    if (count != 5)
        die("usage", "mutate SOURCE NAME FIRST OUT <TREE");
    text = read_all(arguments[1]);
    tree = read_tree(arguments[2]);
    operators.file = arguments[2];
    operators.text = text;
    operators.next = (int)strtol(arguments[3], NULL, 10);
    operators.rewrite = rewrite_new(text, operators.next);
    out = fopen(arguments[4], "w");
    if (operators.rewrite == NULL || out == NULL)
        die(arguments[4], "cannot be written");
    operators_apply(&operators, tree);
    rewrite_write(operators.rewrite, out);
    if (fclose(out) != 0)
        die(arguments[4], "cannot be written");
    rewrite_free(operators.rewrite);
    json_decref(tree);
    free(text);
    return 0;
}
