#!/usr/bin/env bash
# test.sh - everything that a change must pass. It installs and starts what it needs, each as far as it can be had, and
# stops what it started. Several may run side by side.
. "$(dirname "$0")/lib.sh"

# A test binary that links iceberg-go takes minutes to build with the race detector, and links much that is not ours:
# those packages are tested without it (make race tests all).
HEAVY=github.com/apache/iceberg-go

# packages heavy|light: the packages that have tests, by whether their test binary links HEAVY.
packages() {
  go list -test -f '{{if eq .Name "main"}}{{.ImportPath}} {{join .Deps " "}}{{end}}' ./... |
    awk -v heavy="$HEAVY" -v want="$1" '$1 ~ /\.test$/ {
      kind = "light"
      for (i = 2; i <= NF; i++) if (index($i, heavy) == 1) kind = "heavy"
      if (kind == want) { sub(/\.test$/, "", $1); print $1 }
    }'
}

heavy() { [ -z "$HEAVY_PACKAGES" ] || go test -timeout 20m $HEAVY_PACKAGES; }

light() {
  [ -n "$LIGHT_PACKAGES" ] || return 0
  if [ "$(go env CGO_ENABLED)" = 1 ] && command -v "$(go env CC)" >/dev/null; then
    go test -race -timeout 20m $LIGHT_PACKAGES
  else
    echo "skipped: race detector (no C compiler)"
    go test -timeout 20m $LIGHT_PACKAGES
  fi
}

fuzzed() { [ -z "$LIGHT_PACKAGES" ] || tools/fuzz.sh "${FUZZTIME:-10s}" $LIGHT_PACKAGES; }

stage services services kafka s3 gcs rest python parquet_java
LINT_PART=yes . tools/lint.sh
LIGHT_PACKAGES=$(packages light) HEAVY_PACKAGES=$(packages heavy)
stage "tests with the race detector" light
stage "tests that link iceberg-go" heavy
stage fuzzing fuzzed
finish
