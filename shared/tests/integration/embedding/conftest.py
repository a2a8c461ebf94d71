"""A server that embeds, for the backends that send texts to one."""

import pytest
from endpoint_stand_in import EndpointStandIn


@pytest.fixture
def endpoint():
    with EndpointStandIn().running() as stand_in:
        yield stand_in
