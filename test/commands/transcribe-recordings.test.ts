import assert from 'node:assert/strict'
import {mkdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import {skipWithoutFfmpeg, writeFilm} from '../support/ffmpeg.js'
import {assertHearsEveryWord, chunkings} from '../support/long-recording.js'
import {microClips, microData, writeMicroWhisper} from '../support/micro-whisper.js'
import {once} from '../support/once.js'
import {sharedData, skipWithout} from '../support/project.js'
import {randomFloats} from '../support/random-floats.js'
import {atLevel, clicks, hum, pinkNoise, sine} from '../support/sounds.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, temporaryFolder, writeFiles} from '../support/temporary.js'
import {monoWave} from '../support/wave-file.js'
import {writeWhisperFolder} from '../support/whisper-files.js'
import {microShape, randomWhisper} from '../support/whisper-weights.js'

const folder = suiteFolder()
/** A random model, which emits text for noise. */
const nonsense = join(folder, 'nonsense')
const recording = monoWave(randomFloats(7)(24_000).map((x) => 0.1 * x))
/** The models are so small that a second thread would only spin and keep a processor busy. */
const oneThread = ['--threads', '1']

before(async () => {
  await writeWhisperFolder(nonsense, microShape, randomWhisper(microShape, 3))
  await writeFiles(folder, {'one.wav': recording, 'two.wav': recording})
})

describe('a recording without speech', () => {
  const length = 160_000
  const sounds: Record<string, () => Float32Array> = {
    silence: () => new Float32Array(length),
    'pink noise': () => atLevel(pinkNoise(length), -25),
    hum: () => atLevel(hum(length), -20),
    clicks: () => clicks(length, 3),
    'a twentieth of a second': () => sine(300, 800),
    'one sample': () => Float32Array.of(0.5),
  }
  const names = Object.keys(sounds)
  const paths = names.map((what) => join(folder, 'quiet', `${what}.wav`))
  const transcribeAll = (args: string[]) =>
    svcInTurn(['transcribe', ...paths, '--model', nonsense, ...oneThread, ...args])
  const transcribed = once(() => transcribeAll(['--json']))
  before(async () => {
    await mkdir(join(folder, 'quiet'))
    for (const [i, what] of names.entries()) await writeFile(paths[i]!, monoWave(sounds[what]!()))
  })

  for (const [i, what] of names.entries())
    it(`has an empty transcript: ${what}`, async () => {
      const {stdout, exitCode} = await transcribed()
      const {path, text, no_speech, segments} = JSON.parse(stdout.split('\n')[i] ?? '')
      assert.deepEqual([path, text, no_speech, segments, exitCode], [paths[i], '', true, [], 0])
    })

  it('prints only one line per recording on standard error', async () => {
    const titles = paths.map((path) => `==> ${path} <==\n`).join('\n')
    const {stdout, stderr} = await transcribeAll([])
    assert.deepEqual([stdout, stderr], [titles, paths.map((path) => `${path}: no speech found.\n`).join('')])
    const quiet = await transcribeAll(['--quiet'])
    assert.deepEqual([quiet.stdout, quiet.stderr], [titles, ''])
  })
})

describe('svc transcribe with a trained model', {skip: skipWithout(microData)}, () => {
  const model = join(folder, 'micro')
  const withModel = ['--model', model, ...oneThread]
  before(() => writeMicroWhisper(model))

  for (const precision of ['f32', 'int8'])
    it(`recognises all clips in ${precision}`, async () => {
      const clips = await microClips()
      const env = {SVC_SPEECH_CACHE_DIR: join(folder, 'cache')}
      const args = ['transcribe', ...clips.map(({path}) => path), ...withModel]
      const {stdout, stderr, exitCode} = await svcInTurn([...args, '--precision', precision], {env})
      assert.deepEqual([stderr, exitCode], ['', 0])
      assert.equal(stdout, clips.map(({path, words}) => `==> ${path} <==\n${words.join(' ')}\n`).join('\n'))
    })

  for (const args of chunkings)
    it(`neither loses nor repeats a word of a long recording ${args.join(' ')}`, async (test) => {
      await assertHearsEveryWord(join(await temporaryFolder(test), 'long.wav'), 45, [...args, ...withModel])
    })

  it('generates timed subtitles and compares them with a reference', async (test) => {
    const output = await temporaryFolder(test)
    const clip = sharedData('micro-whisper-fixture/u6.wav') ?? ''
    const subtitle = ['speech', 'subtitle', clip, ...withModel, '--json']
    const made = await svcInTurn([...subtitle, '-o', join(output, 'a.srt')])
    const result = JSON.parse(made.stdout)
    assert.deepEqual(await contractViolations('cli/speech-subtitle.v1', result), [])
    assert.match(await readFile(join(output, 'a.srt'), 'utf8'), /^1\n00:00:00,0\d\d --> 00:00:00,\d{3}\ntwo\n\n$/)
    const piped = await svcInTurn(['speech', 'subtitle', '-', ...withModel], {input: await readFile(clip)})
    assert.equal(piped.stdout, await readFile(join(output, 'a.srt'), 'utf8'))
    const again = await svcInTurn([...subtitle, '-o', join(output, 'a.vtt'), '--reference', join(output, 'a.srt')])
    const {comparison, format} = JSON.parse(again.stdout)
    assert.equal(format, 'vtt')
    assert.deepEqual(comparison, {word_error_rate: 0, character_error_rate: 0, timing_offset_ms: 0})
  })

  it('reaches the expected word error rate in svc speech eval', async (test) => {
    const clips = await microClips()
    const rows = clips.slice(0, 4).map(({path, words}) => JSON.stringify({path, expected: words.join(' ')}))
    const dataset = join(await temporaryFolder(test), 'set.jsonl')
    const wrong = JSON.stringify({path: clips[0]?.path, expected: 'zero and more'})
    await writeFile(dataset, `${[...rows, wrong, JSON.stringify({path: 'gone.wav', expected: 'one'})].join('\n')}\n`)
    const {stdout, stderr, exitCode} = await svcInTurn(['speech', 'eval', dataset, ...withModel, '--json'])
    const result = JSON.parse(stdout)
    assert.deepEqual(await contractViolations('cli/speech-eval.v1', result), [])
    assert.equal(exitCode, 0)
    assert.deepEqual([result.normalized.errors, result.normalized.words, result.normalized.deletions], [3, 8, 3])
    assert.equal(result.samples.at(-1).error, 'file_not_found')
    assert.match(stderr, /gone\.wav/)
  })
})

describe('--audio-track', {skip: skipWithoutFfmpeg}, () => {
  const transcribe = (args: readonly string[]) =>
    svcInTurn(['transcribe', 'film.mkv', ...args, '--model', nonsense, '--vad', 'none', ...oneThread], {cwd: folder})
  const film = once(async () => {
    const metadata = [
      '-metadata:s:a:0',
      'language=eng',
      '-metadata:s:a:1',
      'language=ger',
      '-disposition:a:0',
      'default',
    ]
    writeFilm(join(folder, 'film.mkv'), [join(folder, 'one.wav'), join(folder, 'two.wav')], metadata)
  })

  it('selects a track of a film, which is in the result; without it, a notice lists the tracks', async () => {
    await film()
    const notice =
      'The recording has 2 audio tracks: 1 (eng, default), 2 (ger). Track 1 is transcribed; --audio-track selects another one.\n'
    for (const [args, audioTrack, stderr] of [
      [[], 1, notice],
      [['--audio-track', 'default'], 1, ''],
      [['--audio-track', '2'], 2, ''],
      [['--audio-track', 'Deutsch'], 2, ''],
    ] as const) {
      const run = await transcribe(['--json', ...args])
      const result = JSON.parse(run.stdout)
      assert.deepEqual(await contractViolations('cli/transcribe.v1', result), [])
      assert.deepEqual([result.audio_track, result.audio_tracks.length, run.stderr], [audioTrack, 2, stderr])
    }
    const wrong = await transcribe(['--audio-track', 'x'])
    assert.deepEqual([wrong.exitCode, /flag_value/.test(wrong.stderr)], [2, true])
    const probe = await svcInTurn(['speech', 'probe', 'film.mkv', '--json'], {cwd: folder})
    assert.deepEqual(await contractViolations('cli/speech-probe.v1', JSON.parse(probe.stdout)), [])
    const input = await readFile(join(folder, 'film.mkv'))
    const piped = JSON.parse((await svcInTurn(['speech', 'probe', '-', '--json'], {input})).stdout)
    assert.deepEqual(piped, {...JSON.parse(probe.stdout), path: '-'})
    assert.match(
      (await svcInTurn(['speech', 'probe', 'film.mkv'], {cwd: folder})).stdout,
      /^1 +flac +.* +eng +yes +-$/m,
    )
  })
})
