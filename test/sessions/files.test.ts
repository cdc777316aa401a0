import assert from 'node:assert/strict'
import {appendFileSync, existsSync, readFileSync, truncateSync, writeFileSync} from 'node:fs'
import {readdir, stat} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {execa} from 'execa'
import {isErrorOf, type SvcError} from '../../src/errors/index.js'
import {fileJournal} from '../../src/sessions/file-journal.js'
import {Sessions, type SessionsOptions} from '../../src/sessions/sessions.js'
import {resolveOrchestratorConfig} from '../../src/workspace/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const start = 1_764_000_000
const {compaction} = resolveOrchestratorConfig({env: {}}).config
const repository = '4be1c0d2a9f03377'
const options = {
  maxSessions: 16,
  compaction,
  idleTimeoutSecs: 1800,
  archiveTimeoutSecs: 86_400,
  now: () => start * 1000,
  random: Math.random,
}
const sessionsIn = (folder: string, other: Partial<SessionsOptions> = {}) =>
  new Sessions({...options, journal: fileJournal(folder, repository), ...other})

async function workspace(test: TestContext) {
  const folder = join(await temporaryFolder(test), '.svc', 'sessions')
  const sessions = sessionsIn(folder)
  return {folder, sessions, fileOf: (id: string) => join(folder, repository, `${id}.jsonl`)}
}

const turn = (content: string) => ({role: 'user', content, tokens: 2})
const contents = (sessions: Sessions, id: string) => sessions.load(id).turns.map(({content}) => content)
const lines = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')

describe('the file of a session', () => {
  it('has one event per line', async (t) => {
    const {sessions, fileOf} = await workspace(t)
    const {id} = sessions.create('agent-1')
    sessions.addTurn(id, turn('hello\nworld'))
    sessions.setPluginState(id, 'planner', {step: 3})
    assert.deepEqual(
      readFileSync(fileOf(id), 'utf8'),
      [
        `{"event":"created","session_id":"${id}","agent_id":"agent-1","tenant_id":null,"created_at":${start}}\n`,
        `{"event":"turn_added","role":"user","content":"hello\\nworld","tokens":2,"at":${start}}\n`,
        `{"event":"plugin_state_updated","plugin_id":"planner","state":{"step":3},"at":${start}}\n`,
      ].join(''),
    )
  })

  it('and its folders are accessible only to the owner', async (t) => {
    const {sessions, folder, fileOf} = await workspace(t)
    const {id} = sessions.create('agent-1')
    const mode = async (path: string) => (await stat(path)).mode & 0o777
    assert.equal(await mode(fileOf(id)), 0o600)
    for (const path of [dirname(fileOf(id)), folder, dirname(folder)]) assert.equal(await mode(path), 0o700, path)
  })

  it('is deleted when the session is cleaned up', async (t) => {
    const {sessions, fileOf} = await workspace(t)
    const {id} = sessions.create('agent-1')
    sessions.tick((start + 90_000) * 1000)
    assert.ok(existsSync(fileOf(id)))
    assert.deepEqual(sessions.cleanup(), [id])
    assert.ok(!existsSync(fileOf(id)))
  })

  it('and its folder are created with the first session', async (t) => {
    const {sessions, folder} = await workspace(t)
    assert.deepEqual(sessions.list(), [])
    assert.deepEqual(sessions.tick(), [])
    assert.ok(!existsSync(folder))
  })
})

describe('a file whose writer died during a write', () => {
  const torn = '{"event":"turn_added","role":"user","content":"never fini'

  it('has its incomplete last line ignored', async (t) => {
    const {sessions, folder, fileOf} = await workspace(t)
    const {id} = sessions.create('agent-1')
    sessions.addTurn(id, turn('hello'))
    appendFileSync(fileOf(id), torn)
    assert.deepEqual(contents(sessions, id), ['hello'])
    assert.deepEqual(contents(sessionsIn(folder), id), ['hello'])
  })

  it('has its incomplete last line replaced by the next event', async (t) => {
    const {sessions, folder, fileOf} = await workspace(t)
    const {id} = sessions.create('agent-1')
    for (const length of [1, 2, 20, torn.length]) {
      appendFileSync(fileOf(id), torn.slice(0, length))
      sessions.addTurn(id, turn(`after ${length}`))
    }
    const expected = ['after 1', 'after 2', 'after 20', `after ${torn.length}`]
    assert.deepEqual(contents(sessions, id), expected)
    assert.deepEqual(contents(sessionsIn(folder), id), expected)
    assert.ok(!readFileSync(fileOf(id), 'utf8').includes('never'), 'the incomplete line is gone')
    assert.equal(lines(fileOf(id)).length, 5)
  })

  it('can end within a UTF-8 character', async (t) => {
    const {sessions, folder, fileOf} = await workspace(t)
    const {id} = sessions.create('agent-1')
    sessions.addTurn(id, turn('grün'))
    sessions.addTurn(id, turn('blau und grün'))
    const bytes = readFileSync(fileOf(id))
    truncateSync(fileOf(id), bytes.lastIndexOf(0xc3) + 1)
    assert.deepEqual(contents(sessions, id), ['grün'])
    sessionsIn(folder).addTurn(id, turn('größer'))
    assert.deepEqual(contents(sessions, id), ['grün', 'größer'])
  })

  it('is not a session without a complete first event', async (t) => {
    const {sessions, folder, fileOf} = await workspace(t)
    const id = 'sess_692482c0_1_0000'
    for (const content of ['', '{"event":"crea']) {
      await writeFiles(folder, {[join(repository, `${id}.jsonl`)]: content})
      assert.throws(
        () => sessions.load(id),
        (error) => isErrorOf(error, 'session_not_found'),
      )
      assert.deepEqual(sessions.list(), [])
    }
    const unlucky = sessionsIn(folder, {now: () => 0x692482c0 * 1000, random: () => 0})
    assert.equal(unlucky.create('agent-1').id, 'sess_692482c0_2_0000')
    assert.equal(readFileSync(fileOf(id), 'utf8'), '{"event":"crea')
  })
})

