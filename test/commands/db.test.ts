import assert from 'node:assert/strict'
import {once} from 'node:events'
import {existsSync} from 'node:fs'
import {copyFile, mkdtemp, readdir, readFile, realpath, rm, stat, symlink} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {createInterface} from 'node:readline'
import {describe, it, type TestContext} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {execa} from 'execa'
import {LineHistory} from '../../src/cli/index.js'
import {
  contractViolations,
  type DbCheckV1,
  type DbExplainV1,
  type DbFilesV1,
  type DbMetricsV1,
  type DbMigrateV1,
  type DbPruneV1,
  type DbResetV1,
  type DbStatusV1,
  type DbTestV1,
  type DbVacuumV1,
  type DbWrittenV1,
} from '../../src/contracts/index.js'
import {Application, checkProgram, migrate} from '../../src/lang/index.js'
import {probeHost, readHost} from '../../src/mesh/index.js'
import {parseCapabilities} from '../../src/workspace/index.js'
import {projectFile} from '../support/project.js'
import {Driver} from '../support/sqlite.js'
import {type SvcOptions, startSvc} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const tasks = `/// Something to be done.
@table type Task { title: str, done: bool, note: Option[str] }
@index Task.by_done on (done)

@endpoint(kind: query)
fn list(done: bool = false) to List[Task] {
    return db.Task.filter({ done: done }).live("tasks").order_by(_id)
}
@endpoint(kind: query)
fn one(id: Id[Task]) to Option[Task] { return db.Task.get(id) }

@endpoint(kind: mutation)
fn add(title: str, note: Option[str]) to Result[Id[Task]] {
    if title is "" { return Error("a task needs a title") }
    return db.Task.insert({ title: title, done: false, note: note })
}
@endpoint(kind: mutation)
fn finish(id: Id[Task]) to Unit { db.Task.update(id, { done: true }) }
@endpoint(kind: server)
fn share(n: int) to int { return 12 / n }

fn shout(text: str) to str { return text.to_upper() }

@test fn an_added_task_is_listed() {
    assert(add("a", None).is_ok())
    assert(len(list()) is 1)
}
@test fn a_task_has_a_title() { assert(add("", None).is_ok(), "it was accepted") }
`
const broken = '@table type Task { title: str }\nfn f() to int { return db.Tsk.count() }\n'
const warned = '@table type Task { title: str }\nfn all() to List[Task] { return db.Task.filter({}) }\n'

/** Creates a folder with files, and returns helpers that run `svc db` in it. */
async function workspace(test: TestContext, files: Record<string, string> = {'src/main.svc': tasks}) {
  const cwd = await realpath(await temporaryFolder(test))
  await writeFiles(cwd, files)
  const database = join(cwd, '.svc/app.db')
  const run = (args: readonly string[], options: SvcOptions = {}) => svcInTurn(['db', ...args], {cwd, ...options})
  return {
    cwd,
    database,
    run,
    /** Runs a command that must succeed. Returns its standard output. */
    async text(...args: string[]) {
      const {stdout, stderr, exitCode} = await run(args)
      assert.equal(exitCode, 0, stderr)
      return stdout
    },
    /** Runs with `--json`. The result must match its contract. */
    async json<T>(contract: string | undefined, args: readonly string[], {exit = 0, input = ''} = {}): Promise<T> {
      const {stdout, stderr, exitCode} = await run([...args, '--json'], {input})
      assert.equal(exitCode, exit, stderr)
      const result = JSON.parse(stdout) as T
      if (contract !== undefined) assert.deepEqual(await contractViolations(contract, result), [])
      return result
    },
    /** Runs a command that must fail without a result. */
    async fails(args: readonly string[], exit: number, message: RegExp, options: SvcOptions = {}) {
      const {stdout, stderr, exitCode} = await run(args, options)
      assert.equal(exitCode, exit, stderr)
      assert.match(stderr, message)
      assert.doesNotMatch(stderr, /\n {4}at /)
      assert.equal(stdout, '')
    },
    rows(sql: string, path = database): unknown[] {
      const opened = new Driver(path)
      try {
        return opened.prepare(sql).all()
      } finally {
        opened.close()
      }
    },
    execute(sql: string, path = database) {
      const opened = new Driver(path)
      opened.exec(sql)
      opened.close()
    },
  }
}

/** Creates a workspace with the migrated, empty database of its program. */
async function prepared(test: TestContext, files?: Record<string, string>) {
  const created = await workspace(test, files)
  await migrate(checkProgram(await readFile(join(created.cwd, 'src/main.svc'), 'utf8')), created.database)
  return created
}

/** Opens a database of the tasks program. */
async function openTasks(path: string) {
  const application = await Application.open(checkProgram(tasks), {path})
  return {
    async call(name: string, ...args: unknown[]) {
      const target = application.program.functions.find((declared) => declared.name === name)
      assert.ok(target)
      await application.call(target, args)
    },
    close: () => application.close(),
  }
}

/** Creates a database with two tasks, once for all workspaces. */
async function makeFilled(): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-'))
  try {
    const path = join(folder, 'app.db')
    await migrate(checkProgram(tasks), path)
    const {call, close} = await openTasks(path)
    await call('add', 'milk', null)
    await call('add', 'bread', 'brown')
    close()
    return await readFile(path)
  } finally {
    await rm(folder, {recursive: true})
  }
}
let filledDatabase: Promise<Uint8Array> | undefined

/** Creates a workspace whose database contains two tasks. */
async function filled(test: TestContext, files?: Record<string, string>) {
  const created = await workspace(test, files)
  filledDatabase ??= makeFilled()
  await writeFiles(created.cwd, {'.svc/app.db': await filledDatabase})
  return created
}

