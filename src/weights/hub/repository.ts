import {SvcError} from '../../errors/index.js'
import {bodyOf, type HubOptions, hubGet, withRetries} from './hub-request.js'

export interface HubFile {
  /** Path inside the repository. */
  name: string
  /** Bytes, if the hub reports them. */
  size: number | undefined
  checksum: {algorithm: 'sha256' | 'git-sha1'; hex: string} | undefined
}

export interface HubRevision {
  /** The commit, 40 hexadecimal digits. */
  commit: string
  files: HubFile[]
}

const maxBytes = 16 << 20
const maxFiles = 10_000

/**
 * Lists the files of a model at a revision.
 * @throws hub_model_unknown, hub_revision_unknown, hub_access_denied, hub_unreachable, hub_failed, hub_answer_invalid
 */
export async function readRevision(id: string, revision: string, options: HubOptions): Promise<HubRevision> {
  const url = `${options.endpoint}/api/models/${id}/revision/${encodeURIComponent(revision)}?blobs=true`
  const answer = await withRetries(url, options, () => readJson(url, id, revision, options))
  const fail = (reason: string) => new SvcError('hub_answer_invalid', {endpoint: options.endpoint, reason})
  const {sha, siblings} = (answer ?? {}) as Readonly<Record<string, unknown>>
  if (typeof sha !== 'string' || !/^[0-9a-f]{40}$/.test(sha)) throw fail('it contains no commit id')
  if (!Array.isArray(siblings)) throw fail('it contains no list of files')
  if (siblings.length > maxFiles) throw fail(`it lists more than ${maxFiles} files`)
  return {commit: sha, files: siblings.map((row) => readFile(row, fail))}
}

/** Address of a file of a repository. */
export const fileUrl = (id: string, commit: string, name: string, {endpoint}: HubOptions): string =>
  `${endpoint}/${id}/resolve/${commit}/${name.split('/').map(encodeURIComponent).join('/')}`

/**
 * Reads the `config.json` of a repository, without storing it; empty if it has none, or if it is not an object.
 * @throws what `readRevision` throws
 */
export async function readRepositoryConfig(
  id: string,
  commit: string,
  files: readonly HubFile[],
  options: HubOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const name = 'config.json'
  if (!files.some((file) => file.name === name)) return {}
  const url = fileUrl(id, commit, name, options)
  const value = await withRetries(url, options, () => readJson(url, id, commit, options))
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

async function readJson(url: string, id: string, revision: string, options: HubOptions): Promise<unknown> {
  const {endpoint} = options
  const response = await hubGet(url, {accept: 'application/json'}, options)
  await refuseDenied(response, id, options)
  if (response.statusCode === 404) {
    const code = response.headers['x-error-code']
    await response.body.dump()
    if (code === 'RevisionNotFound') throw new SvcError('hub_revision_unknown', {id, revision})
    throw new SvcError('hub_model_unknown', {id, endpoint})
  }
  if (response.statusCode !== 200) {
    await response.body.dump()
    throw new SvcError('hub_failed', {endpoint, status: response.statusCode})
  }
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of bodyOf(response, options)) {
    pieces.push(piece)
    length += piece.length
    if (length > maxBytes) throw new SvcError('hub_answer_invalid', {endpoint, reason: 'it is too long'})
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString('utf8'))
  } catch {
    throw new SvcError('hub_answer_invalid', {endpoint, reason: 'it is not JSON'})
  }
}

/**
 * Without a token, Hugging Face returns 401 both for a private model and for one that does not exist.
 * @throws hub_access_denied, hub_model_unknown
 */
export async function refuseDenied(
  {statusCode, headers, body}: Awaited<ReturnType<typeof hubGet>>,
  id: string,
  {token, endpoint}: HubOptions,
): Promise<void> {
  if (statusCode !== 401 && statusCode !== 403) return
  await body.dump()
  if (headers['x-error-code'] === 'RepoNotFound') throw new SvcError('hub_model_unknown', {id, endpoint})
  throw new SvcError('hub_access_denied', {id, status: statusCode, tokenSent: token !== undefined})
}

function readFile(row: unknown, fail: (reason: string) => SvcError): HubFile {
  const {rfilename: name, size, blobId, lfs} = (row ?? {}) as Readonly<Record<string, unknown>>
  if (typeof name !== 'string' || !isContained(name))
    throw fail(`it lists the invalid file name ${JSON.stringify(name)}`)
  const {sha256, size: largeSize} = (lfs ?? {}) as Readonly<Record<string, unknown>>
  const bytes = largeSize ?? size
  const known = Number.isSafeInteger(bytes) && (bytes as number) >= 0 ? (bytes as number) : undefined
  return {name, size: known, checksum: checksumOf(sha256, known === undefined ? undefined : blobId)}
}

/** @param blobId only if the size is known, because Git's hash includes it */
function checksumOf(sha256: unknown, blobId: unknown): HubFile['checksum'] {
  if (typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256)) return {algorithm: 'sha256', hex: sha256}
  if (typeof blobId === 'string' && /^[0-9a-f]{40}$/.test(blobId)) return {algorithm: 'git-sha1', hex: blobId}
  return undefined
}

/** Whether a path stays within its folder on every system: Windows reads `.. ` as `..`. */
const isContained = (name: string) =>
  name.length <= 512 && !/[\\\p{Cc}\p{Cs}]/u.test(name) && name.split('/').every((part) => !/^[. ]*$/.test(part))
