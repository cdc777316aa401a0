import {asOllamaError, SvcError} from '../../errors/index.js'
import {clientGone, type HttpApp, ndjsonStream, streamEvents} from '../../net/index.js'
import {definedEntries, Fields} from '../body.js'
import type {ServeContext} from '../context.js'
import type {DownloadProgress, ModelManagement} from '../model-management.js'
import {refuseRoute} from '../reply.js'

/** Routes that no model of this server can answer, and what they would do. */
const refused = {
  '/api/create': 'creating models is',
  '/api/copy': 'copying models is',
  '/api/push': 'publishing models is',
}

/** `POST /api/pull` and `DELETE /api/delete`, if the server may change the models of this machine; else they are refused. */
export function managementRoutes(app: HttpApp, {models, management}: ServeContext): void {
  for (const [url, what] of Object.entries(refused))
    refuseRoute(app, url, () => new SvcError('not_implemented', {what}))
  app.post('/api/pull', async (request, reply) => {
    const {pull} = required(management, '/api/pull')
    const {name, stream} = readPull(request.body)
    const gone = clientGone(reply)
    if (!stream) {
      await pull(name, () => undefined, gone)
      return {status: 'success'}
    }
    await streamEvents(
      pullLines((onProgress) => pull(name, onProgress, gone)),
      () => ndjsonStream(reply),
      (lines, line) => lines.write(line),
      (lines, error) => lines.write(asOllamaError(SvcError.from(error))),
      request,
    )
    return reply
  })
  app.delete('/api/delete', async ({body}, reply) => {
    const {remove} = required(management, '/api/delete')
    const name = readName(Fields.ofBody(body))
    await remove(name, await models.giveUp(name))
    return reply.code(200).send()
  })
}

function required(management: ModelManagement | undefined, path: string): ModelManagement {
  if (management === undefined) throw new SvcError('models_read_only', {path})
  return management
}

/** @throws bad_request, body_missing */
function readPull(body: unknown): {name: string; stream: boolean} {
  const fields = Fields.ofBody(body)
  if (fields.boolean('insecure') === true) throw fields.wrong('insecure', 'be false')
  return {name: readName(fields), stream: fields.boolean('stream') ?? true}
}

/** Clients of Ollama may add its default tag. */
function readName(fields: Fields): string {
  const name = fields.string('model') || fields.string('name')
  if (!name) throw new SvcError('bad_request', {reason: 'model is required', param: 'model'})
  return name.replace(/:latest$/, '')
}

/** Bytes between two lines about a file, and its part. */
const lineBytes = 1 << 20
const lineParts = 100

/** The lines of a download. The first follows the first progress, so that a model that cannot be downloaded gets a status. */
async function* pullLines(
  pull: (onProgress: (progress: DownloadProgress) => void) => Promise<void>,
): AsyncGenerator<object, void, undefined> {
  const lines: object[] = []
  let wake = () => {}
  let last: {file: string; bytes: number} | undefined
  let hasEnded = false
  const pulled = pull((progress) => {
    const {file, completedBytes: bytes, totalBytes: total = 0} = progress
    if (last === undefined) lines.push({status: 'pulling manifest'})
    const step = Math.max(lineBytes, total / lineParts)
    if (last?.file === file && bytes < total && bytes - last.bytes < step) return
    last = {file, bytes}
    lines.push(progressLine(progress))
    wake()
  }).finally(() => {
    hasEnded = true
    wake()
  })
  pulled.catch(() => undefined)
  for (;;) {
    const line = lines.shift()
    if (line !== undefined) yield line
    else if (hasEnded) break
    else
      await new Promise<void>((resolve) => {
        wake = resolve
      })
  }
  await pulled
  yield {status: 'success'}
}

const progressLine = ({file, digest, completedBytes: completed, totalBytes: total}: DownloadProgress) => ({
  status: `pulling ${file}`,
  ...definedEntries({digest, total}),
  completed,
})
