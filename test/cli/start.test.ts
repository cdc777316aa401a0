import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {cp, mkdir, readdir, readFile, stat, symlink} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {before, describe, it} from 'node:test'
import {execa} from 'execa'
import {projectFile} from '../support/project.js'
import {environment, svc, svcBinary} from '../support/svc.js'
import {suiteFolder, temporaryFolder} from '../support/temporary.js'

const nodeMajor = Number.parseInt(process.versions.node, 10)

describe('svc --version', () => {
  for (const flag of ['--version', '-V'])
    it(`prints the same line with ${flag} as oclif does with other flags`, async () => {
      const {stdout, exitCode} = await svc([flag])
      const {stdout: ofOclif} = await svc([flag, '--json'])
      assert.equal(exitCode, 0)
      assert.match(stdout, /^svc\/\d+\.\d+\.\d+ \S+ node-v\d+\S*\n$/)
      assert.equal(stdout, ofOclif)
    })

  it('exits silently when standard output is closed', async () => {
    const run = execa(process.execPath, [svcBinary, '--version'], {reject: false, env: environment(), extendEnv: false})
    run.stdout.destroy()
    const {exitCode, stderr} = await run
    assert.equal(stderr, '')
    assert.equal(exitCode, 0)
  })
})

describe('the compile cache', () => {
  it('is in the cache folder of svc, readable only by its owner, on Node 22 and later', async (test) => {
    const home = await temporaryFolder(test)
    const env = {HOME: home, NODE_OPTIONS: ''}
    for (let start = 0; start < 2; start++) assert.equal((await svc(['config', 'show'], {env})).exitCode, 0)
    assert.deepEqual(await readdir(home), nodeMajor >= 22 ? ['.cache'] : [])
    if (nodeMajor < 22) return
    const compiled = join(home, '.cache', 'svc', 'compiled')
    assert.equal((await stat(compiled)).mode & 0o777, 0o700)
    assert.equal((await readdir(compiled)).length, 1)
  })

  it('is off with NODE_DISABLE_COMPILE_CACHE', async (test) => {
    const home = await temporaryFolder(test)
    await svc(['config', 'show'], {env: {HOME: home, NODE_OPTIONS: '', NODE_DISABLE_COMPILE_CACHE: '1'}})
    assert.ok(!existsSync(join(home, '.cache', 'svc', 'compiled')) || nodeMajor >= 22)
    assert.deepEqual(await readdir(join(home, '.cache', 'svc', 'compiled')).catch(() => []), [])
  })

  for (const home of ['/proc/svc', '/sys', '/nowhere/at/all'])
    it(`is off if HOME is not writable: ${home}`, {skip: process.platform === 'win32'}, async () => {
      const {exitCode, stderr} = await svc(['config', 'show'], {env: {HOME: home}})
      assert.equal(stderr, '')
      assert.equal(exitCode, 0)
    })
})

describe('svc as npm installs it, without development dependencies', () => {
  const root = suiteFolder()
  const run = (...args: string[]) =>
    execa(process.execPath, [join(root, 'bin/svc.js'), ...args], {
      reject: false,
      cwd: root,
      env: environment(),
      extendEnv: false,
    })

  before(async () => {
    for (const path of ['bin', 'dist/bundle', 'oclif.manifest.json', 'package.json'])
      await cp(projectFile(path), join(root, path), {recursive: true})
    await mkdir(join(root, 'node_modules'), {recursive: true})
    for (const name of ['better-sqlite3', 'sqlite-vec'])
      await symlink(projectFile(`node_modules/${name}`), join(root, 'node_modules', name))
  })

  it('finds the programs of its threads, including those that a thread starts', async () => {
    const bundle = join(root, 'dist/bundle')
    const files = (await readdir(bundle, {recursive: true})).filter((file) => file.endsWith('.js'))
    const programs = await Promise.all(
      files.map(async (file) => {
        const found = (await readFile(join(bundle, file), 'utf8')).matchAll(
          /new URL\(.([./\w-]+\.js).,import\.meta\.url\)/g,
        )
        return [...found].map(([, path = '']) => join(bundle, dirname(file), path))
      }),
    )
    assert.deepEqual(
      programs.flat().filter((program) => !existsSync(program)),
      [],
    )
    assert.ok(programs.flat().includes(join(bundle, 'programs/weights-quantize-worker.js')))
  })

  it('runs commands that need no SQLite', async () => {
    const {exitCode, stderr} = await run('config', 'show')
    assert.equal(stderr, '')
    assert.equal(exitCode, 0)
  })

  it('needs Node 22 for SQLite, and reports that on Node 20', async () => {
    const {exitCode, stdout, stderr} = await run('orch', 'tasks', '--json')
    if (nodeMajor >= 22) return assert.deepEqual([exitCode, stderr], [0, ''])
    assert.equal(exitCode, 2)
    const {error} = JSON.parse(stdout)
    assert.equal(error.code, 'store_node_unsupported')
    assert.equal(
      error.message,
      `This command requires Node.js 22 or later for SQLite; this is Node.js ${process.versions.node}.`,
    )
  })
})
