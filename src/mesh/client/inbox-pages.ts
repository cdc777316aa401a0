import type {StoredMessage} from '../protocol/message.js'
import type {MeshClient} from './client.js'
import type {CallOptions} from './requests.js'

export interface InboxPages {
  receiver: string
  /** Messages of a page: 1 to 256; 64 where it is left out. */
  pageSize?: number | undefined
  /** Pages that are read at most; 32 where it is left out. */
  maxPages?: number | undefined
  /** Only messages with a smaller id. */
  before?: number | undefined
  /** Only messages of these types. */
  types?: readonly string[] | undefined
}

const defaultPageSize = 64
const largestPage = 256
const defaultPages = 32

/** Goes through an inbox page by page, the newest messages first, and takes nothing. Ends with the first empty page. */
export async function* inboxPages(
  client: Pick<MeshClient, 'inbox'>,
  {receiver, pageSize = defaultPageSize, maxPages = defaultPages, types, ...first}: InboxPages,
  options?: CallOptions,
): AsyncGenerator<StoredMessage[]> {
  const maxMessages = Math.min(Math.max(Math.trunc(pageSize), 1), largestPage)
  let {before} = first
  for (let page = 1; page <= maxPages; page++) {
    const request = {receiver, maxMessages, beforeMessageId: before, messageTypes: types}
    const messages = await client.inbox(request, options)
    if (messages.length === 0) return
    yield messages
    const smallest = Math.min(...messages.map(({id}) => id))
    // A control plane that does not know pages gives the first one again.
    if (before !== undefined && smallest >= before) return
    before = smallest
  }
}
