#!/usr/bin/env python3
"""Writes C from spec/verbs.txt, which describes what a store can do.

    gen_verbs.py VERBS ops OUT.h              struct store_ops and the types of its functions
    gen_verbs.py VERBS prototypes STORE OUT.h the functions of one back end
    gen_verbs.py VERBS table STORE OUT.c      and the struct store_ops that holds them
    gen_verbs.py VERBS faulty-names OUT.h     the verbs that tests can make fail
    gen_verbs.py VERBS faulty OUT.c           the wrapper that makes them fail
"""
import re
import sys
import textwrap

WIDTH = 96


class Member:
    """A member of struct store_ops: a verb, a plain function or a field."""

    def __init__(self, kind, name, text, heading):
        self.kind, self.name, self.heading = kind, name, heading
        self.text = text  # of a function its parameters, of a field its type
        self.returns = "cairn_code "
        self.is_optional = False
        self.comment = []

    def parameters(self):
        if self.kind == "plain":
            return self.text
        return ", ".join(filter(None, ["struct store_tx *tx", self.text, "cairn_error *reterr"]))

    def arguments(self):
        """The names of the parameters between tx and reterr."""
        return [re.search(r"\w+$", p).group() for p in self.text.split(",") if p.strip()]

    def is_for_writers(self):
        return self.heading.endswith("(writers only)")


def die(line, why):
    sys.exit(f"gen_verbs.py: {why}: {line}")


def read_store(line):
    name, *settings = line.split()[1:]
    fields, without = {"name": f'"{name}"'}, []
    for setting in settings:
        key, value = setting.split("=")
        if key == "without":
            without += value.split(",")
        else:
            fields[key] = value
    return name, (fields, without)


def read_member(line, heading):
    line = " ".join(line.split())
    found = re.fullmatch(r"field (.+?)(\w+)", line)
    if found:
        return Member("field", found[2], found[1], heading)
    found = re.fullmatch(r"plain (.+?)(\w+)\((.*)\)", line)
    if found:
        member = Member("plain", found[2], found[3], heading)
        member.returns = found[1]
        return member
    found = re.fullmatch(r"(\w+)(\??)\((.*)\)", line)
    if not found:
        die(line, "cannot read this line")
    member = Member("verb", found[1], found[3], heading)
    member.is_optional = found[2] == "?"
    return member


def read(path):
    stores, members, heading, unfinished = {}, [], "", ""
    for line in open(path, encoding="utf-8"):
        line = line.rstrip()
        if not line or line.startswith("#"):
            continue
        if unfinished or not line.startswith(" "):
            unfinished = f"{unfinished} {line}".strip()
            if unfinished.count("(") > unfinished.count(")"):
                continue
            line, unfinished = unfinished, ""
            if line.startswith("store "):
                name, store = read_store(line)
                stores[name] = store
            elif line.startswith("== "):
                heading = line[3:]
            else:
                members.append(read_member(line, heading))
        elif members:
            members[-1].comment.append(line.strip())
        else:
            die(line, "a comment of nothing")
    return stores, members


def begin_file(name, what):
    return [f"/* {name} - {what}", " *", " * Made by scripts/gen_verbs.py from spec/verbs.txt.", " */"]


def wrap(head, parts, tail):
    """head(part, part, ...)tail in lines of at most WIDTH columns, aligned after the parenthesis."""
    indent = " " * (len(head) + 1)
    lines, line = [], head + "("
    for i, part in enumerate(parts):
        last = i == len(parts) - 1
        part += ")" + tail if last else ","
        glue = "" if line.endswith("(") or line == indent else " "
        if len(line) + len(glue) + len(part) > WIDTH:
            lines.append(line)
            line, glue = indent, ""
        line += glue + part
    return lines + [line]


def wrap_comment(comment, indent=""):
    text = indent + "/* " + re.sub(r"\.  ?", ".  ", " ".join(comment))
    lines = textwrap.wrap(text, WIDTH - len(" */"), subsequent_indent=indent + " * ",
                          break_on_hyphens=False, break_long_words=False)
    lines[-1] += " */"
    return lines


def type_of(member):
    return f"store_{member.name}_fn"


