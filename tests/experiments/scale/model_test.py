#!/usr/bin/env python3
"""The model of many hosts: cases computed by hand, and what holds for any job."""
import dataclasses
import unittest

import numpy

from model import Fleet, Job, Preparation, Queue, Store, hottest_share, request_points, simulate, start_seconds

# Without limits other than the trainer: a step takes one second.
JOB = Job(hosts=4, samples=10, record_bytes=1e3, step_seconds=1.0, make_seconds=0.0, link=1e9, read_ahead=3e4, slots=2,
          request_bytes=1e6)
FAST = Store(rate=1e12)


def period(job=JOB, store=FAST, steps=60, **more):
    return 1 / simulate(job, store, steps, **more).rate(first=20)


class ByHand(unittest.TestCase):
    def test_a_queue_serves_in_order_of_arrival_and_is_never_idle_with_work(self):
        queue = Queue()
        self.assertEqual(list(queue.serve(numpy.array([5.0, 0.0, 1.0]), 2.0)), [7.0, 2.0, 4.0])
        self.assertEqual(list(queue.serve(numpy.array([0.0]), 1.0)), [8.0])

    def test_the_read_ahead_is_filled_up_below_three_quarters(self):
        # Four steps: after the first is made, three are left, and one is requested.
        self.assertEqual(request_points(7, 4.0), [0, 0, 0, 0, 1, 2, 3])
        # Six and a half: after the second, four and a half are left, and two are requested.
        self.assertEqual(request_points(9, 6.5), [0, 0, 0, 0, 0, 0, 2, 2, 4])

    def test_the_first_steps(self):
        # A store that sends a piece in 0.5 s and makes all four wait: 2 s for a step of all hosts. Three steps are requested
        # at once, the fourth when the first is made.
        store = Store(rate=2e4)
        ends = simulate(dataclasses.replace(JOB, make_seconds=0.25), store, 4).ends
        self.assertEqual(list(ends), [3.25, 5.25, 7.25, 9.25])

    def test_each_part_can_be_the_limit(self):
        self.assertAlmostEqual(period(), 1.0)
        self.assertAlmostEqual(period(store=Store(rate=1e4)), 4.0, places=2)
        self.assertAlmostEqual(period(dataclasses.replace(JOB, link=4e3)), 2.5)
        self.assertAlmostEqual(period(dataclasses.replace(JOB, make_seconds=1.5)), 1.5)
        half = Fleet(servers=4, rate=1e12, kept=0.5)
        self.assertAlmostEqual(period(store=Store(rate=1e4), fleet=half), 2.0, places=2)
        slow = Fleet(servers=4, rate=5e2, kept=0.5, hottest=1.5)
        self.assertAlmostEqual(period(fleet=slow), 4 * 5e3 * 1.5 / 2e3, places=2)
        decoded = Preparation(sample_seconds=0.05, sample_bytes=1e3)
        self.assertAlmostEqual(period(preparation=decoded), 2.0, places=2)

    def test_one_slow_link_holds_all_hosts(self):
        course = simulate(dataclasses.replace(JOB, link=[1e9, 1e9, 5e3, 1e9]), FAST, 60)
        self.assertAlmostEqual(1 / course.rate(20), 2.0)
        self.assertEqual(set(course.late_hosts[20:]), {2})

    def test_a_late_answer_costs_what_the_read_ahead_does_not_cover(self):
        # All answers are late, and three steps are requested at a time: one arrives in each third of the delay.
        self.assertAlmostEqual(period(store=Store(1e12, late=[(1.0, 3.0)])), 1.0)
        self.assertAlmostEqual(period(store=Store(1e12, late=[(1.0, 6.0)])), 2.0, places=1)

    def test_a_start_waits_for_the_larger_of_store_and_link(self):
        self.assertEqual(start_seconds(10, 1e9, 1e10, 1e9, 0.5), 1.5)
        self.assertEqual(start_seconds(100, 1e9, 1e10, 1e9, 0.5), 10.5)


class Always(unittest.TestCase):
    def test_nobody_serves_faster_than_it_can(self):
        total = 4 * 50 * 10 * 1e3  # bytes that the hosts need
        for kept in (0.0, 0.3, 0.9):
            course = simulate(JOB, Store(rate=1e4), 50, fleet=Fleet(servers=4, rate=2.5e3, kept=kept))
            self.assertLessEqual(total * (1 - kept) / course.ends[-1], 1e4)
            self.assertLessEqual(total * kept / course.ends[-1], 4 * 2.5e3)

    def test_more_hosts_never_make_a_step_faster(self):
        store = Store(rate=3e5, late=[(0.01, 9.0)])
        periods = [period(dataclasses.replace(JOB, hosts=hosts), store) for hosts in (1, 10, 100)]
        self.assertEqual(periods, sorted(periods))

    def test_the_hottest_server_has_more_than_its_share(self):
        self.assertEqual(hottest_share(1, 160), 1.0)
        self.assertTrue(1.05 < hottest_share(50, 160) < 1.5, hottest_share(50, 160))


if __name__ == "__main__":
    unittest.main(verbosity=2)
