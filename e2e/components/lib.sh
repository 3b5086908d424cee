# shellcheck shell=bash
# lib.sh - what the component scripts share; sourced, never run.
#
# A component is one process with its state in one directory DIR:
#   DIR/pid      its process id         DIR/address  what a client connects to
#   DIR/log      what it printed        DIR/port     the port that it listens on
# All listen on 127.0.0.1 only. Several run side by side: a port that is not given is chosen free at every start.
set -euo pipefail

COMPONENTS=${XDG_CACHE_HOME:-$HOME/.cache}/firn-components # what is downloaded or built, shared by every checkout
SELF=$(basename "$0")

say() { echo "$SELF: $*" >&2; }
die() { say "$*"; exit 1; }
need() { command -v "$1" >/dev/null || die "$1 is not installed"; }

# usage: print the comment at the head of the script itself.
usage() { sed -n '2,/^[^#]/{/^#/s/^# \{0,1\}//p;}' "$0" >&2; exit 2; }

# locked NAME COMMAND...: run COMMAND while no other process runs a locked command of that NAME.
locked() {
  local name=$1; shift
  mkdir -p "$COMPONENTS"
  if command -v flock >/dev/null; then
    (flock 9; "$@") 9>"$COMPONENTS/.lock-$name"
  else
    "$@"
  fi
}

listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# free_port: print a port that nobody listens on now. It lies below the range from which the kernel serves outgoing
# connections, so that none of those takes it before the component does; start_retry covers the rest of the race.
free_port() {
  local port try
  for ((try = 0; try < 100; try++)); do
    port=$((20000 + (RANDOM * 32768 + RANDOM) % 9000))
    listening "$port" || { echo "$port"; return; }
  done
  die "no free port between 20000 and 29000"
}

# alive DIR: print the pid of the component of DIR if it runs. The directory must be part of the command line or the
# environment that the process was started with: a pid that was given to another process since is not taken for ours.
alive() {
  local pid
  pid=$(cat "$1/pid" 2>/dev/null) && [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null || return 1
  if [ -r "/proc/$pid/cmdline" ]; then
    tr '\0' ' ' <"/proc/$pid/cmdline" | grep -qF "$1" || return 1
  fi
  echo "$pid"
}

# launch DIR COMMAND...: start COMMAND in a session of its own, so that it outlives this script and gets no signal
# that is meant for the caller.
launch() {
  local dir=$1; shift
  if command -v setsid >/dev/null; then
    setsid "$@" >"$dir/log" 2>&1 </dev/null &
  else
    nohup "$@" >"$dir/log" 2>&1 </dev/null &
  fi
  echo $! >"$dir/pid"
}

# await DIR SECONDS TEST...: wait until TEST succeeds; fail when the component ends first or the time is over.
await() {
  local dir=$1 seconds=$2 end; shift 2
  end=$((SECONDS + seconds))
  until "$@"; do
    running "$dir" || return 1
    [ "$SECONDS" -lt "$end" ] || { say "not ready after $seconds s; see $dir/log"; return 1; }
    sleep 0.1
  done
  running "$dir"
}

# running DIR: the process that launch has just started is there. Its command line is not looked at, as alive does: it
# is empty while the program is being loaded, which takes a while on a busy disk.
running() { kill -0 "$(cat "$1/pid")" 2>/dev/null; }

# start_retry DIR PORT BOOT: call BOOT DIR PORT until the component runs; print its address. With PORT 0 another free
# port is tried when the component did not come up, since somebody may have taken the first one.
start_retry() {
  local dir=$1 port=$2 boot=$3 try
  if alive "$dir" >/dev/null; then cat "$dir/address"; return; fi
  for try in 1 2 3; do
    echo "$([ "$port" != 0 ] && echo "$port" || free_port)" >"$dir/port"
    listening "$(cat "$dir/port")" && die "port $(cat "$dir/port") is taken"
    if "$boot" "$dir" "$(cat "$dir/port")"; then cat "$dir/address"; return; fi
    stop_component "$dir"
    [ "$port" = 0 ] && grep -qiE 'address already in use|failed to bind' "$dir/log" 2>/dev/null || break
    say "port $(cat "$dir/port") was taken meanwhile, try $try"
  done
  tail -20 "$dir/log" >&2 || true
  die "did not start"
}

# stop_component DIR: end the component of DIR, with force after 20 s. Its data stays.
stop_component() {
  local pid end
  if pid=$(alive "$1"); then
    kill "$pid"
    end=$((SECONDS + 20))
    while kill -0 "$pid" 2>/dev/null && [ "$SECONDS" -lt "$end" ]; do sleep 0.1; done
    if kill -0 "$pid" 2>/dev/null; then kill -9 "$pid"; fi
  fi
  rm -f "$1/pid" "$1/address"
}

# pom_property POM NAME: print a property of a pom.xml: the versions are pinned there and nowhere else.
pom_property() { sed -n "s:.*<$2>\\(.*\\)</$2>.*:\\1:p" "$1"; }

# maven_jars DIR POM [-Dname=value]...: copy what POM depends on into DIR/lib. DIR appears whole or not at all.
maven_jars() {
  local dir=$1 pom=$2 part; shift 2
  [ -e "$dir/.complete" ] && return
  need mvn
  mkdir -p "$(dirname "$dir")"
  part=$(mktemp -d "$dir.XXXXXX")
  cp "$pom" "$part/pom.xml"
  say "resolving the jars of $(basename "$pom") with mvn"
  if ! mvn -q -B -f "$part/pom.xml" "$@" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
    -DincludeScope=runtime "-DoutputDirectory=$part/lib" >"$part/mvn.log" 2>&1; then
    tail -20 "$part/mvn.log" >&2
    rm -rf "$part"
    die "mvn could not resolve the jars"
  fi
  touch "$part/.complete"
  rm -rf "$dir"
  mv "$part" "$dir"
}

# parse ARGS...: options shared by all components, into DIR and PORT, the rest into WORDS.
parse() {
  DIR='' PORT=0 WORDS=()
  while [ $# -gt 0 ]; do
    case $1 in
      --dir) DIR=$2; shift 2 ;;
      --port) PORT=$2; shift 2 ;;
      *) WORDS+=("$1"); shift ;;
    esac
  done
  [ -n "$DIR" ] || die "--dir is missing"
  mkdir -p "$DIR"
  DIR=$(cd "$DIR" && pwd)
}
