import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {setImmediate as nextTurn} from 'node:timers/promises'
import type {AudioStream, SpeechRegion, VoiceActivityDetector} from '../../../src/audio/index.js'
import {
  defaultTranscribeOptions,
  type RecognitionOptions,
  type Segment,
  type SpeechModel,
  type TranscribeEvent,
  type TranscribeOptions,
  transcribe,
  type WindowResult,
} from '../../../src/speech/index.js'
import {Recording} from '../../../src/speech/transcribe/recording.js'
import {collectGarbage} from '../../support/garbage.js'

const rate = 16_000

/** A recording whose samples contain their positions, so that a model knows which samples it gets. */
function recording(seconds: number, piece = rate): AudioStream & {read: () => number; closed: () => boolean} {
  let read = 0
  let closed = false
  async function* pieces() {
    try {
      for (let at = 0; at < seconds * rate; at += piece) {
        read = at + piece
        yield Float32Array.from({length: Math.min(piece, seconds * rate - at)}, (_, i) => (at + i) / 1e8)
      }
    } finally {
      closed = true
    }
  }
  return {
    sampleRate: rate,
    source: {container: 'test', codec: 'test', sampleRate: rate, channels: 1},
    durationSec: seconds,
    [Symbol.asyncIterator]: pieces,
    read: () => read,
    closed: () => closed,
  }
}

interface Word {
  text: string
  startSec: number
  endSec: number
}

interface Asked {
  fromSec: number
  toSec: number
  options: RecognitionOptions
}

/**
 * A model that hears those words that lie wholly in its window. With timestamps it says where they are and leaves the
 * rest to the next window; without, a window is one segment.
 */
function modelOf(
  words: readonly Word[],
  changes: {timestamps?: boolean; temperature?: number; noSpeech?: boolean} = {},
) {
  const {timestamps = true, temperature = 0} = changes
  const asked: Asked[] = []
  const model: SpeechModel = {
    description: {
      family: 'whisper',
      name: 'test',
      path: '/test',
      precision: 'f32',
      device: 'cpu',
      windowSec: 30,
      timestamps,
      wordTimings: true,
      languages: ['en', 'de'],
      translates: true,
      batch: 0,
      instances: 1,
      drafts: 'window',
    },
    async recognise(samples, options, signal): Promise<WindowResult> {
      signal?.throwIfAborted()
      const fromSec = Math.round(samples[0]! * 1e8) / rate
      const toSec = fromSec + samples.length / rate
      asked.push({fromSec, toSec, options})
      const heard = words.filter(({startSec, endSec}) => startSec >= fromSec - 0.001 && endSec <= toSec + 0.001)
      const cut = words.find(({startSec, endSec}) => startSec < toSec - 0.001 && endSec > toSec + 0.001)
      const pieces = timestamps
        ? heard.map(({text, startSec, endSec}) => [text, startSec - fromSec, endSec - fromSec] as const)
        : [[heard.map(({text}) => text).join(''), 0, toSec - fromSec] as const].filter(([text]) => text !== '')
      return {
        segments: pieces.map(([text, startSec, endSec], i) =>
          segment(text, startSec, endSec, [asked.length * 100 + i]),
        ),
        consumedSec:
          timestamps && cut !== undefined && cut.startSec > fromSec ? cut.startSec - fromSec : toSec - fromSec,
        language: options.language ?? 'de',
        languageProbability: options.language === undefined ? 0.9 : 1,
        noSpeech: pieces.length === 0,
        temperature,
        alternatives:
          options.alternatives > 1
            ? [
                {text: pieces.map(([text]) => text).join(''), score: -1},
                {text: `other ${asked.length}`, score: -1 - asked.length / 10},
              ]
            : [],
        warnings: [],
        timings: {featuresMs: 1, encodeMs: 2, decodeMs: 3, wholeHeads: 0},
      }
    },
    detectLanguage: async () => [{language: 'de', probability: 0.9}],
    release: async () => undefined,
  }
  return {model, asked}
}

const segment = (text: string, startSec: number, endSec: number, tokens: readonly number[]): Segment => ({
  startSec,
  endSec,
  text,
  tokens,
  temperature: 0,
  avgLogprob: -0.1,
  compressionRatio: 1,
  noSpeechProb: 0,
})

/** Words at uneven distances, each its own text. */
function speech(seconds: number): Word[] {
  const words: Word[] = []
  for (let at = 0.4; at + 0.6 < seconds; at += 0.9 + 0.7 * ((words.length * 0.618) % 1))
    words.push({text: ` w${words.length}`, startSec: at, endSec: at + 0.5})
  return words
}

