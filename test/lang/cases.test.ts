import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {pathToFileURL} from 'node:url'
import {execa} from 'execa'
import {startAppServer} from '../../src/app-server/index.js'
import {asJson, checkProgram, ddl, explain, Lines, migrate} from '../../src/lang/index.js'
import {type CaseRequest, type LangCase, readCases, stubbedSpeech} from '../support/lang-case.js'
import {projectFile} from '../support/project.js'
import {Driver, readDatabase} from '../support/sqlite.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder} from '../support/temporary.js'

const shared = projectFile('../shared/cases/data-language')

interface CheckOutput {
  diagnostics: {
    error_code: string
    severity: string
    span: {start_line: number; start_col: number}
    missing_cases: string[]
    expected_type: string | null
    found_type: string | null
  }[]
}

/** An interface through which a case is tested. */
interface Face {
  check(one: LangCase): Promise<CheckOutput & {exitCode: number | undefined}>
  ddl(one: LangCase): Promise<unknown>
  explain(one: LangCase): Promise<{plans: {plan: object}[]}>
}

const command = async (...args: string[]) => {
  const {stdout, exitCode} = await svcInTurn([...args, '--json'])
  return {result: JSON.parse(stdout), exitCode}
}

const byCommand: Face = {
  async check({path}) {
    const {result, exitCode} = await command('db', 'check', path)
    return {...result, exitCode}
  },
  ddl: async ({path}) => (await command('db', 'ddl', path)).result,
  explain: async ({path}) => (await command('db', 'explain', path, '--all')).result,
}

/** A value after a JSON round trip. */
const printed = (value: object) => JSON.parse(JSON.stringify(value))

const byCall: Face = {
  async check({path, source}) {
    const {diagnostics, hasErrors} = checkProgram(source)
    const lines = new Lines(source)
    return {diagnostics: printed(diagnostics.map((found) => asJson(found, path, lines))), exitCode: hasErrors ? 1 : 0}
  },
  ddl: async ({source}) => printed(ddl(checkProgram(source))),
  explain: async ({source}) => printed({plans: explain(checkProgram(source), {query: undefined, all: true})}),
}

async function checkDiagnostics(face: Face, one: LangCase): Promise<void> {
  const {expect} = one
  const {diagnostics, exitCode} = await face.check(one)
  const found = diagnostics.map(({error_code: code, severity, span}) => ({
    code,
    severity,
    line: span.start_line,
    col: span.start_col,
  }))
  const expected = expect.diagnostics.map(({code, severity, line, col}) => ({code, severity, line, col}))
  assert.deepEqual(found, expected)
  for (const [i, {missing, expected_type: expected, found_type: type}] of expect.diagnostics.entries()) {
    const diagnostic = diagnostics[i] as CheckOutput['diagnostics'][number]
    if (missing !== undefined) assert.deepEqual(diagnostic.missing_cases, missing)
    if (expected !== undefined) assert.equal(diagnostic.expected_type, expected)
    if (type !== undefined) assert.equal(diagnostic.found_type, type)
  }
  assert.equal(exitCode, expect.exit_code)
}

async function checkPlans(face: Face, one: LangCase): Promise<void> {
  const {plans} = await face.explain(one)
  assert.deepEqual(
    plans.map(({plan}) => plan),
    one.expect.plans,
  )
}

async function checkHttp(t: TestContext, {source, expect}: LangCase): Promise<void> {
  const program = checkProgram(source)
  const path = join(await temporaryFolder(t), 'app.db')
  await migrate(program, path)
  const ports = expect.speech_stub === undefined ? {} : {transcribe: stubbedSpeech(expect.speech_stub)}
  const server = await startAppServer(program, {address: {host: '127.0.0.1', port: 0}, path, ports, title: 'case'})
  t.after(() => server.close(1000))
  for (const request of expect.http ?? []) await checkRequest(server.baseUrl, request)
  if (expect.routes !== undefined)
    assert.deepEqual(
      server.routes.map(({method, path: route}) => [method, route]),
      expect.routes,
    )
  if (expect.change_log !== undefined) {
    const changes = 'SELECT topic, entity_kind, entity_id, change_kind FROM codex_change_log ORDER BY id'
    const rows = readDatabase(path, (database) => database.prepare(changes).raw().all())
    assert.deepEqual(rows, expect.change_log)
  }
}

async function checkRequest(baseUrl: string, {request, body, status, json, match}: CaseRequest): Promise<void> {
  const [method = '', path = ''] = request.split(' ')
  const response = await fetch(baseUrl + path, {
    method,
    ...(body === undefined ? {} : {body, headers: {'content-type': 'application/json'}}),
  })
  const text = await response.text()
  assert.equal(response.status, status, `${request}: ${text}`)
  if (json === undefined) return assert.equal(text, '')
  const found = JSON.parse(text) as {code?: string; details?: unknown}
  if (match === undefined) return assert.deepEqual(found, json, request)
  const {code, details} = json as {code: string; details?: unknown}
  assert.deepEqual({code: found.code, details: found.details}, {code, details}, request)
}

