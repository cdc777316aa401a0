#!/usr/bin/env bash
# @huggingface/gguf reads the token U+FEFF of a vocabulary as an empty string.
#
# Version: @huggingface/gguf 0.4.6 on Node.js 20.
#
# Seen: `gguf` returns ["a", "", "b"] for the tokens "a", U+FEFF and "b". Vocabularies that contain the character as a token of
# its own get a second empty token, and the names of tokens are no longer unique.
#
# Cause: each string is decoded by `new TextDecoder().decode`, which drops a byte order mark at the start unless
# `ignoreBOM` is set.
#
# Consequence: a tokenizer that is built from this metadata differs from the one of the model. svc reads the tokens itself.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --no-audit --no-fund --loglevel error @huggingface/gguf@0.4.6

cat >read.mjs <<'END'
import {writeFileSync} from 'node:fs'
import {gguf} from '@huggingface/gguf'

const u32 = (value) => Buffer.from(Uint32Array.of(value).buffer)
const u64 = (value) => Buffer.from(BigUint64Array.of(BigInt(value)).buffer)
const text = (value) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)])
const tokens = ['a', '\uFEFF', 'b']
const file = Buffer.concat([
  Buffer.from('GGUF'), u32(3), u64(1), u64(1),
  text('tokenizer.ggml.tokens'), u32(9), u32(8), u64(tokens.length), ...tokens.map(text),
  text('token_embd.weight'), u32(1), u64(8), u32(0), u64(0),
  Buffer.alloc(64),
])

writeFileSync('tokens.gguf', file)
const {metadata} = await gguf('tokens.gguf', {allowLocalFile: true})
console.log(JSON.stringify(metadata['tokenizer.ggml.tokens']))
END
seen=$(node read.mjs)
echo "Tokens: $seen"
if [ "$seen" = '["a","","b"]' ]; then
  echo 'As described.'
else
  echo 'Not as described.'
  exit 1
fi
