#!/bin/sh
# sh tools/node.sh FILE …: runs it with the Node that npm has installed in the checkout, otherwise with the one on the PATH.
# npm 10 installs it and then takes its link in node_modules/.bin away, because the packages for other platforms, which it
# passes over, have a link of that name: here it is put back, for npx too.
modules=$(cd "$(dirname "$0")/../node_modules" && pwd) || exit 1
for node in "$modules"/node-*/bin/node; do
  [ -x "$node" ] || continue
  [ -e "$modules/.bin/node" ] || ln -s "$node" "$modules/.bin/node" 2>/dev/null
  PATH="${node%/node}:$PATH"
  export PATH
done
exec node "$@"
