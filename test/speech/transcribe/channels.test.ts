import assert from 'node:assert/strict'
import {execFileSync} from 'node:child_process'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {after, before, describe, it} from 'node:test'
import {resolveSettings, speechAudioSettings, speechRefineSettings, speechSettings} from '../../../src/config/index.js'
import {
  ModelHolder,
  type Segment,
  type TranscribeHandlers,
  Transcriber,
  transcribePayload,
  transcriberOptions,
} from '../../../src/speech/index.js'
import {mergeChannels} from '../../../src/speech/transcribe/merge-channels.js'
import type {TranscribeEvent} from '../../../src/speech/transcribe/options.js'
import {projectFile} from '../../support/project.js'
import {joined, readClip} from '../../support/sounds.js'
import {suiteFolder} from '../../support/temporary.js'
import {waveFile} from '../../support/wave-file.js'

const folder = suiteFolder()
const call = join(folder, 'call.wav')
const texts = {
  hello: 'hello and welcome to your own machine',
  memo: 'the server is ready and the tests have finished please restart the worker tomorrow morning',
}

const starter = new ModelHolder({
  locate: async () => ({name: 'starter', path: projectFile('examples/models/starter')}),
  engine: {threads: 1, device: 'cpu', precision: 'auto', backend: 'auto', derivedFolder: ''},
})
after(() => starter.close())

/** The caller speaks, then the agent, then the caller again; the third channel is silent. */
before(async () => {
  const [hello, memo] = await Promise.all(
    ['hello', 'memo'].map((name) => readClip(projectFile(`examples/${name}.wav`))),
  )
  const pause = (clip: Float32Array) => new Float32Array(clip.length)
  const channels = [joined([hello!, pause(memo!), hello!]), joined([pause(hello!), memo!, pause(hello!)])]
  const silence = new Float32Array(channels[0]!.length)
  await writeFile(call, waveFile({channels: [...channels, silence], sampleRate: 16_000, encoding: 's16le'}))
})

function transcriberOf(flags: Readonly<Record<string, unknown>>): Transcriber {
  const sources = {flags, env: {}}
  const speech = resolveSettings(speechSettings, sources).values
  const audio = resolveSettings(speechAudioSettings, sources).values
  const refine = resolveSettings(speechRefineSettings, sources).values
  return new Transcriber({
    ...transcriberOptions({speech, audio, refine}, {entries: []}, []),
    model: starter,
    refine: true,
  })
}

/** The segments of a transcription, which equal those of its callback. */
async function transcribe(flags: Readonly<Record<string, unknown>>, handlers: TranscribeHandlers = {}, path = call) {
  const streamed: Segment[] = []
  const onSegment = (segment: Segment) => void streamed.push(segment)
  const file = await transcriberOf(flags).transcribe({path}, {...handlers, onSegment})
  const payload = transcribePayload(file, {path, correlationId: '', refined: true, minConfidence: 0})
  const {segments = []} = payload
  assert.deepEqual(
    streamed.map(({speaker, text}) => [speaker, text.trim()]),
    segments.map(({speaker, text}) => [speaker, text]),
  )
  return {payload, segments, spoken: spokenBy(segments)}
}

/** The texts of each speaker, joined. */
function spokenBy(segments: readonly {speaker?: string; text: string}[]): Record<string, string> {
  const spoken: Record<string, string> = {}
  for (const {speaker = 'nobody', text} of segments)
    spoken[speaker] = spoken[speaker] === undefined ? text : `${spoken[speaker]} ${text}`
  return spoken
}

