"""What the start of the server relies on inside the SDK."""

import mcp_types._v2025_11_25 as of_2025
import mcp_types._v2026_07_28 as of_2026
from mcp_types._wire_base import WireModel


def test_the_messages_of_both_protocols_have_the_base_whose_validators_wait():
    assert issubclass(of_2025.CallToolRequest, WireModel)
    assert issubclass(of_2026.CallToolRequest, WireModel)
