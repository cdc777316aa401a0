import assert from 'node:assert/strict'
import {execFileSync} from 'node:child_process'
import {mkdir, symlink} from 'node:fs/promises'
import {join, relative} from 'node:path'
import {describe, it} from 'node:test'
import {type ListedRecording, listRecordings, outputPaths} from '../../../src/speech/index.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'

const named = (...paths: string[]) => paths.map((path) => ({path, root: undefined}))
const foundIn = (root: string, ...paths: string[]) => paths.map((path) => ({path, root}))
const outputs = (...recordings: readonly ListedRecording[]) => [...outputPaths(recordings, 'out', '.srt').values()]
const names = (...paths: string[]) => outputs(...named(...paths))

describe('files of transcripts', () => {
  it('have the names of their recordings, and their paths relative to a directory argument', () => {
    assert.deepEqual(names('a.wav'), ['out/a.srt'])
    assert.deepEqual(names('/r/x/a.wav', '/r/y/z/b.wav', '../c.wav'), ['out/a.srt', 'out/b.srt', 'out/c.srt'])
    assert.deepEqual(names('-', 'x/a.wav'), ['out/stdin.srt', 'out/a.srt'])
    const talks = foundIn('x/talks', 'x/talks/a.wav', 'x/talks/y/b.wav')
    assert.deepEqual(outputs(...talks), ['out/a.srt', 'out/y/b.srt'])
    assert.deepEqual(outputs(...named('other/c.wav'), ...talks), ['out/c.srt', 'out/a.srt', 'out/y/b.srt'])
    assert.deepEqual(outputs(...foundIn('../t', '../t/y/b.wav'), ...foundIn('z/', 'z/d.wav')), [
      'out/y/b.srt',
      'out/d.srt',
    ])
  })

  it('are refused if two would be equal', () => {
    const same = [
      named('x/a.wav', 'y/a.wav'),
      named('x/a.wav', 'y/A.wav'),
      [...named('a.wav'), ...foundIn('x', 'x/a.wav')],
      [...foundIn('x', 'x/y/a.wav'), ...foundIn('z', 'z/y/a.wav')],
    ]
    for (const recordings of same)
      assert.throws(() => outputs(...recordings), {
        code: 'usage',
        message: /a\.wav and .*a\.wav would have the same path/i,
      })
  })

  it('keep the extension of the recording if they would be equal', () => {
    assert.deepEqual(names('a.wav', 'a.mp3', 'b.wav'), ['out/a.wav.srt', 'out/a.mp3.srt', 'out/b.srt'])
    assert.deepEqual(names('a.wav', 'A.mp3'), ['out/a.wav.srt', 'out/A.mp3.srt'])
    assert.deepEqual(names('a.wav', 'a.wav.mp3'), ['out/a.srt', 'out/a.wav.mp3.srt'])
    assert.deepEqual(names('-', 'stdin.wav'), ['out/-.srt', 'out/stdin.wav.srt'])
  })

  it('are one for a recording that is given twice', () => {
    assert.deepEqual(names('a.wav', 'a.wav', './a.wav'), ['out/a.srt'])
    assert.deepEqual(outputs(...foundIn('x', 'x/y/a.wav'), ...named('x/y/a.wav')), ['out/a.srt'])
  })

  it('are different for different recordings', () => {
    const parts = ['a', 'A', 'a.wav', 'b', 'stdin', 'é', 'e\u0301']
    const endings = ['.wav', '.mp3', '.wav.mp3', '']
    const all = ['', 'x/', 'y/', 'x/y/'].flatMap((folder) =>
      parts.flatMap((part) => endings.map((ending) => folder + part + ending)),
    )
    let state = 7
    const next = (below: number) => {
      state = (1103515245 * state + 12345) % 2 ** 31
      return state % below
    }
    for (let round = 0; round < 200; round++) {
      const chosen = new Set(Array.from({length: 1 + next(12)}, () => all[next(all.length)] ?? ''))
      // Names that differ in capitals or accents alone are one file on some systems.
      const one = new Map([...chosen].map((name) => [name.normalize('NFC').toLowerCase(), name]))
      const places = outputs(...foundIn('', ...one.values())).map((name) => name.normalize('NFC').toLowerCase())
      assert.equal(new Set(places).size, one.size, [...one.values()].join(' '))
    }
  })
})

describe('the recordings of a directory', () => {
  it('include those in subdirectories only on request, by path', async (test) => {
    const folder = await temporaryFolder(test)
    await writeFiles(folder, {'b.wav': '', 'a/c.mp3': '', 'a/notes.md': '', 'a/d/e.flac': '', '.git/f.wav': ''})
    const listed = async (recursive: boolean) =>
      (await listRecordings([folder], {recursive})).map(({path, root}) => {
        assert.equal(root, folder)
        return relative(folder, path)
      })
    assert.deepEqual(await listed(false), ['b.wav'])
    assert.deepEqual(await listed(true), ['a/c.mp3', 'a/d/e.flac', 'b.wav'])
  })

  it('are recognised by their content, and the other files are reported', async (test) => {
    const folder = await temporaryFolder(test)
    const mp4 = (brand: string) =>
      Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from(`ftyp${brand}`), Buffer.alloc(9)])
    await writeFiles(folder, {
      'book.m4b': mp4('M4B '),
      talk: mp4('isom'),
      'voice.dat': Buffer.from('RIFF\0\0\0\0WAVEfmt \x10\0\0\0'),
      'song.bin': Buffer.from('ID3\x04\0\0\0\0\0\0'),
      'photo.heic': mp4('heic'),
      'burst.heis': mp4('heis'),
      'photo.cr3': mp4('crx '),
      'numbers.bin': Buffer.from([0x0b, 0x77, 0, 1, 2, 3]),
      'notes.txt': 'MAC addresses of the machines',
      'utf16.txt': Buffer.from('\ufeffHello', 'utf16le'),
      'script.ts': "const G = 'TypeScript, not a transport stream'",
      '.hidden': mp4('isom'),
    })
    await symlink('talk', join(folder, 'link'))
    await symlink('nowhere', join(folder, 'lost'))
    await mkdir(join(folder, 'sub'))
    await symlink('sub', join(folder, 'sub-link.wav'))
    execFileSync('mkfifo', [join(folder, 'pipe.wav')])
    const namesOf = (paths: readonly string[]) => paths.map((path) => relative(folder, path))
    let skipped: unknown
    const listed = await listRecordings([folder], {
      recursive: false,
      onSkipped: ({withoutAudio, unreadable}) => {
        skipped = [namesOf(withoutAudio), namesOf(unreadable)]
      },
    })
    assert.deepEqual(namesOf(listed.map(({path}) => path)), ['book.m4b', 'link', 'song.bin', 'talk', 'voice.dat'])
    const others = ['burst.heis', 'notes.txt', 'numbers.bin', 'photo.cr3', 'photo.heic', 'script.ts', 'utf16.txt']
    assert.deepEqual(skipped, [others, ['lost', 'pipe.wav']])
  })

  it('include standard input only once', async () => {
    assert.deepEqual(await listRecordings(['-', 'a.wav'], {recursive: false}), named('-', 'a.wav'))
    await assert.rejects(listRecordings(['-', 'a.wav', '-'], {recursive: false}), {code: 'usage'})
  })
})
