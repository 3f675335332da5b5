#!/usr/bin/env python3
"""Makes everything that names routes and JSON fields from spec/objects.txt and spec/operations.txt.

usage: gen_api.py c OBJECTS OPERATIONS OUTPUT          the tables in C
       gen_api.py ops OBJECTS OPERATIONS OUTPUT        enum request_op
       gen_api.py openapi OBJECTS OPERATIONS JSON ASM  the OpenAPI document, and how to embed it
       gen_api.py write | check                        spec/openapi.json and the table of routes in
                                                       docs/http.md: written, or compared

The two text files say what their lines mean."""
import hashlib
import json
import pathlib
import re
import sys

import rows

ROOT = pathlib.Path(__file__).resolve().parent.parent
BATCH_MAX = 1000  # max_batch of an engine, if it is not set
WORDS = {words.name: [text for _, text, _ in words.words] for words in rows.read_words()}
DIRECTIVES = {"does", "text", "roles", "request", "path", "query", "body", "answer", "accepted", "created",
              "fails", "failed", "repeat", "waits", "by hand"}


def fail(message):
    sys.exit(f"gen_api.py: {message}")


# ---- reading the descriptions ------------------------------------------------------------------

class Field:
    """A field of an object, or the inclusion of another object's fields (kind "+" or "+?")."""

    def __init__(self, line, where):
        text, _, self.description = (part.strip() for part in line.partition("|"))
        self.words = self.member = self.count = self.object = self.coded = None
        self.least = self.most = self.default = self.unset = self.entries = None
        enum = re.search(r"\{([^}]*)\}", text)
        if enum:
            self.words = [word.strip() for word in enum.group(1).split(",")]
            text = text.replace(enum.group(0), " ")
        member = re.search(r"= ([\w.]+)(?:, ([\w.]+))?", text)
        if member:
            self.member, self.count = member.groups()
            text = text.replace(member.group(0), " ")
        kind = re.match(r"(\S+)\s+((?:list|pointers|object|ref)\([^)]*\)|\w+)(\??)(.*)$", text)
        if not kind:
            fail(f"{where}: cannot read \"{line}\"")
        self.name, self.kind, nullable, rest = kind.groups()
        self.is_nullable = nullable == "?"
        if "(" in self.kind:
            self.kind, self.object = self.kind[:-1].split("(")
        if self.name in ("+", "+?"):
            self.name, self.kind, self.object = None, self.name, self.kind
        self.read_words(rest.split(), where)
        if self.kind == "limit":
            self.least, self.most, self.default = 1, "1000", 100
        self.is_needed = not (self.is_nullable or self.is_optional or self.kind == "json")

    def read_words(self, words, where):
        self.is_optional = self.is_echo = self.is_nonempty = False
        self.is_integer = self.is_by_hand = self.is_unchecked = self.is_rare = self.takes_unset = False
        while words:
            word = words.pop(0)
            if word in ("optional", "echo", "nonempty", "by_hand", "unchecked", "rare", "integer"):
                setattr(self, "is_" + word, True)
            elif word in ("of", "coded"):
                self.coded = words.pop(0)
                self.words = WORDS[self.coded] if word == "of" else None
            elif word == "from":
                self.least = int(words.pop(0))
            elif word == "to":
                self.most = words.pop(0)
            elif word == "default":
                self.default = json.loads(words.pop(0))
            elif word in ("unset", "or"):
                self.unset, self.takes_unset = int(words.pop(0)), word == "or"
            elif word == "entries":
                self.entries = (int(words.pop(0)), words[1])
                del words[:2]
            else:
                fail(f"{where}: \"{word}\" in {self.name} is unknown")


class Object:
    def __init__(self, role, name, struct):
        self.role, self.name, self.struct = role, name, struct
        self.description, self.fields, self.any_of = "", [], []
        self.ignored = []  # of the body of a PUT: what only the server sets
        self.item = self.key = None  # of pages and lists
        self.is_endless = self.is_scanned = self.is_counted = False

    def variable(self):
        return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", self.name).lower() + "_object"


