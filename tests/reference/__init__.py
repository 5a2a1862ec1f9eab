"""The papers' algorithms, slow and literal: what the package is compared with, round by round.

Written from the papers alone. Dense inverses, plain sets, a search each round; nothing is cached,
nothing is clever. Positions are 0-based. ``examined`` and ``clicks`` say what is known of a list:
its first ``examined`` items were looked at, those at the positions ``clicks`` were clicked.
"""
