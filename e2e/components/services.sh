#!/usr/bin/env bash
# services.sh - start all that the tests can use, each as far as this machine has it.
#
#   services.sh up DIR [--owner PID] NAME...   start services with their state in DIR
#   services.sh down DIR                       stop them
#
# Names: kafka s3 gcs rest python parquet_java spark. up writes DIR/env, one line NAME=VALUE for each setting that the
# tests read (e2e/services.go and e2e/matrix say what they mean), and prints "skipped: NAME (why)" for each service that
# cannot be had. It fails when one of those is named in FIRN_REQUIRE. With --owner everything stops when that process is
# gone.
. "$(cd "$(dirname "$0")" && pwd)/lib.sh"

HERE=$(cd "$(dirname "$0")" && pwd)

# one NAME: start a service; its settings go to DIR/NAME.env, the reason why not to DIR/NAME.why.
one() {
  local name=$1
  if "start_$name" >"$DIR/$name.part" 2>"$DIR/$name.why"; then
    mv "$DIR/$name.part" "$DIR/$name.env"
  else
    rm -f "$DIR/$name.part"
  fi
}

# The functions below run where the shell does not stop at a failure: each step says itself what follows from one.

start_kafka() {
  local address
  address=$("$HERE/kafka.sh" start --dir "$DIR/kafka") && echo "FIRN_TEST_KAFKA=$address"
}

start_s3() {
  local url
  url=$("$HERE/object-store.sh" start --dir "$DIR/s3" s3) || return 1
  "$HERE/object-store.sh" bucket --dir "$DIR/s3" firn-test || return 1
  cat <<ENV
FIRN_TEST_S3_ENDPOINT=$url
FIRN_TEST_S3_ACCESS_KEY=firn
FIRN_TEST_S3_SECRET_KEY=firnsecret
FIRN_TEST_S3_REGION=us-east-1
FIRN_TEST_S3_BUCKET=firn-test
ENV
}

start_gcs() {
  local url
  url=$("$HERE/object-store.sh" start --dir "$DIR/gcs" gcs) || return 1
  "$HERE/object-store.sh" bucket --dir "$DIR/gcs" firn-test || return 1
  cat <<ENV
FIRN_TEST_GCS_ENDPOINT=$url
FIRN_TEST_GCS_BUCKET=firn-test
ENV
}

# The catalog keeps tables wherever their location says: in local files, and on the stores of S3 and GCS when they are
# there.
start_rest() {
  local stores=() url
  if [ -e "$DIR/s3.env" ]; then
    stores+=("s3.endpoint=$("$HERE/object-store.sh" address --dir "$DIR/s3")" s3.path-style-access=true
      s3.access-key-id=firn s3.secret-access-key=firnsecret client.region=us-east-1)
  fi
  if [ -e "$DIR/gcs.env" ]; then
    stores+=("gcs.service.host=$("$HERE/object-store.sh" address --dir "$DIR/gcs")" gcs.no-auth=true gcs.project-id=firn)
  fi
  url=$("$HERE/rest-catalog.sh" start --dir "$DIR/rest" io-impl=org.apache.iceberg.io.ResolvingFileIO \
    ${stores[@]+"${stores[@]}"}) && echo "FIRN_TEST_REST_URL=$url"
}

start_python() {
  local python
  python=$("$HERE/python.sh" readers) && echo "FIRN_PYTHON=$python"
}

start_parquet_java() {
  local class_path
  class_path=$("$HERE/parquet-java.sh" install) && echo "FIRN_PARQUET_JAVA=$class_path"
}

start_spark() {
  local python
  python=$("$HERE/python.sh" spark) && echo "FIRN_PYTHON_SPARK=$python"
}

wanted() { case " $NAMES " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }

up() {
  local name failed=0 starting=()
  # The catalog is told where the stores are, so it comes after them; the two environments share a cache.
  { for name in s3 gcs rest; do if wanted $name; then one $name; fi; done; } &
  starting+=($!)
  { for name in python spark; do if wanted $name; then one $name; fi; done; } &
  starting+=($!)
  if wanted parquet_java; then one parquet_java & starting+=($!); fi
  if wanted kafka; then one kafka & starting+=($!); fi
  wait "${starting[@]}"
  : >"$DIR/env"
  for name in $NAMES; do
    if [ -e "$DIR/$name.env" ]; then
      cat "$DIR/$name.env" >>"$DIR/env"
      continue
    fi
    echo "skipped: $name ($(tail -1 "$DIR/$name.why"))"
    case " ${FIRN_REQUIRE:-} " in *" $name "*) say "$name is required:"; cat "$DIR/$name.why" >&2; failed=1 ;; esac
  done
  return $failed
}

down() {
  local name
  for name in kafka rest s3 gcs; do stop_component "$DIR/$name" & done
  wait
}

# watch PID: a process apart that stops the services when PID is gone, however it ended.
watch() {
  setsid bash -c 'while kill -0 "$1" 2>/dev/null; do sleep 2; done; exec "$2" down "$3"' watch \
    "$1" "$HERE/services.sh" "$DIR" >/dev/null 2>&1 </dev/null &
}

verb=${1:-}
[ -n "${2:-}" ] || usage
if [ "$verb" = down ] && [ ! -d "$2" ]; then exit 0; fi
mkdir -p "$2"
DIR=$(cd "$2" && pwd)
shift 2
case $verb in
  up)
    if [ "${1:-}" = --owner ]; then watch "$2"; shift 2; fi
    NAMES=$*
    up ;;
  down) down ;;
  *) usage ;;
esac
