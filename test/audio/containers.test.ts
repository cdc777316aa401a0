import assert from 'node:assert/strict'
import {execFileSync} from 'node:child_process'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {
  type AudioInput,
  type AudioWarning,
  describeTracks,
  openAudio,
  probeAudio,
  type TrackChoice,
  type TrackList,
} from '../../src/audio/index.js'
import {ffmpeg, skipWithoutFfmpeg, writeFilm} from '../support/ffmpeg.js'
import {once} from '../support/once.js'
import {collect, joined, sine} from '../support/sounds.js'
import {suiteFolder} from '../support/temporary.js'
import {monoWave, waveFile} from '../support/wave-file.js'
import {decode, difference, frequency, fromBytes, tones} from './support/decode.js'

describe('a recording with more than two channels', {skip: skipWithoutFfmpeg}, () => {
  for (const [format, codec, masks] of [
    ['flac', 'flac', [0x3f, 0xb]],
    ['ogg', 'flac', [0x3f]],
    ['ogg', 'libvorbis', [0x7, 0x63f]],
    ['ogg', 'libopus', [0x3f]],
    ['matroska', 'aac', [0x3f]],
  ] as const)
    for (const mask of masks)
      it(`is mixed down by its layout ${mask.toString(16)} as ffmpeg -ac 1 does: ${codec} in ${format}`, async () => {
        const channels = mask.toString(2).replaceAll('0', '').length
        const parts = tones(channels, {rate: 48_000})
        const wave = waveFile({channels: parts, sampleRate: 48_000, encoding: 's16le', extensible: true, mask})
        const bytes = ffmpeg(wave, '-c:a', codec, '-b:a', '512k', '-f', format, 'pipe:1')
        const mixed = ffmpeg(bytes, '-ac', '1', '-c:a', 'pcm_s16le', '-f', 'wav', 'pipe:1')
        const [own, expected] = [await decode(fromBytes(bytes)), await decode(fromBytes(mixed))]
        const length = Math.min(own.sound.length, expected.sound.length)
        assert.ok(Math.abs(own.sound.length - expected.sound.length) < 800)
        assert.ok(difference(own.sound.subarray(0, length), expected.sound.subarray(0, length)) < 0.02)
      })
})

describe('a film with several audio tracks', {skip: skipWithoutFfmpeg}, () => {
  const folder = suiteFolder()
  const film = join(folder, 'film.mkv')
  const german = {name: 'de', matches: (language: string) => language === 'ger'}
  before(async () => {
    const files = [300, 500, 700].map((hertz) => ({path: join(folder, `${hertz}.wav`), hertz}))
    for (const {path, hertz} of files) await writeFile(path, monoWave(sine(hertz, 16_000)))
    writeFilm(
      film,
      files.map(({path}) => path),
      [
        ...['-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=ger', '-metadata:s:a:2', 'language=ger'],
        ...['-metadata:s:a:1', 'title=Audio: the "notes"', '-disposition:a:0', '0', '-disposition:a:2', 'default'],
      ],
    )
  })

  async function hear(input: AudioInput, track?: TrackChoice) {
    const lists: TrackList[] = []
    const warnings: AudioWarning[] = []
    const onTracks = (list: TrackList) => lists.push(list)
    const onWarning = (warning: AudioWarning) => warnings.push(warning)
    const audio = await openAudio(input, {sampleRate: 16_000, track, onTracks, onWarning})
    return {hertz: Math.round(frequency(joined(await collect(audio))) / 100) * 100, lists, warnings}
  }

  it('is decoded from the track that the file marks, and its tracks are listed', async () => {
    const {hertz, lists} = await hear({path: film})
    assert.equal(hertz, 700)
    const {tracks, durationSec} = await probeAudio({path: film})
    assert.deepEqual(lists, [{tracks, selected: 3, durationSec}])
    assert.equal(describeTracks(tracks), '1 (eng), 2 (ger, "Audio: the \\"notes\\""), 3 (ger, default)')
    assert.deepEqual(tracks[0], {
      ...{number: 1, codec: 'flac', sampleRate: 16_000, layout: 'mono'},
      ...{language: 'eng', isDefault: false},
    })
  })

  it('is decoded from a named pipe, whose writer may start later', {skip: process.platform === 'win32'}, async () => {
    writeFilm(join(folder, 'film.mp4'), [join(folder, '700.wav')], ['-c:a', 'aac'])
    for (const [name, hertz] of Object.entries({'300.wav': 300, 'film.mkv': 700, 'film.mp4': 700})) {
      const pipe = join(folder, `pipe-${name}`)
      execFileSync('mkfifo', [pipe])
      const heard = hear({path: pipe})
      await Promise.all([heard, writeFile(pipe, await readFile(join(folder, name)))])
      assert.deepEqual([(await heard).hertz, (await heard).warnings], [hertz, []])
      const [probe] = await Promise.all([
        probeAudio({path: pipe}),
        readFile(join(folder, name)).then((bytes) => writeFile(pipe, bytes).catch(() => undefined)),
      ])
      const {format, tracks} = await probeAudio({path: join(folder, name)})
      assert.deepEqual([probe.format, probe.tracks], [format, tracks])
    }
  })

  it('keeps the time before its first audio, also in MPEG streams', async () => {
    for (const [container, codec] of Object.entries({mkv: 'flac', mp4: 'aac', ts: 'mp2', vob: 'ac3'})) {
      const late = join(folder, `late.${container}`)
      writeFilm(late, [join(folder, '300.wav')], ['-c:a', codec, '-ar', '48000', '-af', 'asetpts=PTS+0.5/TB'])
      const samples = joined(await collect(await openAudio({path: late}, {sampleRate: 16_000})))
      const startSec = samples.findIndex((x) => Math.abs(x) > 0.2) / 16_000
      assert.ok(Math.abs(startSec - 0.5) < 0.06, `${container}: ${startSec} s`)
    }
  })

  it('is decoded from the selected track, of those with a language the marked one', async () => {
    const bytes = await readFile(film)
    for (const [input, track, expected] of [
      [{path: film}, 1, 300],
      [{path: film}, 2, 500],
      [fromBytes(bytes), 2, 500],
      [{path: film}, german, 700],
    ] as const) {
      const {hertz, lists} = await hear(input, track)
      assert.deepEqual([hertz, lists[0]?.selected], [expected, expected / 200 - 0.5])
    }
  })

  it('is decoded from the track with a language, also of several programs or with a long tag', async () => {
    const files = [300, 500, 700].map((hertz) => join(folder, `${hertz}.wav`))
    const languages = ['eng', 'ger', 'fre'].flatMap((tag, i) => [`-metadata:s:a:${i}`, `language=${tag}`])
    const programs = ['-program', 'title=A:st=0:st=1:st=3', '-program', 'title=B:st=2:st=3']
    const broadcast = join(folder, 'broadcast.ts')
    writeFilm(broadcast, files, [...languages, ...programs, '-c:a', 'mp2', '-ar', '48000'])
    const tagged = join(folder, 'tagged.mkv')
    writeFilm(tagged, files, [...languages, '-metadata:s:a:0', 'language=pt-BR'])
    for (const [path, expected, number] of [
      [broadcast, '1 (eng), 2 (fre), 3 (ger)', 3],
      [tagged, '1 (pt-BR, default), 2 (ger), 3 (fre)', 2],
    ] as const) {
      assert.equal(describeTracks((await probeAudio({path})).tracks), expected)
      const {hertz, lists} = await hear({path}, german)
      assert.deepEqual([hertz, lists[0]?.selected], [500, number])
    }
  })

  it('is refused if it lacks the selected track, or if its languages are unknown', async () => {
    const french = {name: 'fr', matches: (language: string) => language === 'fre'}
    const message =
      /film\.mkv has no audio track (4|fr); its tracks are: 1 \(eng\), 2 \(ger, .*\), 3 \(ger, default\)\.$/
    for (const track of [4, french])
      await assert.rejects(hear({path: film}, track), {code: 'audio_track_unknown', message})
    await assert.rejects(hear(fromBytes(await readFile(film)), german), {code: 'audio_tracks_need_file'})
    const single = join(folder, '300.wav')
    assert.equal((await hear({path: single}, 1)).hertz, 300)
    for (const track of [2, german])
      await assert.rejects(hear({path: single}, track), {code: 'audio_track_unknown', message: /its tracks are: 1\.$/})
  })
})

