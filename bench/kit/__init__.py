"""Comparison of JSON servers: starts them, checks them, loads them in turn, and says what the figures mean.

Reading order: cli (the run from above), peers, server, verify, wrk, rounds, statistics, verdicts, report,
charts.
"""
