#!/usr/bin/env python3
"""Makes the commands of the program and their help from spec/commands.txt.

usage: gen_cli.py COMMANDS OBJECTS OPERATIONS tables OUT.c           options, columns, commands
       gen_cli.py COMMANDS OBJECTS OPERATIONS texts SCRIPT... OUT.c  help, manual page, reference, and
                                                                     completion, as texts

spec/commands.txt says what its lines mean.  Methods and paths are those of spec/operations.txt; limits
and words of options that carry a field are those of spec/objects.txt."""
import pathlib
import re
import sys

import gen_api

VALUE_AT = 14  # where the text of a directive begins
HELP_WIDTH, OPTION_AT, MARKDOWN_WIDTH = 80, 26, 130
ANSWERS = {"line", "object", "list", "feed"}
DIRECTIVES = {"does", "about", "words", "example", "with", "output", "store", "calls", "operand", "fixed",
              "prints", "ids"}


def fail(message):
    sys.exit(f"gen_cli.py: {message}")


# ---- reading the description -------------------------------------------------------------------

class Option:
    def __init__(self, line, where):
        text, _, self.help = line.partition(" | ")
        enum = re.search(r" \{([^}]*)\}", text)
        self.choices = enum.group(1).replace(",", "") if enum else None
        found = re.match(r"--([a-z-]+)(?: (\S+))? (flag|text|file|json|int|duration|instant|moment|choice|many|tag|rate)\b(.*)$",
                         text.replace(enum.group(0), "") if enum else text)
        if not found:
            fail(f"{where}: cannot read \"{line}\"")
        self.name, self.value, self.kind, rest = found.groups()
        self.field = self.least = self.most = self.excludes = self.needs = self.letter = None
        self.is_off = self.is_required = False
        words = rest.split()
        while words:
            word = words.pop(0)
            if word in ("off", "required"):
                setattr(self, "is_" + word, True)
            elif word in ("=", "from", "to", "excludes", "needs", "letter"):
                setattr(self, {"=": "field", "from": "least", "to": "most"}.get(word, word), words.pop(0))
            else:
                fail(f"{where}: \"{word}\" in --{self.name} is unknown")

    def derive(self, fields):
        """Takes from the field of the body or of the query what is not said."""
        field = fields.get(self.field)
        if self.kind == "choice" and not self.choices:
            self.choices = " ".join(field.words)
        if self.kind == "int" and self.most is None and field:
            self.least, self.most = str(field.least or 0), field.most

    def syntax(self):
        letter = f"-{self.letter}, " if self.letter else ""
        return f"{letter}--{self.name}" + (f" {self.value}" if self.value else "")

    def help_text(self):
        """The help of -o names its choices itself."""
        return self.help + (f": {self.choices}" if self.choices and self.name != "output" else "")

    def row(self):
        said = [c_text(self.name), f".kind = OPTION_{self.kind.upper()}"]
        said += [f".value = {c_text(self.value)}"] if self.value else []
        said += [f".letter = '{self.letter}'"] if self.letter else []
        said += [f".choices = {c_text(self.choices)}"] if self.choices else []
        said += [f".min = {self.least}", f".max = {c_limit(self.most)}"] if self.most else []
        for name in ("field", "excludes", "needs"):
            said += [f".{name} = {c_text(getattr(self, name))}"] if getattr(self, name) else []
        said += [".is_off = true"] if self.is_off else []
        said += [".is_required = true"] if self.is_required else []
        return gen_api.row_of(said)


class Command:
    def __init__(self, line):
        self.name, _, self.operands = (part.strip() for part in line.partition(":"))
        self.said, self.options = {}, []

    def first(self, directive):
        return self.said.get(directive, [None])[0]

    def usage(self):
        return f"cairn {self.name}" + (f" {self.operands}" if self.operands else "") + " [options]\n"

    def about(self):
        return "\n\n".join(self.said.get("about", []))

    def example(self):
        return "\n".join(self.said["example"])

    def has_url(self):
        return "store" in self.said or "calls" in self.said


