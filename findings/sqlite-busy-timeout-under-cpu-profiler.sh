#!/usr/bin/env bash
# SQLite's busy timeout ends early while V8's CPU profiler runs.
#
# Versions: Node.js 24.21.0 with its built-in node:sqlite (SQLite 3.53.4), Linux x64.
#
# Seen: a connection with a timeout of 5000 ms waits 5.1 s for the write lock of another process, then fails with
# "database is locked". The same program under `node --cpu-prof` fails with the same error after 0.2 s; with
# `--cpu-prof-interval 10000`, after 0.8 s. A transaction that only needed to wait for half a second fails, but only while
# it is being profiled.
#
# Cause: the built-in busy handler does not read a clock. It adds up the sleeps that it asked for (1, 2, 5, 10 … 100 ms)
# until they exceed the timeout. The profiler samples with the signal SIGPROF, which interrupts each sleep, so five seconds
# of sleeps are "used up" within milliseconds.
#
# Consequence: do not conclude from SQLITE_BUSY in a profiled program that its transactions are too long; wait in the
# program, by the clock, if a profiled program must wait.
set -euo pipefail

folder=$(mktemp -d)
holder=
finish() {
  [ -z "$holder" ] || kill "$holder" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT
cd "$folder"
echo '{"allowScripts": {"node": true}}' >package.json
npm install --no-audit --no-fund --loglevel error node@24.21.0
node=$folder/node_modules/node/bin/node
"$node" -p '`Node.js ${process.version}, SQLite ${process.versions.sqlite}`'

cat >holder.mjs <<'EOF'
import {DatabaseSync} from 'node:sqlite'
const database = new DatabaseSync('shared.db')
database.exec('PRAGMA journal_mode = WAL; CREATE TABLE notes (text TEXT); BEGIN IMMEDIATE')
console.log('holding')
setInterval(() => {}, 60_000)
EOF
cat >waiter.mjs <<'EOF'
import {DatabaseSync} from 'node:sqlite'
const database = new DatabaseSync('shared.db', {timeout: 5000})
const start = performance.now()
let message = 'no error'
try {
  database.exec('BEGIN IMMEDIATE')
} catch (error) {
  message = error.message
}
console.log(`${message} after ${((performance.now() - start) / 1000).toFixed(1)} s`)
EOF

"$node" --disable-warning=ExperimentalWarning holder.mjs >ready &
holder=$!
until grep -q holding ready; do sleep 0.1; done
run() { "$node" --disable-warning=ExperimentalWarning "$@" waiter.mjs; }
plain=$(run)
profiled=$(run --cpu-prof)
echo "without profiler: $plain"
echo "with profiler:    $profiled"

seconds() { sed 's/.* after \(.*\) s/\1/' <<<"$1"; }
[[ $plain == 'database is locked after '* && $profiled == 'database is locked after '* ]] || exit 1
awk -v plain="$(seconds "$plain")" -v profiled="$(seconds "$profiled")" \
  'BEGIN {exit !(plain >= 4.5 && profiled < 2.5)}' || {
  echo 'Changed: the timeout is now the same with and without the profiler.'
  exit 1
}
echo 'As described.'
