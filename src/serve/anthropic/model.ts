import type {IncomingHttpHeaders} from 'node:http'
import type {ModelEntry} from '../served-model.js'

/** Whether a client speaks Anthropic's API: its requests for models have the paths of OpenAI. */
export const isOfAnthropic = (headers: IncomingHttpHeaders): boolean => headers['anthropic-version'] !== undefined

/** `GET /v1/models/{id}` */
export const modelInfo = ({id, created}: ModelEntry) => ({
  type: 'model',
  id,
  display_name: id,
  created_at: new Date(created * 1000).toISOString(),
})

/** `GET /v1/models`: all models are on one page. */
export const modelInfos = (entries: readonly ModelEntry[]) => ({
  data: entries.map(modelInfo),
  has_more: false,
  first_id: entries[0]?.id ?? null,
  last_id: entries.at(-1)?.id ?? null,
})
