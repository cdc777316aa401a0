import {stat} from 'node:fs/promises'
import type {SpeechStatusV1} from '../../contracts/index.js'
import {nearest, SvcError} from '../../errors/index.js'
import type {HttpApp} from '../../net/index.js'

/** The speech model in use; null while the selected one is not on this machine. */
export type ServedSpeechModel = SpeechStatusV1['active_model']

/** Names of hosted models in existing programs, which mean the served model. */
const aliases = ['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe']

/** @throws model_not_served */
export function requireServed(model: string | undefined, served: NonNullable<ServedSpeechModel>): void {
  const {name} = served
  if (model === undefined || model === name || aliases.includes(model)) return
  throw new SvcError('model_not_served', {model, served: name, suggestion: nearest(model, [name])})
}

/** `GET /v1/models/{id}` */
export const speechModelEntry = async ({name: id, dir}: NonNullable<ServedSpeechModel>) => ({
  id,
  object: 'model',
  created: Math.floor((await stat(dir)).mtimeMs / 1000),
  owned_by: 'svc',
})

/** Adds the routes that list the served model. */
export function openAiModelRoutes(app: HttpApp, model: () => Promise<ServedSpeechModel>): void {
  app.get('/v1/models', async () => {
    const served = await model()
    return {object: 'list', data: served === null ? [] : [await speechModelEntry(served)]}
  })
  app.get<{Params: {id: string}}>('/v1/models/:id', async ({params}) => {
    const served = await model()
    if (served === null) throw new SvcError('speech_model_missing', {})
    requireServed(params.id, served)
    return speechModelEntry(served)
  })
}
