#!/usr/bin/env bash
# The Anthropic provider of the AI SDK rejects a block of text whose citations are null, which the API documents.
#
# Versions: @ai-sdk/anthropic 3.0.140, ai 6.0.325, @anthropic-ai/sdk 1.14.0, Node.js 20.20.2, Linux x64.
#
# Seen: `generateText` throws "Invalid JSON response", because its schema accepts an array or nothing in `citations`. The type
# `TextBlock` of the official client is `citations: Array<TextCitation> | null`, and the field is required there.
#
# Consequence: a server that is compatible with the API must leave the field out to be used with the AI SDK.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --no-audit --no-fund --loglevel error ai@6.0.325 @ai-sdk/anthropic@3.0.140 @anthropic-ai/sdk@1.14.0 >/dev/null
grep -o 'citations: Array<TextCitation> | null;' node_modules/@anthropic-ai/sdk/resources/messages/messages.d.ts
cat >show.mjs <<'PROGRAM'
import {createAnthropic} from '@ai-sdk/anthropic'
import {generateText} from 'ai'
globalThis.AI_SDK_LOG_WARNINGS = false
const answer = (block) => {
  const usage = {input_tokens: 1, output_tokens: 1}
  const message = {type: 'message', id: 'msg_1', model: 'm', role: 'assistant', stop_reason: 'end_turn', usage}
  return Response.json({...message, content: [{type: 'text', text: 'Hi', ...block}]})
}
for (const block of [{}, {citations: null}]) {
  const model = createAnthropic({apiKey: 'none', fetch: async () => answer(block)})('m')
  const result = await generateText({model, prompt: 'Hi', maxRetries: 0}).then(({text}) => text, ({message}) => message)
  console.log(JSON.stringify(block), result)
}
PROGRAM
seen=$(node show.mjs)
echo "$seen"
expected='{} Hi
{"citations":null} Invalid JSON response'
[ "$seen" = "$expected" ] || { printf 'Changed: it was\n%s\n' "$expected" && exit 1; }
echo 'As described.'
