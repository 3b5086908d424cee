#!/usr/bin/env bash
# parquet-java.sh - parquet-java, Apache's reader of Parquet in Java, with what checks files by it (ParquetFiles.java,
# ParquetCheck.java). Needs a JDK 17 or newer, and mvn the first time.
#
#   parquet-java.sh install    fetch the jars and compile; print the class path
#   parquet-java.sh read DIR   read the files of DIR, which has a matrix.json
. "$(cd "$(dirname "$0")" && pwd)/lib.sh"

HERE=$(cd "$(dirname "$0")" && pwd)
POM=$HERE/parquet-java.pom.xml
SOURCES=("$HERE/ParquetFiles.java" "$HERE/ParquetCheck.java")
JARS=$COMPONENTS/parquet-java/$(pom_property "$POM" parquet.version)-$(cksum <"$POM" | cut -d' ' -f1)
CLASSES=$JARS/classes-$(cat "${SOURCES[@]}" | cksum | cut -d' ' -f1)
JAVA=${JAVA_HOME:+$JAVA_HOME/bin/}java
JAVAC=${JAVA_HOME:+$JAVA_HOME/bin/}javac

build() {
  maven_jars "$JARS" "$POM"
  [ -d "$CLASSES" ] && return
  rm -rf "$CLASSES.part"
  "$JAVAC" -nowarn -proc:none -cp "$JARS/lib/*" -d "$CLASSES.part" "${SOURCES[@]}" >&2
  mv "$CLASSES.part" "$CLASSES"
}

install() { need "$JAVA"; need "$JAVAC"; locked parquet-java build; }

case ${1:-} in
  install) install; echo "$CLASSES:$JARS/lib/*" ;;
  read)
    [ -n "${2:-}" ] || usage
    install
    exec "$JAVA" -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
      -cp "$CLASSES:$JARS/lib/*" firn.components.ParquetFiles "$2" ;;
  *) usage ;;
esac
