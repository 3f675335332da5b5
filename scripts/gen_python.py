#!/usr/bin/env python3
"""Writes the parts of the Python SDK that are made from other files:

    sdk/python/cairn/errors.py   one class for each code of spec/errors.txt
    sdk/python/cairn/_abi.py     structs, enums, defaults and prototypes of include/cairn.h

usage: gen_python.py write|check

The header is regular enough to be read without a C compiler; a declaration that this script does
not understand is an error, not a gap."""
import keyword
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGE = os.path.join(ROOT, "sdk", "python", "cairn")

# What an error is beside a CairnError, for code that catches Python's own classes.
ALSO = {"bad_input": "ValueError", "bad_json": "ValueError", "forbidden": "PermissionError",
        "not_found": "LookupError", "unreachable": "ConnectionError", "timed_out": "TimeoutError"}
BASES = {"step_failed": "StepFailedFields"}
RETRYABLE = {"busy", "unreachable", "too_many", "store_full", "closed"}
# `suspended` is no error in Python: Suspended is a BaseException.
NOT_RAISED = {"ok", "suspended"}
NOT_EXPORTED = {"store", "internal"}
OWN = ["CairnError", "Ended", "JobFailed", "JobCancelled", "InstanceFailed", "InstanceCancelled",
       "InstanceAborted", "BadPayload", "Unsupported", "Misuse", "Outcome", "Retry", "Dead", "Release",
       "WaitFor", "Stopped", "Suspended"]


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def codes():
    for line in read("spec", "errors.txt").splitlines():
        line = line.split("#")[0].strip()
        if line:
            name, number, http, meaning = line.split(None, 3)
            yield name, int(number), int(http), meaning


def class_name(code):
    """not_a_database -> NotADatabase"""
    return "".join(word.capitalize() for word in code.split("_"))


def wrapped(names, indent="    ", width=100):
    line = indent
    for name in names:
        if len(line) + len(name) + 2 > width:
            yield line.rstrip()
            line = indent
        line += name + ", "
    yield line.rstrip()


def errors_py():
    raised = [row for row in codes() if row[0] not in NOT_RAISED]
    classes = [class_name(row[0]) for row in raised]
    yield "# SPDX-License-Identifier: Apache-2.0"
    yield '"""Every error: one class for each code of the engine, and those of the SDK.'
    yield ""
    yield "scripts/gen_python.py makes this file from spec/errors.txt: do not edit it."
    yield '"""'
    yield ""
    yield "from __future__ import annotations"
    yield ""
    yield "from typing import Dict, Type"
    yield ""
    yield "from cairn._errors import ("
    yield from wrapped(sorted(OWN + list(BASES.values())))
    yield ")"
    yield ""
    yield "__all__ = ["
    yield from wrapped([f'"{name}"' for name in OWN + classes])
    yield "]"
    for code, _, http, meaning in raised:
        name = class_name(code)
        bases = [BASES.get(code, "CairnError")] + ([ALSO[code]] if code in ALSO else [])
        yield ""
        yield ""
        yield f"class {name}({', '.join(bases)}):"
        yield f'    """{meaning[0].upper() + meaning[1:]}.'
        yield ""
        yield f'    >>> {name}("a message").http_status'
        yield f"    {http}"
        yield '    """'
        yield ""
        yield f'    code = "{code}"'
        yield f"    http_status = {http}"
        if code in RETRYABLE:
            yield "    is_retryable = True"
    yield ""
    yield ""
    yield "BY_CODE: Dict[str, Type[CairnError]] = {"
    for code, _, _, _ in raised:
        yield f'    "{code}": {class_name(code)},'
    yield "}"
    yield ""
    yield "CODE_OF_NUMBER: Dict[int, str] = {"
    for code, number, _, _ in codes():
        yield f'    {number}: "{code}",'
    yield "}"
    yield ""
    yield ""
    yield "def make(code: str, message: str, detail: str = \"\", hint: str = \"\", http_status: int = 500) -> CairnError:"
    yield '    """The error for a code of the engine; an unknown code gives a plain CairnError with it.'
    yield ""
    yield '    >>> make("not_found", "no such job")'
    yield "    NotFound('no such job')"
    yield '    >>> make("from_the_future", "?").code'
    yield "    'from_the_future'"
    yield '    """'
    yield "    known = BY_CODE.get(code)"
    yield "    if known is None:"
    yield "        return CairnError(message, code=code, detail=detail, hint=hint, http_status=http_status)"
    yield "    return known(message, detail=detail, hint=hint)"


# ---- The header ----------------------------------------------------------------------------------

SCALARS = {"size_t": "c_size_t", "bool": "c_bool", "int": "c_int", "int32_t": "c_int32",
           "int64_t": "c_int64", "uint32_t": "c_uint32", "uint64_t": "c_uint64", "double": "c_double"}


