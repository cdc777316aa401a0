import assert from 'node:assert/strict'
import {lstat, readdir, readFile, symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {isErrorOf} from '../../src/errors/index.js'
import {type ClientName, clientConfiguration, clientFile, mergeIntoClientFile} from '../../src/mcp/index.js'
import {temporaryFolder} from '../support/temporary.js'

const entry = {command: '/bin/node', args: ['/opt/svc/bin/svc.js', 'mcp', 'serve']}

describe('clientFile', () => {
  const linux = {platform: 'linux', home: '/home/ada', env: {}} as const
  const macos = {platform: 'darwin', home: '/Users/ada', env: {}} as const
  const windows = {
    platform: 'win32',
    home: 'C:\\Users\\ada',
    env: {APPDATA: 'C:\\Users\\ada\\AppData\\Roaming'},
  } as const
  const expected: Record<ClientName, [string, string, string]> = {
    claude: [
      '/home/ada/.config/Claude/claude_desktop_config.json',
      '/Users/ada/Library/Application Support/Claude/claude_desktop_config.json',
      'C:\\Users\\ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
    ],
    cursor: ['/home/ada/.cursor/mcp.json', '/Users/ada/.cursor/mcp.json', 'C:\\Users\\ada\\.cursor\\mcp.json'],
    vscode: [
      '/home/ada/.config/Code/User/mcp.json',
      '/Users/ada/Library/Application Support/Code/User/mcp.json',
      'C:\\Users\\ada\\AppData\\Roaming\\Code\\User\\mcp.json',
    ],
    zed: [
      '/home/ada/.config/zed/settings.json',
      '/Users/ada/.config/zed/settings.json',
      'C:\\Users\\ada\\AppData\\Roaming\\Zed\\settings.json',
    ],
  }
  for (const [client, files] of Object.entries(expected) as [ClientName, string[]][])
    it(`is found for ${client} on Linux, macOS and Windows`, () => {
      assert.deepEqual(
        [linux, macos, windows].map((folders) => clientFile(client, folders)),
        files,
      )
    })

  it('is in XDG_CONFIG_HOME if that is set', () => {
    const env = {XDG_CONFIG_HOME: '/etc/ada'}
    assert.equal(clientFile('zed', {...linux, env}), '/etc/ada/zed/settings.json')
  })
})

describe('mergeIntoClientFile', () => {
  const merge = (path: string, client: ClientName = 'claude') =>
    mergeIntoClientFile(path, clientConfiguration(client, 'svc', entry))

  it('keeps comments, other settings, indentation and line endings', async (t) => {
    const path = join(await temporaryFolder(t), 'settings.json')
    const before =
      '// Zed\r\n{\r\n\t"theme": "One", // dark\r\n\t"context_servers": {\r\n\t\t"a": 1, // mine\r\n\t},\r\n}\r\n'
    await writeFile(path, before)
    const copy = await merge(path, 'zed')
    const after = await readFile(path, 'utf8')
    const [head = '', tail = ''] = before.split('1, // mine')
    assert.ok(after.startsWith(head) && after.endsWith(tail), after)
    for (const part of ['// mine', '\t\t"svc": {\r\n\t\t\t"command": "/bin/node",'])
      assert.ok(after.includes(part), after)
    assert.doesNotMatch(after, /[^\r]\n/)
    assert.equal(await readFile(copy as string, 'utf8'), before)
  })

  it('creates a missing file without a backup', async (t) => {
    const path = join(await temporaryFolder(t), 'deep/mcp.json')
    assert.equal(await merge(path, 'vscode'), undefined)
    assert.deepEqual(JSON.parse(await readFile(path, 'utf8')), {servers: {svc: {type: 'stdio', ...entry}}})
  })

  for (const [what, text] of [
    ['is empty', ''],
    ['starts with a byte order mark', '\uFEFF{"theme": 1}'],
    ['contains only a comment', '// nothing yet\n'],
  ] as const)
    it(`accepts a file that ${what}`, async (t) => {
      const path = join(await temporaryFolder(t), 'mcp.json')
      await writeFile(path, text)
      await merge(path)
      const after = await readFile(path, 'utf8')
      assert.equal(after.startsWith('\uFEFF'), text.startsWith('\uFEFF'))
      assert.match(after, /"command": "\/bin\/node"/)
      assert.equal(await merge(path), null)
    })

  it('replaces the command of an existing entry and keeps its other members', async (t) => {
    const path = join(await temporaryFolder(t), 'mcp.json')
    await writeFile(path, '{"mcpServers": {"svc": {"command": "npx", "args": ["svc"], "env": {"A": "1"}}}}')
    await merge(path)
    assert.deepEqual(JSON.parse(await readFile(path, 'utf8')).mcpServers.svc, {...entry, env: {A: '1'}})
  })

  it('writes nothing if the entry is up to date', async (t) => {
    const folder = await temporaryFolder(t)
    const path = join(folder, 'mcp.json')
    await merge(path)
    assert.equal(await merge(path), null)
    assert.deepEqual(await readdir(folder), ['mcp.json'])
  })

  it('changes the target of a symbolic link and keeps the link', async (t) => {
    const folder = await temporaryFolder(t)
    const [target, path] = [join(folder, 'dotfile.json'), join(folder, 'mcp.json')]
    await writeFile(target, '{}')
    await symlink(target, path)
    await merge(path)
    assert.ok((await lstat(path)).isSymbolicLink())
    assert.ok('svc' in JSON.parse(await readFile(target, 'utf8')).mcpServers)
  })

  it('rejects a dangling symbolic link', async (t) => {
    const path = join(await temporaryFolder(t), 'mcp.json')
    await symlink(`${path}.gone`, path)
    await assert.rejects(merge(path), (error) => isErrorOf(error, 'file_unwritable'))
  })

  const twice = '{"mcpServers": {}, "mcpServers": {"a": {}}}'
  for (const [what, text, reason] of [
    ['cannot be parsed', '{\n  "a": 1\n  "b": 2\n}', 'comma expected at line 3, column 3'],
    ['is not an object', '[]', 'the file is not a JSON object'],
    ['is null', 'null', 'the file is not a JSON object'],
    ['has servers that are not an object', '{"mcpServers": []}', '"mcpServers" is not an object'],
    ['has an entry that is not an object', '{"mcpServers": {"svc": 1}}', '"svc" is not an object'],
    ['has a duplicate key', twice, 'the key "mcpServers" or "svc" is duplicated'],
    ['is not UTF-8', Buffer.from('{"a": "\xff"}', 'latin1'), 'the file is not UTF-8'],
  ] as const)
    it(`rejects a file that ${what} and leaves it unchanged`, async (t) => {
      const folder = await temporaryFolder(t)
      const path = join(folder, 'mcp.json')
      await writeFile(path, text)
      await assert.rejects(
        merge(path),
        (error) => isErrorOf(error, 'mcp_client_file_invalid') && error.params.reason === reason,
      )
      assert.deepEqual(await readFile(path), Buffer.from(text))
      assert.deepEqual(await readdir(folder), ['mcp.json'])
    })
})
