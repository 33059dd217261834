#!/bin/sh
# serve.sh PORT WORKERS FOLDER: nginx has no variables for these in its configuration, so fill them in.
set -eu
template=$(dirname "$0")/nginx.conf.in
sed -e "s/@PORT@/$1/" -e "s/@WORKERS@/$2/" "$template" > "$3/nginx.conf"
exec nginx -e stderr -p "$3" -c "$3/nginx.conf"
