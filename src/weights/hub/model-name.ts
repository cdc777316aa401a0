/** A model of the hub as users write it: `owner/name[:FILE][@revision]`. */
export interface ModelName {
  /** Id `owner/name`; not checked. */
  id: string
  /** A file of the repository. */
  file?: string
  /** A branch, tag or commit; not checked. */
  revision?: string
}

/** Splits the name of a model into its parts. */
export function parseModelName(text: string): ModelName {
  const at = text.lastIndexOf('@')
  const whole = at === -1 ? text : text.slice(0, at)
  const [id = '', ...file] = whole.split(':')
  return {
    id,
    ...(file.length === 0 ? {} : {file: file.join(':')}),
    ...(at === -1 ? {} : {revision: text.slice(at + 1)}),
  }
}

/** The name of a model without its file and, if that is the default one, without its revision. */
export const modelName = (id: string, revision = defaultRevision): string =>
  revision === defaultRevision ? id : `${id}@${revision}`

/** Branch of a model that is used unless another revision is named. */
export const defaultRevision = 'main'
