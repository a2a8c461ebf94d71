"""Fits the constants of a model on the user's own documents."""

from mdvec.manage.calibrating.calibration import Calibration, CalibrationRefused, calibrate

__all__ = ["Calibration", "CalibrationRefused", "calibrate"]
