#!/bin/sh
# sh tools/node.sh FILE …: runs it with the Node that npm has installed in the checkout, otherwise with the one on the PATH.
# npm 10 installs it and then takes its link in node_modules/.bin away, because the packages for other platforms, which it
# passes over, have a link of that name: here it is put back, for npx too.
modules=$(cd "$(dirname "$0")/.." && pwd)/node_modules
for node in "$modules"/node-*/bin/node; do
  # Without glibc, or libatomic of a minimal Debian, it is there and does not run.
  if why=$("$node" --version 2>&1); then
    [ -e "$modules/.bin/node" ] || ln -s "$node" "$modules/.bin/node" 2>/dev/null
    PATH="${node%/node}:$PATH"
    export PATH
    exec node "$@"
  fi
done
# An older Node does not read these sources (`using`, or any TypeScript), and its error does not say so.
if ! node -e 'process.exit(parseInt(process.versions.node) < 24 ? 1 : 0)' 2>/dev/null; then
  remedy="run npm ci without --omit=optional, which installs one"
  case ${why:-} in *shared*libraries:\ *) remedy="install the library that the one in node_modules lacks, such as Debian's libatomic1 ($why)" ;; esac
  echo "deskwire: this checkout needs Node 24 or later, and the PATH has $(node --version 2>/dev/null || echo none): $remedy" >&2
  exit 1
fi
exec node "$@"