class Header:
    """What cairn.h declares, as Python expressions."""

    def __init__(self):
        text = read("include", "cairn.h")
        version = re.search(r'#define CAIRN_VERSION "([^"]+)"', text)
        self.version = version.group(1)
        self.abi = re.search(r"#define CAIRN_ABI (\d+)", text).group(1)
        self.values = self.read_defaults(text)
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        text = re.sub(r"\\\n", " ", text)
        text = re.sub(r"^#.*$", "", text, flags=re.M)
        self.text = text
        enums = re.findall(r"typedef enum (\w+) \{(.*?)\}", text, flags=re.S)
        self.enums = {name: self.read_enum(body) for name, body in enums}
        self.callbacks = set(re.findall(r"typedef \w+ \(\*(\w+)\)\(", text))
        structs = re.findall(r"struct (\w+) \{(.*?)\n\}", text, flags=re.S)
        opaque = re.findall(r"typedef struct (\w+) \w+;", text)
        self.names = [name for name, _ in structs]
        self.opaque = [name for name in opaque if name not in self.names]
        self.structs = {name: list(self.read_fields(name, body)) for name, body in structs}

    @staticmethod
    def read_enum(body):
        next_value = 0
        for part in body.split(","):
            if part.strip():
                name, _, value = (word.strip() for word in part.partition("="))
                next_value = int(value, 0) if value else next_value
                yield name, next_value
                next_value += 1

    @staticmethod
    def read_defaults(text):
        """struct -> {member: value}, from the CAIRN_..._VALUES_ macros."""
        macros = dict(re.findall(r"#define (CAIRN_\w+_VALUES_)\(SET\)((?:.*\\\n)*.*)", text))
        values = {}
        for struct, macro in re.findall(r"^CAIRN_DEFAULTS_\((\w+), (\w+)\)", text, flags=re.M):
            pairs = re.findall(r"SET\((\w+), ((?:[^()]|\([^()]*\))*)\)", macros[macro])
            values[struct] = {member: value for member, value in pairs if member != "size"}
        return values

    def python_type(self, base, stars, where):
        """The ctypes expression for a C type: a name and how many stars it has."""
        if base in ("char", "void") and stars:
            inner, stars = ("c_char_p" if base == "char" else "c_void_p"), stars - 1
        elif base in SCALARS:
            inner = SCALARS[base]
        elif base in self.callbacks:
            inner = "c_void_p"
        elif base in self.names:
            inner = base
        elif base in self.opaque and stars:
            inner, stars = "c_void_p", stars - 1
        elif base.startswith("cairn_") and not stars:
            inner = "c_int"  # an enum, of this header, of cairn_codes.h or of cairn_words.h
        else:
            raise SystemExit(f"gen_python.py: cannot read the type of {where}: {base} {'*' * stars}")
        return "POINTER(" * stars + inner + ")" * stars

    def read_fields(self, struct, body):
        for declaration in body.split(";"):
            declaration = " ".join(declaration.split())
            if not declaration:
                continue
            callback = re.fullmatch(r"\w+ \(\*(\w+)\)\(.*\)", declaration)
            if callback:
                yield callback.group(1), "c_void_p"
                continue
            match = re.fullmatch(r"(?:const )?(?:struct )?(\w+) (.*)", declaration)
            for name in match.group(2).split(","):
                array = re.fullmatch(r"\s*(\w+)\[(\d+)\]", name)
                if array:
                    yield array.group(1), f"c_char * {array.group(2)}"
                else:
                    stars = name.count("*")
                    plain = name.replace("*", " ").replace("const", " ").strip()
                    yield plain, self.python_type(match.group(1), stars, f"{struct}.{plain}")

    def read_argument(self, function, argument):
        argument = " ".join(re.sub(r"\bconst\b", " ", argument).replace("*", " * ").split())
        if re.search(r"\w\[\d+\]$", argument):
            return "c_char_p"
        match = re.fullmatch(r"(\w+)((?: \*)*) (\w+)", argument)
        if not match:
            raise SystemExit(f"gen_python.py: cannot read an argument of {function}: {argument}")
        return self.python_type(match.group(1), match.group(2).count("*"), f"{function}({argument})")

    def prototypes(self):
        for returns, name, arguments in re.findall(r"CAIRN_API\s+([\w\s*]+?)(\w+)\(([^()]*)\);", self.text):
            returns = " ".join(returns.replace("const ", " ").replace("*", " * ").split())
            base, stars = returns.split()[0], returns.count("*")
            result = "None" if returns == "void" else self.python_type(base, stars, name)
            if arguments.strip() == "void":
                arguments = ""
            yield name, result, [self.read_argument(name, part) for part in arguments.split(",") if part.strip()]


def python_value(value, enums):
    if value in ("true", "false"):
        return value.capitalize()
    if value.startswith('"'):
        return "b" + value
    for values in enums.values():
        for name, number in values:
            if name == value:
                return f"{name}"
    return value


