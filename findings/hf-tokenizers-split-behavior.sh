#!/usr/bin/env bash
# The JavaScript library @huggingface/tokenizers splits text in another way than the native library, without an error.
#
# Versions: @huggingface/tokenizers 0.2.0, Node.js 20.20.2; tokenizers 0.23.2 (Python 3.11) for comparison; Linux x64.
#
# Seen: a pre-tokenizer `Split` with the behavior MergedWithPrevious splits `a-b` into `a`, `-`, `b`, as Isolated does; the
# native library has `a-`, `b`. The pre-tokenizer `Whitespace` splits `naïve` into `na`, `ï`, `ve`; the native library keeps
# the word, because `\w` includes the letters of all scripts there.
#
# Consequence: the same tokenizer.json gives other token ids, so the model reads another text than it was trained on.
# Compare the ids with those of the native library, or refuse these parts.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --no-audit --no-fund --loglevel error @huggingface/tokenizers@0.2.0
python3 -m venv native
native/bin/pip install --quiet --disable-pip-version-check --no-deps tokenizers==0.23.2

# Each line: a text and a tokenizer whose vocabulary has all possible pieces.
cat >make.mjs <<'PROGRAM'
const split = (behavior) => ({type: 'Split', pattern: {String: '-'}, behavior, invert: false})
for (const [text, pre_tokenizer] of [
  ['a-b', split('MergedWithPrevious')],
  ['a-b', split('Isolated')],
  ['naïve', {type: 'Whitespace'}],
]) {
  const vocab = Object.fromEntries(['?', 'a', 'b', '-', 'a-', 'naïve', 'na', 'ï', 've'].map((word, id) => [word, id]))
  const model = {type: 'WordLevel', vocab, unk_token: '?'}
  const none = {truncation: null, padding: null, added_tokens: [], normalizer: null, post_processor: null, decoder: null}
  console.log(JSON.stringify({text, tokenizer: {version: '1.0', ...none, pre_tokenizer, model}}))
}
PROGRAM
node make.mjs >cases.jsonl
cat >show.mjs <<'PROGRAM'
import {readFileSync} from 'node:fs'
import {Tokenizer} from '@huggingface/tokenizers'
for (const line of readFileSync('cases.jsonl', 'utf8').trim().split('\n')) {
  const {text, tokenizer} = JSON.parse(line)
  console.log(new Tokenizer(tokenizer, {}).encode(text).tokens.join(' '))
}
PROGRAM
cat >show.py <<'PROGRAM'
import json
from tokenizers import Tokenizer
for line in open('cases.jsonl', encoding='utf-8'):
    case = json.loads(line)
    print(' '.join(Tokenizer.from_str(json.dumps(case['tokenizer'])).encode(case['text']).tokens))
PROGRAM

check() {
  printf '%s:\n%s\n' "$1" "$2"
  [ "$2" = "$3" ] || { printf 'Changed: it was\n%s\n' "$3" && exit 1; }
}
check JavaScript "$(node show.mjs)" $'a - b\na - b\nna ï ve'
check native "$(PYTHONIOENCODING=utf-8 native/bin/python show.py)" $'a- b\na - b\nnaïve'
echo 'As described.'
