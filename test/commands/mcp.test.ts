import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {readdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {execa} from 'execa'
import {connect} from '../mcp/support.js'
import {assertFits, orchWorkspace} from '../support/orch-workspace.js'
import {projectFile} from '../support/project.js'
import {svcBinary} from '../support/svc.js'
import {writeFiles} from '../support/temporary.js'

interface Listed {
  tools: {name: string}[]
}

interface Config {
  file: string
  configuration: object
  written: boolean
  backup: string | null
}

interface Envelope {
  success: boolean
  data?: {task_id?: number; tasks?: object[]}
  code?: string
}

describe('svc mcp tools', {concurrency: 2}, () => {
  it('prints the same list as the server with --json', async (t) => {
    const {json, cwd} = await orchWorkspace(t, '')
    const {client} = await connect(t, {cwd, args: ['--tiers', 'all']})
    const listed = await json<Listed>('cli/mcp-tools.v1', ['mcp', 'tools', '--tiers', 'all'])
    assert.deepEqual(listed.tools, (await client.listTools()).tools)
  })

  it('prints a table of the selected tiers', async (t) => {
    const {text, fails} = await orchWorkspace(t, '[mcp]\ntiers = ["core", "dev"]\n')
    const both = await text(['mcp', 'tools'])
    assert.match(both, /^TOOL +EFFECT +DESCRIPTION\n/)
    assert.match(both, /\nsvc_submit_task +write +[A-Z].*\./)
    assert.match(both, /\nsvc_agent_list +read +/)
    const core = await text(['mcp', 'tools', '--tiers', 'core'])
    assert.ok(!core.includes('svc_agent_list'))
    await fails(['mcp', 'tools', '--tiers', 'core,banana'], 2, 'flag_value')
  })

  it('opens no store, only the database of a program', async (t) => {
    const {text, cwd, run} = await orchWorkspace(t, '', {hasStore: false})
    await text(['mcp', 'tools'])
    assert.equal(existsSync(`${cwd}/.svc`), false)
    const {stdout} = await run(['mcp', 'tools', '--program', projectFile('examples/todo.svc')])
    assert.match(stdout, /\nadd +write +/)
    assert.equal(existsSync(`${cwd}/.svc/app.db`), true)
  })
})

describe('svc mcp config', {concurrency: 2}, () => {
  it('prints absolute paths that start the server of this workspace from any folder', async (t) => {
    const {text, cwd} = await orchWorkspace(t, '')
    const {mcpServers} = JSON.parse(await text(['mcp', 'config']))
    const {command, args} = mcpServers.svc as {command: string; args: string[]}
    assert.deepEqual([command, args[0]], [process.execPath, svcBinary])
    const {exitCode, stdout, stderr} = await execa(command, args, {cwd: '/', input: ''})
    assert.deepEqual([exitCode, stdout], [0, ''])
    assert.ok(stderr.includes(`the tools of ${cwd} `), stderr)
  })

  it('prints the format of the client without writing', async (t) => {
    const {json, cwd} = await orchWorkspace(t, '', {hasStore: false})
    const env = {HOME: cwd, XDG_CONFIG_HOME: ''}
    const forms = ['claude', 'cursor', 'vscode', 'zed'].map(async (client) => {
      const {configuration, written} = await json<Config>(
        'cli/mcp-config.v1',
        ['mcp', 'config', '--client', client, '--name', 'shop'],
        {env},
      )
      const [[servers, {shop}]] = Object.entries(configuration) as [[string, {shop: {type?: string}}]]
      return [servers, shop.type, written]
    })
    assert.deepEqual(await Promise.all(forms), [
      ['mcpServers', undefined, false],
      ['mcpServers', undefined, false],
      ['servers', 'stdio', false],
      ['context_servers', undefined, false],
    ])
    assert.deepEqual(await readdir(cwd), ['Svc.toml'])
  })

  it('merges the entry into the file of the client with --write, and keeps a backup', async (t) => {
    const {json, text, fails, cwd} = await orchWorkspace(t, '')
    const env = {HOME: cwd}
    await writeFiles(cwd, {'.cursor/mcp.json': '{} // mine'})
    const args = ['mcp', 'config', '--client', 'cursor', '--write']
    const {file, written, backup, configuration} = await json<Config>('cli/mcp-config.v1', args, {env})
    assert.deepEqual([file, written], [join(cwd, '.cursor/mcp.json'), true])
    assert.match(await readFile(file, 'utf8'), /"svc": \{.*\} \/\/ mine/s)
    assert.equal(await readFile(backup ?? '', 'utf8'), '{} // mine')
    assert.ok(JSON.stringify(configuration).includes(JSON.stringify(cwd)))
    assert.equal(await text(args, {env}), `${file} already has this entry.\n`)
    await writeFile(file, '{')
    await fails(args, 2, 'mcp_client_file_invalid', {env})
    await fails(['mcp', 'config', '--write'], 2, 'usage', {env})
  })
})

describe('svc mcp call', {concurrency: 2}, () => {
  it('prints the result of the tool, or the envelope with --json', async (t) => {
    const {text, json} = await orchWorkspace(t, '')
    const task = '{"description": "Add retry", "files": [{"path": "a.ts", "access": "write"}]}'
    assert.equal(JSON.parse(await text(['mcp', 'call', 'svc_submit_task', task])).task_id, 1)
    const call = (...args: string[]) => json<Envelope>('cli/mcp-call.v1', ['mcp', 'call', ...args])
    const {success, data} = await call('svc_task_status', '{"task_id": 1}')
    assert.deepEqual([success, data?.task_id], [true, 1])
    assert.equal((await call('svc_task_list')).data?.tasks?.length, 1)
  })

  it('reads the arguments from standard input', async (t) => {
    const {run} = await orchWorkspace(t, '')
    const {stdout, exitCode} = await run(['mcp', 'call', 'svc_submit_task', '-'], {
      input: '{"description": "x", "files": []}\n',
    })
    assert.equal(exitCode, 0)
    assert.equal(JSON.parse(stdout).task_id, 1)
  })

  for (const [what, args, exit, code] of [
    ['an unknown tool', ['svc_nothing'], 3, 'unknown_tool'],
    ['an unknown task', ['svc_task_status', '{"task_id": 42}'], 3, 'task_not_found'],
    ['invalid arguments', ['svc_task_status', '{"task": 42}'], 2, 'invalid_arguments'],
    ['an invalid state transition', ['svc_complete_task', '{"task_id": 1}'], 4, 'invalid_transition'],
  ] as const)
    it(`exits with status ${exit} for ${what}, with the same error as text and JSON`, async (t) => {
      const {run, submit} = await orchWorkspace(t, '')
      await submit('x')
      const plain = await run(['mcp', 'call', ...args])
      assert.deepEqual([plain.exitCode, plain.stdout], [exit, ''])
      assert.match(plain.stderr, /^error: .*\n {2}hint: .*\n$/)
      const {stdout, exitCode} = await run(['mcp', 'call', ...args, '--json'])
      const envelope = JSON.parse(stdout)
      assert.deepEqual([exitCode, envelope.success, envelope.code], [exit, false, code])
      await assertFits('cli/mcp-call.v1', envelope)
    })

  it('refuses arguments that are not a JSON object', async (t) => {
    const {fails} = await orchWorkspace(t, '')
    for (const wrong of ['{', '[]', '7', 'null', '']) await fails(['mcp', 'call', 'svc_task_list', wrong], 2, 'usage')
    await fails(['mcp', 'call'], 2, 'usage')
  })

  it('calls an endpoint of a program', async (t) => {
    const {text, run} = await orchWorkspace(t, '')
    const program = ['--program', projectFile('examples/todo.svc')]
    assert.equal(await text(['mcp', 'call', 'add', '{"title": "buy milk"}', ...program]), '1\n')
    assert.equal(JSON.parse(await text(['mcp', 'call', 'list', ...program]))[0].title, 'buy milk')
    const {exitCode, stderr} = await run(['mcp', 'call', 'add', '{"title": ""}', ...program])
    assert.equal(exitCode, 4)
    assert.match(stderr, /a todo needs a title.*\(endpoint_refused\)/)
  })

  it('transcribes a recording', async (t) => {
    const {text, cwd} = await orchWorkspace(t, '')
    await writeFile(`${cwd}/hello.wav`, await readFile(projectFile('examples/hello.wav')))
    const output = await text(['mcp', 'call', 'svc_speech_transcribe', '{"path": "hello.wav"}'], {
      env: {SVC_SPEECH_MODEL: projectFile('examples/models/starter')},
    })
    assert.match(JSON.parse(output).text, /\w/)
  })
})
