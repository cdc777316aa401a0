import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {execa} from 'execa'
import {projectFile} from '../support/project.js'
import {temporaryFolder} from '../support/temporary.js'

const hourMs = 3_600_000
const clock = projectFile('dist/src/prove/server/clock.js')

/** Prints the time in a process and its thread before and after the file has changed. */
const program = `
const {Worker} = await import('node:worker_threads')
const {writeFileSync} = await import('node:fs')
const readTime = () => new Promise((resolve) => {
  const worker = new Worker("import('node:worker_threads').then(({parentPort}) => parentPort.postMessage(Date.now()))", {eval: true})
  worker.once('message', (time) => resolve([Date.now(), new Date().getTime(), time]))
})
const first = await readTime()
writeFileSync(process.env.SVC_PROVE_CLOCK, '-3600000')
await new Promise((resolve) => setTimeout(resolve, 60))
console.log(JSON.stringify([first, await readTime(), new Date(5).getTime()]))
`

describe('shifted clock', () => {
  it('shifts Date in all threads by the offset in the file and follows its changes', async (test) => {
    const path = join(await temporaryFolder(test), 'clock')
    await writeFile(path, String(hourMs))
    const args = ['--import', clock, '--input-type=module', '--eval', program]
    const {stdout} = await execa(process.execPath, args, {env: {SVC_PROVE_CLOCK: path}})
    const [before, after, given] = JSON.parse(stdout) as [number[], number[], number]
    const off = (times: number[]) => times.map((time) => Math.round((time - Date.now()) / hourMs))
    assert.deepEqual([off(before), off(after), given], [[1, 1, 1], [-1, -1, -1], 5])
  })
})