describe('channels that are transcribed separately', () => {
  it('have the texts of their recordings, in the order of their start', async () => {
    const {segments, spoken, payload} = await transcribe({channels: 'split'})
    assert.deepEqual(spoken, {'Channel 1': `${texts.hello} ${texts.hello}`, 'Channel 2': texts.memo})
    assert.equal(payload.text, `${texts.hello} ${texts.memo} ${texts.hello}`)
    const starts = segments.map(({start_ms}) => start_ms)
    assert.deepEqual(
      starts,
      [...starts].sort((a, b) => a - b),
    )
    assert.deepEqual([...new Set(segments.map(({speaker}) => speaker))], ['Channel 1', 'Channel 2'])
    assert.equal(segments.at(-1)?.speaker, 'Channel 1')
  })

  it('have the segments that each channel has alone', async () => {
    const split = await transcribe({channels: 'split', wordTimestamps: true})
    for (const channel of [1, 2, 3]) {
      const alone = await transcribe({channels: channel, wordTimestamps: true})
      const own = split.segments.filter(({speaker}) => speaker === `Channel ${channel}`)
      assert.deepEqual(
        own.map(({id, speaker, ...segment}) => segment),
        alone.segments.map(({id, ...segment}) => segment),
      )
    }
  })

  it('have the names of the speakers, as far as there are names', async () => {
    const {spoken} = await transcribe({channels: 'split', speakers: ['Caller']})
    assert.deepEqual(Object.keys(spoken), ['Caller', 'Channel 2'])
  })

  it('are one channel if the recording is mono', async () => {
    const {spoken} = await transcribe({channels: 'split'}, {}, projectFile('examples/hello.wav'))
    assert.deepEqual(spoken, {'Channel 1': texts.hello})
  })

  it('are cleaned up separately', async () => {
    const {spoken} = await transcribe({channels: 'split', profile: 'aggressive'})
    const alone = await transcribe({channels: 2, profile: 'aggressive'})
    assert.equal(spoken['Channel 2'], alone.payload.text)
  })

  it('can be a part of a recording', async () => {
    const {segments, spoken} = await transcribe({channels: 'split'}, {excerpt: {offsetSec: 2.76, durationSec: 5.45}})
    assert.deepEqual(spoken, {'Channel 2': texts.memo})
    assert.ok(segments.every(({start_ms, end_ms}) => start_ms >= 2760 && end_ms <= 8210))
  })

  it('are resumed with the text of an uninterrupted run', async () => {
    const path = join(folder, 'call.progress')
    const stop = new AbortController()
    const interrupted = transcribe(
      {channels: 'split'},
      {progress: {path, resume: false}, signal: stop.signal, onChunk: () => stop.abort(new Error('interrupted'))},
    )
    await assert.rejects(interrupted, /interrupted/)
    const resumed = await transcribe({channels: 'split'}, {progress: {path, resume: true}})
    assert.deepEqual(resumed.segments, (await transcribe({channels: 'split'})).segments)
    const other = transcribe({channels: 2}, {progress: {path, resume: true}})
    await assert.rejects(other, {code: 'resume_mismatch', message: /: channels\.$/})
  })

  it('require a file', async () => {
    const stream = (async function* () {})()
    const transcriber = transcriberOf({channels: 'split'})
    const expected = {code: 'channels_need_file', message: /^Cannot transcribe each channel of standard input: /}
    await assert.rejects(transcriber.transcribe({name: 'standard input', stream}), expected)
    const pipe = join(folder, 'pipe.wav')
    execFileSync('mkfifo', [pipe])
    await assert.rejects(transcriber.transcribe({path: pipe}), {code: 'channels_need_file'})
  })

  it('must exist', async () => {
    await assert.rejects(transcribe({channels: 4}), {
      code: 'audio_channel_missing',
      message: `${call} has no channel 4: it has 3 channels.`,
    })
  })
})

describe('mergeChannels', () => {
  const segmentAt = (startSec: number): Segment => ({
    startSec,
    endSec: startSec + 1,
    text: String(startSec),
    tokens: [],
    temperature: 0,
    avgLogprob: 0,
    compressionRatio: 1,
    noSpeechProb: 0,
  })

  /** A channel with segments at these times; `read` lists those that were read. */
  function channelOf(speaker: string, starts: readonly number[], read: number[]) {
    async function* events(): AsyncGenerator<TranscribeEvent, void, undefined> {
      for (const start of starts) {
        read.push(start)
        yield {type: 'segment', segment: segmentAt(start)}
        yield {type: 'progress', processedSec: start + 1}
      }
      const transcript = {
        task: 'transcribe' as const,
        language: 'en',
        languageProbability: 1,
        durationSec: 10,
        text: '',
        segments: starts.map(segmentAt),
        alternatives: [],
      }
      const timings = {featuresMs: 1, encodeMs: 2, decodeMs: 3, wholeHeads: 0, windows: starts.length}
      yield {type: 'done', transcript, speechSec: starts.length, timings}
    }
    return {speaker, events: events()}
  }

  it('emits a segment as soon as no other channel has an earlier one', async () => {
    const read: number[] = []
    const seen: [string | undefined, number, number][] = []
    for await (const event of mergeChannels([channelOf('A', [0, 2, 5], read), channelOf('B', [1, 6], read)]))
      if (event.type === 'segment') seen.push([event.segment.speaker, event.segment.startSec, Math.max(...read)])
    assert.deepEqual(seen, [
      ['A', 0, 1],
      ['B', 1, 2],
      ['A', 2, 6],
      ['A', 5, 6],
      ['B', 6, 6],
    ])
  })

  it('emits increasing progress and the sums of all channels', async () => {
    const progress: number[] = []
    let done: Extract<TranscribeEvent, {type: 'done'}> | undefined
    for await (const event of mergeChannels([channelOf('A', [], []), channelOf('B', [1, 7], [])]))
      if (event.type === 'progress') progress.push(event.processedSec)
      else if (event.type === 'done') done = event
    assert.deepEqual(progress, [1, 4])
    assert.deepEqual([done?.speechSec, done?.timings.windows, done?.transcript.durationSec], [2, 2, 10])
    assert.deepEqual([done?.transcript.language, done?.transcript.text], ['en', '1 7'])
  })

  it('closes all channels if the caller stops', async () => {
    const closed: string[] = []
    const endless = (speaker: string) => ({
      speaker,
      events: (async function* (): AsyncGenerator<TranscribeEvent, void, undefined> {
        try {
          for (let at = 0; ; at++) yield {type: 'segment', segment: segmentAt(at)}
        } finally {
          closed.push(speaker)
        }
      })(),
    })
    for await (const event of mergeChannels([endless('A'), endless('B')])) if (event.type === 'segment') break
    assert.deepEqual(closed, ['A', 'B'])
  })
})
