#!/bin/sh
# serve.sh PORT WORKERS FOLDER: nginx has no variables for these in its configuration, so fill them in.
set -eu
template=$(dirname "$0")/nginx.conf.in
conf=$3/nginx.conf
sed -e "s|@PORT@|$1|" -e "s|@WORKERS@|$2|" -e "s|@OUT@|$3|" "$template" > "$conf"
exec nginx -p "$3" -c "$conf"
