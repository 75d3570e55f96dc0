#!/usr/bin/python3
"""Makes the manual page and the completions of bash and zsh from the program's own help.

    /usr/bin/python3 sim/package/manual.py build/release/bin/orrery FOLDER

FOLDER then holds orrery.1, orrery.bash and orrery.zsh. Their sources are the program's --help,
--version and list of figures (`orrery plot`).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

# What a completion offers as arguments of a command. The arguments of other commands are files.
WORDS = {
    "run": "scenario", "validate": "scenario", "describe": "name", "schema": "nothing",
    "trace": "action", "study": "action", "report": "run", "plot": "figure", "explain": "run",
    "export": "run", "cluster": "study",
}
# The kind of an option's value, by the value's name in the help. Values with other names are not completed.
VALUES = {"FILE": "file", "DIR": "folder", "LIB": "library"}


@dataclass
class Option:
    flags: list[str]
    value: str
    doc: str
    repeats: bool = False


@dataclass
class Command:
    name: str
    usage: str
    """What follows `orrery NAME`."""
    about: str
    """One line about the command."""
    text: str = ""
    """The description in the help of the command."""
    rows: list[tuple[str, str]] = field(default_factory=list)
    """Arguments and options as the help lists them."""

    @property
    def options(self) -> list[Option]:
        return [option_of(left, doc, self.usage) for left, doc in self.rows if left[0] == "-"]

    @property
    def actions(self) -> list[str]:
        """The actions in the usage. Example: the usage `info FILE | convert FILE NEW` has the actions info
        and convert. Most commands have none."""
        words = self.usage.split(" [-")[0].split(" | ")
        return [word.split()[0] for word in words] if WORDS.get(self.name) == "action" else []


def said(program: Path, *arguments: str) -> str:
    """Output of the program, with long lines not wrapped."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True,
                          env=os.environ | {"COLUMNS": "10000"})
    if done.returncode != 0:
        sys.exit(f"orrery {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def option_of(left: str, doc: str, usage: str) -> Option:
    flags = re.findall(r"(?<![^\s])--?[\w-]+", left)
    value = left.rsplit(flags[-1], 1)[1].strip()
    repeats = any(re.search(rf"\[{re.escape(flag)} [^]]*\]\.\.\.", usage) for flag in flags)
    return Option(flags, value, doc, repeats)


def read_help(command: Command, text: str) -> None:
    """Reads the description and the rows of a command's help, formatted by Orrery or by argparse."""
    lines = text.split("\n\n", 1)[1].splitlines()
    heads = ("Options:", "options:", "positional arguments:")
    begin = next(i for i, line in enumerate(lines) if line in heads)
    command.text = "\n".join(lines[:begin]).strip("\n")
    for line in lines[begin:]:
        indent = len(line) - len(line.lstrip())
        if not line.strip() or line in heads:
            continue
        if indent > 8 and command.rows:  # the doc of a long option is on the next line
            left, doc = command.rows[-1]
            command.rows[-1] = (left, f"{doc} {line.strip()}".strip())
            continue
        left, _, doc = line.strip().partition("  ")
        command.rows.append((left, doc.strip()))


def commands_of(program: Path) -> list[Command]:
    usage = said(program, "--help").split("Usage:\n")[1].split("\n\n")[0].splitlines()
    found: list[Command] = []
    for line, doc in zip(usage, usage[1:]):
        if doc.startswith("      "):
            name, _, rest = line.removeprefix("  orrery ").partition(" ")
            found.append(Command(name, rest, doc.strip()))
    for command in found:
        read_help(command, said(program, command.name, "--help"))
    return found


# --- The manual page.


def roff(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


def roff_lines(text: str) -> str:
    """Lines of roff: text that begins with a dot is escaped."""
    return "\n".join(f"\\&{line}" if line[:1] == "." else line for line in roff(text).split("\n"))


def paragraphs(text: str) -> str:
    """Paragraphs as roff; indented paragraphs keep their line breaks."""
    made = []
    for part in text.split("\n\n"):
        if part.startswith("    "):
            made.append(f".nf\n{roff_lines(part)}\n.fi")
        else:
            made.append(roff_lines(" ".join(part.split("\n"))))
    return "\n.PP\n".join(made)


def manual(version: str, help_text: str, commands: list[Command]) -> str:
    about = help_text.split("\n")[0].removeprefix("Orrery ").rstrip(".")
    status = " ".join(help_text.split("Exit status: ")[1].split())
    lines = [
        f'.TH ORRERY 1 "" "{version}" "User Commands"', ".SH NAME", f"orrery \\- {roff(about)}",
        ".SH SYNOPSIS", ".nf",
        *(f".B orrery {command.name} \\fR{roff(command.usage)}" for command in commands),
        ".B orrery \\fICOMMAND\\fB \\-\\-help", ".B orrery \\-\\-version", ".fi", ".SH COMMANDS",
    ]
    for command in commands:
        lines += [f".SS orrery {command.name}", paragraphs(command.text)]
        for left, doc in command.rows:
            lines += [".TP", f".B {roff(left)}", roff_lines(doc) or "\\&"]
    lines += [".SH EXIT STATUS", roff_lines(status)]
    return "\n".join(lines) + "\n"


# --- Completions.

BASH = r'''# Completion of orrery for bash, made from `orrery --help`.

_orrery_options() {
  case "$1" in
@OPTIONS@
  esac
}

# Prints the kind of an option's value: file, folder, library or text.
_orrery_value() {
  case "$1 $2" in
@VALUES@
  esac
}

# Prints the kind of a command's arguments: scenario, run, file ...
_orrery_words() {
  case "$1" in
@WORDS@
    *) echo file ;;
  esac
}

# Offers the YAML files with names $2* in the installed folder scenarios$1. $1 may be empty.
_orrery_shipped() {
  local program folder path
  case "$2" in */*) return ;; esac  # a path is completed like any file
  program="$(readlink -f "$(command -v "${COMP_WORDS[0]}")")"
  folder="${program%/bin/*}/share/orrery/scenarios$1"
  for path in "$folder"/*.yaml; do
    case "${path##*/}" in "$2"*) [ -f "$path" ] && COMPREPLY+=("$path") ;; esac
  done
}

# Offers folders and files that begin with $1; files must end with one of the other arguments.
_orrery_files() {
  local current="$1" ending
  shift
  compopt -o filenames 2>/dev/null
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$current")
  for ending in "$@"; do
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -X "!*$ending" -- "$current")
  done
}

_orrery() {
  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
  local command="${COMP_WORDS[1]}" kind
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "@COMMANDS@ help --help --version" -- "$current")
    return
  fi
  kind="$(_orrery_value "$command" "$before")"
  if [ -z "$kind" ]; then
    case "$current" in
      -*)
        mapfile -t COMPREPLY < <(compgen -W "$(_orrery_options "$command")" -- "$current")
        return ;;
    esac
    kind="$(_orrery_words "$command")"
  fi
  case "$kind" in
    scenario) _orrery_files "$current" .yaml; _orrery_shipped "" "$current" ;;
    study) _orrery_files "$current" .yaml; _orrery_shipped /studies "$current" ;;
    run) _orrery_files "$current" .h5 ;;
    library) _orrery_files "$current" .so ;;
    folder) _orrery_files "$current" ;;
    figure)
      _orrery_files "$current" .h5
      if [ "$COMP_CWORD" -eq 2 ]; then
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "@FIGURES@" -- "$current")
      fi ;;
    name)
      mapfile -t COMPREPLY < <(compgen -W "machine $("${COMP_WORDS[0]}" describe 2>/dev/null |
        sed -n 's/^  \([A-Za-z][A-Za-z0-9_-]*\).*/\1/p')" -- "$current") ;;
    action*)
      if [ "$COMP_CWORD" -eq 2 ]; then
        mapfile -t COMPREPLY < <(compgen -W "${kind#action}" -- "$current")
      elif [ "$command" = study ]; then
        _orrery_files "$current" .yaml; _orrery_shipped /studies "$current"
      else
        _orrery_files "$current" ""
      fi ;;
    command) mapfile -t COMPREPLY < <(compgen -W "@COMMANDS@" -- "$current") ;;
    file) _orrery_files "$current" "" ;;
    nothing | text) ;;
  esac
}

complete -F _orrery orrery
'''


def cases(rows: list[tuple[str, str]]) -> str:
    return "\n".join(f"    {pattern}) echo {quoted(text)} ;;" for pattern, text in rows)


def quoted(text: str) -> str:
    """The text as one word of a shell."""
    if re.fullmatch(r"[\w./-]+", text):
        return text
    return "'" + text.replace("'", "'\\''") + "'"


def bash(commands: list[Command], figures: list[str]) -> str:
    options, values, words = [], [], [("help", "command")]
    for command in commands:
        options.append((command.name, " ".join(f for o in command.options for f in o.flags)))
        for option in command.options:
            if option.value:
                pattern = " | ".join(f'"{command.name} {flag}"' for flag in option.flags)
                values.append((pattern, VALUES.get(option.value, "text")))
        kind = WORDS.get(command.name, "file")
        words.append((command.name, " ".join([kind, *command.actions])))
    return filled(BASH, {
        "OPTIONS": cases(options), "VALUES": cases(values), "WORDS": cases(words),
        "COMMANDS": " ".join(command.name for command in commands), "FIGURES": " ".join(figures),
    })


def filled(script: str, texts: dict[str, str]) -> str:
    for mark, text in texts.items():
        script = script.replace(f"@{mark}@", text)
    return script


ZSH = r'''#compdef orrery
# Completion of orrery for zsh, made from `orrery --help`.

# Offers YAML files, also those in scenarios$1 of the installation. $1 may be empty.
_orrery_shipped() {
  local folder=${commands[orrery]:A:h:h}/share/orrery/scenarios$1
  local -a shipped
  [[ $PREFIX == */* ]] || shipped=($folder/$PREFIX*.yaml(N))
  _alternative 'files:file:_files -g "*.yaml"' "shipped:scenario that ships:compadd -U -a shipped"
}
_orrery_scenarios() { _orrery_shipped "" }
_orrery_studies() { _orrery_shipped /studies }
_orrery_names() {
  local -a names
  names=(machine ${(f)"$(orrery describe 2>/dev/null |
    sed -n 's/^  \([A-Za-z][A-Za-z0-9_-]*\).*/\1/p')"})
  compadd -a names
}
_orrery_figures() {
  _alternative 'names:figure:(@FIGURES@)' 'files:run:_files -g "*.h5"'
}

_orrery() {
  local state line context
  local -a commands_of_orrery
  commands_of_orrery=(
@COMMANDS@
  )
  _arguments -C '(- *)--help[Show the commands.]' '(- *)--version[Show the version.]' \
    '1: :->command' '*:: :->rest'
  case $state in
    command) _describe command commands_of_orrery ;;
    rest)
      case $words[1] in
@CASES@
      esac ;;
  esac
}

_orrery "$@"
'''
ZSH_WORDS = {
    "scenario": "'*:scenario:_orrery_scenarios'", "study": "'1:study:_orrery_studies'",
    "run": "'1:run:_files -g \"*.h5\"'", "figure": "'*:figure or run:_orrery_figures'",
    "name": "'*:name:_orrery_names'", "nothing": "", "file": "'*:file:_files'",
}
ZSH_VALUES = {"file": "_files", "folder": "_files -/", "library": '_files -g "*.so"'}


def zsh_option(option: Option) -> str:
    doc = option.doc.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    doc = doc.replace(":", "\\:").replace("'", "'\\''")
    value = ""
    if option.value:
        name = option.value.replace(":", "\\:")
        value = f":{name}:{ZSH_VALUES.get(VALUES.get(option.value, ''), '')}"
    if option.repeats:
        return " ".join(f"'*{flag}[{doc}]{value}'" for flag in option.flags)
    if len(option.flags) == 1:
        return f"'{option.flags[0]}[{doc}]{value}'"
    return f"'({' '.join(option.flags)})'{{{','.join(option.flags)}}}'[{doc}]{value}'"


def zsh_words(command: Command) -> str:
    if command.actions:
        files = "_orrery_studies" if command.name == "study" else "_files"
        return f"'1:action:({' '.join(command.actions)})' '*:file:{files}'"
    return ZSH_WORDS[WORDS.get(command.name, "file")]


def zsh(commands: list[Command], figures: list[str]) -> str:
    names, blocks = [], []
    for command in commands:
        about = command.about.replace("'", "'\\''")
        names.append(f"    '{command.name}:{about}'")
        rows = [*map(zsh_option, command.options), zsh_words(command)]
        rows = [row for row in rows if row]
        blocks.append(f"        {command.name})\n          _arguments " +
                      " \\\n            ".join(rows) + " ;;")
    return filled(ZSH, {
        "FIGURES": " ".join(figures), "COMMANDS": "\n".join(names), "CASES": "\n".join(blocks),
    })


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path, help="the program orrery")
    parser.add_argument("folder", type=Path, help="where the files go")
    given = parser.parse_args()
    program = given.program.resolve()
    commands = commands_of(program)
    figures = [line.split()[0] for line in said(program, "plot").splitlines()]
    version = said(program, "--version").strip()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("orrery.1", manual(version, said(program, "--help"), commands)),
        ("orrery.bash", bash(commands, figures)),
        ("orrery.zsh", zsh(commands, figures)),
    ):
        (given.folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
