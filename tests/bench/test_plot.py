# tests/bench/test_plot.py - bench/plot draws what was measured, and nothing else.
#
# SPDX-License-Identifier: Apache-2.0
"""usage: test_plot.py PLOT"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

PLOT = sys.argv.pop(1)
SVG = "{http://www.w3.org/2000/svg}"
DOCS = "# Performance\n\nText.\n\n<!-- plots -->\nan earlier plot\n<!-- end of plots -->\n\n## More\n"


def run_of(batch, is_held=False, **ways):
    return {"batch": batch, "held_snapshot": is_held, **ways}


RESULTS = {
    "date": "2026-11-16",
    "commands": {"peers": "bench/peers/compare build --rounds 2", "round_trips": "bench/round-trips build"},
    "figures": {
        "jobs_sqlite": {"runs": [run_of(1, engine={"jobs_per_s": 1.0}), run_of(
            100, engine={"jobs_per_s": 33300.4}, raw={"jobs_per_s": 36700.0})]},
        "jobs_2_workers": {"workers": 2, "runs": [run_of(500, engine={"work_per_s": 29000.0})]},
        "held_jobs": {"runs": [run_of(1, engine={"jobs_per_s": 5.0}), run_of(100, engine={"jobs_per_s": 7158.0}),
                               run_of(100, True, engine={"jobs_per_s": 5833.0})]},
        "peers": {"batched": {"cairn": {"drain (1)": 20000.0, "drain (2)": 29000.0, "cycle (1)": 1.0, "cycle (2)": 2.0,
                                        "WAL bytes a job (1)": 3100.0},
                              "a<b": {"drain (1)": 51000.0, "drain (2)": 64000.0, "cycle (1)": 3.0, "cycle (2)": 4.0,
                                      "WAL bytes a job (1)": 1150.0}},
                  "workflow": {"cairn": {"one at a time": 27.0, "many": 104.0, "MiB": 40.0},
                               "cairn, C": {"one at a time": 300.0, "many": 2000.0},
                               "dbos": {"one at a time": 13.0, "many": 22.0, "MiB": 90.0}}},
        "round_trips": {"delay_ms": 1.0, "enqueue": {"batches": 40, "round_trips": 2.02, "ms": 5.0}},
    },
}


class Plot(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("docs.md", DOCS)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def plot(self, results):
        self.write("results.json", json.dumps(results))
        return subprocess.run([sys.executable, PLOT, self.path("results.json"), "--docs", self.path("docs.md"),
                               "--plots", self.path("plots")], check=False, capture_output=True, text=True)

    def texts(self, name):
        return [text.text for text in xml.fromstring(self.read(f"plots/{name}.svg")).iter(SVG + "text")]

    def bars(self, name):
        """The widths of the bars, by colour; squares are the legend."""
        found = {}
        for rect in xml.fromstring(self.read(f"plots/{name}.svg")).iter(SVG + "rect"):
            if rect.get("width") != "11":
                found.setdefault(rect.get("class"), []).append(float(rect.get("width")))
        return found

    def test_a_plot_for_everything_that_was_measured(self):
        done = self.plot(RESULTS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(os.listdir(self.path("plots"))), [
            "engine-and-raw.svg", "held.svg", "peers-cycle.svg", "peers-drain.svg", "peers-wal.svg", "peers-workflow.svg",
            "processes.svg", "round-trips.svg"])

    def test_values_units_command_and_date_are_in_the_plot(self):
        self.plot(RESULTS)
        texts = self.texts("engine-and-raw")
        for text in ("33,300", "36,700", "SQLite: jobs, whole cycle"):
            self.assertIn(text, texts)
        self.assertTrue(any("a second" in text for text in texts), texts)
        self.assertTrue(any("cairn bench" in text and "2026-11-16" in text for text in texts), texts)
        self.assertIn("a<b", self.texts("peers-drain"))

    def test_bars_are_as_long_as_their_values(self):
        self.plot(RESULTS)
        bars = self.bars("peers-drain")
        self.assertAlmostEqual(bars["c0"][0] / bars["c1"][1], 20000 / 64000, places=2)
        self.assertAlmostEqual(bars["c1"][0] / bars["c1"][1], 29000 / 64000, places=2)
        self.assertEqual([len(widths) for widths in bars.values()], [2, 2])

    def test_the_held_run_stands_beside_the_one_without(self):
        self.plot(RESULTS)
        self.assertIn("7,158", self.texts("held"))
        self.assertIn("5,833", self.texts("held"))
        self.assertNotIn("5.00", self.texts("held"))

    def test_a_plot_is_readable_on_a_dark_page(self):
        self.plot(RESULTS)
        for name in os.listdir(self.path("plots")):
            self.assertIn("prefers-color-scheme: dark", self.read(f"plots/{name}"))

    def test_the_document_lists_the_plots_and_keeps_the_rest(self):
        self.plot(RESULTS)
        docs = self.read("docs.md")
        self.assertTrue(docs.startswith("# Performance\n\nText.\n\n<!-- plots -->\n"))
        self.assertTrue(docs.endswith("<!-- end of plots -->\n\n## More\n"))
        self.assertEqual(docs.count("]("), 8)
        self.assertIn("](plots/peers-drain.svg)", docs)
        self.assertNotIn("earlier", docs)
        self.plot(RESULTS)
        self.assertEqual(self.read("docs.md"), docs)

    def test_what_was_not_measured_is_not_drawn(self):
        done = self.plot({"date": "2026-11-16", "commands": {}, "figures": {}})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.path("plots")), [])

    def test_a_document_without_a_place_for_plots_is_refused(self):
        self.write("docs.md", "# Performance\n")
        done = self.plot(RESULTS)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no lines <!-- plots -->", done.stderr)
        self.assertEqual(self.read("docs.md"), "# Performance\n")


if __name__ == "__main__":
    unittest.main()
