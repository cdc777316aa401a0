import assert from 'node:assert/strict'
import {mkdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {type AudioWarning, openAudio} from '../../src/audio/index.js'
import {SvcError} from '../../src/errors/index.js'
import {ffmpeg, skipWithoutFfmpeg} from '../support/ffmpeg.js'
import {projectFile} from '../support/project.js'
import {collect, joined, sine} from '../support/sounds.js'
import {temporaryFolder} from '../support/temporary.js'
import {monoWave, waveFile} from '../support/wave-file.js'
import {decode, difference, fromBytes, patched} from './support/decode.js'

const second = sine(440, 16_000)

describe('a recording that needs ffmpeg', () => {
  const film = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypmp42'), Buffer.alloc(400)])

  it('is rejected with the format if ffmpeg is missing', async (test) => {
    const path = process.env.PATH
    test.after(() => {
      process.env.PATH = path
    })
    process.env.PATH = await temporaryFolder(test)
    await assert.rejects(decode(fromBytes(film)), (error: Error & {code: string}) => {
      assert.equal(error.code, 'decoder_unavailable')
      assert.match(error.message, /MP4/)
      return true
    })
  })

  it('is passed as a path or as bytes, and its output is streamed', async (test) => {
    const folder = await temporaryFolder(test)
    const path = process.env.PATH
    test.after(() => {
      process.env.PATH = path
    })
    // Records its arguments and its input, and writes 0.5 s of silence and 1 s of sound.
    const program = `#!/bin/sh
echo "$@" > "${folder}/arguments"
case "$*" in *pipe:0*) cat > "${folder}/input";; esac
cat "${folder}/sound"
`
    const [left, right] = [0.75, 0.25].map((level) => new Float32Array(24_000).fill(level, 8000)) as [
      Float32Array,
      Float32Array,
    ]
    const answer = {sampleRate: 16_000, encoding: 'f32le', dataBytes: 0xffff_ffff} as const
    await writeFile(join(folder, 'sound'), waveFile({channels: [left, right], ...answer}))
    await mkdir(join(folder, 'bin'))
    await writeFile(join(folder, 'bin/ffmpeg'), program, {mode: 0o755})
    process.env.PATH = `${join(folder, 'bin')}:${path}`
    const file = join(folder, '-film.mp4')
    await writeFile(file, film)
    for (const input of [{path: file}, fromBytes(film)]) {
      const {sound, source} = await decode(input)
      assert.equal(sound.length, 24_000)
      assert.deepEqual([sound[0], sound[23_999]], [0, 0.5])
      assert.deepEqual(source, {container: 'ffmpeg', codec: 'an MP4 or M4A file', sampleRate: 16_000, channels: 2})
    }
    assert.deepEqual(await readFile(join(folder, 'input')), film)
    const passed = await readFile(join(folder, 'arguments'), 'utf8')
    for (const argument of [
      '-nostdin',
      '-protocol_whitelist cache,pipe',
      'aresample=16000:async=1:first_pts=0',
      '-c:a pcm_f32le -f wav',
    ])
      assert.ok(passed.includes(argument), argument)
    await decode({path: file})
    assert.ok(
      (await readFile(join(folder, 'arguments'), 'utf8')).includes(`-protocol_whitelist file,pipe -i file:${file} `),
    )
  })

  it('may be a WAV file with another codec, which is passed with its header', async (test) => {
    const folder = await temporaryFolder(test)
    const path = process.env.PATH
    test.after(() => {
      process.env.PATH = path
    })
    const program = `#!/bin/sh\ncat > "${folder}/input"\ncat "${folder}/sound"\n`
    await writeFile(join(folder, 'sound'), monoWave(second))
    await writeFile(join(folder, 'ffmpeg'), program, {mode: 0o755})
    process.env.PATH = `${folder}:${path}`
    const plain = monoWave(second)
    await decode(fromBytes(patched(monoWave(second, {before: {JUNK: Buffer.alloc(10)}}), 38, 2)))
    assert.deepEqual(await readFile(join(folder, 'input')), patched(plain, 20, 2))
  })

  const logs: Record<string, {log: string; status?: number; warning: RegExp | undefined}> = {
    'ffmpeg reports an error': {
      log: '[aac @ 0x1] [error] channel 3 is not there.\n[error] more',
      warning: /: ffmpeg reported: channel 3 is not there, and more\.$/,
    },
    'packets are corrupt': {log: '[warning] film: corrupt input packet in stream 0', warning: /corrupt input packet/},
    'ffmpeg fails midway': {log: '[error] out of sync', status: 1, warning: /out of sync/},
    'it is shorter than declared': {
      log: '[info]   Duration: 00:00:02.50, start: 0.000000',
      warning: /: it is 1\.50 s shorter than its header declares\.$/,
    },
    'it starts late': {log: '[info]   Duration: 00:00:02.50, start: 1.500000', warning: undefined},
    'its duration is an estimate': {
      log: '[aac @ 0x1] [warning] Estimating duration from bitrate, this may be inaccurate\n[info]   Duration: 00:00:09.00, start: 0.000000',
      warning: undefined,
    },
    'its video is longer': {
      log: '[info]   Duration: 00:00:09.00, start: 0.000000\n[info]   Stream #0:0: Video: h264',
      warning: undefined,
    },
    'it has a cover image and is shorter than declared': {
      log: '[info]   Duration: 00:00:09.00, start: 0.000000\n[info]   Stream #0:1: Video: mjpeg (Progressive) (attached pic)',
      warning: /8\.00 s/,
    },
    'a pipe has no known end': {
      log: '[cache @ 0x55ad311f21c0] [error] Inner protocol failed to seekback end : -38',
      warning: undefined,
    },
    'ffmpeg reports no error': {
      log: '[info]   Duration: 00:00:01.02, start: 0.000000\n[warning] Guessed Channel Layout',
      warning: undefined,
    },
  }
  for (const [what, {log, status = 0, warning}] of Object.entries(logs))
    it(`has ${warning === undefined ? 'no' : 'a'} warning if ${what}`, async (test) => {
      const folder = await temporaryFolder(test)
      const path = process.env.PATH
      test.after(() => {
        process.env.PATH = path
      })
      await writeFile(join(folder, 'log'), log)
      await writeFile(join(folder, 'sound'), monoWave(second, {dataBytes: 0xffff_ffff}))
      const program = `#!/bin/sh\ncat "${folder}/log" >&2\ncat "${folder}/sound"\nexit ${status}\n`
      await writeFile(join(folder, 'ffmpeg'), program, {mode: 0o755})
      process.env.PATH = `${folder}:${path}`
      const messages: string[] = []
      const onWarning = ({message}: AudioWarning) => messages.push(message)
      const audio = await openAudio(fromBytes(film), {sampleRate: 16_000, onWarning})
      assert.equal(joined(await collect(audio)).length, second.length)
      assert.equal(messages.length, warning === undefined ? 0 : 1)
      if (warning !== undefined) assert.match(messages[0] ?? '', warning)
    })

  it('fails with the error of its byte stream', async (test) => {
    const folder = await temporaryFolder(test)
    const path = process.env.PATH
    test.after(() => {
      process.env.PATH = path
    })
    await writeFile(join(folder, 'ffmpeg'), '#!/bin/sh\ncat\n', {mode: 0o755})
    process.env.PATH = `${folder}:${path}`
    async function* stream() {
      yield film
      throw new SvcError('file_unreadable', {path: 'upload', reason: 'the connection broke'})
    }
    await assert.rejects(decode({name: 'upload', stream: stream()}), {code: 'file_unreadable'})
  })

  for (const channels of [1, 2, 6])
    it(`has the same level as in WAV with ${channels} channels`, {skip: skipWithoutFfmpeg}, async () => {
      const tones = Array.from({length: channels}, (_, i) => sine(200 + 90 * i, 16_000, {level: 0.9}))
      const mask = {1: 4, 2: 3, 6: 0x3f}[channels] ?? 0
      const wave = waveFile({channels: tones, sampleRate: 16_000, encoding: 's16le', extensible: true, mask})
      const lossless = ffmpeg(wave, '-c:a', 'flac', '-f', 'matroska', 'pipe:1')
      const {sound, source, warnings} = await decode(fromBytes(lossless))
      assert.ok(difference(sound, (await decode(fromBytes(wave))).sound, 0) < 1e-4)
      assert.deepEqual([source.container, source.channels, warnings], ['ffmpeg', channels, []])
    })

  it('is decoded completely if its timestamps go back or are too dense', {skip: skipWithoutFfmpeg}, async () => {
    const recording = (name: string) => readFile(projectFile(`examples/${name}.wav`))
    const [hello, memo] = [await recording('hello'), await recording('memo')]
    const opus = (bytes: Buffer) => ffmpeg(bytes, '-c:a', 'libopus', '-f', 'webm', 'pipe:1')
    const lengthOf = async (bytes: Buffer) => (await decode(fromBytes(bytes))).sound.length / 16_000
    const whole = (await lengthOf(hello)) + (await lengthOf(memo))
    const joinedSec = await lengthOf(Buffer.concat([opus(hello), opus(memo)]))
    assert.ok(Math.abs(joinedSec - whole) < 0.1, `${joinedSec} s instead of ${whole} s`)
    const dense = ffmpeg(memo, '-af', 'asetpts=0.9*PTS', '-c:a', 'flac', '-f', 'matroska', 'pipe:1')
    const denseSec = await lengthOf(dense)
    assert.ok(Math.abs(denseSec - (await lengthOf(memo))) < 0.1, `${denseSec} s`)
  })

  it('is rejected if it is a video without an audio track', {skip: skipWithoutFfmpeg}, async () => {
    const frames = ['-f', 'lavfi', '-i', 'color=size=16x16:duration=1:rate=5', '-map', '1:v', '-c:v', 'mpeg4']
    for (const format of ['matroska', 'avi']) {
      const silent = ffmpeg(monoWave(second), ...frames, '-f', format, 'pipe:1')
      await assert.rejects(decode(fromBytes(silent)), {
        code: 'audio_track_missing',
        message: 'standard input has no audio track.',
      })
    }
  })

  it("is rejected with ffmpeg's reason if it cannot be read", async (test) => {
    const folder = await temporaryFolder(test)
    const path = process.env.PATH
    test.after(() => {
      process.env.PATH = path
    })
    const script = (lines: string) => `#!/bin/sh\ncat >&2 <<END\n${lines}\nEND\nexit 1\n`
    const invalid = '[error] file:/secret/a: b.m4a: Invalid data found when processing input'
    process.env.PATH = `${folder}:${path}`
    for (const [log, reason] of [
      [`[mov @ 0x1] [error] moov atom not found\n${invalid}`, 'moov atom not found'],
      [invalid, 'Invalid data found when processing input'],
      ['[error] cache:pipe:0: Invalid argument', 'Invalid argument'],
    ] as const) {
      await writeFile(join(folder, 'ffmpeg'), script(log), {mode: 0o755})
      const error = await decode(fromBytes(film)).catch((thrown: SvcError) => thrown)
      assert.match((error as SvcError).message, new RegExp(`ffmpeg reported: ${reason}\\.?$`))
    }
  })
})
