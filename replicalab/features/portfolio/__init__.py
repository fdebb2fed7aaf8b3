"""The studies that one lab runs with one budget, and a plan of each."""

from replicalab.features.portfolio.choice import portfolio
