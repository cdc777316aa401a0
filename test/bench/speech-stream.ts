import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {monitorEventLoopDelay} from 'node:perf_hooks'
import {setTimeout as sleep} from 'node:timers/promises'
import {openAudio} from '../../src/audio/index.js'
import {median, round} from '../../src/bench/measure.js'
import {resolveSettings, speechAudioSettings, speechRefineSettings, speechSettings} from '../../src/config/index.js'
import {ModelHolder, Transcriber, transcriberOptions} from '../../src/speech/index.js'
import {projectFile} from '../support/project.js'
import {joined} from '../support/sounds.js'
import {talkOf} from '../support/talk.js'
import {whisperShapes, writeWhisper} from './whisper-model.js'

const rate = 16_000
/** Samples per chunk of live audio, 100 ms. */
const piece = rate / 10

/**
 * Live speech compared with offline transcription of the same audio: time from the end of a phrase to its final result,
 * and audio encoded for partial results. Also eight CTC streams and two Whisper streams in real time, and memory over
 * half an hour. The CTC model is the starter model. The Whisper model has the shape of tiny and random weights, so it
 * has no partial results. Its text context is limited to the number of tokens that people speak in a window.
 * `STREAM_SECONDS` is the duration of the streams (60), `STREAM_ROUNDS` the number of phrases (5).
 */
export async function speechStream() {
  const seconds = Number(process.env.STREAM_SECONDS ?? 60)
  const rounds = Number(process.env.STREAM_ROUNDS ?? 5)
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  try {
    const whisper = await writeWhisper(folder, 'tiny', {...whisperShapes.tiny, text: 64})
    const models = {
      ctc: transcriberOf(projectFile('examples/models/starter'), folder),
      whisper: transcriberOf(whisper.folder, folder),
    }
    const phrase = joined([await read('memo'), new Float32Array(rate / 2)])
    const talk = await talkOf(seconds)
    const results: Record<string, unknown> = {}
    for (const [name, streams] of [
      ['ctc', 8],
      ['whisper', 2],
    ] as const)
      results[name] = {
        ...(await phrases(models[name], phrase, rounds)),
        ...(await concurrent(models[name], talk, streams)),
      }
    const memory = await memoryOver(models.ctc, 30)
    for (const model of Object.values(models)) await model.close()
    return {stream_seconds: seconds, models: results, memory}
  } finally {
    await rm(folder, {recursive: true})
  }
}

function transcriberOf(path: string, derivedFolder: string): Transcriber {
  const sources = {flags: {threads: 2}, env: {}}
  const speech = resolveSettings(speechSettings, sources).values
  const audio = resolveSettings(speechAudioSettings, sources).values
  const refine = resolveSettings(speechRefineSettings, sources).values
  const {threads, device, precision, backend} = speech
  const {decoding, ...options} = transcriberOptions({speech, audio, refine}, {entries: []}, [])
  return new Transcriber({
    ...options,
    // Random weights emit text that a trained model would never accept.
    decoding: {
      ...decoding,
      language: 'en',
      temperatures: [0],
      compressionRatioThreshold: Infinity,
      logprobThreshold: -Infinity,
      noSpeechThreshold: 1,
    },
    refine: true,
    model: new ModelHolder({
      locate: async () => ({name: path, path}),
      engine: {threads, device, precision, backend, derivedFolder},
    }),
  })
}

async function read(name: string): Promise<Float32Array> {
  const pieces: Float32Array[] = []
  for await (const samples of await openAudio({path: projectFile(`examples/${name}.wav`)}, {sampleRate: rate}))
    pieces.push(samples)
  return joined(pieces)
}

const settings = {streamPartialQuietMs: 350, streamMaxWaitMs: 2500, streamMaxBufferMs: 300_000}

type Live = Awaited<ReturnType<Transcriber['live']>>
type Utterance = Extract<Live extends AsyncIterable<infer S> ? S : never, {type: 'ended'}>['utterance']

/** Follows live audio until it is closed. */
async function follow(live: Live, onPartial: () => void, onEnded: (utterance: Utterance) => void): Promise<void> {
  for await (const signal of live)
    if (signal.type === 'partial') onPartial()
    else if (signal.type === 'ended') onEnded(signal.utterance)
    else if (signal.type === 'failed') throw signal.error
}

/** Emits audio in real time. */
async function inRealTime(samples: Float32Array, push: (samples: Float32Array) => void): Promise<void> {
  const started = performance.now()
  for (let at = 0; at < samples.length; at += piece) {
    await sleep(Math.max(0, started + at / (rate / 1000) - performance.now()))
    push(samples.slice(at, at + piece))
  }
}

