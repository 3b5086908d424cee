#!/usr/bin/env bash
# fuzz.sh TIME PACKAGE... - run every fuzz target of the packages for TIME each.
. "$(dirname "$0")/lib.sh"

# A target that was stopped by the end of its time is well; go says "context deadline exceeded" of it when the machine
# is busy, and calls that a failure.
# By default each interesting input is made smaller for up to a minute, all of a short run: 100 tries are enough.
fuzz() {
  local package=$1 target=$2 time=$3 out code=0
  out=$(go test -run='^$' "-fuzz=^$target\$" "-fuzztime=$time" -fuzzminimizetime=100x -parallel=2 "$package" 2>&1) || code=$?
  if [ $code != 0 ] && ! grep -q "context deadline exceeded" <<<"$out"; then echo "$out"; return 1; fi
  if [ $code != 0 ] && grep -q "Failing input written" <<<"$out"; then echo "$out"; return 1; fi
  grep -E '^fuzz: elapsed' <<<"$out" | tail -1 || true
}

time=$1
shift
while read -r package dir; do
  for target in $(grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go 2>/dev/null | cut -c6- | sort -u); do
    stage "$target of ${package#firn/}" fuzz "$package" "$target" "$time"
  done
done < <(go list -f '{{.ImportPath}} {{.Dir}}' "$@")
finish