def lines_of(path):
    """The lines that say something, each with whether it is indented, and its place."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield line[0] == " ", line.strip(), f"{path.name}:{number}"


def read_head(line, where):
    listed = re.match(r"(page|list) (\w+) of (\w+)(?: as (\w+))?( without end)?( scanned)?( counted)?$", line)
    if listed:
        made = Object(listed.group(1), listed.group(2), None)
        made.item, made.key = listed.group(3), listed.group(4) or "items"
        made.is_endless, made.is_scanned = bool(listed.group(5)), bool(listed.group(6))
        made.is_counted = bool(listed.group(7))
        return made
    head = re.match(r"(answer|request|query|part) (\w+)(?:: (.+))?$", line)
    if not head:
        fail(f"{where}: cannot read \"{line}\"")
    return Object(*head.groups())


def read_objects(path):
    objects, pending = {}, []
    for is_indented, line, where in lines_of(path):
        if not is_indented:
            current = read_head(line, where)
            objects[current.name] = current
        elif line.startswith("|") and not pending_of(pending, current):
            current.description = f"{current.description} {line[1:].strip()}".strip()
        elif line.startswith("|"):
            pending[-1][1] += (" | " if "|" not in pending[-1][1] else " ") + line[1:].strip()
        elif line.startswith("any of "):
            current.any_of = line.split()[2:]
        else:
            pending.append([current, line, where])
    for owner, line, where in pending:
        owner.fields.append(Field(line, where))
    return objects


def pending_of(pending, current):
    return pending and pending[-1][0] is current


class Operation:
    def __init__(self, method, path, name, tag):
        self.method, self.path, self.name, self.tag = method, path, name, tag
        self.said = {}  # directive: list of texts

    def first(self, directive, otherwise=""):
        return self.said.get(directive, [otherwise])[0]

    def roles(self):
        return [role.strip() for role in self.first("roles").split(";")[0].split(",")]

    def placed(self, directive):
        """Of "NAME = PLACE | DESCRIPTION": the three, "" for what is not said."""
        text, _, description = self.first(directive).partition("|")
        name, _, place = text.partition("=")
        return name.strip(), place.strip(), description.strip()


def read_operations(path):
    tags, operations, directive = {}, [], None
    for is_indented, line, where in lines_of(path):
        if line.startswith("tag ") and not is_indented:
            tag, _, text = (part.strip() for part in line[4:].partition("|"))
            tags[tag] = text
        elif not is_indented:
            head = re.match(r"([A-Z]+) (/\S*) (\w+)$", line)
            if not head:
                fail(f"{where}: cannot read \"{line}\"")
            operations.append(Operation(*head.groups(), tag))
        else:
            said = re.match(r"(by hand|\w+)\s+(.*)$", line)
            if said and said.group(1) in DIRECTIVES:
                directive = operations[-1].said.setdefault(said.group(1), [])
                directive.append(said.group(2))
            else:
                directive[-1] += " " + line  # a text of several lines
    return tags, operations


def names_of(one, objects):
    """The names of its fields, those that it includes too."""
    inner = [name for field in one.fields if field.name is None for name in names_of(objects[field.object], objects)]
    return inner + [field.name for field in one.fields if field.name is not None]


def ignore_answers(objects, operations):
    """What GET answers PUT accepts: of its body the members of the answer that only the server sets are ignored."""
    for operation in operations:
        body, answer = operation.placed("body")[0], operation.placed("answer")[0]
        if operation.method == "PUT" and body in objects:
            taken = names_of(objects[body], objects)
            objects[body].ignored = [name for name in names_of(objects[answer], objects) if name not in taken]


# ---- C -----------------------------------------------------------------------------------------

KINDS = {"int32": "INT", "int64": "INT", "uint32": "UINT", "uint64": "UINT", "cursor": "TEXT",
         "limit": "UINT", "json_object": "JSON"}
LARGEST = {"int32": "INT32_MAX"}  # of uint32 any: more is cut to what fits
UNCHECKED = {"place", "maybe", "int32", "int64", "uint32", "uint64", "number", "bool", "limit", "cursor"}


def c_number(value):
    if value == "batch":
        return "MOST_IN_BATCH"
    value = int(value)
    names = {2**31 - 1: "INT32_MAX", 2**32 - 1: "UINT32_MAX"}
    return names.get(value, f"INT64_C({value})" if abs(value) >= 2**31 else str(value))


def c_limits(field):
    said = []
    if field.kind in ("int32", "int64", "uint32", "uint64", "limit"):
        most = c_number(field.most) if field.most else LARGEST.get(field.kind, "INT64_MAX")
        said = [field.least or 0, most]
    elif field.kind in ("texts", "list", "pointers"):
        least, most = field.entries or (0, "batch")
        said = [least if field.is_needed else 0, c_number(most)]
    fallback = field.unset if field.default is None else int(field.default)
    if said:
        return [f"LIMITS({said[0]}, {said[1]}, {fallback or 0})"] + [".takes_unset = true"] * field.takes_unset
    return [f".fallback = {fallback}"] if fallback else []


def c_field(field, owner, objects):
    """One row of a table; None: it is by hand."""
    if field.is_by_hand or field.kind in ("latch", "map", "numbers"):
        return None
    if field.name is None:
        inner = objects[field.object]
        kind = "FIELD_PART" if field.kind == "+?" else "FIELD_FIELDS"
        at = [f".offset = offsetof({owner.struct}, {field.member})"] if field.member else []
        return [f".kind = {kind}", f".inner = &{inner.variable()}"] + at
    member = field.member or field.name + ("_us" if field.kind == "time" else "")
    kind = KINDS.get(field.kind, field.kind.upper())
    said = [f'FIELD({owner.struct}, {member}, {kind}, "{field.name}")']
    if field.kind == "object":  # its fields are members of the same struct
        said = [f'.name = "{field.name}"', ".kind = FIELD_OBJECT"]
    is_checked = field.kind not in UNCHECKED and not field.is_unchecked
    if field.is_needed and (owner.role == "request" or is_checked):
        said.append("NEEDED")
    if field.kind == "json_object":
        said.append(".is_object = true")
    if field.is_echo:
        said.append(".is_echo = true")
    if field.is_rare:
        said.append(".is_rare = true")
    if field.object:
        said.append(f".inner = &{objects[field.object].variable()}")
    if field.kind in ("texts", "list", "pointers"):
        count = field.count or f"{member.removesuffix('s')}_count"
        said.append(f"COUNT({owner.struct}, {count})")
    if field.kind in ("choice", "flag"):
        words = ", ".join(f'"{word}"' for word in field.words)
        said.append(f"WORDS({words})")
    if field.coded and owner.role == "answer":
        said.append(f"CODED({owner.struct}, {member}_code, {field.coded})")
    if owner.role in ("request", "part", "query"):
        said += c_limits(field)
    return said


def fill(said, indent, width=96):
    """Items, separated by commas, in lines that are not too long."""
    lines, line = [], ""
    for item in said:
        if line and len(indent) + len(line) + len(item) + 2 > width:
            lines.append(indent + line.rstrip())
            line = ""
        line += item + ", "
    return lines + [indent + line.rstrip()]


def row_of(said):
    lines = fill(said, "     ")
    lines[0] = "    {" + lines[0].strip()
    lines[-1] = lines[-1].rstrip(",") + "},"
    return lines


def c_object(one, objects):
    rows = [row for row in (c_field(field, one, objects) for field in one.fields) if row]
    size = f"sizeof({one.struct})" if one.struct != "struct request" else "0"
    out = [f"const struct object {one.variable()} = {{{size}, {len(rows)}, (const struct field[]){{"]
    for row in rows:
        out += row_of(row)
    ignored = ", ".join(f'"{name}"' for name in one.ignored)
    return out + [f"}}, (const char *const[]){{{ignored}, NULL}}}};" if ignored else "}, NULL};"]


def c_order(objects):
    """Objects with a table, those that others name first."""
    ordered = []

    def visit(one):
        if one in ordered or not one.struct:
            return
        for field in one.fields:
            if field.object and not field.is_by_hand:
                visit(objects[field.object])
        ordered.append(one)

    for one in objects.values():
        visit(one)
    return ordered


def c_roles(operation):
    roles = operation.roles()
    if roles in (["none"], ["any"]):
        return {"none": "0", "any": "ROLE_ANY"}[roles[0]]
    return " | ".join(["ROLE_OPERATE"] + [f"ROLE_{role.upper()}" for role in roles if role != "operate"])


def is_written_by_hand(operation):
    return operation.first("by hand", "-, -").split(", ")[1] != "-"


def c_answer(operation, objects):
    name, place, _ = operation.placed("created" if "created" in operation.said else "answer")
    if is_written_by_hand(operation):
        return []
    name, _, row = name.partition(" or ")
    made = objects[name]
    variable = objects[made.item or name].variable()
    if made.role == "page":
        said = [f"ANSWER(PAGE, {variable})"] + ([".is_endless = true"] if made.is_endless else [])
        said += [".is_scanned = true"] if made.is_scanned else []
        said += [".is_counted = true"] if made.is_counted else []
        return said + ([f".row = &{objects[objects[row].item].variable()}"] if row else [])
    if made.role == "list":
        return [f"ANSWER(LIST, {variable})", f'.list = "{made.key}"']
    if place.endswith("[0]"):
        place = place[:-3].replace("out.page", "out.page.items")
        return [f"ANSWER_AT({place}, ITEM, {variable})"]
    return [f"ANSWER_AT({place}, OBJECT, {variable})" if place else f"ANSWER(OBJECT, {variable})"]


def c_inputs(operation, objects):
    said = []
    params = [text.partition("|")[0].partition("=")[2].strip() for text in
              operation.said.get("path", [])]
    texts = [f"AT({place})" for place in params if place and not place.startswith("number ")]
    if texts:
        said.append(f".params = {{{', '.join(texts)}}}")
    said += [f".number = AT({place[7:]})" for place in params if place.startswith("number ")]
    for directive in ("query", "body"):
        name, place, _ = operation.placed(directive)
        if name in objects and objects[name].struct:
            said.append(f"{directive.upper()}({place}, {objects[name].variable()})" if place else
                        f".{directive} = &{objects[name].variable()}")
    return said


def c_repeat(operation):
    """Whether it may be sent again, and where the key is that this depends on."""
    repeat = operation.first("repeat")
    if repeat.startswith("with "):
        return "WITH_KEY", [f".key = AT({repeat[5:]})"]
    return repeat.upper().replace(" ", "_"), []


def c_operation(operation, objects):
    op = operation.first("request")
    repeat, key = c_repeat(operation)
    said = [f'ROUTE("{operation.method}", "{operation.path}", '
            f"{'OP_COUNT' if op == 'none' else op}, {c_roles(operation)}, {repeat})"]
    said += key + c_inputs(operation, objects)
    if "created" in operation.said:
        said.append(".is_creating = true")
    said += c_answer(operation, objects)
    if "waits" in operation.said:
        said.append(f".wait_ms = {operation.first('waits')}")
    if operation.placed("answer")[0] == "raw":
        said.append(".is_download = true")
    if "failed" in operation.said:
        said.append(f".failed_status = {operation.first('failed')}")
    for name, function in zip(("read", "write"), operation.first("by hand", "-, -").split(", ")):
        if function != "-":
            said.append(f".{name} = {function}")
    return row_of(said)


def make_c(objects, operations):
    out = ["/* Made by scripts/gen_api.py from spec/objects.txt and spec/operations.txt. */",
           '#include "api/api.h"', ""]
    for one in c_order(objects):
        out += c_object(one, objects)
    out.append("const struct operation operations[] = {")
    for operation in operations:
        out += c_operation(operation, objects)
    out += ["};", f"const size_t operation_count = {len(operations)};", ""]
    return "\n".join(out)


def make_ops(operations):
    """The requests of the engine: those that write, then those that read (GET)."""
    described = {}
    for operation in operations:
        op = operation.first("request")
        places = [operation.said["path"][0]] if "path" in operation.said else []
        places += operation.said.get("query", []) + operation.said.get("body", [])
        placed = [re.search(r"= (?:number )?(in\.\w+)", place) for place in places]
        said = sorted({place.group(1) for place in placed if place})
        if op != "none" and op not in described:
            described[op] = (operation.method == "GET", ", ".join(said), operation)
    reads = [op for op, (is_read, _, _) in described.items() if is_read]
    order = [op for op in described if op not in reads] + reads
    out = ["/* Made by scripts/gen_api.py from spec/operations.txt. */", "#ifndef REQUEST_OP_H",
           "#define REQUEST_OP_H", "", "enum request_op {"]
    for op in order:
        _, places, operation = described[op]
        out.append(f"    {op}, /* {operation.method} {operation.path}{places and ': ' + places} */")
    out += ["    OP_BULK_STEP, OP_RETENTION_STEP, /* the engine's own */", "    OP_COUNT", "};", "", "#endif", ""]
    return "\n".join(out)


# ---- OpenAPI -----------------------------------------------------------------------------------

RESPONSES = {
    400: ("BadRequest", "A field or parameter is missing, unknown, of the wrong type or out of range, or "
                        "the body is not JSON."),
    401: ("Unauthorized", "No token, or an unknown one."),
    403: ("Forbidden", "The token's role does not allow this."),
    404: ("NotFound", "It does not exist."),
    409: ("Conflict", "Its state does not allow this, or the lease is lost, or another runtime owns the "
                      "type."),
    413: ("TooLarge", "Beyond a limit; nothing was written."),
    429: ("TooMany", "More at once than is allowed; try again later."),
    503: ("Unavailable", "The store cannot be reached or written to, or the server is closing; try again "
                         "later."),
}
BODIES = {"workflow": {"application/yaml": {"schema": {"type": "string"}},
                       "application/json": {"schema": {"type": "object"}}},
          "stream": {"text/event-stream": {"schema": {"type": "string"}}},
          "metrics": {"text/plain": {"schema": {"type": "string"}}},
          "raw": {"application/json": {"schema": {}}},
          "document": {"application/json": {"schema": {"type": "object"}}}}
TYPES = {"bool": "boolean", "maybe": "boolean", "place": "integer", "int32": "integer", "int64": "integer", "uint32": "integer",
         "uint64": "integer", "fraction": "number", "texts": "array", "list": "array", "pointers": "array",
         "json_object": "object", "map": "object", "numbers": "array"}


def reference(kind, name):
    return {"$ref": f"#/components/{kind}/{name}"}


def one_of(names, word="oneOf"):
    made = [reference("schemas", name) for name in names.split(" or ")]
    return made[0] if len(made) == 1 else {word: made}


def number_of(text):
    return BATCH_MAX if text == "batch" else int(text)


def schema_of(field):
    schema = {}
    if field.kind in ("object", "ref"):
        schema["oneOf"] = [reference("schemas", field.object), {"type": "null"}]
    elif field.kind == "latch":
        schema |= {"type": ["string", "boolean", "null"], "enum": ["on", "off", True, False, None]}
    elif field.is_integer:
        schema["type"] = ["integer", "null"]
    elif field.kind not in ("json", "value"):
        name = TYPES.get(field.kind, "string")
        schema["type"] = [name, "null"] if field.is_nullable else name
    if field.kind == "time":
        schema["format"] = "date-time"
    if field.kind == "texts":
        schema["items"] = {"type": "string"} | ({"minLength": 1} if field.is_nonempty else {})
    elif field.is_nonempty:
        schema["minLength"] = 1
    if field.kind in ("list", "pointers"):
        schema["items"] = one_of(field.object)
    if field.kind == "numbers":
        schema["items"] = {"type": ["integer", "null"]}
    if field.kind == "map":
        schema["additionalProperties"] = {}
    if field.entries:
        least, most = field.entries
        schema |= ({"minItems": least} if least else {}) | {"maxItems": number_of(most)}
    if field.words:
        schema["enum"] = field.words + ([None] if field.is_nullable else [])
    if field.kind == "fraction":
        schema |= {"minimum": 0, "maximum": 1}
    if field.takes_unset:
        schema["anyOf"] = [{"minimum": field.least}, {"enum": [field.unset]}, {"type": "null"}]
    elif field.least is not None:
        schema["minimum"] = field.least
    if field.most:
        schema["maximum"] = number_of(field.most)
    if field.default is not None:
        schema["default"] = field.default
    if field.description:
        schema["description"] = field.description
    return schema


def add_properties(one, objects, is_request, schema, is_optional=False):
    for field in one.fields:
        if field.name is None:
            add_properties(objects[field.object], objects, is_request, schema,
                           is_optional or field.kind == "+?")
            schema["any_of"] += objects[field.object].any_of
            continue
        if field.name in schema["properties"]:
            continue
        schema["properties"][field.name] = schema_of(field)
        is_given = field.is_needed if is_request else not (field.is_optional or field.is_rare)
        if is_given and not is_optional:
            schema["required"].append(field.name)


def given(name, schema):
    """That a field is there and says something."""
    made = {"required": [name]}
    if "null" in schema.get("type", []):
        made["properties"] = {name: {"type": schema["type"][0]}}
    elif {"type": "null"} in schema.get("oneOf", []):
        made["properties"] = {name: {"type": "object"}}
    if schema.get("default") == 0:
        made["properties"][name]["minimum"] = 1
    return made


def make_schema(one, objects):
    schema = {"type": "object", "properties": {}, "additionalProperties": False, "required": [],
              "any_of": list(one.any_of)}
    if one.role in ("page", "list"):
        items = {"type": "array", "items": reference("schemas", one.item)}
        schema["properties"][one.key] = items
        if one.role == "page":
            schema["properties"]["next"] = (
                {"type": "string", "description": "Where to go on; always set."} if one.is_endless else
                {"type": ["string", "null"],
                 "description": "The cursor of the next page; null: this was the last."})
        if one.is_scanned:
            schema["properties"]["scanned_to"] = {
                "type": ["string", "null"], "format": "date-time",
                "description": "The search ended early: what lies behind this time was not looked at, and "
                               "next goes on there. null: it did not."}
        if one.is_counted:
            schema["properties"]["n"] = {
                "type": "integer", "minimum": 0,
                "description": "How many there are now, counted up to 10,000."}
        schema["required"] = list(schema["properties"])
    add_properties(one, objects, one.role == "request", schema)
    for name in one.ignored:
        schema["properties"][name] = {"readOnly": True, "description": "Set by the server; ignored here."}
    any_of = schema.pop("any_of")
    if not schema["required"]:
        del schema["required"]
    if one.description:
        schema["description"] = one.description
    if any_of:
        schema["anyOf"] = [given(name, schema["properties"][name]) for name in any_of]
    return schema


def parameter(field):
    if field.kind in ("limit", "cursor"):
        return reference("parameters", field.name)
    made = {"name": field.name, "in": "query"}
    if field.is_needed:
        made["required"] = True
    if field.description:
        made["description"] = field.description
    made["schema"] = schema_of(field)
    made["schema"].pop("description", None)
    made["schema"]["type"] = TYPES.get(field.kind, "string")
    if field.words:
        made["schema"]["enum"] = field.words
    return made


def parameters_of(operation, objects):
    made = []
    for text in operation.said.get("path", []):
        name, _, description = text.partition("|")
        is_number = name.partition("=")[2].strip().startswith("number ")
        made.append({"name": name.partition("=")[0].strip(), "in": "path", "required": True,
                     "description": description.strip(),
                     "schema": {"type": "integer", "minimum": 1} if is_number else {"type": "string"}})
    query = operation.placed("query")[0]
    return made + ([parameter(field) for field in objects[query].fields] if query else [])


def describe_roles(operation):
    said = operation.first("roles")
    if said in ("none", "any"):
        return "" if said == "none" else "Any role."
    return ("Roles: " if len(operation.roles()) > 1 else "Role: ") + said + "."


def responses_of(operation):
    made = {}
    for directive, status in (("answer", "200"), ("accepted", "202"), ("created", "201")):
        name, _, description = operation.placed(directive)
        if name:
            # An empty page fits all of the pages that there may be.
            content = BODIES.get(name) or {"application/json": {"schema": one_of(name, "anyOf")}}
            made[status] = {"description": description or "Done.", "content": content}
    fails = operation.first("fails").split()
    if fails and fails[0] == "only":
        statuses = [int(text) for text in fails[1:]]
    else:
        statuses = sorted({400, 401, 403, 503} | {int(text) for text in fails})
    for status in statuses:
        made[str(status)] = reference("responses", RESPONSES[status][0])
    return made


def body_of(operation, objects):
    name = operation.placed("body")[0]
    if name in BODIES:
        return {"required": True, "content": BODIES[name]}
    first = objects[name.split(" or ")[0]]
    is_required = any(field.is_needed for field in first.fields)
    return {"required": is_required, "content": {"application/json": {"schema": one_of(name)}}}


def make_operation(operation, objects):
    made = {"operationId": operation.name, "tags": [operation.tag], "summary": operation.first("does")}
    description = f"{operation.first('text')} {describe_roles(operation)}".strip()
    if description:
        made["description"] = description
    parameters = parameters_of(operation, objects)
    if parameters:
        made["parameters"] = parameters
    if "body" in operation.said:
        made["requestBody"] = body_of(operation, objects)
    made["responses"] = responses_of(operation)
    if operation.roles() == ["none"]:
        made["security"] = []
    return made


def project_version():
    text = (ROOT / "meson.build").read_text(encoding="utf-8")
    return re.search(r"project\([^)]*?version: '([^']*)'", text).group(1)


def make_document(objects, tags, operations):
    error = {"application/json": {"schema": reference("schemas", "Error")}}
    paths = {}
    for operation in operations:
        path = paths.setdefault(operation.path, {})
        path[operation.method.lower()] = make_operation(operation, objects)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Cairn", "version": project_version(), "summary": "Durable work",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "description":
                "Times are RFC 3339 in UTC with milliseconds; durations in requests are integers in _ms "
                "fields. An unknown field or query parameter is an error, as is one of the wrong type; a "
                "field that is null counts as left out. Where all fields are optional the body may be left "
                "out. With --token-file every request but those for health carries a bearer token; the role "
                "operate may do everything."},
        "servers": [{"url": "http://127.0.0.1:22476"}],
        "security": [{"token": []}, {}],
        "tags": [{"name": name, "description": text} for name, text in tags.items()],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {
                "type": "http", "scheme": "bearer",
                "description": "A token of the server's --token-file. Without that file no token is needed, "
                               "and the server listens on loopback addresses only."}},
            "parameters": {
                "limit": {"name": "limit", "in": "query",
                          "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}},
                "cursor": {"name": "cursor", "in": "query",
                           "description": "The next of the page before; left out: the beginning.",
                           "schema": {"type": "string"}}},
            "responses": {name: {"description": text, "content": error}
                          for name, text in RESPONSES.values()},
            "schemas": {one.name: make_schema(one, objects) for one in objects.values()
                        if one.role not in ("part", "query")}}}


def pretty(value, indent=0):
    """JSON with everything on one line that fits there."""
    short = json.dumps(value, ensure_ascii=False)
    if len(short) + indent <= 110 or not isinstance(value, (dict, list)):
        return short
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        rows = [f"{pad}{json.dumps(key)}: {pretty(inner, indent + 2)}" for key, inner in value.items()]
    else:
        rows = [pad + pretty(inner, indent + 2) for inner in value]
    brackets = "{}" if isinstance(value, dict) else "[]"
    return f"{brackets[0]}\n" + ",\n".join(rows) + f"\n{' ' * indent}{brackets[1]}"


def make_assembly(document, path):
    """Puts the document into the library.  The checksum has it assembled anew when that changes."""
    checksum = hashlib.sha256(document.encode()).hexdigest()
    return "\n".join([f"/* Made by scripts/gen_api.py; {checksum} */", "    .section .rodata",
                      "    .global openapi_json, openapi_json_end",
                      "    .hidden openapi_json, openapi_json_end", "openapi_json:",
                      f'    .incbin "{path.resolve()}"', "openapi_json_end:",
                      '    .section .note.GNU-stack, "", %progbits', ""])


# ---- docs/http.md ------------------------------------------------------------------------------

def make_routes(operations):
    """The table of all routes, for a person."""
    out = ["| route | roles | |", "|---|---|---|"]
    for operation in operations:
        roles = operation.first("roles").split(";")[0]
        out.append(f"| `{operation.method} {operation.path}` | {roles} | {operation.first('does')} |")
    return "\n".join(out)


def replace_routes(text, operations):
    begin, end = "<!-- Made by scripts/gen_api.py write. -->\n", "\n<!-- end -->"
    before, _, rest = text.partition(begin)
    after = rest.partition(end)[2]
    if not after:
        fail("docs/http.md has no place for the routes")
    return before + begin + make_routes(operations) + end + after


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    is_build = what in ("c", "ops") and len(sys.argv) == 5 or what == "openapi" and len(sys.argv) == 6
    if not is_build and what not in ("write", "check"):
        sys.exit(__doc__)
    sources = ([pathlib.Path(path) for path in sys.argv[2:4]] if is_build else
               [ROOT / "spec/objects.txt", ROOT / "spec/operations.txt"])
    objects = read_objects(sources[0])
    tags, operations = read_operations(sources[1])
    ignore_answers(objects, operations)
    document = pretty(make_document(objects, tags, operations)) + "\n"
    if is_build:
        output = pathlib.Path(sys.argv[4])
        text = {"c": make_c(objects, operations), "ops": make_ops(operations), "openapi": document}[what]
        output.write_text(text, encoding="utf-8")
        if what == "openapi":
            pathlib.Path(sys.argv[5]).write_text(make_assembly(document, output), encoding="utf-8")
        return
    guide = ROOT / "docs/http.md"
    made = {ROOT / "spec/openapi.json": document,
            guide: replace_routes(guide.read_text(encoding="utf-8"), operations)}
    for path, text in made.items():
        if what == "write":
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            fail(f"{path.relative_to(ROOT)} is stale; run scripts/gen_api.py write")


if __name__ == "__main__":
    main()
