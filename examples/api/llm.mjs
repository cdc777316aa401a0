// Generates text: node examples/api/llm.mjs MODEL_DIRECTORY "Once upon a time"
import {defaultSampling, openModel} from 'svc-toolkit/llm'

const [model, prompt] = process.argv.slice(2)
if (model === undefined || prompt === undefined) {
  process.stderr.write('usage: node examples/api/llm.mjs MODEL_DIRECTORY PROMPT\n')
  process.exit(2)
}

const engine = await openModel(model)
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
