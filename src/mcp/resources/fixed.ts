import type {ReadResourceResult, Resource, ResourceTemplateType} from '@modelcontextprotocol/server'

/** A resource, or a template of them, whose content never changes. */
export interface FixedResource {
  listed: Resource | ResourceTemplateType
  /** Returns the content; undefined if the URI is not one of this resource. */
  read(uri: string): ReadResourceResult['contents'] | undefined
}

export const readFixed = (
  resources: readonly FixedResource[],
  uri: string,
): ReadResourceResult['contents'] | undefined =>
  resources.map(({read}) => read(uri)).find((contents) => contents !== undefined)

export const fixedResources = (resources: readonly FixedResource[]): Resource[] =>
  resources.flatMap(({listed}) => ('uri' in listed ? [listed as Resource] : []))

export const fixedTemplates = (resources: readonly FixedResource[]): ResourceTemplateType[] =>
  resources.flatMap(({listed}) => ('uriTemplate' in listed ? [listed as ResourceTemplateType] : []))
