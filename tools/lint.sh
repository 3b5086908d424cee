#!/usr/bin/env bash
# lint.sh - what can be said of the sources without running them.
. "$(dirname "$0")/lib.sh"

formatted() {
  local files
  files=$(gofmt -l .)
  [ -z "$files" ] || { echo "not formatted, run make fmt:"; echo "$files"; return 1; }
}

tidy() { go mod tidy -diff && (cd tools && go mod tidy -diff); }

linted() {
  local lint
  lint=$(tool golangci-lint) || { skip golangci-lint "it could not be built"; return; }
  "$lint" run ./...
}

vulnerable() {
  local check out
  check=$(tool govulncheck) || { skip govulncheck "it could not be built"; return; }
  # A package that imports next to nothing tells at once whether the database is there.
  out=$("$check" ./internal/record 2>&1) || true
  case $out in *"fetching vulnerabilities"*)
    skip govulncheck "the vulnerability database cannot be reached"
    return
    ;;
  esac
  "$check" ./...
}

stage gofmt formatted
stage "go vet" go vet ./...
stage "go mod tidy" tidy
stage golangci-lint linted
stage govulncheck vulnerable
[ "${LINT_PART:-}" = yes ] || finish
