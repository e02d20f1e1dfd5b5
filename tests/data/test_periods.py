# SPDX-License-Identifier: BSD-3-Clause
"""Dates of many forms, cut into periods."""

import numpy as np
import pytest

from discan.data.periods import days, periods


def texts(*values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


@pytest.mark.parametrize(
    "text",
    ["2005-01-31", "2005-01-31T12:30:00", "2005-01-31 12:30", "2005/01/31", "31.01.2005",
     "01/31/2005", "31/01/2005", "31 Jan 2005", "31 January 2005", "Jan 31, 2005",
     "January 31, 2005", "31-Jan-2005", "20050131", "Mon, 31 Jan 2005 12:30:00 GMT"],
)  # fmt: skip
def test_dates(text):
    (found,) = days(texts(text))
    assert np.datetime64(int(found), "D") == np.datetime64("2005-01-31")


def test_not_dates():
    assert days(texts("D", "R", None)) is None
    assert days(texts("rec.autos 1", "rec.autos 2")) is None
    assert days(texts(None, None)) is None
    assert days(texts("2005-13-45")) is None
    mostly = days(texts(*["2005-01-31"] * 19, "unknown"))
    assert np.isnan(mostly[-1])
    assert days(texts(*["2005-01-31"] * 8, "unknown", "unknown")) is None


@pytest.mark.parametrize(
    ("first", "last", "kind", "names"),
    [
        ("2005-01-30", "2005-02-01", "day", ["2005-01-30", "2005-01-31", "2005-02-01"]),
        ("2005-01-03", "2005-03-20", "week", ["2005-01-03", "2005-01-10", "2005-03-14"]),
        ("2004-11-30", "2007-01-01", "month", ["Nov 2004", "Dec 2004", "Jan 2007"]),
        ("1995-01-01", "2007-06-30", "quarter", ["1995 Q1", "1995 Q2", "2007 Q2"]),
        ("1955", "2007", "year", ["1955", "1956", "2007"]),
        ("1455", "2007", "decade", ["1450s", "1460s", "2000s"]),
    ],
)
def test_periods_of_dates(first, last, kind, names):
    found = periods(texts(last, None, first))
    assert found.kind == kind
    assert [found.names[0], found.names[1], found.names[-1]] == names
    assert list(found.number) == [len(found.names) - 1, -1, 0]
    assert len(found.names) <= 60


def test_periods_of_numbers():
    years = periods(np.array([1990.0, np.nan, 2003.0]))
    assert years.names == [str(year) for year in range(1990, 2004)]
    assert list(years.number) == [0, -1, 13]
    ages = periods(np.array([0.5, 17.25, 99.0]))
    assert 20 <= len(ages.names) <= 60
    low, high = ages.names[ages.number[1]].split(" to ")
    assert float(low) <= 17.25 < float(high)
    assert periods(np.array([np.nan])) is None