describe('a file changed by another program', () => {
  const events = (id: string) =>
    `{"event":"created","session_id":"${id}","agent_id":"a","tenant_id":null,"created_at":1}\n{"event":"reset","at":2}\n`

  const wrong: readonly [string, (id: string) => string, RegExp][] = [
    [
      'a line that is not JSON',
      (id) => `${events(id)}oops\n{"event":"reset","at":3}\n`,
      /line 3 of .*\.jsonl is not a valid event/,
    ],
    ['an unknown event', (id) => `${events(id)}{"event":"renamed","at":3}\n`, /line 3 of .* is not a valid event/],
    [
      'an event named like an inherited property',
      (id) => `${events(id)}{"event":"toString","at":3}\n`,
      /line 3 of .* is not a valid event/,
    ],
    [
      'an event with missing members',
      (id) => `${events(id)}\n{"event":"compacted","at":3}\n`,
      /line 4 of .* is not a valid event/,
    ],
    [
      'a negative token count',
      (id) => `${events(id)}{"event":"turn_added","role":"user","content":"","tokens":-1,"at":3}\n`,
      /line 3/,
    ],
    ['no created event', () => '{"event":"reset","at":2}\n', /it has no created event/],
    ['the events of another session', () => events('sess_9_9_9999'), /its events belong to sess_9_9_9999/],
  ]
  for (const [what, content, message] of wrong)
    it(`is reported as damaged if it has ${what}, without affecting other sessions`, async (t) => {
      const {sessions, folder} = await workspace(t)
      const id = 'sess_1_1_0000'
      const sound = sessions.create('agent-1')
      await writeFiles(folder, {[join(repository, `${id}.jsonl`)]: content(id)})
      const isDamage = (error: SvcError) => isErrorOf(error, 'session_damaged') && message.test(error.message)
      assert.throws(() => sessions.load(id), isDamage)
      assert.throws(() => sessions.addTurn(id, turn('hello')), isDamage)
      assert.deepEqual(sessions.list(), [sound])
      assert.equal(sessions.tick((start + 2000) * 1000).length, 1)
      sessions.create('agent-2')
    })

  it('is read again from the start if it was replaced', async (t) => {
    const {sessions, fileOf} = await workspace(t)
    const {id} = sessions.create('agent-1')
    const early = readFileSync(fileOf(id))
    sessions.addTurn(id, turn('hello'))
    sessions.addTurn(id, turn('world'))
    writeFileSync(fileOf(id), early)
    assert.deepEqual(contents(sessions, id), [])
    sessions.addTurn(id, turn('new'))
    assert.deepEqual(contents(sessions, id), ['new'])
  })
})

