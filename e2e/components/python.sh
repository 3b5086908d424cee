#!/usr/bin/env bash
# python.sh - a Python with the readers that are not firn, in a virtual environment of its own. Needs python3 with venv.
#
#   python.sh readers   PyIceberg and DuckDB, of requirements.txt; print the path of its python
#   python.sh spark     Apache Spark with Iceberg, of requirements-spark.txt and spark.pom.xml (needs java and mvn too)
#
# An environment is made once for each text of its requirements, and is shared by every checkout.
. "$(cd "$(dirname "$0")" && pwd)/lib.sh"

HERE=$(cd "$(dirname "$0")" && pwd)

# environment DIR REQUIREMENTS: make the environment. Environments cannot be moved, so it is made in place and marked.
environment() {
  local dir=$1 requirements=$2
  [ -e "$dir/.complete" ] && return
  rm -rf "$dir"
  say "installing $(basename "$requirements")"
  python3 -m venv "$dir" >&2
  "$dir/bin/python" -m pip install -q --disable-pip-version-check --no-input -r "$requirements" >&2
}

readers() {
  environment "$1" "$HERE/requirements.txt"
  touch "$1/.complete"
}

# Spark takes every jar that lies beside its own.
spark() {
  local dir=$1 jars=$COMPONENTS/spark-jars-$(cksum <"$HERE/spark.pom.xml" | cut -d' ' -f1)
  [ -e "$dir/.complete" ] && return
  maven_jars "$jars" "$HERE/spark.pom.xml"
  environment "$dir" "$HERE/requirements-spark.txt"
  cp "$jars"/lib/{iceberg,sqlite}-*.jar "$("$dir/bin/python" -c 'import pyspark; print(pyspark.__path__[0])')/jars/"
  touch "$dir/.complete"
}

sum() { cat "$@" | cksum | cut -d' ' -f1; }

case ${1:-} in
  readers)
    need python3
    dir=$COMPONENTS/python-readers-$(sum "$HERE/requirements.txt") ;;
  spark)
    need python3
    need java
    dir=$COMPONENTS/python-spark-$(sum "$HERE/requirements-spark.txt" "$HERE/spark.pom.xml") ;;
  *) usage ;;
esac
locked "python-$1" "$1" "$dir"
echo "$dir/bin/python"
