"""Add up pytest's reports, print the closing line and exit with 1 when a test or a step failed."""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

steps, reports = int(sys.argv[1]), [Path(name) for name in sys.argv[2:] if Path(name).is_file()]
suites = [suite for report in reports for suite in ElementTree.parse(report).getroot().iter("testsuite")]
total, failed, skipped = (
    sum(int(suite.get(name, 0)) for suite in suites for name in names)
    for names in (("tests",), ("failures", "errors"), ("skipped",))
)
print(f"{total - failed - skipped} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if steps or failed or not total else 0)
