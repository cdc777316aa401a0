import assert from 'node:assert/strict'
import {readdir, readFile, stat} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {describe, it} from 'node:test'
import {execa} from 'execa'
import {projectFile} from '../support/project.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

describe('the name of the package', () => {
  it('is svc-toolkit, because another package is named svc, but the executable is svc', async () => {
    const {name, bin} = JSON.parse(await readFile(projectFile('package.json'), 'utf8'))
    assert.deepEqual([name, bin], ['svc-toolkit', {svc: 'bin/svc.js'}])
  })

  it('is not used with npx, which would download the unrelated package svc', async () => {
    const texts = await Promise.all(
      ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'examples', 'man', 'commands', 'src', '.ci'].map(textsBelow),
    )
    const guilty = texts.flat().filter(({text}) => /\bnpx\b[\s",[]+(-\S+\s+)*svc\b/.test(text))
    assert.deepEqual(
      guilty.map(({path}) => path),
      [],
    )
  })
})

describe('the packed program', () => {
  it('has no training clips or source maps, and lists its LGPL components', async () => {
    const npm = process.env.npm_execpath
    const pack = ['pack', '--dry-run', '--ignore-scripts', '--json']
    const {stdout} =
      npm === undefined
        ? await execa('npm', pack, {cwd: projectFile('.')})
        : await execa(process.execPath, [npm, ...pack], {cwd: projectFile('.')})
    const [packed] = Object.values(JSON.parse(stdout)) as {files: {path: string}[]}[]
    const paths = packed?.files.map(({path}) => path) ?? []
    const unwanted = paths.filter((path) => /\.map$|^examples\/train-|^dist\/test/.test(path))
    assert.deepEqual(unwanted, [])
    const page = ['mesh/dashboard', 'speech-server'].flatMap((server) =>
      ['index.html', 'style.css', 'script.js'].map((file) => `dist/src/${server}/page/${file}`),
    )
    const model = 'examples/runs/guide/MODEL_CARD.md'
    for (const path of ['bin/svc.js', 'dist/bundle/svc.js', 'man/svc-db-serve.1', model, ...page])
      assert.ok(paths.includes(path), path)
    const notices = await readFile(projectFile('dist/bundle/THIRD-PARTY-NOTICES.txt'), 'utf8')
    assert.match(notices, /codec-parser@\S+ \(LGPL-3\.0-or-later\)/)
    assert.match(notices, /libmpg123 \(LGPL-2\.1-only\)/)
  })
})

/** Text files below a path, without recordings and weights. */
async function textsBelow(path: string): Promise<{path: string; text: string}[]> {
  const root = projectFile(path)
  const inside = (await stat(root)).isFile() ? [''] : await readdir(root, {recursive: true})
  const files = inside.filter((file) => /(^|\.(md|json|toml|ts|js|mjs|sh|1|yml)|\/[^.]+)$/.test(file))
  return Promise.all(
    files.map(async (file) => ({
      path: join(path, file),
      text: await readFile(join(root, file), 'utf8').catch(() => ''),
    })),
  )
}

describe('the examples', () => {
  it('Svc.toml is valid and has no unknown keys', async () => {
    const {stdout, exitCode} = await svcInTurn(['config', 'check', '--json'], {
      cwd: dirname(projectFile('examples/Svc.toml')),
    })
    assert.deepEqual(JSON.parse(stdout).warnings, [])
    assert.equal(exitCode, 0)
  })

  it('api/llm.mjs generates text', async (test) => {
    const model = await temporaryFolder(test)
    await writeTinyModel(model)
    const example = projectFile('examples/api/llm.mjs')
    const {stdout, stderr} = await execa(process.execPath, [example, model, 'Hi'])
    assert.ok(stdout.length > 0)
    assert.match(stderr, /100 tokens, ended by length/)
  })

  it('api/speech.mjs transcribes a recording', async () => {
    const model = projectFile('examples/models/starter')
    const {stdout} = await execa(process.execPath, [
      projectFile('examples/api/speech.mjs'),
      model,
      projectFile('examples/hello.wav'),
    ])
    assert.equal(stdout, 'hello and welcome to your own machine')
  })

  for (const [name, expected] of [
    ['tasks', 'T-0001 Completed: Looks fine.'],
    ['mesh', 'laptop holds nightly-report with fencing token 1'],
    ['lang', '[{"_id":1,"text":"Buy tea"}]'],
  ] as const)
    it(`api/${name}.mjs prints its result`, async (test) => {
      const cwd = await temporaryFolder(test)
      const {stdout, stderr} = await execa(process.execPath, [projectFile(`examples/api/${name}.mjs`), cwd], {cwd})
      assert.deepEqual([stdout, stderr], [expected, ''])
    })

  it('daemon-client.mjs submits a task to a daemon and completes it', async (test) => {
    const cwd = await temporaryFolder(test)
    assert.equal((await svcInTurn(['daemon', 'start'], {cwd})).exitCode, 0)
    try {
      const {stdout} = await execa(process.execPath, [projectFile('examples/daemon-client.mjs')], {
        cwd,
        timeout: 120_000,
      })
      const [greeting, ...events] = stdout.split('\n')
      assert.match(greeting ?? '', /^daemon \S+ at 127\.0\.0\.1:\d+$/)
      assert.deepEqual(events, ['T-0001: task_started', 'T-0001: task_completed'])
    } finally {
      assert.equal((await svcInTurn(['daemon', 'stop'], {cwd})).exitCode, 0)
    }
  })

  it('mcp.json has the same format as the output of svc mcp config', async () => {
    const paths = (text: string) => text.replaceAll(/"\/[^"]*"/g, '"/"')
    const {stdout} = await svcInTurn(['mcp', 'config'])
    const example = await readFile(projectFile('examples/mcp.json'), 'utf8')
    assert.deepEqual(JSON.parse(paths(example)), JSON.parse(paths(stdout)))
  })
})
