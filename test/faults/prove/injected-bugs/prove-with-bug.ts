/**
 * Runs `svc mesh prove` against a control plane with an injected bug: `prove-with-bug ROOT BUG ARGUMENT...`. ROOT is an
 * empty folder that replaces the program folder.
 */
import {mkdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {pathToFileURL} from 'node:url'
import type {Config} from '@oclif/core'
import MeshProve from '../../../../commands/mesh/prove.js'
import {projectFile} from '../../../support/project.js'

const [root = '', bug = '', ...args] = process.argv.slice(2)
const server = pathToFileURL(projectFile('dist/test/faults/prove/injected-bugs/server.js')).href
mkdirSync(join(root, 'bin'))
writeFileSync(join(root, 'package.json'), '{"type":"module"}')
const program = pathToFileURL(projectFile('bin/svc.js')).href
writeFileSync(
  join(root, 'bin', 'svc.js'),
  `const isServer = process.argv[3] === 'serve'
if (isServer) process.argv[2] = '${bug}'
await import(isServer ? '${server}' : '${program}')
`,
)

/** Starts the server from ROOT. */
class ProveWithBug extends MeshProve {
  static override flags = MeshProve.flags

  constructor(argv: string[], config: Config) {
    Object.defineProperty(config, 'root', {value: root})
    super(argv, config)
  }
}

await ProveWithBug.run(args, projectFile('.'))