/** A detector that knows where the words are; what is nearer than `gapSec` is one region. */
function detectorOf(words: readonly Word[], gapSec: number, lengthSec: number): VoiceActivityDetector {
  const regions: SpeechRegion[] = []
  for (const {startSec, endSec} of words) {
    const last = regions.at(-1)
    const [start, end] = [Math.round(startSec * rate), Math.round(endSec * rate)]
    if (last !== undefined && start - last.end < gapSec * rate) last.end = end
    else regions.push({start, end})
  }
  let at = 0
  let given = 0
  const upTo = (place: number) => {
    const ended = regions.slice(given).filter(({end}) => end + gapSec * rate <= place)
    given += ended.length
    return ended
  }
  return {
    async push(samples) {
      at += samples.length
      return upTo(at)
    },
    flush: async () => upTo(Infinity),
    get open() {
      const next = regions[given]
      return next !== undefined && next.start < at ? {start: next.start, end: Math.min(next.end, at)} : undefined
    },
    get settled() {
      return Math.min(regions[given]?.start ?? Infinity, at, lengthSec * rate)
    },
    snapshot: () => ({length: at}),
  }
}

async function run(
  {model}: ReturnType<typeof modelOf>,
  audio: AudioStream,
  detector?: VoiceActivityDetector,
  changes: Partial<TranscribeOptions> = {},
  signal?: AbortSignal,
) {
  const events: TranscribeEvent[] = []
  const opened = new Recording(audio, detector, changes.speechPadSec)
  for await (const event of transcribe(model, opened, {...defaultTranscribeOptions, ...changes}, signal))
    events.push(event)
  const done = events.at(-1)
  assert.equal(done?.type, 'done')
  const {transcript} = done as Extract<TranscribeEvent, {type: 'done'}>
  return {events, transcript, texts: transcript.segments.map(({text}) => text)}
}

describe('a long recording', () => {
  const words = speech(200)
  const all = words.map(({text}) => text)

  for (const [how, changes] of Object.entries({
    'walked through by a model with timestamps': {},
    'in chunks': {chunkSec: 7, chunkOverlapSec: 2},
    'in chunks that hardly overlap': {chunkSec: 20, chunkOverlapSec: 1},
  }))
    for (const detects of [false, true])
      it(`${how}${detects ? ', its pauses known,' : ''} loses and repeats no word`, async () => {
        const heard = modelOf(words)
        const detector = detects ? detectorOf(words, 0.3, 200) : undefined
        const {texts, transcript} = await run(heard, recording(200), detector, changes)
        assert.deepEqual(texts, all)
        assert.equal(transcript.text, all.join(''))
        for (const [i, {startSec}] of transcript.segments.entries())
          assert.ok(Math.abs(startSec - (words[i] as Word).startSec) < 0.01)
        for (const {fromSec, toSec} of heard.asked) assert.ok(toSec - fromSec <= 30.001)
      })

  for (const [how, changes] of Object.entries({'by its pauses': {}, 'in chunks': {chunkSec: 7, chunkOverlapSec: 0.5}}))
    it(`without timestamps is cut ${how}`, async () => {
      const heard = modelOf(words, {timestamps: false})
      const {texts} = await run(heard, recording(200), detectorOf(words, 0.3, 200), changes)
      assert.equal(texts.join(' ').replace(/\s+/g, ' ').trim(), all.map((text) => text.trim()).join(' '))
    })

  it('reads only as much audio as needed, and closes it', async () => {
    const audio = recording(200)
    const {model} = modelOf(words)
    for await (const event of transcribe(model, new Recording(audio), defaultTranscribeOptions))
      if (event.type === 'chunk') break
    assert.ok(audio.read() <= 32 * rate)
    assert.equal(audio.closed(), true)
  })

  it('reports segments in order, and its progress', async () => {
    const {events} = await run(modelOf(words), recording(200))
    const progress = events.flatMap((event) => (event.type === 'progress' ? [event.processedSec] : []))
    assert.deepEqual(
      progress,
      [...progress].sort((a, b) => a - b),
    )
    assert.equal(progress.at(-1), 200)
    const chunks = events.flatMap((event) => (event.type === 'chunk' ? [event.index] : []))
    assert.deepEqual(chunks, [...chunks.keys()])
  })

  it('releases the audio and the result of each window, also if it combines alternatives', async () => {
    const {model} = modelOf(words)
    const seen: WeakRef<object>[] = []
    const watched: SpeechModel = {
      ...model,
      async recognise(samples, options, signal) {
        const result = await model.recognise(samples, options, signal)
        seen.push(...[samples, result, result.alternatives].map((object) => new WeakRef<object>(object)))
        return result
      },
    }
    const options = {...defaultTranscribeOptions, alternatives: 3, chunkSec: 5}
    for await (const event of transcribe(watched, new Recording(recording(100)), options)) {
      if (event.type !== 'progress' || event.processedSec < 100) continue
      // A weak reference is strong until the job that created it ends.
      await nextTurn()
      collectGarbage()
      break
    }
    assert.ok(seen.length > 50)
    assert.ok(seen.filter((reference) => reference.deref() !== undefined).length <= 9)
  })

  it('stops immediately when aborted', async () => {
    const stop = new AbortController()
    const {model, asked} = modelOf(words)
    const events = transcribe(model, new Recording(recording(200)), defaultTranscribeOptions, stop.signal)
    await assert.rejects(async () => {
      for await (const event of events) if (event.type === 'segment') stop.abort(new Error('enough'))
    }, /enough/)
    assert.equal(asked.length, 1)
  })
})

