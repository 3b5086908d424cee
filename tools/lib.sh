# shellcheck shell=bash
# lib.sh - what the scripts behind the Makefile share; sourced, never run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PASSED=0 FAILED=0 SKIPPED=0

# stage NAME COMMAND...: run a command, say how long it took, and go on when it fails: finish tells. A command that
# returns 77 could not be run here and has said why.
stage() {
  local name=$1 start=$SECONDS code=0; shift
  echo "== $name"
  "$@" || code=$?
  case $code in
    0) PASSED=$((PASSED + 1)); echo "== $name: passed, $((SECONDS - start)) s" ;;
    77) SKIPPED=$((SKIPPED + 1)) ;;
    *) FAILED=$((FAILED + 1)); echo "== $name: FAILED, $((SECONDS - start)) s" ;;
  esac
}

# finish: the last line of a run, and its exit code.
finish() {
  echo "stages: $PASSED passed, $FAILED failed, $SKIPPED skipped"
  [ "$FAILED" = 0 ]
}

skip() { echo "skipped: $1 ($2)"; return 77; }

# services NAME...: start services, set what the tests read, and stop them when this script ends.
services() {
  RUN=$(mktemp -d "${TMPDIR:-/tmp}/firn-test.XXXXXX")
  trap 'e2e/components/services.sh down "$RUN"; rm -rf "$RUN"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  e2e/components/services.sh up "$RUN" --owner $$ "$@" || return 1
  set -a
  . "$RUN/env"
  set +a
}

# tool NAME: build a tool of tools/go.mod unless it is there, and print its path.
tool() {
  local name=$1 package
  package=$(sed -n "s:^[[:space:]]*\([^ ]*/$name\)\$:\1:p" tools/go.mod | head -1)
  mkdir -p .cache/bin
  if [ ! -x ".cache/bin/$name" ] || [ tools/go.mod -nt ".cache/bin/$name" ]; then
    echo "building $name" >&2
    go build -modfile=tools/go.mod -o ".cache/bin/$name.$$" "$package" >&2
    mv ".cache/bin/$name.$$" ".cache/bin/$name"
  fi
  echo ".cache/bin/$name"
}
