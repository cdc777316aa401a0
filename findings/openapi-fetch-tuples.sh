#!/usr/bin/env bash
# The client openapi-fetch types tuples of a response as arrays, though openapi-typescript generates tuples.
#
# Versions: openapi-fetch 0.17.0, openapi-typescript-helpers 0.1.0, TypeScript 5.9.3, Node.js 20.20.2, Linux x64.
#
# Seen: a response of type `[number, string]` has the type `(string | number)[]` in `data`. The type `Readable` of the helpers
# maps every array to an array of the union of its items.
#
# Consequence: `const [count, name] = data` has items of the union type. Cast `data` to the type in `paths`.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --no-audit --no-fund --loglevel error openapi-fetch@0.17.0 openapi-typescript-helpers@0.1.0 typescript@5.9.3
cat >show.ts <<'PROGRAM'
import type {Client} from 'openapi-fetch'
interface Get { responses: {200: {headers: {}; content: {'application/json': [number, string]}}} }
type paths = {'/pair': {get: Get}}
export const pair = async (client: Client<paths>): Promise<[number, string] | undefined> => (await client.GET('/pair')).data
PROGRAM
seen=$(npx tsc --noEmit --strict --target es2022 --module nodenext show.ts | grep -o "Type '(string | number)\[\] | undefined' is not assignable" || true)
echo "$seen"
expected="Type '(string | number)[] | undefined' is not assignable"
[ "$seen" = "$expected" ] || { printf 'Changed: it was\n%s\n' "$expected" && exit 1; }
echo 'As described.'
