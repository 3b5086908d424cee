# shellcheck shell=bash
# lib.sh - what the scripts behind the Makefile share; sourced, never run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A script that reads another in goes on counting.
: "${PASSED:=0}" "${FAILED:=0}" "${SKIPPED:=0}"

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

# tool NAME: build a tool of tools/go.mod unless it is there, and print its path. Each text of tools/go.mod has a folder
# of its own, which every checkout shares.
tool() {
  local name=$1 package folder
  folder=${XDG_CACHE_HOME:-$HOME/.cache}/firn-components/tools-$(cat tools/go.mod tools/go.sum | cksum | cut -d' ' -f1)
  package=$(sed -n "s:^[[:space:]]*\([^ ]*/$name\)\$:\1:p" tools/go.mod | head -1)
  if [ ! -x "$folder/$name" ]; then
    echo "building $name" >&2
    mkdir -p "$folder"
    go build -modfile=tools/go.mod -o "$folder/$name.$$" "$package" >&2 || return 1
    mv "$folder/$name.$$" "$folder/$name"
  fi
  echo "$folder/$name"
}
