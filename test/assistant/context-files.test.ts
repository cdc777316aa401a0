import assert from 'node:assert/strict'
import {mkdir, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {execa} from 'execa'
import {sendMessage} from '../../src/assistant/index.js'
import {inTurn, scriptedChat} from '../support/scripted-inference.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {journeyOf, kept, openTestAssistant, refused, unstopped} from './support/open-test-assistant.js'

/** A workspace with these files; `read` sends a message with some of them. */
async function workspace(test: TestContext, files: Readonly<Record<string, string | Uint8Array>> = {}) {
  const server = await scriptedChat(test, inTurn('Yes.'))
  const outside = await temporaryFolder(test)
  const root = join(outside, 'project')
  await writeFiles(outside, {'secret.txt': 'the secret', 'project/.keep': ''})
  await writeFiles(root, files)
  const opened = await openTestAssistant(test, {url: server.baseUrl, root})
  const read = (...contextFiles: string[]) =>
    sendMessage(opened.assistant, {prompt: 'Well?', contextFiles}, journeyOf(), unstopped)
  return {...opened, server, outside, root, read}
}

describe('context files', () => {
  it('are sent once each in fences longer than those they contain', async (test) => {
    const {server, read, ...opened} = await workspace(test, {
      'src/a.ts': 'const a = 1\n',
      'b.md': '\uFEFF# B\n```\ncode\n```\n',
    })
    const {message} = await read('src/a.ts', 'b.md', 'src/a.ts')
    assert.equal(
      server.calls[0]?.messages.at(-1)?.content,
      'src/a.ts:\n```\nconst a = 1\n```\n\nb.md:\n````\n# B\n```\ncode\n```\n````\n\nWell?',
    )
    assert.deepEqual(message.context_files, ['src/a.ts', 'b.md'])
    assert.equal(kept(opened).messages[0]?.context_files_json, '["src/a.ts","b.md"]')
  })

  it('are sent once if several paths refer to the same file', async (test) => {
    const {root, server, read} = await workspace(test, {'a.txt': 'one'})
    await symlink('a.txt', join(root, 'link.txt'))
    const {message} = await read('a.txt', './a.txt', 'link.txt', join(root, 'a.txt'))
    assert.deepEqual(message.context_files, ['a.txt'])
    assert.equal(server.calls[0]?.messages.at(-1)?.content, 'a.txt:\n```\none\n```\n\nWell?')
  })

  it('can be absolute paths', async (test) => {
    const {root, server, read} = await workspace(test, {'a.ts': 'one'})
    await read(join(root, 'a.ts'))
    assert.match(server.calls[0]?.messages.at(-1)?.content ?? '', /one/)
  })

  it('can be symbolic links within the workspace', async (test) => {
    const {root, server, read} = await workspace(test, {'real/a.ts': 'one'})
    await symlink('real', join(root, 'linked'))
    await read('linked/a.ts')
    assert.match(server.calls[0]?.messages.at(-1)?.content ?? '', /one/)
  })
})

describe('context files outside the workspace', () => {
  const ways: readonly [string, (outside: string, root: string) => string | Promise<string>][] = [
    ['with ".." in the path', () => '../secret.txt'],
    [
      'behind a symbolic link',
      async (outside, root) => {
        await symlink(join(outside, 'secret.txt'), join(root, 'link.txt'))
        return 'link.txt'
      },
    ],
  ]
  for (const [way, pathOf] of ways)
    it(`are rejected ${way}, before a request to the model`, async (test) => {
      const {outside, root, server, read} = await workspace(test)
      const error = await refused('path_denied', read(await pathOf(outside, root)))
      assert.match(error.message, /it is outside the workspace/)
      assert.deepEqual(server.headers, [])
    })
})

describe('invalid context files', () => {
  const cases: readonly [string, Readonly<Record<string, string | Uint8Array>>, string[], RegExp][] = [
    ['folders', {'src/a.ts': ''}, ['src'], /it is not a regular file/],
    ['files that are not UTF-8', {'a.bin': Uint8Array.of(0xff, 0xfe, 0x41)}, ['a.bin'], /it is not UTF-8 text/],
    ['files with NUL bytes', {'a.bin': Uint8Array.of(0x41, 0, 0x42)}, ['a.bin'], /it is not UTF-8 text/],
    ['oversized files', {'a.txt': 'x'.repeat(300_000)}, ['a.txt'], /larger than 262144 bytes/],
    [
      'files that exceed the total size limit',
      Object.fromEntries(['a', 'b', 'c'].map((name) => [name, 'x'.repeat(200_000)])),
      ['a', 'b', 'c'],
      /context file c: the files exceed 524288 bytes in total/,
    ],
  ]
  for (const [what, files, paths, message] of cases)
    it(`include ${what}`, async (test) => {
      const {server, read} = await workspace(test, files)
      assert.match((await refused('context_file_unusable', read(...paths))).message, message)
      assert.deepEqual(server.headers, [])
    })

  for (const [what, path] of [
    ['missing files', 'no.ts'],
    ['paths below a file, like missing ones', 'a.ts/b.ts'],
  ] as const)
    it(`include ${what}`, async (test) => {
      const {server, read} = await workspace(test, {'a.ts': ''})
      const error = await refused('context_file_missing', read(path))
      assert.equal(error.message, `The context file ${path} does not exist.`)
      assert.deepEqual([error.status, error.exit, error.param], [404, 3, 'context_files'])
      assert.deepEqual(server.headers, [])
    })

  it('include named pipes', async (test) => {
    const {root, read} = await workspace(test)
    await mkdir(join(root, 'src'))
    await execa('mkfifo', [join(root, 'src', 'pipe')])
    await refused('context_file_unusable', read('src/pipe'))
  })

  it('include paths with a NUL byte', async (test) => {
    const {read} = await workspace(test)
    await refused('path_denied', read('a\0b'))
  })
})
