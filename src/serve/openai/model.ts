import type {ServedModel} from '../served-model.js'

/** `GET /v1/models/{id}` */
export const modelEntry = (model: ServedModel) => ({
  id: model.name,
  object: 'model',
  created: Math.floor(model.modifiedAt.getTime() / 1000),
  owned_by: 'svc',
})

/** `GET /v1/models` */
export const modelList = (models: readonly ServedModel[]) => ({object: 'list', data: models.map(modelEntry)})