async function checkFiles(t: TestContext, {path, expect}: LangCase): Promise<void> {
  const folder = await temporaryFolder(t)
  assert.equal((await svcInTurn(['db', 'build', path, '-o', folder])).exitCode, 0)
  const read = (name: string) => readFile(join(folder, name), 'utf8')
  if (expect.runtime_projection !== undefined)
    assert.deepEqual(JSON.parse(await read('runtime-projection.json')), expect.runtime_projection)
  for (const [name, texts] of Object.entries(expect.client ?? {})) {
    const text = await read(name)
    for (const part of texts) assert.ok(text.includes(part), `${name} holds ${part}`)
  }
  if (expect.typescript === undefined) return
  const {file, must_contain: parts, must_throw_when_called: name} = expect.typescript
  const text = await read(file)
  for (const part of parts) assert.ok(text.includes(part), `${file} holds ${part}`)
  await writeFile(join(folder, 'package.json'), '{"type": "module"}')
  await writeFile(
    join(folder, 'tsconfig.json'),
    '{"compilerOptions": {"strict": true, "target": "es2023", "module": "nodenext", "outDir": "out", "types": []}}',
  )
  await execa(process.execPath, [projectFile('node_modules/typescript/bin/tsc'), '-p', folder])
  const built = (await import(pathToFileURL(join(folder, 'out', file.replace(/ts$/, 'js'))).href)) as Record<
    string,
    (path: string) => unknown
  >
  assert.throws(() => built[name]?.('a.wav'), /POST \/api\/audio\/transcribe/)
}

async function checkMigration(t: TestContext, {path, expect}: LangCase, withRows: boolean): Promise<void> {
  const db = join(await temporaryFolder(t), 'app.db')
  await migrate(checkProgram(expect.previous_source ?? ''), db)
  if (withRows) {
    const database = new Driver(db)
    database.exec(`INSERT INTO task (title, done, owner) VALUES ('a', 0, 'Ann')`)
    database.close()
  }
  const {stdout, exitCode} = await svcInTurn(['db', 'migrate', path, '--db', db, '--dry-run', '--json'])
  const {steps} = JSON.parse(stdout) as {steps: object[]}
  if (withRows) {
    const {changed_step: expectedStep, exit_code: exit} = expect.when_task_has_rows as NonNullable<
      typeof expect.when_task_has_rows
    >
    assert.ok(
      steps.some((step) => holds(step, expectedStep)),
      JSON.stringify(steps),
    )
    assert.equal(exitCode, exit)
    return
  }
  const {migration_plan: expectedSteps, exit_code: exit} = expect.when_task_is_empty as NonNullable<
    typeof expect.when_task_is_empty
  >
  assert.equal(steps.length, expectedSteps.length)
  for (const [i, step] of expectedSteps.entries())
    assert.ok(holds(steps[i] ?? {}, step), `${JSON.stringify(steps[i])} holds ${JSON.stringify(step)}`)
  assert.equal(exitCode, exit)
}

const holds = (found: object, expected: object) =>
  Object.entries(expected).every(([key, value]) => (found as Record<string, unknown>)[key] === value)

function runCase(face: Face, one: LangCase): void {
  const {name, path, expect} = one
  describe(name, () => {
    it('reports the expected diagnostics', () => checkDiagnostics(face, one))
    if (expect.ddl !== undefined)
      it('generates the expected DDL', async () => assert.deepEqual(await face.ddl(one), expect.ddl))
    if (expect.plans !== undefined) it('generates the expected plans', () => checkPlans(face, one))
    if (expect.http !== undefined) it('returns the expected HTTP responses', (t) => checkHttp(t, one))
    if (expect.runtime_projection ?? expect.client ?? expect.typescript)
      it('generates the expected files', (t) => checkFiles(t, one))
    if (expect.tests !== undefined)
      it('runs its tests', async () => {
        const {tests} = (await command('db', 'test', path)).result as {tests: {name: string; status: string}[]}
        assert.deepEqual(
          tests.map(({name: test, status}) => ({name: test, status})),
          expect.tests,
        )
      })
    if (expect.when_task_is_empty !== undefined)
      it('plans a migration of empty tables', (t) => checkMigration(t, one, false))
    if (expect.when_task_has_rows !== undefined)
      it('plans a migration of tables with rows', (t) => checkMigration(t, one, true))
  })
}

describe('the acceptance cases', {
  skip: existsSync(shared) ? false : 'needs shared/cases/data-language beside the project',
  concurrency: 3,
}, () => {
  if (existsSync(shared)) for (const one of readCases(shared)) runCase(byCall, one)
})

describe('the cases of the project', {concurrency: 3}, () => {
  for (const one of readCases(projectFile('test/fixtures/lang'))) runCase(byCommand, one)
})
