import {round} from '../../src/bench/measure.js'
import {
  compileGrammar,
  createConstraintSource,
  createTokenTrie,
  createVocabulary,
  hasToken,
  maskWords,
} from '../../src/grammar/index.js'
import {inByteAlphabet, loadXGrammar} from './structured/peer.js'
import {cases, grammarOf, write} from './structured/schemas.js'
import {type BenchVocabulary, vocabularies} from './structured/vocabularies.js'

/** Rounds in which the programs alternate. The first, in which Node.js has not compiled the code yet, is reported apart. */
const roundCount = 6

/** Time of the processor that this process has used, ms: other programs of the machine do not add to it. */
function processorMs(): number {
  const {user, system} = process.cpuUsage()
  return (user + system) / 1000
}

/** Times of one program, ms. */
class Times {
  readonly compile: number[] = []
  /** From the schema to the first mask. */
  readonly first: number[] = []
  readonly masks: number[] = []

  figures() {
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

/** Measures the masks of replies, token by token. */
interface Program {
  /** Of the rounds so far, apart from those that were taken. */
  times: Times
  /** @throws if a token is refused */
  reply(name: string, tokens: readonly (readonly number[])[]): Promise<void>
}

function own({tokens}: BenchVocabulary): Program & {bytes: number[]; longestStep: () => number} {
  const vocabulary = createVocabulary(createTokenTrie({size: tokens.length, bytes: (token) => tokens[token]}))
  const mask = new Uint32Array(maskWords(tokens.length))
  const bytes: number[] = []
  let longest = 0
  const maskInSteps = (constraint: ReturnType<ReturnType<typeof createConstraintSource>['start']>) => {
    const steps = constraint.maskInSteps(mask)
    for (let done = false; !done; ) {
      const started = processorMs()
      done = steps.next().done === true
      longest = Math.max(longest, processorMs() - started)
    }
  }
  const reply: Program['reply'] = async (name, replies) => {
    const grammar = grammarOf(cases[name]!.schema)
    const started = processorMs()
    const source = createConstraintSource(compileGrammar(grammar), vocabulary, [])
    program.times.compile.push(processorMs() - started)
    for (const [i, reply] of replies.entries()) {
      const constraint = source.start()
      for (const [at, token] of reply.entries()) {
        const before = processorMs()
        maskInSteps(constraint)
        program.times.masks.push(processorMs() - before)
        if (i === 0 && at === 0) program.times.first.push(processorMs() - started)
        if (!hasToken(mask, token) || !constraint.accept(token)) throw new Error(`${name}: token ${at} is refused`)
      }
    }
    bytes.push(source.bytes)
  }
  const program = {times: new Times(), bytes, reply, longestStep: () => longest}
  return program
}

async function xgrammar({tokens}: BenchVocabulary): Promise<Program> {
  const {TokenizerInfo, GrammarCompiler, GrammarMatcher} = loadXGrammar()
  const info = await TokenizerInfo.createTokenizerInfo(tokens.map(inByteAlphabet), 'byte_level', false)
  const reply: Program['reply'] = async (name, replies) => {
    const compiler = await GrammarCompiler.createGrammarCompiler(info, false)
    const schema = JSON.stringify(cases[name]!.schema)
    const started = processorMs()
    const compiled = await compiler.compileJSONSchema(schema, false, -1, [', ', ': '], true)
    program.times.compile.push(processorMs() - started)
    for (const [i, reply] of replies.entries()) {
      const matcher = await GrammarMatcher.createGrammarMatcher(compiled, tokens.length - 1)
      for (const [at, token] of reply.entries()) {
        const before = processorMs()
        await matcher.getNextTokenBitmask()
        program.times.masks.push(processorMs() - before)
        if (i === 0 && at === 0) program.times.first.push(processorMs() - started)
        if (!matcher.acceptToken(token)) throw new Error(`${name}: XGrammar refuses token ${at}`)
      }
      matcher.dispose()
    }
    compiled.dispose()
    compiler.dispose()
  }
  const program = {times: new Times(), reply}
  return program
}

/**
 * Masks of structured output in three vocabularies, next to XGrammar in WebAssembly with the same schemas and replies. Times
 * are those of the processor, garbage collection and compilation of JavaScript included. `ratio` values are XGrammar's time divided by ours.
 */
export async function structured() {
  const figures: Record<string, object> = {}
  for (const vocabulary of vocabularies()) {
    const mine = own(vocabulary)
    const peer = await xgrammar(vocabulary)
    let cold: ReturnType<Times['figures']> | undefined
    for (let round = 0; round < roundCount; round++) {
      for (const [name, {values}] of Object.entries(cases)) {
        const replies = values.map((value) => vocabulary.encode(write(value)))
        for (const program of [mine, peer]) await program.reply(name, replies)
      }
      cold ??= mine.times.figures()
      if (round === 0) for (const program of [mine, peer]) program.times = new Times()
    }
    const [svc, other] = [mine.times.figures(), peer.times.figures()]
    figures[vocabulary.name] = {
      ...svc,
      first_round: cold,
      longest_step_ms: round(mine.longestStep(), 1),
      bytes_p50: quantile(mine.bytes, 0.5),
      xgrammar: other,
      ratio_mask_p50: round(other.mask_ms_p50 / svc.mask_ms_p50, 2),
      ratio_mask_p99: round(other.mask_ms_p99 / svc.mask_ms_p99, 2),
      ratio_first_mask: round(other.first_mask_ms_p95 / svc.first_mask_ms_p95, 2),
    }
  }
  return figures
}
