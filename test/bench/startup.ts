import {mkdir, mkdtemp, rm, symlink, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {projectFile} from '../support/project.js'
import {compareProcesses} from './measure.js'

/** `svc --version` and `svc --help` against a command line that has one command, `hello`, and nothing else. */
export async function startup() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  try {
    const hello = await writeHello(folder)
    const svc = projectFile('bin/svc.js')
    const compare = (flag: string) =>
      compareProcesses([process.execPath, svc, flag], [process.execPath, hello, flag], 20)
    return {against: 'a bare oclif command line', version: compare('--version'), help: compare('--help')}
  } finally {
    await rm(folder, {recursive: true})
  }
}

/** Has a manifest, as a published command line would. */
async function writeHello(folder: string): Promise<string> {
  await mkdir(join(folder, 'commands'))
  await symlink(projectFile('node_modules'), join(folder, 'node_modules'))
  const command = `import {Command} from '@oclif/core'
export default class Hello extends Command {
  static summary = 'Say hello.'
  async run() { this.log('hello') }
}
`
  const manifest = {
    version: '1.0.0',
    commands: {
      hello: {
        id: 'hello',
        aliases: [],
        args: {},
        flags: {},
        hiddenAliases: [],
        pluginName: 'hello',
        pluginAlias: 'hello',
        pluginType: 'core',
        strict: true,
        summary: 'Say hello.',
        isESM: true,
        relativePath: ['commands', 'hello.js'],
      },
    },
  }
  const files = {
    'package.json': JSON.stringify({
      name: 'hello',
      version: '1.0.0',
      type: 'module',
      oclif: {bin: 'hello', commands: './commands'},
    }),
    'commands/hello.js': command,
    'oclif.manifest.json': JSON.stringify(manifest),
    'hello.js': "import {execute} from '@oclif/core'\nawait execute({dir: import.meta.url})\n",
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return join(folder, 'hello.js')
}
