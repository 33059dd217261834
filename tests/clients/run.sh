#!/bin/sh
# Runs a client check where its tools are installed.
#   tests/clients/run.sh TOOL[,TOOL...] COMMAND...
# Exit status: that of COMMAND, or 77 (skipped) where a tool is missing.
set -u
tools=$1
shift
for tool in $(echo "$tools" | tr , ' '); do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is missing"; exit 77; }
done
exec "$@"
