import {once} from 'node:events'
import {chmod, writeFile} from 'node:fs/promises'
import {createServer} from 'node:http'
import {join} from 'node:path'
import {svcInTurn} from './svc-in-turn.js'

/**
 * Writes a program `svc` into a folder, for shells: it has its command line run in turn, with its variables and in its
 * folder, and prints what that prints on standard output. Where that fails, it prints why and ends with 22. It reads
 * no standard input, and works until the function that is returned is called.
 */
export async function writeSvcInTurn(folder: string): Promise<() => void> {
  const socket = join(folder, 'svc.socket')
  const server = createServer(async (request, response) => {
    // As `env -0` prints them, and arguments after an empty line of the same kind.
    const sent = Buffer.concat(await request.toArray()).toString()
    const end = sent.indexOf('\0\0')
    const all = new Map(
      sent
        .slice(0, end)
        .split('\0')
        .map((each) => [each.replace(/=.*/s, ''), each.replace(/^.*?=/s, '')]),
    )
    const env = Object.fromEntries([...all].filter(([name]) => name === 'HOME' || name.startsWith('SVC_')))
    const args = sent
      .slice(end + 2)
      .split('\0')
      .slice(0, -1)
    const {exitCode, stdout, stderr} = await svcInTurn(args, {cwd: all.get('PWD') ?? folder, env})
    response.writeHead(exitCode === 0 ? 200 : 500).end(exitCode === 0 ? stdout : stderr)
  }).listen(socket)
  await once(server, 'listening')
  const program = join(folder, 'svc')
  const send = `curl -sS --fail-with-body --unix-socket '${socket}' --data-binary @- http://svc/`
  await writeFile(program, `#!/bin/bash\nexec ${send} < <(env -0; printf '\\0'; printf '%s\\0' "$@")\n`)
  await chmod(program, 0o755)
  return () => void server.close()
}
