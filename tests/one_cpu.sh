#!/usr/bin/env bash
# one_cpu.sh REST_ECHO: the container with one CPU, without a container. In a cgroup with a quota of one CPU, CLUSTER=1 must
# come to one worker, and serve at least 0.9 of what --workers 1 serves there. wrk runs outside, as other machines' clients do.
# Exits with 77, and says why, where no such cgroup can be made.
set -euo pipefail

program=$(realpath "${1:?usage: one_cpu.sh REST_ECHO}")
script=$(realpath "$(dirname "$0")/../post.lua")
rounds=${ROUNDS:-5}
seconds=${SECONDS_EACH:-2}
share_min=0.9
result=failed
period_us=100000

skip() {
  echo "skipped: $1"
  exit 77
}

group=
servers=()
work=$(mktemp -d)
clean_up() {
  trap - EXIT
  for server in "${servers[@]}"; do
    kill -KILL "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  done
  # The kernel needs a moment to see that the last process is gone.
  for _ in $(seq 50); do
    if [ -z "$group" ] || rmdir "$group" 2>/dev/null; then break; fi
    sleep 0.1
  done
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

# The mount point of a hierarchy, and this process's cgroup below it. TYPE of the mount, one of its OPTIONS, and the
# CONTROLLERS of its line in /proc/self/cgroup, an extended regular expression.
find_own_cgroup() {
  local root path
  read -r root mount_point < <(awk -v type="$1" -v option="$2" '
    { for (i = 7; i <= NF && $i != "-"; ++i) continue }
    $(i + 1) == type && index("," $(i + 3) ",", "," option ",") { print $4, $5; exit }' /proc/self/mountinfo) || return 1
  path=$(sed -nE "s/^[0-9]+:$3:(.*)$/\1/p" /proc/self/cgroup | head -1)
  if [ "$root" != / ]; then path=${path#"$root"}; fi
  own_cgroup=$mount_point${path%/}
  [ -d "$own_cgroup" ] || own_cgroup=$mount_point
}

# Makes a cgroup below PARENT and gives it one CPU; false, leaving nothing behind, where that is not permitted.
make_group_below() {
  group=$1/rest-echo-one-cpu.$$
  mkdir "$group" 2>/dev/null || { group= && return 1; }
  if [ -e "$group/cpu.max" ]; then
    echo "$period_us $period_us" >"$group/cpu.max" && return
  elif [ -e "$group/cpu.cfs_quota_us" ]; then
    echo "$period_us" >"$group/cpu.cfs_period_us" && echo "$period_us" >"$group/cpu.cfs_quota_us" && return
  fi
  rmdir "$group"
  group=
  return 1
}

# As near to this process as there is a CPU controller to be had.
make_group() {
  find_own_cgroup "$@" || return 1
  local parent=$own_cgroup
  until make_group_below "$parent" 2>/dev/null; do
    [ "$parent" != "$mount_point" ] || return 1
    parent=$(dirname "$parent")
  done
}

# Starts a server in the group: NAME, then what to add to its environment and its command. Sets its port and its pid.
start() {
  local name=$1
  shift
  (
    echo "$BASHPID" >"$group/cgroup.procs"
    exec env -u PORT -u CLUSTER -u REST_ECHO_WORKERS "$@" --port 0
  ) >"$work/$name" 2>&1 &
  pid=$!
  servers+=("$pid")
  for _ in $(seq 200); do
    port=$(sed -n 's/^Listening on port //p' "$work/$name")
    [ -z "$port" ] || return 0
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  echo "FAILED: $name does not listen:"
  cat "$work/$name"
  exit 1
}

requests_per_second() {
  wrk --threads 1 --connections 10 --duration "${seconds}s" --script "$script" "http://127.0.0.1:$1" >"$work/wrk"
  if grep -qE 'Socket errors|Non-2xx' "$work/wrk"; then
    cat "$work/wrk" >&2
    return 1
  fi
  awk '/^Requests\/sec/ { print $2 }' "$work/wrk"
}

median() { sort -n "$1" | awk '{ value[NR] = $1 } END { print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'; }

command -v wrk >/dev/null || skip "no wrk here"
[ "$(nproc)" -gt 1 ] || skip "one CPU is all there is: its quota shows nothing"
make_group cgroup cpu '([^:]*,)?cpu(,[^:]*)?' || make_group cgroup2 rw '' ||
  skip "no cgroup with a CPU quota can be made here (v1 or v2, as root)"
echo "cgroup: $group"

start cluster CLUSTER=1 "$program"
cluster_pid=$pid cluster_port=$port
start one "$program" --workers 1
one_pid=$pid one_port=$port

grep -E '[0-9]+ workers? \(' "$work/cluster"
grep -qE ' 1 worker \(cgroup cpu\.(max|cfs_quota_us) 100000/100000, [0-9]+ CPUs? allowed\)' "$work/cluster" || {
  echo "FAILED: CLUSTER=1 does not say that it has one worker because of the quota"
  exit 1
}
children=$(cat /proc/"$cluster_pid"/task/*/children 2>/dev/null | wc -w)
[ "$children" -eq 0 ] || {
  echo "FAILED: CLUSTER=1 has forked $children workers"
  exit 1
}

# One at a time, the other one idle, taking turns in going first. The two do the same, so a busy machine is given more
# rounds to show it; one that is throttled fails however many there are.
is_enough() {
  cluster=$(median "$work/rates.cluster")
  one=$(median "$work/rates.one")
  echo "requests per second: CLUSTER=1 $cluster, --workers 1 $one (medians of $1, $seconds s each)"
  awk -v cluster="$cluster" -v one="$one" -v min="$share_min" 'BEGIN { exit !(cluster >= min * one) }'
}
for round in $(seq $((3 * rounds))); do
  order="cluster one"
  [ $((round % 2)) -eq 0 ] || order="one cluster"
  for name in $order; do
    port=$one_port
    [ "$name" = one ] || port=$cluster_port
    rate=$(requests_per_second "$port") || {
      echo "FAILED: wrk saw errors from $name"
      exit 1
    }
    echo "$rate" >>"$work/rates.$name"
  done
  [ $((round % rounds)) -eq 0 ] || continue
  if is_enough "$round"; then
    result=passed
    break
  fi
done

for server in "$cluster_pid" "$one_pid"; do
  kill -TERM "$server"
  wait "$server" || {
    echo "FAILED: a server ended with status $?"
    exit 1
  }
done
servers=()
[ "$result" = passed ] || {
  echo "FAILED: CLUSTER=1 serves less than $share_min of what --workers 1 serves"
  exit 1
}
