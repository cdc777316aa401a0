import {mkdtemp, rm, symlink, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {asLine, initialize, startServer, timeStart} from '../../src/bench/mcp-client.js'
import {median, round} from '../../src/bench/measure.js'
import {projectFile} from '../support/project.js'

const rounds = 20
const lists = 200

/** Time to the response to `initialize`: `svc mcp serve` compared with an empty server of the same library. */
export async function mcpStart() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  try {
    const bare = await writeBare(folder)
    const times = {svc: [] as number[], bare: [] as number[]}
    for (let round = -1; round < rounds; round++) {
      const svc = await timeStart([projectFile('bin/svc.js'), 'mcp', 'serve', '--quiet'], {cwd: folder})
      const other = await timeStart([bare], {cwd: folder})
      // The first round loads the files into the file cache.
      if (round === -1) continue
      times.svc.push(svc)
      times.bare.push(other)
    }
    const ratio = round(median(times.svc.map((time, i) => time / (times.bare[i] as number))), 3)
    const listMs = round(await timeLists(folder), 2)
    if (ratio > 2.5)
      throw new Error(`svc mcp serve starts ${ratio} times as slowly as a bare server; 2.5 is the limit.`)
    if (listMs > 5) throw new Error(`tools/list takes ${listMs} ms; 5 is the limit.`)
    return {
      against: 'a server of the same library that has no tools',
      a_ms: round(median(times.svc)),
      b_ms: round(median(times.bare)),
      ratio,
      limit: 2.5,
      tools_list_ms: listMs,
      tools_list_limit_ms: 5,
    }
  } finally {
    await rm(folder, {recursive: true})
  }
}

async function writeBare(folder: string): Promise<string> {
  await symlink(projectFile('node_modules'), join(folder, 'node_modules'))
  const file = join(folder, 'bare.mjs')
  await writeFile(
    file,
    `import {Server} from '@modelcontextprotocol/server'
import {StdioServerTransport} from '@modelcontextprotocol/server/stdio'
await new Server({name: 'bare', version: '1'}, {capabilities: {tools: {}}}).connect(new StdioServerTransport())
`,
  )
  return file
}

/** Duration of a `tools/list` request, ms, over many requests. */
async function timeLists(cwd: string): Promise<number> {
  const {ask, end} = startServer([projectFile('bin/svc.js'), 'mcp', 'serve', '--quiet', '--tiers', 'all'], {cwd})
  await ask(initialize)
  const times: number[] = []
  for (let id = 2; id < lists + 2; id++) {
    const asked = performance.now()
    await ask(asLine({id, method: 'tools/list'}))
    times.push(performance.now() - asked)
  }
  await end()
  return median(times)
}