def ops(members):
    yield from begin_file("store/store_ops.h", "what a store can do.  Included by store/store.h.")
    yield "#ifndef STORE_STORE_OPS_H\n#define STORE_STORE_OPS_H"
    heading = None
    for member in members:
        if member.kind == "field":
            continue
        if member.heading != heading:
            heading = member.heading
            yield f"\n/* ---- {heading} " + "-" * (86 - len(heading)) + " */"
        yield ""
        comment = list(member.comment)
        if member.is_optional:
            comment.append("NULL: the store has no use for it.")
        if comment:
            yield from wrap_comment(comment)
        yield from wrap(f"typedef {member.returns}{type_of(member)}",
                        member.parameters().split(", "), ";")
    yield "\nstruct store_ops {"
    for member in members:
        if member.kind == "field":
            if member.comment:
                yield from wrap_comment(member.comment, "    ")
            yield f"    {member.text}{member.name};"
        else:
            yield f"    {type_of(member)} *{member.name};"
    yield "};\n\n#endif"


def functions(members, without):
    return [m for m in members if m.kind != "field" and m.name not in without]


def prototypes(members, name, store):
    guard = f"STORE_{name.upper()}_{name.upper()}_VERBS_H"
    yield from begin_file(f"store/{name}/{name}_verbs.h", "the functions that make up this back end.")
    yield f"#ifndef {guard}\n#define {guard}\n\n#include \"store/store.h\"\n"
    for member in functions(members, store[1]):
        yield f"{type_of(member)} {name}_{member.name};"
    yield "\n#endif"


def table(members, name, store):
    fields, without = store
    yield from begin_file(f"store/{name}/{name}_verbs.c", "the table of this back end.")
    yield f'#include "store/{name}/{name}_verbs.h"\n'
    yield f"const struct store_ops {name}_store_ops = {{"
    for key, value in fields.items():
        yield f"    .{key} = {value},"
    for member in functions(members, without):
        yield f"    .{member.name} = {name}_{member.name},"
    yield "};"


def faulty_names(members):
    yield from begin_file("faulty_names.h", "the verbs that can be made to fail.")
    yield "#ifndef FAULTY_NAMES_H\n#define FAULTY_NAMES_H\n"
    yield "enum faulty_verb {"
    yield "    FAULTY_ANY, /* whichever is called; counted over all of them */"
    for name in ["session_open", "begin", "commit"] + [m.name for m in verbs(members)]:
        yield f"    FAULTY_{name.upper()},"
    yield "    FAULTY_VERB_COUNT\n};\n\n#endif"


def verbs(members):
    return [m for m in members if m.kind == "verb"]


def faulty_function(member):
    name = member.name
    enter = "faulty_enter_as_writer" if member.is_for_writers() else "faulty_enter"
    call = f"call.ops->{name}(" + ", ".join(["call.inner"] + member.arguments() + ["reterr);"])
    yield ""
    yield from wrap(f"static cairn_code faulty_{name}", member.parameters().split(", "), "")
    yield "{"
    yield f"    struct faulty_call call = {enter}(tx, FAULTY_{name.upper()}, reterr);"
    yield "    if (!call.code)"
    if len(f"        call.code = {call}") <= WIDTH:
        yield f"        call.code = {call}"
    else:
        yield f"        call.code =\n            {call}"
    yield "    return faulty_leave(&call, reterr);"
    yield "}"


def faulty(members):
    yield from begin_file("faulty_verbs.c", "each verb passed on to the inner store, unless it must fail.")
    yield '#include "faulty/pass.h"'
    for member in verbs(members):
        yield from faulty_function(member)
    yield "\nconst char *const faulty_verb_names[FAULTY_VERB_COUNT] = {"
    yield '    "any verb",'
    for name in ["session_open", "begin", "commit"] + [m.name for m in verbs(members)]:
        yield f'    "{name}",'
    yield "};\n\nconst struct store_ops faulty_ops = {"
    for member in functions(members, []):
        yield f"    .{member.name} = faulty_{member.name},"
    yield "};"


def main():
    path, what, *rest = sys.argv[1:]
    stores, members = read(path)
    if what == "ops":
        lines = ops(members)
    elif what == "prototypes":
        lines = prototypes(members, rest[0], stores[rest[0]])
    elif what == "table":
        lines = table(members, rest[0], stores[rest[0]])
    elif what == "faulty-names":
        lines = faulty_names(members)
    elif what == "faulty":
        lines = faulty(members)
    else:
        sys.exit(__doc__)
    with open(rest[-1], "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


main()
