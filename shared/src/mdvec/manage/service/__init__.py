"""The shared server as a user service: systemd on Linux, launchd on macOS."""
