import assert from 'node:assert/strict'
import {chmod, mkdir, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import type {OrchTaskV1} from '../../src/contracts/index.js'
import {orchUnder} from '../support/orch.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {needsRoot, otherUser} from '../tasks/hidden/hidden-workspace.js'

const settings = (user = '') => `${user === '' ? '' : `[orchestrator.exec]\nuser = "${user}"\n`}
[[orchestrator.harness.hidden_checks]]
command = ["sh", "{files}/grade-secretly.sh"]
files = ["FOLDER/grade-secretly.sh"]
`

/** A person whose settings name a hidden check, and a worker with a home of its own. */
async function world(t: TestContext, {toml = '', user = ''} = {}) {
  const orch = await orchUnder(t, {toml: `[orchestrator]\ndefault_processor = "external"\n${toml}`})
  const person = await temporaryFolder(t)
  await writeFiles(person, {'grade-secretly.sh': 'echo the answer is 42; grep -qx 42 answer.txt\n'})
  await writeFiles(person, {'.svc/config.toml': settings(user).replace('FOLDER', person)})
  const worker = {HOME: await temporaryFolder(t)}
  const call = async (env: Readonly<Record<string, string>>, ...args: string[]) => {
    const {stdout, stderr, exitCode} = await orch.run(args, env)
    return {text: stdout + stderr, exitCode}
  }
  return {
    ...orch,
    person,
    asPerson: (...args: string[]) => call({HOME: person}, ...args),
    asWorker: (...args: string[]) => call(worker, ...args),
    startDaemon: () => orch.daemon({HOME: person}),
  }
}

/** The bytes of all files below a folder. */
async function contentOf(folder: string): Promise<string> {
  const names = await readdir(folder, {recursive: true})
  const contents = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name)
      return (await stat(path)).isFile() ? await readFile(path, 'latin1') : ''
    }),
  )
  return contents.join('\n')
}

