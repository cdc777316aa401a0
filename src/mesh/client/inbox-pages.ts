import type {StoredMessage} from '../protocol/message.js'
import type {MeshClient} from './client.js'
import type {CallOptions} from './requests.js'

export interface InboxPages {
  receiver: string
  /** Messages per page, 1 to 256; default 64. */
  pageSize?: number | undefined
  /** Maximum number of pages; default 32. */
  maxPages?: number | undefined
  /** Only messages with a smaller id. */
  before?: number | undefined
  /** Only messages of these types. */
  types?: readonly string[] | undefined
}

const defaultPageSize = 64
const maxPageSize = 256
const defaultPages = 32

/** Reads an inbox page by page, newest messages first, without claiming. Ends at the first empty page. */
export async function* inboxPages(
  client: Pick<MeshClient, 'inbox'>,
  {receiver, pageSize = defaultPageSize, maxPages = defaultPages, types, ...first}: InboxPages,
  options?: CallOptions,
): AsyncGenerator<StoredMessage[]> {
  const maxMessages = Math.min(Math.max(Math.trunc(pageSize), 1), maxPageSize)
  let {before} = first
  for (let page = 1; page <= maxPages; page++) {
    const request = {receiver, maxMessages, beforeMessageId: before, messageTypes: types}
    const messages = await client.inbox(request, options)
    if (messages.length === 0) return
    yield messages
    const smallest = Math.min(...messages.map(({id}) => id))
    // A control plane without paging returns the first page again.
    if (before !== undefined && smallest >= before) return
    before = smallest
  }
}
