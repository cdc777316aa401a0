#!/usr/bin/env bash
# @mlc-ai/web-xgrammar cannot be imported in Node.js: it is declared as an ES module, but its file is not one.
#
# Versions: @mlc-ai/web-xgrammar 0.1.27, Node.js 20.20.2, Linux x64.
#
# Seen: package.json has "type": "module", and the file of "main" is CommonJS. An import fails because `require` is not defined.
#
# Consequence: the bundlers of web pages accept the file. In Node.js, read it and run it as CommonJS, in a function with the
# parameters `exports`, `module` and `require`.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --no-audit --no-fund --loglevel error @mlc-ai/web-xgrammar@0.1.27
cat >show.mjs <<'PROGRAM'
import {readFileSync} from 'node:fs'
const {type} = JSON.parse(readFileSync('node_modules/@mlc-ai/web-xgrammar/package.json', 'utf8'))
const result = await import('@mlc-ai/web-xgrammar').then(Object.keys, ({message}) => message.split(',')[0])
console.log(JSON.stringify({type, result}))
PROGRAM
seen=$(node show.mjs)
echo "$seen"
expected='{"type":"module","result":"require is not defined in ES module scope"}'
[ "$seen" = "$expected" ] || { printf 'Changed: it was\n%s\n' "$expected" && exit 1; }
echo 'As described.'
