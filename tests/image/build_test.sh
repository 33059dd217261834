#!/usr/bin/env bash
# Builds the Dockerfile without a container engine, by buildah on a Debian base of debootstrap's, and runs what comes
# out as an engine would: in its own root, as PID 1, without capabilities, read-only, on a quota of one CPU.
# The base and the layers are kept between runs. Exits 77 where the image cannot be built; names each step it skips.
set -euo pipefail

source_dir=$(cd "$(dirname "$0")/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/rest-echo
base_name=debian:trixie-slim
size_max=$((5 * 1000 * 1000))
start_ms_max=10

skip_all() { echo "skipped: $*"; exit 77; }
skip() { echo "skip  $*"; }
pass() { echo "ok    $*"; }
fail() { echo "FAIL  $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || skip_all "building an image this way needs root"
for tool in buildah debootstrap python3 curl readelf; do
  command -v "$tool" >/dev/null || skip_all "$tool is missing"
done

work=$(mktemp -d)
unshare_pid=
cgroup=
cleanup() {
  if [ -n "$unshare_pid" ]; then  # the server goes with it
    kill -KILL "$unshare_pid" 2>/dev/null || true
    wait "$unshare_pid" 2>/dev/null || true
  fi
  [ -z "$cgroup" ] || rmdir "$cgroup" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT

# --- build ---------------------------------------------------------------------------------------------------------

grep -q "^FROM $base_name AS" "$source_dir/Dockerfile" || fail "the Dockerfile does not start from $base_name"
status=0
base=$("$source_dir/tests/image/debian_base" trixie) || status=$?
[ "$status" = 0 ] || exit "$status"

buildah() { command buildah --root "$cache/storage" --runroot "$cache/run" "$@"; }
# Layers of past sources pile up.
[ "$(du -sm "$cache/storage" 2>/dev/null | cut -f1)" -lt 4000 ] 2>/dev/null || rm -rf --one-file-system "$cache/storage"
storage_is_as_old_as_base() { [ -e "$cache/imported" ] && [ ! "$base" -nt "$cache/imported" ]; }
if ! storage_is_as_old_as_base || ! buildah inspect --type image "localhost/$base_name" >/dev/null 2>&1; then
  container=$(buildah from scratch)
  tar -C "$base" --one-file-system -cf "$work/base.tar" .
  buildah add --quiet "$container" "$work/base.tar" / >/dev/null
  buildah commit --quiet "$container" "localhost/$base_name" >/dev/null
  buildah rm "$container" >/dev/null
  rm "$work/base.tar"
  touch "$cache/imported"
fi

revision=$(git -C "$source_dir" rev-parse --short HEAD 2>/dev/null || echo unknown)
started=$SECONDS
buildah build --isolation chroot --layers --pull-never --format docker --build-arg REVISION="$revision" \
  --tag rest-echo "$source_dir" >"$work/build.log" 2>&1 || { tail -40 "$work/build.log"; fail "the build"; }
! grep -E 'warning:' "$work/build.log" || fail "the compiler or the linker warned"
pass "built in $((SECONDS - started)) s"

# --- what is in it -------------------------------------------------------------------------------------------------

health_command=$(buildah inspect --type image localhost/rest-echo | python3 "$source_dir/tests/image/config_test.py") ||
  fail "configuration"
pass "configuration: numeric user, labels, exec-form entry point, port, health check '$health_command'"

container=$(buildah from --pull-never localhost/rest-echo)
root=$work/root
cp -a "$(buildah mount "$container")" "$root"
buildah rm "$container" >/dev/null

size=$(find "$root" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
[ "$size" -le "$size_max" ] || fail "size: $size octets, more than $size_max"
pass "size: $size octets, of which the binary has $(stat -c %s "$root/rest-echo")"

others=$(find "$root" -type f ! -path "$root/licenses/*" ! -path "$root/rest-echo" ! -path "$root/LICENSE")
[ -z "$others" ] || fail "files nobody asked for: $others"
cmp -s "$root/LICENSE" "$source_dir/LICENSE" || fail "LICENSE is not ours"
[ -z "$(find "$root" -perm /6000 -o -type f -perm /022)" ] || fail "files others may write, or with set-ID"
pass "contents: the binary, its licence and those of the libraries in it"

readelf -lW "$root/rest-echo" >"$work/segments"
readelf -dW "$root/rest-echo" >"$work/dynamic"
! grep -q INTERP "$work/segments" && ! grep -q NEEDED "$work/dynamic" || fail "not statically linked"
grep -q 'GNU_STACK .* RW ' "$work/segments" || fail "an executable stack"
pass "statically linked: $(file -b "$root/rest-echo" 2>/dev/null | grep -oE 'static[a-z-]* linked' || echo 'no interpreter')"
isa=$(readelf -nW "$root/rest-echo" | sed -n 's/.*x86 ISA needed: //p')
[ -z "$isa" ] || [ "$isa" = x86-64-baseline ] || fail "needs instruction sets above the baseline: $isa"
pass "instruction set: baseline"

version=$("$root/rest-echo" --version)
label=$(buildah inspect --type image --format '{{index .Docker.Config.Labels "org.opencontainers.image.version"}}' \
  localhost/rest-echo)
[[ $version == "rest-echo $label ($revision)"* ]] || fail "label $label and revision $revision, but $version"
pass "version: $version"

# --- running it ----------------------------------------------------------------------------------------------------

mkdir -p "$root/proc" "$root/sys/fs/cgroup"  # as every engine does

# A cgroup with a quota of one CPU, of either version.
if [ -w /sys/fs/cgroup/cpu ] && mkdir "/sys/fs/cgroup/cpu/rest-echo-test-$$" 2>/dev/null; then
  cgroup=/sys/fs/cgroup/cpu/rest-echo-test-$$
  echo 100000 >"$cgroup/cpu.cfs_period_us"
  echo 100000 >"$cgroup/cpu.cfs_quota_us"
elif grep -qw cpu /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null &&
  mkdir "/sys/fs/cgroup/rest-echo-test-$$" 2>/dev/null; then
  cgroup=/sys/fs/cgroup/rest-echo-test-$$
  echo "100000 100000" >"$cgroup/cpu.max"
else
  skip "quota: no cgroup for CPU time can be made here"
fi

# Starts the image as PID 1 of its own namespace and waits for its ready line. $server is its PID outside; the
# capabilities kept for chroot's sake go with the change of user.
start_image() {
  local arguments=$1
  : >"$work/out"
  # shellcheck disable=SC2016 # expanded by the inner shell
  unshare --pid --fork --mount --uts --ipc --kill-child bash -c '
    set -e
    root=$1 cgroup=$2
    shift 2
    [ -z "$cgroup" ] || echo $$ >"$cgroup/cgroup.procs"
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup"
    mount -o remount,bind,ro "$root"
    exec env -i "${@:2}" "$(command -v setpriv)" --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid \
      "$(command -v chroot)" --userspec=65532:65532 --groups= "$root" /rest-echo $1
  ' bash "$root" "$cgroup" "$arguments" "${@:2}" >"$work/out" 2>&1 &
  unshare_pid=$!
  for _ in $(seq 100); do
    grep -q '^Listening' "$work/out" && break
    kill -0 "$unshare_pid" 2>/dev/null || break
    sleep 0.05
  done
  grep -q '^Listening' "$work/out" || { cat "$work/out"; fail "the image did not start"; }
  server=$(pgrep -P "$unshare_pid")
}

# Sends a signal to PID 1 and expects a quick and good end.
stop_image() {
  local signal=$1 began status=0
  began=$(date +%s%N)
  kill -s "$signal" "$server"
  wait "$unshare_pid" || status=$?
  unshare_pid=
  stop_ms=$((($(date +%s%N) - began) / 1000000))
  [ "$status" = 0 ] || { cat "$work/out"; fail "status $status after SIG$signal"; }
  [ "$stop_ms" -lt 3000 ] || fail "$stop_ms ms from SIG$signal to the end"
}

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

if unshare --pid --fork --mount true 2>/dev/null; then
  start_image "" PORT="$port" CLUSTER=1
  if [ -n "$cgroup" ]; then
    grep -q ' 1 worker ' "$work/out" || { cat "$work/out"; fail "CLUSTER=1 on a quota of one CPU: not one worker"; }
    pass "quota: $(head -1 "$work/out" | grep -o '1 worker .*')"
  fi
  grep -q '^CapEff:[[:space:]]*0*$' "/proc/$server/status" || fail "the server has capabilities"
  grep -q '^NoNewPrivs:[[:space:]]*1$' "/proc/$server/status" || fail "the server could gain privileges"
  grep -q '^NSpid:.*[[:space:]]1$' "/proc/$server/status" || fail "the server is not PID 1"
  [ "$(awk '/^Uid:/ { print $2 }' "/proc/$server/status")" = 65532 ] || fail "the server is not user 65532"
  ! touch "/proc/$server/root/file" 2>/dev/null || fail "the server's root can be written"
  pass "runs as PID 1 and user 65532, without capabilities, read-only"

  answer=$(curl -sS --max-time 5 --data-binary @"$source_dir/body.json" "http://127.0.0.1:$port/")
  python3 -c 'import json, sys; sys.exit(json.loads(sys.argv[1]) != json.load(open(sys.argv[2])))' \
    "$answer" "$source_dir/body.json" || fail "the echo is not the document sent: $answer"
  [ "$(curl -sS --max-time 5 -o "$work/null" -w '%{http_code}' --data '{' "http://127.0.0.1:$port/")" = 400 ] ||
    fail "no 400 for half a document"
  pass "echoes body.json, refuses half a document"

  read -ra health <<<"$health_command"
  in_image() { env -i PORT="$port" "$(command -v chroot)" --userspec=65532:65532 --groups= "$root" "$@"; }
  in_image "${health[@]}" || fail "the health check of a healthy server"
  stop_image TERM
  pass "SIGTERM: ended with status 0 after $stop_ms ms"
  ! in_image "${health[@]}" 2>/dev/null || fail "the health check of a server that has gone"
  pass "health check: 0 while it runs, 1 afterwards"

  start_image "--workers 2" PORT="$port"
  stop_image INT
  pass "SIGINT with two workers: ended with status 0 after $stop_ms ms"
else
  skip "PID 1, user, capabilities, read-only, quota, health check, signals: no namespaces here"
fi

read -r median largest < <(python3 "$source_dir/tests/image/start_time.py" "$root" 20)
awk -v found="$median" -v max="$start_ms_max" 'BEGIN { exit !(found <= max) }' ||
  fail "start to first answer: $median ms at the median of 20, more than $start_ms_max"
pass "start to first answer: $median ms at the median of 20, $largest ms at most"

if [ -x "$source_dir/tests/smoke.sh" ]; then
  "$source_dir/tests/smoke.sh" "$root/rest-echo" >"$work/smoke.log" 2>&1 || { cat "$work/smoke.log"; fail "smoke test"; }
  pass "smoke test"
else
  skip "smoke test: there is no tests/smoke.sh"
fi
echo "image: all passed in $SECONDS s"
