import assert from 'node:assert/strict'
import {rm} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {resolveSettings, speechAudioSettings, speechRefineSettings, speechSettings} from '../../../src/config/index.js'
import type {SvcError} from '../../../src/errors/index.js'
import {startSpeechEngines} from '../../../src/speech/engine/engine-instances.js'
import {
  defaultTranscribeOptions,
  ModelHolder,
  type TranscribedFile,
  Transcriber,
  transcriberOptions,
} from '../../../src/speech/index.js'
import {readAhead} from '../../../src/speech/transcribe/read-ahead.js'
import {RecordingTurns} from '../../../src/speech/transcribe/recording-turns.js'
import {suitableInstances} from '../../../src/speech/whisper/open-whisper.js'
import {projectFile} from '../../support/project.js'
import {randomFloats} from '../../support/random-floats.js'
import {joined} from '../../support/sounds.js'
import {suiteFolder, temporaryFolder, writeFiles} from '../../support/temporary.js'
import {monoWave} from '../../support/wave-file.js'
import {writeWideWhisper} from '../../support/wide-whisper.js'

const folder = suiteFolder()
const noise = (seed: number, samples: number) => randomFloats(seed)(samples).map((x) => 0.1 * x)
const options = (derivedFolder: string) =>
  ({name: 'wide', threads: 2, device: 'cpu', precision: 'int8', derivedFolder}) as const

async function wideModel(test: TestContext): Promise<string> {
  const path = join(await temporaryFolder(test), 'model')
  await writeWideWhisper(path, 'F16', 1, 5, 300)
  return path
}

describe('recordings that are transcribed together', () => {
  const sources = {flags: {vad: 'none', temperatureIncrement: 0}, env: {}}
  const settings = transcriberOptions(
    {
      speech: resolveSettings(speechSettings, sources).values,
      audio: resolveSettings(speechAudioSettings, sources).values,
      refine: resolveSettings(speechRefineSettings, sources).values,
    },
    {entries: []},
    [],
  )
  /** Everything except for times. */
  const resultOf = ({recording, ...file}: TranscribedFile) => ({...file, warnings: recording?.warnings})
  const outcome = (result: PromiseSettledResult<TranscribedFile>) =>
    result.status === 'fulfilled' ? resultOf(result.value) : (result.reason as SvcError).code

  it('have the results of one after the other, long and damaged ones too', async (test) => {
    const path = await wideModel(test)
    const second = noise(9, 16_000)
    await writeFiles(folder, {
      ...Object.fromEntries([1, 2, 3, 4, 5].map((i) => [`${i}.wav`, monoWave(noise(i, 12_000 + 3000 * i))])),
      'long.wav': monoWave(joined(Array.from({length: 62}, () => second))),
      'cut.flac': Buffer.from('fLaC'),
    })
    const names = ['1.wav', 'cut.flac', '2.wav', 'long.wav', '3.wav', 'missing.wav', '4.wav', '5.wav']
    const outcomes = async (together: boolean) => {
      const model = new ModelHolder({locate: async () => ({name: 'wide', path}), engine: options(folder)})
      const transcriber = new Transcriber({...settings, model, refine: true, together})
      const transcribe = (name: string) => transcriber.transcribe({path: join(folder, name)})
      try {
        if (together) return (await Promise.allSettled(names.map(transcribe))).map(outcome)
        const results = []
        for (const name of names) results.push(...(await Promise.allSettled([transcribe(name)])).map(outcome))
        return results
      } finally {
        await transcriber.close()
      }
    }
    const alone = await outcomes(false)
    assert.deepEqual(await outcomes(true), alone)
    assert.equal(alone.filter((one) => typeof one === 'string').length, 2)
  })

  it('start a model with one instance only once', async () => {
    const starter = projectFile('examples/models/starter')
    const model = new ModelHolder({
      locate: async () => ({name: 'starter', path: starter}),
      engine: {...options(folder), precision: 'auto'},
    })
    try {
      const [together, alone] = await Promise.all([model.open(undefined, 'together'), model.open(undefined)])
      assert.equal(together.engine, alone.engine)
    } finally {
      await model.close()
    }
  })
})