class Description:
    def __init__(self, path, objects, operations):
        self.groups, self.sets, self.columns, self.commands = [], {}, {}, []
        self.texts, self.pages = {}, {}
        self.objects, self.operations = objects, {one.name: one for one in operations}
        self.read(path)
        for command in self.commands:
            self.finish(command)

    def read(self, path):
        add = None
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            where = f"{path.name}:{number}"
            if not line.strip() or line.startswith("#"):
                continue
            if line[0] != " ":
                add = self.begin(line, where)
            else:
                add(line, where)

    def begin(self, line, where):
        """Begins a block, and answers what reads its lines."""
        kind, _, rest = line.partition(" ")
        if kind == "group":
            self.groups.append([part.strip() for part in rest.split("|")])
            return None
        if kind == "text":
            name, _, text = rest.partition(" = ")
            self.texts[name] = text
            return lambda more, _: self.texts.update({name: f"{self.texts[name]} {more.strip()}"})
        if kind == "page":
            page = self.pages.setdefault(rest, [])
            return lambda more, _: page.append(more.strip()[1:])
        if kind == "columns":
            columns = self.columns.setdefault(rest, [])
            return lambda more, _: columns.append(more.split())
        if kind == "options":
            options = self.sets.setdefault(rest, [])
            return lambda more, place: read_option(options, more.strip(), place)
        if kind == "command":
            self.commands.append(Command(rest))
            return lambda more, place: self.read_line(self.commands[-1], more, place)
        return fail(f"{where}: cannot read \"{line}\"")

    def read_line(self, command, line, where):
        word = line[4:VALUE_AT].strip()
        if line.startswith("    --") or line.strip().startswith("| "):
            read_option(command.options, line.strip(), where)
        elif word in DIRECTIVES:
            command.said.setdefault(word, []).append(self.fill_in(line[VALUE_AT:]))
            command.latest = command.said[word]
        elif not word:
            command.latest[-1] += " " + self.fill_in(line.strip())
        else:
            fail(f"{where}: \"{word}\" is unknown")

    def fill_in(self, text):
        """Texts for <name>, and for <name:word>, where the word is put in."""
        return re.sub(r"<([a-z_]+)(?::(\w+))?>",
                      lambda found: self.texts[found.group(1)].replace("<>", found.group(2) or ""), text)

    def finish(self, command):
        """Finds the operation, the sets of options, and what the fields of the operation say."""
        command.operation, fields = self.operations.get(command.first("calls")), {}
        if command.first("calls") and not command.operation:
            fail(f"{command.name}: the operation {command.first('calls')} does not exist")
        for directive in ("query", "body") if command.operation else ():
            name = command.operation.placed(directive)[0].split(" or ")[0]
            fields |= {one.name: one for one in self.objects[name].fields} if name in self.objects else {}
        command.sets = [(f"options_{c_name(command.name)}", 0, command.options)] if command.options else []
        for text in command.said.get("with", []):
            name, _, start = text.partition(" from ")
            options = self.sets[name]
            at = [one.name for one in options].index(start) if start else 0
            command.sets.append((f"options_{name}", at, options[at:]))
        every = self.sets["every"]
        shared = [every[0]] if command.has_url() else []
        shared += [every[1 if "ids" in command.first("output") else 2]] if command.first("output") else []
        for _, _, options in command.sets:
            for option in options:
                option.derive(fields)
        command.all_options = [one for _, _, options in command.sets for one in options]
        command.all_options += shared + [every[3]]


def read_option(options, line, where):
    if line.startswith("| "):
        options[-1].help += " " + line[2:]
    else:
        options.append(Option(line, where))


# ---- tables ------------------------------------------------------------------------------------

