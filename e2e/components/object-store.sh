#!/usr/bin/env bash
# object-store.sh - a real object store on 127.0.0.1: S3 by versitygw over a folder, or GCS by fake-gcs-server.
# Needs go the first time, and curl for bucket.
#
#   object-store.sh start --dir D [--port P] [s3|gcs]   start it or find it running, print its URL
#   object-store.sh stop --dir D                        stop it; the objects stay in D/data
#   object-store.sh address --dir D                     print its URL; exit 1 if it does not run
#   object-store.sh env --dir D                         print the settings that a client needs, for eval
#   object-store.sh bucket --dir D NAME                 make a bucket (3 letters or more), or find it there
#   object-store.sh install [s3|gcs]                    only build the program
#
# S3_KEY, S3_SECRET and S3_REGION (default firn, firnsecret, us-east-1) are what a client signs with.
. "$(cd "$(dirname "$0")" && pwd)/lib.sh"

KEY=${S3_KEY:-firn} SECRET=${S3_SECRET:-firnsecret} REGION=${S3_REGION:-us-east-1}
VERSITYGW=github.com/versity/versitygw/cmd/versitygw@v1.8.0
FAKEGCS=github.com/fsouza/fake-gcs-server@v1.56.1
EMPTY=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 # SHA-256 of no bytes

program() { # program KIND: path of the program, whose name carries the version
  local module
  case $1 in s3) module=$VERSITYGW ;; gcs) module=$FAKEGCS ;; *) die "neither s3 nor gcs: $1" ;; esac
  echo "$COMPONENTS/bin/$(basename "${module%@*}")-${module##*@}"
}

build() {
  local kind=$1 target part module
  target=$(program "$kind")
  [ -x "$target" ] && return
  need go
  case $kind in s3) module=$VERSITYGW ;; gcs) module=$FAKEGCS ;; esac
  mkdir -p "$COMPONENTS/bin"
  part=$(mktemp -d "$COMPONENTS/bin/part.XXXXXX")
  say "building $module"
  # Away from the checkout, so that its go.mod has no say.
  (cd "$part" && GOWORK=off GOFLAGS=-buildvcs=false GOBIN=$part go install "$module") >&2
  mv "$part/$(basename "${module%@*}")" "$target"
  rmdir "$part"
}

install() { locked "object-store-$1" build "$1"; }

# --sidecar keeps the objects' metadata beside the data: the file system needs no extended attributes.
boot() {
  local dir=$1 port=$2 kind
  kind=$(cat "$dir/kind")
  mkdir -p "$dir/data" "$dir/meta"
  if [ "$kind" = s3 ]; then
    ROOT_ACCESS_KEY=$KEY ROOT_SECRET_KEY=$SECRET launch "$dir" "$(program s3)" --port "127.0.0.1:$port" \
      --region "$REGION" --quiet posix --sidecar "$dir/meta" "$dir/data"
  else
    launch "$dir" "$(program gcs)" -scheme http -host 127.0.0.1 -port "$port" -public-host "127.0.0.1:$port" \
      -external-url "http://127.0.0.1:$port" -backend filesystem -filesystem-root "$dir/data" -log-level warn
  fi
  echo "http://127.0.0.1:$port" >"$dir/address"
  await "$dir" 30 listening "$port"
}

environment() {
  local url; url=$(cat "$DIR/address")
  if [ "$(cat "$DIR/kind")" = s3 ]; then
    echo "export AWS_ACCESS_KEY_ID=$KEY AWS_SECRET_ACCESS_KEY=$SECRET AWS_REGION=$REGION AWS_ENDPOINT_URL_S3=$url"
  else
    echo "export STORAGE_EMULATOR_HOST=$url"
  fi
}

bucket() {
  local url name=${WORDS[0]:-} code
  [ -n "$name" ] || usage
  url=$(cat "$DIR/address")
  if [ "$(cat "$DIR/kind")" = s3 ]; then
    code=$(curl -s -o /dev/null -w '%{http_code}' --aws-sigv4 "aws:amz:$REGION:s3" --user "$KEY:$SECRET" \
      -H "x-amz-content-sha256: $EMPTY" -X PUT "$url/$name")
  else
    code=$(curl -s -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' -d "{\"name\":\"$name\"}" \
      "$url/storage/v1/b?project=firn")
  fi
  case $code in 200 | 201 | 409) ;; *) die "bucket $name: HTTP status $code" ;; esac
}

verb=${1:-}
[ $# -gt 0 ] && shift
case $verb in
  start)
    parse "$@"
    kind=${WORDS[0]:-s3}
    install "$kind"
    echo "$kind" >"$DIR/kind"
    start_retry "$DIR" "$PORT" boot ;;
  stop) parse "$@"; stop_component "$DIR" ;;
  address) parse "$@"; alive "$DIR" >/dev/null && cat "$DIR/address" ;;
  env) parse "$@"; environment ;;
  bucket) parse "$@"; bucket ;;
  install) install "${1:-s3}" ;;
  *) usage ;;
esac
