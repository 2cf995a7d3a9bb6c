#!/usr/bin/env python3
"""The Grafana dashboard is correct: identities, positions, units, variables; it shows every metric."""
import itertools
import unittest

import queries

WIDTH = 24  # of Grafana's grid
UNITS = {"percentunit", "cps", "reqps", "Bps", "bytes", "s", "short"}


def cells(panel):
    place = panel["gridPos"]
    return set(itertools.product(range(place["x"], place["x"] + place["w"]),
                                 range(place["y"], place["y"] + place["h"])))


class Dashboard(unittest.TestCase):
    def setUp(self):
        self.dashboard = queries.dashboard()

    def test_identities_are_unique(self):
        numbers = [panel["id"] for panel in queries.all_panels()]
        self.assertEqual(len(numbers), len(set(numbers)))
        titles = [panel["title"] for panel in queries.all_panels()]
        self.assertEqual(len(titles), len(set(titles)))
        for panel in queries.panels():
            letters = [target["refId"] for target in panel["targets"]]
            self.assertEqual(len(letters), len(set(letters)), panel["title"])

    def check_places(self, panels):
        """No panel overlaps another one or leaves the grid."""
        taken = {}
        for panel in panels:
            for cell in cells(panel):
                self.assertLess(cell[0], WIDTH, panel["title"])
                self.assertNotIn(cell, taken, f"{panel['title']} on {taken.get(cell)}")
                taken[cell] = panel["title"]

    def test_no_panel_overlaps_another_or_leaves_the_grid(self):
        self.check_places(self.dashboard["panels"])
        for row in self.dashboard["panels"]:
            self.check_places([row, *row.get("panels", [])])

    def test_only_the_first_rows_are_open(self):
        """Grafana shows the panels of a collapsed row only if they are in the row itself, and of an open row if they follow it."""
        rows = [panel for panel in self.dashboard["panels"] if panel["type"] == "row"]
        self.assertEqual([row["title"] for row in rows if not row["collapsed"]],
                         ["Overview", "Stalls: what trainers wait for"])
        for row in rows:
            self.assertEqual(row["collapsed"], bool(row.get("panels")), row["title"])
        last_open = max(self.dashboard["panels"].index(row) for row in rows if not row["collapsed"])
        kinds = [panel["type"] for panel in self.dashboard["panels"][last_open + 1:]]
        self.assertEqual(kinds[kinds.index("row"):], ["row"] * (len(rows) - 2))

    def test_every_panel_says_what_it_shows_in_which_unit(self):
        for panel in queries.panels():
            with self.subTest(panel=panel["title"]):
                self.assertIn(panel["type"], ("timeseries", "stat"))
                self.assertIn(panel["fieldConfig"]["defaults"]["unit"], UNITS)
                self.assertTrue(panel["description"].endswith("."))
                self.assertTrue(panel["targets"])
                for target in panel["targets"]:
                    if panel["type"] == "timeseries":
                        self.assertTrue(target["legendFormat"], "a line has no name")

    def test_only_the_chosen_data_source_and_daemons_are_asked(self):
        for panel in queries.panels():
            for place in (panel, *panel["targets"]):
                self.assertEqual(place["datasource"], {"type": "prometheus", "uid": "${datasource}"})
            for target in panel["targets"]:
                chosen = [text for text in queries.selectors(target["expr"]) if text != "echoline_build_info"]
                self.assertTrue(chosen, target["expr"])
                for selector in chosen:
                    self.assertIn('job=~"$job", instance=~"$instance"', selector)

    def test_each_variable_depends_on_the_one_before(self):
        variables = {one["name"]: one for one in self.dashboard["templating"]["list"]}
        self.assertEqual(list(variables), ["datasource", "job", "instance", "stream"])
        self.assertEqual(variables["datasource"]["type"], "datasource")
        for name in ("job", "instance", "stream"):
            self.assertTrue(variables[name]["includeAll"] and variables[name]["multi"])
        self.assertIn("$job", variables["instance"]["definition"])
        self.assertIn("$instance", variables["stream"]["definition"])

    def test_shows_every_metric_and_no_other(self):
        shown = set().union(*(queries.names(text) for text in queries.expressions().values()))
        self.assertEqual(shown, set(queries.metrics()))

    def test_counters_are_shown_only_as_rates_or_increases(self):
        for place, text in queries.expressions().items():
            for selector in queries.selectors(text):
                name = selector.partition("{")[0]
                if queries.metrics().get(queries.metric_of(name)) in ("counter", "histogram"):
                    self.assertRegex(text, rf"(rate|increase)\({name}\{{[^}}]*\}}\[", place)


if __name__ == "__main__":
    unittest.main(verbosity=2)
