import {readdir, readFile} from 'node:fs/promises'
import {homedir} from 'node:os'
import {join} from 'node:path'
import {assertContract, readDocument} from '../contracts/index.js'
import {nearest, SvcError} from '../errors/index.js'
import {writeFileAtomic} from '../files/index.js'
import type {Conversation} from './conversation.js'

/** The folder of a user's saved conversations. */
export const conversationsFolder = (env: NodeJS.ProcessEnv = process.env): string =>
  join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'svc', 'conversations')

/** @throws conversation_name_invalid */
function pathOf(name: string): string {
  if (!/^\w[\w.-]{0,99}$/.test(name)) throw new SvcError('conversation_name_invalid', {name})
  return join(conversationsFolder(), `${name}.json`)
}

/**
 * Writes a conversation to a file of its user that others cannot read, and replaces an earlier one of the name.
 * @returns the path
 * @throws conversation_name_invalid; what `writeFileAtomic` throws
 */
export async function saveConversation(name: string, conversation: Conversation): Promise<string> {
  const path = pathOf(name)
  await writeFileAtomic(path, `${JSON.stringify(conversation, null, 2)}\n`, {mode: 0o600, folderMode: 0o700})
  return path
}

/** @throws conversation_name_invalid, conversation_not_found, document_unparsable, contract_violation */
export async function loadConversation(name: string): Promise<Conversation> {
  const path = pathOf(name)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') throw SvcError.from(error)
    const names = await savedNames()
    const params = {name, folder: conversationsFolder(), saved: names.join(', '), suggestion: nearest(name, names)}
    throw new SvcError('conversation_not_found', params, {cause: error})
  }
  const conversation = await readDocument(text, path)
  await assertContract('cli/conversation.v1', conversation, path)
  return conversation as Conversation
}

const savedNames = async (): Promise<string[]> =>
  (await readdir(conversationsFolder()).catch(() => []))
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .sort()
