#!/bin/sh
# build.sh FOLDER: mix writes beside its project file, so the project is built as a copy in FOLDER.
set -eu
cp -r mix.exs lib "$1"
cd "$1"
export MIX_ENV=prod MIX_HOME="$1/mix" HEX_HOME="$1/hex"
mix local.hex --force
mix local.rebar --force
mix deps.get
mix release --overwrite --path "$1/release"
