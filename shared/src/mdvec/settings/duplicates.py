"""The section ``[duplicates]`` of the settings."""

from __future__ import annotations

from decimal import Decimal

from pydantic import BaseModel, ConfigDict, Field

from mdvec.household.core.pairs import MAX_DATE_TOLERANCE, DetectionOptions


class DuplicateSettings(BaseModel):
    """Which pairs of a household's rows are candidates, where nobody says it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    default_date_tolerance: int = Field(
        0, ge=0, le=MAX_DATE_TOLERANCE, description=f"0 to {MAX_DATE_TOLERANCE} days"
    )
    default_amount_tolerance_abs: float = Field(
        0, ge=0, le=1_000_000, description="0 to 1000000 yen"
    )
    default_amount_tolerance_pct: float = Field(0, ge=0, le=100, description="0 to 100 per cent")
    min_similarity_score: float = Field(0.8, ge=0, le=1, description="0 to 1")
    auto_detect_on_import: bool = Field(default=False, description="true or false")

    def options(self) -> DetectionOptions:
        """These settings as a search takes them."""
        return DetectionOptions(
            self.default_date_tolerance,
            Decimal(str(self.default_amount_tolerance_abs)),
            Decimal(str(self.default_amount_tolerance_pct)),
            self.min_similarity_score,
        )
