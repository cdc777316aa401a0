// Generates text through the library: node examples/generate.mjs MODEL_DIRECTORY "Once upon a time"
import {defaultSampling} from 'svc-toolkit/sampling'
import {startEngine} from 'svc-toolkit/llm'

const [model, prompt] = process.argv.slice(2)
if (model === undefined || prompt === undefined) {
  process.stderr.write('usage: node examples/generate.mjs MODEL_DIRECTORY PROMPT\n')
  process.exit(2)
}

// The engine computes in a thread of its own; 0 means: choose for me.
const engine = await startEngine(model, {threads: 0, numCtx: 0})
const request = {
  prompt: {kind: 'raw', text: prompt},
  maxTokens: 100,
  stop: [],
  sampling: {...defaultSampling, seed: 7},
}
for await (const event of engine.generate(request)) {
  if (event.type === 'text') process.stdout.write(event.text)
  else process.stderr.write(`\n${event.completionTokens} tokens, ended by ${event.finishReason}\n`)
}
await engine.close()