describe('an invalid session id', () => {
  it('never refers to a file outside the folder', async (t) => {
    const {sessions, folder} = await workspace(t)
    const {id} = sessions.create('agent-1')
    await writeFiles(folder, {'outside.jsonl': 'untouched\n', [join('other', `${id}.jsonl`)]: 'untouched\n'})
    const journal = fileJournal(folder, repository)
    const hostile = [
      '../outside',
      `../other/${id}`,
      `${id}/../../outside`,
      join(folder, 'outside'),
      `${id}\0`,
      `${id}\n`,
      '..',
      '.',
      '',
      'sess_1_1/../../outside',
      'sess_%2e%2e_1',
      'sess_1_1_0000.jsonl',
      'sess_1_00000000000000000',
    ]
    const isNotFound = (error: unknown) => isErrorOf(error, 'session_not_found')
    for (const bad of hostile) {
      assert.throws(() => sessions.load(bad), isNotFound, bad)
      assert.throws(() => sessions.addTurn(bad, turn('x')), isNotFound, bad)
      assert.equal(journal.load(bad), undefined, bad)
      const event = {event: 'reset', at: 1} as const
      assert.throws(() => journal.open(bad, event, sessions.load(id)), isNotFound, bad)
      assert.throws(() => journal.append(bad, event, sessions.load(id)), isNotFound, bad)
      assert.throws(() => journal.remove(bad, 1), isNotFound, bad)
    }
    assert.equal(readFileSync(join(folder, 'outside.jsonl'), 'utf8'), 'untouched\n')
    assert.equal(readFileSync(join(folder, 'other', `${id}.jsonl`), 'utf8'), 'untouched\n')
    assert.deepEqual(await readdir(join(folder, repository)), [`${id}.jsonl`])
  })

  it('is rejected, and so is a repository id that is not a folder name', () => {
    for (const bad of ['', '.', '..', '../x', 'a/b', 'a\0', 'a\\b', '.hidden'])
      assert.throws(
        () => fileJournal('/nowhere', bad),
        (error) => isErrorOf(error, 'usage'),
        bad,
      )
  })

  it('in a file name is ignored', async (t) => {
    const {sessions, folder} = await workspace(t)
    const {id} = sessions.create('agent-1')
    await writeFiles(join(folder, repository), {'notes.txt': '', 'sess_1_1.jsonl.bak': '', '.jsonl': '', 'a.jsonl': ''})
    assert.deepEqual(
      sessions.list().map((session) => session.id),
      [id],
    )
  })
})

describe('two concurrent processes', () => {
  const modules = new URL('../../src/sessions/', import.meta.url).href

  /** Runs a script with the sessions of a folder in a child process. */
  const elsewhere = (folder: string, script: string) =>
    execa(process.execPath, [
      '--input-type=module',
      '--eval',
      `const {Sessions} = await import('${modules}sessions.js')
       const {fileJournal} = await import('${modules}file-journal.js')
       const sessions = new Sessions({
         journal: fileJournal(${JSON.stringify(folder)}, '${repository}'),
         maxSessions: 1000, compaction: {strategy: 'off'}, idleTimeoutSecs: 0, archiveTimeoutSecs: 0, now: Date.now, random: Math.random,
       })
       ${script}`,
    ])

  it('can write to the same session without losing or mixing events', async (t) => {
    const {sessions, folder, fileOf} = await workspace(t)
    const {id} = sessions.create('agent-1')
    const writer = (name: string) =>
      elsewhere(
        folder,
        `for (let i = 0; i < 150; i++)
           sessions.addTurn('${id}', {role: '${name}', content: i + ' ' + 'ü'.repeat(i % 10 === 0 ? 40000 : 40), tokens: 1})
         process.stdout.write(JSON.stringify(sessions.load('${id}').turns.filter(({role}) => role === '${name}').length))`,
      )
    const seen = await Promise.all(['one', 'other'].map(writer))
    assert.deepEqual(
      seen.map(({stdout}) => stdout),
      ['150', '150'],
    )
    const session = sessions.load(id)
    assert.equal(session.turn_count, 300)
    assert.equal(session.total_tokens, 300)
    for (const name of ['one', 'other']) {
      const numbers = session.turns.filter(({role}) => role === name).map(({content}) => Number.parseInt(content, 10))
      assert.deepEqual(numbers, [...Array(150).keys()], name)
    }
    assert.equal(lines(fileOf(id)).length, 301)
  })

  it('both write their events after an incomplete line', async (t) => {
    const {sessions, folder, fileOf} = await workspace(t)
    for (let round = 0; round < 3; round++) {
      const {id} = sessions.create('agent-1')
      appendFileSync(fileOf(id), '{"event":"turn_added","role":"us')
      const writer = (name: string) =>
        elsewhere(folder, `sessions.addTurn('${id}', {role: 'user', content: '${name}', tokens: 1})`)
      await Promise.all(['one', 'other'].map(writer))
      assert.deepEqual(contents(sessions, id).sort(), ['one', 'other'])
    }
  })

  it('create sessions with distinct ids', async (t) => {
    const {sessions, folder} = await workspace(t)
    const writer = (name: string) =>
      elsewhere(
        folder,
        `process.stdout.write(JSON.stringify(Array.from({length: 40}, () => sessions.create('${name}').id)))`,
      )
    const made = await Promise.all(['one', 'other'].map(writer))
    const ids = made.flatMap(({stdout}) => JSON.parse(stdout) as string[])
    assert.equal(new Set(ids).size, 80)
    assert.equal(sessions.list().filter(({agent_id}) => agent_id === 'one').length, 40)
    assert.equal(sessions.list().filter(({agent_id}) => agent_id === 'other').length, 40)
  })
})
