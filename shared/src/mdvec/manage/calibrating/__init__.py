"""Fits the constants of a model on the user's own documents."""

from mdvec.manage.calibrating.calibration import (
    DEFAULT_MINUTES,
    Calibration,
    CalibrationRefused,
    calibrate,
)

__all__ = ["DEFAULT_MINUTES", "Calibration", "CalibrationRefused", "calibrate"]
