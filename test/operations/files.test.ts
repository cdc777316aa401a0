import assert from 'node:assert/strict'
import {readFile, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {writeFiles} from '../support/temporary.js'
import {assistantWorkspace} from './support/assistant-workspace.js'

const wrong = '@table type Note { title: strin }\n'
const right = '@table type Note { title: str }\n'
const inFence = (text: string) => `\`\`\`\n${text}\`\`\``

async function workspace(test: TestContext, answers: string[] = [], files: Record<string, string> = {}) {
  const opened = await assistantWorkspace(test, answers, {surface: 'daemon'})
  await writeFiles(opened.root, files)
  return {
    ...opened,
    // biome-ignore lint/suspicious/noExplicitAny: the answers are looked at member by member
    call: opened.call as (...call: Parameters<typeof opened.call>) => Promise<any>,
    read: (path: string) => readFile(join(opened.root, path), 'utf8'),
  }
}

describe('ai.check', () => {
  const files = {
    'app/note.svc': wrong,
    'src/a.ts': 'export function a() {\n  // TODO: write it\n}\n',
    'src/ok.ts': 'export const a = 1\n',
    'node_modules/x/index.js': '// TODO: write it\n',
    'src/image.bin': 'a\0b',
  }

  it('finds errors of programs and defects of other files in a folder', async (t) => {
    const {call, root, orchestrator} = await workspace(t, [], files)
    await symlink('/etc', join(root, 'src/link'))
    const all = await call('check_files', {path: '.'})
    assert.deepEqual([all.ok, all.files_scanned, all.is_partial], [false, 4, false])
    assert.equal(all.repository_id, orchestrator.repositoryId)
    const findings = all.findings as {rule: string; path: string; line: number}[]
    assert.deepEqual(
      findings.map(({path, line}) => `${path}:${line}`),
      ['app/note.svc:1', 'src/a.ts:2'],
    )
    const program = await call('check_files', {path: '.', mode: 'program'})
    assert.deepEqual(
      (program.findings as typeof findings).map(({path}) => path),
      ['app/note.svc'],
    )
    const scan = await call('check_files', {path: 'src/a.ts', mode: 'scan'})
    assert.deepEqual([scan.files_scanned, scan.findings], [1, [findings[1]]])
    assert.equal((await call('check_files', {path: 'src/ok.ts'})).ok, true)
  })

  it('rejects paths outside of the workspace and missing ones', async (t) => {
    const {call} = await workspace(t)
    await assert.rejects(call('check_files', {path: '../x'}), {code: 'path_denied'})
    await assert.rejects(call('check_files', {path: 'nothing.ts'}), {code: 'file_not_found'})
  })
})

describe('ai.review', () => {
  it('sends the file and the change to the model', async (t) => {
    const {call, server} = await workspace(t, ['Line 1: a bad name.'], {'src/a.ts': 'const x = 1\n'})
    const answer = await call('review_file', {path: 'src/a.ts', diff: '-const y\n+const x\n'})
    assert.deepEqual(answer, {review: 'Line 1: a bad name.', model: 'run-a'})
    const prompt = server.calls[0]?.messages.at(-1)?.content ?? ''
    for (const part of ['src/a.ts', 'const x = 1', '+const x']) assert.ok(prompt.includes(part), part)
  })

  it('rejects files outside of the workspace, and files that are not text', async (t) => {
    const {call, server} = await workspace(t, [], {'a.bin': 'a\0b'})
    await assert.rejects(call('review_file', {path: '/etc/passwd'}), {code: 'path_denied'})
    await assert.rejects(call('review_file', {path: 'a.bin'}), {code: 'file_unreadable'})
    assert.equal(server.calls.length, 0)
  })
})

describe('ai.fix', () => {
  it('returns a fix without writing it', async (t) => {
    const {call, read, server} = await workspace(t, [inFence(right)], {'note.svc': wrong})
    const answer = await call('fix_file', {path: 'note.svc', error: 'It does not build.'})
    assert.deepEqual(answer, {
      path: 'note.svc',
      fixed: true,
      written: false,
      content: right,
      findings: [],
      model: 'run-a',
    })
    assert.equal(await read('note.svc'), wrong)
    assert.match(server.calls[0]?.messages.at(-1)?.content ?? '', /It does not build\.\nline 1: /)
  })

  it('writes a fix without errors if it is asked to', async (t) => {
    const {call, read} = await workspace(t, [inFence(right)], {'note.svc': wrong})
    const {written} = await call('fix_file', {path: 'note.svc', write: true})
    assert.deepEqual([written, await read('note.svc')], [true, right])
  })

  it('does not write a fix with errors', async (t) => {
    const {call, read} = await workspace(t, [inFence('@table type Note { title: text }\n')], {'note.svc': wrong})
    const {fixed, written, findings} = await call('fix_file', {path: 'note.svc', write: true})
    assert.deepEqual([fixed, written, (findings as object[]).length], [false, false, 1])
    assert.equal(await read('note.svc'), wrong)
  })

  it('rejects an answer that is not one complete file, and files outside of the workspace', async (t) => {
    const {call, read, root} = await workspace(t, ['Just rename it.'], {'note.svc': wrong})
    await assert.rejects(call('fix_file', {path: 'note.svc', write: true}), {code: 'fix_unusable'})
    await symlink('/etc', join(root, 'etc'))
    for (const path of ['../note.svc', '/etc/passwd', 'etc/passwd', '.svc/store.db'])
      await assert.rejects(call('fix_file', {path, write: true}), {code: 'path_denied'}, path)
    assert.equal(await read('note.svc'), wrong)
  })
})

describe('ai.generate', () => {
  it('returns the text of the configured model and records the call', async (t) => {
    const {call, server, decisions} = await workspace(t, ['Two.', '{"n": 2}'])
    assert.deepEqual(await call('generate_text', {prompt: 'Name a prime.'}), {text: 'Two.', model: 'run-a'})
    await call('generate_text', {prompt: 'Name a prime.', mode: 'json'})
    assert.deepEqual(
      server.calls.map(({messages, format}) => [messages.length, format]),
      [
        [1, undefined],
        [1, 'json'],
      ],
    )
    assert.equal(decisions()[0]?.surface, 'generate_text')
  })

  it('rejects a blank prompt and an empty answer', async (t) => {
    const {call} = await workspace(t, [' '])
    await assert.rejects(call('generate_text', {prompt: ' '}), {code: 'params_invalid'})
    await assert.rejects(call('generate_text', {prompt: 'Well?'}), {code: 'answer_empty'})
  })
})

describe('config.get', () => {
  it('returns one setting or all, with the current values of the files and without secrets', async (t) => {
    const {call, root, orchestrator, context} = await workspace(t)
    assert.deepEqual(await call('config_get', {key: 'orchestrator.max_agents'}), {
      repository_id: orchestrator.repositoryId,
      settings: {'orchestrator.max_agents': 8},
    })
    await writeFiles(root, {'Svc.toml': '[orchestrator]\nmax_agents = 3\n'})
    const env = {...context.sources.env, SVC_INFERENCE_API_KEY: 'key-1'}
    const {settings} = await call('config_get', {}, {...context, sources: {...context.sources, env}})
    assert.equal(settings['orchestrator.max_agents'], 3)
    assert.equal(settings['inference.api_key'], '(set)')
    assert.ok(!JSON.stringify(settings).includes('key-1'))
  })

  it('suggests the nearest name for an unknown one', async (t) => {
    const {call} = await workspace(t)
    await assert.rejects(call('config_get', {key: 'orchestrator.max_agnets'}), (error: Error) => {
      assert.match(error.message, /Unknown setting orchestrator\.max_agnets\. Did you mean orchestrator\.max_agents\?/)
      return true
    })
  })
})
