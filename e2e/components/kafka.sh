#!/usr/bin/env bash
# kafka.sh - a real Apache Kafka broker (one node, KRaft) on 127.0.0.1. Needs java 17 or newer, and mvn the first time.
#
#   kafka.sh start --dir D [--port P] [key=value]...   start it or find it running, print host:port
#   kafka.sh stop --dir D                              stop it; its data stays in D
#   kafka.sh address --dir D                           print host:port; exit 1 if it does not run
#   kafka.sh topic --dir D [--port P] create NAME [PARTITIONS] [key=value]...
#   kafka.sh topic --dir D [--port P] delete|describe|end-offsets NAME
#   kafka.sh tool CLASS ARGS...                        any class of Kafka's class path
#   kafka.sh install                                   only fetch the jars
#
# key=value after start are broker settings, after topic create topic settings. Topics are not created by use.
# Without --port a free one is chosen. KAFKA_HEAP (default 1g) is the broker's heap, KAFKA_VERSION another version.
. "$(cd "$(dirname "$0")" && pwd)/lib.sh"

POM=$(cd "$(dirname "$0")" && pwd)/kafka.pom.xml
VERSION=${KAFKA_VERSION:-$(pom_property "$POM" kafka.version)}
JARS=$COMPONENTS/kafka-$VERSION
JAVA=${JAVA_HOME:+$JAVA_HOME/bin/}java

install() { need "$JAVA"; locked kafka maven_jars "$JARS" "$POM" "-Dkafka.version=$VERSION"; }

# tool CLASS ARGS...: a Kafka tool in a small JVM that logs warnings only.
tool() {
  "$JAVA" -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
    -cp "$JARS/lib/*" "$@"
}

# settings DIR PORT: print the server.properties. The controller takes a port of its own that is chosen once.
settings() {
  local dir=$1 port=$2 controller
  controller=$(free_port)
  cat <<CONF
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$controller
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAINTEXT://127.0.0.1:$port
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs=$dir/data
num.network.threads=2
num.io.threads=4
auto.create.topics.enable=false
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
log.retention.ms=-1
log.retention.check.interval.ms=10000
log.segment.bytes=268435456
CONF
  printf '%s\n' ${WORDS[@]+"${WORDS[@]}"}
}

format() {
  local dir=$1 id
  [ -e "$dir/data/meta.properties" ] && return
  id=F$(LC_ALL=C tr -dc 'A-Za-z0-9' </dev/urandom | head -c 20 || true)A
  tool kafka.tools.StorageTool format --ignore-formatted -c "$dir/server.properties" -t "$id" >"$dir/log" 2>&1
}

# Ready is when the broker says so and its port answers.
ready() { grep -q "Kafka Server started" "$1/log" && listening "$2"; }

boot() {
  local dir=$1 port=$2
  settings "$dir" "$port" >"$dir/server.properties"
  format "$dir" || return 1
  launch "$dir" "$JAVA" "-Xms${KAFKA_HEAP:-1g}" "-Xmx${KAFKA_HEAP:-1g}" -XX:+UseG1GC -XX:MaxGCPauseMillis=20 \
    -Djava.awt.headless=true -Dorg.slf4j.simpleLogger.defaultLogLevel=info \
    -Dorg.slf4j.simpleLogger.showDateTime=true -cp "$JARS/lib/*" kafka.Kafka "$dir/server.properties"
  echo "127.0.0.1:$port" >"$dir/address"
  await "$dir" 120 ready "$dir" "$port"
}

topic() {
  local verb=${WORDS[0]:-} name=${WORDS[1]:-} address word configs=() partitions=1
  [ -n "$name" ] || usage
  if [ "$PORT" != 0 ]; then address=127.0.0.1:$PORT; else address=$(cat "$DIR/address"); fi
  for word in ${WORDS[@]+"${WORDS[@]:2}"}; do
    case $word in *=*) configs+=(--config "$word") ;; *) partitions=$word ;; esac
  done
  local cli=(org.apache.kafka.tools.TopicCommand --bootstrap-server "$address" --topic "$name")
  case $verb in
    create) tool "${cli[@]}" --create --if-not-exists --partitions "$partitions" --replication-factor 1 \
      ${configs[@]+"${configs[@]}"} ;;
    delete) tool "${cli[@]}" --delete --if-exists ;;
    describe) tool "${cli[@]}" --describe ;;
    end-offsets) tool org.apache.kafka.tools.GetOffsetShell --bootstrap-server "$address" --topic "$name" ;;
    *) usage ;;
  esac
}

verb=${1:-}
[ $# -gt 0 ] && shift
case $verb in
  start) parse "$@"; install; start_retry "$DIR" "$PORT" boot ;;
  stop) parse "$@"; stop_component "$DIR" ;;
  address) parse "$@"; alive "$DIR" >/dev/null && cat "$DIR/address" ;;
  topic) parse "$@"; install; topic ;;
  tool) install; tool "$@" ;;
  install) install ;;
  *) usage ;;
esac