describe('a model with several workers', () => {
  const recognition = {...defaultTranscribeOptions, language: 'en', temperatures: [0]}

  it('recognises with the first one if the model is removed before another one has started', async (test) => {
    const path = await wideModel(test)
    const gone: Promise<void>[] = []
    const engine = await startSpeechEngines(path, {
      ...options(join(path, '..', 'derived')),
      onProgress: () => gone.push(rm(join(path, 'config.json'), {force: true})),
    })
    try {
      assert.ok(gone.length > 0 && engine.description.instances > 1)
      const windows = [1, 2, 3].map((seed) => noise(seed, 20_000))
      const results = await Promise.all(windows.map((samples) => engine.recognise(samples.slice(), recognition)))
      for (const [i, {segments}] of results.entries())
        assert.deepEqual(segments, (await engine.recognise(windows[i]!.slice(), recognition)).segments)
    } finally {
      await engine.release()
    }
  })

  it('ends waiting requests when it is released', async (test) => {
    const engine = await startSpeechEngines(await wideModel(test), options(folder))
    const requests = Array.from({length: 6}, (_, i) => engine.recognise(noise(i, 20_000), recognition))
    const settled = Promise.allSettled(requests)
    await engine.release()
    for (const result of await settled)
      assert.ok(result.status === 'fulfilled' || (result.reason as SvcError).code === 'interrupted')
  })

  it('has one per thread, as far as a quarter of the memory suffices', () => {
    const gigabytes = 2 ** 30
    for (const [bytes, threads, memory, expected] of [
      [75_000_000, 1, 16, 1],
      [75_000_000, 2, 16, 2],
      [75_000_000, 16, 16, 4],
      [500_000_000, 2, 16, 1],
      [500_000_000, 2, 32, 2],
      [75_000_000, 8, 1, 1],
    ] as const)
      assert.equal(suitableInstances(bytes, threads, memory * gigabytes), expected, `${bytes} ${threads} ${memory}`)
  })
})

describe('reading ahead', () => {
  async function* pieces(count: number, failure?: Error) {
    for (let i = 0; i < count; i++) yield Float32Array.of(i, i)
    if (failure !== undefined) throw failure
  }

  it('keeps every piece and the place of a failure', async () => {
    for (const count of [0, 1, 4, 5, 6, 20])
      for (const failure of [undefined, new Error('damaged')])
        for (const samples of [0, 1, 10, 100]) {
          const {source, isComplete} = await readAhead(pieces(count, failure), samples)
          assert.equal(isComplete, 2 * count <= samples && samples > 0, `${count} ${samples}`)
          const read: number[] = []
          const all = async () => {
            for (let next = await source.next(); !next.done; next = await source.next()) read.push(next.value[0] ?? NaN)
          }
          if (failure === undefined) await all()
          else await assert.rejects(all(), failure)
          assert.deepEqual(
            read,
            Array.from({length: count}, (_, i) => i),
          )
        }
  })

  it('ends at a decoder that returns only empty pieces', async () => {
    const empty = {next: async () => ({value: new Float32Array(0), done: false})}
    assert.equal((await readAhead(empty, 100)).isComplete, false)
  })
})

describe('the turns of recordings', () => {
  it('let short ones run together, and a long one alone, in order', async () => {
    const turns = new RecordingTurns()
    const running = new Set<string>()
    const seen: string[] = []
    const run = (name: string, isAlone: boolean) =>
      turns.run(isAlone, async () => {
        running.add(name)
        await new Promise((resolve) => setImmediate(resolve))
        seen.push([...running].sort().join(''))
        running.delete(name)
        if (name === 'b') throw new Error(name)
      })
    const names = ['a', 'b', 'C', 'd', 'e', 'F', 'G', 'h']
    const results = await Promise.allSettled(names.map((name) => run(name, name === name.toUpperCase())))
    assert.deepEqual(
      results.map(({status}) => status),
      names.map((name) => (name === 'b' ? 'rejected' : 'fulfilled')),
    )
    assert.deepEqual(seen, ['ab', 'b', 'C', 'de', 'e', 'F', 'G', 'h'])
  })
})
