import {counted, SvcError} from '../../errors/index.js'
import type {Engine, GenerateRequest, GenerateSummary, Prompt, PromptToken, TokenLogprob} from '../../llm/index.js'
import {defaultSampling} from '../../sampling/index.js'
import {decodeSpeed} from '../llm.js'
import {type CheckOutcome, failedCheck, type ModelCheck, type ModelFigure, passed, skipped, verdict} from './check.js'
import type {PublishedExample} from './examples.js'

/** Plain English that is in no corpus. */
const english = `The old ferry leaves the harbour at seven in the morning and comes back at noon. Most of the people on board
are fishermen, but in summer there are also children who want to swim at the island. My sister once forgot her bag on the
boat, and the captain kept it for her until the next day. She thanked him with a cake. Since then he always asks her how the
weather will be, because he says that nobody else in the town is right so often.`

/** Texts whose bytes a tokenizer could lose. */
const scripts: Readonly<Record<string, string>> = {
  'accented Latin': 'Żółć, déjà vu, Straße, naïve.',
  Greek: 'Καλημέρα κόσμε.',
  Chinese: '今天天气很好。',
  Arabic: 'صباح الخير',
  emoji: 'Well done 👩‍🚀🎉!',
  code: 'for (let i = 0; i < 10; i++) {\n\tsum += a[i] * 0x1f\n}\n',
}

const prompts = [
  'The captain of the ferry',
  'Once upon a time, there was a little girl who',
  'The three largest cities are',
  'To make a cup of tea, first',
]

/** Models with fewer parameters may know too little English. */
const minParameters = 20_000_000

/** Length of the replies that are compared. */
const replyTokens = 24
/** Difference of two log-probabilities below which rounding may decide between the tokens. */
const tie = 0.05
/** Number of equal tokens in a row from which on a reply is a loop. */
const loopLength = 12

interface Reply {
  summary: GenerateSummary
  text: string
  logprobs: readonly TokenLogprob[]
}

/**
 * Checks a language model against itself, and against published examples.
 * @param examples of its card, and of a reference implementation
 */
export async function verifyLanguageModel(
  engine: Engine,
  examples: readonly PublishedExample[],
  signal: AbortSignal,
): Promise<{checks: ModelCheck[]; figures: ModelFigure[]}> {
  const checks: ModelCheck[] = []
  const check = async (name: string, proves: string, work: () => Promise<CheckOutcome>) => {
    checks.push({name, ...(await work()), proves})
  }
  const alone: Reply[] = []
  for (const text of prompts) alone.push(await reply(engine, {kind: 'raw', text}, signal))
  const scored = await scoresOf(engine, english, signal)
  const backwards = await scoresOf(engine, english.split(/\s+/).reverse().join(' '), signal)
  await check('tokenizer', 'Text becomes tokens and text again without a loss.', () => roundTrips(engine, signal))
  await check('template', 'The chat template renders, and keeps the message.', () => rendersChat(engine, signal))
  await check('numbers', 'No weight or operation yields infinities or NaN.', async () => finite(scored, alone))
  await check(
    'english',
    'The weights are where they belong: a random model predicts no better than chance.',
    async () => better(engine, scored),
  )
  await check('order', 'The model sees the order of the words, that is, positions and attention work.', async () =>
    verdict(
      perplexity(scored) < perplexity(backwards),
      `perplexity ${rounded(perplexity(scored))}, with the words in reverse order ${rounded(perplexity(backwards))}`,
    ),
  )
  await check('loops', 'Greedy replies are no loops of one token, which wrong weights often write.', async () =>
    loops(alone),
  )
  await check('repeat', 'The same prompt yields the same tokens.', async () =>
    same('a second run', [[alone[0] as Reply, await reply(engine, {kind: 'raw', text: prompts[0] ?? ''}, signal)]]),
  )
  // No earlier prompt begins with it.
  const letter: Prompt = {kind: 'raw', text: `Dear friend, this is what I wanted to tell you. ${english}`}
  const cold = await reply(engine, letter, signal)
  const warm = await reply(engine, letter, signal)
  await check('prefix', 'Saved beginnings of prompts do not change a reply.', async () => {
    const reused = warm.summary.cachedTokens - cold.summary.cachedTokens
    return reused > 0 ? same(`${counted(reused, 'token')} reused`, [[cold, warm]]) : skipped('Nothing was saved.')
  })
  await check('batch', 'Replies that are computed together equal those that are computed alone.', async () => {
    const together = await Promise.all(prompts.map((text) => reply(engine, {kind: 'raw', text}, signal)))
    return same(
      counted(prompts.length, 'prompt'),
      together.map((one, i) => [alone[i] as Reply, one] as const),
    )
  })
  await check('examples', 'Greedy replies equal those that the publisher or another implementation gives.', () =>
    matches(engine, examples, signal),
  )
  const {promptTokens, cachedTokens, prefillMs} = cold.summary
  const figures: ModelFigure[] = [
    {name: 'load time', value: Math.round(engine.loadMs), unit: 'ms'},
    {name: 'memory', value: Math.round(process.memoryUsage.rss() / 1e6), unit: 'MB'},
    {
      name: `prompt of ${counted(promptTokens, 'token')}`,
      value: tenths((1000 * (promptTokens - cachedTokens)) / prefillMs),
      unit: 'tokens/s',
    },
  ]
  for (const streams of [1, 4]) {
    const speed = await decodeSpeed(engine, {streams, reply: replyTokens}, signal)
    figures.push({
      name: streams === 1 ? '1 reply' : `${streams} replies at once`,
      value: Number.isFinite(speed) ? tenths(speed) : null,
      unit: 'tokens/s',
    })
  }
  figures.push({name: 'perplexity of English', value: tenths(perplexity(scored)), unit: ''})
  return {checks, figures}
}

