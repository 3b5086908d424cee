#!/usr/bin/env bash
# e2e.sh - the long tests: FIRN_E2E=1 lets them run, and Spark is among the readers.
. "$(dirname "$0")/lib.sh"

stage services services kafka s3 gcs rest python parquet_java spark
export FIRN_E2E=1
stage "end to end" go test -count=1 -timeout 60m -v ./e2e/...
finish
