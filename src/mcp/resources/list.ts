import type {Resource, ResourceTemplateType} from '@modelcontextprotocol/server'
import {excerpt} from '../../errors/index.js'
import type {OperationBase} from '../../operations/index.js'
import {conversationPage} from './conversations.js'
import {type ResourcePlace, toCursor} from './cursor.js'
import {chatUri, tasksUri, taskUri} from './uri.js'

/** Number of resources per page. */
const pageSize = 50
const titleLength = 80

export const jsonType = 'application/json'

export const resourceTemplates: readonly ResourceTemplateType[] = [
  {
    uriTemplate: 'svc://tasks/{id}',
    name: 'task',
    title: 'Task',
    description: 'A task with all fields.',
    mimeType: jsonType,
  },
  {
    uriTemplate: 'svc://tasks/{id}/transcript',
    name: 'task-transcript',
    title: 'Task transcript',
    description: 'Notes of the agents that worked on the task, and its result.',
    mimeType: jsonType,
  },
  {
    uriTemplate: 'svc://chats/{session_id}',
    name: 'chat',
    title: 'Chat',
    description: 'Messages of a chat session.',
    mimeType: jsonType,
  },
]

/** Listed first, as an entry point for clients that know no task ids. */
const recentTasks: Resource = {
  uri: tasksUri,
  name: 'tasks',
  title: 'Recent tasks',
  description: 'The newest tasks of the workspace.',
  mimeType: jsonType,
}

/** A type alias, because an interface is not assignable to the open result types of the MCP library. */
export type ResourcePage = {resources: Resource[]; nextCursor?: string}

/** One page of the list: the recent tasks as one resource, then all tasks, newest first, then all conversations. */
export async function listResources(base: OperationBase, place?: ResourcePlace): Promise<ResourcePage> {
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

const oneLine = (text: string): string => excerpt(text.replaceAll(/\s+/g, ' ').trim(), titleLength)