const greedy = (prompt: Prompt, maxTokens: number): GenerateRequest => ({
  prompt,
  maxTokens,
  stop: [],
  sampling: {...defaultSampling, temperature: 0},
  topLogprobs: 2,
})

async function reply(engine: Engine, prompt: Prompt, signal: AbortSignal, maxTokens = replyTokens): Promise<Reply> {
  let text = ''
  const logprobs: TokenLogprob[] = []
  for await (const event of engine.generate(greedy(prompt, maxTokens), signal)) {
    if (event.type === 'done') return {summary: event, text, logprobs}
    if (event.type !== 'text') continue
    text += event.text
    logprobs.push(...(event.logprobs ?? []))
  }
  throw new Error('The engine ended without a summary.')
}

/** The prompt as its tokens decode it, and their log-probabilities. */
async function promptOf(engine: Engine, prompt: Prompt, signal: AbortSignal) {
  for await (const event of engine.generate({...greedy(prompt, 0), echo: true, topLogprobs: 0}, signal))
    if (event.type === 'prompt') return {text: event.text, tokens: event.logprobs ?? []}
  throw new Error('The engine has not echoed the prompt.')
}

const scoresOf = async (engine: Engine, text: string, signal: AbortSignal): Promise<number[]> =>
  (await promptOf(engine, {kind: 'raw', text}, signal)).tokens.flatMap(({logprob}: PromptToken) => logprob ?? [])

const perplexity = (logprobs: readonly number[]): number =>
  Math.exp(-logprobs.reduce((sum, logprob) => sum + logprob, 0) / logprobs.length)

const rounded = (value: number): string => (value < 100 ? value.toFixed(1) : String(Math.round(value)))

async function roundTrips(engine: Engine, signal: AbortSignal): Promise<CheckOutcome> {
  const lost: string[] = []
  for (const [name, text] of Object.entries({English: english, ...scripts})) {
    const {text: decoded} = await promptOf(engine, {kind: 'raw', text}, signal)
    if (decoded.trim() !== text.trim()) lost.push(name)
  }
  if (lost.includes('English')) return failedCheck('English text changes.')
  const total = 1 + Object.keys(scripts).length
  if (lost.length === 0) return passed(`${counted(total, 'kind')} of text unchanged`)
  return passed(`English unchanged; the vocabulary cannot write ${lost.join(', ')}`)
}

