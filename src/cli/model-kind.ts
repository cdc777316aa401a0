import {join} from 'node:path'

/** What svc can do with a model; `other` if nothing. */
export type ModelKind = 'language' | 'speech' | 'other'

/** The kind of a model that is a file. */
export const fileKind = (file: string): ModelKind => (/\.gguf$/i.test(file) ? 'language' : 'speech')

/** The kind of the model in a directory, from its configuration alone; its weights may be missing. */
export async function modelKind(folder: string): Promise<ModelKind> {
  const {readJsonObject} = await import('../weights/index.js')
  const {isLanguageModelFolder} = await import('../llm/index.js')
  const {isSpeechModel} = await import('../speech/index.js')
  if (await isLanguageModelFolder(folder)) return 'language'
  const config = await readJsonObject(join(folder, 'config.json')).catch(() => undefined)
  return config !== undefined && isSpeechModel(config) ? 'speech' : 'other'
}
