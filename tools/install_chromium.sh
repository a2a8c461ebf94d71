#!/usr/bin/env bash
# Finds chromium for `make test-ui`. With CI set, installs Debian's if it is missing; elsewhere,
# says how to. Exits with 3 if CI cannot get it, which .ci/run tells apart from all other failures.
set -euo pipefail
readonly PACKAGES="chromium fonts-noto-cjk" NO_BROWSER=3 SECONDS_TO_FETCH=240

if command -v "${CHROMIUM:-chromium}" >/dev/null; then exit 0; fi

if [ -z "${CI:-}" ]; then
  echo "make test-ui needs chromium; on Debian: apt-get install $PACKAGES" >&2
  exit 1
fi

no_browser() {
  echo "there is no chromium, and $1" >&2
  exit $NO_BROWSER
}

if [ -n "${CHROMIUM:-}" ]; then
  echo "CHROMIUM names no program: $CHROMIUM" >&2
  exit 1
elif ! command -v apt-get >/dev/null; then
  no_browser "this is no Debian: no apt-get"
elif [ "$(id -u)" -eq 0 ]; then
  as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo -n)
else
  no_browser "only root may install it"
fi

apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive timeout "$SECONDS_TO_FETCH" \
    apt-get -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 "$@" >&2
}

echo "installing $PACKAGES …" >&2
# The lists of the image may do where new ones cannot be fetched.
apt_get update || true
# shellcheck disable=SC2086 # two packages
apt_get install -y --no-install-recommends $PACKAGES || no_browser "apt-get could not install it"
command -v chromium >/dev/null || no_browser "apt-get installed none"
