#!/usr/bin/env bash
# rest-catalog.sh - a real Iceberg REST catalog on 127.0.0.1: Apache Iceberg's own handlers over its JDBC catalog
# (SQLite). Needs a JDK 17 or newer, and mvn the first time. For tests only: it is Iceberg's test fixture.
#
#   rest-catalog.sh start --dir D [--port P] [key=value]...   start it or find it running, print its URL
#   rest-catalog.sh stop --dir D                              stop it; the catalog stays in D
#   rest-catalog.sh address --dir D                           print its URL; exit 1 if it does not run
#   rest-catalog.sh install                                   only fetch the jars and compile
#
# key=value are catalog properties, for example warehouse=s3://bucket/path (default file://D/warehouse),
# io-impl=org.apache.iceberg.aws.s3.S3FileIO, s3.endpoint=URL, s3.access-key-id=KEY, s3.secret-access-key=SECRET,
# s3.path-style-access=true, client.region=REGION, include-credentials=true (hands the s3 keys to clients).
# FIRN_REST_TOKEN and FIRN_REST_CREDENTIAL: see RestCatalog.java. REST_HEAP (default 512m) is the heap.
. "$(cd "$(dirname "$0")" && pwd)/lib.sh"

HERE=$(cd "$(dirname "$0")" && pwd)
POM=$HERE/rest-catalog.pom.xml
VERSION=${ICEBERG_VERSION:-$(pom_property "$POM" iceberg.version)}
JARS=$COMPONENTS/rest-catalog/$VERSION-$(cksum <"$POM" | cut -d' ' -f1)
CLASSES=$JARS/classes-$(cksum <"$HERE/RestCatalog.java" | cut -d' ' -f1)
JAVA=${JAVA_HOME:+$JAVA_HOME/bin/}java
JAVAC=${JAVA_HOME:+$JAVA_HOME/bin/}javac

build() {
  [ -e "$JARS/ok" ] || maven_jars "$JARS" "$POM" "-Diceberg.version=$VERSION"
  [ -d "$CLASSES" ] && return
  rm -rf "$CLASSES.part"
  "$JAVAC" -nowarn -proc:none -cp "$JARS/lib/*" -d "$CLASSES.part" "$HERE/RestCatalog.java" >&2
  mv "$CLASSES.part" "$CLASSES"
}

install() { need "$JAVA"; need "$JAVAC"; locked rest-catalog build; }

boot() {
  local dir=$1 port=$2
  mkdir -p "$dir/warehouse"
  launch "$dir" "$JAVA" "-Xmx${REST_HEAP:-512m}" -XX:+UseSerialGC -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
    -cp "$CLASSES:$JARS/lib/*" org.apache.iceberg.rest.RestCatalog "$port" \
    "uri=jdbc:sqlite:file:$dir/catalog.db?journal_mode=WAL&busy_timeout=10000" "warehouse=file://$dir/warehouse" \
    ${WORDS[@]+"${WORDS[@]}"}
  echo "http://127.0.0.1:$port" >"$dir/address"
  await "$dir" 120 listening "$port"
}

verb=${1:-}
[ $# -gt 0 ] && shift
case $verb in
  start) parse "$@"; install; start_retry "$DIR" "$PORT" boot ;;
  stop) parse "$@"; stop_component "$DIR" ;;
  address) parse "$@"; alive "$DIR" >/dev/null && cat "$DIR/address" ;;
  install) install ;;
  *) usage ;;
esac
