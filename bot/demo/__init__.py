"""The browser demo: the real bot in its own process, beside a simulated Discord on the loopback interface.

Needs the optional dependencies of the ``demo`` extra. Nothing else in the project imports this package.
"""

from __future__ import annotations
