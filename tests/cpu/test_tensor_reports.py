"""What users reported of other libraries does not happen on the CPU."""

import pytest
from frameworks import HOST, Framework, params
from tensor_reports import REPORTS


@pytest.mark.parametrize("framework", params([framework for framework in HOST if framework.name != "dlpack"]))
@pytest.mark.parametrize("report", REPORTS)
def test_report(framework: Framework, report: str) -> None:
    REPORTS[report](framework.array, framework.numpy, "cpu")
