import {readdir, readFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {ManifestEntry} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {parseYaml} from '../../files/index.js'
import {matchesGlob, type Scopes, type WorkspaceContext} from '../../workspace/index.js'
import {appendEvent} from '../events/event-log.js'
import type {AgentRow} from './agent-rows.js'
import {reliabilityOfAgent} from './trust.js'

type Writer = Pick<AgentRow, 'id' | 'name'>

/**
 * Reads the scopes in `.svc/agents/NAME.md`. A file may begin with YAML front matter whose `scope` lists patterns.
 * @throws document_unparsable
 */
export async function readScopes(root: string): Promise<Scopes> {
  const folder = join(root, '.svc', 'agents')
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    // A folder that exists but cannot be read may contain scopes: ignoring it would drop the limits.
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw SvcError.from(error)
    return []
  })
  const scopes = new Map<string, readonly string[]>()
  for (const name of names.filter((each) => each.endsWith('.md'))) {
    const path = join(folder, name)
    const scope = await scopeOf(path)
    if (scope !== undefined) scopes.set(name.slice(0, -'.md'.length), scope)
  }
  return scopes
}

async function scopeOf(path: string): Promise<readonly string[] | undefined> {
  const text = await readFile(path, 'utf8')
  const front = /^---\r?\n([\s\S]*?)\r?\n---\s*(\r?\n|$)/.exec(text)?.[1]
  if (front === undefined) return undefined
  const scope = await readScope(path, front)
  if (scope === undefined || scope === null) return undefined
  const patterns = [scope].flat()
  if (patterns.every((pattern) => typeof pattern === 'string')) return patterns
  throw new SvcError('document_unparsable', {subject: path, reason: 'its scope is not a list of patterns'})
}

async function readScope(path: string, front: string): Promise<unknown> {
  try {
    return ((await parseYaml(front)) as {scope?: unknown} | null)?.scope
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n')
    throw new SvcError('document_unparsable', {subject: path, reason: reason.replace(/:$/, '')}, {cause: error})
  }
}

/**
 * Checks the files that a task would write against the scope of its agent. Under strict enforcement, a file outside the
 * scope is rejected unless the agent is exempt by its reliability. Otherwise the violation is only recorded.
 * @returns the files outside the scope
 * @throws scope_denied
 */
export function checkScope(context: WorkspaceContext, agent: Writer, writes: readonly ManifestEntry[]): string[] {
  const [denied] = deniedByScope(context, agent, writes)
  if (denied !== undefined) throw new SvcError('scope_denied', {agent: agent.name, path: denied})
  const scope = context.scopes.get(agent.name) ?? []
  const outside = outsideScope(context, agent, writes)
  for (const path of outside)
    appendEvent(context, {type: 'scope_violation', agent_id: agent.id, path, reason: `scope is ${scope.join(', ')}`})
  return outside
}

/** The files that strict enforcement does not let an agent write. */
export function deniedByScope(context: WorkspaceContext, agent: Writer, writes: readonly ManifestEntry[]): string[] {
  if (context.config.scopeEnforcement !== 'strict') return []
  const outside = outsideScope(context, agent, writes)
  return outside.length > 0 && isRelaxed(context, agent) ? [] : outside
}

/** The files outside the scope of an agent, if scopes are enforced. */
function outsideScope({scopes, config}: WorkspaceContext, {name}: Writer, writes: readonly ManifestEntry[]): string[] {
  const scope = scopes.get(name)
  if (scope === undefined || config.scopeEnforcement === 'disabled') return []
  return writes.map(({path}) => path).filter((path) => !scope.some((pattern) => covers(pattern, path)))
}

/** A pattern covers its matches, everything under a folder that it names, and the parent folders of the pattern. */
const covers = (pattern: string, path: string): boolean =>
  matchesGlob(path, pattern) || path.startsWith(`${pattern.replace(/\/$/, '')}/`) || pattern.startsWith(`${path}/`)

/** True if strict enforcement is relaxed for an agent because of its reliability. */
function isRelaxed(context: WorkspaceContext, {name}: Writer): boolean {
  const {trustGateRelaxEnabled: isEnabled, trustGateRelaxMinReliability: min} = context.config
  if (!isEnabled) return false
  const reliability = reliabilityOfAgent(context, name)
  return reliability !== undefined && reliability >= min
}