describe('recordings that were joined', {skip: skipWithoutFfmpeg}, () => {
  for (const [format, codec] of [
    ['mp3', 'libmp3lame'],
    ['flac', 'flac'],
    ['ogg', 'flac'],
    ['ogg', 'libvorbis'],
    ['ogg', 'libopus'],
  ] as const) {
    const encoded = once(async () =>
      [
        [44_100, 2, 300],
        [16_000, 1, 500],
      ].map(([rate = 0, channels = 0, hertz = 0]) => {
        const channel = sine(hertz, 2 * rate, {rate})
        const wave = waveFile({channels: Array(channels).fill(channel), sampleRate: rate, encoding: 's16le'})
        return {bytes: ffmpeg(wave, '-c:a', codec, '-f', format, 'pipe:1'), hertz}
      }),
    )
    for (const order of [
      [0, 1],
      [1, 0],
    ] as const)
      it(`keep both parts if rate and channels change: ${codec} in ${format}, ${order}`, async () => {
        const parts = await encoded()
        const [first, last] = order.map((i) => parts[i] as {bytes: Buffer; hertz: number})
        const {sound, warnings} = await decode(fromBytes(Buffer.concat([first!.bytes, last!.bytes])))
        assert.deepEqual(warnings, [])
        assert.ok(Math.abs(sound.length - 64_000) < 3000, `${sound.length}`)
        assert.ok(Math.abs(frequency(sound.subarray(8000, 24_000)) - first!.hertz) < 5)
        assert.ok(Math.abs(frequency(sound.subarray(40_000, 56_000)) - last!.hertz) < 5)
      })
  }

  it('keep the second part if the first one is cut: flac', async () => {
    const [cut, whole] = [44_100, 16_000].map((rate) => {
      const wave = waveFile({channels: [sine(500, 2 * rate, {rate})], sampleRate: rate, encoding: 's16le'})
      return ffmpeg(wave, '-c:a', 'flac', '-f', 'flac', 'pipe:1')
    }) as [Buffer, Buffer]
    const {sound, warnings} = await decode(fromBytes(Buffer.concat([cut.subarray(0, cut.length / 2), whole])))
    assert.deepEqual(warnings, ['audio_damaged'])
    assert.ok(sound.length > 40_000 && sound.length < 56_000, `${sound.length}`)
    assert.ok(Math.abs(frequency(sound.subarray(-24_000, -8000)) - 500) < 5)
  })
})
