#!/bin/sh
# Installs the myna executable: one file, no root. It picks the build that this processor can run, checks its SHA-256
# against the release's own sums, and replaces an older one at once; a running server uses the old one until it is
# restarted. Everything is inside a function, so that a download cut short runs nothing.
#
#   MYNA_VERSION   a release's tag (default: the latest)
#   MYNA_BIN_DIR   where to put it (default: ~/.local/bin)
#   MYNA_RELEASES  where the releases are (default: the project's own)
set -eu

fail() {
  echo "myna: $1" >&2
  exit 1
}

fetch() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --retry 3 --output "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget --quiet --tries=3 --output-document="$2" "$1"
  else
    fail "curl or wget is needed to download"
  fi
}

main() {
  [ "$(uname -s)" = Linux ] || fail "there is no build for $(uname -s) yet; from source it may run: see the README"
  [ "$(uname -m)" = x86_64 ] || fail "there is no build for $(uname -m) yet; from source it may run: see the README"
  # Only the version output shows that the loader is musl's, and it is on stderr.
  if (ldd --version 2>&1 || true) | grep -qi musl; then fail "it needs glibc; this system has musl"; fi
  command -v sha256sum >/dev/null 2>&1 || fail "sha256sum is needed to check the download"

  name=myna-linux-x64
  grep -qw avx2 /proc/cpuinfo || name=myna-linux-x64-baseline
  releases=${MYNA_RELEASES:-https://github.com/myna-voice/myna/releases}
  version=${MYNA_VERSION:-latest}
  if [ "$version" = latest ]; then from=$releases/latest/download; else from=$releases/download/$version; fi
  bin=${MYNA_BIN_DIR:-${HOME:?is not set: set MYNA_BIN_DIR to a folder}/.local/bin}

  mkdir -p "$bin" && temp=$(mktemp -d "$bin/.myna-install.XXXXXX") ||
    fail "nothing can be written to $bin; set MYNA_BIN_DIR to another folder"
  trap 'rm -rf "$temp"' EXIT INT TERM
  echo "Downloading $name ($version)"
  fetch "$from/SHA256SUMS" "$temp/SHA256SUMS" || fail "$from/SHA256SUMS could not be downloaded"
  fetch "$from/$name" "$temp/$name" || fail "$from/$name could not be downloaded"
  grep " $name\$" "$temp/SHA256SUMS" >"$temp/sum" || fail "the release has no sum for $name"
  # The short option, because busybox knows no other.
  (cd "$temp" && sha256sum -c sum >/dev/null) || fail "the download is damaged: its SHA-256 is not the release's"
  chmod 755 "$temp/$name"
  "$temp/$name" --version >/dev/null || fail "the executable does not start on this machine"
  mv -f "$temp/$name" "$bin/myna"

  echo "Installed $("$bin/myna" --version) as $bin/myna"
  case ":$PATH:" in
    *":$bin:"*) echo "Start it with: myna serve" ;;
    *) echo "Start it with: $bin/myna serve   (or add $bin to your PATH)" ;;
  esac
}

main "$@"
