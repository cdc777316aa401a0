/**
 * Measures the masks of one program in a process of its own, so that the memory of another does not slow down the garbage
 * collection. Receives a `Job`, and sends `Figures`.
 */
import {round} from '../../../src/bench/measure.js'
import {
  compileGrammar,
  createConstraintSource,
  createTokenTrie,
  createVocabulary,
  hasToken,
  maskWords,
} from '../../../src/grammar/index.js'
import {inByteAlphabet, loadXGrammar} from './peer.js'
import {processorMs} from './processor-time.js'
import {cases, grammarOf} from './schemas.js'
import {tokensOf, type VocabularyName} from './vocabularies.js'

export interface Job {
  readonly program: 'svc' | 'xgrammar'
  readonly vocabulary: VocabularyName
  /** Tokens of the replies of each case. */
  readonly replies: Readonly<Record<string, readonly (readonly number[])[]>>
  /** Rounds that are measured. */
  readonly rounds: number
  /** Rounds before them: the first is reported apart. Until the last, Node.js compiles the code, partly in other threads. */
  readonly warmUp: number
}

/** Quantiles of times, ms. */
export interface Quantiles {
  compile_ms_p50: number
  first_mask_ms_p95: number
  mask_ms_p50: number
  mask_ms_p99: number
  mask_ms_p999: number
}

export interface Figures extends Quantiles {
  first_round: Quantiles
  /** Longest step of a mask after the first round, between which other work can run. */
  longest_step_ms: number
  /** Median memory of a compiled schema after its replies, 0 if unknown. */
  bytes_p50: number
}

/** Times of one program, ms. */
class Times {
  readonly compile: number[] = []
  /** From the schema to the first mask. */
  readonly first: number[] = []
  readonly masks: number[] = []
  readonly steps: number[] = []
  readonly bytes: number[] = []

  quantiles(): Quantiles {
    return {
      compile_ms_p50: quantile(this.compile, 0.5),
      first_mask_ms_p95: quantile(this.first, 0.95),
      mask_ms_p50: quantile(this.masks, 0.5),
      mask_ms_p99: quantile(this.masks, 0.99),
      mask_ms_p999: quantile(this.masks, 0.999),
    }
  }
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return round(sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0, 3)
}

/** Computes the masks of the replies of a case, token by token. @throws if a token is refused */
type Run = (name: string, replies: readonly (readonly number[])[], times: Times) => Promise<void> | void

function own(name: VocabularyName): Run {
  const {vocabulary, size} = ownVocabulary(name)
  const mask = new Uint32Array(maskWords(size))
  return (name, replies, times) => {
    const grammar = grammarOf(cases[name]!.schema)
    const started = processorMs()
    const source = createConstraintSource(compileGrammar(grammar), vocabulary, [])
    times.compile.push(processorMs() - started)
    for (const [i, reply] of replies.entries()) {
      const constraint = source.start()
      for (const [at, token] of reply.entries()) {
        const before = processorMs()
        let stepped = before
        for (const steps = constraint.maskInSteps(mask); steps.next().done !== true; stepped = processorMs())
          times.steps.push(processorMs() - stepped)
        const ended = processorMs()
        times.steps.push(ended - stepped)
        times.masks.push(ended - before)
        if (i === 0 && at === 0) times.first.push(ended - started)
        if (!hasToken(mask, token) || !constraint.accept(token)) throw new Error(`${name}: token ${at} is refused`)
      }
    }
    times.bytes.push(source.bytes)
  }
}

/** The tokens themselves are not kept, as in the server. */
function ownVocabulary(name: VocabularyName) {
  const tokens = tokensOf(name)
  const trie = createTokenTrie({size: tokens.length, bytes: (token) => tokens[token]})
  return {vocabulary: createVocabulary(trie), size: tokens.length}
}

async function xgrammar(name: VocabularyName): Promise<Run> {
  const {TokenizerInfo, GrammarCompiler, GrammarMatcher} = loadXGrammar()
  const tokens = tokensOf(name).map(inByteAlphabet)
  const last = tokens.length - 1
  const info = await TokenizerInfo.createTokenizerInfo(tokens, 'byte_level', false)
  return async (name, replies, times) => {
    const compiler = await GrammarCompiler.createGrammarCompiler(info, false)
    const schema = JSON.stringify(cases[name]!.schema)
    const started = processorMs()
    const compiled = await compiler.compileJSONSchema(schema, false, -1, [', ', ': '], true)
    times.compile.push(processorMs() - started)
    for (const [i, reply] of replies.entries()) {
      const matcher = await GrammarMatcher.createGrammarMatcher(compiled, last)
      for (const [at, token] of reply.entries()) {
        const before = processorMs()
        await matcher.getNextTokenBitmask()
        const ended = processorMs()
        times.masks.push(ended - before)
        if (i === 0 && at === 0) times.first.push(ended - started)
        if (!matcher.acceptToken(token)) throw new Error(`${name}: XGrammar refuses token ${at}`)
      }
      matcher.dispose()
    }
    compiled.dispose()
    compiler.dispose()
  }
}

async function measure({program, vocabulary, replies, rounds, warmUp}: Job): Promise<Figures> {
  const run = program === 'svc' ? own(vocabulary) : await xgrammar(vocabulary)
  const runs = async (count: number, times = new Times()) => {
    for (let i = 0; i < count; i++) for (const [name, each] of Object.entries(replies)) await run(name, each, times)
    return times
  }
  const cold = await runs(1)
  await runs(warmUp - 1)
  const warm = await runs(rounds)
  return {
    ...warm.quantiles(),
    first_round: cold.quantiles(),
    longest_step_ms: round(
      warm.steps.reduce((a, b) => Math.max(a, b), 0),
      1,
    ),
    bytes_p50: quantile(warm.bytes, 0.5),
  }
}

process.once('message', async (job: Job) => {
  process.send?.(await measure(job), () => process.disconnect())
})
