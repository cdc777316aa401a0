import type {ResourceTemplateType, Result, Server} from '@modelcontextprotocol/server'
import {SKILLS_GET_METHOD, SKILLS_LIST_METHOD} from '@modelcontextprotocol/server/ext/skills'
import {SvcError} from '../errors/index.js'
import {loadSkills} from '../operations/index.js'
import {anyParams} from './any-params.js'
import {answering} from './protocol-error.js'
import type {RunningRequests} from './running-requests.js'

export const skillTemplate: ResourceTemplateType = {
  uriTemplate: 'skill://{name}/{+path}',
  name: 'skill',
  title: 'Guide',
  description: 'A file of a guide to svc. skills/list lists the guides.',
  mimeType: 'text/markdown',
}

export const isSkillUri = (uri: unknown): uri is string => typeof uri === 'string' && uri.startsWith('skill://')

/**
 * The result of a request about skills, which needs no workspace; undefined for other requests.
 * @throws params_invalid, resource_not_found
 */
export async function skillResult(
  method: string,
  {uri}: Readonly<Record<string, unknown>>,
): Promise<Result | undefined> {
  const isRead = method === 'resources/read' && isSkillUri(uri)
  if (!isRead && method !== SKILLS_LIST_METHOD && method !== SKILLS_GET_METHOD) return undefined
  const {listSkills, readSkillFile, requireSkill, skillCache} = await loadSkills()
  if (isRead) return {contents: [await readSkillFile(uri)]}
  if (method === SKILLS_LIST_METHOD) return {skills: await listSkills(), ...skillCache}
  if (typeof uri === 'string') return {skill: await requireSkill(uri), ...skillCache}
  throw new SvcError('params_invalid', {operation: method, violations: ['uri: expected string']})
}

/** Handles the requests of the extension for skills; files are read as resources. */
export function handleSkills(server: Server, running: RunningRequests): void {
  for (const method of [SKILLS_LIST_METHOD, SKILLS_GET_METHOD])
    server.setRequestHandler(method, {params: anyParams}, (params) =>
      answering(running, async () => (await skillResult(method, params)) as Result),
    )
}
