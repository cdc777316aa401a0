import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

/** Text files need no model. */
async function workspace(test: TestContext, files: Record<string, string>) {
  const cwd = await temporaryFolder(test)
  await writeFiles(cwd, files)
  const svc = (...args: string[]) => svcInTurn(args, {cwd})
  const refused = async (code: string, ...args: string[]) => {
    const {exitCode, stderr} = await svc(...args)
    assert.ok(stderr.includes(`(${code})`), stderr)
    assert.notEqual(exitCode, 0)
    return stderr
  }
  return {cwd, svc, refused, read: (name: string) => readFile(join(cwd, name), 'utf8')}
}

describe('svc transcribe -o', () => {
  it('refuses recordings with the same name before any work', async (test) => {
    const {cwd, svc, refused, read} = await workspace(test, {
      'x/a.md': 'first',
      'y/a.md': 'second',
      'y/z/b.md': 'third',
    })
    assert.match(await refused('usage', 'transcribe', 'x/a.md', 'y/a.md', '-o', 'out'), /same path/)
    assert.ok(!existsSync(join(cwd, 'out')))
    assert.equal((await svc('transcribe', 'x/a.md', 'y/z/b.md', 'y/z/b.md', '-o', 'out')).exitCode, 0)
    assert.deepEqual([await read('out/a.txt'), await read('out/b.txt')], ['first\n', 'third\n'])
  })

  it('are refused if their name is that of a document or of media', async (test) => {
    const {svc, refused, cwd} = await workspace(test, {'notes.txt': 'said'})
    for (const name of ['talk.docx', 'talk.MP4', 'sub.dir/talk.html'])
      await refused('output_extension_unknown', 'transcribe', 'notes.txt', '-o', name)
    assert.equal((await svc('transcribe', 'notes.txt', '-o', 'v1.2')).exitCode, 0)
    await mkdir(join(cwd, 'old.docx'))
    assert.equal((await svc('transcribe', 'notes.txt', '-o', 'old.docx')).exitCode, 0)
  })

  it('never overwrites its input', async (test) => {
    const {refused, read} = await workspace(test, {'notes.txt': '  my   notes '})
    await refused('output_is_input', 'transcribe', 'notes.txt', '-o', '.')
    await refused('output_is_input', 'transcribe', 'notes.txt', '-o', '.', '--overwrite')
    await refused('output_is_input', 'transcribe', 'notes.txt', '-o', 'notes.txt', '--overwrite')
    assert.equal(await read('notes.txt'), '  my   notes ')
  })

  it('overwrites other files only with --overwrite, and checks that before it starts', async (test) => {
    const {svc, refused, read} = await workspace(test, {'a.md': 'said', 'out/a.txt': 'mine', 'b.md': 'also said'})
    const told = await refused('output_exists', 'transcribe', 'a.md', 'b.md', '-o', 'out')
    assert.match(told, /Pass --overwrite/)
    assert.equal(await read('out/a.txt'), 'mine')
    await assert.rejects(read('out/b.txt'))
    assert.equal((await svc('transcribe', 'a.md', 'b.md', '-o', 'out', '--overwrite')).exitCode, 0)
    assert.equal(await read('out/a.txt'), 'said\n')
  })

  it('writes a single recording to a file whose extension is a format', async (test) => {
    const {cwd, svc, refused, read} = await workspace(test, {'a.md': 'said', 'b.md': 'said'})
    assert.equal((await svc('transcribe', 'a.md', '-o', 'made/out.VTT')).exitCode, 0)
    assert.match(await read('made/out.VTT'), /^WEBVTT\n/)
    assert.equal((await svc('transcribe', 'a.md', '-f', 'verbose_json', '-o', 'out.json')).exitCode, 0)
    assert.equal(JSON.parse(await read('out.json')).task, 'transcribe')
    await refused('usage', 'transcribe', 'a.md', '-f', 'vtt', '-o', 'out.srt')
    await refused('output_exists', 'transcribe', 'a.md', '-o', 'out.json')
    assert.equal((await svc('transcribe', 'a.md', 'b.md', '-o', 'two.srt')).exitCode, 0)
    assert.equal(await read('two.srt/a.txt'), 'said\n')
    await mkdir(join(cwd, 'folder.srt'))
    assert.equal((await svc('transcribe', 'a.md', '-o', 'folder.srt')).exitCode, 0)
    assert.equal(await read('folder.srt/a.txt'), 'said\n')
  })

  const allFormats = ['csv', 'json', 'lrc', 'ndjson', 'srt', 'tsv', 'txt', 'vtt']

  it('writes a file per format with --format all, as --output_format all of openai-whisper', async (test) => {
    const {cwd, svc, read} = await workspace(test, {'a.md': 'said', 'b.md': 'also'})
    const {stdout} = await svc('transcribe', 'a.md', 'b.md', '-f', 'all', '-o', 'out')
    const names = ['a', 'b'].flatMap((name) => allFormats.map((extension) => `${name}.${extension}`))
    assert.deepEqual((await readdir(join(cwd, 'out'))).sort(), names)
    assert.deepEqual(
      stdout.trim().split('\n').sort(),
      names.map((name) => join(cwd, 'out', name)),
    )
    assert.deepEqual(Object.keys(JSON.parse(await read('out/a.json')).segments[0]).slice(0, 2), ['id', 'seek'])
    assert.match(await read('out/b.srt'), /^1\n.*\nalso\n/)
  })

  it('writes several formats, as -osrt -oj of whisper.cpp, and never to standard output or to one file', async (test) => {
    const {cwd, svc, refused, read} = await workspace(test, {'a.md': 'said', 'out/a.vtt': 'mine'})
    await refused('output_exists', 'transcribe', 'a.md', '-f', 'srt,vtt', '-o', 'out')
    assert.deepEqual(await readdir(join(cwd, 'out')), ['a.vtt'])
    const formats = ['-f', 'srt,json', '-f', 'txt']
    const {stdout} = await svc('transcribe', 'a.md', ...formats, '-o', 'out', '--json')
    const paths = ['a.srt', 'a.json', 'a.txt'].map((name) => join(cwd, 'out', name))
    const result = JSON.parse(stdout)
    assert.deepEqual(await contractViolations('cli/transcribe.v1', result), [])
    assert.deepEqual([result.output_path, result.output_paths], [paths[0], paths])
    assert.equal(await read('out/a.json'), '{"text":"said"}\n')
    for (const output of [[], ['-o', '-']])
      await refused('output_dir_needed', 'transcribe', 'a.md', ...formats, ...output)
    assert.equal((await svc('transcribe', 'a.md', ...formats, '--json')).exitCode, 2)
    await refused('usage', 'transcribe', 'a.md', ...formats, '-o', 'a.srt')
    await refused('usage', 'transcribe', 'a.md', '-f', 'json,verbose_json', '-o', 'out')
  })

  it('adds the missing formats with --resume, and skips a recording that has all of them', async (test) => {
    const {svc, read} = await workspace(test, {'a.md': 'said', 'out/a.vtt': 'mine'})
    const run = () => svc('transcribe', 'a.md', '-f', 'vtt,srt', '-o', 'out', '--resume')
    assert.equal((await run()).exitCode, 0)
    assert.equal(await read('out/a.vtt'), 'mine')
    assert.match(await read('out/a.srt'), /said/)
    const {stdout, stderr} = await run()
    assert.equal(stdout, '')
    assert.match(stderr, /a\.vtt, .*a\.srt already exist, so a\.md is skipped/)
  })

  it('reports an unwritable output', async (test) => {
    const {refused} = await workspace(test, {'a.md': 'said', 'b.md': 'said', taken: 'a file'})
    assert.match(await refused('file_unwritable', 'transcribe', 'a.md', '-o', 'taken'), /Cannot write/)
  })
})