async function rendersChat(engine: Engine, signal: AbortSignal): Promise<CheckOutcome> {
  const {template, templateError} = engine.description
  if (templateError !== undefined) return failedCheck(SvcError.fromRecord(templateError).message)
  if (template === undefined) return skipped('The model has no chat template.')
  const content = 'How is the weather?'
  const {text} = await promptOf(engine, {kind: 'chat', messages: [{role: 'user', content}], overflow: 'refuse'}, signal)
  return verdict(
    text.includes(content),
    text.includes(content) ? 'The message is in the prompt.' : 'The message is lost.',
  )
}

function finite(scored: readonly number[], replies: readonly Reply[]): CheckOutcome {
  const all = [...scored, ...replies.flatMap(({logprobs}) => logprobs.map(({logprob}) => logprob))]
  const wrong = all.filter((logprob) => !Number.isFinite(logprob) || logprob > 1e-3).length
  return verdict(
    wrong === 0,
    `${wrong} of ${counted(all.length, 'log-probability', 'log-probabilities')} are no numbers of at most 0`,
  )
}

function better(engine: Engine, scored: readonly number[]): CheckOutcome {
  const found = `perplexity ${rounded(perplexity(scored))}`
  const vocabulary = engine.description.tensors.find(({name}) => name.endsWith('embed_tokens.weight'))?.shape[0]
  if (vocabulary === undefined) return skipped(`${found}; the size of the vocabulary is unknown`)
  if (perplexity(scored) < vocabulary) return passed(`${found}; chance is ${vocabulary}`)
  const {parameterCount} = engine.description
  if (parameterCount >= minParameters) return failedCheck(`${found}; chance is ${vocabulary}`)
  return skipped(`${found}; chance is ${vocabulary}, but so small a model may know no English`)
}

function loops(replies: readonly Reply[]): CheckOutcome {
  const longest = Math.max(...replies.map(({logprobs}) => longestRun(logprobs.map(({token}) => token))))
  return verdict(longest < loopLength, `at most ${counted(longest, 'equal token')} in a row`)
}

function longestRun(tokens: readonly string[]): number {
  let [longest, run] = [0, 0]
  for (const [i, token] of tokens.entries()) {
    run = i > 0 && token === tokens[i - 1] ? run + 1 : 1
    longest = Math.max(longest, run)
  }
  return longest
}

/** Compares the tokens of replies. Where they differ, the two best tokens may be equally likely but for rounding. */
function same(what: string, pairs: readonly (readonly [Reply, Reply])[]): CheckOutcome {
  let ties = 0
  for (const [first, second] of pairs) {
    const at = first.logprobs.findIndex(({token}, i) => second.logprobs[i]?.token !== token)
    if (at === -1) continue
    const [best, next] = first.logprobs[at]?.top ?? []
    if (best === undefined || next === undefined || best.logprob - next.logprob > tie)
      return failedCheck(`${what}: token ${at + 1} of a reply differs`)
    ties++
  }
  return passed(`${what}: ${ties === 0 ? 'equal' : `equal but for ${counted(ties, 'tie')} of two tokens`}`)
}

async function matches(
  engine: Engine,
  examples: readonly PublishedExample[],
  signal: AbortSignal,
): Promise<CheckOutcome> {
  if (examples.length === 0) return skipped('The card of the model has no prompt with its output; see --examples.')
  const differing: PublishedExample[] = []
  for (const example of examples) {
    const {text} = await reply(engine, {kind: 'raw', text: example.input}, signal, 64)
    const [ours, theirs] = [text.trim(), withoutPrompt(example).trim()]
    if (ours === '' || !(ours.startsWith(theirs) || theirs.startsWith(ours))) differing.push(example)
  }
  const found = `${examples.length - differing.length} of ${examples.length} equal`
  if (differing.some(({isExact}) => isExact)) return failedCheck(found)
  if (differing.length === 0) return passed(found)
  return skipped(`${found}; the outputs of the card may be sampled, which proves nothing`)
}

/** Some cards repeat the prompt before its continuation. */
const withoutPrompt = ({input, output}: PublishedExample): string =>
  output.startsWith(input) ? output.slice(input.length) : output

const tenths = (value: number): number => Math.round(value * 10) / 10
