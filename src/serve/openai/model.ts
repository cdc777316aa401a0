import type {ModelEntry, ServedModel} from '../served-model.js'

/** `GET /v1/models/{id}` */
export const modelEntry = (model: ServedModel): ModelEntry => ({
  id: model.name,
  object: 'model',
  created: Math.floor(model.modifiedAt.getTime() / 1000),
  owned_by: 'svc',
})

/** `GET /v1/models` */
export const modelList = (data: readonly ModelEntry[]) => ({object: 'list', data})

/**
 * `GET /v1/models` of Codex, which requires a catalogue of its own. Without entries, it uses its own description of a model
 * and its own instructions, which an entry would have to replace.
 */
export const codexModelList = (data: readonly ModelEntry[]) => ({...modelList(data), models: []})