describe('svc speech subtitle', () => {
  it('keeps existing subtitles, and writes the requested file or nothing', async (test) => {
    const {cwd, svc, refused, read} = await workspace(test, {'film.md': 'said', 'film.srt': 'by hand'})
    await refused('output_exists', 'speech', 'subtitle', 'film.md')
    assert.equal(await read('film.srt'), 'by hand')
    await refused('subtitle_format_unknown', 'speech', 'subtitle', 'film.md', '-o', 'film.ass')
    assert.equal(existsSync(join(cwd, 'film.ass')), false)
    await refused('output_is_input', 'speech', 'subtitle', 'film.md', '--reference', 'film.srt', '--overwrite')
    assert.equal((await svc('speech', 'subtitle', 'film.md', '--overwrite')).exitCode, 0)
    assert.match(await read('film.srt'), /^1\n/)
  })

  it('writes a file without captions for silence, and prints a notice', async (test) => {
    const {svc, read} = await workspace(test, {'film.md': '  \n'})
    const {exitCode, stderr} = await svc('speech', 'subtitle', 'film.md')
    assert.deepEqual([exitCode, stderr], [0, 'film.md: no speech found.\n'])
    assert.equal(await read('film.srt'), '\n')
    const transcribed = await svc('transcribe', 'film.md', '-f', 'vtt')
    assert.deepEqual([transcribed.stdout, transcribed.stderr], ['WEBVTT\n\n', 'film.md: no speech found.\n'])
  })
})

describe('svc db build and client', () => {
  it('overwrite their own output, but not files that a user has changed', async (test) => {
    const {cwd, svc, refused, read} = await workspace(test, {
      'a.svc': '@table type Note { text: str }',
      'web/client.ts': '// mine',
    })
    await refused('output_exists', 'db', 'client', 'a.svc', '-o', 'web')
    assert.equal(await read('web/client.ts'), '// mine')
    assert.equal((await svc('db', 'build', 'a.svc', '-o', 'out')).exitCode, 0)
    await writeFile(join(cwd, 'a.svc'), '@table type Note { text: str, done: bool }')
    assert.equal((await svc('db', 'build', 'a.svc', '-o', 'out')).exitCode, 0)
    assert.match(await read('out/schema.sql'), /done/)
    await writeFile(join(cwd, 'out/types.ts'), '// changed')
    await refused('output_exists', 'db', 'client', 'a.svc', '-o', 'out')
    assert.equal((await svc('db', 'client', 'a.svc', '-o', 'out', '--overwrite')).exitCode, 0)
    assert.match(await read('out/types.ts'), /done/)
  })
})
