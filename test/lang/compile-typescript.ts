import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {execa} from 'execa'
import {projectFile} from '../support/project.js'

/** Compiles the TypeScript in `api` of a folder to JavaScript in `out`, in strict mode. */
export async function compileTypeScript(folder: string): Promise<void> {
  const compilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    target: 'es2023',
    module: 'nodenext',
    lib: ['es2023', 'dom'],
    types: [],
    rootDir: 'api',
    outDir: 'out',
  }
  await writeFile(join(folder, 'package.json'), '{"type": "module"}')
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({compilerOptions, include: ['api']}))
  const compiler = projectFile('node_modules/typescript/bin/tsc')
  const {exitCode, stdout} = await execa(process.execPath, [compiler, '-p', folder], {reject: false})
  assert.equal(exitCode, 0, stdout)
}
