"""Medians, intervals, ratios, ties: against values known beforehand."""

import random
import unittest

import fixtures  # noqa: F401
from kit import statistics
from kit.statistics import Estimate


class EstimateTest(unittest.TestCase):
    def test_median(self):
        for samples, median in (([3.0], 3.0), ([1.0, 2.0], 1.5), ([5.0, 1.0, 3.0], 3.0), ([7.0] * 6, 7.0)):
            with self.subTest(samples=samples):
                self.assertEqual(statistics.estimate(samples).median, median)

    def test_interval_holds_the_median_and_stays_within_the_samples(self):
        figure = statistics.estimate([10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0])
        self.assertLessEqual(10.0, figure.low)
        self.assertLess(figure.low, figure.median)
        self.assertLess(figure.median, figure.high)
        self.assertLessEqual(figure.high, 16.0)

    def test_one_sample_has_no_interval(self):
        self.assertEqual(statistics.estimate([4.0]), Estimate(4.0, 4.0, 4.0, 1))

    def test_no_samples_are_refused(self):
        with self.assertRaises(ValueError):
            statistics.estimate([])

    def test_the_same_seed_gives_the_same_interval(self):
        samples = [random.Random(5).gauss(100, 10) for _ in range(10)]
        self.assertEqual(statistics.estimate(samples, 3), statistics.estimate(samples, 3))

    def test_interval_covers_the_true_median_about_as_often_as_it_says(self):
        rng, covered, trials = random.Random(7), 0, 120
        for trial in range(trials):
            figure = statistics.estimate([rng.gauss(50, 5) for _ in range(15)], trial)
            covered += figure.low <= 50 <= figure.high
        self.assertGreaterEqual(covered / trials, 0.88)

    def test_half_width(self):
        self.assertAlmostEqual(Estimate(100.0, 95.0, 107.0, 9).half_width, 0.06)


class RatioTest(unittest.TestCase):
    def test_a_disturbance_of_both_cancels_out(self):
        reference = [100.0, 50.0, 80.0, 100.0, 20.0]  # the machine was busy in some rounds
        ratio = statistics.paired_ratio([value * 2 for value in reference], reference)
        self.assertEqual((ratio.median, ratio.low, ratio.high), (2.0, 2.0, 2.0))

    def test_unpaired(self):
        ratio = statistics.ratio_of_medians(
            [110.0, 111.0, 109.0, 110.0, 110.5], [100.0, 99.0, 101.0, 100.0, 100.5]
        )
        self.assertAlmostEqual(ratio.median, 1.10, places=6)
        self.assertTrue(1.07 < ratio.low <= ratio.median <= ratio.high < 1.13)
        self.assertTrue(statistics.differs(ratio))

    def test_differs_only_with_an_interval_beside_one_and_enough_rounds(self):
        for figure, expected in (
            (Estimate(1.1, 1.05, 1.2, 5), True),
            (Estimate(0.9, 0.8, 0.95, 5), True),
            (Estimate(1.1, 0.99, 1.2, 10), False),
            (Estimate(2.0, 1.9, 2.1, 4), False),
        ):
            with self.subTest(figure=figure):
                self.assertEqual(statistics.differs(figure), expected)


class RankTest(unittest.TestCase):
    def test_clear_order(self):
        rounds = [[100.0, 101, 99, 100, 102], [300.0, 301, 299, 305, 300], [200.0, 199, 202, 201, 200]]
        self.assertEqual(statistics.rank_with_ties(rounds), [3, 1, 2])

    def test_no_difference_shown_is_a_tie_and_the_next_rank_is_skipped(self):
        rounds = [[100.0, 104, 98, 103, 99, 101], [102.0, 99, 101, 100, 103, 98], [50.0, 51, 49, 50, 52, 51]]
        self.assertEqual(statistics.rank_with_ties(rounds), [1, 1, 3])

    def test_a_chain_of_small_steps_does_not_tie_first_with_last(self):
        base = [100.0, 110, 90, 105, 95, 100, 108, 92]
        rounds = [[value * factor for value in base] for factor in (1.0, 0.99, 0.5)]
        self.assertEqual(statistics.rank_with_ties(rounds)[2], 3)

    def test_too_few_rounds_tell_nothing(self):
        self.assertEqual(statistics.rank_with_ties([[100.0, 100, 101], [10.0, 11, 10]]), [1, 1])


class HistogramTest(unittest.TestCase):
    def test_percentile(self):
        histogram = [(10, 50), (20, 40), (30, 9), (1000, 1)]
        for share, value in ((50, 10), (50.1, 20), (90, 20), (99, 30), (99.9, 1000), (100, 1000), (0, 10)):
            with self.subTest(share=share):
                self.assertEqual(statistics.percentile(histogram, share), value)
        self.assertEqual(statistics.percentile([], 50), 0.0)

    def test_merge(self):
        self.assertEqual(statistics.merge_histograms([[(1, 2), (5, 1)], [(5, 3)], []]), [(1, 2), (5, 4)])


if __name__ == "__main__":
    unittest.main()
