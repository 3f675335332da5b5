#!/usr/bin/env python3
"""Writes C from spec/verbs.txt, which describes what a store can do.

    gen_verbs.py VERBS ops OUT.h           struct store_ops, and the types and names of its functions
    gen_verbs.py VERBS faulty-names OUT.h  the verbs that tests can make fail
    gen_verbs.py VERBS faulty OUT.c        the wrapper that makes them fail
"""
import re
import sys

WIDTH = 96


class Member:
    """A member of struct store_ops: a verb, a plain function or a field."""

    def __init__(self, kind, name, text, heading):
        self.kind, self.name, self.heading = kind, name, heading
        self.text = text  # of a function its parameters, of a field its type
        self.returns = "cairn_code "
        self.is_optional = False

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
    members, heading, unfinished = [], "", ""
    for line in open(path, encoding="utf-8"):
        line = line.rstrip()
        if not line or line.startswith("#"):
            continue
        if unfinished or not line.startswith(" "):
            unfinished = f"{unfinished} {line}".strip()
            if unfinished.count("(") > unfinished.count(")"):
                continue
            line, unfinished = unfinished, ""
            if line.startswith("== "):
                heading = line[3:]
            else:
                members.append(read_member(line, heading))
    return members


def begin_file(name, what):
    return [f"/* {name} - {what}", " *",
            " * Made by scripts/gen_verbs.py from spec/verbs.txt, which says what each verb does.", " */"]


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


def fill(items, indent, end):
    """The items in lines of at most WIDTH columns, each of which ends in `end`."""
    lines = [indent]
    for item in items:
        if len(f"{lines[-1]} {item}{end}") > WIDTH:
            lines.append(indent)
        lines[-1] += (" " if lines[-1].strip() else "") + item
    return [line + end for line in lines]


def type_of(member):
    return f"store_{member.name}_fn"


def typedef(member):
    if member.kind == "plain":
        start, parts = f"typedef {member.returns}{type_of(member)}(", member.text.split(", ")
    else:
        start, parts = "VERB(", [member.name] + member.text.split(", ")
    parts = [part + "," for part in parts[:-1]] + [parts[-1] + ");"]
    parts[0] = start + parts[0]
    lines = fill(parts, "    ", "")
    return [lines[0].strip()] + lines[1:]


def ops(members):
    yield from begin_file("store/store_ops.h", "the functions of a store.  Included by store/store.h.")
    yield "#ifndef STORE_STORE_OPS_H\n#define STORE_STORE_OPS_H\n"
    yield "/* The type of a verb. */"
    yield "#define VERB(name, ...) \\"
    yield "    typedef cairn_code store_##name##_fn(struct store_tx *tx, __VA_ARGS__, cairn_error *reterr)"
    heading = None
    for member in functions(members):
        if member.heading != heading:
            heading = member.heading
            yield f"\n/* {heading[0].upper()}{heading[1:]}. */"
        yield from typedef(member)
    yield "#undef VERB\n"
    yield "/* The names of all functions but those that a store may do without. */"
    yield "#define STORE_FUNCTIONS(FUNCTION) \\"
    names = [f"FUNCTION({m.name})" for m in functions(members) if not m.is_optional]
    lines = fill(names, "    ", " \\")
    yield from lines[:-1] + [lines[-1].removesuffix(" \\")]
    yield "\nstruct store_ops {"
    yield from (f"    {m.text}{m.name};" for m in members if m.kind == "field")
    yield "#define MEMBER(name) store_##name##_fn *name;"
    yield "    STORE_FUNCTIONS(MEMBER)"
    yield "#undef MEMBER"
    yield from (f"    {type_of(m)} *{m.name}; /* NULL: the store has no use for it */"
                for m in members if m.is_optional)
    yield "};\n\n#endif"


def functions(members):
    return [m for m in members if m.kind != "field"]


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
    for member in functions(members):
        yield f"    .{member.name} = faulty_{member.name},"
    yield "};"


def main():
    path, what, *rest = sys.argv[1:]
    members = read(path)
    if what == "ops":
        lines = ops(members)
    elif what == "faulty-names":
        lines = faulty_names(members)
    elif what == "faulty":
        lines = faulty(members)
    else:
        sys.exit(__doc__)
    with open(rest[-1], "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


main()
