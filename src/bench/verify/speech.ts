import {openAudio} from '../../audio/index.js'
import {counted} from '../../errors/index.js'
import {
  defaultTranscribeOptions,
  evaluate,
  recognitionOf,
  type Segment,
  type SpeechModel,
  type Transcriber,
  type WindowResult,
} from '../../speech/index.js'
import {type CheckOutcome, type ModelCheck, type ModelFigure, skipped, verdict} from './check.js'
import type {PublishedExample} from './examples.js'

/** Largest word error rate of the included recording, which is a clear synthetic voice. */
const maxErrors = 0.25

/**
 * Checks a speech model against a recording with a known text, against itself, and against published examples.
 * @param transcriber one that uses the model with the default settings
 * @param known a short English recording and its text
 */
export async function verifySpeechModel(
  {model, transcriber, loadMs}: {model: SpeechModel; transcriber: Transcriber; loadMs: number},
  known: {path: string; text: string},
  examples: readonly PublishedExample[],
  signal: AbortSignal,
): Promise<{checks: ModelCheck[]; figures: ModelFigure[]}> {
  const {languages, batch} = model.description
  const checks: ModelCheck[] = []
  const check = async (name: string, proves: string, work: () => Promise<CheckOutcome>) => {
    checks.push({name, ...(await work()), proves})
  }
  const isEnglish = languages.length === 0 || languages.includes('en')
  const hear = async (path: string) => (await transcriber.transcribe({path}, {signal})).transcript
  // The first run allocates its buffers.
  const first = await hear(known.path)
  const started = performance.now()
  const second = await hear(known.path)
  const seconds = (performance.now() - started) / 1000
  const rate = wordErrorRate(known.text, first.text)
  await check('clip', 'The model recognises clear English speech.', async () => {
    if (!isEnglish) return skipped('The model does not recognise English.')
    return verdict(rate <= maxErrors, `"${first.text}" has a word error rate of ${percent(rate)}`)
  })
  await check('numbers', 'No weight or operation yields infinities or NaN.', async () =>
    finite([...first.segments, ...second.segments]),
  )
  await check('repeat', 'The same recording yields the same text.', async () =>
    equal('a second run', [first.text], [second.text]),
  )
  await check('batch', 'Windows that are recognised together yield the same text as alone.', async () => {
    if (model.recogniseAll === undefined || batch === 0) return skipped('The model recognises one window at a time.')
    const options = {...recognitionOf(defaultTranscribeOptions), ...(isEnglish ? {language: 'en'} : {})}
    const whole = await samplesOf(known.path, signal)
    const windows = [whole, whole.subarray(0, whole.length >> 1), whole.subarray(whole.length >> 2)]
    const alone: WindowResult[] = []
    for (const samples of windows) alone.push(await model.recognise(samples.slice(), options, signal))
    const copies = windows.map((samples) => samples.slice())
    const together = await model.recogniseAll(copies, options, signal)
    return equal(counted(windows.length, 'window'), alone.map(textOf), together.map(textOf))
  })
  await check('language', 'The model hears which language is spoken.', async () => {
    if (languages.length < 2 || !isEnglish) return skipped('The model does not tell English from other languages.')
    const [best] = (await transcriber.detectLanguage({path: known.path}, {signal})).languages
    const found =
      best === undefined ? 'nothing detected' : `${best.language}, probability ${best.probability.toFixed(2)}`
    return verdict(best?.language === 'en', found)
  })
  await check('examples', 'Transcripts equal those that the publisher or another implementation gives.', async () => {
    if (examples.length === 0) return skipped('The model directory has no recording with its text; see --examples.')
    let count = 0
    for (const {input, output} of examples) if (wordErrorRate(output, (await hear(input)).text) === 0) count++
    return verdict(count === examples.length, `${count} of ${examples.length} equal`)
  })
  const figures: ModelFigure[] = [
    {name: 'load time', value: Math.round(loadMs), unit: 'ms'},
    {name: 'memory', value: Math.round(process.memoryUsage.rss() / 1e6), unit: 'MB'},
    {name: `${first.durationSec.toFixed(1)} s of audio`, value: Math.round(1000 * seconds), unit: 'ms'},
    {name: 'speed', value: Math.round((10 * first.durationSec) / seconds) / 10, unit: 's of audio/s'},
    {name: 'word error rate of the clip', value: isEnglish ? Math.round(1000 * rate) / 10 : null, unit: '%'},
  ]
  return {checks, figures}
}

async function samplesOf(path: string, signal: AbortSignal): Promise<Float32Array> {
  const pieces: Float32Array[] = []
  for await (const piece of await openAudio({path}, {sampleRate: 16_000, signal})) pieces.push(piece)
  const samples = new Float32Array(pieces.reduce((sum, {length}) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    samples.set(piece, at)
    at += piece.length
  }
  return samples
}

const textOf = ({segments}: WindowResult): string => segments.map(({text}) => text.trim()).join(' ')

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`

function wordErrorRate(expected: string, actual: string): number {
  const [sample] = evaluate([{path: '', expected, actual, confidence: 1, latencyMs: 0}], 'english').samples
  return sample?.wer ?? 1
}

function finite(segments: readonly Segment[]): CheckOutcome {
  const all = segments.flatMap(({avgLogprob, noSpeechProb}) => [avgLogprob, noSpeechProb])
  const wrong = all.filter((value) => !Number.isFinite(value)).length
  return verdict(wrong === 0, `${wrong} of ${counted(all.length, 'probability', 'probabilities')} are no numbers`)
}

function equal(what: string, first: readonly string[], second: readonly string[]): CheckOutcome {
  const differing = first.filter((text, i) => text !== second[i]).length
  return verdict(differing === 0, `${what}: ${differing === 0 ? 'equal' : `${differing} of ${first.length} differ`}`)
}
