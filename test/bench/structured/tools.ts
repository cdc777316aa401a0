import {readFile} from 'node:fs/promises'
import {median, medianRatio, round} from '../../../src/bench/measure.js'
import {
  allSteps,
  compileInSteps,
  createConstraintSource,
  createTokenTrie,
  createVocabulary,
  maskWords,
  readGrammar,
  type Steps,
  storeGrammar,
} from '../../../src/grammar/index.js'
import {type GenerateRequest, type LanguageModel, loadLanguageModel} from '../../../src/llm/index.js'
import {hermes} from '../../../src/llm/reply/call-formats.js'
import {ReplyParser} from '../../../src/llm/reply/parser.js'
import {replyGrammar} from '../../../src/llm/reply/reply-grammar.js'
import {storeTools, ToolChecks, toolReader} from '../../../src/llm/reply/tool-grammars.js'
import {defaultSampling} from '../../../src/sampling/index.js'
import {manyTools} from '../../support/many-tools.js'
import {projectFile} from '../../support/project.js'
import {processFolder, writeFiles} from '../../support/temporary.js'
import {writeTinyModel} from '../../support/tiny-model.js'
import {processorMs} from './processor-time.js'
import {encoderOf, tokensOf} from './vocabularies.js'

/** 500 tools in one request, in time of the processor, and the speed of calls. */
export async function tools() {
  return {...fiveHundred(), ...(await speed())}
}

/**
 * Times from the tools to the first mask, of the first call, and of the check of all tools, which other threads do meanwhile. Then
 * for the same tools in another request, and for the same request.
 */
function fiveHundred() {
  const tokens = tokensOf('cl100k')
  const vocabulary = createVocabulary(createTokenTrie({size: tokens.length, bytes: (token) => tokens[token]}))
  const mask = new Uint32Array(maskWords(tokens.length))
  let longest = 0
  const each = <T>(steps: Steps<T>): T => {
    for (;;) {
      const started = processorMs()
      const {done, value} = steps.next()
      longest = Math.max(longest, processorMs() - started)
      if (done === true) return value
    }
  }
  const encode = encoderOf('cl100k')
  const first = (count: number, known: ToolChecks, timed: typeof allSteps = allSteps) => {
    const started = processorMs()
    const offered = manyTools(count)
    const use = {tools: offered, choice: 'auto', parallel: true} as const
    const parts = {isThinking: false, content: '', tags: [hermes.trigger], calls: {format: hermes, use}}
    const stored = timed(storeGrammar(timed(replyGrammar(parts))))
    const read = toolReader({format: hermes.name, specials: {}, tools: storeTools(offered)})
    const source = createConstraintSource(timed(compileInSteps(timed(readGrammar(stored)), read)), vocabulary, [])
    timed(source.start().maskInSteps(mask))
    const masked = processorMs()
    const constraint = source.start()
    for (const token of encode(call)) {
      timed(constraint.maskInSteps(mask))
      if (!constraint.accept(token)) throw new Error('The call is refused.')
    }
    const called = processorMs()
    timed(known.of(hermes, offered))
    return {source, mask: masked - started, call: called - masked, check: processorMs() - called}
  }
  // The masks of a vocabulary that all grammars share are known after the first request.
  first(1, new ToolChecks())
  const known = new ToolChecks()
  const cold = first(500, known)
  const other = first(499, known)
  const again = processorMs()
  allSteps(cold.source.start().maskInSteps(mask))
  const repeated = processorMs() - again
  first(500, new ToolChecks(), each)
  return {
    tools: 500,
    first_mask_ms: round(cold.mask),
    first_call_ms: round(cold.call),
    check_ms: round(cold.check),
    other_request_first_mask_ms: round(other.mask),
    other_request_check_ms: round(other.check),
    same_request_first_mask_ms: round(repeated, 2),
    longest_step_ms: round(longest),
    tokens_per_call: encode(call).length,
  }
}

const call =
  '<tool_call>\n{"name": "list_files_0", "arguments": {"path": "/srv/data/reports/2026/summary.md", "limit": 20, "options": {}}}\n</tool_call>'

const rounds = 8

/** Tokens per second of calls, a JSON string and text of a model with random weights, and of a reader of its replies. */
async function speed() {
  const folder = processFolder()
  const size = {hiddenSize: 512, intermediateSize: 1536, layers: 8, heads: 8, headDim: 64}
  await writeTinyModel(folder, {...size, contextLength: 1024})
  const template = await readFile(projectFile('test/fixtures/jinja/templates/qwen3.jinja'), 'utf8')
  await writeFiles(folder, {'chat_template.jinja': template, 'generation_config.json': '{"eos_token_id": 256}'})
  const model = await loadLanguageModel(folder, {threads: 1, numCtx: 0})
  const parameters = {
    type: 'object',
    properties: {first_argument: {enum: ['a', 'b']}, second_argument: {type: 'boolean'}},
    required: ['first_argument', 'second_argument'],
  }
  const asking = (changes: Partial<GenerateRequest>): GenerateRequest => ({
    prompt: {kind: 'chat', messages: [{role: 'user', content: 'Hi'}], overflow: 'refuse'},
    maxTokens: 60,
    stop: [],
    sampling: {...defaultSampling, temperature: 0, logitBias: {256: -100}},
    thinking: {enabled: false},
    ...changes,
  })
  const named = {tools: [{name: 'tool', parameters}], choice: {name: 'tool'}, parallel: false}
  // Nothing but the quote at the beginning must follow.
  const format = {kind: 'schema', schema: {type: 'string', minLength: 500}} as const
  const requests = {plain: {}, called: {tools: named}, json: {format}}
  const times = {plain: [] as number[], called: [] as number[], json: [] as number[]}
  for (let i = 0; i <= rounds; i++)
    for (const name of ['plain', 'called', 'json'] as const) {
      const ms = await msPerToken(model, asking({...requests[name], maxTokens: 200}))
      if (i > 0) times[name].push(ms)
    }
  const {plain, called, json} = times
  await model.release()
  return {
    text_tokens_per_second: round(1000 / median(plain)),
    call_tokens_per_second: round(1000 / median(called)),
    call_to_text: round(1 / medianRatio(called, plain), 2),
    json_string_to_text: round(1 / medianRatio(json, plain), 3),
    reader_us_per_token: round(1000 * readerMs(), 1),
  }
}

/** Time of the processor per token after the first one: other programs do not add to it. */
async function msPerToken(model: LanguageModel, request: GenerateRequest): Promise<number> {
  let started: number | undefined
  for await (const event of model.generate(request)) {
    started ??= processorMs()
    if (event.type === 'done') return (processorMs() - started) / (event.completionTokens - 1)
  }
  throw new Error('The reply has no summary.')
}

/** Time per token of reading a call from parts of four characters, ms. */
function readerMs(): number {
  const parts = call.match(/[\s\S]{1,4}/g) ?? []
  const times = Array.from({length: 500}, () => {
    const parser = new ReplyParser({
      specials: {},
      isThinking: false,
      content: '',
      calls: 'hermes',
    })
    const started = performance.now()
    for (const [tokens, text] of parts.entries()) parser.push({type: 'text', text, tokens})
    return (performance.now() - started) / parts.length
  })
  return median(times)
}
