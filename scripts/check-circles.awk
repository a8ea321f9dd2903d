# SPDX-License-Identifier: Apache-2.0
#
# The search of scripts/check-circles: reads lines of "FILE: SYMBOL TYPE", as
# nm -P writes them, and prints each circle. Plain POSIX awk.

function folder_of(file)
{
    return substr(file, 1, index(file, "/") - 1)
}

# symbol[a, b] is one that file a wants of file b, which is in its folder.
function connect(    wish, part, from, to)
{
    for (wish in wanted) {
        split(wish, part, SUBSEP)
        from = part[1]
        to = definer[folder_of(from), part[2]]
        if (to == "" || to == from)
            continue
        if (!((from, to) in symbol) || part[2] < symbol[from, to])
            symbol[from, to] = part[2]
    }
}

# Finds the files that `start` reaches, the nearest first: before[] is the file
# from which each was reached.
function walk(start,    queue, head, tail, i, file)
{
    split("", before)
    queue[0] = start
    tail = 1
    for (head = 0; head < tail; head++) {
        for (i = 1; i <= file_count; i++) {
            file = files[i]
            if (!((queue[head], file) in symbol) || file in before)
                continue
            before[file] = queue[head]
            reaches[start, file] = 1
            queue[tail++] = file
        }
    }
}

# The shortest way from a file back to itself; its length is in way_length.
function way_back(start,    at, text)
{
    walk(start)
    text = start
    at = start
    way_length = 0
    do {
        text = before[at] " -" symbol[before[at], at] "-> " text
        at = before[at]
        way_length++
    } while (at != start)
    return text
}

# Whether the list of known circles has one of that folder that is not smaller
# and was not met before: the smallest such one is met now.
function is_known(folder, count,    i, pair, best, least)
{
    best = 0
    for (i = 1; i <= known_count; i++) {
        split(allowed[i], pair, "=")
        if (pair[1] == folder && pair[2] + 0 >= count && \
            (best == 0 || pair[2] + 0 < least)) {
            best = i
            least = pair[2] + 0
        }
    }
    if (best > 0)
        allowed[best] = ""
    return best > 0
}

# The circle of files[first], of which no file was met before.
function report(first,    i, file, count, names, way, shortest, closing)
{
    count = 0
    for (i = first; i <= file_count; i++) {
        file = files[i]
        if (!((files[first], file) in reaches && (file, files[first]) in reaches))
            continue
        met[file] = 1
        names = names " " file
        count++
        way = way_back(file)
        if (count == 1 || way_length < shortest) {
            shortest = way_length
            closing = way
        }
    }
    if (is_known(folder_of(files[first]), count))
        return
    printf "src/%s: a circle of %d files:%s; the shortest way round: %s\n", \
        folder_of(files[first]), count, names, closing
    found = 1
}

{
    file = $1
    sub(/:$/, "", file)
    if (!(file in listed)) {
        listed[file] = 1
        files[++file_count] = file
    }
    if ($3 ~ /^[BCDGRSTVW]$/)
        definer[folder_of(file), $2] = file
    else if ($3 == "U")
        wanted[file, $2] = 1
}

END {
    if (file_count == 0) {
        print "check-circles: there is no object of a file of src/"
        exit 1
    }
    known_count = split(known, allowed)
    connect()
    for (i = 1; i <= file_count; i++)
        walk(files[i])
    for (i = 1; i <= file_count; i++) {
        if ((files[i], files[i]) in reaches && !(files[i] in met))
            report(i)
    }
    for (i = 1; i <= known_count; i++) {
        if (allowed[i] == "")
            continue
        printf "scripts/check-circles: there is no circle any more for " \
            "\"%s\" in its list: remove it\n", allowed[i]
        found = 1
    }
    exit found
}
