import assert from 'node:assert/strict'
import {once} from 'node:events'
import {mkdir, readFile, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {after, before, describe, it} from 'node:test'
import {execa} from 'execa'
import type {MeshLeasesV1, MeshNodesV1} from '../../src/contracts/index.js'
import {freePort} from '../support/free-port.js'
import {projectFile} from '../support/project.js'
import {svcBinary} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {writeSvcInTurn} from '../support/svc-in-turn-program.js'
import {suiteFolder} from '../support/temporary.js'

/** The shell blocks below a heading of a text, as they are printed. */
async function blocksBelow(file: string, heading: string): Promise<string[]> {
  const text = await readFile(projectFile(file), 'utf8')
  const section = text.split(`${heading}\n`)[1]?.split(/^##+ /m)[0] ?? ''
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, script = '']) => script)
}

describe('a mesh as the README makes it', async () => {
  const [first = '', second = '', third = '', phone = ''] = await blocksBelow('README.md', '### Make a mesh')
  const [through = '', administer = ''] = await blocksBelow('examples/mesh/README.md', '## Work through the mesh')
  const home = suiteFolder()
  const folders = {plane: join(home, 'plane'), node: join(home, 'node')}
  /** Where a shell finds `svc`: as a user installs it, or with its command lines run in turn. */
  const programs = {installed: join(home, 'bin'), inTurn: join(home, 'in-turn')}
  let close = () => {}
  let port = 0
  let invitation = ''

  /** Whoever follows the text types it, on another port than other tests. */
  const asPrinted = (script: string) => script.replaceAll('9847', String(port))
  const shell = (
    script: string,
    where: keyof typeof folders,
    env: Record<string, string> = {},
    program: keyof typeof programs = 'installed',
  ) =>
    execa('bash', ['-euo', 'pipefail', '-c', asPrinted(script)], {
      cwd: folders[where],
      env: {
        PATH: `${programs[program]}:${process.env.PATH}`,
        HOME: folders[where],
        ...env,
      },
      extendEnv: false,
      reject: false,
      timeout: 600_000,
      // A shell and what it has started end together.
      detached: true,
    })
  let serving: ReturnType<typeof shell> | undefined
  const run = async (script: string, where: keyof typeof folders) => {
    const {stdout, stderr, exitCode} = await shell(script, where, {}, 'inTurn')
    assert.equal(exitCode, 0, stdout + stderr)
    return stdout
  }

  const firstLine = async ({stdout}: ReturnType<typeof shell>): Promise<string> => {
    const [line] = await once(createInterface({input: stdout as NodeJS.ReadableStream}), 'line', {
      signal: AbortSignal.timeout(120_000),
    })
    return line as string
  }
  const stop = async (running: ReturnType<typeof shell>) => {
    if (running.pid !== undefined) process.kill(-running.pid, 'SIGKILL')
    await running
  }

  before(async () => {
    for (const folder of [...Object.values(programs), ...Object.values(folders)]) await mkdir(folder)
    await symlink(svcBinary, join(programs.installed, 'svc'))
    await symlink(process.execPath, join(programs.installed, 'node'))
    close = await writeSvcInTurn(programs.inTurn)
    port = await freePort()
  })
  after(async () => {
    close()
    if (serving !== undefined) await stop(serving)
  })

  it('starts in one terminal, whose last line is for another one', async () => {
    serving = shell(first, 'plane')
    const lines = createInterface({input: serving.stdout as NodeJS.ReadableStream})
    lines.on('line', (line) => {
      if (line.includes('svc mesh join --bootstrap')) invitation = line.trim()
    })
    let told = ''
    for await (const chunk of serving.stderr as NodeJS.ReadableStream) {
      told += chunk
      if (told.includes(`Listening on http://127.0.0.1:${port}`)) break
    }
    assert.match(invitation, /^SVC_MESH_BOOTSTRAP_TOKEN=\S+ svc mesh join --bootstrap --control-url http:\S+$/)
    assert.equal(invitation.replace(/TOKEN=\S+/, 'TOKEN=...'), asPrinted(second).trim())
  })

  it('has a node, once that line was run there, which a third terminal sees', async () => {
    const joining = shell(invitation, 'node', {SVC_MESH_NODE_ID: 'rig1'})
    try {
      assert.match(await firstLine(joining), /^rig1 has joined /)
      const watching = shell(third, 'node')
      try {
        assert.match(await firstLine(watching), / rig1 is listed: ok, /)
      } finally {
        await stop(watching)
      }
    } finally {
      await stop(joining)
    }
    assert.match(await run('svc mesh nodes', 'node'), /\nrig1 +\S+ +ok /)
    assert.match(await run('svc mesh join --once --node rig1', 'node'), /^rig1 has joined /)
  })

  it('is joined by whatever runs curl: leased, delivered to, claimed and acknowledged', async () => {
    const answers = await run(`${phone}\necho " $id"`, 'plane')
    const id = answers.trim().split(' ').at(-1)
    assert.match(answers, /"id":"phone"/)
    assert.match(answers, /"lease_id":"\d+"/)
    assert.match(answers, new RegExp(`"accepted":true,"message_id":${id}\\b`))
    const env = 'export SVC_MESH_CONTROL_ADDR=http://127.0.0.1:9847\n'
    const {leases} = JSON.parse(await run(`${env}svc mesh leases --json`, 'plane')) as MeshLeasesV1
    assert.deepEqual(
      leases.map(({scope_key, holder_node_id}) => [scope_key, holder_node_id]),
      [['task:42', 'phone']],
    )
    const {nodes} = JSON.parse(await run(`${env}svc mesh nodes --json`, 'plane')) as MeshNodesV1
    assert.deepEqual(
      nodes.map((node) => node.id),
      ['phone', 'rig1'],
    )
    assert.deepEqual(JSON.parse(await run(`${env}svc mesh inbox 2 --json`, 'plane')), {messages: []})
  })

  it('is worked through by the commands of the example', async () => {
    const env = 'export SVC_MESH_NODE_ID=rig1\n'
    const released = await run(`${env}${through.replaceAll('task:42', 'task:43')}`, 'node')
    assert.match(released, /^\d+\nrenewed\nmessage \d+ is acknowledged\nreleased$/)
  })

  it('is administered by the commands of the example', async () => {
    const env = 'export SVC_MESH_CONTROL_ADDR=http://127.0.0.1:9847\n'
    const [, lease = ''] = /^(\d+) +task:42/m.exec(await run(`${env}svc mesh leases`, 'plane')) ?? []
    const script = administer.replaceAll('node-7f3a', 'rig1').replace('revoke-lease 17', `revoke-lease ${lease}`)
    const told = await run(`${env}${script}`, 'plane')
    assert.match(
      told,
      /rig1 is in maintenance until \S+\nrig1 is in quarantine\nlease \d+ is revoked\nNo dead messages\.\n/,
    )
    assert.match(told, /\nENTRY +TIME +ACTOR .*\n\d+ +\S+Z +\S+ +lease\.revoked +task:42 /)
  })
})

describe('the preset for a wide-area network', () => {
  for (const side of ['control-plane', 'node'])
    it(`of the ${side} is sound, and every key of it is read`, async () => {
      const cwd = projectFile(`examples/mesh/${side}`)
      const {stdout, exitCode} = await svcInTurn(['config', 'check', '--json'], {cwd})
      assert.deepEqual([exitCode, JSON.parse(stdout).warnings], [0, []])
    })

  it('is what its table says', async () => {
    const table = await readFile(projectFile('examples/mesh/README.md'), 'utf8')
    const files = ['control-plane', 'node'].map((side) =>
      readFile(projectFile(`examples/mesh/${side}/Svc.toml`), 'utf8'),
    )
    const settings = (await Promise.all(files)).join('\n')
    const rows = [...table.matchAll(/^\| `(?:mesh|orchestrator)\.(\w+)` \| (\w+) \|/gm)]
    assert.equal(rows.length, 5)
    for (const [, name = '', value = ''] of rows) assert.match(settings, new RegExp(`^${name} = ${value}$`, 'm'), name)
    for (const [, name = '', value = ''] of table.matchAll(/^\| `(SVC_\w+)` \| (\d+) \|/gm))
      assert.ok(settings.includes(`${name}=${value}`), name)
  })
})
