/**
 * Measures what the control of recognition costs, in a separate process that can be pinned to a core: `WHISPER ROUNDS`.
 * Plain and constrained decoding alternate. Prints one JSON value.
 */
import {logMel} from '../../src/audio/index.js'
import {median, medianRatio, round} from '../../src/bench/measure.js'
import type {TokenLogits} from '../../src/sampling/index.js'
import {type CompiledConstraints, constraintCompiler} from '../../src/speech/constraints/compile.js'
import {openSpeechModel} from '../../src/speech/engine/open-model.js'
import {defaultTranscribeOptions} from '../../src/speech/index.js'
import {decodeWindow} from '../../src/speech/whisper/decode-window.js'
import {openGraphNetwork} from '../../src/speech/whisper/graph-network.js'
import type {AudioContext, DecoderRun} from '../../src/speech/whisper/network.js'
import {readWhisperFolder} from '../../src/speech/whisper/open-whisper.js'
import {buildPrompt} from '../../src/speech/whisper/prompt.js'
import {whisperText} from '../../src/speech/whisper/text-vocabulary.js'
import {readShards} from '../../src/weights/index.js'
import {constraintsOf} from '../support/constraints.js'
import {projectFile} from '../support/project.js'
import {randomFloats} from '../support/random-floats.js'
import {readClip} from '../support/sounds.js'

const [folder = '', count = '5'] = process.argv.slice(2)
const rounds = Number(count)

/** Tokens of a Whisper window. */
const windowTokens = 64

/** Different words of six letters, each of several tokens. The tokenizer of the random model writes no spaces. */
const words = (many: number) =>
  Array.from({length: many}, (_, i) =>
    Array.from({length: 6}, (_letter, k) =>
      String.fromCharCode(97 + ((Math.floor(i / 26 ** (k % 2)) + 7 * i * k + 5 * k) % 26)),
    ).join(''),
  )

/** Hotwords, phrases and forbidden tokens in numbers that people use, and more. @param spoken phrases of the recording */
const constraintsWith = (spoken: readonly string[]) =>
  constraintsOf({
    bias: words(100),
    phrases: [...spoken, ...words(200)],
    forbidden: Array.from({length: 100}, (_, i) => 20_000 + i),
    // The random model hears none of the phrases, and must not give up.
    stuckSteps: 1_000_000,
  })

interface Times {
  plain: number[]
  constrained: number[]
}

/** Alternates the two, and which one is first; the first round is a warm-up. */
async function alternate(run: (constrained: boolean) => Promise<number>): Promise<Times> {
  const times: Times = {plain: [], constrained: []}
  for (let i = 0; i <= rounds; i++) {
    const isReversed = i % 2 === 1
    const [first, second] = [await run(isReversed), await run(!isReversed)]
    if (i === 0) continue
    times.plain.push(isReversed ? second : first)
    times.constrained.push(isReversed ? first : second)
  }
  return times
}

const summary = ({plain, constrained}: Times) => ({
  plain_ms: round(median(plain)),
  constrained_ms: round(median(constrained)),
  ratio: round(medianRatio(constrained, plain), 3),
})

/** Processor time, ms, which other processes affect less than wall time. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = process.cpuUsage()
  await work()
  const {user, system} = process.cpuUsage(started)
  return (user + system) / 1000
}

/** Sources of the rows of a beam in each step. */
const reordered = [1, 0, 2, 2, 4]

/**
 * A window that never ends before its maximum number of tokens, and in which each step of a beam moves the same number of
 * rows. Both sides thus run the network equally.
 */
const endless = (audio: AudioContext, end: number): AudioContext => ({
  positions: audio.positions,
  decode(options): DecoderRun {
    const run = audio.decode(options)
    const withoutEnd = (rows: TokenLogits[]) => {
      for (const {values} of rows) values[end] = -Infinity
      return rows
    }
    return {
      get rows() {
        return run.rows
      },
      get length() {
        return run.length
      },
      get wholeHeads() {
        return run.wholeHeads
      },
      prefill: async (tokens, at, wanted) => withoutEnd(await run.prefill(tokens, at, wanted)),
      step: async (tokens, wanted) => withoutEnd(await run.step(tokens, wanted)),
      select: (sources) => run.select(sources.length === reordered.length ? reordered : sources),
    }
  },
})

async function whisper(beamSize: number) {
  const {config, vocabulary} = await readWhisperFolder(folder)
  const session = {threads: 1, device: 'cpu', alignmentHeads: [[1, 0]], textTokens: vocabulary.endOfText} as const
  const network = await openGraphNetwork(config, await readShards(folder), session)
  const frames = 2 * config.audioPositions
  const clip = randomFloats(1)(11 * 16_000).map((x) => 0.1 * x)
  const context = await network.encode(logMel(clip, {bins: config.melBins, frames}), frames)
  const audio = endless(context, vocabulary.endOfText)
  const compile = constraintCompiler(whisperText(vocabulary))
  const constraints = constraintsWith([])
  const limits = {timestamps: false, context: config.textPositions, maxTokens: windowTokens}
  const prompt = buildPrompt(vocabulary, {language: 'en', task: 'transcribe'}, {hotwords: []}, limits)
  const options = {
    ...defaultTranscribeOptions,
    beamSize,
    temperatures: [0],
    noSpeechThreshold: 1,
    compressionRatioThreshold: Infinity,
  }
  const decode = (compiled: CompiledConstraints | undefined) =>
    decodeWindow(audio, vocabulary, prompt, options, {...limits, constraints: compiled})
  const times = await alternate((constrained) => timed(() => decode(constrained ? compile(constraints) : undefined)))
  await network.release()
  return {tokens: windowTokens, beam: beamSize, ...summary(times)}
}

async function ctc() {
  const options = {name: 'starter', threads: 1, device: 'cpu', precision: 'auto', derivedFolder: folder} as const
  const model = await openSpeechModel(projectFile('examples/models/starter'), options)
  const clip = await readClip(projectFile('examples/memo.wav'))
  const constraints = constraintsWith([
    'the server is ready',
    'and the tests have finished',
    'please restart the worker',
    'tomorrow morning',
  ])
  const times = await alternate((constrained) =>
    timed(() => model.recognise(clip.slice(), {...defaultTranscribeOptions, ...(constrained ? {constraints} : {})})),
  )
  await model.release()
  return summary(times)
}

process.stdout.write(
  `${JSON.stringify({whisper_greedy: await whisper(1), whisper_beam: await whisper(reordered.length), ctc: await ctc()})}\n`,
)
