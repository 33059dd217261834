#!/bin/sh
# HAProxy in front of the server: it keeps and reuses connections, and checks the server's health.
#   tests/clients/haproxy.sh PROGRAM
set -u

program=${1:?usage: haproxy.sh PROGRAM}
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 1
server=
proxy=
cleanup() {
  for pid in $server $proxy; do kill -9 "$pid" 2>/dev/null; done
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

fail() {
  echo "FAILED  $1"
  cat "$work"/*.log
  exit 1
}

# eventually COMMAND...: within 20 seconds
eventually() {
  for _ in $(seq 200); do
    if "$@"; then return 0; fi
    sleep 0.1
  done
  return 1
}

find_port() {
  port=$(sed -n 's/^Listening on port //p' "$work/server.log")
  [ -n "$port" ]
}

# The fields of the server's line that are asked for, by their names in HAProxy's statistics.
statistic() {
  curl --silent --unix-socket "$work/statistics" 'http://haproxy/;csv' | awk -F, -v wanted="$1" '
    NR == 1 { for (i = 1; i <= NF; ++i) if ($i == wanted) column = i }
    $2 == "echo" { print $column }'
}
has_status() { [ "$(statistic status)" = "$1" ]; }
has_check_status() { [ "$(statistic check_status)" = "$1" ]; }

env -u PORT -u CLUSTER "$program" --port 0 >"$work/server.log" 2>&1 &
server=$!
eventually find_port || fail "the server does not listen"

cat >"$work/haproxy.cfg" <<END
global
  maxconn 200
defaults
  mode http
  timeout connect 20s
  timeout client 20s
  timeout server 20s
  timeout check 10s
frontend front
  bind unix@$work/front
  default_backend servers
backend servers
  http-reuse always
  option httpchk
  http-check send meth GET uri /healthz ver HTTP/1.1 hdr Host test
  http-check expect status 200
  server echo 127.0.0.1:$port check inter 200ms fall 1 rise 1
frontend statistics
  bind unix@$work/statistics
  stats enable
  stats uri /
END
haproxy -f "$work/haproxy.cfg" -db >"$work/haproxy.log" 2>&1 &
proxy=$!
eventually test -S "$work/front" || fail "HAProxy does not listen"
eventually has_check_status L7OK || fail "the health check does not succeed: $(statistic check_status)"
has_status UP || fail "a healthy server is not up: $(statistic status)"
echo "ok      the health check succeeds"

# Each curl is a connection of its own to the front; behind it there is one.
requests=60
for number in $(seq $requests); do
  case $((number % 3)) in
    0) chunked='Transfer-Encoding: chunked' ;;
    *) chunked='X-Number: '$number ;;
  esac
  curl --silent --show-error --max-time 20 --unix-socket "$work/front" -H "$chunked" \
    --data-binary "@$source_dir/body.json" http://test/ >"$work/answer" || fail "request $number"
  cmp -s "$work/answer" "$source_dir/tests/e2e/reference_answer.json" || fail "the answer to request $number"
done
echo "ok      $requests requests are echoed"
reused=$(statistic reuse)
[ "$reused" -ge $((requests / 2)) ] || fail "connections were reused $reused times only"
[ "$(statistic econ)" = 0 ] && [ "$(statistic eresp)" = 0 ] || fail "HAProxy counts errors"
echo "ok      its connections are kept: reused $reused times, without errors"

kill -TERM "$server"
eventually has_status DOWN || fail "HAProxy does not notice the end: $(statistic status)"
wait "$server" || fail "the server's exit status is $?"
server=
echo "ok      its end is noticed"
kill -TERM "$proxy"