describe('a task that a client completes in a workspace with a hidden check', () => {
  it('is refused until the check passes, and the check is named nowhere', async (t) => {
    const {cwd, person, asPerson, asWorker, startDaemon} = await world(t)
    const daemon = await startDaemon()
    await asWorker('orch', 'submit', 'Write the answer to answer.txt', '--file', 'answer.txt')
    const shown: string[] = []
    const complete = async (claim: string, answer: string) => {
      shown.push((await asWorker('orch', 'claim', '--as', 'ann')).text)
      await writeFile(join(cwd, 'answer.txt'), answer)
      const reply = await asWorker('orch', 'complete', '1', '--claim', claim, '--summary', 'The answer is in the file.')
      shown.push(reply.text)
      return reply
    }
    const refused = await complete('1', '41\n')
    assert.equal(refused.exitCode, 1, refused.text)
    assert.match(refused.text, /hidden: fail\n {4}error: A hidden check failed\. \(hidden\/failed\)\n/)
    for (const args of [
      'orch task 1 --json',
      'orch task 1 --evidence --json',
      'orch tasks -o wide',
      'orch events --json',
      'orch explain 1',
      'orch config --json',
      'daemon call orch.get_task {"task_id":1,"evidence":true}',
      'daemon call orch.status',
      'mcp call svc_get_task {"task_id":1,"evidence":true}',
    ])
      shown.push((await asWorker(...args.split(' '))).text)
    shown.push((await asPerson('config', 'show', '--json')).text, (await asPerson('orch', 'config', '--json')).text)
    assert.match(shown.at(-1) ?? '', /"orchestrator\.harness\.hidden_checks",\s*"value":\s*"\(set\)"/)
    shown.push(await contentOf(cwd))
    const log = join(person, '.svc/hidden-checks.log')
    const [line = ''] = (await readFile(log, 'utf8')).split('\n')
    const {task_id, passed, results} = JSON.parse(line)
    assert.deepEqual(
      [task_id, passed, results],
      [1, false, [{position: 1, passed: false, reason: 'it exited with status 1', output: 'the answer is 42\n'}]],
    )
    assert.equal((await stat(log)).mode & 0o777, 0o600)
    assert.equal((await complete('3', '42\n')).exitCode, 0)
    shown.push(await contentOf(cwd))
    for (const text of shown)
      assert.doesNotMatch(text.replaceAll(join(person, '.svc'), ''), /grade-secretly|the answer is 42/)
    for (const text of shown) assert.ok(!text.includes(`${person}/grade`))
    await daemon.stop()
  })

  it('cannot be claimed or completed without the daemon', async (t) => {
    const {asPerson, asWorker, startDaemon} = await world(t)
    await asWorker('orch', 'submit', 'Write the answer')
    const unknown = await asPerson('orch', 'claim', '--as', 'ann')
    assert.deepEqual([unknown.exitCode, /\(hidden_checks_unread\)/.test(unknown.text)], [5, true], unknown.text)
    const daemon = await startDaemon()
    assert.equal((await asWorker('orch', 'claim', '--as', 'ann')).exitCode, 0)
    await daemon.stop()
    for (const args of ['claim --as ann', 'complete 1 --claim 1 --summary Done']) {
      const {exitCode, text} = await asWorker('orch', ...args.split(' '))
      assert.deepEqual([exitCode, /and it is not running\. \(hidden_checks_unread\)/.test(text)], [5, true], text)
    }
  })

  it('is not judged by a check that was removed from the settings', async (t) => {
    const {person, asPerson, asWorker, startDaemon} = await world(t)
    await asWorker('orch', 'submit', 'Write the answer')
    const daemon = await startDaemon()
    await asWorker('orch', 'claim', '--as', 'ann')
    await writeFile(join(person, '.svc/config.toml'), '')
    assert.equal((await asPerson('daemon', 'call', 'orch.reload_config')).exitCode, 0)
    await daemon.told('config_reloaded')
    const completed = await asWorker('orch', 'complete', '1', '--claim', '1', '--summary', 'Done')
    assert.equal(completed.exitCode, 0, completed.text)
    await daemon.stop()
  })

  it('is judged by the checks as they were before a reload that fails', async (t) => {
    const {person, asPerson, asWorker, startDaemon} = await world(t)
    await asWorker('orch', 'submit', 'Write the answer')
    const daemon = await startDaemon()
    await asWorker('orch', 'claim', '--as', 'ann')
    await rm(join(person, 'grade-secretly.sh'))
    const reload = await asWorker('daemon', 'call', 'orch.reload_config')
    assert.match(reload.text, /Hidden check 1 of .* cannot be used: its file 1 does not exist/)
    const start = await asPerson('daemon', 'run')
    assert.match(start.text, /\(hidden_check_unusable\)/)
    const completed = await asWorker('orch', 'complete', '1', '--claim', '1', '--summary', 'Done')
    assert.match(completed.text, /A hidden check failed/)
    await daemon.stop()
  })
})

describe('a command that the daemon runs as another user', {skip: needsRoot}, () => {
  const script = `id -un; env; cat "$1/grade-secretly.sh" "$1/.svc/config.toml" 2>&1; tr '\\0' ' ' < /proc/$PPID/environ 2>&1; echo 41 > answer.txt`

  it('cannot read the hidden check, which judges it', async (t) => {
    const toml = `[orchestrator.exec]\nenabled = true\n[orchestrator.exec.templates]\nwork = ["sh", "work.sh", "{home}"]\n`
    const {cwd, person, asWorker, startDaemon} = await world(t, {toml, user: otherUser})
    await chmod(cwd, 0o777)
    await writeFile(join(cwd, 'work.sh'), script)
    await mkdir(join(cwd, 'made'))
    const daemon = await startDaemon()
    const submit = ['orch', 'submit', 'Work', '--exec', 'work', '--param', `home=${person}`, '--file', 'answer.txt']
    await asWorker(...submit)
    const failed = await daemon.told('task_failed')
    assert.equal(failed.error, 'gate_exhausted:hidden')
    const task = JSON.parse((await asWorker('orch', 'task', '1', '--output', '--json')).text) as OrchTaskV1
    assert.match(task.output?.text ?? '', new RegExp(`^${otherUser}\n`))
    assert.equal((task.output?.text ?? '').match(/denied/gi)?.length, 3)
    assert.doesNotMatch(task.output?.text ?? '', /grep -qx|hidden_checks/)
    await daemon.stop()
  })
})
