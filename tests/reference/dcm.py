"""The dependent click model, user by user: Katariya, Kveton, Szepesvári and Wen, 2016, Section 2.

With every chance to stop at 1 it is the cascade model. ``discounts`` are those of Li, Wang, Zhang
and Chen 2016: a list is worth the discount of the position that satisfied the user.
"""

from __future__ import annotations

from itertools import product


def at(values, position):
    """The entry of a position; beyond the end, the last one."""
    return values[position] if position < len(values) else values[-1]


def look(attracted, ends):
    """One user and one list: ``attracted`` and ``ends`` say what would happen at each position.

    Returns how many items are known to have been looked at, the clicks, and the position that
    satisfied the user, or None.
    """
    clicks = []
    for position in range(len(attracted)):
        if attracted[position]:
            clicks.append(position)
            if ends[position]:
                return position + 1, tuple(clicks), position
    # The user looked at everything, but only the user knows that: somebody who clicked at the
    # last click and left satisfied would look the same.
    return clicks[-1] + 1 if clicks else len(attracted), tuple(clicks), None


def value(attraction, stop, discounts=(1.0,)):
    """Expected worth of a list, summed over everything that can happen."""
    k = len(attraction)
    total = 0.0
    for attracted in product([False, True], repeat=k):
        for ends in product([False, True], repeat=k):
            chance = 1.0
            for position in range(k):
                here = attraction[position]
                chance *= here if attracted[position] else 1.0 - here
                here = at(stop, position)
                chance *= here if ends[position] else 1.0 - here
            _, _, satisfied = look(attracted, ends)
            if satisfied is not None:
                total += chance * at(discounts, satisfied)
    return total
