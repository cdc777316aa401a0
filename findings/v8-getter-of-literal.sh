#!/usr/bin/env bash
# In V8, an object literal with a getter keeps everything that the getter uses in memory until the next full garbage collection.
#
# Versions: Node.js 20.20.2, V8 11.3, Linux x64.
#
# Seen: each literal with a getter gets a hidden class of its own, which is stored among the old objects and refers to the getter.
# Collections of new objects do not free it, so they copy what the getter uses, and then keep it among the old objects, too.
#
# Consequence: such garbage makes the frequent collections slow, because they copy it. Where many objects are created, use a class.
# The masks of structured output had collections of 6 ms for this reason; with classes, one takes about 2 ms.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >show.mjs <<'PROGRAM'
const used = () => {
  for (let i = 0; i < 3; i++) gc({type: 'minor'})
  return process.memoryUsage().heapUsed
}
class Holder {
  #large
  constructor(large) {
    this.#large = large
  }
  get length() {
    return this.#large.length
  }
}
const withGetter = (large) => ({
  get length() {
    return large.length
  },
})
/** True if most of 200 objects, which hold 8 kB each and are dropped at once, are still in memory. */
function keeps(create) {
  const before = used()
  for (let i = 0; i < 200; i++) create(new Array(1000).fill(0.5))
  return used() - before > 800_000
}
console.log(JSON.stringify({literal: keeps(withGetter), class: keeps((large) => new Holder(large))}))
PROGRAM
seen=$(node --expose-gc show.mjs)
echo "$seen"
expected='{"literal":true,"class":false}'
[ "$seen" = "$expected" ] || { printf 'Changed: it was\n%s\n' "$expected" && exit 1; }
echo 'As described.'
