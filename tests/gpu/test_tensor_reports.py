"""What users reported of other libraries does not happen on a GPU."""

import numpy as np
import pytest
from frameworks import DEVICE, HOST, Framework, params
from tensor_reports import REPORTS

from nvmath._core import place
from nvmath.bindings import _load
from nvmath.tensor import binary_contraction

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not place.has_device(), reason="there is no CUDA device"),
    pytest.mark.skipif(_load.find_library("cutensor") is None, reason="cuTENSOR is not installed (pip install cutensor-cu13)"),
]


@pytest.mark.parametrize("framework", params([framework for framework in (*DEVICE, *HOST) if framework.name != "dlpack"]))
@pytest.mark.parametrize("report", REPORTS)
def test_report(framework: Framework, report: str) -> None:
    REPORTS[report](framework.array, framework.numpy, "cuda")


def test_many_small_products_are_one_batch(torch) -> None:
    """0.8.0 notes of the original: small extents with a large batch were slow; here a loop over them would take seconds."""
    a, b = (torch.randn(1_000_000, 4, 4, device="cuda") for _ in range(2))
    got = binary_contraction("bij,bjk->bik", a, b, options={"result_layout": "C"})
    torch.testing.assert_close(got, a @ b, rtol=1e-4, atol=1e-4)


def test_more_than_2_to_the_31_elements_are_addressed(torch) -> None:
    count = 2**31 + 2**20
    if torch.cuda.mem_get_info()[0] < 3 * count:
        pytest.skip("this GPU has less than 7 GB free")
    a = torch.zeros(count // 1024, 1024, dtype=torch.float16, device="cuda")
    a[-1, -1] = 3.0
    got = binary_contraction("ij,j->i", a, torch.ones(1024, dtype=torch.float16, device="cuda"))
    assert got[-1].item() == 3.0
    assert np.count_nonzero(got.cpu().numpy()) == 1
