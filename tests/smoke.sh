#!/bin/sh
# Does a freshly built server do its job? Starts it on a free port, asks it the main things with curl, and stops it.
#   tests/smoke.sh PROGRAM
# Exit status: 0 all well, 1 something is wrong, 77 there is no curl.
set -u

program=${1:?usage: smoke.sh PROGRAM}
source_dir=$(cd "$(dirname "$0")/.." && pwd)
command -v curl >/dev/null || { echo "skipped: curl is missing"; exit 77; }

work=$(mktemp -d) || exit 1
server=
cleanup() {
  [ -z "$server" ] || kill -9 "$server" 2>/dev/null
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

failed=0
report() {  # report WHETHER WHAT
  if [ "$1" -eq 0 ]; then echo "ok      $2"; else echo "FAILED  $2"; failed=1; fi
}

# ask NAME CURL-ARGUMENTS...: the content goes to $work/NAME, the status code to $status.
ask() {
  name=$1
  shift
  status=$(curl --silent --show-error --noproxy '*' --max-time 20 --output "$work/$name" \
    --write-out '%{http_code}' "$@")
}

env -u PORT -u CLUSTER "$program" --port 0 >"$work/output" 2>"$work/errors" &
server=$!
port=
tries=0
while [ -z "$port" ] && [ $tries -lt 200 ] && kill -0 "$server" 2>/dev/null; do
  port=$(sed -n 's/^Listening on port //p' "$work/output")
  [ -n "$port" ] || sleep 0.1
  tries=$((tries + 1))
done
if [ -z "$port" ]; then
  echo "FAILED  start: no ready line"
  cat "$work/output" "$work/errors"
  exit 1
fi
sed -n 1p "$work/output"
report 0 "listens on port $port"
url=http://127.0.0.1:$port

ask echo --data-binary "@$source_dir/body.json" -H 'Content-Type: application/json' "$url/"
[ "$status" = 200 ] && cmp -s "$work/echo" "$source_dir/tests/e2e/reference_answer.json"
report $? "POST of body.json comes back compact, byte for byte ($status, $(wc -c <"$work/echo") octets)"

ask chunked -H 'Transfer-Encoding: chunked' --data-binary "@$source_dir/body.json" "$url/any/path"
[ "$status" = 200 ] && cmp -s "$work/chunked" "$work/echo"
report $? "the same in chunks ($status)"

ask hello "$url/"
[ "$status" = 200 ] && [ "$(cat "$work/hello")" = "Hello World" ]
report $? "GET says hello ($status)"

ask fault --data-binary '{"colors":[{"color":5}]}' "$url/"
[ "$status" = 400 ] && grep -q '"code":"type_mismatch"' "$work/fault" && grep -q '"pointer":"/colors/0/color"' "$work/fault"
report $? "a fault is told with its place ($status $(cat "$work/fault"))"

ask health "$url/healthz"
[ "$status" = 200 ] && [ "$(cat "$work/health")" = '{"status":"ok"}' ]
report $? "the health check is ok ($status)"

kill -TERM "$server"
tries=0
while kill -0 "$server" 2>/dev/null && [ $tries -lt 100 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
if kill -0 "$server" 2>/dev/null; then
  report 1 "SIGTERM ends it"
else
  wait "$server"
  ended=$?
  server=
  report $ended "SIGTERM ends it, with status $ended"
fi
[ ! -s "$work/errors" ]
report $? "nothing was complained of"
cat "$work/errors"
exit $failed