describe('a window', () => {
  const words = speech(80)

  it('uses the previous text as its prompt, unless that is unreliable or switched off', async () => {
    const heard = modelOf(words)
    await run(heard, recording(80))
    const before = heard.asked.map(({options}) => options.previousTokens?.length ?? 0)
    assert.equal(before[0], 0)
    assert.ok((before[1] ?? 0) > 10)
    for (const temperature of [0, 0.8]) {
      const other = modelOf(words, {temperature})
      await run(other, recording(80), undefined, {conditionOnPrevious: temperature > 0})
      assert.ok(other.asked.every(({options}) => options.previousTokens?.length === 0))
    }
  })

  it('uses the initial prompt until text was recognised', async () => {
    const late = modelOf(words.filter(({startSec}) => startSec > 40))
    await run(late, recording(80), undefined, {prompt: 'names'})
    assert.deepEqual(
      late.asked.map(({options}) => options.prompt),
      ['names', 'names', ...late.asked.slice(2).map(() => undefined)],
    )
  })

  it('keeps the language that was detected in the first window with speech', async () => {
    const heard = modelOf(words.filter(({startSec}) => startSec > 40))
    const {transcript} = await run(heard, recording(80))
    assert.deepEqual(heard.asked.map(({options}) => options.language).slice(0, 3), [undefined, undefined, 'de'])
    assert.deepEqual([transcript.language, transcript.languageProbability], ['de', 0.9])
    const given = await run(modelOf(words), recording(80), undefined, {language: 'en'})
    assert.equal(given.transcript.language, 'en')
  })

  it('is skipped without speech', async () => {
    const some = words.filter(({startSec}) => startSec > 65)
    const heard = modelOf(some)
    const {texts} = await run(heard, recording(80), detectorOf(some, 0.3, 80))
    assert.deepEqual(
      texts,
      some.map(({text}) => text),
    )
    assert.ok(heard.asked.every(({toSec}) => toSec > 60))
    const silent = modelOf([])
    const nothing = await run(silent, recording(80), detectorOf([], 0.3, 80))
    assert.deepEqual([silent.asked.length, nothing.transcript.text, nothing.transcript.durationSec], [0, '', 80])
  })

  it('includes silence around its speech, as with speech_pad_ms of faster-whisper, and none of it twice', async () => {
    const words = [
      {text: ' one', startSec: 10, endSec: 11},
      {text: ' two', startSec: 11.6, endSec: 12.5},
    ]
    const heard = modelOf(words, {timestamps: false})
    const {texts} = await run(heard, recording(20), detectorOf(words, 0.3, 20), {speechPadSec: 0.5})
    assert.deepEqual(texts, [' one', ' two'])
    const margin = 0.05
    assert.deepEqual(
      heard.asked.map(({fromSec, toSec}) => [fromSec, toSec].map((seconds) => Number(seconds.toFixed(3)))),
      [
        [10 - 0.5 - margin, 11.5 + margin],
        [11.5, 12.5 + 0.5 + 0.25],
      ],
    )
  })

  it('is preprocessed before recognition if requested', async () => {
    let seen = 0
    const preprocess = (samples: Float32Array) => {
      seen += samples.length
      return samples
    }
    await run(modelOf(words), recording(20), undefined, {preprocess})
    assert.equal(seen, 20 * rate)
  })

  it('has alternatives, which are combined to those of the recording', async () => {
    const {transcript} = await run(modelOf(words), recording(80), undefined, {alternatives: 3})
    const [best, first, second] = transcript.alternatives.map(({text}) => text)
    assert.equal(best, transcript.text.trim())
    assert.match(first ?? '', /^other 1 w\d+ .* w\d+$/)
    assert.match(second ?? '', /^w0 .* other 2 w\d+ .* w\d+$/)
  })

  it('has no alternatives if a part of its text belongs to another window', async () => {
    const options = {alternatives: 3, chunkSec: 20, chunkOverlapSec: 2}
    const {transcript} = await run(modelOf(words), recording(40), undefined, options)
    for (const {text} of transcript.alternatives) assert.doesNotMatch(text, /(w\d+) .*\b\1\b/)
    assert.equal(transcript.alternatives[0]?.text, transcript.text.trim())
  })

  it('does not exist for an empty recording', async () => {
    const heard = modelOf([])
    const {transcript} = await run(heard, recording(0))
    assert.deepEqual([heard.asked.length, transcript.text], [0, ''])
  })
})
