"""Draws a chart and hands it to the client: as an image, and at a local address."""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable
from dataclasses import dataclass

from mcp_types import ContentBlock, ImageContent
from mdvec import charts
from mdvec.charts import Chart, ImageFormat, chosen_size
from mdvec.errors import MdvecError
from mdvec.settings import ChartSettings

from mdvec_mcp.charts.server import ChartServer

logger = logging.getLogger("mdvec")


@dataclass(frozen=True, slots=True)
class Published:
    """A drawn chart: its content blocks and address; without either, why it was not drawn."""

    blocks: list[ContentBlock]
    url: str | None
    trouble: str = ""


def publish(
    chart: Chart,
    settings: ChartSettings,
    server: ChartServer,
    *,
    size: str | None = None,
    image_format: ImageFormat | None = None,
    words: Callable[[str], str] | None = None,
) -> Published:
    """Draw and serve a chart, by default in the settings' format and size.

    Raises:
        ChartError: the size is out of bounds.
    """
    pixels = chosen_size(size, settings.max_size)
    image_format = image_format or settings.default_format
    try:
        picture = charts.draw(
            chart, pixels, image_format, font_path=settings.font_path, words=words
        )
    except MdvecError as error:
        logger.warning("a chart could not be drawn: %s", error)
        return Published([], None, str(error))
    except Exception as error:  # noqa: BLE001 - the text answers without it
        # The message may contain shops and amounts, so only the type is logged.
        logger.error("a chart could not be drawn (%s)", type(error).__name__)  # noqa: TRY400
        return Published([], None, type(error).__name__)
    blocks: list[ContentBlock] = []
    if image_format != "svg":
        data = base64.b64encode(picture.data).decode("ascii")
        blocks.append(ImageContent(type="image", data=data, mime_type=picture.media_type))
    try:
        return Published(blocks, server.publish(picture))
    except MdvecError as error:
        logger.warning("a chart could not be served: %s", error)
        return Published(blocks, None, "" if blocks else str(error))
