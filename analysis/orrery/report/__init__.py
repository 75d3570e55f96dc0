"""One interactive page of a run or a study: a single file of HTML that works without a network.

The charts are drawn by a script of our own. Plotly as Debian ships it is 8.7 MB: each page would
be that large, and on two shared cores took 1.3 to 5 s to open with the month of 7,500 nodes; it
cannot be zoomed with the keyboard, and does not follow the theme of the reader.
"""

from orrery.report.of_run import run_page

__all__ = ["run_page"]
