import type {Resource, ResourceTemplate} from '@modelcontextprotocol/sdk/types.js'
import type {OperationBase} from '../../operations/index.js'
import {conversationPage} from './conversations.js'
import {type Place, toCursor} from './cursor.js'
import {chatUri, tasksUri, taskUri} from './uri.js'

/** Resources of one page. */
const pageSize = 50
/** Characters of a description that stand for all of it. */
const titleLength = 80

export const jsonType = 'application/json'

/** What there is beside what is listed: every task and every conversation has a URI. */
export const resourceTemplates: readonly ResourceTemplate[] = [
  {uriTemplate: 'svc://tasks/{id}', name: 'task', title: 'A task', description: 'All of a task.', mimeType: jsonType},
  {
    uriTemplate: 'svc://tasks/{id}/transcript',
    name: 'task-transcript',
    title: 'Transcript of a task',
    description: 'What its agents noted while they worked on it, and what came of it.',
    mimeType: jsonType,
  },
  {
    uriTemplate: 'svc://chats/{session_id}',
    name: 'chat',
    title: 'A chat',
    description: 'The messages of a chat session.',
    mimeType: jsonType,
  },
]

/** The first resource of all: a client that knows no ids reads it. */
const recentTasks: Resource = {
  uri: tasksUri,
  name: 'tasks',
  title: 'Recent tasks',
  description: 'The newest tasks of the workspace.',
  mimeType: jsonType,
}

/** A type, and no interface: the protocol's own results are open. */
export type ResourcePage = {resources: Resource[]; nextCursor?: string}

/** One page: the recent tasks as a whole, every task, the newest first, then every conversation. */
export async function listResources(base: OperationBase, place?: Place): Promise<ResourcePage> {
  if (place !== undefined && 'chatsFrom' in place) return listChats(base, place.chatsFrom)
  const {modules, orchestrator} = base
  const before = place?.tasksBefore
  const tasks = modules.tasks.listTasks(orchestrator, {
    limit: pageSize,
    ...(before === undefined ? {} : {beforeId: before}),
  })
  const resources = tasks.map(({id, display_id, status, description}) => ({
    uri: taskUri(id),
    name: display_id,
    title: oneLine(description),
    description: status,
    mimeType: jsonType,
  }))
  const first = place === undefined ? [recentTasks] : []
  const last = tasks.at(-1)
  if (tasks.length === pageSize && last !== undefined)
    return {resources: [...first, ...resources], nextCursor: toCursor({tasksBefore: last.id})}
  const chats = await listChats(base, 0)
  return {...chats, resources: [...first, ...resources, ...chats.resources]}
}

async function listChats(base: OperationBase, offset: number): Promise<ResourcePage> {
  const found = await conversationPage(base, {offset, limit: pageSize})
  const resources = found.map(({session_id, title}) => ({
    uri: chatUri(session_id),
    name: session_id,
    ...(title === '' ? {} : {title: oneLine(title)}),
    mimeType: jsonType,
  }))
  return found.length < pageSize ? {resources} : {resources, nextCursor: toCursor({chatsFrom: offset + found.length})}
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= titleLength ? line : `${line.slice(0, titleLength - 1)}…`
}
