"""What validation_table.py reports about results that differ from the page."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "analysis"))
import validation_table  # noqa: E402


class ValidationTable(unittest.TestCase):
    """A tree with one data file of two cases."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.results = self.root / "results" / "validation"
        data = self.root / "tests" / "validation" / "data"
        for path in (self.results, data, self.root / "analysis"):
            path.mkdir(parents=True)
        cases = [{"id": name, "function": "f", "expected": 1, "tolerance": 1e-9, "source": "s",
                  "kind": "derived"} for name in ("A", "B")]
        (data / "some.json").write_text(json.dumps(cases), encoding="utf-8")
        for name, value in {"ROOT": self.root, "PAGE": self.root / "analysis" / "page.md",
                            "STORE": self.root / "analysis" / "store.jsonl",
                            "REMARKS": self.root / "remarks.md"}.items():
            self.enterContext(mock.patch.object(validation_table, name, value))
        (self.root / "remarks.md").write_text("Remarks.\n", encoding="utf-8")

    def find(self, **ours):
        rows = [{"id": name, "unchecked": "no trace"} if value is None else
                {"id": name, "figure": "", "ours": value, "theirs": "1", "difference": "0"}
                for name, value in ours.items()]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (self.results / "Suite.Test.jsonl").write_text(text, encoding="utf-8")

    def run_it(self, *arguments):
        reported = io.StringIO()
        command = ["validation_table.py", "--results", str(self.results.parent), *arguments]
        with mock.patch.object(sys, "argv", command), contextlib.redirect_stderr(reported):
            status = validation_table.main()
        return status, reported.getvalue()

    def test_its_own_page_is_up_to_date(self):
        self.find(A="1", B="1.5")
        self.assertEqual(self.run_it(), (0, ""))
        self.assertEqual(self.run_it("--check"), (0, ""))
        page = validation_table.PAGE.read_text(encoding="utf-8")
        self.assertIn("| B | f | 1.5 | 1 | 0 | 1e-07 % | s | derived |", page)

    def test_other_figures_than_those_of_the_page_are_told(self):
        self.find(A="1", B="1")
        self.run_it()
        self.find(A="1", B="2")
        status, reported = self.run_it("--check")
        self.assertEqual(status, 1)
        self.assertIn("B: ours 2 (difference 0), on the page 1 (0)", reported)

    def test_an_unchecked_case_keeps_its_figures(self):
        self.find(A="1", B="1.5")
        self.run_it()
        page = validation_table.PAGE.read_text(encoding="utf-8")
        self.find(A="1", B=None)
        self.assertEqual(self.run_it("--check"), (0, ""))
        self.assertEqual(self.run_it(), (0, ""))
        self.assertEqual(validation_table.PAGE.read_text(encoding="utf-8"), page)

    def test_a_case_never_checked_is_shown_as_not_run(self):
        self.find(A="1", B=None)
        self.run_it()
        self.assertIn("| B | f | not run |", validation_table.PAGE.read_text(encoding="utf-8"))

    def test_cases_and_results_must_match(self):
        self.find(A="1", C="1")
        status, reported = self.run_it()
        self.assertEqual(status, 1)
        self.assertIn("B: a case without a result", reported)
        self.assertIn("C: a result without a case", reported)
        self.assertFalse(validation_table.PAGE.exists())

    def test_an_edited_page_is_told(self):
        self.find(A="1", B="1")
        self.run_it()
        validation_table.PAGE.write_text("mine", encoding="utf-8")
        self.assertIn("page.md is not made from its sources", self.run_it("--check")[1])


if __name__ == "__main__":
    unittest.main()
