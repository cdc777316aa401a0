#!/usr/bin/env bash
# @huggingface/gguf reads the token U+FEFF of a vocabulary as an empty string, and a truncated file as a complete one.
#
# Versions: @huggingface/gguf 0.4.6 on Node.js 20.
#
# Seen: `gguf` returns ["a", "", "b"] for the tokens "a", U+FEFF and "b". Vocabularies that contain the character as a token of
# its own get a second empty token, and the names of tokens are no longer unique. Of a file that ends within its header,
# `gguf` returns a tensor whose name consists of zeros, and no error.
#
# Cause: each string is decoded by `new TextDecoder().decode`, which drops a byte order mark at the start unless
# `ignoreBOM` is set. The buffer grows in steps of 2 MB that are filled with zeros where the file has ended, and zeros are
# valid lengths, types and offsets.
#
# Consequence: programs that build a tokenizer from this metadata must read the tokens by other means, and programs that
# check a download must compare its size first.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --no-audit --no-fund --loglevel error @huggingface/gguf@0.4.6

cat >read.mjs <<'EOF'
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

writeFileSync('whole.gguf', file)
const whole = await gguf('whole.gguf', {allowLocalFile: true})
console.log('tokens', JSON.stringify(whole.metadata['tokenizer.ggml.tokens']))
console.log('tensors', JSON.stringify(whole.tensorInfos.map(({name}) => name)))

writeFileSync('cut.gguf', file.subarray(0, 100))
const cut = await gguf('cut.gguf', {allowLocalFile: true})
console.log('tensors of the first 100 bytes', JSON.stringify(cut.tensorInfos.map(({name}) => name)))
EOF
node read.mjs
