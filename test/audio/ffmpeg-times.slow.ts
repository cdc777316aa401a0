import assert from 'node:assert/strict'
import {spawnSync} from 'node:child_process'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {after, describe, it} from 'node:test'
import {resolveSettings, speechAudioSettings, speechRefineSettings, speechSettings} from '../../src/config/index.js'
import {randomSource} from '../../src/sampling/index.js'
import {ModelHolder, Transcriber, transcriberOptions} from '../../src/speech/index.js'
import {campaignSeed} from '../support/campaign-seed.js'
import {skipWithoutFfmpeg} from '../support/ffmpeg.js'
import {projectFile} from '../support/project.js'
import {suiteFolder} from '../support/temporary.js'

const folder = suiteFolder()
const hello = projectFile('examples/hello.wav')
/** Duration of the recording, seconds. */
const lengthSec = 2.76

const model = new ModelHolder({
  locate: async () => ({name: 'starter', path: projectFile('examples/models/starter')}),
  engine: {threads: 1, device: 'cpu', precision: 'f32', backend: 'auto', derivedFolder: folder},
})
after(() => model.close())
const sources = {flags: {}, env: {SVC_SPEECH_WORD_TIMESTAMPS: '1'}}
const transcriber = new Transcriber({
  ...transcriberOptions(
    {
      speech: resolveSettings(speechSettings, sources).values,
      audio: resolveSettings(speechAudioSettings, sources).values,
      refine: resolveSettings(speechRefineSettings, sources).values,
    },
    {entries: []},
    [],
  ),
  model,
  refine: false,
})

/** Containers with their video codec, and the codecs of audio that they can contain. */
const containers: Readonly<Record<string, readonly [video: string, audio: readonly string[]]>> = {
  mkv: ['mpeg4', ['aac', 'flac', 'libopus', 'libvorbis', 'ac3']],
  mp4: ['mpeg4', ['aac', 'libmp3lame', 'alac']],
  mov: ['mpeg4', ['aac', 'alac']],
  webm: ['libvpx', ['libopus', 'libvorbis']],
  ts: ['mpeg2video', ['aac', 'mp2']],
  vob: ['mpeg2video', ['ac3', 'mp2']],
}

function run(...args: readonly string[]): void {
  const {status, stderr} = spawnSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args])
  assert.equal(status, 0, String(stderr))
}

/** Writes a film in which the sentence is spoken twice: the first time after a delay, the second time after a gap. */
function writeFilm(path: string, video: string, audio: string, delaySec: number, gapSec: number): void {
  const times = `asetpts='PTS+(${delaySec}+if(gte(T,${lengthSec}),${gapSec},0))/TB'`
  run(
    ...['-f', 'lavfi', '-i', 'color=c=black:s=64x64:r=25:d=12', '-i', hello, '-i', hello],
    ...['-filter_complex', `[1:a][2:a]concat=n=2:v=0:a=1,${times}[sound]`, '-map', '0:v', '-map', '[sound]'],
    ...['-c:v', video, '-c:a', audio, path],
  )
}

async function wordsOf(path: string): Promise<{word: string; startSec: number; endSec: number}[]> {
  const {transcript} = await transcriber.transcribe({path})
  return transcript.segments.flatMap(({words = []}) => words.map((one) => ({...one, word: one.word.trim()})))
}

const random = randomSource(campaignSeed(import.meta.url))
/** A length in hundredths of a second. */
const between = (least: number, most: number) => Math.round(100 * (least + random() * (most - least))) / 100

/** None, delays and gaps of random lengths. A delay of less than a frame of video is that of its encoder. */
const shifts = (): (readonly [delaySec: number, gapSec: number])[] => [
  [0, 0],
  [between(0.05, 3), 0],
  [0, between(0.2, 3)],
  [between(0.05, 3), between(0.2, 3)],
]

describe('the times of a container', {skip: skipWithoutFfmpeg}, () => {
  for (const [container, [video, codecs]] of Object.entries(containers))
    for (const codec of codecs)
      for (const [delaySec, gapSec] of shifts())
        it(`are those of the words: ${container}, ${codec}, delay ${delaySec} s, gap ${gapSec} s`, async () => {
          const film = join(folder, `film.${container}`)
          const reference = join(folder, 'reference.wav')
          writeFilm(film, video, codec, delaySec, gapSec)
          // Without the video, ffmpeg begins some formats at the first audio.
          const sound = ['-map', '0:a', '-af', 'aresample=async=1:first_pts=0', '-ar', '16000', '-ac', '1', reference]
          run('-i', film, '-map', '0:v', '-f', 'null', '-', ...sound)
          const [heard, expected] = [await wordsOf(film), await wordsOf(reference)]
          assert.deepEqual(
            heard.map(({word}) => word),
            expected.map(({word}) => word),
          )
          for (const [i, {word, startSec, endSec}] of heard.entries())
            for (const [is, should] of [
              [startSec, expected[i]?.startSec ?? NaN],
              [endSec, expected[i]?.endSec ?? NaN],
            ] as const)
              assert.ok(Math.abs(is - should) < 0.1, `${word} is at ${is} s instead of ${should} s`)
          // The reference is right: the sentences begin where the film has them.
          const starts = heard.filter(({word}) => word === 'hello').map(({startSec}) => startSec)
          for (const [i, startSec] of [0.39 + delaySec, 0.39 + delaySec + lengthSec + gapSec].entries())
            assert.ok(
              Math.abs((starts[i] ?? NaN) - startSec) < 0.2,
              `sentence ${i} is at ${starts[i]} s, not ${startSec} s`,
            )
        })

  const memo = projectFile('examples/memo.wav')
  const said = async (paths: readonly string[]) => (await Promise.all(paths.map(wordsOf))).flat().map(({word}) => word)
  const webm = (recording: string, name: string) => {
    const path = join(folder, `${name}.webm`)
    run('-i', recording, '-c:a', 'libopus', path)
    return path
  }

  it('lose no word if two WebM recordings are joined byte by byte', async () => {
    const parts = [webm(hello, 'hello'), webm(memo, 'memo')]
    const both = join(folder, 'both.webm')
    await writeFile(both, Buffer.concat(await Promise.all(parts.map((part) => readFile(part)))))
    assert.deepEqual(await said([both]), await said([hello, memo]))
  })

  it('lose no word if timestamps are too dense', async () => {
    const dense = join(folder, 'dense.mka')
    run('-i', memo, '-af', 'asetpts=0.9*PTS', '-c:a', 'flac', dense)
    assert.deepEqual(await said([dense]), await said([memo]))
  })
})
