"""The reference pages are complete, and equal those that the program writes."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "analysis"))
import reference  # noqa: E402

PROGRAM = pathlib.Path(sys.argv.pop()).resolve()


def sources():
    for suffix in ("cpp", "hpp"):
        for path in sorted((ROOT / "models").rglob(f"*.{suffix}")):
            yield path.read_text(encoding="utf-8")


def page(name):
    return (reference.FOLDER / name).read_text(encoding="utf-8")


class Reference(unittest.TestCase):
    def test_is_fresh(self):
        found = reference.differences(reference.pages(PROGRAM))
        self.assertEqual(found, [], "mend with: cmake --build BUILD --target written_files")

    def test_has_each_figure_that_a_source_names(self):
        named = {name for text in sources()
                 for name in re.findall(r'add_summary\(\s*"([a-z_0-9]+[a-z0-9])"\s*,', text)}
        self.assertEqual({name for name in named if f"| `{name}` |" not in page("summary.md")}, set())

    def test_has_the_figures_that_the_program_knows_without_a_run(self):
        reported = reference.described(PROGRAM, "metrics")
        self.assertEqual(sorted(re.findall(r"^  ([a-z]\w*)", reported, re.M)),
                         sorted(re.findall(r"^\| `(\w+)` \|", page("summary.md"), re.M)))

    def test_has_each_table_that_a_channel_opens(self):
        opened = {path for text in sources()
                  for path in re.findall(r'ecorder,\s*"(/[a-z_/]+)"', text)}
        self.assertEqual({path for path in opened if f"\n## {path}\n" not in page("tables.md")}, set())

    def test_says_what_has_changed_and_what_is_not_made_any_more(self):
        made = {path.name: path.read_text(encoding="utf-8")
                for path in reference.FOLDER.glob("*.md")}
        self.assertEqual(reference.differences(made), [])
        del made["points.md"]
        made["run.md"] += "more\n"
        made["new.md"] = "new\n"
        self.assertEqual(reference.differences(made), [
            "scenarios/reference/run.md: out of date", "scenarios/reference/new.md: out of date",
            "scenarios/reference/points.md: is not made any more"])


if __name__ == "__main__":
    unittest.main()