def c_text(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def c_name(name):
    return re.sub(r"\W", "_", name)


def c_limit(text):
    return gen_api.c_number(text) if text.isdigit() else text


def c_column(words):
    head, key, *more = words
    said = [c_text(head), f".key = {c_text(key)}"]
    said += [f".width = {word}" if word.isdigit() else f".write = cell_{word}" for word in more]
    return f"    {{{', '.join(said)}}},"


def c_route(command):
    operation = command.operation
    said = [c_text(operation.method), c_text(operation.path)]
    said_of, _, other = (command.first("prints") or "line").partition("; with --")
    answer, _, columns = said_of.partition(" ")
    if answer not in ANSWERS:
        fail(f"{command.name}: cannot print \"{answer}\"")
    said += [f".prints = PRINT_{answer.upper()}"] if answer != "line" else []
    said += [f".columns = columns_{columns}"] if columns else []
    if other:
        option, other_columns = other.split()
        said += [f".other_if = {c_text(option)}", f".other_columns = columns_{other_columns}"]
    for directive, member in (("operand", "field"), ("fixed", "fixed"), ("ids", "id_key")):
        said += [f".{member} = {c_text(command.first(directive))}"] if command.first(directive) else []
    return f".route = {{{', '.join(said)}}}"


def c_command(command):
    said = [c_text(command.name)]
    said += [f".operands = {c_text(command.operands)}"] if command.operands else []
    said += [f".aliases = {c_text(command.first('words'))}"] if command.first("words") else []
    if len(command.sets) > 2:
        fail(f"{command.name} has more than two sets of options")
    for member, (name, at, _) in zip(("options", "more_options"), command.sets):
        said.append(f".{member} = " + (f"&{name}[{at}]" if at else name))
    said += [f".outputs = {c_text(command.first('output'))}"] if command.first("output") else []
    said += [".has_url = true"] if command.has_url() else []
    said += [".creates_store = true"] if command.first("store") == "created" else []
    said += [c_route(command)] if command.operation else []
    return gen_api.row_of(said)


def c_array(kind, name, rows, is_shared=True):
    linkage = "" if is_shared else "static "
    return [f"{linkage}const struct {kind} {name}[] = {{", *rows, "    {0},", "};", ""]


def make_tables(all_of):
    out = ["/* Made by scripts/gen_cli.py from spec/commands.txt. */"]
    out += [f'#include "{name}"' for name in ("base/clock.h", "cli/bench.h", "cli/cells.h", "cli/guard.h")] + [""]
    for name, options in all_of.sets.items():
        rows = [line for option in options for line in option.row()]
        out += c_array("option", f"options_{name}", rows, name == "every")
    for command in all_of.commands:
        if command.options:
            rows = [line for option in command.options for line in option.row()]
            out += c_array("option", f"options_{c_name(command.name)}", rows, False)
    for name, columns in all_of.columns.items():
        is_used = any(name in re.split(r"[; ]+", one.first("prints") or "") for one in all_of.commands)
        out += c_array("column", f"columns_{name}", [c_column(words) for words in columns], not is_used)
    out += c_array("command", "commands", [line for one in all_of.commands for line in c_command(one)])
    return "\n".join(out)


# ---- help --------------------------------------------------------------------------------------

def wrapped(text, width, column, indent):
    """The text in lines of at most `width`, the first beginning at `column`, the others indented."""
    out = []
    for number, line in enumerate(text.split("\n")):
        if number:
            out.append("\n" + " " * indent)
            column = indent
        for word in line.split(" "):
            if column > indent and column + 1 + len(word) > width:
                out.append("\n" + " " * indent)
                column = indent
            elif column > indent:
                out.append(" ")
                column += 1
            out.append(word)
            column += len(word)
    return "".join(out) + "\n"


def indented(lines, before):
    return "".join(f"{before}{line}\n" for line in lines.split("\n"))


def option_lines(option):
    start = "  " + option.syntax()
    if len(start) > OPTION_AT - 2:
        start += "\n" + " " * OPTION_AT
    else:
        start = start.ljust(OPTION_AT)
    return start + wrapped(option.help_text(), HELP_WIDTH, OPTION_AT, OPTION_AT)


def make_help(command):
    about = "\n" + wrapped(command.about(), HELP_WIDTH, 0, 0) if command.about() else ""
    return (f"cairn {command.name}: {command.first('does')}\n\nUsage: {command.usage()}{about}\nOptions:\n" +
            "".join(option_lines(option) for option in command.all_options) +
            "\nExample:\n" + indented(command.example(), "  "))


def summary_line(name, does):
    return f"  {name:16} {does}\n"


def make_group(all_of, group, summary):
    members = [one for one in all_of.commands if one.name.startswith(group + " ")]
    return (f"cairn {group}: {summary}\n\nCommands:\n" +
            "".join(summary_line(one.name, one.first("does")) for one in members) + f"\nMore: cairn {group} COMMAND --help\n")


def make_overview(all_of, page):
    """A line for each command, or for a group of them, where the page names it."""
    left = {one.name: summary_line(one.name, one.first("does")) for one in all_of.commands if " " not in one.name}
    left.update({name: summary_line(name + " ...", summary) for name, summary in all_of.groups})

    def summaries(found):
        try:
            return "".join(left.pop(name) for name in found.group(1).split())
        except KeyError as missing:
            return fail(f"page overview: {missing} is not a command, or is there twice")
    page = re.sub(r"<commands ([^>]+)>\n", summaries, page)
    return fail(f"page overview: {' '.join(left)} is missing") if left else page


# ---- manual page and reference -----------------------------------------------------------------

def roff(text):
    """No line may begin with a dot or a quote, and no backslash may stand alone."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return re.sub(r"^(?=\.|\\\(aq)", r"\\&", text, flags=re.M) + "\n"


def make_manual(command):
    options = "".join(f".TP\n.B {roff(one.syntax())}{roff(one.help_text())}" for one in command.all_options)
    return (f".SS cairn {roff(command.name)}.B {command.usage()}.PP\n" +
            roff(command.about() or command.first("does")) + options +
            f".PP\nExample:\n.PP\n.nf\n.RS\n{roff(command.example())}.RE\n.fi\n")


def make_markdown(command):
    """--url and --help are described once, for all commands."""
    does = command.first("does")
    about = "\n" + wrapped(command.about(), MARKDOWN_WIDTH, 0, 0) if command.about() else ""
    listed = [f"- `{one.syntax()}`: {one.help_text()}\n" for one in command.all_options
              if one.name != "help" and not (one.name == "url" and command.has_url())]
    return (f"\n### cairn {command.name}\n\n{does[0].upper()}{does[1:]}.\n\n    {command.usage()}{about}" +
            ("\n" if listed else "") + "".join(listed) +
            f"\nExample:\n\n{indented(command.example(), '    ')}")


# ---- texts -------------------------------------------------------------------------------------

def c_lines(text, indent="    "):
    """A text as a string of C, a line for each of its lines."""
    return "\n".join(indent + c_text(line + "\n") for line in text.removesuffix("\n").split("\n"))


def c_page(name, text):
    return f"const char {name}[] =\n{c_lines(text)};\n"


def make_texts(all_of, scripts):
    page = {name: "\n".join(lines) + "\n" for name, lines in all_of.pages.items()}
    before, after = page["manual"].replace("<version>", gen_api.project_version()).split("<commands>\n")
    out = ["/* Made by scripts/gen_cli.py from spec/commands.txt. */", '#include "cli/help.h"', "",
           "/* C compilers need not take longer strings; those that we use do. */",
           '#pragma GCC diagnostic ignored "-Woverlength-strings"', "",
           c_page("overview_text", make_overview(all_of, page["overview"])),
           c_page("manual_begin", before), c_page("manual_end", after)]
    out += [c_page(f"{path.suffix[1:]}_completion", path.read_text(encoding="utf-8")) for path in scripts]
    out.append("const struct command_text command_texts[] = {")
    for command in all_of.commands:
        words = "".join(f"--{one.name}\t{one.help}\n" for one in command.all_options)
        texts = (words, make_help(command), make_manual(command), make_markdown(command))
        out.append(f"    {{{c_text(command.first('does'))},\n" + ",\n".join(c_lines(text) for text in texts) + "},")
    out += ["};", "", "const struct command_group command_groups[] = {"]
    for name, summary in all_of.groups:
        out.append(f"    {{{c_text(name)}, {c_text(summary)},\n{c_lines(make_group(all_of, name, summary))}}},")
    return "\n".join([*out, "    {0},", "};", ""])


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    commands, objects, operations = (pathlib.Path(path) for path in sys.argv[1:4])
    all_of = Description(commands, gen_api.read_objects(objects), gen_api.read_operations(operations)[1])
    scripts = [pathlib.Path(path) for path in sys.argv[5:-1]]
    text = make_texts(all_of, scripts) if sys.argv[4] == "texts" else make_tables(all_of)
    pathlib.Path(sys.argv[-1]).write_text(text, encoding="utf-8")


main()