def annotation(kind):
    """What reading a field of this ctypes type gives."""
    if kind.startswith("c_char *"):
        return "bytes"
    if kind.startswith("POINTER"):
        return "Any"
    plain = {"c_char_p": "Optional[bytes]", "c_void_p": "Optional[int]", "c_bool": "bool", "c_double": "float"}
    return plain.get(kind, "int" if kind.startswith("c_") else kind)


def abi_py():
    header = Header()
    header.enums = {name: list(values) for name, values in header.enums.items()}
    prototypes = list(header.prototypes())
    body = "\n".join(f"{kind}" for fields in header.structs.values() for _, kind in fields)
    body += "\n".join(" ".join([result] + arguments) for _, result, arguments in prototypes)
    used = sorted(set(re.findall(r"\b(c_\w+|POINTER)\b", body)))
    yield "# SPDX-License-Identifier: Apache-2.0"
    yield '"""Structs, enums, defaults and prototypes of libcairn.'
    yield ""
    yield "scripts/gen_python.py makes this file from include/cairn.h: do not edit it."
    yield '"""'
    yield ""
    yield "from __future__ import annotations"
    yield ""
    yield "import ctypes"
    yield "from ctypes import ("
    yield from wrapped(sorted(used + ["Structure"], key=str.lower))
    yield ")"
    yield "from typing import Any, Dict, List, Optional, Tuple, Type, TypeVar"
    yield ""
    yield f'HEADER_VERSION = "{header.version}"'
    yield f"ABI = {header.abi}"
    for name, values in header.enums.items():
        yield ""
        for label, value in values:
            yield f"{label} = {value}"
    for name in header.names:
        yield ""
        yield ""
        yield f"class {name}(Structure):"
        for field, kind in header.structs[name]:
            if not keyword.iskeyword(field):
                yield f"    {field}: {annotation(kind)}"
    yield ""
    for name, fields in header.structs.items():
        yield ""
        yield f"{name}._fields_ = ["
        for field, kind in fields:
            yield f'    ("{field}", {kind}),'
        yield "]"
    yield ""
    yield "# What the _DEFAULTS of the header set; everything else is zero."
    yield "DEFAULTS: Dict[str, Dict[str, Any]] = {"
    for name, values in header.values.items():
        pairs = ", ".join(f'"{member}": {python_value(value, header.enums)}' for member, value in values.items())
        line = f'    "{name}": {{{pairs}}},'
        if len(line) <= 100:
            yield line
        else:
            yield f'    "{name}": {{'
            for member, value in values.items():
                yield f'        "{member}": {python_value(value, header.enums)},'
            yield "    },"
    yield "}"
    yield ""
    yield "# name -> (result, arguments)"
    yield "PROTOTYPES: Dict[str, Tuple[Any, List[Any]]] = {"
    for name, result, arguments in prototypes:
        line = f'    "{name}": ({result}, [{", ".join(arguments)}]),'
        if len(line) <= 100:
            yield line
        else:
            yield f'    "{name}": ({result}, ['
            yield from wrapped(arguments, " " * 8)
            yield "    ]),"
    yield "}"
    yield ""
    yield "STRUCTS: Dict[str, Type[Structure]] = {"
    yield from wrapped([f'"{name}": {name}' for name in header.names])
    yield "}"
    yield ""
    yield 'S = TypeVar("S", bound=Structure)'
    yield ""
    yield ""
    yield "def new(struct: Type[S], **members: Any) -> S:"
    yield '    """A struct with its defaults and its size, then with these members."""'
    yield "    values = DEFAULTS.get(struct.__name__)"
    yield "    if values is None:"
    yield "        return struct(**members)"
    yield '    return struct(**{"size": ctypes.sizeof(struct), **values, **members})'
    yield ""
    yield ""
    yield "def bind(library: ctypes.CDLL) -> List[str]:"
    yield '    """Tells ctypes the prototypes; answers the names that this library does not have."""'
    yield "    missing: List[str] = []"
    yield "    for name, (result, arguments) in PROTOTYPES.items():"
    yield "        try:"
    yield "            function = getattr(library, name)"
    yield "        except AttributeError:"
    yield "            missing.append(name)"
    yield "            continue"
    yield "        function.restype = result"
    yield "        function.argtypes = arguments"
    yield "    return missing"


def main():
    if sys.argv[1:] not in (["write"], ["check"]):
        sys.exit(__doc__)
    stale = []
    for name, lines in (("errors.py", errors_py()), ("_abi.py", abi_py())):
        path = os.path.join(PACKAGE, name)
        text = "\n".join(lines) + "\n"
        if sys.argv[1] == "write":
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
        elif not os.path.exists(path) or read("sdk", "python", "cairn", name) != text:
            stale.append(name)
    if stale:
        sys.exit(f"sdk/python/cairn: {' and '.join(stale)} not up to date; run scripts/gen_python.py write")


main()