/** Wall times of single phrases: the first partial result, the final result after a commit, and the offline pass. */
async function phrases(transcriber: Transcriber, phrase: Float32Array, rounds: number) {
  const times: {first: number; final: number; offline: number}[] = []
  for (let i = 0; i <= rounds; i++) {
    const seen: {firstPartialMs?: number} = {}
    let started = 0
    let utterance: Utterance | undefined
    const live = await transcriber.live({...settings, endpoint: {silenceMs: undefined, maxDurationMs: undefined}})
    const following = follow(
      live,
      () => {
        seen.firstPartialMs ??= performance.now() - started
      },
      (ended) => {
        utterance = ended
      },
    )
    started = performance.now()
    await inRealTime(phrase, (samples) => live.push(samples))
    const committed = performance.now()
    await live.commit()
    await live.settle()
    await utterance?.transcribe(new AbortController().signal)
    const final = performance.now() - committed
    await live.close()
    await following
    const offlineStarted = performance.now()
    await transcriber.transcribe({
      name: 'phrase',
      stream: pcm(phrase),
      raw: {encoding: 'f32le', sampleRate: rate, channels: 1},
    })
    const offline = performance.now() - offlineStarted
    // The first round is a warm-up.
    if (i > 0) times.push({first: seen.firstPartialMs ?? Number.NaN, final, offline})
  }
  const mid = (key: keyof (typeof times)[0]) => round(median(times.map((one) => one[key])))
  return {
    phrase_seconds: phrase.length / rate,
    ...(times.some(({first}) => Number.isNaN(first)) ? {} : {first_partial_ms: mid('first')}),
    final_ms: mid('final'),
    offline_ms: mid('offline'),
    ratio_final_to_offline: round(median(times.map(({final, offline}) => final / offline)), 2),
  }
}

async function* pcm(samples: Float32Array): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
}

/** Concurrent streams in real time: delay of final results, and audio encoded for partial results. */
async function concurrent(transcriber: Transcriber, talk: Float32Array, streams: number) {
  const delay = monitorEventLoopDelay({resolution: 5})
  const lags: number[] = []
  const drafted: number[] = []
  let partials = 0
  delay.enable()
  await Promise.all(
    Array.from({length: streams}, async (_, i) => {
      // Streams start at different times; otherwise they would be synchronous.
      await sleep((i * 1000) / streams)
      const finals: Promise<void>[] = []
      const transcribed = async (transcribe: (signal: AbortSignal) => Promise<unknown>) => {
        const ended = performance.now()
        await transcribe(new AbortController().signal)
        lags.push(performance.now() - ended)
      }
      const live = await transcriber.live({...settings, endpoint: {silenceMs: 400, maxDurationMs: 30_000}})
      const following = follow(
        live,
        () => partials++,
        (utterance) => finals.push(transcribed(utterance.transcribe)),
      )
      await inRealTime(talk, (samples) => live.push(samples))
      await live.commit()
      await live.settle()
      await Promise.all(finals)
      drafted.push(live.draftedSec)
      await live.close()
      await following
    }),
  )
  delay.disable()
  lags.sort((a, b) => a - b)
  return {
    streams,
    utterances: lags.length,
    partials,
    final_ms_median: round(median(lags)),
    final_ms_worst: round(lags.at(-1) ?? Number.NaN),
    ratio_encoded_for_partials: round(median(drafted) / (talk.length / rate), 2),
    event_loop_p99_ms: round(delay.percentile(99) / 1e6),
  }
}

/** Memory of the process, MB, after every five minutes of a stream, processed faster than real time. */
async function memoryOver(transcriber: Transcriber, minutes: number) {
  const talk = await talkOf(60)
  let audioMs = 0
  const endpoint = {silenceMs: 400, maxDurationMs: 30_000}
  const live = await transcriber.live({...settings, endpoint, now: () => audioMs})
  let finals: Promise<unknown>[] = []
  const following = follow(
    live,
    () => undefined,
    (utterance) => finals.push(utterance.transcribe(new AbortController().signal)),
  )
  const rss: number[] = []
  for (let minute = 1; minute <= minutes; minute++) {
    for (let at = 0; at < talk.length; at += piece) {
      live.push(talk.slice(at, at + piece))
      audioMs += 100
      await live.settle()
      await live.drafted()
    }
    await Promise.all(finals)
    finals = []
    if (minute % 5 === 0) rss.push(round(process.memoryUsage.rss() / 2 ** 20))
  }
  await live.close()
  await following
  return {minutes, rss_mb: rss, ratio_last_to_first: round((rss.at(-1) ?? 0) / (rss[0] ?? 1), 2)}
}