const milk = {_id: 1, title: 'milk', done: false}
const bread = {_id: 2, title: 'bread', done: false, note: 'brown'}
const lines = (text: string): unknown[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

describe('svc db check', {concurrency: 3}, () => {
  it('reports nothing for a valid program', async (t) => {
    const {text, json} = await workspace(t)
    assert.equal(await text('check'), '1 file, 0 errors, 0 warnings\n')
    const result = await json<DbCheckV1>('cli/db-check.v1', ['check', 'src/main.svc'])
    assert.deepEqual(result, {files: 1, errors: 0, warnings: 0, diagnostics: []})
  })

  it('prints all errors with their locations and exits with status 1', async (t) => {
    const {run, json} = await workspace(t, {'a.svc': broken, 'b.svc': tasks, 'c.svc': warned})
    const {stdout, exitCode} = await run(['check', 'a.svc', 'b.svc', 'c.svc'])
    assert.equal(exitCode, 1)
    assert.match(stdout, /^error\[typecheck\.unknown_table\]: .* Did you mean 'Task'\?\n --> a\.svc:2:27\n/)
    assert.match(stdout, /\n3 files, 1 error, 1 warning\n$/)
    const {diagnostics} = await json<DbCheckV1>('cli/db-check.v1', ['check', 'a.svc', 'c.svc'], {exit: 1})
    assert.deepEqual(
      diagnostics.map(({error_code: code, severity, file_path: path, span}) => [code, severity, path, span.start_line]),
      [
        ['typecheck.unknown_table', 'error', 'a.svc', 2],
        ['lint.empty_filter', 'warning', 'c.svc', 2],
      ],
    )
  })

  it('exits with status 1 on a warning with --deny-warnings', async (t) => {
    const {run} = await workspace(t, {'src/main.svc': warned})
    assert.equal((await run(['check'])).exitCode, 0)
    assert.equal((await run(['check', '--deny-warnings'])).exitCode, 1)
  })

  it('reads standard input', async (t) => {
    const {json, run} = await workspace(t, {})
    const {diagnostics} = await json<DbCheckV1>('cli/db-check.v1', ['check', '-'], {exit: 1, input: broken})
    assert.deepEqual([diagnostics.length, diagnostics[0]?.file_path], [1, '<stdin>'])
    assert.equal((await run(['check', '-'], {input: tasks})).exitCode, 0)
  })
})

describe('svc db with --program', {concurrency: 3}, () => {
  /** Arguments that each verb requires, and whether its program can also be an argument. */
  const verbs: Record<string, {args?: string[]; positional?: false}> = {
    build: {args: ['-o', 'made']},
    call: {args: ['list'], positional: false},
    check: {},
    client: {args: ['-o', 'made']},
    ddl: {},
    explain: {},
    export: {},
    fmt: {},
    import: {args: ['-']},
    migrate: {},
    query: {args: ['1'], positional: false},
    reset: {args: ['--yes']},
    sample: {args: ['-t', 'Task']},
    schema: {},
    seed: {args: ['-']},
    serve: {args: ['--port', '0']},
    shell: {positional: false},
    status: {},
    test: {},
    watch: {args: ['tasks']},
  }
  const input = '{}'
  for (const [verb, {args = [], positional = true}] of Object.entries(verbs))
    it(`${verb} reads the program of -p`, async (t) => {
      const {run} = await workspace(t)
      await run(['migrate'])
      const {stderr, exitCode} = await run([verb, ...args, '-p', 'other.svc'], {input: verb === 'import' ? '' : input})
      assert.match(stderr, /other\.svc.* \(program_not_found\)/)
      assert.equal(exitCode, 3)
      if (!positional) return
      const twice = await run([verb, ...args, 'src/main.svc', '-p', 'other.svc'], {
        input: verb === 'import' ? '' : input,
      })
      assert.match(twice.stderr, /argument src\/main\.svc and --program other\.svc name different programs\. \(usage\)/)
      assert.equal(twice.exitCode, 2)
    })

  it('accepts the same file as argument and flag', async (t) => {
    const {run} = await workspace(t, {'other.svc': tasks})
    assert.equal((await run(['check', './other.svc', '--program', 'other.svc'])).exitCode, 0)
    assert.equal((await run(['ddl', './other.svc', '-p', 'other.svc'])).exitCode, 0)
  })
})

describe('svc db ddl, schema and explain', {concurrency: 3}, () => {
  it('print the SQL schema', async (t) => {
    const {text, json, execute, rows, cwd} = await workspace(t)
    const sql = await text('ddl')
    assert.match(sql, /^CREATE TABLE IF NOT EXISTS "task" \(\n.*\n\);\nCREATE INDEX .*;\n$/s)
    execute(sql, join(cwd, 'by-hand.db'))
    assert.deepEqual(rows('SELECT * FROM task', join(cwd, 'by-hand.db')), [])
    const statements = await json<string[]>(undefined, ['ddl', 'src/main.svc'])
    assert.equal(statements.map((each) => `${each}\n`).join(''), sql)
  })

  it('describe tables, indexes and endpoints', async (t) => {
    const {text, json} = await workspace(t)
    const described = await text('schema')
    assert.match(described, /^Task\n {2}title: str\n {2}done: bool\n {2}note: Option\[str\]\n/)
    assert.match(described, /\nmutation +add\(title: str, note: Option\[str\]\) +Result\[Id\[Task\]\]\n/)
    const digest = await json<{tables: {name: string}[]; mutations: {name: string}[]; summary: string}>(undefined, [
      'schema',
    ])
    assert.deepEqual([digest.tables.length, digest.mutations.map(({name}) => name)], [1, ['add', 'finish']])
    assert.equal(digest.summary, '1 table, 1 index, 2 queries, 2 mutations')
  })

  it('show the plans of queries, one function, or all functions', async (t) => {
    const {text, json, run} = await workspace(t)
    const explained = async (...args: string[]) => {
      const result = await json<DbExplainV1>('cli/db-explain.v1', ['explain', ...args])
      assert.deepEqual([result.plan_count, result.query_function_count], [result.plans.length, 2])
      return {filter: result.query_filter, names: result.plans.map(({query_fn: name}) => name), result}
    }
    const queries = await explained()
    assert.deepEqual([queries.filter, queries.names], [null, ['list', 'one']])
    assert.equal(queries.result.file, 'src/main.svc')
    assert.deepEqual((await explained('--all')).names, ['list', 'one', 'add', 'finish'])
    const {filter, names, result} = await explained('--query', 'add')
    assert.deepEqual([filter, names, result.plans[0]?.route_path], ['add', ['add'], '/api/mutation/add'])

    const {stdout} = await run(['explain', '--all', '--jsonl'])
    assert.deepEqual(lines(stdout), (await explained('--all')).result.plans)
    assert.match(
      await text('explain', '--query', 'list'),
      /^list {2}\/api\/query\/list {2}Task\.filter_record {2}\[live tasks\]\n {2}SELECT .* WHERE "done" = \? ORDER BY "_id" ASC\n$/,
    )
  })

  it('report an unknown function', async (t) => {
    const {fails} = await workspace(t)
    await fails(['explain', '--query', 'lst'], 3, /no endpoint lst\. Did you mean list\? \(endpoint_unknown\)/)
  })
})

describe('svc db, missing protection', {concurrency: 3}, () => {
  const open = `@endpoint(kind: query)\n@auth(role: "admin")\nfn secret() to int { return 1 }\n`
  const refused = /src\/main\.svc:2:1: svc does not enforce @auth\. \(endpoint_auth_not_enforced\)/
  const elsewhere: readonly (readonly [source: string, name: string])[] = [
    ['@rule("owner")\n@table type Note { text: str }\n', '@rule'],
    ['@table @requires_role type Note { text: str }\n', '@requires_role'],
    [`${'@pure '.repeat(1100)}\n@auth\n@endpoint(kind: query) fn f() to int { 1 }\n`, '@auth'],
    ['@api.auth.admin\nhttp get "/secret" to int { 1 }\n', '@api.auth.admin'],
  ]

  it('refuses @auth in serve and build, and warns about it in check', async (t) => {
    const {cwd, fails, json} = await workspace(t, {'src/main.svc': open})
    await fails(['serve', '--port', '0'], 2, refused)
    await fails(['build', '-o', 'out'], 2, refused)
    assert.equal(existsSync(join(cwd, 'out')), false)
    const {diagnostics} = await json<DbCheckV1>('cli/db-check.v1', ['check'])
    assert.deepEqual(
      diagnostics.map(({error_code: code, severity}) => [code, severity]),
      [['parse.unsupported_decorator', 'warning']],
    )
  })

  for (const [source, name] of elsewhere)
    it(`refuses ${name} above the declaration`, async (t) => {
      const {fails} = await workspace(t, {'src/main.svc': source})
      await fails(
        ['build', '-o', 'out'],
        2,
        new RegExp(`svc does not enforce ${name}\\. \\(endpoint_auth_not_enforced\\)`),
      )
    })

  it('refuses to listen for other machines without a token', async (t) => {
    const {fails} = await workspace(t)
    const unprotected =
      /Listening on 0\.0\.0\.0 exposes the server to other machines and requires a token in SVC_APP_TOKEN\./
    await fails(['serve', '--host', '0.0.0.0', '--port', '0'], 2, unprotected)
  })
})

describe('svc db build and client', {concurrency: 3}, () => {
  const client = ['types.ts', 'client.ts']
  const all = [
    'schema.sql',
    'plans.json',
    'runtime-projection.json',
    'app-contract.json',
    'openapi.json',
    ...client,
    'functions.ts',
  ]

  it('create the output folder and write their files', async (t) => {
    const {cwd, text, json} = await workspace(t)
    const built = await json<DbFilesV1>('cli/db-files.v1', ['build', '-o', 'out/all'])
    assert.deepEqual(built, {folder: 'out/all', files: all})
    assert.deepEqual((await readdir(join(cwd, 'out/all'))).sort(), ['.svc-generated.json', ...all].sort())
    assert.equal(await text('client', '-o', 'out/web'), client.map((name) => `out/web/${name}\n`).join(''))
    for (const name of client)
      assert.equal(
        await readFile(join(cwd, 'out/web', name), 'utf8'),
        await readFile(join(cwd, 'out/all', name), 'utf8'),
      )
    assert.equal(await readFile(join(cwd, 'out/all/schema.sql'), 'utf8'), await text('ddl'))
    for (const name of all.filter((each) => each.endsWith('.json')))
      assert.equal(typeof JSON.parse(await readFile(join(cwd, 'out/all', name), 'utf8')), 'object', name)
  })

  it('describe the machine in runtime-projection.json only on request', async (t) => {
    const {cwd, run} = await workspace(t)
    const machine = {SVC_MESH_GPU_READINESS_PROBE_OFF: '1', SVC_MESH_ADVERTISE_GPU: '1', HOSTNAME: 'box'}
    const projectionOf = async (requested: string) => {
      const env = {...machine, SVC_RUNTIME_PROJECTION_INCLUDE_HOST_PROBE: requested}
      assert.equal((await run(['build', '-o', 'out', '--overwrite'], {env})).exitCode, 0)
      return JSON.parse(await readFile(join(cwd, 'out/runtime-projection.json'), 'utf8'))
    }
    const plain = await projectionOf('yes')
    assert.deepEqual(Object.keys(plain), ['db_planning_policies', 'schema_version'])
    const {host_capability_probe: probe, ...rest} = await projectionOf('TRUE')
    assert.deepEqual(rest, plain)
    assert.deepEqual(probe, probeHost(machine, readHost()))
    // A task can require these capabilities.
    const {hostname, gpu_cuda} = parseCapabilities(probe)
    assert.deepEqual({hostname, gpu_cuda}, {hostname: 'box', gpu_cuda: true})
  })

  it('generate no client function for a transcription route that is not served', async (t) => {
    const {cwd, run} = await workspace(t, {
      'src/main.svc': 'fn said(path: str) to str { return Speech.transcribe(path).unwrap() }\n',
    })
    assert.equal((await run(['build', '-o', 'out'])).exitCode, 0)
    const code = await readFile(join(cwd, 'out/functions.ts'), 'utf8')
    assert.match(
      code,
      /call an endpoint that uses it, as client\.ts does\. svc db serve has no POST \/api\/audio\/transcribe/,
    )
  })

  it('also write schemas with --zod', async (t) => {
    const {cwd, json} = await workspace(t)
    const {files} = await json<DbFilesV1>('cli/db-files.v1', ['client', '-o', 'out', '--zod'])
    assert.deepEqual(files, [...client, 'schemas.ts'])
    assert.match(await readFile(join(cwd, 'out/schemas.ts'), 'utf8'), /from "zod"/)
  })

  it('require an output folder', async (t) => {
    const {fails, cwd} = await workspace(t)
    await fails(['client'], 2, /Missing flag --output DIR\./)
    assert.deepEqual(await readdir(cwd), ['src'])
  })
})

describe('svc db fmt', {concurrency: 3}, () => {
  const ugly = '@table type Task{title:str}\n\n\nfn f( )to int{\nreturn   1\n}\n'
  const pretty = async () => (await svcInTurn(['db', 'fmt', '-'], {input: ugly})).stdout

  it('formats programs and prints the changed files', async (t) => {
    const {cwd, run, text, json} = await workspace(t, {'src/main.svc': ugly, 'b.svc': ugly})
    assert.deepEqual(await json('cli/db-fmt.v1', ['fmt']), [{file: 'src/main.svc', changed: true}])
    assert.equal(await readFile(join(cwd, 'src/main.svc'), 'utf8'), await pretty())
    assert.notEqual(await pretty(), ugly)
    assert.equal(await text('fmt', 'src/main.svc', 'b.svc'), 'b.svc\n')
    assert.deepEqual(await run(['fmt', '--check', 'src/main.svc', 'b.svc']), {stdout: '', stderr: '', exitCode: 0})
  })

  it('changes nothing with --check, and exits with status 1 if a program is not formatted', async (t) => {
    const {cwd, run, json} = await workspace(t, {'a.svc': ugly})
    const {stdout, exitCode} = await run(['fmt', '--check', 'a.svc'])
    assert.deepEqual([stdout, exitCode], ['a.svc\n', 1])
    await json('cli/db-fmt.v1', ['fmt', '--check', 'a.svc'], {exit: 1})
    assert.equal(await readFile(join(cwd, 'a.svc'), 'utf8'), ugly)
    assert.equal((await run(['fmt', '--check', '-'], {input: ugly})).exitCode, 1)
  })

  it('reads standard input, and keeps formatted programs unchanged', async (t) => {
    const {run} = await workspace(t, {})
    const once = await pretty()
    assert.equal((await run(['fmt', '-'], {input: once})).stdout, once)
    assert.deepEqual(JSON.parse((await run(['fmt', '-', '--json'], {input: ugly})).stdout), {text: once})
  })

  it('does not change a program with syntax errors', async (t) => {
    const torn = '@table type Task { title: str\nfn f() to int { return ( }\n'
    const {cwd, fails} = await workspace(t, {'a.svc': torn})
    await fails(['fmt', 'a.svc'], 1, /^error\[parse\.[\s\S]* --> a\.svc:\d+:\d+[\s\S]*\(program_invalid\)/)
    assert.equal(await readFile(join(cwd, 'a.svc'), 'utf8'), torn)
  })
})

describe('svc db migrate', {concurrency: 3}, () => {
  const next = tasks.replace('title: str,', 'title: str, level: int,').replace('done: false,', 'done: false, level: 1,')

  it('creates the database, and has no steps the second time', async (t) => {
    const {database, text, json} = await workspace(t)
    const printed = await text('migrate')
    assert.match(printed, /^STEP +TARGET +CLASS +BLOCKING +FLAG\ncreate_table +task +auto +- +-\n/)
    assert.match(printed, /\napp\.db: 2 applied, 0 pending\n$/)
    assert.equal(await text('migrate'), `${database} matches the program.\n`)
    const report = await json<DbMigrateV1>('cli/db-migrate.v1', ['migrate'])
    assert.deepEqual(report, {database, up_to_date: true, steps: [], applied: 0, left: 0})
  })

  it('shows the steps with --dry-run and creates no file', async (t) => {
    const {cwd, json} = await workspace(t)
    const report = await json<DbMigrateV1>('cli/db-migrate.v1', ['migrate', '--dry-run'])
    assert.deepEqual([report.steps.length, report.applied, report.left], [2, 0, 2])
    assert.deepEqual(await readdir(cwd), ['src'])
  })

  it('exits with status 3 if a step needs a decision, and shows the flag', async (t) => {
    const {cwd, run, json, rows} = await filled(t, {'src/main.svc': tasks, 'next.svc': next})
    for (const extra of [[], ['--dry-run']]) {
      const {stdout, exitCode} = await run(['migrate', 'next.svc', ...extra])
      assert.equal(exitCode, 3)
      assert.match(stdout, /\nadd_column +task\.level +needs_default +yes +--default Task\.level=0\n/)
    }
    const report = await json<DbMigrateV1>('cli/db-migrate.v1', ['migrate', 'next.svc'], {exit: 3})
    assert.deepEqual([report.applied, report.left], [0, 1])
    assert.deepEqual(await readdir(join(cwd, '.svc')), ['app.db'])
    assert.deepEqual(rows('SELECT * FROM task WHERE _id = 1'), [{_id: 1, title: 'milk', done: 0, note: null}])
  })

  it('applies decisions and prints the path of the backup', async (t) => {
    const {run, rows} = await filled(t)
    const input = next.replace(', note: Option[str] }', ' }').replace(', note: note', '')
    const decisions = ['--default', 'Task.level=3', '--drop', 'Task.note', '--json']
    const {stdout, stderr, exitCode} = await run(['migrate', '-', ...decisions], {input})
    assert.equal(exitCode, 0, stderr)
    const report = JSON.parse(stdout) as DbMigrateV1
    assert.deepEqual(await contractViolations('cli/db-migrate.v1', report), [])
    assert.deepEqual([report.applied, report.left], [2, 0])
    assert.equal(stderr, `Backup before the migration: ${report.backup}\n`)
    assert.deepEqual(rows('SELECT * FROM task'), [
      {_id: 1, title: 'milk', done: 0, level: 3},
      {_id: 2, title: 'bread', done: 0, level: 3},
    ])
    assert.deepEqual(rows('SELECT note FROM task', report.backup), [{note: null}, {note: 'brown'}])
  })

  it('refuses a decision that matches no step', async (t) => {
    const {fails} = await filled(t)
    await fails(['migrate', '--default', 'Task.level=3'], 2, /table Task has no column level\. \(migration_choice\)/)
    await fails(['migrate', '--drop', 'Task.title'], 2, /no migration step drops it/)
    await fails(['migrate', '--rebuild', 'Tsk'], 2, /declares no table Tsk/)
  })

  it('rebuilds a table with --rebuild, and aborts if a value would be lost', async (t) => {
    const {run, fails, rows} = await filled(t)
    const args = ['migrate', '-', '--rebuild', 'Task', '--yes']
    const typed = '@table type Task { title: int, done: bool, note: Option[str] }\n'
    const lost =
      /2 values of title cannot be converted from TEXT to int \(rows 1, 2\); add --using .+ or --default .+\. \(migration_failed\)/
    await fails(args, 1, lost, {input: typed})
    const required = '@table type Task { title: str, done: bool, note: str }\n'
    await fails(args, 1, /1 row has no note; add --default Task\.note=<json>\. /, {input: required})
    assert.equal((await run([...args, '--default', 'Task.note="none"'], {input: required})).exitCode, 0)
    assert.deepEqual(rows('SELECT note FROM task ORDER BY _id'), [{note: 'none'}, {note: 'brown'}])
  })

  it('uses the database of --db or SVC_APP_DB_PATH', async (t) => {
    const {cwd, run} = await workspace(t)
    await run(['migrate', '--db', 'one.db'])
    await run(['migrate'], {env: {SVC_APP_DB_PATH: 'two.db'}})
    assert.deepEqual((await readdir(cwd)).sort(), ['one.db', 'src', 'two.db'])
  })
})

describe('svc db call', {concurrency: 3}, () => {
  it('runs an endpoint and prints its result', async (t) => {
    const {text, json, run} = await workspace(t)
    const {stdout, stderr} = await run(['call', 'add', 'title=milk and honey', 'note="sweet"'])
    assert.equal(stdout, '1\n')
    assert.match(stderr, /^Migrated .*app\.db: 2 steps\.\n$/)
    assert.deepEqual(await json(undefined, ['call', 'one', 'id=1']), {
      _id: 1,
      title: 'milk and honey',
      done: false,
      note: 'sweet',
    })
    assert.equal(await text('call', 'one', 'id=2'), 'null\n')
    assert.equal(await text('call', 'finish', 'id=1'), '')
    assert.deepEqual(await json(undefined, ['call', 'list', 'done=true', '--program', 'src/main.svc']), [
      {_id: 1, title: 'milk and honey', done: true, note: 'sweet'},
    ])
  })

  for (const [name, args, exit, message] of [
    ['ends with 4 where it returns an Error', ['add', 'title=""'], 4, /add returned an error: a task needs a title\./],
    ['ends with 1 where it fails', ['share', 'n=0'], 1, /share failed: .* \(DIVISION_BY_ZERO\)/],
    ['ends with 3 for an endpoint that is not there', ['ad', 'title=a'], 3, /no endpoint ad\. Did you mean add\?/],
    ['ends with 3 for a function that is no endpoint', ['shout', 'text=a'], 3, /endpoint_unknown/],
    ['ends with 2 without an argument that is needed', ['add'], 2, /argument title: it is missing\./],
    [
      'ends with 2 for an argument of a wrong type',
      ['one', 'id=milk'],
      2,
      /argument id: it must be Id\[Task\], not "milk"\./,
    ],
    [
      'suggests the argument of a misspelt one',
      ['add', 'titel=x'],
      2,
      /no such parameter \(did you mean title\?\)\. \(/,
    ],
    [
      'exits with status 2 for an argument that the endpoint does not have',
      ['one', 'id=1', 'day=2'],
      2,
      /argument day: the endpoint has no such parameter\./,
    ],
    [
      'ends with 2 for an argument without a value',
      ['one', 'id'],
      2,
      /argument id: it is not of the form name=value\./,
    ],
  ] as const)
    it(name, async (t) => {
      const {fails, rows} = await prepared(t)
      await fails(['call', ...args], exit, message)
      assert.deepEqual(rows('SELECT * FROM task'), [])
    })

  it('exits with status 2 for a negative number of rows', async (t) => {
    const source = `@table type Task { title: str }
@endpoint(kind: query) fn some(n: int) to List[Task] { return db.Task.all().limit(n) }
`
    const {fails, json} = await workspace(t, {'src/main.svc': source})
    await fails(['call', 'some', 'n=-1'], 2, /argument n: it limits the rows, so it must not be negative\./)
    assert.deepEqual(await json(undefined, ['call', 'some', 'n=0']), [])
  })

  it('transcribes recordings of the workspace, but not through links out of it', async (t) => {
    const source = '@endpoint(kind: server) fn hear(path: str) to Result[str] { return Speech.transcribe(path) }\n'
    const {cwd, fails, run} = await workspace(t, {'src/main.svc': source})
    const outside = await temporaryFolder(t)
    await copyFile(projectFile('examples/hello.wav'), join(cwd, 'hello.wav'))
    await copyFile(projectFile('examples/hello.wav'), join(outside, 'secret.wav'))
    await symlink(join(outside, 'secret.wav'), join(cwd, 'link.wav'))
    await symlink('hello.wav', join(cwd, 'own.wav'))
    const env = {SVC_SPEECH_MODEL: projectFile('examples/models/starter'), SVC_SPEECH_THREADS: '1'}
    const {stdout, stderr} = await run(['call', 'hear', 'path=own.wav'], {env})
    assert.match(stdout, /\w/, stderr)
    for (const path of ['link.wav', '../secret.wav', join(outside, 'secret.wav')])
      await fails(['call', 'hear', `path=${path}`], 4, /is denied: it is outside the workspace\. /, {env})
    await fails(['call', 'hear', 'path=missing.wav'], 4, /file not found: missing\.wav\. /, {env})
  })

  it('exits with status 3 if the database does not match the program', async (t) => {
    const {fails, execute} = await filled(t)
    execute('ALTER TABLE task ADD COLUMN owner TEXT NOT NULL DEFAULT 1')
    const input = tasks
      .replace('title: str,', 'title: str, level: int,')
      .replace('done: false,', 'done: false, level: 1,')
    const blocked = /needs_default +yes[\s\S]*1 step needs a decision\. \(migration_blocked\)/
    await fails(['call', 'list', '--program', '-'], 3, blocked, {input})
  })
})

describe('svc db query', {concurrency: 3}, () => {
  it('evaluates an expression', async (t) => {
    const {text, json} = await filled(t)
    assert.deepEqual(await json(undefined, ['query', 'db.Task.all().order_by(title)']), [bread, milk])
    assert.deepEqual(await json(undefined, ['query', 'shout("a") + len(list())']), 'A2')
    assert.equal(await text('query', 'db.Task.filter({ title: "milk" }).count()'), '1\n')
    assert.equal(await text('query', 'db.Task.get(9)'), 'null\n')
  })

  it('evaluates read-only SQL', async (t) => {
    const {json} = await filled(t)
    const sql = `SELECT count(*) AS n, x'0001' AS bytes FROM task`
    assert.deepEqual(await json(undefined, ['query', '--sql', sql]), [{n: 2, bytes: 'AAE='}])
    assert.deepEqual(await json(undefined, ['query', '--sql', 'PRAGMA user_version']), [{user_version: 0}])
  })

  for (const sql of [
    `INSERT INTO task (title, done) VALUES ('a', 1)`,
    'DELETE FROM task RETURNING *',
    'DROP TABLE task',
    'PRAGMA user_version = 5',
    'PRAGMA journal_mode = DELETE',
    `ATTACH 'other.db' AS other`,
    `VACUUM INTO 'copy.db'`,
    'SELECT 1; DELETE FROM task',
    'SELEKT 1',
    '',
  ])
    it(`refuses the SQL ${JSON.stringify(sql)}`, async (t) => {
      const {cwd, fails, rows} = await filled(t)
      await fails(['query', '--sql', sql], 2, /Cannot run the statement: .*\(sql_invalid\)/)
      assert.equal(rows('SELECT * FROM task').length, 2)
      assert.deepEqual(rows('PRAGMA journal_mode'), [{journal_mode: 'wal'}])
      assert.deepEqual(await readdir(cwd), ['.svc', 'src'])
    })

  it('prints the location of an error in an expression', async (t) => {
    const {fails} = await filled(t)
    const unknown =
      /^error\[typecheck\.unknown_column\]: .*\n --> <expression>:1:18\n[\s\S]*\n1 \| db\.Task\.filter\(\{ titel: "a" \}\)\n {2}\| {18}\^{5}\n/
    await fails(['query', 'db.Task.filter({ titel: "a" })'], 1, unknown)
    await fails(['query', 'len(list())\n + nobody'], 1, / --> <expression>:2:4\n/)
    await fails(['query', '1 + '], 1, / --> <expression>:1:\d\n/)
    await fails(['query', 'len(list())\n + nobody'], 1, /Invalid expression at 2:4: Undefined name/)
  })

  for (const [expression, found] of [
    ['db.Task.filter({ done: false', /1:29: Expected '\}', found end of expression/],
    ['len(list())) + (1', /1:12: Expected the end of the expression, found '\)'/],
    ['let x = 1', /1:1: Expected an expression, found 'let'/],
    ['1) } fn f() to int { return (1', /1:2: Expected the end/],
    ['"open', /1:1: /],
    ['', /1:1: Expected an expression, found end of expression/],
  ] as const)
    it(`does not mention what surrounds the expression ${JSON.stringify(expression)}`, async (t) => {
      const {fails} = await filled(t)
      await fails(['query', expression], 1, new RegExp(`Invalid expression at ${found.source}`))
    })

  it('prints the place of a word that SQLite rejects, and the nearest table', async (t) => {
    const {fails} = await filled(t)
    await fails(['query', '--sql', 'SELECT *\nFRM task'], 2, /near "FRM": syntax error at 2:1\./)
    await fails(['query', '--sql', 'SELECT * FROM tsk'], 2, /no such table: tsk at 1:15\. Did you mean task\?/)
    await fails(['query', '--sql', 'SELECT nope FROM task'], 2, /no such column: nope at 1:8\./)
    await fails(['query', '--sql', 'SELECT SELECT'], 2, /near "SELECT": syntax error\. /)
  })

  it('refuses an expression that writes, directly or through a function', async (t) => {
    const {fails, rows} = await filled(t)
    await fails(['query', 'db.Task.delete(1)'], 1, /error\[lint\.query_not_readonly\]/)
    await fails(['query', 'finish(1)'], 1, /error\[lint\.query_not_readonly\]/)
    assert.equal(rows('SELECT * FROM task WHERE done = 0').length, 2)
  })

  it('reports a runtime error', async (t) => {
    const {fails} = await filled(t)
    await fails(['query', '1 / (len(list()) - 2)'], 1, /The expression failed: .*\(DIVISION_BY_ZERO\)/)
  })
})

describe('svc db shell', {concurrency: 3}, () => {
  it('evaluates line by line until exit, and continues after an error', async (t) => {
    const {run} = await filled(t)
    const {stdout, stderr, exitCode} = await run(['shell'], {
      input: 'db.Task.count()\n\n  nobody\nlen(list())\nexit\n3\n',
    })
    assert.deepEqual([stdout, exitCode], ['2\n2\n', 1])
    assert.match(stderr, / --> <expression>:1:1\n/)
    assert.equal(
      (await run(['shell', '--json'], {input: 'db.Task.get(1)\n1 + 1'})).stdout,
      `${JSON.stringify(milk)}\n2\n`,
    )
  })

  it('evaluates SQL with --sql', async (t) => {
    const {run, rows} = await filled(t)
    const input = 'SELECT title FROM task WHERE _id = 2\nDELETE FROM task\n'
    const {stdout, stderr, exitCode} = await run(['shell', '--sql'], {input})
    assert.deepEqual([JSON.parse(stdout), exitCode], [[{title: 'bread'}], 1])
    assert.match(stderr, /sql_invalid/)
    assert.equal(rows('SELECT * FROM task').length, 2)
  })

  it('lists tables and their columns', async (t) => {
    const {run} = await filled(t)
    const input = '.tables\n.schema Task\n.schema Tsk\n.table\n.quit\n1\n'
    const {stdout, stderr, exitCode} = await run(['shell'], {input})
    assert.match(stdout, /^Task\n(?:\w+\n)*type Task \{ .*title: str.* \}\n$/)
    assert.match(
      stderr,
      /Table Tsk does not exist\. Did you mean Task\?[\s\S]*has no command \.table\. Did you mean \.tables\?/,
    )
    assert.equal(exitCode, 1)
    const sql = await run(['shell', '--sql'], {input: '.tables\n.schema task\n.help\n'})
    assert.match(sql.stdout, /^task$/m)
    assert.match(sql.stdout, /^CREATE TABLE "?task"? \(/m)
    assert.match(sql.stdout, /^\.schema {3}Show the columns/m)
    const json = await run(['shell', '--json'], {input: '.tables\n.schema Task\n.help\n'})
    const [names, shown, help] = json.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual([names[0], shown[0].name, Object.keys(help)[1]], ['Task', 'Task', '.tables'])
  })

  it('has a history that only its user can read', async (t) => {
    const state = await temporaryFolder(t)
    const history = new LineHistory('db-history', {XDG_STATE_HOME: state})
    for (const line of ['1 + 1', '1 + 1', ' ', '2 + 2']) history.add(line)
    const file = join(state, 'svc/db-history')
    assert.equal(await readFile(file, 'utf8'), '1 + 1\n2 + 2\n')
    assert.deepEqual([(await stat(file)).mode & 0o777, (await stat(dirname(file))).mode & 0o777], [0o600, 0o700])
    assert.deepEqual(new LineHistory('db-history', {XDG_STATE_HOME: state}).lines, ['2 + 2', '1 + 1'])
  })

  it('exits with status 0 at the end of the input', async (t) => {
    const {run} = await filled(t)
    assert.deepEqual(await run(['shell'], {input: ''}), {stdout: '', stderr: '', exitCode: 0})
  })
})

describe('svc db test', {concurrency: 3}, () => {
  it('runs the tests of a program with an in-memory database', async (t) => {
    const {cwd, run, json} = await workspace(t)
    const {stdout, exitCode} = await run(['test'])
    assert.equal(exitCode, 1)
    assert.match(
      stdout,
      /^ok {2}an_added_task_is_listed\nFAILED {2}a_task_has_a_title: it was accepted \(ASSERTION_FAILED\), src\/main\.svc:\d+\n/,
    )
    assert.match(stdout, /\n1 passed, 1 failed\n$/)
    const {tests, passed} = await json<DbTestV1>('cli/db-test.v1', ['test', '--filter', 'listed'])
    assert.deepEqual([tests.length, passed], [1, 1])
    assert.deepEqual(await readdir(cwd), ['src'])
  })
})

describe('svc db test of a failing program', () => {
  it('prints the line and the values of a failed assertion', async (t) => {
    const source = `@test fn numbers() {
    let a = 2
    assert(a + 1 is 4)
}
@test fn words() { assert("a" is "b", "letters") }
@test fn plain() { assert(1 > 2 or false) }

@test fn beyond() { print(str([1][5])) }
@test fn refused() to Result[int] { return Error("no") }
`
    const {run, json} = await workspace(t, {'src/main.svc': source})
    const {tests} = await json<DbTestV1>('cli/db-test.v1', ['test'], {exit: 1})
    assert.deepEqual(
      tests.map(({name, line, message}) => [name, line, message]),
      [
        ['numbers', 3, 'assertion failed: 3 is 4'],
        ['words', 5, 'letters: "a" is "b"'],
        ['plain', 6, 'assertion failed'],
        ['beyond', 8, 'index 5 is out of range for length 1'],
        ['refused', 9, '"no"'],
      ],
    )
    assert.match((await run(['test'])).stdout, /^FAILED {2}numbers: .* \(ASSERTION_FAILED\), src\/main\.svc:3$/m)
  })
})

describe('svc db sample and seed', {concurrency: 3}, () => {
  it('print rows of a table', async (t) => {
    const {text, fails} = await filled(t)
    assert.deepEqual(lines(await text('sample', '--table', 'Task')), [milk, bread])
    assert.deepEqual(lines(await text('sample', '-t', 'task', '--limit', '1', '--json')), [milk])
    assert.equal(await text('sample', '--table', 'Task', '--limit', '0'), '')
    await fails(['sample', '--table', 'Tsk'], 3, /Table Tsk does not exist\. Did you mean Task\? \(table_unknown\)/)
    await fails(['sample'], 2, /Missing flag --table/)
  })

  it('import records from a JSON file into a new database', async (t) => {
    const seed = {
      Task: [
        {title: 'a', done: true},
        {title: 'b', done: false, note: null},
      ],
    }
    const {database, json, rows, text} = await workspace(t, {
      'src/main.svc': tasks,
      'seed.json': JSON.stringify(seed),
    })
    const result = await json<DbWrittenV1>('cli/db-written.v1', ['seed', 'seed.json'])
    assert.deepEqual(result, {database, written: 2})
    await json('cli/db-written.v1', ['seed', '-', 'src/main.svc'], {
      input: '\ufeff{"Task": [{"title": "c", "done": true}]}',
    })
    assert.equal(await text('seed', 'seed.json'), '2 records written\n')
    assert.equal(rows('SELECT * FROM task').length, 5)
    assert.deepEqual(rows('SELECT count(*) AS n FROM codex_change_log'), [{n: 5}])
  })

  it('import records that refer to later ones, but not to none', async (t) => {
    const {json, rows, run} = await workspace(t, {
      'src/main.svc': '@table type Node { next: Option[Id[Node]] on delete set_null }\n',
    })
    await json('cli/db-written.v1', ['seed', '-'], {input: '{"Node": [{"next": 2}, {}]}'})
    const {exitCode, stderr} = await run(['seed', '-'], {input: '{"Node": [{"next": 9}]}'})
    assert.notEqual(exitCode, 0)
    assert.match(stderr, /row 3 of node: refers to a missing row of node\. \(record_invalid\)/)
    assert.deepEqual(rows('SELECT next FROM node'), [{next: 2}, {next: null}])
  })

  const good = '{"title": "a", "done": true}'
  for (const [name, input, place] of [
    ['a missing column', `{"Task": [${good}, {"done": true}]}`, /-, Task\[1\]: column title is missing/],
    ['a wrong type', `{"Task": [${good}, {"title": 1, "done": true}]}`, /Task\[1\]: column title must be str/],
    ['an unknown column', `{"Task": [${good}, {"title": "b", "done": true, "day": 1}]}`, /no column day/],
    ['an id', `{"Task": [${good}, {"_id": 7, "title": "b", "done": true}]}`, /Task\[1\]: .*_id/],
    ['no object', `{"Task": [${good}, 7]}`, /Task\[1\]: a record must be a JSON object/],
    ['no list', '{"Task": {"title": "a"}}', /-, Task: expected a list of records/],
    ['no object of tables', '[1]', /expected an object of tables/],
    ['no JSON', '{"Task": [', /invalid JSON/],
    ['a table twice', `{"Task": [${good}], "Task": []}`, /invalid JSON: the key "Task" occurs twice/],
    ['a column twice', '{"Task": [{"title": "a", "done": true, "done": false}]}', /the key "done" occurs twice/],
  ] as const)
    it(`write nothing if a record has ${name}`, async (t) => {
      const {fails, rows} = await prepared(t)
      await fails(['seed', '-'], 2, place, {input})
      assert.deepEqual(rows('SELECT * FROM task'), [])
    })

  it('write nothing if a table is unknown', async (t) => {
    const {fails, rows} = await prepared(t)
    await fails(['seed', '-'], 3, /Table Tsk does not exist\. Did you mean Task\?/, {
      input: `{"Task": [${good}], "Tsk": [${good}]}`,
    })
    assert.deepEqual(rows('SELECT * FROM task'), [])
  })
})

describe('svc db export and import', {concurrency: 3}, () => {
  const rich = `type Place { room: str }
type State = | Open | Shut(why: str)
@table type Person { name: str }
@table type Thing { n: int, x: float, on: bool, exact: dec, data: bytes, tags: List[str], counts: Map[str, int],
    place: Place, state: State, any: Json, owner: Option[Id[Person]], gone: Option[str] }
`

  it('copy rows from one database to another, with their ids', async (t) => {
    const {cwd, text, run, rows, json, execute} = await filled(t)
    execute(`INSERT INTO task (title, done) VALUES ('gone', 0); DELETE FROM task WHERE _id = 1`)
    const exported = await text('export')
    assert.deepEqual(lines(exported), [
      {table: 'Task', record: bread},
      {table: 'Task', record: {_id: 3, title: 'gone', done: false}},
    ])
    const {stdout} = await run(['import', '-', '--db', 'copy.db', '--json'], {input: exported})
    assert.deepEqual(JSON.parse(stdout), {database: join(cwd, 'copy.db'), written: 2})
    assert.deepEqual(await contractViolations('cli/db-written.v1', JSON.parse(stdout)), [])
    assert.equal((await run(['export', '--db', 'copy.db', '--table', 'Task'])).stdout, exported)
    assert.deepEqual(rows('SELECT * FROM task', join(cwd, 'copy.db')), rows('SELECT * FROM task'))
    assert.equal(await json(undefined, ['call', 'add', 'title=new', '--db', 'copy.db']), 4)
  })

  it('never assign the id of a deleted row again', async (t) => {
    const {text, run, json, execute} = await filled(t)
    execute('DELETE FROM task WHERE _id = 2')
    const exported = await text('export')
    assert.deepEqual(lines(exported), [
      {table: 'Task', record: milk},
      {table: 'Task', last_id: 2},
    ])
    assert.equal((await run(['import', '-', '--db', 'copy.db'], {input: exported})).stdout, '1 record written\n')
    assert.equal(await json(undefined, ['call', 'add', 'title=new', '--db', 'copy.db']), 3)
  })

  it('preserve values of every type', async (t) => {
    const {run, text} = await workspace(t, {'src/main.svc': rich})
    const record = {
      _id: 5,
      n: -7,
      x: 0.1,
      on: true,
      exact: '1.50',
      data: 'AAEC/w==',
      tags: ['a', 'é"\n'],
      counts: {one: 1},
      place: {room: 'A'},
      state: {_tag: 'Shut', why: 'late'},
      any: [1, {a: 'x'}, null],
      owner: 2,
    }
    const given = `${JSON.stringify({table: 'Person', record: {_id: 2, name: 'Bo'}})}\n\n${JSON.stringify({table: 'Thing', record})}\n`
    assert.equal((await run(['import', '-'], {input: `\ufeff${given}`})).exitCode, 0)
    assert.deepEqual(lines(await text('export')), lines(given))
    assert.deepEqual(lines(await text('export', '--table', 'thing')), lines(given).slice(1))
  })

  for (const [name, line, fault] of [
    ['is not JSON', '{"table": "Task"', /-, line 2: invalid JSON/],
    ['is null', 'null', /-, line 2: expected/],
    ['has no record', '{"table": "Task"}', /-, line 2: expected \{"table": …, "record": …\}/],
    [
      'has an id beyond the range',
      '{"table": "Task", "record": {"_id": 9007199254740991.4, "title": "b", "done": true}}',
      /-, line 2: column _id must be Id\[Task\]/,
    ],
    ['has no id', '{"table": "Task", "record": {"title": "b", "done": true}}', /-, line 2: column _id is missing/],
    [
      'has a duplicate id',
      '{"table": "Task", "record": {"_id": 7, "title": "b", "done": true}}',
      /-, line 2: another row of task has the same _id/,
    ],
  ] as const)
    it(`write nothing if a line ${name}`, async (t) => {
      const {fails, rows} = await prepared(t)
      const input = `{"table": "Task", "record": {"_id": 7, "title": "a", "done": true}}\n${line}\n`
      await fails(['import', '-'], 2, fault, {input})
      assert.deepEqual(rows('SELECT * FROM task'), [])
    })

  it('report an unknown table', async (t) => {
    const {fails} = await filled(t)
    await fails(['export', '--table', 'Tsk'], 3, /Did you mean Task\?/)
  })
})

describe('svc db status', {concurrency: 3}, () => {
  it('shows the tables, the last migration and the pending steps', async (t) => {
    const {database, json, text} = await filled(t, {
      'src/main.svc': tasks,
      'next.svc': `${tasks}@table type Note { text: str }\n`,
    })
    const status = await json<DbStatusV1>('cli/db-status.v1', ['status'])
    assert.deepEqual([status.file, status.journal_mode, status.pending], [database, 'wal', []])
    assert.deepEqual(status.tables, [
      {name: 'codex_change_log', rows: 2},
      {name: 'svc_data_columns', rows: 3},
      {name: 'svc_data_migrations', rows: 1},
      {name: 'task', rows: 2},
    ])
    assert.match(status.last_migration?.source_digest ?? '', /^[0-9a-f]{64}$/)
    const next = await json<DbStatusV1>('cli/db-status.v1', ['status', 'next.svc'])
    assert.deepEqual(
      next.pending.map(({action, table}) => [action, table]),
      [['create_table', 'note']],
    )
    assert.match(
      await text('status', 'next.svc'),
      /\npending steps: create_table note\n\nTABLE +ROWS\n[\s\S]*task +2\n/,
    )
  })

  it('works without a program', async (t) => {
    const {json, run, cwd} = await filled(t)
    assert.equal((await run(['status'], {cwd: join(cwd, 'src'), env: {SVC_APP_DB_PATH: '../.svc/app.db'}})).exitCode, 0)
    await json('cli/db-status.v1', ['status'])
  })

  it('hides the internal tables of search indexes', async (t) => {
    const source = `@table type Doc { title: str, at: List[float] }
@search_index Doc.by_title on (title)
@vector_index Doc.by_at on (at) { dimensions: 2 }\n`
    const {json, text} = await prepared(t, {'src/main.svc': source})
    const {tables, pending} = await json<DbStatusV1>('cli/db-status.v1', ['status'])
    assert.deepEqual([tables.map(({name}) => name), pending], [['doc', 'svc_data_columns', 'svc_data_migrations'], []])
    assert.match(await text('migrate'), /matches the program/)
    await text('vacuum')
    assert.match(await text('migrate'), /matches the program/)
  })
})

describe('svc db metrics and prune', {concurrency: 3}, () => {
  it('count and delete change log entries', async (t) => {
    const {database, json, text, execute} = await filled(t)
    await text('call', 'finish', 'id=1')
    execute(`UPDATE codex_change_log SET created_at = datetime('now', '-40 days') WHERE id = 1`)
    const counted = await json<DbMetricsV1>('cli/db-metrics.v1', ['metrics'])
    assert.deepEqual(
      counted.map(({group, kind, count}) => [group, kind, count]),
      [
        ['tasks', 'insert', 2],
        ['tasks', 'update', 1],
      ],
    )
    assert.ok((counted[0]?.first_at ?? '') < (counted[0]?.last_at ?? ''))
    assert.equal((await json<DbMetricsV1>('cli/db-metrics.v1', ['metrics', '--type', 'update'])).length, 1)
    assert.match(await text('metrics'), /^TOPIC +KIND +COUNT +FIRST +LAST\ntasks +insert +2 /)

    const planned = await json<DbPruneV1>('cli/db-prune.v1', ['prune'])
    assert.deepEqual(planned, {database, table: 'codex_change_log', days: 30, rows: 1, applied: false})
    assert.equal((await json<DbPruneV1>('cli/db-prune.v1', ['prune', '--change-log-days', '50'])).rows, 0)
    assert.equal(await text('prune'), '1 row older than 30 days would be deleted; add --apply\n')
    assert.deepEqual((await json<DbPruneV1>('cli/db-prune.v1', ['prune', '--apply'])).rows, 1)
    assert.equal((await json<DbMetricsV1>('cli/db-metrics.v1', ['metrics']))[0]?.count, 1)
  })

  it('find nothing in an empty database', async (t) => {
    const {json} = await prepared(t, {'src/main.svc': '@table type Task { title: str }\n'})
    assert.deepEqual(await json('cli/db-metrics.v1', ['metrics']), [])
    assert.equal((await json<DbPruneV1>('cli/db-prune.v1', ['prune', '--apply'])).rows, 0)
  })
})

describe('svc db vacuum and reset', {concurrency: 3}, () => {
  it('compact the file', async (t) => {
    const {database, json, text, execute} = await filled(t)
    execute(`INSERT INTO task (title, done) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)
      SELECT 'a long title that fills the file', 0 FROM n; DELETE FROM task WHERE _id > 2`)
    const {
      bytes_before: before,
      bytes_after: after,
      database: path,
    } = await json<DbVacuumV1>('cli/db-vacuum.v1', ['vacuum'])
    assert.ok(before > 500_000 && after < 100_000, `${before} ${after}`)
    assert.equal(path, database)
    assert.deepEqual(lines(await text('export')).slice(2), [{table: 'Task', last_id: 20_002}])
  })

  it('reset only with --yes, and keep the old file', async (t) => {
    const {database, json, text, rows, fails} = await filled(t)
    await fails(
      ['reset'],
      2,
      /The reset was not confirmed\. \(unconfirmed\)\n {2}hint: Pass --yes to confirm it in advance\./,
    )
    assert.equal(rows('SELECT * FROM task').length, 2)
    const {backup, database: path} = await json<DbResetV1>('cli/db-reset.v1', ['reset', '--yes'])
    assert.equal(path, database)
    assert.deepEqual(rows('SELECT * FROM task'), [])
    assert.equal(rows('SELECT * FROM task', backup ?? '').length, 2)
    assert.match(await text('reset', '--yes'), /app\.db is empty\. Backup: .*app\.db\.backup-\d{8}T\d{6}Z(-2)?\n$/)
    assert.equal(rows('SELECT * FROM task', backup ?? '').length, 2)
  })

  it('create a database if there is none', async (t) => {
    const {json, rows} = await workspace(t)
    assert.equal((await json<DbResetV1>('cli/db-reset.v1', ['reset', '--yes'])).backup, null)
    assert.deepEqual(rows('SELECT * FROM task'), [])
  })

  it('keep the data that a killed process has left in the WAL', async (t) => {
    const {database, json, rows} = await filled(t)
    const driver = new URL('../support/sqlite.js', import.meta.url).href
    const program = `import {Driver} from ${JSON.stringify(driver)}
const database = new Driver(${JSON.stringify(database)})
database.pragma('wal_autocheckpoint = 0')
database.exec("INSERT INTO task (title, done) VALUES ('late', 0)")
process.kill(process.pid, 'SIGKILL')`
    await execa(process.execPath, ['--input-type=module', '--eval', program], {reject: false})
    assert.ok((await stat(`${database}-wal`)).size > 0)
    const {backup} = await json<DbResetV1>('cli/db-reset.v1', ['reset', '--yes'])
    assert.deepEqual(rows('SELECT title FROM task ORDER BY _id', backup ?? ''), [
      {title: 'milk'},
      {title: 'bread'},
      {title: 'late'},
    ])
  })
})

describe('svc db with --store', {concurrency: 3}, () => {
  const store = '.svc/store.db'
  const schema = `CREATE TABLE research_metrics (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, metric_type TEXT NOT NULL,
    payload BLOB, created_at TEXT NOT NULL);`

  async function withStore(t: TestContext) {
    const created = await filled(t)
    const path = join(created.cwd, store)
    created.execute(
      `PRAGMA journal_mode = WAL; ${schema}
      INSERT INTO research_metrics (session_id, metric_type, payload, created_at) VALUES
        ('a', 'benchmark_event', x'00ff', datetime('now', '-400 days')),
        ('a', 'benchmark_event', NULL, datetime('now', '-100 days')),
        ('b', 'other', NULL, datetime('now'))`,
      path,
    )
    return {...created, path}
  }

  it('works on the workspace store', async (t) => {
    const {path, json, text} = await withStore(t)
    const status = await json<DbStatusV1>('cli/db-status.v1', ['status', '--store'])
    assert.deepEqual(
      [status.file, status.tables, status.last_migration],
      [path, [{name: 'research_metrics', rows: 3}], null],
    )
    const counted = await json<DbMetricsV1>('cli/db-metrics.v1', ['metrics', '--store', '--session', 'a'])
    assert.deepEqual(
      counted.map(({group, kind, count}) => [group, kind, count]),
      [['a', 'benchmark_event', 2]],
    )
    assert.match(await text('metrics', '--store', '--type', 'other'), /^SESSION .*\nb +other +1 /)
    const prune = (...args: string[]) => json<DbPruneV1>('cli/db-prune.v1', ['prune', '--store', ...args])
    const {tables, ...metrics} = await prune('--metrics-days', '90')
    assert.deepEqual(metrics, {database: path, table: 'research_metrics', days: 90, rows: 2, applied: false})
    assert.deepEqual(
      tables?.filter(({table}) => ['research_metrics', 'a2a_messages', 'orch_tasks'].includes(table)),
      [
        {table: 'orch_tasks', kind: 'manual', days: null, rows: 0},
        {table: 'a2a_messages', kind: 'ms_days', days: 7, rows: 0},
        {table: 'research_metrics', kind: 'days', days: 90, rows: 2},
      ],
    )
    const plan = await text('prune', '--store')
    assert.match(plan, /^TABLE +KIND +DAYS +ROWS\norch_tasks +manual +- +0\n/)
    assert.match(plan, /\nresearch_metrics +days +365 +1\n(.*\n)*1 row would be deleted; add --apply\n$/)
    const {days, rows, applied} = await prune('--apply')
    assert.deepEqual([days, rows, applied], [365, 1, true])
    assert.equal((await prune('--metrics-days', '90')).rows, 1)
    assert.equal((await json<DbVacuumV1>('cli/db-vacuum.v1', ['vacuum', '--store'])).database, path)
  })

  it('exports and imports the rows of the store', async (t) => {
    const {cwd, path, text, rows, json, execute, fails} = await withStore(t)
    const exported = await text('export', '--store')
    assert.deepEqual(lines(await text('export', '--store', '--table', 'research_metrics')), lines(exported))
    const before = rows('SELECT * FROM research_metrics', path)
    execute(`DELETE FROM research_metrics WHERE id < 3; UPDATE research_metrics SET session_id = 'c'`, path)
    const {written} = await json<DbWrittenV1>('cli/db-written.v1', ['import', '-', '--store'], {input: exported})
    assert.equal(written, 3)
    assert.deepEqual(rows('SELECT * FROM research_metrics', path), before)
    await fails(['export', '--store', '--table', 'nothing'], 3, /Table nothing does not exist/)
    const input = `${exported}{"table": "nothing", "record": {"id": 1}}\n`
    execute('DELETE FROM research_metrics', path)
    await fails(['import', '-', '--store'], 2, /line 4: .*nothing/, {input})
    assert.deepEqual(rows('SELECT * FROM research_metrics', path), [])
    assert.deepEqual((await readdir(join(cwd, '.svc'))).sort(), ['app.db', 'store.db'])
  })

  it('exits with status 3 if there is no store', async (t) => {
    const {fails, cwd} = await workspace(t)
    for (const command of ['status', 'export', 'metrics', 'prune', 'vacuum'])
      await fails([command, '--store'], 3, /Database .*store\.db does not exist/)
    assert.equal(existsSync(join(cwd, '.svc')), false)
  })
})

describe('svc db watch', {concurrency: 3}, () => {
  /** A running `watch`, and the lines it prints. */
  async function watching(t: TestContext, cwd: string, ...args: string[]) {
    const running = startSvc(['db', 'watch', 'tasks', ...args], {cwd})
    t.after(() => running.kill('SIGKILL'))
    const printed = createInterface({input: running.stdout as NodeJS.ReadableStream})
    return {running, next: async () => (await once(printed, 'line'))[0] as string}
  }

  it('prints the changes of other processes until it is interrupted', async (t) => {
    const {cwd, text} = await filled(t)
    const {running, next} = await watching(t, cwd, '--after', '1', '--json')
    const first = JSON.parse(await next())
    assert.deepEqual(
      {...first, created_at: ''},
      {id: 2, topic: 'tasks', entity_kind: 'Task', entity_id: '2', change_kind: 'insert', created_at: ''},
    )
    const line = next()
    await text('call', 'finish', 'id=1')
    const {id, change_kind: kind, entity_id: entity} = JSON.parse(await line)
    assert.deepEqual([id, kind, entity], [3, 'update', '1'])
    running.kill('SIGINT')
    assert.equal((await running).exitCode, 130)
  })

  it('starts with new changes by default', async (t) => {
    const {cwd, database} = await filled(t)
    const {running, next} = await watching(t, cwd)
    const line = next()
    // It has started as soon as it prints a change; earlier ones are not printed.
    let output = ''
    line.then((found) => {
      output = found
    })
    const {call, close} = await openTasks(database)
    t.after(close)
    for (let i = 0; i < 2000 && output === ''; i++) {
      await call('finish', 2)
      await sleep(25)
    }
    assert.match(await line, /^\d+\tupdate\tTask\t2$/)
    assert.ok(Number((await line).split('\t')[0]) > 2)
    running.kill('SIGINT')
    assert.equal((await running).exitCode, 130)
  })

  it('reports an unknown topic', async (t) => {
    const {fails} = await filled(t)
    await fails(['watch', 'task'], 3, /no live topic task\. Did you mean tasks\? \(topic_unknown\)/)
    await fails(['watch'], 2, /argument TOPIC/)
  })
})

describe('svc db without a program or database', {concurrency: 3}, () => {
  const onProgram: Readonly<Record<string, readonly string[]>> = {
    check: [],
    ddl: [],
    explain: [],
    schema: [],
    build: [],
    client: ['-o', 'out'],
    fmt: [],
    migrate: [],
    call: ['list'],
    test: [],
    seed: ['seed.json'],
    import: ['rows.jsonl'],
    reset: ['--yes'],
    watch: ['tasks'],
    serve: ['--port', '0'],
  }
  const onDatabase: Readonly<Record<string, readonly string[]>> = {
    query: ['1'],
    shell: [],
    sample: ['--table', 'Task'],
    export: [],
    status: [],
    metrics: [],
    prune: [],
    vacuum: [],
  }
  const inputs = {'seed.json': '{}', 'rows.jsonl': ''}

  it('exits with status 3 if there is no program', async (t) => {
    const {fails, cwd} = await workspace(t, inputs)
    for (const [command, args] of Object.entries(onProgram))
      await fails([command, ...args], 3, /Program src\/main\.svc does not exist\. \(program_not_found\)/)
    await fails(['ddl', 'none.svc'], 3, /Program none\.svc does not exist\./)
    assert.deepEqual((await readdir(cwd)).sort(), ['rows.jsonl', 'seed.json'])
  })

  it('exits with status 3 if there is no database', async (t) => {
    const {fails, cwd} = await workspace(t)
    for (const [command, args] of Object.entries(onDatabase))
      await fails([command, ...args], 3, /Database .*\.svc\/app\.db does not exist\. \(database_missing\)/)
    assert.deepEqual(await readdir(cwd), ['src'])
  })

  it('prints the errors of the program and exits with status 1', async (t) => {
    const {fails, cwd} = await workspace(t, {...inputs, 'src/main.svc': broken})
    const errors =
      /^error\[typecheck\.unknown_table\][\s\S]* --> src\/main\.svc:2:27\n[\s\S]*src\/main\.svc has 1 error\. \(program_invalid\)/
    for (const [command, args] of Object.entries(onProgram))
      if (command !== 'check' && command !== 'fmt') await fails([command, ...args], 1, errors)
    assert.equal(existsSync(join(cwd, '.svc')), false)
  })
})
