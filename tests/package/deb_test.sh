#!/usr/bin/env bash
# deb_test.sh [RELEASE...]: builds the .deb on Debian RELEASE (bookworm, trixie; this machine's own by default), has
# lintian read it, installs it on a bare Debian of that release, uses everything in it and removes it without a trace.
# Exits 77 where that is not possible; names each step it skips.
set -euo pipefail

source_dir=$(cd "$(dirname "$0")/../.." && pwd)
exposure_max=20  # of systemd-analyze security, in tenths

skip() { echo "skip  $*"; }
pass() { echo "ok    $*"; }
fail() { echo "FAIL  $*" >&2; exit 1; }

work=$(mktemp -d)
server=  # what is to be waited for: the server itself, or strace
mounts=()
cleanup() {
  if [ -n "$server" ]; then
    # strace, when killed, lets go of its server.
    for process in $(pgrep -P "$server") "$server"; do kill -KILL "$process" 2>/dev/null || true; done
    wait "$server" 2>/dev/null || true
  fi
  for mounted in "${mounts[@]}"; do umount "$mounted" || true; done
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT

debian_base() {
  local status=0
  "$source_dir/tests/image/debian_base" "$@" || status=$?
  [ "$status" = 0 ] || exit "$status"
}

# In a copy of a Debian: $guest is its folder.
in_guest() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$guest" "$@"; }

# Leaves the package and the archive in $work/RELEASE.
build() {
  local release=$1 made=$work/$1 base revision
  revision=$(git -C "$source_dir" rev-parse --short HEAD 2>/dev/null || true)
  local build_packages=(g++ make cmake ninja-build libsimdjson-dev libfmt-dev libcli11-dev dpkg-dev file lintian)
  base=$(debian_base "$release" build "${build_packages[@]}")
  guest=$work/build-$release
  cp -a "$base" "$guest"
  mkdir "$guest/source" "$made"
  (cd "$source_dir" && cp -a CMakeLists.txt CMakePresets.json LICENSE include src "$guest/source/")
  in_guest sh -ec 'cd /source && cmake --preset release -DREST_ECHO_COMMIT="$1" && cmake --build --preset release -j2
    cd build/release && cpack' build "$revision" >"$made.log" 2>&1 || { tail -30 "$made.log"; fail "the build on Debian $release"; }
  ! grep -E 'warning:|CMake Warning' "$made.log" || fail "warnings"
  in_guest sh -ec 'lintian --allow-root --tag-display-limit 0 --fail-on error,warning /source/build/release/package/*.deb' ||
    fail "lintian"
  cp "$guest"/source/build/release/package/rest-echo* "$made/"
  in_guest sh -ec 'cd /source && cmake --install build/release --prefix /tmp/installed >/dev/null
    cd /tmp/installed && find . -type f | sort' >"$work/installed"
  tar -tzf "$made"/*.tar.gz | sed -n 's,^[^/]*/\(.*[^/]\)$,./\1,p' | sort | cmp - "$work/installed" ||
    fail "the .tar.gz has other files than cmake --install"
  rm -rf --one-file-system "$guest"
  pass "$release: built without warnings, lintian has nothing to say: $(cd "$made" && ls -- *.deb *.tar.gz | xargs)"
}

snapshot() { # The notes and caches of the package manager and of the tools used above aside.
  (cd "$guest" && find . -xdev ! -path './proc/*' ! -path './run/*' ! -path './root/*' ! -path './var/log/*' \
    ! -path './var/cache/*' ! -path './var/lib/dpkg/*-old' | sort) >"$1"
}

try_package() {
  local release=$1 deb depends base name
  deb=$(echo "$work/$release"/*.deb)
  depends=$(dpkg-deb -f "$deb" Depends | sed 's/ *([^)]*)//g; s/, */ /g')
  # shellcheck disable=SC2086 # a list
  base=$(debian_base "$release" guest $depends systemd man-db zsh fish)
  guest=$work/guest-$release
  cp -a "$base" "$guest"
  mount -t proc proc "$guest/proc"
  mounts+=("$guest/proc")
  name=$(basename "$deb")
  cp "$deb" "$guest/tmp/"
  snapshot "$work/before"
  in_guest dpkg -i "/tmp/$name" >"$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; fail "dpkg -i"; }
  pass "$release: installed; depends on $depends"

  in_guest rest-echo --version
  in_guest sh -ec 'man --warnings -E UTF-8 rest-echo 2>&1 >/tmp/page | tee /tmp/warnings; test ! -s /tmp/warnings
    grep -q -- "--workers" /tmp/page; rm /tmp/page /tmp/warnings' || fail "man rest-echo"
  in_guest bash -ec '. /usr/share/bash-completion/completions/rest-echo
    COMP_WORDS=(rest-echo --heal) COMP_CWORD=1; _rest_echo; test "${COMPREPLY[*]}" = --healthcheck' || fail "bash completion"
  in_guest zsh -efc 'autoload -Uz compinit && compinit -D; test "$_comps[rest-echo]" = _rest-echo
    autoload +X _rest-echo' || fail "zsh completion"
  in_guest fish -c 'complete -C "rest-echo --heal"' | grep -q '^--healthcheck' || fail "fish completion"
  pass "$release: man page and completions of bash, zsh and fish"

  in_guest systemd-analyze --man=no verify rest-echo.service rest-echo.socket || fail "systemd-analyze verify"
  in_guest systemd-analyze security --offline=true --threshold="$exposure_max" /usr/lib/systemd/system/rest-echo.service \
    >"$work/security" 2>&1 || { grep '✗' "$work/security"; tail -1 "$work/security"; fail "exposure above $exposure_max"; }
  pass "$release: units verified;$(tail -1 "$work/security" | tr -d '→' | sed 's/ [^ ]*$//')"

  local command port
  command=$(sed -n 's/^ExecStart=//p' "$guest/usr/lib/systemd/system/rest-echo.service")
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  # As the unit starts it, with a socket that takes what it tells the service manager, and the system calls written down.
  python3 "$source_dir/tests/package/notified.py" "$guest/run/notify" READY=1 &
  local notified=$!
  while [ ! -S "$guest/run/notify" ]; do sleep 0.02; done
  local tracer=()
  ! command -v strace >/dev/null || tracer=(strace -f -qq -o "$work/calls")
  # shellcheck disable=SC2086 # words
  env -i PATH=/usr/bin PORT="$port" NOTIFY_SOCKET=/run/notify "${tracer[@]}" \
    "$(command -v chroot)" --userspec=65532:65532 --groups= "$guest" $command >"$work/out" 2>&1 &
  server=$!
  wait "$notified" || { cat "$work/out"; fail "no READY=1 for the service manager"; }
  local answer
  for _ in 1 2 3; do
    answer=$(curl -sS --max-time 5 --data-binary @"$source_dir/body.json" "http://127.0.0.1:$port/")
    python3 -c 'import json, sys; sys.exit(json.loads(sys.argv[1]) != json.load(open(sys.argv[2])))' \
      "$answer" "$source_dir/body.json" || fail "the echo is not the document sent: $answer"
  done
  in_guest rest-echo --healthcheck="http://127.0.0.1:$port/healthz" || fail "health check"
  local main=$server
  [ ${#tracer[@]} = 0 ] || main=$(pgrep -P "$server" | head -1)
  kill -HUP "$main"
  sleep 0.5
  in_guest rest-echo --healthcheck="http://127.0.0.1:$port" || fail "health check after ExecReload"
  kill -TERM "$main"
  local status=0
  wait "$server" || status=$?
  server=
  [ "$status" = 0 ] || { cat "$work/out"; fail "status $status after SIGTERM"; }
  pass "$release: '$command' is ready, echoes, reloads and ends: $(grep -o '[0-9]* workers\? ' "$work/out" | head -1)"
  rm "$guest/run/notify"

  if [ ${#tracer[@]} != 0 ]; then
    # After the last exec, which is the server's own.
    awk '/execve\("[^"]*\/rest-echo"/ { is_ours = 1; next } is_ours { print $2 }' "$work/calls" |
      sed -n 's/^\([a-z_0-9]*\)(.*/\1/p' | sort -u >"$work/used"
    list_calls @system-service | sort -u >"$work/allowed"
    list_calls @privileged | sort -u | comm -23 "$work/allowed" - >"$work/left"
    comm -23 "$work/used" "$work/left" >"$work/refused"
    [ ! -s "$work/refused" ] || fail "the unit's filter refuses $(xargs <"$work/refused")"
    pass "$release: all $(wc -l <"$work/used") system calls used are within the unit's filter"
  else
    skip "system calls: strace is missing"
  fi

  try_boot "$release" "$base" "$name"

  in_guest dpkg --purge rest-echo >"$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; fail "dpkg --purge"; }
  snapshot "$work/after"
  diff "$work/before" "$work/after" || fail "traces after the removal"
  pass "$release: removed without a trace"
}

# The units under a systemd that has booted, in a second copy.
try_boot() {
  local release=$1 base=$2 name=$3 booted=$work/booted-$1
  if ! command -v systemd-nspawn >/dev/null; then
    skip "$release: service and socket under systemd: systemd-nspawn is missing (apt-get install systemd-container)"
    return
  fi
  cp -a "$base" "$booted"
  rm "$booted/usr/sbin/policy-rc.d"
  cp "$guest/tmp/$name" "$booted/tmp/"
  dpkg --root="$booted" -i "$booted/tmp/$name" >"$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; fail "dpkg -i"; }
  cp "$source_dir/tests/package/booted.sh" "$booted/usr/local/bin/booted"
  printf '[Unit]\nAfter=multi-user.target\n[Service]\nExecStart=/usr/local/bin/booted\n[Install]\nWantedBy=default.target\n' \
    >"$booted/etc/systemd/system/booted.service"
  systemctl --root="$booted" --quiet enable booted.service
  systemctl --root="$booted" --quiet set-default multi-user.target
  timeout --kill-after=10 90 systemd-nspawn --quiet --directory="$booted" --private-network --register=no --keep-unit \
    --console=pipe --boot >"$work/boot.log" 2>&1 </dev/null || true
  if ! grep -q '^booted$' "$booted/booted.log" 2>/dev/null; then
    skip "$release: service and socket under systemd: it does not boot here: $(grep -v '^$' "$work/boot.log" | tail -1)"
  else
    grep -q '^done$' "$booted/booted.log" || { cat "$booted/booted.log"; fail "the service under systemd"; }
    sed -n "s/^ok /ok    $release: under systemd: /p" "$booted/booted.log"
  fi
  rm -rf --one-file-system "$booted"
}

# The system calls in one of systemd's sets, with those of the sets in it.
list_calls() {
  local call
  for call in $(in_guest systemd-analyze syscall-filter "$1" | sed -n 's/^    \([^ #]*\).*/\1/p'); do
    case $call in
      @*) list_calls "$call" ;;
      *) echo "$call" ;;
    esac
  done
}

releases=("$@")
# shellcheck disable=SC1091 # this machine's
[ ${#releases[@]} -gt 0 ] || releases=("$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-}")")
case ${releases[0]} in
  bookworm | trixie | forky | sid) ;;
  *) echo "skipped: '${releases[0]}' is no Debian that has what rest-echo needs"; exit 77 ;;
esac
for release in "${releases[@]}"; do
  build "$release"
  try_package "$release"
done
echo "package: all passed in $SECONDS s"
