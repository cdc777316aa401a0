import assert from 'node:assert/strict'
import {relative} from 'node:path'
import {describe, it} from 'node:test'
import {listRecordings, outputPaths} from '../../src/speech/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const names = (...recordings: string[]) => [...outputPaths(recordings, 'out', '.srt').values()]

describe('files of transcripts', () => {
  it('have the names of their recordings, relative to the common directory', () => {
    assert.deepEqual(names('a.wav'), ['out/a.srt'])
    assert.deepEqual(names('talks/a.wav', 'talks/b.wav'), ['out/a.srt', 'out/b.srt'])
    assert.deepEqual(names('x/a.wav', 'y/a.wav'), ['out/x/a.srt', 'out/y/a.srt'])
    assert.deepEqual(names('/r/x/a.wav', '/r/y/z/b.wav', 'c.wav'), ['out/a.srt', 'out/b.srt', 'out/c.srt'])
    const found = outputPaths(['x/a.wav', 'x/y/b.wav'], 'out', '.srt', ['x'])
    assert.deepEqual([...found.values()], ['out/a.srt', 'out/y/b.srt'])
    assert.deepEqual(names('/r/x/a.wav', '/r/xy/a.wav', '/r/b.wav'), ['out/x/a.srt', 'out/xy/a.srt', 'out/b.srt'])
    assert.deepEqual(names('../a.wav', 'b.wav').length, 2)
    assert.ok(names('../a.wav', 'b.wav').every((name) => name.startsWith('out/') && !name.includes('..')))
    assert.deepEqual(names('-', 'x/a.wav'), ['out/stdin.srt', 'out/a.srt'])
  })

  it('keep the extension of the recording if they would be equal', () => {
    assert.deepEqual(names('a.wav', 'a.mp3', 'b.wav'), ['out/a.wav.srt', 'out/a.mp3.srt', 'out/b.srt'])
    assert.deepEqual(names('a.wav', 'A.mp3'), ['out/a.wav.srt', 'out/A.mp3.srt'])
    assert.deepEqual(names('a.wav', 'a.wav.mp3'), ['out/a.srt', 'out/a.wav.mp3.srt'])
    assert.deepEqual(names('-', 'stdin.wav'), ['out/-.srt', 'out/stdin.wav.srt'])
  })

  it('are one for a recording that is given twice', () => {
    assert.deepEqual(names('a.wav', 'a.wav'), ['out/a.srt'])
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
      const places = names(...one.values()).map((name) => name.normalize('NFC').toLowerCase())
      assert.equal(new Set(places).size, one.size, [...one.values()].join(' '))
    }
  })
})

describe('the recordings of a directory', () => {
  it('include those in subdirectories only on request, by path', async (test) => {
    const folder = await temporaryFolder(test)
    await writeFiles(folder, {'b.wav': '', 'a/c.mp3': '', 'a/notes.md': '', 'a/d/e.flac': ''})
    const listed = async (recursive: boolean) =>
      (await listRecordings([folder], {recursive})).map((path) => relative(folder, path))
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
      'notes.txt': 'MAC addresses of the machines',
      'utf16.txt': Buffer.from('\ufeffHello', 'utf16le'),
      'script.ts': "const G = 'TypeScript, not a transport stream'",
      '.hidden': mp4('isom'),
    })
    const skipped: string[] = []
    const onSkipped = (_: string, files: readonly string[]) => skipped.push(...files)
    const listed = await listRecordings([folder], {recursive: false, onSkipped})
    const namesOf = (paths: string[]) => paths.map((path) => relative(folder, path))
    assert.deepEqual(namesOf(listed), ['book.m4b', 'song.bin', 'talk', 'voice.dat'])
    assert.deepEqual(namesOf(skipped), ['notes.txt', 'photo.heic', 'script.ts', 'utf16.txt'])
  })

  it('include standard input only once', async () => {
    assert.deepEqual(await listRecordings(['-', 'a.wav'], {recursive: false}), ['-', 'a.wav'])
    await assert.rejects(listRecordings(['-', 'a.wav', '-'], {recursive: false}), {code: 'usage'})
  })
})
